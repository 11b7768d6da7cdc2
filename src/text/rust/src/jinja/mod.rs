//! jinja2 as the reference sets it up for chat templates: an immutable sandbox with trim_blocks, lstrip_blocks,
//! break and continue, `generation` blocks, and its own `tojson`, `raise_exception` and `strftime_now`.
//!
//! Text to tokens (lexer), tokens to a tree (parser, expressions), the tree to text (eval, ops) with Python's
//! values (value, methods, print, format) and jinja2's filters and tests, all within a budget.

mod ast;
mod budget;
mod clock;
mod eval;
mod expressions;
mod filters;
mod format;
mod functions;
mod lexer;
mod methods;
mod ops;
mod parser;
mod print;
mod tests;
mod text;
mod text_filters;
mod value;

use budget::{Fail, Outcome};
use clock::Clock;
use eval::Render;
use value::{Dict, Sequence, Value};

pub struct Template {
    parsed: parser::Parsed,
}

impl Template {
    pub fn new(source: &str) -> Result<Self, String> {
        let parsed = parser::parse(source).map_err(describe)?;
        Ok(Self { parsed })
    }

    /// `context` is a JSON object of what the template may name; `now` is what strftime_now tells.
    pub fn render(&self, context: &str, now: &str) -> Result<String, String> {
        let clock = Clock::read(now)?;
        let json: serde_json::Value =
            serde_json::from_str(context).map_err(|error| format!("context: {error}"))?;
        let serde_json::Value::Object(fields) = json else {
            return Err("context: a JSON object is wanted".into());
        };
        let mut render = Render::new(&self.parsed, context.len(), clock);
        for (name, value) in &fields {
            let value = from_json(value).map_err(describe)?;
            render.define(name, value);
        }
        render.run().map_err(describe)
    }
}

fn describe(fail: Fail) -> String {
    match fail.line {
        0 => fail.message,
        line => format!("line {line}: {}", fail.message),
    }
}

fn from_json(json: &serde_json::Value) -> Outcome<Value> {
    use serde_json::Value as Json;
    Ok(match json {
        Json::Null => Value::None,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => Value::Int(value as i128),
            (_, Some(value)) => Value::Int(value as i128),
            _ => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => value::text(text),
        Json::Array(items) => {
            Value::List(Sequence::new(items.iter().map(from_json).collect::<Outcome<_>>()?)?)
        }
        Json::Object(fields) => {
            let pairs = fields.iter().map(|(key, value)| Ok((value::text(key), from_json(value)?)));
            Value::Dict(Dict::new(pairs.collect::<Outcome<Vec<_>>>()?)?)
        }
    })
}
