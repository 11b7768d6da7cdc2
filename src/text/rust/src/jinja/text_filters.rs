//! The filters that make a text.

use std::sync::Arc;

use super::budget::{fail, Outcome};
use super::eval::{Given, Render};
use super::filters::{is_known, Attribute, NOT_SUPPORTED};
use super::print::Json;
use super::text::{self, split_lines};
use super::value::*;
use super::{format, methods};

pub fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('>', "&gt;").replace('<', "&lt;");
    text.replace('\'', "&#39;").replace('"', "&#34;")
}

pub fn textual(render: &Render, name: &str, value: Value, given: Given) -> Outcome<Value> {
    match name {
        "tojson" => return to_json(render, &value, given),
        "join" => return join(render, value, given),
        "format" => return percent(render, value, given),
        "truncate" => return truncate(render, value, given),
        "indent" => return indent(render, value, given),
        "escape" | "e" if matches!(value, Value::Markup(_)) => return Ok(value),
        "string" if value.is_string() => return Ok(value),
        _ if !is_known(name) => return fail(format!("unknown filter: '{name}'")),
        _ if NOT_SUPPORTED.contains(&name) => return fail(format!("the filter '{name}' is not supported")),
        _ => {}
    }
    let whole = render.str(&value)?;
    match name {
        "trim" => {
            let [chars] = given.bind(name, ["chars"], 0)?;
            return render.text(methods::strip(&whole, "strip", chars)?.to_owned());
        }
        "replace" => {
            let [old, new, count] = given.bind(name, ["old", "new", "count"], 2)?;
            let count = match count {
                None | Some(Value::None) => -1,
                Some(count) => match count.as_int() {
                    Some(count) => count,
                    None => return fail("replace: the count is not an int"),
                },
            };
            let [old, new] = [old, new].map(|text| render.str(&text.unwrap_or(Value::None)));
            return methods::replace(render, &whole, &old?, &new?, count);
        }
        "center" => {
            let [width] = given.bind(name, ["width"], 0)?;
            let width = Given { positional: vec![width.unwrap_or(Value::Int(80))], keywords: Vec::new() };
            return methods::call(render, &render.text(whole)?, "center", width);
        }
        _ => {}
    }
    given.bind::<0>(name, [], 0)?;
    match name {
        "upper" => render.text(whole.to_uppercase()),
        "lower" => render.text(whole.to_lowercase()),
        "capitalize" => render.text(text::capitalize(&whole)),
        "title" => render.text(title(&whole)),
        "string" => render.text(whole),
        "safe" => Ok(Value::Markup(whole.into())),
        "wordcount" => {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            Ok(Value::Int(whole.split(|c| !is_word(c)).filter(|word| !word.is_empty()).count() as i128))
        }
        _ => {
            render.budget.charge(whole.len() * 5)?;
            Ok(Value::Markup(escape(&whole).into()))
        }
    }
}

/// Each word's first letter large and the rest small, where a word begins after one of "-({[<" or a space.
fn title(whole: &str) -> String {
    let begins = |c: char| text::is_space(c) || "-({[<".contains(c);
    let mut out = String::with_capacity(whole.len());
    let mut rest = whole;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| begins(c) != begins(first)).unwrap_or(rest.len());
        let part = &rest[..end];
        if begins(first) {
            out.push_str(part);
        } else {
            out.extend(first.to_uppercase());
            out.push_str(&part[first.len_utf8()..].to_lowercase());
        }
        rest = &rest[end..];
    }
    out
}

fn join(render: &Render, value: Value, given: Given) -> Outcome<Value> {
    let [separator, attribute] = given.bind("join", ["d", "attribute"], 0)?;
    let separator = separator.map_or(Ok(String::new()), |separator| render.str(&separator))?;
    let key = Attribute::new(attribute, None)?;
    let mut texts = Vec::new();
    for item in render.iterate(&value)? {
        let item = key.of(render, item)?;
        texts.push(render.text(render.str(&item)?)?);
    }
    methods::join(render, &separator, &texts)
}

fn percent(render: &Render, value: Value, given: Given) -> Outcome<Value> {
    let format = render.str(&value)?;
    if !given.positional.is_empty() && !given.keywords.is_empty() {
        return fail("format takes arguments with or without names, not both");
    }
    let values = if given.keywords.is_empty() {
        render.tuple(given.positional)?
    } else {
        render.dict(given.keywords.into_iter().map(|(key, value)| (Value::Str(key), value)).collect())?
    };
    render.text(format::percent(render, &format, &values)?)
}

fn truncate(render: &Render, value: Value, given: Given) -> Outcome<Value> {
    let [length, kill, end, leeway] = given.bind("truncate", ["length", "killwords", "end", "leeway"], 0)?;
    let int = |value: Option<Value>, default: i128| value.and_then(|value| value.as_int()).unwrap_or(default);
    let (length, leeway) = (int(length, 255), int(leeway, 5));
    let end = end.map_or(Ok("...".into()), |end| render.str(&end))?;
    let room = length - text::length(&end) as i128;
    if room < 0 || leeway < 0 {
        return fail("truncate: the length is less than that of the end, or the leeway is negative");
    }
    if render.length(&value)? as i128 <= length + leeway {
        return Ok(value.clone());
    }
    let Some(whole) = value.as_str() else { return fail("truncate wants a string") };
    let kept = &whole[..text::byte_of(whole, room as usize)];
    let kept = match kept.rsplit_once(' ') {
        Some((before, _)) if !kill.is_some_and(|kill| kill.is_true()) => before,
        _ => kept,
    };
    render.text(format!("{kept}{end}"))
}

fn indent(render: &Render, value: Value, given: Given) -> Outcome<Value> {
    let [width, first, blank] = given.bind("indent", ["width", "first", "blank"], 0)?;
    let Some(whole) = value.defined()?.as_str() else { return fail("indent wants a string") };
    let by: Arc<str> = match width {
        Some(Value::Str(by)) => by,
        width => {
            let width = width.map_or(Some(4), |width| width.as_int());
            match width.and_then(|width| usize::try_from(width.max(0)).ok()) {
                Some(width) if width <= 1 << 20 => " ".repeat(width).into(),
                _ => return fail("indent: the width is not an int, or too large"),
            }
        }
    };
    let [first, blank] = [first, blank].map(|flag| flag.is_some_and(|flag| flag.is_true()));
    let whole = format!("{whole}\n");
    let lines = split_lines(&whole, false);
    render.budget.charge(lines.len().saturating_mul(by.len() + 1))?;
    let mut out = String::new();
    for (at, line) in lines.into_iter().enumerate() {
        out.push_str(if at > 0 { "\n" } else { "" });
        if if at == 0 { first } else { blank || !line.is_empty() } {
            out.push_str(&by);
        }
        out.push_str(line);
    }
    render.text(out)
}

/// The reference's tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False).
fn to_json(render: &Render, value: &Value, given: Given) -> Outcome<Value> {
    let [ascii, indent, separators, sort] =
        given.bind("tojson", ["ensure_ascii", "indent", "separators", "sort_keys"], 0)?;
    let indent = match indent {
        None | Some(Value::None) => None,
        Some(Value::Str(indent)) => Some(indent.to_string()),
        Some(indent) => match indent.as_int().and_then(|indent| usize::try_from(indent.max(0)).ok()) {
            Some(indent) if indent <= 1 << 16 => Some(" ".repeat(indent)),
            _ => return fail("tojson: the indent is neither a string nor a small int"),
        },
    };
    let (item, key) = match separators {
        None | Some(Value::None) => (if indent.is_some() { "," } else { ", " }.to_owned(), ": ".to_owned()),
        Some(pair) => match &render.iterate(&pair)?[..] {
            [Value::Str(item), Value::Str(key)] => (item.to_string(), key.to_string()),
            _ => return fail("tojson: separators takes two strings"),
        },
    };
    let is_set = |flag: Option<Value>| flag.is_some_and(|flag| flag.is_true());
    let (ensure_ascii, sort_keys) = (is_set(ascii), is_set(sort));
    let json = Json { budget: &render.budget, ensure_ascii, sort_keys, indent, item, key };
    let mut out = String::new();
    json.write(value, 0, &mut out)?;
    render.text(out)
}
