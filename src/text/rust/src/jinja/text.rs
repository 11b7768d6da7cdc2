//! Python's str, where Rust's differs.

/// str.isspace() of one character; what strip() and split() take for white space.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// str.splitlines()
pub fn split_lines(text: &str, keep_ends: bool) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(is_line_end).unwrap_or(rest.len());
        let mut after = end + rest[end..].chars().next().map_or(0, char::len_utf8);
        if rest[end..].starts_with("\r\n") {
            after = end + 2;
        }
        lines.push(&rest[..if keep_ends { after } else { end }]);
        rest = &rest[after..];
    }
    lines
}

pub fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().count() }
}

/// The byte at which character `index` begins; the text's end for one past it.
pub fn byte_of(text: &str, index: usize) -> usize {
    if text.is_ascii() {
        return index.min(text.len());
    }
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

/// The character's form at the front of a word: "ß" is "Ss" there.
pub fn title_character(c: char, out: &mut String) {
    match c {
        'Ǆ' | 'ǅ' | 'ǆ' => return out.push('ǅ'),
        'Ǉ' | 'ǈ' | 'ǉ' => return out.push('ǈ'),
        'Ǌ' | 'ǋ' | 'ǌ' => return out.push('ǋ'),
        'Ǳ' | 'ǲ' | 'ǳ' => return out.push('ǲ'),
        'ŉ' => return out.push_str("ʼN"),
        'ა'..='ჿ' => return out.push(c), // Georgian has capitals, but no word begins with one
        _ => {}
    }
    for (index, upper) in c.to_uppercase().enumerate() {
        if index == 0 {
            out.push(upper);
        } else {
            out.extend(upper.to_lowercase());
        }
    }
}

pub fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let mut out = String::with_capacity(text.len());
    if let Some(first) = chars.next() {
        title_character(first, &mut out);
        // The whole is made small, so that a sigma knows that it does not stand alone.
        let small = text.to_lowercase();
        let skipped = first.to_lowercase().map(char::len_utf8).sum::<usize>();
        out.push_str(small.get(skipped..).unwrap_or(""));
    }
    out
}

fn is_cased(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase() || matches!(c, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ')
}

/// str.title()
pub fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut after_cased = false;
    for c in text.chars() {
        if after_cased {
            out.extend(c.to_lowercase());
        } else {
            title_character(c, &mut out);
        }
        after_cased = is_cased(c);
    }
    out
}

/// str.isupper() or str.islower(): every cased character is, and there is one.
pub fn all_cased(text: &str, upper: bool) -> bool {
    let mut any = false;
    for c in text.chars().filter(|c| is_cased(*c)) {
        if c.is_uppercase() != upper || !(c.is_uppercase() || c.is_lowercase()) {
            return false;
        }
        any = true;
    }
    any
}

pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.all(|c| c.is_alphanumeric() || c == '_')
}
