//! Cuts a text at the tokens that match as whole strings, before any merging.
//!
//! Two sets: user-defined tokens always match; control tokens only when the caller asks for it, so
//! that "<|im_start|>" typed by a user stays text. Leftmost match first, the longest of those.

use ahash::AHashSet;
use daachorse::{DoubleArrayAhoCorasick, DoubleArrayAhoCorasickBuilder, MatchKind};
use std::sync::OnceLock;

use crate::vocabulary::{Kind, Vocabulary};

type Automaton = Option<DoubleArrayAhoCorasick<u32>>;

pub enum Piece<'a> {
    Text(&'a str),
    Token(u32),
}

pub struct Splitter {
    vocabulary_tokens: Vec<(String, u32, bool)>, // text, id, is control
    user_defined: Automaton,
    with_control: OnceLock<Automaton>, // built when first asked for: Gemma has 6,000 of them
}

impl Splitter {
    /// `normal` gives a token's text the form that texts to be split have.
    pub fn new(vocabulary: &Vocabulary, normal: impl Fn(&str) -> String) -> Result<Self, String> {
        let mut seen = AHashSet::new();
        let tokens: Vec<_> = vocabulary
            .iter()
            .filter(|(_, text, kind)| {
                matches!(kind, Kind::Control | Kind::UserDefined) && !text.is_empty()
            })
            .map(|(id, text, kind)| (normal(text), id, kind == Kind::Control))
            .filter(|token| seen.insert(token.0.clone()))
            .collect();
        let user_defined = build(tokens.iter().filter(|token| !token.2))?;
        Ok(Self { vocabulary_tokens: tokens, user_defined, with_control: OnceLock::new() })
    }

    pub fn split<'a>(
        &self,
        text: &'a str,
        parse_special: bool,
        mut visit: impl FnMut(Piece<'a>) -> Result<(), String>,
    ) -> Result<(), String> {
        let automaton = if parse_special {
            self.with_control.get_or_init(|| {
                build(self.vocabulary_tokens.iter()).expect("patterns are distinct and not empty")
            })
        } else {
            &self.user_defined
        };
        let mut done = 0;
        if let Some(automaton) = automaton {
            for found in automaton.leftmost_find_iter(text) {
                if found.start() > done {
                    visit(Piece::Text(&text[done..found.start()]))?;
                }
                visit(Piece::Token(found.value()))?;
                done = found.end();
            }
        }
        if done < text.len() {
            visit(Piece::Text(&text[done..]))?;
        }
        Ok(())
    }
}

fn build<'a>(tokens: impl Iterator<Item = &'a (String, u32, bool)>) -> Result<Automaton, String> {
    let patterns: Vec<(&str, u32)> = tokens.map(|token| (token.0.as_str(), token.1)).collect();
    if patterns.is_empty() {
        return Ok(None);
    }
    DoubleArrayAhoCorasickBuilder::new()
        .match_kind(MatchKind::LeftmostLongest)
        .build_with_values(patterns)
        .map(Some)
        .map_err(|error| format!("special tokens: {error}"))
}
