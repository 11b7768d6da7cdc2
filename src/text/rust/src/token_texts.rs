//! What each token of a tokenizer.json stands for in a text, by the file's decoder.
//!
//! A decoder of the crate turns a list of tokens into a text. A stream needs the same token by token, so its steps are
//! sorted into what happens to each token by itself (done once, here) and what depends on the place of a token in
//! the text (the facts that this struct holds, for the C++ side). A step that fits neither is refused.

use serde_json::{Map, Value};
use std::sync::LazyLock;
use tokenizers::decoders::DecoderWrapper;
use tokenizers::Decoder as _;

use crate::byte_level::byte_letter;
use crate::tokenizer_parts::{checked, growth_limit, inner, no_panic, DECODERS};

/// A step that changes a token by itself.
enum Step {
    Crate(DecoderWrapper), // Replace, Strip
    Bytes,                 // <0x0A>
    Letters,               // byte-level letters
}

#[derive(Default)]
pub struct Decoder {
    steps: Vec<Step>,
    /// In a token's text this stands for a space ("" for none), or for nothing in a text's first token.
    pub space: String,
    pub drops_first_space: bool,
    /// So many of this character are taken off the front of a text.
    pub strip: String,
    pub strip_count: u64,
    /// Stands between tokens.
    pub joint: String,
    fused: bool,
}

impl Decoder {
    pub fn new(value: &Value) -> Result<Self, String> {
        let mut decoder = Self::default();
        if value.is_null() {
            decoder.joint = " ".into();
        } else {
            decoder.add(value, "decoder")?;
        }
        Ok(decoder)
    }

    fn add(&mut self, value: &Value, place: &str) -> Result<(), String> {
        let (name, fields) = checked(value, place, DECODERS)?;
        let late = self.fused || !self.space.is_empty();
        let after_bytes = self.steps.iter().any(|step| matches!(step, Step::Bytes));
        match name {
            "Sequence" => {
                for (place, step) in inner(fields, "decoders", place)? {
                    self.add(step, &place)?;
                }
            }
            "Fuse" => self.fused = true,
            "Strip" if self.fused => self.strip_front(fields, place)?,
            "ByteFallback" if !late => self.steps.push(Step::Bytes),
            "ByteLevel" if !late && !after_bytes => {
                self.steps.push(Step::Letters);
                self.fused = true;
            }
            "Replace" | "Strip" if !late && !after_bytes => {
                let step = no_panic(place, || serde_json::from_value(value.clone()).map_err(|error| error.to_string()))?;
                self.steps.push(Step::Crate(step));
            }
            "Metaspace" if !late => self.metaspace(fields, place)?,
            _ => return Err(format!("{place}: {name} at this place of a decoder is not supported")),
        }
        Ok(())
    }

    fn strip_front(&mut self, fields: &Map<String, Value>, place: &str) -> Result<(), String> {
        let content = fields["content"].as_str().unwrap_or_default();
        let (start, stop) = (fields["start"].as_u64(), fields["stop"].as_u64());
        if stop != Some(0) {
            return Err(format!("{place}.stop is {}: only a text's front can be stripped", fields["stop"]));
        }
        if !(content.len() == 1 && content.is_ascii()) || self.strip_count > 0 {
            return Err(format!("{place} does not strip one ASCII character, once"));
        }
        self.strip = content.to_owned();
        self.strip_count = start.ok_or_else(|| format!("{place}.start is not a whole number"))?;
        Ok(())
    }

    fn metaspace(&mut self, fields: &Map<String, Value>, place: &str) -> Result<(), String> {
        let space = fields["replacement"].as_str().unwrap_or_default();
        if space.chars().count() != 1 {
            return Err(format!("{place}.replacement is not one character"));
        }
        let adds = fields.get("add_prefix_space").and_then(Value::as_bool);
        self.drops_first_space = match fields.get("prepend_scheme").map(|scheme| scheme.as_str().unwrap_or_default()) {
            Some("never") => false,
            Some("always") | Some("first") if adds != Some(false) => true,
            None => adds != Some(false),
            Some(_) => return Err(format!("{place}.prepend_scheme {} is not always, first or never, or disagrees with add_prefix_space",
                                          fields["prepend_scheme"])),
        };
        self.space = space.to_owned();
        Ok(())
    }

    /// The bytes that a token adds to a text, spaces still as `space`.
    pub fn text(&self, token: &str) -> Result<Vec<u8>, String> {
        let mut text = token.to_owned();
        for step in &self.steps {
            match step {
                Step::Bytes => {
                    if let Some(byte) = byte_of(&text) {
                        return Ok(vec![byte]);
                    }
                }
                Step::Letters => return Ok(bytes_of_letters(&text).unwrap_or_else(|| text.into_bytes())),
                Step::Crate(decoder) => text = step_text(decoder, text)?,
            }
            if text.len() > growth_limit(token.len()) {
                return Err(format!("decoder: token {token:?} becomes a text of more than {} bytes", text.len()));
            }
        }
        Ok(text.into_bytes())
    }
}

fn step_text(decoder: &DecoderWrapper, text: String) -> Result<String, String> {
    no_panic("decoder", || decoder.decode_chain(vec![text]).map(|texts| texts.concat()).map_err(|error| error.to_string()))
}

/// 10 of "<0x0A>".
fn byte_of(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() != 2 {
        return None;
    }
    u8::from_str_radix(digits, 16).ok()
}

fn bytes_of_letters(token: &str) -> Option<Vec<u8>> {
    static BYTES: LazyLock<[Option<u8>; 0x200]> = LazyLock::new(|| {
        let mut bytes = [None; 0x200];
        (0..=255u8).for_each(|byte| bytes[byte_letter(byte) as usize] = Some(byte));
        bytes
    });
    token.chars().map(|letter| *BYTES.get(letter as usize)?).collect()
}
