//! Byte-level BPE ("gpt2" in GGUF) on crate `tokenizers`: pre-tokenizer steps, then merges by rank.

use ahash::AHashMap;
use tokenizers::models::bpe::{BpeBuilder, BPE};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::punctuation::Punctuation;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::{
    DecoderWrapper, NormalizerWrapper, PostProcessorWrapper, SplitDelimiterBehavior, TokenizerBuilder,
    TokenizerImpl,
};

use crate::vocabulary::Vocabulary;

/// What a pre-tokenizer does, in the order given; the texts become bytes after the last one.
pub enum Step<'a> {
    Digits,           // each digit alone
    Gpt2,             // GPT-2's own pattern; then letters stand for bytes
    Pattern(&'a str), // each match of the regular expression alone
    Signs,            // each run of signs
    Numbers,          // each run of digits
}

pub struct ByteLevelBpe {
    tokenizer: TokenizerImpl<BPE, NormalizerWrapper, PreTokenizerWrapper, PostProcessorWrapper, DecoderWrapper>,
    missing: Vec<u8>, // bytes without a token: the crate would drop them without a word
}

impl ByteLevelBpe {
    pub fn new(
        vocabulary: &Vocabulary,
        merges: &[&[u8]],
        steps: &[Step],
        ignore_merges: bool,
    ) -> Result<Self, String> {
        let mut tokens: AHashMap<String, u32> = AHashMap::with_capacity(vocabulary.len());
        tokens.extend(vocabulary.iter().map(|(id, text, _)| (text.to_owned(), id)));
        let merges = merges
            .iter()
            .enumerate()
            .map(|(index, merge)| split_merge(vocabulary, index, merge))
            .collect::<Result<Vec<_>, String>>()?;
        let model = BpeBuilder::new()
            .vocab_and_merges(tokens, merges)
            .ignore_merges(ignore_merges)
            .build()
            .map_err(|error| format!("merges: {error}"))?;
        let tokenizer = TokenizerBuilder::default()
            .with_model(model)
            .with_pre_tokenizer(Some(pre_tokenizer(steps)?))
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { tokenizer, missing: missing_bytes(vocabulary) })
    }

    pub fn encode(&self, text: &str, ids: &mut Vec<u32>) -> Result<(), String> {
        if let Some(byte) = text.bytes().find(|byte| self.missing.contains(byte)) {
            return Err(format!("the vocabulary has no token for byte 0x{byte:02X}, which the text holds"));
        }
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
        ids.extend_from_slice(encoding.get_ids());
        Ok(())
    }
}

fn split_merge(vocabulary: &Vocabulary, index: usize, merge: &[u8]) -> Result<(String, String), String> {
    let shown = String::from_utf8_lossy(merge);
    let text = std::str::from_utf8(merge).map_err(|_| format!("tokenizer.ggml.merges[{index}] is not UTF-8"))?;
    let (left, right) = match text.split_once(' ') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() && !right.contains(' ') => (left, right),
        _ => return Err(format!("tokenizer.ggml.merges[{index}] {shown:?} is not two tokens with one space between")),
    };
    for token in [left, right, &[left, right].concat()] {
        if vocabulary.id(token).is_none() {
            return Err(format!(
                "tokenizer.ggml.merges[{index}] {shown:?} needs token {token:?}, which is not in the vocabulary"
            ));
        }
    }
    Ok((left.to_owned(), right.to_owned()))
}

fn pre_tokenizer(steps: &[Step]) -> Result<PreTokenizerWrapper, String> {
    let mut sequence: Vec<PreTokenizerWrapper> = Vec::new();
    for step in steps {
        sequence.push(match step {
            Step::Digits => Digits::new(true).into(),
            Step::Numbers => Digits::new(false).into(),
            Step::Signs => Punctuation::new(SplitDelimiterBehavior::Contiguous).into(),
            Step::Gpt2 => ByteLevel::new(false, true, true).into(),
            Step::Pattern(pattern) => {
                let pattern = SplitPattern::Regex((*pattern).to_owned());
                let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false);
                split.map_err(|error| format!("pre-tokenizer pattern: {error}"))?.into()
            }
        });
    }
    if !steps.iter().any(|step| matches!(step, Step::Gpt2)) {
        sequence.push(ByteLevel::new(false, true, false).into());
    }
    Ok(Sequence::new(sequence).into())
}

/// The letter by which byte-level vocabularies write a byte: itself where printable, else one from U+0100 on.
pub fn byte_letter(byte: u8) -> char {
    let printable = |b: u8| matches!(b, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    if printable(byte) {
        return byte as char;
    }
    let rank = (0..byte).filter(|&b| !printable(b)).count() as u32;
    char::from_u32(0x100 + rank).expect("below U+0200")
}

fn missing_bytes(vocabulary: &Vocabulary) -> Vec<u8> {
    (0..=255u8)
        .filter(|&byte| vocabulary.id(byte_letter(byte).encode_utf8(&mut [0; 4])).is_none())
        .collect()
}
