//! A Hugging Face tokenizer.json, run by crate `tokenizers`, which is what such files are written for.
//!
//! The crate guesses where a file is wrong: it takes an unknown step for another of the same fields, gives an
//! added token another id than the file says, drops text that no token spells. Here each of these is an error
//! that names the place. What encodes is the crate.

use ahash::{AHashMap, AHashSet};
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::Deserialize;
use serde_json::{json, Value};
use std::collections::hash_map::RandomState;
use std::collections::HashMap;
use std::fmt;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use tokenizers::models::bpe::BpeBuilder;
use tokenizers::models::unigram::Unigram;
use tokenizers::models::{ModelWrapper, TrainerWrapper};
use tokenizers::{
    AddedToken, AddedVocabulary, Model, OffsetType, PreTokenizer, PreTokenizerWrapper, Token,
};

use crate::token_texts::Decoder;
use crate::tokenizer_parts::{self as parts, Normal, Surround};

/// Ids may leave this many holes: tables are as long as the highest id.
const MOST_HOLES: usize = 1_000_000;

pub struct HuggingFace {
    normalizer: Option<Normal>,
    pre_tokenizer: Option<PreTokenizerWrapper>,
    model: GuardedModel,
    added: AddedVocabulary,       // matches every added token
    added_plain: AddedVocabulary, // leaves special tokens in a text alone
    drops_text: bool,             // the model skips what it cannot spell
    size: usize,                  // highest id + 1
    facts: Value,
    decoder: Decoder,
}

/// The crate's model without the special tokens: those in a text are found before it, if they are asked for, and a
/// user's "</s>" must not become one by way of the model.
struct GuardedModel {
    model: ModelWrapper,
    hidden: AHashMap<String, u32>,
}

impl Model for GuardedModel {
    type Trainer = TrainerWrapper;
    fn tokenize(&self, text: &str) -> tokenizers::Result<Vec<Token>> {
        self.model.tokenize(text)
    }
    fn token_to_id(&self, token: &str) -> Option<u32> {
        self.hidden.get(token).copied().or_else(|| self.model.token_to_id(token))
    }
    fn id_to_token(&self, id: u32) -> Option<String> {
        self.model.id_to_token(id) // a hidden one is an added token, which is asked first
    }
    fn get_vocab(&self) -> HashMap<String, u32> {
        self.model.get_vocab()
    }
    /// New tokens are numbered from here, so this counts the hidden ones.
    fn get_vocab_size(&self) -> usize {
        self.model.get_vocab_size() + if matches!(self.model, ModelWrapper::BPE(_)) { self.hidden.len() } else { 0 }
    }
    fn save(&self, folder: &Path, prefix: Option<&str>) -> tokenizers::Result<Vec<PathBuf>> {
        self.model.save(folder, prefix)
    }
    fn get_trainer(&self) -> TrainerWrapper {
        self.model.get_trainer()
    }
}

/// What a token is to the rest of the library: the values of GGUF's token_type.
const KIND_NORMAL: u8 = 1;
const KIND_CONTROL: u8 = 3;
const KIND_USER_DEFINED: u8 = 4;
const KIND_UNUSED: u8 = 5;

impl HuggingFace {
    /// `json` is tokenizer.json, `more` a list of the tokens that the files beside it add: {"content", "single_word",
    /// "lstrip", "rstrip", "normalized", "special", and "id" or null}. A token without an id counts only if it has one.
    pub fn new(json: &[u8], more: &str) -> Result<Self, String> {
        parts::no_panic("", || Self::read(json, more)).map_err(|error| error.trim_start_matches(": ").to_owned())
    }

    fn read(json: &[u8], more: &str) -> Result<Self, String> {
        let file: File = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let more: Vec<AddedTokenFile> = serde_json::from_str(more).map_err(|error| error.to_string())?;
        if file.version.as_deref().is_some_and(|version| version != "1.0") {
            return Err(format!("version {:?} is not supported (known: 1.0)", file.version.unwrap_or_default()));
        }
        let kind = file.model.name()?;
        let mut ids = Ids { highest: 0, count: 0 };
        file.model.vocab.iter().for_each(|(_, id)| ids.take(id));
        ids.size()?;
        let normalizer = parts::normalizer(&file.normalizer)?;
        let decoder = Decoder::new(&file.decoder)?;
        let drops_text = file.model.unk_token.is_none() && kind == "BPE";
        let special: AHashSet<String> =
            file.added_tokens.iter().chain(&more).filter(|token| token.special).map(|token| token.content.clone()).collect();
        let (model, unknown) = file.model.build(kind, &special)?;
        let mut added = AddedVocabulary::new();
        add_tokens(&mut added, file.added_tokens, "added_tokens", &model, &normalizer, &mut ids)?;
        let known = |token: &AddedTokenFile| token.id.is_some() || added.token_to_id(&token.content, &model).is_some();
        let more: Vec<AddedTokenFile> = more.into_iter().filter(known).collect();
        add_tokens(&mut added, more, "tokens of tokenizer_config.json", &model, &normalizer, &mut ids)?;
        let size = ids.size()?;
        let surround = Surround::new(&file.post_processor, size)?;
        let facts = json!({
            "model": kind,
            "normalizer": parts::describe(&file.normalizer),
            "pre_tokenizer": parts::describe(&file.pre_tokenizer),
            "unknown": unknown,
            "prefix": surround.prefix,
            "suffix": surround.suffix,
            "space": decoder.space,
            "drops_first_space": decoder.drops_first_space,
            "strip": decoder.strip,
            "strip_count": decoder.strip_count,
            "joint": decoder.joint,
        });
        let mut added_plain = added.clone();
        added_plain.set_encode_special_tokens(true);
        Ok(Self {
            pre_tokenizer: parts::pre_tokenizer(&file.pre_tokenizer)?,
            normalizer, model, added, added_plain, drops_text, size, facts, decoder,
        })
    }

    pub fn encode(&self, text: &str, parse_special: bool) -> Result<Vec<u32>, String> {
        // A panic here is the crate's answer to parameters that it doesn't expect.
        parts::no_panic("tokenizer.json", || self.encode_checked(text, parse_special))
    }

    fn encode_checked(&self, text: &str, parse_special: bool) -> Result<Vec<u32>, String> {
        let added = if parse_special { &self.added } else { &self.added_plain };
        let mut pieces = added.extract_and_normalize(self.normalizer.as_ref(), text);
        parts::take_overflow()?;
        if let Some(pre_tokenizer) = &self.pre_tokenizer {
            pre_tokenizer.pre_tokenize(&mut pieces).map_err(|error| error.to_string())?;
        }
        pieces
            .tokenize(|piece| {
                let tokens = self.model.tokenize(piece.get())?;
                if self.drops_text && tokens.last().map_or(0, |last| last.offsets.1) < piece.get().len() {
                    let shown: String = piece.get().chars().take(40).collect();
                    return Err(format!("the vocabulary has no token for a part of {shown:?}, and no unknown token").into());
                }
                Ok(tokens)
            })
            .map_err(|error| error.to_string())?;
        let encoding = pieces.into_encoding(None, 0, OffsetType::None).map_err(|error| error.to_string())?;
        Ok(encoding.get_ids().to_vec())
    }

    pub fn facts(&self) -> String {
        self.facts.to_string()
    }

    /// Calls `visit(name, text, kind)` for each id from 0; a hole has no name.
    pub fn each_token(&self, mut visit: impl FnMut(&str, &[u8], u8)) -> Result<(), String> {
        let added = self.added.get_added_tokens_decoder();
        for id in 0..self.size as u32 {
            // The name in the form that decoding starts from: normalised, for some added tokens.
            let name = self.added.simple_id_to_token(id).or_else(|| self.model.id_to_token(id));
            let (content, kind) = match (added.get(&id), &name) {
                (Some(token), _) if token.special => (token.content.as_str(), KIND_CONTROL),
                (Some(token), _) => (token.content.as_str(), KIND_USER_DEFINED),
                (None, Some(name)) => (name.as_str(), KIND_NORMAL),
                (None, None) => ("", KIND_UNUSED),
            };
            visit(content, &self.decoder.text(name.as_deref().unwrap_or(""))?, kind);
        }
        Ok(())
    }
}

/// How far ids go, and how many there are.
struct Ids {
    highest: u32,
    count: usize,
}

impl Ids {
    fn take(&mut self, id: u32) {
        self.count += 1;
        self.highest = self.highest.max(id);
    }
    /// Length of a table of them.
    fn size(&self) -> Result<usize, String> {
        let size = self.highest as usize + 1;
        if self.count == 0 {
            return Err("model.vocab is empty".into());
        }
        if size > self.count + MOST_HOLES {
            return Err(format!("ids go up to {}, but there are {} tokens", self.highest, self.count));
        }
        Ok(size)
    }
}

fn add_tokens(
    added: &mut AddedVocabulary,
    tokens: Vec<AddedTokenFile>,
    place: &str,
    model: &GuardedModel,
    normalizer: &Option<Normal>,
    ids: &mut Ids,
) -> Result<(), String> {
    let listed: Vec<(String, Option<u32>)> = tokens.iter().map(|token| (token.content.clone(), token.id)).collect();
    if let Some(index) = listed.iter().position(|(content, _)| content.is_empty()) {
        return Err(format!("{place}[{index}] has an empty content"));
    }
    let tokens: Vec<AddedToken> = tokens.into_iter().map(AddedTokenFile::token).collect();
    parts::no_panic(place, || added.add_tokens(tokens, model, normalizer.as_ref()).map_err(|error| error.to_string()))?;
    parts::take_overflow().map_err(|error| format!("{place}: {error}"))?;
    for (index, (content, stated)) in listed.iter().enumerate() {
        let given = added.token_to_id(content, model).unwrap_or_default();
        if let Some(stated) = stated.filter(|stated| *stated != given) {
            return Err(format!(
                "{place}[{index}] {content:?} has id {stated} in the file, but comes to id {given} by its place there"
            ));
        }
        ids.take(given);
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: Option<String>,
    #[allow(dead_code)] // transformers, too, takes these from its caller
    truncation: Option<IgnoredAny>,
    #[allow(dead_code)]
    padding: Option<IgnoredAny>,
    #[serde(default)]
    added_tokens: Vec<AddedTokenFile>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    post_processor: Value,
    #[serde(default)]
    decoder: Value,
    model: ModelFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddedTokenFile {
    id: Option<u32>,
    content: String,
    single_word: bool,
    lstrip: bool,
    rstrip: bool,
    normalized: bool,
    special: bool,
}

impl AddedTokenFile {
    fn token(self) -> AddedToken {
        AddedToken::from(self.content, self.special)
            .single_word(self.single_word)
            .lstrip(self.lstrip)
            .rstrip(self.rstrip)
            .normalized(self.normalized)
    }
}

/// All fields of the models that we know; which belong to which is checked in `name`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFile {
    #[serde(rename = "type")]
    kind: Option<String>,
    dropout: Option<f64>,
    unk_token: Option<String>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    fuse_unk: Option<bool>,
    byte_fallback: Option<bool>,
    ignore_merges: Option<bool>,
    unk_id: Option<usize>,
    #[allow(dead_code)] // WordPiece's, so that such a model is refused by its name
    max_input_chars_per_word: Option<IgnoredAny>,
    vocab: Words,
    merges: Option<Vec<Merge>>,
}

/// The vocabulary: {"token": id} of BPE, [["token", score]] of Unigram.
enum Words {
    Ids(Vec<(String, u32)>),
    Scores(Vec<(String, f64)>),
}

impl Words {
    fn iter(&self) -> Box<dyn Iterator<Item = (&str, u32)> + '_> {
        match self {
            Words::Ids(list) => Box::new(list.iter().map(|(token, id)| (token.as_str(), *id))),
            Words::Scores(list) => Box::new(list.iter().enumerate().map(|(id, (token, _))| (token.as_str(), id as u32))),
        }
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Words;
            fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
                out.write_str("a vocabulary: {\"token\": id} or [[\"token\", score]]")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Words, A::Error> {
                let mut list = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    list.push(entry);
                }
                Ok(Words::Ids(list))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Words, A::Error> {
                let mut list = Vec::new();
                while let Some(entry) = seq.next_element()? {
                    list.push(entry);
                }
                Ok(Words::Scores(list))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// "left right", or ["left", "right"] where tokens may hold spaces.
#[derive(Deserialize)]
#[serde(untagged)]
enum Merge {
    Pair(String, String),
    Line(String),
}

impl ModelFile {
    /// "BPE" or "Unigram"; old files leave the type out.
    fn name(&self) -> Result<&'static str, String> {
        let stated = match self.kind.as_deref() {
            Some(kind) => kind,
            None if matches!(self.vocab, Words::Scores(_)) => "Unigram",
            None if self.merges.is_some() => "BPE",
            None => return Err("model.type is missing, and the model has neither merges nor scores".into()),
        };
        match stated {
            "BPE" if self.unk_id.is_some() => Err("model.unk_id does not belong to a BPE model".into()),
            "BPE" => Ok("BPE"),
            "Unigram" if self.merges.is_some() => Err("model.merges do not belong to a Unigram model".into()),
            "Unigram" => Ok("Unigram"),
            other => Err(format!("model.type {other:?} is not supported (known: BPE, Unigram)")),
        }
    }

    /// The model, and the id of its unknown token.
    fn build(self, kind: &str, special: &AHashSet<String>) -> Result<(GuardedModel, Option<u32>), String> {
        check_unique(&self.vocab)?;
        for (name, affix) in [
            ("continuing_subword_prefix", &self.continuing_subword_prefix),
            ("end_of_word_suffix", &self.end_of_word_suffix),
        ] {
            if affix.as_deref().is_some_and(|affix| !affix.is_empty()) {
                return Err(format!("model.{name} = {:?} is not supported", affix.as_deref().unwrap_or_default()));
            }
        }
        if self.dropout.is_some_and(|dropout| dropout != 0.0) {
            return Err(format!("model.dropout = {:?} would make ids random: set it to null", self.dropout.unwrap_or_default()));
        }
        match (kind, self.vocab) {
            ("BPE", Words::Ids(list)) => {
                let mut words: AHashMap<String, u32> = list.into_iter().collect();
                let mut builder = BpeBuilder::new();
                let mut unknown = None;
                let unk_token = self.unk_token;
                if let Some(token) = &unk_token {
                    let id = words.get(token).ok_or_else(|| format!("model.unk_token {token:?} is not in model.vocab"))?;
                    unknown = Some(*id);
                    builder = builder.unk_token(token.clone());
                }
                let mut free: AHashSet<&String> = special.iter().filter(|token| words.contains_key(*token)).collect();
                if let Some(token) = &unk_token {
                    free.remove(token);
                }
                let merges = checked_merges(self.merges.unwrap_or_default(), &words, &mut free)?;
                let mut hidden = AHashMap::new();
                for token in free {
                    hidden.extend(words.remove_entry(token));
                }
                let model = builder
                    .vocab_and_merges(words, merges)
                    .fuse_unk(self.fuse_unk.unwrap_or(false))
                    .byte_fallback(self.byte_fallback.unwrap_or(false))
                    .ignore_merges(self.ignore_merges.unwrap_or(false))
                    .build()
                    .map_err(|error| format!("model: {error}"))?;
                Ok((GuardedModel { model: ModelWrapper::BPE(model), hidden }, unknown))
            }
            ("Unigram", Words::Scores(mut list)) => {
                let hidden = hide(&mut list, special);
                let unknown = self.unk_id.map(|id| id as u32);
                let model = Unigram::from(list, self.unk_id, self.byte_fallback.unwrap_or(false))
                    .map_err(|error| format!("model: {error}"))?;
                Ok((GuardedModel { model: ModelWrapper::Unigram(model), hidden }, unknown))
            }
            _ => Err(format!("model.vocab does not have the form of a {kind} model's")),
        }
    }
}

/// Gives special tokens names that no text holds: they can't be left out, since ids are places in the list.
fn hide(list: &mut [(String, f64)], special: &AHashSet<String>) -> AHashMap<String, u32> {
    let secret = RandomState::new();
    let mut hidden = AHashMap::new();
    for (id, (token, _)) in list.iter_mut().enumerate().filter(|(_, entry)| special.contains(&entry.0)) {
        let name = format!("\u{10ffff}{:016x}{:016x}", secret.hash_one((id, 0)), secret.hash_one((id, 1)));
        hidden.insert(std::mem::replace(token, name), id as u32);
    }
    hidden
}

fn check_unique(vocab: &Words) -> Result<(), String> {
    let count = vocab.iter().count();
    let (mut tokens, mut owners) = (AHashMap::with_capacity(count), AHashMap::with_capacity(count));
    for (token, id) in vocab.iter() {
        if let Some(first) = tokens.insert(token, id) {
            return Err(format!("model.vocab has {token:?} twice, as {first} and {id}"));
        }
        if let Some(first) = owners.insert(id, token) {
            return Err(format!("model.vocab gives id {id} to {first:?} and to {token:?}"));
        }
    }
    Ok(())
}

/// Both sides and what they make must be tokens. A first line "#version" is no merge.
/// Takes tokens out of `free` that merges make or use.
fn checked_merges(
    merges: Vec<Merge>,
    words: &AHashMap<String, u32>,
    free: &mut AHashSet<&String>,
) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::with_capacity(merges.len());
    let mut joined = String::new();
    for (index, merge) in merges.into_iter().enumerate() {
        let (left, right) = match merge {
            Merge::Pair(left, right) => (left, right),
            Merge::Line(line) if line.starts_with("#version") => continue,
            Merge::Line(line) => match line.split_once(' ') {
                Some((left, right)) if !right.contains(' ') => (left.to_owned(), right.to_owned()),
                _ => return Err(format!("model.merges[{index}] {line:?} is not two tokens with one space between")),
            },
        };
        joined.clear();
        joined.push_str(&left);
        joined.push_str(&right);
        for token in [&left, &right, &joined] {
            if !words.contains_key(token) {
                return Err(format!(
                    "model.merges[{index}] {left:?} {right:?} needs token {token:?}, which is not in model.vocab"
                ));
            }
            free.remove(token);
        }
        pairs.push((left, right));
    }
    Ok(pairs)
}
