//! What may stand after `|`.

use super::ast::Binary;
use super::budget::{fail, Budget, Outcome};
use super::eval::{Given, Object, Render};
use super::text;
use super::text_filters::textual;
use super::value::*;
use super::{methods, tests};

const NAMES: [&str; 46] = [
    "abs", "attr", "batch", "capitalize", "center", "count", "d", "default", "dictsort", "e", "escape", "first",
    "float", "forceescape", "format", "groupby", "indent", "int", "items", "join", "last", "length", "list",
    "lower", "map", "max", "min", "reject", "rejectattr", "replace", "reverse", "round", "safe", "select",
    "selectattr", "slice", "sort", "string", "sum", "title", "tojson", "trim", "truncate", "unique", "upper",
    "wordcount",
];
pub const NOT_SUPPORTED: [&str; 8] =
    ["filesizeformat", "pprint", "random", "striptags", "urlencode", "urlize", "wordwrap", "xmlattr"];

/// Of jinja2, whether we have it or not.
pub fn is_known(name: &str) -> bool {
    NAMES.contains(&name) || NOT_SUPPORTED.contains(&name)
}

pub fn apply(render: &Render, name: &str, value: Value, given: Given) -> Outcome<Value> {
    match name {
        "abs" | "round" | "int" | "float" | "sum" | "min" | "max" => numeric(render, name, value, given),
        "map" | "select" | "reject" | "selectattr" | "rejectattr" => choosing(render, name, value, given),
        "batch" | "slice" | "dictsort" | "first" | "last" | "groupby" | "items" | "list" | "reverse" | "sort"
        | "unique" | "length" | "count" => listing(render, name, value, given),
        "default" | "d" => {
            let [default, boolean] = given.bind(name, ["default_value", "boolean"], 0)?;
            let boolean = boolean.is_some_and(|boolean| boolean.is_true());
            let missing = value.is_undefined() || (boolean && !value.is_true());
            Ok(if missing { default.unwrap_or_else(|| super::value::text("")) } else { value })
        }
        "attr" => {
            let [name] = given.bind(name, ["name"], 1)?;
            let name = render.str(&name.unwrap_or(Value::None))?;
            match &value {
                // Methods and properties only, not keys.
                Value::Dict(_) if methods::named(&value, &name).is_none() => {
                    Ok(Value::Undefined(format!("'dict object' has no attribute '{name}'").into()))
                }
                value => render.attribute(value, &name),
            }
        }
        _ => textual(render, name, value, given),
    }
}

// ---- numbers ----

fn numeric(render: &Render, name: &str, value: Value, given: Given) -> Outcome<Value> {
    match name {
        "abs" => {
            given.bind::<0>(name, [], 0)?;
            match value.defined()? {
                Value::Float(value) => Ok(Value::Float(value.abs())),
                value => match value.as_int().and_then(i128::checked_abs) {
                    Some(value) => Ok(Value::Int(value)),
                    None => fail(format!("abs wants a number, not {}", value.type_name())),
                },
            }
        }
        "round" => round(value, given),
        "int" => {
            let [default, base] = given.bind(name, ["default", "base"], 0)?;
            let base = base.and_then(|base| base.as_int()).unwrap_or(10);
            Ok(to_int(value.defined()?, base)?.map_or(default.unwrap_or(Value::Int(0)), Value::Int))
        }
        "float" => {
            let [default] = given.bind(name, ["default"], 0)?;
            Ok(to_float(value.defined()?).map_or(default.unwrap_or(Value::Float(0.0)), Value::Float))
        }
        "sum" => {
            let [attribute, start] = given.bind(name, ["attribute", "start"], 0)?;
            let key = Attribute::new(attribute, None)?;
            let mut sum = start.unwrap_or(Value::Int(0));
            for item in render.iterate(&value)? {
                sum = render.binary(Binary::Add, &sum, &key.of(render, item)?)?;
            }
            Ok(sum)
        }
        _ => {
            let [case, attribute] = given.bind(name, ["case_sensitive", "attribute"], 0)?;
            let key = Attribute::new(attribute, None)?.ignoring_case(&case);
            let mut best: Option<(Value, Value)> = None;
            for item in render.iterate(&value)? {
                let rank = key.of(render, item.clone())?;
                let better = match &best {
                    None => true,
                    Some((_, other)) => {
                        let wanted = if name == "min" { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater };
                        order(&render.budget, &rank, other)? == Some(wanted)
                    }
                };
                if better {
                    best = Some((item, rank));
                }
            }
            let none = || Value::Undefined("No aggregated item, sequence was empty.".into());
            Ok(best.map_or_else(none, |(item, _)| item))
        }
    }
}

fn round(value: Value, given: Given) -> Outcome<Value> {
    let [precision, method] = given.bind("round", ["precision", "method"], 0)?;
    let precision = match precision {
        None => 0,
        Some(value) => match value.as_int() {
            Some(int) => int.clamp(-400, 400) as i32,
            None => return fail("round: the precision is not an int"),
        },
    };
    let method = method.as_ref().map_or("common", |method| method.as_str().unwrap_or(""));
    let scale = 10f64.powi(precision);
    let float = match value.defined()?.as_float() {
        Some(float) => float,
        None => return fail(format!("round wants a number, not {}", value.type_name())),
    };
    match (method, value.as_int()) {
        ("ceil", _) => Ok(Value::Float(((float * scale).ceil() + 0.0) / scale)),
        ("floor", _) => Ok(Value::Float(((float * scale).floor() + 0.0) / scale)),
        ("common", Some(int)) if precision >= 0 => Ok(Value::Int(int)),
        ("common", Some(int)) => {
            let Some(unit) = 10i128.checked_pow(precision.unsigned_abs()) else { return Ok(Value::Int(0)) };
            let rest = int.rem_euclid(unit);
            let down = int - rest;
            let up = rest * 2 > unit || (rest * 2 == unit && (down / unit) % 2 != 0);
            Ok(Value::Int(if up { down + unit } else { down }))
        }
        ("common", None) if !float.is_finite() => Ok(Value::Float(float)),
        ("common", None) if precision >= 0 => {
            let decimals = precision as usize;
            Ok(Value::Float(format!("{float:.decimals$}").parse().unwrap_or(float)))
        }
        ("common", None) => {
            let unit = 10f64.powi(-precision);
            Ok(Value::Float((float / unit).round_ties_even() * unit))
        }
        _ => fail("round: the method must be common, ceil or floor"),
    }
}

/// int(value), by way of float where that fails; none: the default is meant.
fn to_int(value: &Value, base: i128) -> Outcome<Option<i128>> {
    let whole = |value: f64| value.is_finite().then_some(value.trunc() as i128);
    if let Some(text) = value.as_str() {
        let trimmed = text.trim_matches(text::is_space);
        let (sign, digits) = match trimmed.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, trimmed.strip_prefix('+').unwrap_or(trimmed)),
        };
        let lower = digits.to_ascii_lowercase();
        let prefix = [("0x", 16), ("0o", 8), ("0b", 2)].into_iter().find(|(prefix, _)| lower.starts_with(prefix));
        let (digits, radix) = match prefix {
            Some((prefix, radix)) if base == radix || base == 0 => (digits[prefix.len()..].to_owned(), radix),
            _ => (digits.to_owned(), if base == 0 { 10 } else { base }),
        };
        if !(2..=36).contains(&radix) {
            return fail(format!("int: the base {base} is not supported"));
        }
        let well = !digits.starts_with(['_', '+', '-']) && !digits.ends_with('_') && !digits.contains("__");
        // Digits of any script, as Python reads them.
        let plain: String = digits.chars().filter(|c| *c != '_').collect();
        if well {
            if let Ok(value) = i128::from_str_radix(&plain, radix as u32) {
                return Ok(Some(sign * value));
            }
            if !plain.is_empty() && plain.bytes().all(|byte| byte.is_ascii_digit()) {
                return fail("int: the number is too large (more than 127 bits)");
            }
        }
        return Ok(to_float(value).and_then(whole));
    }
    match value {
        Value::Float(value) => Ok(whole(*value)),
        value => Ok(value.as_int()),
    }
}

fn to_float(value: &Value) -> Option<f64> {
    let Some(text) = value.as_str() else { return value.as_float() };
    let text = text.trim_matches(text::is_space);
    let well = !text.starts_with('_') && !text.ends_with('_') && !text.contains("__");
    let plain = text.replace('_', "");
    let bare = plain.trim_start_matches(['+', '-']).to_ascii_lowercase();
    let named = ["inf", "infinity", "nan"].contains(&bare.as_str());
    let numeric = bare.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    (well && (named || numeric)).then(|| plain.parse().ok()).flatten()
}

// ---- an item's attribute ----

/// "a.b.0" of an item, and what to do with it.
pub struct Attribute {
    parts: Vec<Value>,
    default: Option<Value>,
    lower: bool,
}

impl Attribute {
    pub fn new(path: Option<Value>, default: Option<Value>) -> Outcome<Self> {
        let parts = match path {
            None | Some(Value::None) => Vec::new(),
            Some(Value::Str(path)) => path
                .split('.')
                .map(|part| match part.parse::<u32>() {
                    Ok(index) if part.bytes().all(|byte| byte.is_ascii_digit()) => Value::Int(index as i128),
                    _ => super::value::text(part),
                })
                .collect(),
            Some(other) => vec![other],
        };
        let default = default.filter(|default| !matches!(default, Value::None));
        Ok(Self { parts, default, lower: false })
    }

    fn ignoring_case(mut self, case_sensitive: &Option<Value>) -> Self {
        self.lower = !case_sensitive.as_ref().is_some_and(Value::is_true);
        self
    }

    pub fn of(&self, render: &Render, item: Value) -> Outcome<Value> {
        let mut item = item;
        for part in &self.parts {
            item = render.item(&item, part)?;
            if let (true, Some(default)) = (item.is_undefined(), &self.default) {
                item = default.clone();
            }
        }
        match (&item, self.lower) {
            (Value::Str(text), true) => render.text(text.to_lowercase()),
            _ => Ok(item),
        }
    }
}

fn choosing(render: &Render, name: &str, value: Value, mut given: Given) -> Outcome<Value> {
    if !value.is_true() {
        return render.generator(Vec::new());
    }
    let items = render.iterate(&value)?;
    if name == "map" {
        return map(render, items, given);
    }
    let key = if name.ends_with("attr") {
        if given.positional.is_empty() {
            return fail(format!("{name} lacks the name of an attribute"));
        }
        Attribute::new(Some(given.positional.remove(0)), None)?
    } else {
        Attribute::new(None, None)?
    };
    let test = if given.positional.is_empty() { None } else { Some(render.str(&given.positional.remove(0))?) };
    let wanted = name.starts_with("select");
    let mut kept = Vec::new();
    for item in items {
        let attribute = key.of(render, item.clone())?;
        let passes = match &test {
            Some(test) => tests::apply(render, test, &attribute, given.clone())?,
            None => attribute.is_true(),
        };
        if passes == wanted {
            kept.push(item);
        }
    }
    render.generator(kept)
}

fn map(render: &Render, items: Vec<Value>, mut given: Given) -> Outcome<Value> {
    let mut out = Vec::with_capacity(items.len());
    if given.positional.is_empty() {
        let [attribute, default] = given.bind("map", ["attribute", "default"], 1)?;
        let key = Attribute::new(attribute, default)?;
        for item in items {
            out.push(key.of(render, item)?);
        }
    } else {
        let filter = render.str(&given.positional.remove(0))?;
        for item in items {
            out.push(apply(render, &filter, item, given.clone())?);
        }
    }
    render.generator(out)
}

// ---- lists ----

/// A stable sort by Python's <, which may fail.
pub fn sort_by<T: Clone>(
    budget: &Budget,
    items: &mut Vec<T>,
    reverse: bool,
    key: impl Fn(&T) -> Outcome<Value>,
) -> Outcome<()> {
    let mut ranked = Vec::with_capacity(items.len());
    for item in items.iter() {
        ranked.push((key(item)?, item.clone()));
    }
    if reverse {
        ranked.reverse();
    }
    let mut width = 1;
    while width < ranked.len() {
        let mut merged = Vec::with_capacity(ranked.len());
        for pair in ranked.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some(a), Some(b)) = (left.first(), right.first()) {
                if order(budget, &b.0, &a.0)? == Some(std::cmp::Ordering::Less) {
                    merged.push(b.clone());
                    right = &right[1..];
                } else {
                    merged.push(a.clone());
                    left = &left[1..];
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        ranked = merged;
        width *= 2;
    }
    if reverse {
        ranked.reverse();
    }
    *items = ranked.into_iter().map(|(_, item)| item).collect();
    Ok(())
}

fn listing(render: &Render, name: &str, value: Value, given: Given) -> Outcome<Value> {
    match name {
        "length" | "count" => {
            given.bind::<0>(name, [], 0)?;
            Ok(Value::Int(render.length(&value)? as i128))
        }
        "list" => {
            given.bind::<0>(name, [], 0)?;
            render.list(render.iterate(&value)?)
        }
        "first" => {
            given.bind::<0>(name, [], 0)?;
            if let Value::Object(Kind::Iterator, at) = &value {
                if let Object::Iterator(items) = &mut render.arena.objects.borrow_mut()[*at] {
                    let none = || Value::Undefined("No first item, sequence was empty.".into());
                    return Ok(items.next().unwrap_or_else(none));
                }
            }
            let none = || Value::Undefined("No first item, sequence was empty.".into());
            Ok(render.iterate(&value)?.into_iter().next().unwrap_or_else(none))
        }
        "last" => {
            given.bind::<0>(name, [], 0)?;
            if matches!(value, Value::Object(..)) {
                return fail(format!("last: '{}' object is not reversible", value.type_name()));
            }
            let none = || Value::Undefined("No last item, sequence was empty.".into());
            Ok(render.iterate(&value)?.pop().unwrap_or_else(none))
        }
        "items" => {
            given.bind::<0>(name, [], 0)?;
            match &value {
                Value::Undefined(_) => render.generator(Vec::new()),
                Value::Dict(dict) => render.generator(methods::items(render, dict)?),
                _ => fail("items: can only get item pairs from a mapping"),
            }
        }
        "reverse" => {
            given.bind::<0>(name, [], 0)?;
            if let Value::Str(text) = &value {
                return render.text(text.chars().rev().collect());
            }
            let is_generator = matches!(value, Value::Object(..));
            let mut items = render.iterate(&value)?;
            items.reverse();
            if is_generator { render.list(items) } else { render.generator(items) }
        }
        "batch" | "slice" => batch(render, name, value, given),
        "dictsort" => {
            let [case, by, reverse] = given.bind(name, ["case_sensitive", "by", "reverse"], 0)?;
            let Value::Dict(dict) = value.defined()? else {
                return fail(format!("dictsort wants a dict, not {}", value.type_name()));
            };
            let by_value = match by.as_ref().map(|by| by.as_str().unwrap_or("")) {
                None | Some("key") => false,
                Some("value") => true,
                _ => return fail("dictsort: 'by' is \"key\" or \"value\""),
            };
            let key = Attribute::new(None, None)?.ignoring_case(&case);
            let mut pairs = dict.entries.clone();
            let reverse = reverse.is_some_and(|reverse| reverse.is_true());
            sort_by(&render.budget, &mut pairs, reverse, |(name, value)| {
                key.of(render, if by_value { value.clone() } else { name.clone() })
            })?;
            let items = pairs.into_iter().map(|(key, value)| render.tuple(vec![key, value]));
            render.list(items.collect::<Outcome<_>>()?)
        }
        "sort" => {
            let [reverse, case, attribute] = given.bind(name, ["reverse", "case_sensitive", "attribute"], 0)?;
            let paths = match attribute {
                Some(Value::Str(paths)) => paths.split(',').map(|path| Some(super::value::text(path))).collect(),
                other => vec![other],
            };
            let keys = paths
                .into_iter()
                .map(|path| Ok(Attribute::new(path, None)?.ignoring_case(&case)))
                .collect::<Outcome<Vec<_>>>()?;
            let mut items = render.iterate(&value)?;
            let reverse = reverse.is_some_and(|reverse| reverse.is_true());
            sort_by(&render.budget, &mut items, reverse, |item| {
                render.list(keys.iter().map(|key| key.of(render, item.clone())).collect::<Outcome<_>>()?)
            })?;
            render.list(items)
        }
        "unique" => {
            let [case, attribute] = given.bind(name, ["case_sensitive", "attribute"], 0)?;
            let key = Attribute::new(attribute, None)?.ignoring_case(&case);
            let mut seen = std::collections::HashSet::new();
            let mut kept = Vec::new();
            for item in render.iterate(&value)? {
                if seen.insert(Key::of(&key.of(render, item.clone())?)?) {
                    kept.push(item);
                }
            }
            render.generator(kept)
        }
        _ => group_by(render, value, given),
    }
}

fn batch(render: &Render, name: &str, value: Value, given: Given) -> Outcome<Value> {
    let [count, fill] = given.bind(name, ["", "fill_with"], 1)?;
    let Some(count) = count.as_ref().and_then(Value::as_int) else { return fail(format!("{name} wants an int")) };
    let count = count.clamp(-1, 1 << 32);
    let fill = fill.filter(|fill| !matches!(fill, Value::None));
    let items = render.iterate(&value)?;
    let mut rows = Vec::new();
    if name == "batch" {
        if count <= 0 {
            return fail("batch: the count must be positive");
        }
        for row in items.chunks(count as usize) {
            let mut row = row.to_vec();
            if let Some(fill) = &fill {
                render.budget.charge((count as usize - row.len()) * 32)?;
                row.resize(count as usize, fill.clone());
            }
            rows.push(render.list(row)?);
        }
        return render.generator(rows);
    }
    if count == 0 {
        return fail("slice: division by zero");
    }
    let (each, longer) = (items.len() as i128 / count.max(1), items.len() as i128 % count.max(1));
    let mut from = 0;
    for at in 0..count.max(0) {
        let size = (each + (at < longer) as i128) as usize;
        let mut row = items[from..from + size].to_vec();
        from += size;
        if let (Some(fill), true) = (&fill, at >= longer) {
            row.push(fill.clone());
        }
        rows.push(render.list(row)?);
    }
    render.generator(rows)
}

fn group_by(render: &Render, value: Value, given: Given) -> Outcome<Value> {
    let [attribute, default, case] = given.bind("groupby", ["attribute", "default", "case_sensitive"], 1)?;
    let key = Attribute::new(attribute.clone(), default.clone())?.ignoring_case(&case);
    let shown = Attribute::new(attribute, default)?;
    let mut items = render.iterate(&value)?;
    sort_by(&render.budget, &mut items, false, |item| key.of(render, item.clone()))?;
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for item in items {
        let rank = key.of(render, item.clone())?;
        match groups.last_mut() {
            Some((last, members)) if equal(&render.budget, last, &rank)? => members.push(item),
            _ => groups.push((rank, vec![item])),
        }
    }
    let mut out = Vec::new();
    for (_, members) in groups {
        let name = shown.of(render, members[0].clone())?;
        out.push(render.tuple(vec![name, render.list(members)?])?);
    }
    render.list(out)
}
