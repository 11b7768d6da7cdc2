//! SentencePiece unigram ("t5" in GGUF): pieces with scores, the best path through a text, on crate `tokenizers`.
//!
//! A text is first brought into the library's normal form: the file's own character map, then spaces. Control tokens
//! are never spelt out.

use tokenizers::models::unigram::Unigram;
use tokenizers::normalizers::Precompiled;
use tokenizers::{Model, NormalizedString, Normalizer};

use crate::tokenizer_parts::{check_charsmap_bytes, no_panic};
use crate::vocabulary::{Kind, Vocabulary};

const SPACE: char = '\u{2581}';

pub struct UnigramOptions<'a> {
    pub scores: &'a [f32],
    pub unknown: Option<u32>,
    pub charsmap: &'a [u8], // empty: none
    pub add_space_prefix: bool,
    pub remove_extra_whitespaces: bool,
}

pub struct SentencePieceUnigram {
    model: Unigram,
    charsmap: Option<Precompiled>,
    add_space_prefix: bool,
    remove_extra_whitespaces: bool,
}

impl SentencePieceUnigram {
    pub fn new(vocabulary: &Vocabulary, options: UnigramOptions) -> Result<Self, String> {
        if let Some(id) = options.scores.iter().position(|score| !score.is_finite()) {
            return Err(format!("tokenizer.ggml.scores[{id}] is not a finite number"));
        }
        let mut pieces = Vec::with_capacity(vocabulary.len());
        let mut bytes = 0;
        for (id, text, kind) in vocabulary.iter() {
            let hidden = matches!(kind, Kind::Control | Kind::Unused) || text.is_empty();
            bytes += usize::from(kind == Kind::Byte);
            // A text in normal form has no spaces.
            let name = if hidden { format!(" {id}") } else { text.to_owned() };
            pieces.push((name, f64::from(options.scores[id as usize])));
        }
        if bytes != 0 && bytes != 256 {
            return Err(format!("tokenizer.ggml.token_type has {bytes} byte tokens, neither none nor 256"));
        }
        let unknown = options.unknown.map(|id| id as usize);
        let model = Unigram::from(pieces, unknown, bytes == 256).map_err(|error| error.to_string())?;
        let charsmap = match options.charsmap {
            [] => None,
            map => Some(no_panic("tokenizer.ggml.precompiled_charsmap", || {
                check_charsmap_bytes(map)?;
                Precompiled::from(map).map_err(|error| error.to_string())
            })?),
        };
        Ok(Self {
            model, charsmap,
            add_space_prefix: options.add_space_prefix,
            remove_extra_whitespaces: options.remove_extra_whitespaces,
        })
    }

    pub fn encode(&self, text: &str, ids: &mut Vec<u32>) -> Result<(), String> {
        let text = self.normal(text)?;
        let tokens = self.model.tokenize(&text).map_err(|error| error.to_string())?;
        ids.extend(tokens.iter().map(|token| token.id));
        Ok(())
    }

    fn normal(&self, text: &str) -> Result<String, String> {
        let mut mapped = NormalizedString::from(text);
        if let Some(charsmap) = &self.charsmap {
            no_panic("tokenizer.ggml.precompiled_charsmap", || {
                charsmap.normalize(&mut mapped).map_err(|error| error.to_string())
            })?;
        }
        let mut out = String::with_capacity(mapped.get().len() + 3);
        let text = if self.remove_extra_whitespaces { mapped.get().trim_matches(' ') } else { mapped.get() };
        if self.add_space_prefix && !text.is_empty() {
            out.push(SPACE);
        }
        let mut after_space = false;
        for character in text.chars() {
            let space = character == ' ';
            if !(space && after_space && self.remove_extra_whitespaces) {
                out.push(if space { SPACE } else { character });
            }
            after_space = space;
        }
        Ok(out)
    }
}
