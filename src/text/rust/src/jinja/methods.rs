//! The methods of Python's str, dict and list that a template may call.

use super::budget::{fail, Fail, Outcome};
use super::eval::{Given, Object, Render};
use super::text_filters::escape;
use super::format;
use super::ops::escaped;
use super::text::{self, is_space};
use super::value::*;

const OF_STR: [&str; 44] = [
    "capitalize", "casefold", "center", "count", "endswith", "expandtabs", "find", "format", "format_map", "index",
    "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable",
    "isspace", "istitle", "isupper", "join", "ljust", "lower", "lstrip", "partition", "removeprefix",
    "removesuffix", "replace", "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines",
    "startswith", "strip", "swapcase", "title", "upper", "zfill",
];
const OF_DICT: [&str; 5] = ["get", "items", "keys", "values", "copy"];
const OF_LIST: [&str; 3] = ["count", "index", "copy"];
const OF_FLOAT: [&str; 1] = ["is_integer"];
/// The sandbox hands these out as undefined: a template changes no value.
const CHANGE_DICT: [&str; 5] = ["clear", "pop", "popitem", "setdefault", "update"];
const CHANGE_LIST: [&str; 8] = ["append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"];
/// Python has these, and we don't: better an error than what a missing attribute would do.
const NOT_OF_STR: [&str; 3] = ["encode", "maketrans", "translate"];
const NOT_OF_DICT: [&str; 1] = ["fromkeys"];

pub fn named(value: &Value, name: &str) -> Option<&'static str> {
    let names: &'static [&'static str] = match value {
        Value::Str(_) | Value::Markup(_) => &OF_STR,
        Value::Dict(_) => &OF_DICT,
        Value::List(_) => &OF_LIST,
        Value::Tuple(_) | Value::Range(..) => &OF_LIST[..2],
        Value::Float(_) => &OF_FLOAT,
        _ => return None,
    };
    names.iter().copied().find(|known| *known == name)
}

pub fn is_unsafe(value: &Value, name: &str) -> bool {
    match value {
        Value::Dict(_) => CHANGE_DICT.contains(&name),
        Value::List(_) => CHANGE_LIST.contains(&name),
        _ => false,
    }
}

pub fn is_unsupported(value: &Value, name: &str) -> bool {
    match value {
        Value::Str(_) | Value::Markup(_) => NOT_OF_STR.contains(&name),
        Value::Dict(_) => NOT_OF_DICT.contains(&name),
        _ => false,
    }
}

pub fn call(render: &Render, receiver: &Value, name: &'static str, given: Given) -> Outcome<Value> {
    match receiver {
        Value::Str(text) => of_str(render, text, name, given),
        Value::Markup(text) => {
            let is_plain = |value: &Value| value.as_str().map_or(true, |text| escape(text) == text);
            if name.starts_with("format") || name == "join" || !given.positional.iter().all(is_plain) {
                return fail(format!("the method '{name}' of an escaped string is not supported"));
            }
            Ok(escaped(of_str(render, text, name, given)?))
        }
        Value::Dict(dict) => of_dict(render, dict, name, given),
        Value::Float(value) => Ok(Value::Bool(value.is_finite() && value.fract() == 0.0)),
        Value::Object(kind, at) => of_object(render, *kind, *at, name, given),
        _ => of_list(render, receiver, name, given),
    }
}

fn of_object(render: &Render, kind: Kind, at: usize, name: &str, given: Given) -> Outcome<Value> {
    let mut objects = render.arena.objects.borrow_mut();
    match (&mut objects[at], name) {
        (Object::Loop(state), "cycle") => match given.positional.len() {
            0 => fail("loop.cycle wants at least one item"),
            count => Ok(given.positional[state.index % count].clone()),
        },
        (Object::Loop(state), "changed") => {
            let same = match &state.changed {
                Some(last) if last.len() == given.positional.len() => {
                    let mut same = true;
                    for (a, b) in last.iter().zip(&given.positional) {
                        same = same && equal(&render.budget, a, b)?;
                    }
                    same
                }
                _ => false,
            };
            state.changed = Some(given.positional);
            Ok(Value::Bool(!same))
        }
        (Object::Cycler(items, at), "next") => {
            let item = items[*at].clone();
            *at = (*at + 1) % items.len();
            Ok(item)
        }
        (Object::Cycler(_, at), "reset") => {
            *at = 0;
            Ok(Value::None)
        }
        _ => fail(format!("{kind:?} has no method '{name}'")),
    }
}

fn of_dict(render: &Render, dict: &std::rc::Rc<Dict>, name: &str, given: Given) -> Outcome<Value> {
    if name == "get" {
        let [key, default] = given.bind("get", ["", ""], 1)?;
        let found = dict.get(&key.unwrap_or(Value::None))?.cloned();
        return Ok(found.or(default).unwrap_or(Value::None));
    }
    given.bind::<0>(name, [], 0)?;
    let entries = &dict.entries;
    render.budget.charge(entries.len() * 96)?;
    match name {
        "keys" => Ok(Value::View("dict_keys", Sequence::new(entries.iter().map(|(key, _)| key.clone()).collect())?)),
        "values" => {
            Ok(Value::View("dict_values", Sequence::new(entries.iter().map(|(_, value)| value.clone()).collect())?))
        }
        "items" => Ok(Value::View("dict_items", Sequence::new(items(render, dict)?)?)),
        _ => Ok(Value::Dict(dict.clone())),
    }
}

pub fn items(render: &Render, dict: &Dict) -> Outcome<Vec<Value>> {
    dict.entries.iter().map(|(key, value)| render.tuple(vec![key.clone(), value.clone()])).collect()
}

fn of_list(render: &Render, receiver: &Value, name: &str, given: Given) -> Outcome<Value> {
    let all = render.iterate(receiver)?;
    match name {
        "copy" => {
            given.bind::<0>(name, [], 0)?;
            Ok(receiver.clone())
        }
        "count" => {
            let [wanted] = given.bind(name, [""], 1)?;
            let wanted = wanted.unwrap_or(Value::None);
            let mut count = 0;
            for item in &all {
                count += equal(&render.budget, item, &wanted)? as i128;
            }
            Ok(Value::Int(count))
        }
        _ => {
            let [wanted, from, to] = given.bind(name, ["", "", ""], 1)?;
            let wanted = wanted.unwrap_or(Value::None);
            let (from, to) = bounds(&from, &to, all.len())?;
            for (at, item) in all.iter().enumerate().take(to).skip(from) {
                if equal(&render.budget, item, &wanted)? {
                    return Ok(Value::Int(at as i128));
                }
            }
            fail(format!("index: the {} does not hold it", receiver.type_name()))
        }
    }
}

fn bounds(from: &Option<Value>, to: &Option<Value>, count: usize) -> Outcome<(usize, usize)> {
    let place = |value: &Option<Value>, default: usize| match value {
        None | Some(Value::None) => Ok(default),
        Some(value) => match value.as_int() {
            Some(int) if int < 0 => Ok((int + count as i128).max(0) as usize),
            Some(int) => Ok(int.min(count as i128 + 1) as usize),
            None => fail("an index must be an int"),
        },
    };
    Ok((place(from, 0)?, place(to, count)?.min(count)))
}

fn want_str<'a>(value: &'a Option<Value>, what: &str) -> Outcome<&'a str> {
    match value {
        Some(Value::Str(text) | Value::Markup(text)) => Ok(text),
        Some(other) => fail(format!("{what} wants a string, not {}", other.defined()?.type_name())),
        None => fail(format!("{what} wants a string")),
    }
}

fn want_int(value: &Option<Value>, what: &str, default: i128) -> Outcome<i128> {
    match value {
        None => Ok(default),
        Some(value) => match value.defined()?.as_int() {
            Some(int) => Ok(int),
            None => fail(format!("{what} wants an int, not {}", value.type_name())),
        },
    }
}

fn of_str(render: &Render, whole: &str, name: &'static str, given: Given) -> Outcome<Value> {
    render.budget.burn(whole.len() / 64)?;
    match name {
        "format" => return render.text(format::braces(render, whole, &given)?),
        "format_map" => {
            let [mapping] = given.bind(name, [""], 1)?;
            let Some(Value::Dict(dict)) = mapping else { return fail("format_map wants a mapping") };
            let keywords =
                dict.entries.iter().filter_map(|(key, value)| Some((key.as_str()?.into(), value.clone()))).collect();
            return render.text(format::braces(render, whole, &Given { positional: Vec::new(), keywords })?);
        }
        "strip" | "lstrip" | "rstrip" => {
            let [chars] = given.bind(name, [""], 0)?;
            return render.text(strip(whole, name, chars)?.to_owned());
        }
        "split" | "rsplit" => {
            let [separator, most] = given.bind(name, ["sep", "maxsplit"], 0)?;
            let most = usize::try_from(want_int(&most, name, -1)?).unwrap_or(usize::MAX);
            let parts = match separator {
                None | Some(Value::None) => split_spaces(whole, most, name == "rsplit"),
                separator => split_at(whole, want_str(&separator, name)?, most, name == "rsplit")?,
            };
            return texts(render, parts);
        }
        "splitlines" => {
            let [keep] = given.bind(name, ["keepends"], 0)?;
            return texts(render, text::split_lines(whole, keep.is_some_and(|keep| keep.is_true())));
        }
        "startswith" | "endswith" => return affix(whole, name, given),
        "replace" => {
            let [old, new, count] = given.bind(name, ["", "", ""], 2)?;
            let count = want_int(&count, name, -1)?;
            return replace(render, whole, want_str(&old, name)?, want_str(&new, name)?, count);
        }
        "join" => {
            let [items] = given.bind(name, [""], 1)?;
            let items = render.iterate(&items.unwrap_or(Value::None))?;
            return join(render, whole, &items);
        }
        "find" | "rfind" | "index" | "rindex" | "count" => return find(whole, name, given),
        "partition" | "rpartition" => {
            let [separator] = given.bind(name, [""], 1)?;
            let separator = want_str(&separator, name)?;
            if separator.is_empty() {
                return fail("empty separator");
            }
            let reverse = name == "rpartition";
            let parts = match if reverse { whole.rsplit_once(separator) } else { whole.split_once(separator) } {
                Some((before, after)) => [before, separator, after],
                None if reverse => ["", "", whole],
                None => [whole, "", ""],
            };
            let parts = parts.into_iter().map(|part| render.text(part.to_owned())).collect::<Outcome<_>>()?;
            return render.tuple(parts);
        }
        "removeprefix" | "removesuffix" => {
            let [affix] = given.bind(name, [""], 1)?;
            let affix = want_str(&affix, name)?;
            let rest = if name == "removeprefix" { whole.strip_prefix(affix) } else { whole.strip_suffix(affix) };
            return render.text(rest.unwrap_or(whole).to_owned());
        }
        "center" | "ljust" | "rjust" | "zfill" => return justify(render, whole, name, given),
        "expandtabs" => {
            let [size] = given.bind(name, ["tabsize"], 0)?;
            let size = want_int(&size, name, 8)?.clamp(0, 1 << 20) as usize;
            render.budget.charge(whole.matches('\t').count().saturating_mul(size))?;
            return render.text(expand_tabs(whole, size));
        }
        _ => {}
    }
    given.bind::<0>(name, [], 0)?;
    let every = |test: fn(char) -> bool| Ok(Value::Bool(!whole.is_empty() && whole.chars().all(test)));
    match name {
        "upper" => render.text(whole.to_uppercase()),
        "lower" | "casefold" => {
            let lower = whole.to_lowercase();
            render.text(if name == "casefold" { lower.replace('ß', "ss").replace('ς', "σ") } else { lower })
        }
        "capitalize" => render.text(text::capitalize(whole)),
        "title" => render.text(text::title(whole)),
        "swapcase" => render.text(
            whole
                .chars()
                .map(|c| if c.is_uppercase() { c.to_lowercase().to_string() } else { c.to_uppercase().to_string() })
                .collect(),
        ),
        "isalnum" => every(char::is_alphanumeric),
        "isalpha" => every(char::is_alphabetic),
        "isascii" => Ok(Value::Bool(whole.is_ascii())),
        "isdecimal" | "isdigit" | "isnumeric" => every(char::is_numeric),
        "isidentifier" => Ok(Value::Bool(text::is_identifier(whole))),
        "isspace" => every(is_space),
        "isprintable" => Ok(Value::Bool(!whole.chars().any(|c| c.is_control()))),
        "isupper" => Ok(Value::Bool(text::all_cased(whole, true))),
        "islower" => Ok(Value::Bool(text::all_cased(whole, false))),
        "istitle" => Ok(Value::Bool(text::title(whole) == whole && whole.chars().any(char::is_uppercase))),
        _ => fail(format!("str has no method '{name}'")),
    }
}

fn texts(render: &Render, parts: Vec<&str>) -> Outcome<Value> {
    let parts = parts.into_iter().map(|part| render.text(part.to_owned())).collect::<Outcome<_>>()?;
    render.list(parts)
}

pub fn strip<'a>(whole: &'a str, name: &str, chars: Option<Value>) -> Outcome<&'a str> {
    let set: Option<Vec<char>> = match chars {
        None | Some(Value::None) => None,
        chars => Some(want_str(&chars, name)?.chars().collect()),
    };
    let drops = |c: char| set.as_ref().map_or_else(|| is_space(c), |set| set.contains(&c));
    Ok(match name {
        "lstrip" => whole.trim_start_matches(drops),
        "rstrip" => whole.trim_end_matches(drops),
        _ => whole.trim_matches(drops),
    })
}

fn split_spaces(whole: &str, most: usize, reverse: bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = whole;
    loop {
        rest = if reverse { rest.trim_end_matches(is_space) } else { rest.trim_start_matches(is_space) };
        if rest.is_empty() {
            break;
        }
        if parts.len() >= most {
            parts.push(rest);
            break;
        }
        let part = if reverse {
            let start = rest.char_indices().rev().find(|(_, c)| is_space(*c)).map_or(0, |(at, c)| at + c.len_utf8());
            let part = &rest[start..];
            rest = &rest[..start];
            part
        } else {
            let end = rest.find(is_space).unwrap_or(rest.len());
            let part = &rest[..end];
            rest = &rest[end..];
            part
        };
        parts.push(part);
    }
    if reverse {
        parts.reverse();
    }
    parts
}

fn split_at<'a>(whole: &'a str, separator: &str, most: usize, reverse: bool) -> Outcome<Vec<&'a str>> {
    if separator.is_empty() {
        return fail("empty separator");
    }
    let most = most.saturating_add(1);
    if !reverse {
        return Ok(whole.splitn(most, separator).collect());
    }
    let mut parts: Vec<&str> = whole.rsplitn(most, separator).collect();
    parts.reverse();
    Ok(parts)
}

fn affix(whole: &str, name: &str, given: Given) -> Outcome<Value> {
    let [affixes, from, to] = given.bind(name, ["", "", ""], 1)?;
    let count = text::length(whole);
    let (from, to) = bounds(&from, &to, count)?;
    if from > to {
        return Ok(Value::Bool(false));
    }
    let part = &whole[text::byte_of(whole, from)..text::byte_of(whole, to)];
    let list = match &affixes {
        Some(Value::Tuple(list)) => list.items.clone(),
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    };
    for affix in list {
        let affix = Some(affix);
        let affix = want_str(&affix, name)?;
        if if name == "startswith" { part.starts_with(affix) } else { part.ends_with(affix) } {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

pub fn replace(render: &Render, whole: &str, old: &str, new: &str, count: i128) -> Outcome<Value> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let found = whole.matches(old).take(count).count();
    render.budget.charge(found.saturating_mul(new.len()))?;
    render.text(whole.replacen(old, new, count))
}

pub fn join(render: &Render, separator: &str, items: &[Value]) -> Outcome<Value> {
    let mut out = String::new();
    for (index, item) in items.iter().enumerate() {
        let Some(text) = item.as_str() else {
            return Err(Fail::new(format!("join: item {index} is not a string but {}", item.type_name())));
        };
        render.budget.charge(separator.len() + text.len())?;
        out.push_str(if index > 0 { separator } else { "" });
        out.push_str(text);
    }
    render.text(out)
}

fn find(whole: &str, name: &str, given: Given) -> Outcome<Value> {
    let [part, from, to] = given.bind(name, ["", "", ""], 1)?;
    let part = want_str(&part, name)?;
    let (from, to) = bounds(&from, &to, text::length(whole))?;
    let found = (from <= to).then(|| {
        let start = text::byte_of(whole, from);
        (start, &whole[start..text::byte_of(whole, to)])
    });
    if name == "count" {
        let count = found.map_or(0, |(_, within)| within.matches(part).count());
        return Ok(Value::Int(count as i128));
    }
    let at = found.and_then(|(start, within)| {
        let at = if name.starts_with('r') { within.rfind(part) } else { within.find(part) };
        at.map(|at| text::length(&whole[..start + at]) as i128)
    });
    match at {
        Some(at) => Ok(Value::Int(at)),
        None if name.ends_with("index") => fail(format!("{name}: substring not found")),
        None => Ok(Value::Int(-1)),
    }
}

fn justify(render: &Render, whole: &str, name: &str, given: Given) -> Outcome<Value> {
    let [width, fill] = given.bind(name, ["", ""], 1)?;
    let width = want_int(&width, name, 0)?.max(0);
    let fill = match &fill {
        Some(Value::Str(fill)) if text::length(fill) == 1 => fill.to_string(),
        None => if name == "zfill" { "0" } else { " " }.to_string(),
        _ => return fail(format!("{name} wants one character to fill with")),
    };
    let have = text::length(whole);
    let missing = usize::try_from(width).unwrap_or(usize::MAX).saturating_sub(have);
    render.budget.charge(missing.saturating_mul(fill.len()))?;
    let pad = |count: usize| fill.repeat(count);
    render.text(match name {
        "ljust" => format!("{whole}{}", pad(missing)),
        "rjust" => format!("{}{whole}", pad(missing)),
        "center" => {
            // Python's own rule for the odd one.
            let left = missing / 2 + (missing & (have + missing) & 1);
            format!("{}{whole}{}", pad(left), pad(missing - left))
        }
        _ => match whole.strip_prefix(['+', '-']) {
            Some(digits) => format!("{}{}{digits}", &whole[..1], pad(missing)),
            None => format!("{}{whole}", pad(missing)),
        },
    })
}

fn expand_tabs(whole: &str, size: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for c in whole.chars() {
        match c {
            '\t' => {
                let spaces = if size > 0 { size - column % size } else { 0 };
                out.push_str(&" ".repeat(spaces));
                column += spaces;
            }
            c => {
                out.push(c);
                column = if c == '\n' || c == '\r' { 0 } else { column + 1 };
            }
        }
    }
    out
}
