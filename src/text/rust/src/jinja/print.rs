//! Values as Python writes them: str(), repr() and json.dumps().

use super::budget::{fail, Budget, Outcome};
use super::eval::Arena;
use super::value::{Dict, Kind, Value, MOST_NESTED};

pub struct Printer<'a, 't> {
    pub budget: &'a Budget,
    pub arena: &'a Arena<'t>,
}

impl Printer<'_, '_> {
    /// str(value), appended.
    pub fn str(&self, value: &Value, out: &mut String) -> Outcome<()> {
        match value {
            Value::Undefined(_) => Ok(()),
            Value::Str(text) | Value::Markup(text) => {
                self.budget.charge(text.len())?;
                out.push_str(text);
                Ok(())
            }
            value => self.repr(value, out, 0),
        }
    }

    /// repr(value), appended.
    pub fn repr(&self, value: &Value, out: &mut String, depth: u32) -> Outcome<()> {
        if depth > MOST_NESTED {
            return fail("a value holds itself");
        }
        self.budget.charge(16)?;
        match value {
            Value::Undefined(_) => out.push_str("Undefined"),
            Value::None => out.push_str("None"),
            Value::Bool(value) => out.push_str(if *value { "True" } else { "False" }),
            Value::Int(value) => out.push_str(&value.to_string()),
            Value::Float(value) => out.push_str(&float(*value)),
            Value::Str(text) => {
                self.budget.charge(text.len())?;
                string(text, out);
            }
            Value::Markup(text) => {
                self.budget.charge(text.len())?;
                out.push_str("Markup(");
                string(text, out);
                out.push(')');
            }
            Value::List(list) => self.items(&list.items, ("[", "]"), out, depth)?,
            Value::Tuple(list) => {
                let end = if list.items.len() == 1 { ",)" } else { ")" };
                self.items(&list.items, ("(", end), out, depth)?;
            }
            Value::View(name, list) => {
                out.push_str(name);
                self.items(&list.items, ("([", "])"), out, depth)?;
            }
            Value::Dict(dict) => self.dict(dict, out, depth)?,
            Value::Range(range) => out.push_str(&match **range {
                [from, to, 1] => format!("range({from}, {to})"),
                [from, to, step] => format!("range({from}, {to}, {step})"),
            }),
            Value::Object(Kind::Namespace, at) => {
                out.push_str("<Namespace ");
                self.dict(&*Dict::new(self.arena.fields(*at).to_vec())?, out, depth)?;
                out.push('>');
            }
            Value::Object(Kind::Loop, at) => out.push_str(&self.arena.loop_text(*at)),
            // Python prints an address here, which no template can mean.
            other => return fail(format!("a value of type '{}' cannot be printed", other.type_name())),
        }
        Ok(())
    }

    fn items(&self, items: &[Value], brackets: (&str, &str), out: &mut String, depth: u32) -> Outcome<()> {
        out.push_str(brackets.0);
        for (index, item) in items.iter().enumerate() {
            out.push_str(if index > 0 { ", " } else { "" });
            self.repr(item, out, depth + 1)?;
        }
        out.push_str(brackets.1);
        Ok(())
    }

    fn dict(&self, dict: &Dict, out: &mut String, depth: u32) -> Outcome<()> {
        out.push('{');
        for (index, (key, value)) in dict.entries.iter().enumerate() {
            out.push_str(if index > 0 { ", " } else { "" });
            self.repr(key, out, depth + 1)?;
            out.push_str(": ");
            self.repr(value, out, depth + 1)?;
        }
        out.push('}');
        Ok(())
    }
}

/// repr(float): shortest digits, an exponent from 1e16 on and below 1e-4.
pub fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = format!("{value}");
    if plain.contains('.') { plain } else { plain + ".0" }
}

fn string(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if printable(c) => out.push(c),
            c if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if (c as u32) < 0x10000 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    out.push(quote);
}

/// str.isprintable() but for unassigned code points, which need a table of their own.
fn printable(c: char) -> bool {
    let format = matches!(c, '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0001}'..='\u{e007f}');
    let private = matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}');
    c == ' ' || !(c.is_control() || c.is_whitespace() || format || private)
}

/// json.dumps with the reference's settings for templates.
pub struct Json<'a> {
    pub budget: &'a Budget,
    pub ensure_ascii: bool,
    pub sort_keys: bool,
    pub indent: Option<String>,
    pub item: String,
    pub key: String,
}

impl Json<'_> {
    pub fn write(&self, value: &Value, depth: usize, out: &mut String) -> Outcome<()> {
        self.budget.charge(16)?;
        match value {
            Value::None => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Int(value) => out.push_str(&value.to_string()),
            Value::Float(value) => out.push_str(&json_float(*value)),
            Value::Str(text) | Value::Markup(text) => self.string(text, out)?,
            Value::List(list) | Value::Tuple(list) => {
                self.container(list.items.len(), depth, ('[', ']'), out, |index, out| {
                    self.write(&list.items[index], depth + 1, out)
                })?;
            }
            Value::Dict(dict) => {
                let mut entries: Vec<&(Value, Value)> = dict.entries.iter().collect();
                if self.sort_keys {
                    super::filters::sort_by(self.budget, &mut entries, false, |entry| Ok(entry.0.clone()))?;
                }
                self.container(entries.len(), depth, ('{', '}'), out, |index, out| {
                    self.string(&json_key(&entries[index].0)?, out)?;
                    out.push_str(&self.key);
                    self.write(&entries[index].1, depth + 1, out)
                })?;
            }
            other => return fail(format!("tojson: a value of type '{}' has no JSON form", other.type_name())),
        }
        Ok(())
    }

    fn container(
        &self,
        count: usize,
        depth: usize,
        brackets: (char, char),
        out: &mut String,
        mut element: impl FnMut(usize, &mut String) -> Outcome<()>,
    ) -> Outcome<()> {
        out.push(brackets.0);
        for index in 0..count {
            out.push_str(if index > 0 { &self.item } else { "" });
            self.newline(depth + 1, out)?;
            element(index, out)?;
        }
        if count > 0 {
            self.newline(depth, out)?;
        }
        out.push(brackets.1);
        Ok(())
    }

    fn newline(&self, depth: usize, out: &mut String) -> Outcome<()> {
        if let Some(indent) = &self.indent {
            self.budget.charge(indent.len().saturating_mul(depth))?;
            out.push('\n');
            out.push_str(&indent.repeat(depth));
        }
        self.budget.charge(self.item.len() + self.key.len())
    }

    fn string(&self, text: &str, out: &mut String) -> Outcome<()> {
        self.budget.charge(text.len())?;
        out.push('"');
        for character in text.chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
                c if self.ensure_ascii && (c as u32) > 0x7e => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
        Ok(())
    }
}

fn json_float(value: f64) -> String {
    match float(value).as_str() {
        "nan" => "NaN".into(),
        "inf" => "Infinity".into(),
        "-inf" => "-Infinity".into(),
        plain => plain.into(),
    }
}

fn json_key(key: &Value) -> Outcome<String> {
    match key {
        Value::Str(text) | Value::Markup(text) => Ok(text.to_string()),
        Value::None => Ok("null".into()),
        Value::Bool(value) => Ok(if *value { "true" } else { "false" }.into()),
        Value::Int(value) => Ok(value.to_string()),
        Value::Float(value) => Ok(json_float(*value)),
        other => fail(format!("tojson: a key of type '{}' has no JSON form", other.type_name())),
    }
}
