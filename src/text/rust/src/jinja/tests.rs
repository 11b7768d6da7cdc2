//! What may stand after `is`.

use super::ast::{Binary, Compare};
use super::budget::{fail, Outcome};
use super::eval::{Given, Render};
use super::value::*;
use super::{filters, text};

const NAMES: [&str; 39] = [
    "odd", "even", "divisibleby", "defined", "undefined", "filter", "test", "none", "boolean", "false", "true",
    "integer", "float", "lower", "upper", "string", "mapping", "number", "sequence", "iterable", "callable",
    "sameas", "escaped", "in", "==", "eq", "equalto", "!=", "ne", ">", "gt", "greaterthan", "ge", ">=", "<", "lt",
    "lessthan", "<=", "le",
];

pub fn is_known(name: &str) -> bool {
    NAMES.contains(&name)
}

pub fn apply(render: &Render, name: &str, value: &Value, given: Given) -> Outcome<bool> {
    let compare = match name {
        "==" | "eq" | "equalto" => Some(Compare::Eq),
        "!=" | "ne" => Some(Compare::Ne),
        ">" | "gt" | "greaterthan" => Some(Compare::Gt),
        ">=" | "ge" => Some(Compare::Ge),
        "<" | "lt" | "lessthan" => Some(Compare::Lt),
        "<=" | "le" => Some(Compare::Le),
        "in" => Some(Compare::In),
        _ => None,
    };
    if let Some(compare) = compare {
        let [other] = given.bind(name, [""], 1)?;
        return render.compare(compare, value, &other.unwrap_or(Value::None));
    }
    match name {
        "divisibleby" => {
            let [by] = given.bind(name, ["num"], 1)?;
            let rest = render.binary(Binary::Mod, value, &by.unwrap_or(Value::None))?;
            return equal(&render.budget, &rest, &Value::Int(0));
        }
        "sameas" => {
            let [other] = given.bind(name, ["other"], 1)?;
            return Ok(same(value, &other.unwrap_or(Value::None)));
        }
        _ if !is_known(name) => return fail(format!("unknown test: '{name}'")),
        _ => {}
    }
    given.bind::<0>(name, [], 0)?;
    Ok(match name {
        "odd" | "even" => {
            let rest = render.binary(Binary::Mod, value, &Value::Int(2))?;
            equal(&render.budget, &rest, &Value::Int((name == "odd") as i128))?
        }
        "defined" => !value.is_undefined(),
        "undefined" => value.is_undefined(),
        "none" => matches!(value, Value::None),
        "boolean" => matches!(value, Value::Bool(_)),
        "true" => matches!(value, Value::Bool(true)),
        "false" => matches!(value, Value::Bool(false)),
        "integer" => matches!(value, Value::Int(_)),
        "float" => matches!(value, Value::Float(_)),
        "number" => value.as_float().is_some(),
        "string" => value.is_string(),
        "escaped" => matches!(value, Value::Markup(_)),
        "mapping" => matches!(value, Value::Dict(_)),
        "lower" => text::all_cased(&render.str(value)?, false),
        "upper" => text::all_cased(&render.str(value)?, true),
        "callable" => {
            matches!(value, Value::Method(_) | Value::Function(_) | Value::Macro(_) | Value::Undefined(_))
                || matches!(value, Value::Object(Kind::Loop | Kind::Joiner, _))
        }
        "sequence" => matches!(
            value,
            Value::Str(_) | Value::Markup(_) | Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Range(..)
        ) || value.is_undefined(),
        "iterable" => {
            value.is_string()
                || matches!(value, Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::View(..))
                || matches!(value, Value::Range(..) | Value::Undefined(_) | Value::Object(Kind::Iterator, _))
                || matches!(value, Value::Object(Kind::Loop, _))
        }
        "filter" => value.as_str().is_some_and(filters::is_known),
        _ => value.as_str().is_some_and(is_known),
    })
}

/// `is` of Python, for the values of which there is one, and for one and the same list or dict.
fn same(a: &Value, b: &Value) -> bool {
    use std::rc::Rc;
    match (a, b) {
        (Value::None, Value::None) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b && (-5..=256).contains(a),
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => Rc::ptr_eq(a, b),
        (Value::Dict(a), Value::Dict(b)) => Rc::ptr_eq(a, b),
        (Value::Object(_, a), Value::Object(_, b)) => a == b,
        _ => false,
    }
}
