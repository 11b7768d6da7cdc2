//! The C ABI of text/rust_abi.h. Nothing unwinds through it: a panic becomes an error of kind kInternal.

mod byte_level;
mod hugging_face;
mod jinja;
mod sentence_piece;
mod special;
mod token_texts;
mod tokenizer_parts;
mod unigram;
mod vocabulary;

use std::borrow::Cow;
use std::cell::RefCell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Once;

use byte_level::{ByteLevelBpe, Step};
use hugging_face::HuggingFace;
use sentence_piece::SentencePiece;
use special::{Piece, Splitter};
use unigram::SentencePieceUnigram;
use vocabulary::Vocabulary;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    data: *mut u8,
    size: usize,
}

#[repr(C)]
pub struct Ids {
    data: *mut u32,
    size: usize,
}

#[repr(C)]
pub struct VocabularyView {
    tokens: *const Bytes,
    kinds: *const u8,
    size: usize,
}

#[repr(C)]
pub struct StepView {
    kind: i32, // Step::Kind of pre_tokenizers.h
    pattern: Bytes,
}

#[repr(C)]
pub struct BpeOptions {
    merges: *const Bytes,
    merge_count: usize,
    steps: *const StepView,
    step_count: usize,
    ignore_merges: bool,
}

#[repr(C)]
pub struct SentencePieceOptions {
    scores: *const f32, // as many as tokens
    unknown: i32,       // -1: none
    add_space_prefix: bool,
}

pub enum Algorithm {
    ByteLevel(ByteLevelBpe),
    SentencePiece(SentencePiece),
    Unigram(SentencePieceUnigram),
}

#[repr(C)]
pub struct UnigramOptions {
    scores: *const f32, // as many as tokens
    unknown: i32,       // -1: none
    charsmap: Bytes,
    add_space_prefix: bool,
    remove_extra_whitespaces: bool,
}

/// A GGUF file states a vocabulary, whose special tokens we look for ourselves; a tokenizer.json states all of it.
pub enum Encoder {
    Gguf(Splitter, Algorithm),
    HuggingFace(HuggingFace),
}

impl Encoder {
    fn encode(&self, text: &[u8], parse_special: bool) -> Result<Vec<u32>, String> {
        let text = std::str::from_utf8(text).map_err(|error| {
            let at = error.valid_up_to();
            format!("text is not UTF-8: byte 0x{:02X} at offset {at} of {}", text[at], text.len())
        })?;
        let (splitter, algorithm) = match self {
            Encoder::HuggingFace(tokenizer) => return tokenizer.encode(text, parse_special),
            Encoder::Gguf(splitter, algorithm) => (splitter, algorithm),
        };
        let text = match algorithm {
            Algorithm::ByteLevel(_) | Algorithm::Unigram(_) => Cow::Borrowed(text),
            Algorithm::SentencePiece(_) => Cow::Owned(SentencePiece::normal(text)),
        };
        let mut ids = Vec::with_capacity(text.len() / 3 + 1);
        splitter.split(&text, parse_special, |piece| match piece {
            Piece::Token(id) => {
                ids.push(id);
                Ok(())
            }
            Piece::Text(text) => match algorithm {
                Algorithm::ByteLevel(bpe) => bpe.encode(text, &mut ids),
                Algorithm::SentencePiece(model) => model.encode(text, &mut ids),
                Algorithm::Unigram(model) => model.encode(text, &mut ids),
            },
        })?;
        Ok(ids)
    }
}

const OK: i32 = 0;
const INPUT: i32 = 1;
const INTERNAL: i32 = 2;

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}
static HOOK: Once = Once::new();

/// Runs `work`, stores its value or its error, and says which.
fn guarded<T>(out: *mut T, error: *mut Bytes, work: impl FnOnce() -> Result<T, String>) -> i32 {
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            PANIC.with(|text| *text.borrow_mut() = info.to_string());
        }));
        limit_regular_expressions();
    });
    let (code, text) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => {
            unsafe { out.write(value) };
            return OK;
        }
        Ok(Err(text)) => (INPUT, text),
        Err(_) => match last_panic() {
            // The crate has no other way to say that a pattern of the file was given up.
            text if text.contains(PATTERN_GAVE_UP) => (INPUT, format!("a regular expression of the tokenizer: {text}")),
            text => (INTERNAL, text),
        },
    };
    unsafe { error.write(give_bytes(text)) };
    code
}

pub(crate) const PATTERN_GAVE_UP: &str = "Onig: Regex search error";

/// What the panic just caught said.
pub(crate) fn last_panic() -> String {
    PANIC.with(|text| text.take())
}

/// A pattern comes from a file, and may be one that tries for ever.
fn limit_regular_expressions() {
    set_pattern_retries(20_000_000);
    unsafe { onig_sys::onig_set_match_stack_limit_size(50_000_000) };
}

fn set_pattern_retries(most: u32) {
    unsafe {
        onig_sys::onig_set_retry_limit_in_match(most.into());
        onig_sys::onig_set_retry_limit_in_search(most.into());
    }
}

/// For fuzzing, where a text must not take seconds.
#[no_mangle]
pub extern "C" fn sublane_limit_pattern_retries(most: u32) {
    set_pattern_retries(most);
}

fn give_bytes(text: String) -> Bytes {
    give(text.into_bytes())
}

fn give(bytes: Vec<u8>) -> Bytes {
    let slice = Box::leak(bytes.into_boxed_slice());
    Bytes { data: slice.as_mut_ptr(), size: slice.len() }
}

fn give_ids(ids: Vec<u32>) -> Ids {
    let slice = Box::leak(ids.into_boxed_slice());
    Ids { data: slice.as_mut_ptr(), size: slice.len() }
}

unsafe fn slice<'a, T>(data: *const T, size: usize) -> &'a [T] {
    if size == 0 { &[] } else { std::slice::from_raw_parts(data, size) }
}

unsafe fn view<'a>(bytes: Bytes) -> &'a [u8] {
    slice(bytes.data, bytes.size)
}

unsafe fn view_str<'a>(bytes: Bytes) -> Result<&'a str, String> {
    std::str::from_utf8(view(bytes)).map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to()))
}

unsafe fn views<'a>(data: *const Bytes, size: usize) -> Vec<&'a [u8]> {
    slice(data, size).iter().map(|bytes| view(*bytes)).collect()
}

unsafe fn read_vocabulary(view: &VocabularyView) -> Result<Vocabulary, String> {
    Vocabulary::new(&views(view.tokens, view.size), slice(view.kinds, view.size))
}

#[no_mangle]
pub unsafe extern "C" fn sublane_bpe_new(
    vocabulary: &VocabularyView,
    options: &BpeOptions,
    out: *mut *mut Encoder,
    error: *mut Bytes,
) -> i32 {
    guarded(out, error, || {
        let vocabulary = read_vocabulary(vocabulary)?;
        let mut steps = Vec::new();
        for step in slice(options.steps, options.step_count) {
            steps.push(match step.kind {
                0 => Step::Digits,
                1 => Step::Gpt2,
                3 => Step::Signs,
                4 => Step::Numbers,
                _ => Step::Pattern(view_str(step.pattern)?),
            });
        }
        let merges = views(options.merges, options.merge_count);
        let bpe = ByteLevelBpe::new(&vocabulary, &merges, &steps, options.ignore_merges)?;
        let splitter = Splitter::new(&vocabulary, str::to_owned)?;
        Ok(Box::into_raw(Box::new(Encoder::Gguf(splitter, Algorithm::ByteLevel(bpe)))))
    })
}

#[no_mangle]
pub unsafe extern "C" fn sublane_sentence_piece_new(
    vocabulary: &VocabularyView,
    options: &SentencePieceOptions,
    out: *mut *mut Encoder,
    error: *mut Bytes,
) -> i32 {
    guarded(out, error, || {
        let scores = slice(options.scores, vocabulary.size);
        let vocabulary = read_vocabulary(vocabulary)?;
        let splitter = Splitter::new(&vocabulary, SentencePiece::normal)?;
        let unknown = u32::try_from(options.unknown).ok();
        let model = SentencePiece::new(vocabulary, scores, unknown, options.add_space_prefix)?;
        Ok(Box::into_raw(Box::new(Encoder::Gguf(splitter, Algorithm::SentencePiece(model)))))
    })
}

#[no_mangle]
pub unsafe extern "C" fn sublane_unigram_new(
    vocabulary: &VocabularyView,
    options: &UnigramOptions,
    out: *mut *mut Encoder,
    error: *mut Bytes,
) -> i32 {
    guarded(out, error, || {
        let scores = slice(options.scores, vocabulary.size);
        let vocabulary = read_vocabulary(vocabulary)?;
        let splitter = Splitter::new(&vocabulary, str::to_owned)?;
        let options = unigram::UnigramOptions {
            scores,
            unknown: u32::try_from(options.unknown).ok(),
            charsmap: view(options.charsmap),
            add_space_prefix: options.add_space_prefix,
            remove_extra_whitespaces: options.remove_extra_whitespaces,
        };
        let model = SentencePieceUnigram::new(&vocabulary, options)?;
        Ok(Box::into_raw(Box::new(Encoder::Gguf(splitter, Algorithm::Unigram(model)))))
    })
}

/// Tokens of a tokenizer.json: `names` and `texts` lie one after the other, and end at `name_ends` and `text_ends`.
#[repr(C)]
pub struct TokenTable {
    names: Bytes,
    texts: Bytes,
    kinds: Bytes,
    name_ends: Ids,
    text_ends: Ids,
    facts: Bytes,
}

#[no_mangle]
pub unsafe extern "C" fn sublane_hugging_face_new(
    tokenizer: Bytes,
    more_tokens: Bytes,
    out: *mut *mut Encoder,
    error: *mut Bytes,
) -> i32 {
    guarded(out, error, || {
        let tokenizer = HuggingFace::new(view(tokenizer), view_str(more_tokens)?)?;
        Ok(Box::into_raw(Box::new(Encoder::HuggingFace(tokenizer))))
    })
}

#[no_mangle]
pub unsafe extern "C" fn sublane_token_table(encoder: &Encoder, out: *mut TokenTable, error: *mut Bytes) -> i32 {
    guarded(out, error, || {
        let Encoder::HuggingFace(tokenizer) = encoder else { return Err("not a tokenizer.json".into()) };
        let (mut names, mut texts, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
        let (mut name_ends, mut text_ends) = (Vec::new(), Vec::new());
        tokenizer.each_token(|name, text, kind| {
            names.extend_from_slice(name.as_bytes());
            texts.extend_from_slice(text);
            kinds.push(kind);
            name_ends.push(names.len() as u32);
            text_ends.push(texts.len() as u32);
        })?;
        if names.len().max(texts.len()) > i32::MAX as usize {
            return Err(format!("tokens have {} bytes of text, at most 2^31-1 can be counted", names.len().max(texts.len())));
        }
        Ok(TokenTable {
            names: give(names),
            texts: give(texts),
            kinds: give(kinds),
            name_ends: give_ids(name_ends),
            text_ends: give_ids(text_ends),
            facts: give_bytes(tokenizer.facts()),
        })
    })
}

#[no_mangle]
pub unsafe extern "C" fn sublane_encode(
    encoder: &Encoder,
    text: Bytes,
    parse_special: bool,
    out: *mut Ids,
    error: *mut Bytes,
) -> i32 {
    guarded(out, error, || {
        Ok(give_ids(encoder.encode(view(text), parse_special)?))
    })
}

#[no_mangle]
pub unsafe extern "C" fn sublane_encoder_free(encoder: *mut Encoder) {
    if !encoder.is_null() {
        drop(Box::from_raw(encoder));
    }
}

#[no_mangle]
pub unsafe extern "C" fn sublane_template_new(
    source: Bytes,
    out: *mut *mut jinja::Template,
    error: *mut Bytes,
) -> i32 {
    guarded(out, error, || Ok(Box::into_raw(Box::new(jinja::Template::new(view_str(source)?)?))))
}

#[no_mangle]
pub unsafe extern "C" fn sublane_template_render(
    template: &jinja::Template,
    context: Bytes,
    now: Bytes,
    out: *mut Bytes,
    error: *mut Bytes,
) -> i32 {
    guarded(out, error, || Ok(give_bytes(template.render(view_str(context)?, view_str(now)?)?)))
}

#[no_mangle]
pub unsafe extern "C" fn sublane_template_free(template: *mut jinja::Template) {
    if !template.is_null() {
        drop(Box::from_raw(template));
    }
}

#[no_mangle]
pub unsafe extern "C" fn sublane_bytes_free(bytes: Bytes) {
    if !bytes.data.is_null() {
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(bytes.data, bytes.size)));
    }
}

#[no_mangle]
pub unsafe extern "C" fn sublane_ids_free(ids: Ids) {
    if !ids.data.is_null() {
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(ids.data, ids.size)));
    }
}

/// For the test of the boundary.
#[no_mangle]
pub unsafe extern "C" fn sublane_panic(out: *mut Bytes, error: *mut Bytes) -> i32 {
    guarded(out, error, || panic!("asked to"))
}
