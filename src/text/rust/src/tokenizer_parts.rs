//! The steps of a tokenizer.json, checked against what we know of each before the crate reads them.
//!
//! The crate takes a step whose type it doesn't know for another one that has the same fields, and skips fields that
//! it doesn't know; a step's parameters decide the ids, so here both are errors that name the place.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::cell::Cell;
use tokenizers::{NormalizedString, Normalizer, NormalizerWrapper, PreTokenizerWrapper};

/// A type of step: its name, the fields it must have, and those it may have.
type Form = (&'static str, &'static [&'static str], &'static [&'static str]);

const NORMALIZERS: &[Form] = &[
    ("Sequence", &["normalizers"], &[]),
    ("NFC", &[], &[]),
    ("NFD", &[], &[]),
    ("NFKC", &[], &[]),
    ("NFKD", &[], &[]),
    ("Nmt", &[], &[]),
    ("Lowercase", &[], &[]),
    ("StripAccents", &[], &[]),
    ("ByteLevel", &[], &[]),
    ("Strip", &["strip_left", "strip_right"], &[]),
    ("Prepend", &["prepend"], &[]),
    ("Replace", &["pattern", "content"], &[]),
    ("Precompiled", &["precompiled_charsmap"], &[]),
    ("BertNormalizer", &["clean_text", "handle_chinese_chars", "strip_accents", "lowercase"], &[]),
];
const PRE_TOKENIZERS: &[Form] = &[
    ("Sequence", &["pretokenizers"], &[]),
    ("ByteLevel", &["add_prefix_space", "trim_offsets"], &["use_regex"]),
    ("Split", &["pattern", "behavior", "invert"], &[]),
    ("Digits", &["individual_digits"], &[]),
    ("Punctuation", &[], &["behavior"]),
    ("Metaspace", &["replacement"], &["str_rep", "add_prefix_space", "prepend_scheme", "split"]),
    ("Whitespace", &[], &[]),
    ("WhitespaceSplit", &[], &[]),
    ("BertPreTokenizer", &[], &[]),
    ("CharDelimiterSplit", &["delimiter"], &[]),
    ("UnicodeScripts", &[], &[]),
    ("FixedLength", &["length"], &[]),
];
const POST_PROCESSORS: &[Form] = &[
    ("Sequence", &["processors"], &[]),
    ("ByteLevel", &["add_prefix_space", "trim_offsets"], &["use_regex"]),
    ("TemplateProcessing", &["single", "special_tokens"], &["pair"]),
    ("BertProcessing", &["sep", "cls"], &[]),
    ("RobertaProcessing", &["sep", "cls", "trim_offsets", "add_prefix_space"], &[]),
];
pub const DECODERS: &[Form] = &[
    ("Sequence", &["decoders"], &[]),
    ("ByteLevel", &[], &["add_prefix_space", "trim_offsets", "use_regex"]),
    ("Replace", &["pattern", "content"], &[]),
    ("ByteFallback", &[], &[]),
    ("Fuse", &[], &[]),
    ("Strip", &["content", "start", "stop"], &[]),
    ("Metaspace", &["replacement"], &["str_rep", "add_prefix_space", "prepend_scheme", "split"]),
];

/// The fields and the type of a step that is one of `forms`.
pub fn checked<'a>(value: &'a Value, place: &str, forms: &[Form]) -> Result<(&'a str, &'a Map<String, Value>), String> {
    let fields = value.as_object().ok_or_else(|| format!("{place} is not an object"))?;
    let name = fields.get("type").and_then(Value::as_str).ok_or_else(|| format!("{place}.type is missing"))?;
    let Some((_, needed, allowed)) = forms.iter().find(|form| form.0 == name) else {
        let known: Vec<&str> = forms.iter().map(|form| form.0).collect();
        return Err(format!("{place}.type {name:?} is not supported (known: {})", known.join(", ")));
    };
    if let Some(missing) = needed.iter().find(|field| !fields.contains_key(**field)) {
        return Err(format!("{place} ({name}) has no field {missing:?}"));
    }
    let known = |field: &str| field == "type" || needed.contains(&field) || allowed.contains(&field);
    if let Some(unknown) = fields.keys().find(|field| !known(field)) {
        return Err(format!("{place} ({name}) has the field {unknown:?}, which is not known"));
    }
    if let Some(pattern) = fields.get("pattern") {
        check_pattern(pattern, &format!("{place}.pattern"))?;
    }
    Ok((name, fields))
}

fn check_pattern(pattern: &Value, place: &str) -> Result<(), String> {
    let one = pattern.as_object().filter(|fields| fields.len() == 1);
    match one.and_then(|fields| fields.iter().next()) {
        Some((kind, Value::String(_))) if kind == "String" || kind == "Regex" => Ok(()),
        _ => Err(format!("{place} is neither {{\"String\": text}} nor {{\"Regex\": text}}")),
    }
}

/// The steps within a Sequence, each with its place.
pub fn inner<'a>(fields: &'a Map<String, Value>, list: &str, place: &str) -> Result<Vec<(String, &'a Value)>, String> {
    let steps = fields[list].as_array().ok_or_else(|| format!("{place}.{list} is not a list"))?;
    Ok(steps.iter().enumerate().map(|(index, step)| (format!("{place}.{list}[{index}]"), step)).collect())
}

/// Checks a step and those within it. serde_json has refused nesting deeper than 128.
fn check(value: &Value, place: &str, forms: &[Form], list: &str) -> Result<(), String> {
    let (name, fields) = checked(value, place, forms)?;
    if name == "Sequence" {
        for (place, step) in inner(fields, list, place)? {
            check(step, &place, forms, list)?;
        }
    }
    if name == "FixedLength" && fields["length"].as_u64().map_or(true, |length| length == 0) {
        return Err(format!("{place}.length is not a whole number from 1 on"));
    }
    Ok(())
}

/// Runs `work`; a panic within it becomes an error. The crate panics on some parameters.
pub fn no_panic<T>(place: &str, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| format!("{place}: {error}")),
        Err(_) => {
            let text = crate::last_panic(); // "panicked at FILE:LINE:\nmessage"
            let message = text.split_once('\n').map_or(text.as_str(), |(_, message)| message);
            match message.strip_prefix(crate::PATTERN_GAVE_UP) {
                Some(why) => Err(format!("{place}: a regular expression of the file was given up{why}")),
                None => Err(format!("{place}: {message}")),
            }
        }
    }
}

fn read<T: DeserializeOwned>(value: &Value, place: &str) -> Result<T, String> {
    no_panic(place, || serde_json::from_value(value.clone()).map_err(|error| error.to_string()))
}

/// A file's normaliser, step by step, so that a chain of steps that each write more cannot fill the memory.
pub struct Normal {
    steps: Vec<NormalizerWrapper>,
}

const LONGEST_CONTENT: usize = 256; // bytes that a step writes for one match
const MOST_STEPS: usize = 64;

/// What `text` bytes may grow to.
pub fn growth_limit(text: usize) -> usize {
    text.saturating_mul(64).saturating_add(1 << 16)
}

thread_local! {
    static OVERFLOW: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

impl Normalizer for Normal {
    /// The crate drops errors of normalisers: one for too long a text waits in `take_overflow`.
    fn normalize(&self, text: &mut NormalizedString) -> tokenizers::Result<()> {
        let start = text.get().len();
        for step in &self.steps {
            step.normalize(text)?;
            if text.get().len() > growth_limit(start) {
                OVERFLOW.with(|overflow| overflow.set(Some((start, text.get().len()))));
                text.clear();
                break;
            }
        }
        Ok(())
    }
}

/// Whether a normaliser has given up on this thread since it was last asked.
pub fn take_overflow() -> Result<(), String> {
    match OVERFLOW.with(Cell::take) {
        None => Ok(()),
        Some((before, after)) => Err(format!(
            "the normalizer turns {before} bytes of text into more than {after}, at most {} are allowed", growth_limit(before)
        )),
    }
}

pub fn normalizer(value: &Value) -> Result<Option<Normal>, String> {
    if value.is_null() {
        return Ok(None);
    }
    check(value, "normalizer", NORMALIZERS, "normalizers")?;
    let mut steps = Vec::new();
    flatten(value, "normalizers", &mut steps)?;
    for step in &steps {
        check_charsmap(step)?;
        for field in ["content", "prepend"] {
            let bytes = step[field].as_str().unwrap_or_default().len();
            if bytes > LONGEST_CONTENT {
                return Err(format!("normalizer: {field} has {bytes} bytes, at most {LONGEST_CONTENT} are read"));
            }
        }
    }
    let steps = steps.into_iter().map(|step| read(step, "normalizer")).collect::<Result<_, String>>()?;
    Ok(Some(Normal { steps }))
}

/// The steps that are no Sequence.
fn flatten<'a>(value: &'a Value, list: &str, out: &mut Vec<&'a Value>) -> Result<(), String> {
    match value[list].as_array() {
        Some(steps) => steps.iter().try_for_each(|step| flatten(step, list, out)),
        None if out.len() >= MOST_STEPS => Err(format!("more than {MOST_STEPS} steps in {list}")),
        None => Ok(out.push(value)),
    }
}

/// The texts that a map of characters writes are short: the longest of a real one has 33 bytes.
fn check_charsmap(step: &Value) -> Result<(), String> {
    match step["precompiled_charsmap"].as_str() {
        Some(text) => check_charsmap_bytes(&base64(text)?),
        None => Ok(()),
    }
}

/// The bytes of a length, a trie of that length, and texts that each end with 0.
pub fn check_charsmap_bytes(map: &[u8]) -> Result<(), String> {
    let head = map.get(..4).ok_or("precompiled_charsmap has fewer than 4 bytes")?;
    let trie = u32::from_le_bytes(head.try_into().expect("4 bytes")) as usize;
    if trie % 4 != 0 || trie > map.len() - 4 {
        return Err(format!("precompiled_charsmap: a trie of {trie} bytes in {} bytes", map.len() - 4));
    }
    let longest = map[4 + trie..].split(|&byte| byte == 0).map(<[u8]>::len).max().unwrap_or_default();
    if longest > LONGEST_CONTENT {
        return Err(format!("precompiled_charsmap: a text of {longest} bytes, at most {LONGEST_CONTENT} are read"));
    }
    Ok(())
}

fn base64(text: &str) -> Result<Vec<u8>, String> {
    let (mut out, mut bits, mut held) = (Vec::with_capacity(text.len() / 4 * 3), 0u32, 0);
    for (index, letter) in text.trim_end_matches('=').bytes().enumerate() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err(format!("precompiled_charsmap is not base64 at its letter {index}")),
        };
        bits = (bits << 6 | u32::from(value)) & 0xFFFF;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    Ok(out)
}

pub fn pre_tokenizer(value: &Value) -> Result<Option<PreTokenizerWrapper>, String> {
    if value.is_null() {
        return Ok(None);
    }
    check(value, "pre_tokenizer", PRE_TOKENIZERS, "pretokenizers")?;
    let mut steps = Vec::new();
    flatten(value, "pretokenizers", &mut steps)?;
    let doubling = steps.iter().filter(|step| step["type"] == "ByteLevel").count();
    if doubling > 2 {
        return Err(format!("pre_tokenizer: {doubling} steps of type ByteLevel, each of which doubles a text: at most 2 are read"));
    }
    read(value, "pre_tokenizer").map(Some)
}

/// "Sequence(Split, ByteLevel)"; "" for none.
pub fn describe(value: &Value) -> String {
    let name = value["type"].as_str().unwrap_or_default();
    let steps = ["normalizers", "pretokenizers"].iter().find_map(|list| value[*list].as_array());
    match steps {
        Some(steps) => format!("{name}({})", steps.iter().map(describe).collect::<Vec<_>>().join(", ")),
        None => name.to_owned(),
    }
}

/// The ids that post-processing puts around a text.
#[derive(Default)]
pub struct Surround {
    pub prefix: Vec<u32>,
    pub suffix: Vec<u32>,
}

impl Surround {
    /// `size`: ids are below it.
    pub fn new(value: &Value, size: usize) -> Result<Self, String> {
        let mut around = Self::default();
        if !value.is_null() {
            around.add(value, "post_processor", size)?;
        }
        Ok(around)
    }

    /// Puts a step's ids around those of the steps before it.
    fn add(&mut self, value: &Value, place: &str, size: usize) -> Result<(), String> {
        let (name, fields) = checked(value, place, POST_PROCESSORS)?;
        match name {
            "Sequence" => {
                for (place, step) in inner(fields, "processors", place)? {
                    self.add(step, &place, size)?;
                }
            }
            "TemplateProcessing" => self.add_template(fields, place, size)?,
            "BertProcessing" | "RobertaProcessing" => {
                self.prefix.insert(0, named_id(&fields["cls"], &format!("{place}.cls"), size)?);
                self.suffix.push(named_id(&fields["sep"], &format!("{place}.sep"), size)?);
            }
            _ => {} // ByteLevel moves offsets only
        }
        Ok(())
    }

    fn add_template(&mut self, fields: &Map<String, Value>, place: &str, size: usize) -> Result<(), String> {
        let pieces = fields["single"].as_array().ok_or_else(|| format!("{place}.single is not a list"))?;
        let (mut before, mut after, mut texts) = (Vec::new(), Vec::new(), 0);
        for (index, piece) in pieces.iter().enumerate() {
            let place = format!("{place}.single[{index}]");
            if let Some(sequence) = piece.get("Sequence") {
                if sequence["id"] != "A" {
                    return Err(format!("{place} stands for text {}, but there is only A", sequence["id"]));
                }
                texts += 1;
                continue;
            }
            let name = piece["SpecialToken"]["id"]
                .as_str()
                .ok_or_else(|| format!("{place} is neither a Sequence nor a SpecialToken"))?;
            let ids = fields["special_tokens"][name]["ids"]
                .as_array()
                .ok_or_else(|| format!("{place} names {name:?}, which special_tokens does not explain"))?;
            for id in ids {
                let id = checked_id(id, &place, size)?;
                if texts == 0 { before.push(id) } else { after.push(id) }
            }
        }
        if texts != 1 {
            return Err(format!("{place}.single holds the text {texts} times, not once"));
        }
        before.append(&mut self.prefix);
        self.prefix = before;
        self.suffix.append(&mut after);
        Ok(())
    }
}

/// The id of ["[SEP]", 102].
fn named_id(pair: &Value, place: &str, size: usize) -> Result<u32, String> {
    if pair.as_array().map_or(true, |pair| pair.len() != 2 || !pair[0].is_string()) {
        return Err(format!("{place} is not [token, id]"));
    }
    checked_id(&pair[1], place, size)
}

fn checked_id(id: &Value, place: &str, size: usize) -> Result<u32, String> {
    match id.as_u64() {
        Some(id) if (id as usize) < size => Ok(id as u32),
        _ => Err(format!("{place}: id {id} is not among the {size} ids of the vocabulary")),
    }
}
