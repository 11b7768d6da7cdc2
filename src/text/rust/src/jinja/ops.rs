//! Expressions: Python's operators, subscripts and attributes, as jinja2's sandbox lets them through.

use std::rc::Rc;

use super::ast::*;
use super::budget::{fail, Outcome};
use super::eval::{Given, Object, Render};
use super::value::*;
use super::{filters, format, methods, tests, text};

impl<'t> Render<'t> {
    pub fn eval(&self, expr: &'t Expr, scope: usize) -> Outcome<Value> {
        let _level = self.budget.enter()?;
        self.evaluate(expr, scope).map_err(|fail| fail.at(expr.line))
    }

    fn evaluate(&self, expr: &'t Expr, scope: usize) -> Outcome<Value> {
        Ok(match &expr.kind {
            ExprKind::Const(value) => match value {
                Const::None => Value::None,
                Const::Bool(value) => Value::Bool(*value),
                Const::Int(value) => Value::Int(*value),
                Const::Float(value) => Value::Float(*value),
                Const::Str(value) => Value::Str(value.clone()),
            },
            ExprKind::Name(name) => self.lookup(scope, name),
            ExprKind::Tuple(items) => self.tuple(self.eval_all(items, scope)?)?,
            ExprKind::List(items) => self.list(self.eval_all(items, scope)?)?,
            ExprKind::Dict(items) => {
                let mut pairs = Vec::with_capacity(items.len());
                for (key, value) in items {
                    pairs.push((self.eval(key, scope)?, self.eval(value, scope)?));
                }
                self.dict(pairs)?
            }
            ExprKind::Attr(value, name) => self.attribute(&self.eval(value, scope)?, name)?,
            ExprKind::Item(value, key) => {
                let value = self.eval(value, scope)?;
                self.item(&value, &self.eval(key, scope)?)?
            }
            ExprKind::Slice(value, parts) => self.eval_slice(value, parts, scope)?,
            ExprKind::Call(callee, args) => {
                let callee = self.eval(callee, scope)?;
                self.call(&callee, self.arguments(args, scope)?)?
            }
            ExprKind::Filter(value, name, args) => {
                let value = self.eval(value, scope)?;
                filters::apply(self, name, value, self.arguments(args, scope)?)?
            }
            ExprKind::Test(value, name, args) => {
                let value = self.eval(value, scope)?;
                Value::Bool(tests::apply(self, name, &value, self.arguments(args, scope)?)?)
            }
            ExprKind::Cond(parts) => {
                let (test, then, otherwise) = &**parts;
                match otherwise {
                    _ if self.eval(test, scope)?.is_true() => self.eval(then, scope)?,
                    Some(otherwise) => self.eval(otherwise, scope)?,
                    None => Value::Undefined("the inline if-expression is false and has no else".into()),
                }
            }
            ExprKind::And(parts) => match self.eval(&parts.0, scope)? {
                left if left.is_true() => self.eval(&parts.1, scope)?,
                left => left,
            },
            ExprKind::Or(parts) => match self.eval(&parts.0, scope)? {
                left if left.is_true() => left,
                _ => self.eval(&parts.1, scope)?,
            },
            ExprKind::Not(value) => Value::Bool(!self.eval(value, scope)?.is_true()),
            ExprKind::Negative(value) => match self.eval(value, scope)? {
                Value::Float(value) => Value::Float(-value),
                value => int_operation(Binary::Sub, 0, integer(&value, "-")?)?,
            },
            ExprKind::Positive(value) => match self.eval(value, scope)? {
                Value::Float(value) => Value::Float(value),
                value => Value::Int(integer(&value, "+")?),
            },
            ExprKind::Compare(first, rest) => self.eval_compare(first, rest, scope)?,
            ExprKind::Binary(operator, parts) => {
                let left = self.eval(&parts.0, scope)?;
                self.binary(*operator, &left, &self.eval(&parts.1, scope)?)?
            }
            ExprKind::Concat(parts) => {
                let mut out = String::new();
                for part in parts {
                    out.push_str(&self.str(&self.eval(part, scope)?)?);
                }
                self.text(out)?
            }
            ExprKind::Collected => self.last_collected(),
        })
    }

    fn eval_all(&self, items: &'t [Expr], scope: usize) -> Outcome<Vec<Value>> {
        items.iter().map(|item| self.eval(item, scope)).collect()
    }

    pub fn arguments(&self, args: &'t Args, scope: usize) -> Outcome<Given> {
        let mut given = Given { positional: self.eval_all(&args.positional, scope)?, keywords: Vec::new() };
        for (name, value) in &args.keywords {
            given.keywords.push((name.clone(), self.eval(value, scope)?));
        }
        if let Some(star) = &args.star {
            given.positional.extend(self.iterate(&self.eval(star, scope)?)?);
        }
        if let Some(star) = &args.star_star {
            let Value::Dict(dict) = self.eval(star, scope)? else { return fail("'**' wants a dict") };
            for (key, value) in &dict.entries {
                let Value::Str(key) = key else { return fail("'**' wants a dict with names as keys") };
                if given.keywords.iter().any(|(name, _)| name == key) {
                    return fail(format!("the argument '{key}' is given twice"));
                }
                given.keywords.push((key.clone(), value.clone()));
            }
        }
        Ok(given)
    }

    fn eval_compare(&self, first: &'t Expr, rest: &'t [(Compare, Expr)], scope: usize) -> Outcome<Value> {
        let mut left = self.eval(first, scope)?;
        for (operator, right) in rest {
            let right = self.eval(right, scope)?;
            if !self.compare(*operator, &left, &right)? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    pub fn compare(&self, operator: Compare, left: &Value, right: &Value) -> Outcome<bool> {
        use std::cmp::Ordering::*;
        Ok(match operator {
            Compare::Eq => equal(&self.budget, left, right)?,
            Compare::Ne => !equal(&self.budget, left, right)?,
            Compare::In => self.contains(right, left)?,
            Compare::NotIn => !self.contains(right, left)?,
            Compare::Lt => order(&self.budget, left, right)? == Some(Less),
            Compare::Gt => order(&self.budget, left, right)? == Some(Greater),
            Compare::Le => matches!(order(&self.budget, left, right)?, Some(Less | Equal)),
            Compare::Ge => matches!(order(&self.budget, left, right)?, Some(Greater | Equal)),
        })
    }

    /// `item in container`
    pub fn contains(&self, container: &Value, item: &Value) -> Outcome<bool> {
        match container {
            Value::Str(whole) | Value::Markup(whole) => match item.defined()?.as_str() {
                Some(part) => {
                    self.budget.burn(whole.len() / 64)?;
                    Ok(whole.contains(part))
                }
                None => fail(format!("'in <string>' wants a string at its left, not {}", item.type_name())),
            },
            Value::Dict(dict) => Ok(dict.get(item)?.is_some()),
            Value::List(_) | Value::Tuple(_) | Value::View(..) | Value::Range(..) | Value::Undefined(_)
            | Value::Object(Kind::Iterator, _) => {
                for other in self.iterate(container)? {
                    if equal(&self.budget, item, &other)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            other => fail(format!("argument of type '{}' is not iterable", other.type_name())),
        }
    }

    /// All that `for x in value` would see; a generator is used up.
    pub fn iterate(&self, value: &Value) -> Outcome<Vec<Value>> {
        let charged = |count: usize| self.budget.charge(count * 32);
        match value {
            Value::Undefined(_) => Ok(Vec::new()),
            Value::List(list) | Value::Tuple(list) | Value::View(_, list) => {
                charged(list.items.len())?;
                Ok(list.items.clone())
            }
            Value::Dict(dict) => {
                charged(dict.entries.len())?;
                Ok(dict.entries.iter().map(|(key, _)| key.clone()).collect())
            }
            Value::Str(text) | Value::Markup(text) => {
                charged(2 * text.len())?;
                Ok(text.chars().map(|c| Value::Str(c.encode_utf8(&mut [0; 4]).into())).collect())
            }
            Value::Range(range) => {
                let [from, _, step] = **range;
                let count = self.length(value)?;
                charged(count)?;
                Ok((0..count as i128).map(|index| Value::Int(from + index * step)).collect())
            }
            Value::Object(Kind::Iterator, at) => match &mut self.arena.objects.borrow_mut()[*at] {
                Object::Iterator(items) => Ok(items.by_ref().collect()),
                _ => fail("not an iterator"),
            },
            other => fail(format!("'{}' object is not iterable", other.type_name())),
        }
    }

    /// len(value)
    pub fn length(&self, value: &Value) -> Outcome<usize> {
        match value {
            Value::Undefined(_) => Ok(0),
            Value::Str(text) | Value::Markup(text) => {
                self.budget.burn(text.len() / 64)?;
                Ok(text::length(text))
            }
            Value::List(list) | Value::Tuple(list) | Value::View(_, list) => Ok(list.items.len()),
            Value::Dict(dict) => Ok(dict.entries.len()),
            Value::Range(range) => Ok(range_size(range[0], range[1], range[2]) as usize),
            Value::Object(Kind::Loop, at) => match &self.arena.objects.borrow()[*at] {
                Object::Loop(state) => Ok(state.items.len()),
                _ => Ok(0),
            },
            other => fail(format!("object of type '{}' has no length", other.type_name())),
        }
    }

    // ---- subscripts ----

    /// value[key]; what is not there is undefined.
    pub fn item(&self, value: &Value, key: &Value) -> Outcome<Value> {
        let found = match value.defined()? {
            Value::Dict(dict) => dict.get(key).ok().flatten().cloned(),
            Value::List(list) | Value::Tuple(list) => {
                key.as_int().and_then(|key| place(key, list.items.len())).map(|at| list.items[at].clone())
            }
            Value::Str(text) | Value::Markup(text) => {
                self.budget.burn(text.len() / 64)?;
                let at = key.as_int().and_then(|key| place(key, text::length(text)));
                at.and_then(|at| text[text::byte_of(text, at)..].chars().next())
                    .map(|c| Value::Str(c.encode_utf8(&mut [0; 4]).into()))
            }
            Value::Range(range) => {
                let [from, _, step] = **range;
                let size = self.length(value)?;
                key.as_int().and_then(|key| place(key, size)).map(|at| Value::Int(from + at as i128 * step))
            }
            _ => None,
        };
        if let Some(found) = found {
            return Ok(found);
        }
        if let Some(name) = key.as_str() {
            if let Some(found) = self.own_attribute(value, name)? {
                return Ok(found);
            }
        }
        let key = self.repr(key).unwrap_or_default();
        let what = value.type_name();
        Ok(Value::Undefined(match value {
            Value::List(_) | Value::Tuple(_) | Value::Str(_) => format!("{what} object has no element {key}").into(),
            Value::None => format!("'None' has no attribute {key}").into(),
            _ => format!("'{what} object' has no attribute {key}").into(),
        }))
    }

    /// value.name: a method or property before a key, as in Python.
    pub fn attribute(&self, value: &Value, name: &str) -> Outcome<Value> {
        if let Some(found) = self.own_attribute(value.defined()?, name)? {
            return Ok(found);
        }
        if let Value::Dict(dict) = value {
            if let Some(found) = dict.get_str(name) {
                return Ok(found.clone());
            }
        }
        let what = value.type_name();
        Ok(Value::Undefined(match value {
            Value::None => format!("'None' has no attribute '{name}'").into(),
            _ => format!("'{what} object' has no attribute '{name}'").into(),
        }))
    }

    fn own_attribute(&self, value: &Value, name: &str) -> Outcome<Option<Value>> {
        if let Value::Object(_, at) = value {
            return self.object_attribute(value, *at, name);
        }
        if let Value::Macro(value) = value {
            let definition = self.macro_definition(value);
            return Ok(match name {
                "name" => Some(Value::Str(definition.name.clone())),
                "arguments" => {
                    let names = definition.parameters.iter().map(|name| Value::Str(name.clone())).collect();
                    Some(self.tuple(names)?)
                }
                "caller" => Some(Value::Bool(definition.uses_caller)),
                "catch_kwargs" => Some(Value::Bool(definition.uses_kwargs)),
                "catch_varargs" => Some(Value::Bool(definition.uses_varargs)),
                _ => None,
            });
        }
        match (value, name) {
            (Value::Tuple(group), "grouper") if group.items.len() == 2 => return Ok(Some(group.items[0].clone())),
            (Value::Tuple(group), "list") if group.items.len() == 2 => return Ok(Some(group.items[1].clone())),
            _ => {}
        }
        if methods::is_unsafe(value, name) {
            let what = value.type_name();
            let why = format!("access to attribute '{name}' of '{what}' object is unsafe");
            return Ok(Some(Value::Undefined(why.into())));
        }
        if methods::is_unsupported(value, name) {
            return fail(format!("the attribute '{name}' of '{}' is not supported", value.type_name()));
        }
        Ok(methods::named(value, name).map(|name| Value::Method(Rc::new((value.clone(), name)))))
    }

    fn object_attribute(&self, value: &Value, at: usize, name: &str) -> Outcome<Option<Value>> {
        let number = |value: usize| Some(Value::Int(value as i128));
        let objects = self.arena.objects.borrow();
        Ok(match &objects[at] {
            Object::Namespace(fields) => {
                fields.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value.clone())
            }
            Object::Loop(state) => {
                let (index, count) = (state.index, state.items.len());
                let edge = |what: &str| Value::Undefined(format!("there is no {what} item").into());
                match name {
                    "index" => number(index + 1),
                    "index0" => number(index),
                    "revindex" => number(count - index),
                    "revindex0" => number(count - index - 1),
                    "length" => number(count),
                    "depth" => number(state.depth + 1),
                    "depth0" => number(state.depth),
                    "first" => Some(Value::Bool(index == 0)),
                    "last" => Some(Value::Bool(index + 1 == count)),
                    "previtem" if index == 0 => Some(edge("previous")),
                    "previtem" => Some(state.items[index - 1].clone()),
                    "nextitem" => Some(state.items.get(index + 1).cloned().unwrap_or_else(|| edge("next"))),
                    "cycle" => Some(Value::Method(Rc::new((value.clone(), "cycle")))),
                    "changed" => Some(Value::Method(Rc::new((value.clone(), "changed")))),
                    _ => None,
                }
            }
            Object::Cycler(items, at) => match name {
                "current" => Some(items[*at].clone()),
                "next" => Some(Value::Method(Rc::new((value.clone(), "next")))),
                "reset" => Some(Value::Method(Rc::new((value.clone(), "reset")))),
                _ => None,
            },
            _ => None,
        })
    }

    fn eval_slice(&self, value: &'t Expr, parts: &'t [Option<Expr>; 3], scope: usize) -> Outcome<Value> {
        let value = self.eval(value, scope)?;
        let mut bounds = [None, None, None];
        for (bound, part) in bounds.iter_mut().zip(parts) {
            let Some(part) = part else { continue };
            *bound = match self.eval(part, scope)?.defined()? {
                Value::None => None,
                part => match part.as_int() {
                    Some(int) => Some(int),
                    None => return fail("the bounds of a slice must be ints or none"),
                },
            };
        }
        if bounds[2] == Some(0) {
            return fail("the step of a slice is zero");
        }
        let count = self.length(match value.defined()? {
            Value::List(_) | Value::Tuple(_) | Value::Str(_) | Value::Markup(_) | Value::Range(..) => &value,
            other => return fail(format!("'{}' object takes no slice", other.type_name())),
        })?;
        let picks = slice_indices(bounds, count as i128);
        self.budget.charge(picks.len() * 16)?;
        match &value {
            Value::List(list) => self.list(picks.map(|at| list.items[at].clone()).collect()),
            Value::Tuple(list) => self.tuple(picks.map(|at| list.items[at].clone()).collect()),
            Value::Str(text) | Value::Markup(text) => self.text(slice_text(text, picks)),
            Value::Range(range) => {
                let [from, _, step] = **range;
                let first = picks.from;
                let to = first + picks.count as i128 * picks.step;
                Ok(Value::Range([from + first * step, from + to * step, step * picks.step].into()))
            }
            _ => fail("not sliceable"),
        }
    }

    // ---- operators ----

    pub fn binary(&self, operator: Binary, left: &Value, right: &Value) -> Outcome<Value> {
        left.defined()?;
        if operator == Binary::Mod && left.is_string() {
            let text = format::percent(self, left.as_str().unwrap_or_default(), right)?;
            return self.text(text);
        }
        right.defined()?;
        if let (Some(a), Some(b)) = (left.as_int(), right.as_int()) {
            return int_operation(operator, a, b);
        }
        if let (Some(a), Some(b)) = (left.as_float(), right.as_float()) {
            return float_operation(operator, a, b);
        }
        match (operator, left, right) {
            (Binary::Add, Value::Str(a), Value::Str(b)) => {
                self.budget.charge(a.len() + b.len())?;
                Ok(Value::Str(format!("{a}{b}").into()))
            }
            (Binary::Add, a, b) if a.is_string() && b.is_string() => {
                let [a, b] = [a, b].map(|part| match part {
                    Value::Markup(text) => text.to_string(),
                    part => super::text_filters::escape(part.as_str().unwrap_or_default()),
                });
                self.budget.charge(a.len() + b.len())?;
                Ok(Value::Markup((a + &b).into()))
            }
            (Binary::Add, Value::List(a), Value::List(b)) => self.list([&a.items[..], &b.items[..]].concat()),
            (Binary::Add, Value::Tuple(a), Value::Tuple(b)) => self.tuple([&a.items[..], &b.items[..]].concat()),
            (Binary::Mul, a, b) if a.as_int().is_some() => self.repeat(b, a.as_int().unwrap_or(0)),
            (Binary::Mul, a, b) if b.as_int().is_some() => self.repeat(a, b.as_int().unwrap_or(0)),
            _ => unsupported(operator, left, right),
        }
    }

    fn repeat(&self, value: &Value, count: i128) -> Outcome<Value> {
        let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
        match value {
            Value::Str(text) => {
                self.budget.charge(text.len().saturating_mul(count))?;
                self.text(text.repeat(if text.is_empty() { 0 } else { count }))
            }
            Value::Markup(text) => Ok(escaped(self.repeat(&Value::Str(text.clone()), count as i128)?)),
            Value::List(list) | Value::Tuple(list) => {
                self.budget.charge(list.items.len().saturating_mul(count).saturating_mul(32))?;
                let count = if list.items.is_empty() { 0 } else { count };
                let items = std::iter::repeat(&list.items).take(count).flatten().cloned().collect();
                if matches!(value, Value::List(_)) { self.list(items) } else { self.tuple(items) }
            }
            other => unsupported(Binary::Mul, other, &Value::Int(0)),
        }
    }
}

/// A string, or a list of strings, made of what was escaped already.
pub fn escaped(value: Value) -> Value {
    let all = |list: &Sequence| list.items.iter().cloned().map(escaped).collect();
    match &value {
        Value::Str(text) => Value::Markup(text.clone()),
        Value::List(list) => Sequence::new(all(list)).map_or(value.clone(), Value::List),
        Value::Tuple(list) => Sequence::new(all(list)).map_or(value.clone(), Value::Tuple),
        _ => value,
    }
}

fn unsupported<T>(operator: Binary, left: &Value, right: &Value) -> Outcome<T> {
    let symbol = match operator {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
        Binary::FloorDiv => "//",
        Binary::Mod => "%",
        Binary::Pow => "**",
    };
    fail(format!("unsupported types for {symbol}: '{}' and '{}'", left.type_name(), right.type_name()))
}

fn integer(value: &Value, operator: &str) -> Outcome<i128> {
    match value.defined()?.as_int() {
        Some(int) => Ok(int),
        None => fail(format!("bad type for unary {operator}: '{}'", value.type_name())),
    }
}

fn int_operation(operator: Binary, a: i128, b: i128) -> Outcome<Value> {
    let result = match operator {
        Binary::Div | Binary::FloorDiv | Binary::Mod if b == 0 => return fail("division by zero"),
        Binary::Div => return Ok(Value::Float(a as f64 / b as f64)),
        Binary::Add => a.checked_add(b),
        Binary::Sub => a.checked_sub(b),
        Binary::Mul => a.checked_mul(b),
        Binary::FloorDiv => a.checked_div_euclid(b).map(|q| if b < 0 && a.rem_euclid(b) != 0 { q - 1 } else { q }),
        Binary::Mod => a.checked_rem(b).map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r }),
        Binary::Pow if b < 0 => return float_operation(operator, a as f64, b as f64),
        Binary::Pow => match (a, u32::try_from(b)) {
            (0 | 1, _) => Some(if b == 0 { 1 } else { a }),
            (-1, _) => Some(if b % 2 == 0 { 1 } else { -1 }),
            (_, Ok(b)) => a.checked_pow(b),
            _ => None,
        },
    };
    match result {
        Some(value) => Ok(Value::Int(value)),
        None => fail("an int is too large (more than 127 bits)"),
    }
}

fn float_operation(operator: Binary, a: f64, b: f64) -> Outcome<Value> {
    let remainder = |a: f64, b: f64| {
        let r = a % b;
        if r != 0.0 {
            if (r < 0.0) != (b < 0.0) { r + b } else { r }
        } else {
            0f64.copysign(b)
        }
    };
    Ok(Value::Float(match operator {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div | Binary::FloorDiv | Binary::Mod if b == 0.0 => return fail("float division by zero"),
        Binary::Div => a / b,
        Binary::Mod => remainder(a, b),
        Binary::FloorDiv => {
            let quotient = (a - remainder(a, b)) / b;
            let floor = quotient.floor();
            match quotient {
                0.0 => 0f64.copysign(a / b),
                _ if quotient - floor > 0.5 => floor + 1.0,
                _ => floor,
            }
        }
        Binary::Pow if a == 0.0 && b < 0.0 => return fail("0.0 cannot be raised to a negative power"),
        Binary::Pow if a < 0.0 && b.fract() != 0.0 && a.is_finite() => {
            return fail("a negative number to a fractional power is complex");
        }
        Binary::Pow => match a.powf(b) {
            power if power.is_infinite() && a.is_finite() && b.is_finite() => return fail("a power is too large"),
            power => power,
        },
    }))
}

/// A Python index as a place, if it is inside.
fn place(index: i128, count: usize) -> Option<usize> {
    let index = if index < 0 { index + count as i128 } else { index };
    usize::try_from(index).ok().filter(|at| *at < count)
}

struct Picks {
    from: i128,
    step: i128,
    count: usize,
}

impl Picks {
    fn len(&self) -> usize {
        self.count
    }

    fn map<T>(self, mut pick: impl FnMut(usize) -> T) -> impl Iterator<Item = T> {
        (0..self.count as i128).map(move |index| pick((self.from + index * self.step) as usize))
    }
}

/// slice(*bounds).indices(count)
fn slice_indices(bounds: [Option<i128>; 3], count: i128) -> Picks {
    let step = bounds[2].unwrap_or(1).clamp(-(1 << 40), 1 << 40);
    let (low, high) = if step > 0 { (0, count) } else { (-1, count - 1) };
    let bound = |value: i128| (if value < 0 { value.saturating_add(count) } else { value }).clamp(low, high);
    let from = bounds[0].map_or(if step > 0 { low } else { high }, bound);
    let to = bounds[1].map_or(if step > 0 { high } else { low }, bound);
    Picks { from, step, count: range_size(from, to, step) as usize }
}

fn slice_text(text: &str, picks: Picks) -> String {
    if picks.step == 1 {
        let from = text::byte_of(text, picks.from as usize);
        let rest = &text[from..];
        return rest[..text::byte_of(rest, picks.count)].to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    picks.map(|at| chars[at]).collect()
}
