//! Functions that a template can call by name.

use super::budget::{fail, Outcome};
use super::eval::{Given, Object, Render};
use super::value::*;

const NAMES: [&str; 7] =
    ["range", "dict", "namespace", "cycler", "joiner", "raise_exception", "strftime_now"];
/// The sandbox's own limit.
const LONGEST_RANGE: i128 = 100_000;

pub fn named(name: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|known| *known == name)
}

pub fn call<'t>(render: &Render<'t>, name: &str, given: Given) -> Outcome<Value> {
    match name {
        "range" => range(given),
        "dict" => render.dict(pairs(render, given)?),
        "namespace" => {
            let mut fields: Vec<(Value, Value)> = Vec::new();
            for (key, value) in pairs(render, given)? {
                fields.retain(|(other, _)| other.as_str() != key.as_str());
                fields.push((key, value));
            }
            render.object(Kind::Namespace, Object::Namespace(fields))
        }
        "cycler" => match given.positional.is_empty() {
            true => fail("cycler wants at least one item"),
            false => render.object(Kind::Cycler, Object::Cycler(given.positional, 0)),
        },
        "joiner" => {
            let [separator] = given.bind("joiner", ["sep"], 0)?;
            let separator = separator.unwrap_or_else(|| text(", "));
            render.object(Kind::Joiner, Object::Joiner(separator, false))
        }
        "raise_exception" => {
            let [message] = given.bind(name, ["message"], 1)?;
            fail(format!("the template refuses: {}", render.str(&message.unwrap_or(Value::None))?))
        }
        "strftime_now" => {
            let [format] = given.bind(name, ["format"], 1)?;
            match format.as_ref().and_then(Value::as_str) {
                Some(format) => render.text(render.clock.format(format)?),
                None => fail("strftime_now wants a format"),
            }
        }
        _ => fail(format!("unknown function: '{name}'")),
    }
}

fn range(given: Given) -> Outcome<Value> {
    let args = given.bind("range", ["", "", ""], 1)?;
    let mut ints = [None, None, None];
    for (int, arg) in ints.iter_mut().zip(&args) {
        let Some(arg) = arg else { continue };
        match arg.defined()?.as_int() {
            Some(value) if value.abs() < 1 << 63 => *int = Some(value),
            Some(value) => return fail(format!("range: {value} is too large")),
            None => return fail(format!("range wants ints, not a {}", arg.type_name())),
        }
    }
    let (from, to, step) = match ints {
        [Some(to), None, _] => (0, to, 1),
        [from, to, step] => (from.unwrap_or(0), to.unwrap_or(0), step.unwrap_or(1)),
    };
    if step == 0 {
        return fail("range: the step is zero");
    }
    let size = range_size(from, to, step);
    if size > LONGEST_RANGE {
        return fail(format!("range: {size} items, at most {LONGEST_RANGE} are allowed"));
    }
    Ok(Value::Range([from, to, step].into()))
}

/// dict(mapping or pairs, **more)
fn pairs(render: &Render, given: Given) -> Outcome<Vec<(Value, Value)>> {
    let mut pairs = Vec::new();
    if given.positional.len() > 1 {
        return fail("dict takes at most one argument without a name");
    }
    match given.positional.first() {
        None => {}
        Some(Value::Dict(dict)) => pairs.extend(dict.entries.iter().cloned()),
        Some(other) => {
            for item in render.iterate(other)? {
                let pair = render.iterate(&item)?;
                match <[Value; 2]>::try_from(pair) {
                    Ok([key, value]) => pairs.push((key, value)),
                    Err(pair) => return fail(format!("dict wants pairs, not {} values", pair.len())),
                }
            }
        }
    }
    pairs.extend(given.keywords.into_iter().map(|(key, value)| (Value::Str(key), value)));
    Ok(pairs)
}
