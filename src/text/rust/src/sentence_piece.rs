//! SentencePiece BPE from pieces and scores, as Gemma and Llama 2 files carry it.
//!
//! Not the BPE of crate `tokenizers`: that one wants merges, which such a file does not have. Deriving
//! Gemma's 513,511 of them and building the crate's tables took 1.45 s, this takes a tenth of it. Nothing
//! is derived here: two neighbours may merge when their joined text is a piece; the highest score goes
//! first, the leftmost of equals. That is SentencePiece's own rule, and equal to the published merges of Gemma.

use ahash::AHashMap;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::vocabulary::{Kind, Vocabulary};

const SPACE: &str = "\u{2581}";
const NONE: u32 = u32::MAX;

pub struct SentencePiece {
    vocabulary: Vocabulary,
    scores: Vec<f32>,
    bytes: Vec<Option<u32>>, // the token of each byte value
    unknown: Option<u32>,
    add_space_prefix: bool,
    has_unused: bool,
}

/// A run of text that is one symbol so far. Merged-away symbols have length 0.
struct Symbol {
    start: u32,
    len: u32,
    previous: u32,
    next: u32,
    id: u32,
}

#[derive(PartialEq)]
struct Candidate {
    score: f32,
    left: u32,
    right: u32,
    len: u32,
    id: u32,
}
impl Eq for Candidate {}
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.left.cmp(&self.left))
    }
}
impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// One encode in progress.
struct Merging<'a> {
    model: &'a SentencePiece,
    text: &'a str,
    symbols: Vec<Symbol>,
    queue: BinaryHeap<Candidate>,
    unused_cuts: AHashMap<u32, u32>, // an unused piece: the length of the left part it was made from
}

impl SentencePiece {
    pub fn new(
        vocabulary: Vocabulary,
        scores: &[f32],
        unknown: Option<u32>,
        add_space_prefix: bool,
    ) -> Result<Self, String> {
        if let Some(id) = scores.iter().position(|score| score.is_nan()) {
            return Err(format!("tokenizer.ggml.scores[{id}] is not a number"));
        }
        let mut bytes = vec![None; 256];
        for (id, text, kind) in vocabulary.iter() {
            if kind == Kind::Byte {
                let value = byte_value(text).ok_or_else(|| {
                    format!("tokenizer.ggml.tokens[{id}] {text:?} has the type of a byte but not the form <0x0A>")
                })?;
                bytes[value as usize] = Some(id);
            }
        }
        let has_unused = vocabulary.iter().any(|(_, _, kind)| kind == Kind::Unused);
        Ok(Self { vocabulary, scores: scores.to_vec(), bytes, unknown, add_space_prefix, has_unused })
    }

    /// Spaces as pieces write them. Comes before the splitting at special tokens, so that "\u{2581} " is a run of two.
    pub fn normal(text: &str) -> String {
        text.replace(' ', SPACE)
    }

    /// `text` is in its normal form.
    pub fn encode(&self, text: &str, ids: &mut Vec<u32>) -> Result<(), String> {
        if text.len() >= NONE as usize - SPACE.len() {
            return Err(format!("text of {} bytes is longer than 4 GiB", text.len()));
        }
        if self.add_space_prefix {
            return Merging::new(self, &[SPACE, text].concat()).run(ids);
        }
        Merging::new(self, text).run(ids)
    }

    /// The piece that merging may make of this text. Control and byte tokens are never spelt out.
    fn piece(&self, text: &str) -> Option<u32> {
        if text.len() > self.vocabulary.longest() {
            return None;
        }
        let id = self.vocabulary.id(text)?;
        match self.vocabulary.kind(id) {
            Kind::Normal | Kind::UserDefined | Kind::Unused => Some(id),
            Kind::Control | Kind::Byte => None,
        }
    }

    fn push_bytes(&self, text: &str, ids: &mut Vec<u32>) -> Result<(), String> {
        if text.bytes().all(|byte| self.bytes[byte as usize].is_some()) {
            ids.extend(text.bytes().filter_map(|byte| self.bytes[byte as usize]));
            return Ok(());
        }
        let unknown = self.unknown.ok_or_else(|| {
            format!("{text:?} is not in the vocabulary, which has neither all byte tokens nor an unknown token")
        })?;
        ids.push(unknown);
        Ok(())
    }
}

impl<'a> Merging<'a> {
    fn new(model: &'a SentencePiece, text: &'a str) -> Self {
        let mut symbols: Vec<Symbol> = Vec::with_capacity(text.len() / 2 + 1);
        for (index, (start, character)) in text.char_indices().enumerate() {
            let len = character.len_utf8();
            symbols.push(Symbol {
                start: start as u32,
                len: len as u32,
                previous: (index as u32).wrapping_sub(1), // NONE before the first
                next: index as u32 + 1,
                id: model.piece(&text[start..start + len]).unwrap_or(NONE),
            });
        }
        if let Some(last) = symbols.last_mut() {
            last.next = NONE;
        }
        let queue = BinaryHeap::with_capacity(symbols.len());
        let mut merging = Self { model, text, symbols, queue, unused_cuts: AHashMap::new() };
        for right in 1..merging.symbols.len() as u32 {
            merging.offer(right - 1, right);
        }
        merging
    }

    fn offer(&mut self, left: u32, right: u32) {
        if left == NONE || right == NONE {
            return;
        }
        let (a, b) = (&self.symbols[left as usize], &self.symbols[right as usize]);
        let (start, len) = (a.start as usize, a.len + b.len);
        if let Some(id) = self.model.piece(&self.text[start..start + len as usize]) {
            if self.model.has_unused && self.model.vocabulary.kind(id) == Kind::Unused {
                self.unused_cuts.insert(id, a.len);
            }
            self.queue.push(Candidate { score: self.model.scores[id as usize], left, right, len, id });
        }
    }

    fn run(mut self, ids: &mut Vec<u32>) -> Result<(), String> {
        while let Some(best) = self.queue.pop() {
            let (left, right) = (best.left as usize, best.right as usize);
            let (a, b) = (self.symbols[left].len, self.symbols[right].len);
            if a == 0 || b == 0 || a + b != best.len {
                continue; // one side has merged with another since
            }
            let next = self.symbols[right].next;
            self.symbols[right].len = 0;
            self.symbols[left].len = best.len;
            self.symbols[left].id = best.id;
            self.symbols[left].next = next;
            if next != NONE {
                self.symbols[next as usize].previous = best.left;
            }
            self.offer(self.symbols[left].previous, best.left);
            self.offer(best.left, next);
        }
        for symbol in self.symbols.iter().filter(|symbol| symbol.len > 0) {
            let start = symbol.start as usize;
            self.emit(symbol.id, &self.text[start..start + symbol.len as usize], ids)?;
        }
        Ok(())
    }

    /// Unused pieces serve as stepping stones and are taken apart again if nothing was built on them.
    fn emit(&self, id: u32, text: &str, ids: &mut Vec<u32>) -> Result<(), String> {
        if id == NONE {
            return self.model.push_bytes(text, ids);
        }
        if self.model.has_unused && self.model.vocabulary.kind(id) == Kind::Unused {
            if let Some(&cut) = self.unused_cuts.get(&id) {
                for part in [&text[..cut as usize], &text[cut as usize..]] {
                    self.emit(self.model.piece(part).unwrap_or(NONE), part, ids)?;
                }
                return Ok(());
            }
        }
        ids.push(id);
        Ok(())
    }
}

/// 10 for "<0x0A>".
fn byte_value(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() != 2 {
        return None;
    }
    u8::from_str_radix(digits, 16).ok()
}
