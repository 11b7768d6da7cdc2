//! The tokens of a file: their texts in one arena, their kinds, and a hash table from text to id.
//!
//! 262,144 separate strings take longer to allocate than all the rest of the set-up, hence the arena.

use ahash::RandomState;
use hashbrown::HashTable;

/// GGUF's `tokenizer.ggml.token_type`, with the unknown token counted as control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Normal,
    Control,
    UserDefined,
    Unused,
    Byte,
}

impl Kind {
    pub fn from_gguf(value: u8) -> Option<Kind> {
        match value {
            1 => Some(Kind::Normal),
            2 | 3 => Some(Kind::Control),
            4 => Some(Kind::UserDefined),
            5 => Some(Kind::Unused),
            6 => Some(Kind::Byte),
            _ => None,
        }
    }
}

pub struct Vocabulary {
    arena: String,
    ends: Vec<u32>,
    kinds: Vec<Kind>,
    index: HashTable<u32>,
    hasher: RandomState,
    longest: usize,
}

impl Vocabulary {
    /// Fails on bytes that are not UTF-8, unknown kinds and a token that is there twice.
    pub fn new(tokens: &[&[u8]], kinds: &[u8]) -> Result<Self, String> {
        let mut vocabulary = Self {
            arena: String::with_capacity(tokens.iter().map(|token| token.len()).sum()),
            ends: Vec::with_capacity(tokens.len()),
            kinds: Vec::with_capacity(tokens.len()),
            index: HashTable::with_capacity(tokens.len()),
            hasher: RandomState::new(),
            longest: 0,
        };
        for (id, (token, kind)) in tokens.iter().zip(kinds).enumerate() {
            let text = std::str::from_utf8(token).map_err(|error| {
                format!("tokenizer.ggml.tokens[{id}] is not UTF-8 at its byte {}", error.valid_up_to())
            })?;
            let kind = Kind::from_gguf(*kind)
                .ok_or_else(|| format!("tokenizer.ggml.token_type[{id}] is {kind}, known are 1 to 6"))?;
            vocabulary.add(id as u32, text, kind)?;
        }
        Ok(vocabulary)
    }

    fn add(&mut self, id: u32, text: &str, kind: Kind) -> Result<(), String> {
        if let Some(first) = self.id(text) {
            return Err(format!(
                "tokenizer.ggml.tokens[{id}] {text:?} is already token {first}: ids must be unique"
            ));
        }
        self.arena.push_str(text);
        let end = u32::try_from(self.arena.len()).map_err(|_| "tokens exceed 4 GiB of text")?;
        self.ends.push(end);
        self.kinds.push(kind);
        self.longest = self.longest.max(text.len());
        let (arena, ends, hasher) = (&self.arena, &self.ends, &self.hasher);
        self.index.insert_unique(hasher.hash_one(text), id, |&other| {
            hasher.hash_one(text_of(arena, ends, other))
        });
        Ok(())
    }

    pub fn id(&self, text: &str) -> Option<u32> {
        self.index
            .find(self.hasher.hash_one(text), |&id| self.text(id) == text)
            .copied()
    }
    pub fn text(&self, id: u32) -> &str {
        text_of(&self.arena, &self.ends, id)
    }
    pub fn kind(&self, id: u32) -> Kind {
        self.kinds[id as usize]
    }
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    /// Bytes of the longest token.
    pub fn longest(&self) -> usize {
        self.longest
    }
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str, Kind)> {
        (0..self.len() as u32).map(|id| (id, self.text(id), self.kind(id)))
    }
}

fn text_of<'a>(arena: &'a str, ends: &[u32], id: u32) -> &'a str {
    let start = if id == 0 { 0 } else { ends[id as usize - 1] as usize };
    &arena[start..ends[id as usize] as usize]
}
