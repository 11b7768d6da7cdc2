//! Template text to tokens, with jinja2's whitespace rules under trim_blocks and lstrip_blocks.
//!
//! BEFORE "a\n  {% if x %}\nb{{- y }}"      AFTER  Data("a\n") BlockBegin Name(if) Name(x) BlockEnd Data("b")
//!                                                 VariableBegin Name(y) VariableEnd

use std::sync::Arc;

use super::budget::{Fail, Outcome};
use super::text::is_space;

#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    Data(Arc<str>),
    BlockBegin,
    BlockEnd,
    VariableBegin,
    VariableEnd,
    Name(Arc<str>),
    Str(Arc<str>),
    Int(i128),
    Float(f64),
    Operator(&'static str),
    End,
}

/// Longest first, so that the first that fits is meant.
const OPERATORS: [&str; 26] = [
    "**", "//", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=",
    ".", ":", "|", ",", ";",
];

pub fn tokenize(source: &str) -> Outcome<Vec<(Token, u32)>> {
    // Every line end is "\n", and one at the very end is dropped.
    let mut source = source.replace("\r\n", "\n").replace('\r', "\n");
    if source.ends_with('\n') {
        source.pop();
    }
    let mut lexer = Lexer { source: &source, at: 0, line: 1, line_starts: true, tokens: Vec::new() };
    lexer.root()?;
    let line = lexer.line;
    lexer.tokens.push((Token::End, line));
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: u32,
    line_starts: bool, // what was read last ended a line
    tokens: Vec<(Token, u32)>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn advance(&mut self, bytes: usize) {
        let taken = &self.source[self.at..self.at + bytes];
        self.line += taken.bytes().filter(|byte| *byte == b'\n').count() as u32;
        self.line_starts = taken.ends_with('\n');
        self.at += bytes;
    }

    fn push(&mut self, token: Token) {
        self.tokens.push((token, self.line));
    }

    fn fail<T>(&self, message: impl Into<String>) -> Outcome<T> {
        Err(Fail::new(message).at(self.line))
    }

    fn root(&mut self) -> Outcome<()> {
        while !self.rest().is_empty() {
            let rest = self.rest();
            let Some((start, opener)) = next_opener(rest) else {
                self.data(rest, "", false);
                return Ok(());
            };
            let sign = &rest[start + 2..];
            let sign = if sign.starts_with('-') { "-" } else if sign.starts_with('+') { "+" } else { "" };
            let line_starts = self.line_starts;
            self.line_starts = line_starts;
            self.data(&rest[..start], sign, opener != "{{");
            match opener {
                "{#" => self.comment()?,
                "{{" => {
                    self.advance(2 + sign.len());
                    self.push(Token::VariableBegin);
                    self.inside("}}", Token::VariableEnd)?;
                }
                _ if self.raw_begin(sign).is_some() => self.raw(sign)?,
                _ => {
                    self.advance(2 + sign.len());
                    self.push(Token::BlockBegin);
                    self.inside("%}", Token::BlockEnd)?;
                }
            }
        }
        Ok(())
    }

    /// Text up to a tag, less what the tag strips from its end.
    fn data(&mut self, text: &'a str, sign: &str, strips_line: bool) {
        let kept = match sign {
            "-" => text.trim_end_matches(is_space),
            "" if strips_line => {
                let line = text.rfind('\n').map_or(0, |at| at + 1);
                let blank = line < text.len() && text[line..].chars().all(is_space);
                if (line > 0 || self.line_starts) && blank { &text[..line] } else { text }
            }
            _ => text,
        };
        if !kept.is_empty() {
            self.push(Token::Data(kept.into()));
        }
        if !text.is_empty() {
            self.advance(text.len());
        }
    }

    /// Past `-%}` and the white space after it, `+%}`, or `%}` and one line end.
    fn close(&mut self, closer: &str, sign: Option<char>, trims_line: bool) {
        self.advance(closer.len() + sign.map_or(0, char::len_utf8));
        let rest = self.rest();
        let more = match sign {
            Some('-') => rest.len() - rest.trim_start_matches(is_space).len(),
            None if trims_line && rest.starts_with('\n') => 1,
            _ => 0,
        };
        if more > 0 {
            self.advance(more);
        }
    }

    fn comment(&mut self) -> Outcome<()> {
        let rest = self.rest();
        let Some(end) = rest[2..].find("#}").map(|at| at + 2) else {
            return self.fail("a comment {# is not closed");
        };
        let sign = rest[2..end].chars().next_back().filter(|c| *c == '-' || *c == '+');
        self.advance(end - sign.map_or(0, char::len_utf8));
        self.close("#}", sign, true);
        Ok(())
    }

    /// The bytes of `{% raw %}`, if that is what stands here.
    fn raw_begin(&self, sign: &str) -> Option<usize> {
        raw_tag(self.rest(), sign, "raw").map(|(size, _)| size)
    }

    fn raw(&mut self, sign: &str) -> Outcome<()> {
        let (size, minus) = raw_tag(self.rest(), sign, "raw").unwrap_or_default();
        self.advance(size);
        if minus {
            let rest = self.rest();
            let spaces = rest.len() - rest.trim_start_matches(is_space).len();
            if spaces > 0 {
                self.advance(spaces);
            }
        }
        let rest = self.rest();
        let mut from = 0;
        while let Some(start) = rest[from..].find("{%").map(|at| at + from) {
            let tag = &rest[start..];
            let sign = if tag[2..].starts_with('-') { "-" } else if tag[2..].starts_with('+') { "+" } else { "" };
            if let Some((size, closing)) = end_raw_tag(tag, sign) {
                self.data(&rest[..start], sign, true);
                self.advance(size);
                self.close("%}", closing, true);
                return Ok(());
            }
            from = start + 2;
        }
        self.fail("a block {% raw %} is not closed")
    }

    /// The tokens of a tag, up to its closer at bracket depth 0.
    fn inside(&mut self, closer: &'static str, end: Token) -> Outcome<()> {
        let mut open: Vec<&str> = Vec::new();
        loop {
            let rest = self.rest();
            let spaces = rest.len() - rest.trim_start_matches(is_space).len();
            if spaces > 0 {
                self.advance(spaces);
            }
            let rest = self.rest();
            let Some(first) = rest.chars().next() else {
                return self.fail(format!("a tag is not closed: '{closer}' is missing"));
            };
            if open.is_empty() {
                // A variable's end takes no '+'.
                let sign = Some(first).filter(|c| *c == '-' || (*c == '+' && closer == "%}"));
                let sign = sign.filter(|_| rest[1..].starts_with(closer));
                if sign.is_some() || rest.starts_with(closer) {
                    self.push(end);
                    self.close(closer, sign, closer == "%}");
                    return Ok(());
                }
            }
            let (token, size) = self.token(rest, first)?;
            if let Token::Operator(operator) = token {
                match operator {
                    "(" => open.push(")"),
                    "[" => open.push("]"),
                    "{" => open.push("}"),
                    ")" | "]" | "}" if open.pop() != Some(operator) => {
                        return self.fail(format!("unexpected '{operator}'"));
                    }
                    _ => {}
                }
            }
            self.push(token);
            self.advance(size);
        }
    }

    fn token(&self, rest: &str, first: char) -> Outcome<(Token, usize)> {
        if first.is_ascii_digit() {
            return self.number(rest);
        }
        if first == '\'' || first == '"' {
            return self.string(rest, first);
        }
        if first.is_alphanumeric() || first == '_' {
            let size = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            return Ok((Token::Name(rest[..size].into()), size));
        }
        match OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
            Some(operator) => Ok((Token::Operator(operator), operator.len())),
            None => self.fail(format!("unexpected character {first:?}")),
        }
    }

    fn number(&self, rest: &str) -> Outcome<(Token, usize)> {
        let bytes = rest.as_bytes();
        let digits = |from: usize, radix: u32| {
            let mut at = from;
            while at < bytes.len() {
                let joins = bytes[at] == b'_' && at > 0 && at + 1 < bytes.len();
                let digit = |byte: u8| (byte as char).is_digit(radix);
                if !(digit(bytes[at]) || (joins && digit(bytes[at - 1]) && digit(bytes[at + 1]))) {
                    break;
                }
                at += 1;
            }
            at
        };
        let clean = |text: &str| text.replace('_', "");
        for (prefix, radix) in [("0x", 16), ("0b", 2), ("0o", 8)] {
            if rest.len() > 2 && rest.is_char_boundary(2) && rest[..2].eq_ignore_ascii_case(prefix) {
                let end = digits(2, radix);
                return match i128::from_str_radix(&clean(&rest[2..end]), radix) {
                    Ok(value) => Ok((Token::Int(value), end)),
                    Err(_) => self.fail("a number that is too large or has no digits"),
                };
            }
        }
        let whole = digits(0, 10);
        let mut end = whole;
        if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1, 10);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = matches!(bytes.get(end + 1), Some(b'+' | b'-')) as usize;
            if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
                end = digits(end + 1 + sign, 10);
            }
        }
        let text = clean(&rest[..end]);
        if end > whole {
            return Ok((Token::Float(text.parse().unwrap_or(f64::INFINITY)), end));
        }
        if text.len() > 1 && text.starts_with('0') && text.bytes().any(|digit| digit != b'0') {
            return self.fail(format!("the number {text} begins with 0"));
        }
        match text.parse() {
            Ok(value) => Ok((Token::Int(value), end)),
            Err(_) => self.fail(format!("the number {} is too large", &text[..20])),
        }
    }

    fn string(&self, rest: &str, quote: char) -> Outcome<(Token, usize)> {
        let mut out = String::new();
        let mut chars = rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            if c == quote {
                return Ok((Token::Str(out.into()), at + 1));
            }
            if c != '\\' {
                out.push(c);
                continue;
            }
            let Some((_, escape)) = chars.next() else { break };
            let mut code = |digits: usize, radix: u32, first: &str| -> Outcome<char> {
                let mut text = first.to_owned();
                let mut ahead = chars.clone();
                while text.len() < digits {
                    match ahead.next() {
                        Some((_, c)) if c.is_digit(radix) => text.push(c),
                        _ => break,
                    }
                    chars = ahead.clone();
                }
                let short = radix == 16 && text.len() < digits;
                match u32::from_str_radix(&text, radix).ok().and_then(char::from_u32).filter(|_| !short) {
                    Some(c) => Ok(c),
                    None => self.fail(format!("a string has the wrong escape \\{escape}{text}")),
                }
            };
            match escape {
                '\n' => {}
                '\\' | '\'' | '"' => out.push(escape),
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                'a' => out.push('\x07'),
                'b' => out.push('\x08'),
                'f' => out.push('\x0c'),
                'v' => out.push('\x0b'),
                'x' => out.push(code(2, 16, "")?),
                'u' => out.push(code(4, 16, "")?),
                'U' => out.push(code(8, 16, "")?),
                '0'..='7' => out.push(code(3, 8, &escape.to_string())?),
                'N' => return self.fail("a string has an escape \\N{...}, which is not supported"),
                other => out.extend(['\\', other]),
            }
        }
        self.fail("a string is not closed")
    }
}

fn next_opener(text: &str) -> Option<(usize, &'static str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find('{').map(|at| at + from) {
        for opener in ["{%", "{{", "{#"] {
            if text[at..].starts_with(opener) {
                return Some((at, opener));
            }
        }
        from = at + 1;
    }
    None
}

/// `{%- raw -%}` at the front of `text`: its bytes, and whether it strips what follows.
fn raw_tag(text: &str, sign: &str, name: &str) -> Option<(usize, bool)> {
    let after = text[2 + sign.len()..].trim_start_matches(is_space).strip_prefix(name)?;
    let after = after.trim_start_matches(is_space);
    let (rest, minus) = match after.strip_prefix("-%}") {
        Some(rest) => (rest, true),
        None => (after.strip_prefix("%}")?, false),
    };
    Some((text.len() - rest.len(), minus))
}

/// `{%- endraw` at the front of `text`: the bytes before its closer, and the closer's sign.
fn end_raw_tag(text: &str, sign: &str) -> Option<(usize, Option<char>)> {
    let after = text[2 + sign.len()..].trim_start_matches(is_space).strip_prefix("endraw")?;
    let after = after.trim_start_matches(is_space);
    let closing = after.chars().next().filter(|c| *c == '-' || *c == '+');
    after[closing.map_or(0, char::len_utf8)..].starts_with("%}").then(|| (text.len() - after.len(), closing))
}
