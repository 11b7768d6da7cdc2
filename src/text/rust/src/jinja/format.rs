//! Python's two ways to format: "%s: %5.2f" % (a, b), and "{}: {:>5}".format(a, b).

use super::budget::{fail, Outcome};
use super::eval::{Given, Render};
use super::text;
use super::value::Value;

/// Of one field: "%1000000000s" is refused.
const MOST_WIDE: usize = 1 << 20;

/// A format specification: [[fill]align][sign][#][0][width][,][.precision][type]
#[derive(Default, Clone)]
struct Spec {
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    alternate: bool,
    width: usize,
    comma: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

/// `format % values`
pub fn percent(render: &Render, format: &str, values: &Value) -> Outcome<String> {
    let single = std::slice::from_ref(values);
    let args = match values {
        Value::Tuple(tuple) => &tuple.items[..],
        _ => single,
    };
    let mut out = String::new();
    let mut used = 0;
    let mut named = false;
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let mut argument = None;
        if chars.next_if_eq(&'(').is_some() {
            let mut name = String::new();
            loop {
                match chars.next() {
                    Some(')') => break,
                    Some(c) => name.push(c),
                    None => return fail("'%(' has no ')' in a format"),
                }
            }
            let Value::Dict(dict) = values else { return fail("a format with names requires a mapping") };
            match dict.get_str(&name) {
                Some(value) => argument = Some(value.clone()),
                None => return fail(format!("the format names '{name}', which is not given")),
            }
            named = true;
        }
        let mut spec = Spec::default();
        while let Some(flag) = chars.next_if(|c| "-+ #0".contains(*c)) {
            match flag {
                '-' => spec.align = Some('<'),
                '#' => spec.alternate = true,
                '0' => spec.fill = Some('0'),
                ' ' if spec.sign.is_some() => {}
                sign => spec.sign = Some(sign),
            }
        }
        let take = |used: &mut usize| -> Outcome<Value> {
            *used += 1;
            match args.get(*used - 1) {
                Some(value) => Ok(value.clone()),
                None => fail("not enough arguments for the format"),
            }
        };
        let number = |chars: &mut std::iter::Peekable<std::str::Chars>, used: &mut usize| -> Outcome<Option<i128>> {
            if chars.next_if_eq(&'*').is_some() {
                return match take(used)?.as_int() {
                    Some(value) => Ok(Some(value)),
                    None => fail("'*' in a format wants an int"),
                };
            }
            let mut digits = String::new();
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            Ok(if digits.is_empty() { None } else { Some(digits.parse().unwrap_or(i128::MAX)) })
        };
        if let Some(width) = number(&mut chars, &mut used)? {
            if width < 0 {
                spec.align = Some('<');
            }
            spec.width = bounded(width.unsigned_abs())?;
        }
        if chars.next_if_eq(&'.').is_some() {
            let precision = number(&mut chars, &mut used)?.unwrap_or(0);
            spec.precision = Some(bounded(precision.max(0) as u128)?);
        }
        while chars.next_if(|c| "hlL".contains(*c)).is_some() {}
        let Some(kind) = chars.next() else { return fail("a format ends within '%'") };
        let value = match argument {
            Some(value) => value,
            None => take(&mut used)?,
        };
        render.budget.charge(spec.width + spec.precision.unwrap_or(0) + 16)?;
        out.push_str(&percent_field(render, kind, &value, spec)?);
    }
    // Python lets one value that has subscripts go unused, since it might be a mapping.
    let may_rest = match values {
        Value::Tuple(_) | Value::Str(_) | Value::Markup(_) => false,
        Value::Dict(_) | Value::List(_) | Value::Range(..) | Value::Undefined(_) => true,
        _ => false,
    };
    let all = used >= args.len() || named || may_rest;
    if !all {
        return fail("not all arguments are used by the format");
    }
    Ok(out)
}

fn bounded(width: u128) -> Outcome<usize> {
    if width > MOST_WIDE as u128 {
        return fail(format!("a format's width is {width}, at most {MOST_WIDE} is allowed"));
    }
    Ok(width as usize)
}

fn percent_field(render: &Render, kind: char, value: &Value, mut spec: Spec) -> Outcome<String> {
    let default_align = spec.align.is_none();
    match kind {
        's' | 'r' | 'a' => {
            let mut text = if kind == 's' { render.str(value)? } else { render.repr(value)? };
            if let Some(precision) = spec.precision {
                text.truncate(text::byte_of(&text, precision));
            }
            spec.fill = None;
            spec.align = spec.align.or(Some('>'));
            Ok(pad(&text, "", &spec))
        }
        'c' => match (value.as_int(), value.as_str()) {
            (Some(code), _) => match u32::try_from(code).ok().and_then(char::from_u32) {
                Some(c) => Ok(pad(&c.to_string(), "", &spec)),
                None => fail("%c wants a character"),
            },
            (_, Some(text)) if text::length(text) == 1 => Ok(pad(text, "", &spec)),
            _ => fail("%c wants a character"),
        },
        'd' | 'i' | 'u' | 'x' | 'X' | 'o' => {
            let int = match value {
                Value::Float(value) if "diu".contains(kind) && value.is_finite() => value.trunc() as i128,
                value => match value.as_int() {
                    Some(int) => int,
                    None => return fail(format!("%{kind} wants a number, not {}", value.type_name())),
                },
            };
            spec.kind = Some(if "iu".contains(kind) { 'd' } else { kind });
            if let Some(precision) = spec.precision.take() {
                let digits = integer(int.abs(), spec.kind, spec.alternate).1;
                let zeros = "0".repeat(precision.saturating_sub(digits.len()));
                let (sign, _) = signed(int < 0, &spec);
                let prefix = integer(int.abs(), spec.kind, spec.alternate).0;
                return Ok(pad(&format!("{zeros}{digits}"), &format!("{sign}{prefix}"), &spec));
            }
            format_int(int, &spec_for_number(spec, default_align))
        }
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' => match value.as_float() {
            Some(float) => {
                spec.kind = Some(kind);
                spec.precision = spec.precision.or(Some(6));
                format_float(float, &spec_for_number(spec, default_align))
            }
            None => fail(format!("%{kind} wants a number, not {}", value.type_name())),
        },
        other => fail(format!("unknown format '%{other}'")),
    }
}

fn spec_for_number(mut spec: Spec, default_align: bool) -> Spec {
    if spec.fill == Some('0') && default_align {
        spec.align = Some('=');
    } else {
        spec.fill = None;
        spec.align = spec.align.or(Some('>'));
    }
    spec
}

/// `prefix` (a sign, "0x") stands before the padding of align '='.
fn pad(text: &str, prefix: &str, spec: &Spec) -> String {
    let missing = spec.width.saturating_sub(text::length(text) + text::length(prefix));
    let fill = spec.fill.unwrap_or(' ');
    let repeat = |count: usize| fill.to_string().repeat(count);
    match spec.align.unwrap_or('>') {
        '<' => format!("{prefix}{text}{}", repeat(missing)),
        '^' => format!("{}{prefix}{text}{}", repeat(missing / 2), repeat(missing - missing / 2)),
        '=' => format!("{prefix}{}{text}", repeat(missing)),
        _ => format!("{}{prefix}{text}", repeat(missing)),
    }
}

fn signed(negative: bool, spec: &Spec) -> (&'static str, bool) {
    match spec.sign {
        _ if negative => ("-", true),
        Some('+') => ("+", true),
        Some(' ') => (" ", true),
        _ => ("", false),
    }
}

fn integer(value: i128, kind: Option<char>, alternate: bool) -> (&'static str, String) {
    match kind {
        Some('x') => (if alternate { "0x" } else { "" }, format!("{value:x}")),
        Some('X') => (if alternate { "0X" } else { "" }, format!("{value:X}")),
        Some('o') => (if alternate { "0o" } else { "" }, format!("{value:o}")),
        Some('b') => (if alternate { "0b" } else { "" }, format!("{value:b}")),
        _ => ("", value.to_string()),
    }
}

fn grouped(digits: &str, comma: char) -> String {
    let (whole, rest) = match digits.find(['.', 'e', 'E']) {
        Some(at) => digits.split_at(at),
        None => (digits, ""),
    };
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(comma);
        }
        out.push(digit);
    }
    out + rest
}

fn format_int(value: i128, spec: &Spec) -> Outcome<String> {
    let Some(magnitude) = value.checked_abs() else { return fail("a number is too large") };
    let (prefix, mut digits) = integer(magnitude, spec.kind, spec.alternate);
    if let Some(comma) = spec.comma {
        digits = grouped(&digits, comma);
    }
    Ok(pad(&digits, &format!("{}{prefix}", signed(value < 0, spec).0), spec))
}

fn format_float(value: f64, spec: &Spec) -> Outcome<String> {
    let kind = spec.kind.unwrap_or('r');
    let magnitude = value.abs();
    let precision = spec.precision.unwrap_or(6);
    let mut digits = match kind {
        _ if value.is_nan() => "nan".into(),
        _ if value.is_infinite() => "inf".into(),
        'f' | 'F' => format!("{magnitude:.precision$}"),
        'e' | 'E' => exponent(magnitude, precision),
        '%' => format!("{:.precision$}%", magnitude * 100.0),
        'g' | 'G' => general(magnitude, precision.max(1), spec.alternate),
        _ if spec.precision.is_some() => {
            let text = general(magnitude, precision.max(1), false);
            if text.contains(['.', 'e']) || spec.kind.is_some() { text } else { text + ".0" }
        }
        _ => super::print::float(magnitude),
    };
    if kind.is_ascii_uppercase() {
        digits = digits.to_uppercase();
    }
    if let Some(comma) = spec.comma {
        digits = grouped(&digits, comma);
    }
    let negative = value.is_sign_negative() && !value.is_nan();
    Ok(pad(&digits, signed(negative, spec).0, spec))
}

fn exponent(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = exponent(value, precision - 1);
    let (_, power) = scientific.split_once('e').unwrap_or(("", "0"));
    let power: i64 = power.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') && !keep_zeros {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if power < -4 || power >= precision as i64 {
        let (digits, power) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{power}", trim(digits));
    }
    let decimals = (precision as i64 - 1 - power).max(0) as usize;
    trim(&format!("{value:.decimals$}"))
}

/// format.format(*given.positional, **given.keywords)
pub fn braces(render: &Render, format: &str, given: &Given) -> Outcome<String> {
    let mut fields = Fields { render, given, next: 0, numbered: false };
    fields.all(format, 0)
}

struct Fields<'a, 't> {
    render: &'a Render<'t>,
    given: &'a Given,
    next: usize,
    numbered: bool,
}

impl Fields<'_, '_> {
    fn all(&mut self, format: &str, depth: usize) -> Outcome<String> {
        if depth > 2 {
            return fail("a format's fields nest too deep");
        }
        let mut out = String::new();
        let mut rest = format;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(&rest[..at]);
            let brace = &rest[at..at + 1];
            rest = &rest[at + 1..];
            if rest.starts_with(brace) {
                out.push_str(brace);
                rest = &rest[1..];
                continue;
            }
            if brace == "}" {
                return fail("single '}' in a format");
            }
            let mut open = 1;
            let end = rest.find(|c| {
                open += match c {
                    '{' => 1,
                    '}' => -1,
                    _ => 0,
                };
                open == 0
            });
            let Some(end) = end else { return fail("single '{' in a format") };
            out.push_str(&self.field(&rest[..end], depth)?);
            rest = &rest[end + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    fn field(&mut self, field: &str, depth: usize) -> Outcome<String> {
        let colon = field.find(':').unwrap_or(field.len());
        let (name, spec) = (&field[..colon], field.get(colon + 1..).unwrap_or(""));
        let (name, conversion) = match name.split_once('!') {
            Some((name, conversion)) => (name, Some(conversion)),
            None => (name, None),
        };
        let value = self.value(name)?;
        let spec = self.all(spec, depth + 1)?;
        let value = match conversion {
            Some("r") | Some("a") => super::value::text(&self.render.repr(&value)?),
            Some("s") => super::value::text(&self.render.str(&value)?),
            Some(other) => return fail(format!("unknown conversion '!{other}' in a format")),
            None => value,
        };
        one(self.render, &value, &spec)
    }

    fn value(&mut self, name: &str) -> Outcome<Value> {
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let (first, mut path) = name.split_at(end);
        let is_index = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
        let mut value = if name.is_empty() || is_index {
            let index = if name.is_empty() {
                self.next += 1;
                self.next - 1
            } else {
                self.numbered |= path.is_empty(); // "{0[k]}" may stand beside "{}"
                first.parse().unwrap_or(usize::MAX)
            };
            if self.numbered && self.next > 0 {
                return fail("a format mixes '{}' and '{0}'");
            }
            match self.given.positional.get(index) {
                Some(value) => value.clone(),
                None => return fail(format!("the format wants argument {index}, which is not given")),
            }
        } else {
            match self.given.keywords.iter().find(|(key, _)| &**key == first) {
                Some((_, value)) => value.clone(),
                None => return fail(format!("the format names '{first}', which is not given")),
            }
        };
        while !path.is_empty() {
            let (step, rest) = if let Some(after) = path.strip_prefix('[') {
                let Some(end) = after.find(']') else { return fail("'[' has no ']' in a format") };
                (&after[..end], &after[end + 1..])
            } else {
                let after = path.strip_prefix('.').unwrap_or(path);
                after.split_at(after.find(['.', '[']).unwrap_or(after.len()))
            };
            value = if path.starts_with('[') {
                let key = step.parse().map_or_else(|_| super::value::text(step), Value::Int);
                self.render.item(&value, &key)?
            } else {
                self.render.attribute(&value, step)?
            };
            path = rest;
        }
        Ok(value)
    }
}

fn read_spec(text: &str) -> Outcome<Spec> {
    let mut spec = Spec::default();
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    let is_align = |c: Option<&char>| c.is_some_and(|c| "<>=^".contains(*c));
    if is_align(chars.get(1)) {
        (spec.fill, spec.align) = (Some(chars[0]), Some(chars[1]));
        at = 2;
    } else if is_align(chars.first()) {
        spec.align = Some(chars[0]);
        at = 1;
    }
    if let Some(sign) = chars.get(at).filter(|c| "+- ".contains(**c)) {
        spec.sign = Some(*sign);
        at += 1;
    }
    if chars.get(at) == Some(&'#') {
        spec.alternate = true;
        at += 1;
    }
    if chars.get(at) == Some(&'0') {
        if spec.align.is_none() {
            (spec.fill, spec.align) = (spec.fill.or(Some('0')), Some('='));
        }
        at += 1;
    }
    let digits = |at: &mut usize| -> Outcome<Option<usize>> {
        let start = *at;
        while chars.get(*at).is_some_and(char::is_ascii_digit) {
            *at += 1;
        }
        let text: String = chars[start..*at].iter().collect();
        if text.is_empty() { Ok(None) } else { bounded(text.parse().unwrap_or(u128::MAX)).map(Some) }
    };
    spec.width = digits(&mut at)?.unwrap_or(0);
    if let Some(comma) = chars.get(at).filter(|c| ",_".contains(**c)) {
        spec.comma = Some(*comma);
        at += 1;
    }
    if chars.get(at) == Some(&'.') {
        at += 1;
        spec.precision = digits(&mut at)?;
        if spec.precision.is_none() {
            return fail("a format lacks the precision after '.'");
        }
    }
    spec.kind = chars.get(at).copied();
    if chars.len() > at + 1 {
        return fail(format!("invalid format '{text}'"));
    }
    Ok(spec)
}

/// format(value, spec)
fn one(render: &Render, value: &Value, spec_text: &str) -> Outcome<String> {
    if spec_text.is_empty() {
        return render.str(value);
    }
    let spec = read_spec(spec_text)?;
    render.budget.charge(spec.width + spec.precision.unwrap_or(0) + 16)?;
    let wrong = || fail(format!("the format '{spec_text}' does not suit a {}", value.type_name()));
    match (value, spec.kind) {
        (Value::Str(text) | Value::Markup(text), None | Some('s')) => {
            if spec.align == Some('=') && !spec_text.starts_with('0') || spec.sign.is_some() || spec.comma.is_some() {
                return wrong();
            }
            let mut text = text.to_string();
            if let Some(precision) = spec.precision {
                text.truncate(text::byte_of(&text, precision));
            }
            let align = spec.align.filter(|align| *align != '=').or(Some('<'));
            Ok(pad(&text, "", &Spec { align, ..spec }))
        }
        (Value::Float(value), None | Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%')) => format_float(*value, &spec),
        (value, Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%')) => match value.as_float() {
            Some(value) => format_float(value, &spec),
            None => wrong(),
        },
        (value, None | Some('d' | 'x' | 'X' | 'o' | 'b')) => match value.as_int() {
            Some(_) if spec.precision.is_some() => wrong(),
            Some(int) => format_int(int, &spec),
            None => wrong(),
        },
        _ => wrong(),
    }
}
