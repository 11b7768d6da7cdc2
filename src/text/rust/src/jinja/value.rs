//! What a template computes with: Python's values, immutable, with a bounded depth.
//!
//! Whatever can change (namespaces, loops, iterators that are used up) lies in the renderer's arena and is
//! named here by its place, so that no value can hold itself and dropping one cannot recurse far.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::budget::{Budget, Fail, Outcome};

/// Lists in lists: deeper ones are refused, which bounds every walk over a value.
pub const MOST_NESTED: u32 = 200;

#[derive(Clone)]
pub enum Value {
    /// With what to say when it is used: "'x' is undefined".
    Undefined(Rc<str>),
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(Arc<str>),
    /// What `safe` and `escape` give: a string that `+` and `%` escape for.
    Markup(Arc<str>),
    List(Rc<Sequence>),
    Tuple(Rc<Sequence>),
    Dict(Rc<Dict>),
    /// dict.keys(), dict.values(), dict.items()
    View(&'static str, Rc<Sequence>),
    Range(Rc<[i128; 3]>), // from, to, step
    Method(Rc<(Value, &'static str)>),
    Function(&'static str),
    Macro(Rc<MacroValue>),
    /// In the renderer's arena.
    Object(Kind, usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Namespace,
    Loop,
    Iterator,
    Cycler,
    Joiner,
}

pub struct MacroValue {
    pub definition: usize, // in Template::macros
    pub scope: usize,      // where it was defined
}

pub struct Sequence {
    pub items: Vec<Value>,
    depth: u32,
}

pub struct Dict {
    pub entries: Vec<(Value, Value)>,
    index: HashMap<Key, usize>,
    depth: u32,
}

/// A dict's key as Python compares it: 1, 1.0 and true are one key.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Key {
    None,
    Int(i128),
    Float(u64),
    Str(Arc<str>),
    Tuple(Vec<Key>),
    Other(u8, usize),
}

pub fn text(text: &str) -> Value {
    Value::Str(text.into())
}

fn depth_above<'a>(items: impl Iterator<Item = &'a Value>) -> Outcome<u32> {
    let depth = 1 + items.map(Value::depth).max().unwrap_or(0);
    if depth > MOST_NESTED {
        return Err(Fail::new(format!("a value is nested more than {MOST_NESTED} deep")));
    }
    Ok(depth)
}

impl Sequence {
    pub fn new(items: Vec<Value>) -> Outcome<Rc<Self>> {
        let depth = depth_above(items.iter())?;
        Ok(Rc::new(Self { items, depth }))
    }
}

impl Dict {
    /// A later value of the same key replaces the earlier one, in its place.
    pub fn new(pairs: impl IntoIterator<Item = (Value, Value)>) -> Outcome<Rc<Self>> {
        let mut entries: Vec<(Value, Value)> = Vec::new();
        let mut index: HashMap<Key, usize> = HashMap::new();
        for (key, value) in pairs {
            match index.entry(Key::of(&key)?) {
                std::collections::hash_map::Entry::Occupied(at) => entries[*at.get()].1 = value,
                std::collections::hash_map::Entry::Vacant(free) => {
                    free.insert(entries.len());
                    entries.push((key, value));
                }
            }
        }
        let depth = depth_above(entries.iter().map(|(_, value)| value))?;
        let key_depth = depth_above(entries.iter().map(|(key, _)| key))?;
        Ok(Rc::new(Self { entries, index, depth: depth.max(key_depth) }))
    }

    pub fn get(&self, key: &Value) -> Outcome<Option<&Value>> {
        Ok(self.index.get(&Key::of(key)?).map(|at| &self.entries[*at].1))
    }

    pub fn get_str(&self, key: &str) -> Option<&Value> {
        self.index.get(&Key::Str(key.into())).map(|at| &self.entries[*at].1)
    }
}

impl Key {
    pub fn of(value: &Value) -> Outcome<Self> {
        Ok(match value {
            Value::None => Key::None,
            Value::Bool(value) => Key::Int(*value as i128),
            Value::Int(value) => Key::Int(*value),
            Value::Float(value) if value.fract() == 0.0 && value.abs() < 1e30 => Key::Int(*value as i128),
            Value::Float(value) => Key::Float(value.to_bits()),
            Value::Str(value) | Value::Markup(value) => Key::Str(value.clone()),
            Value::Tuple(value) => Key::Tuple(value.items.iter().map(Key::of).collect::<Outcome<_>>()?),
            Value::Object(kind, at) => Key::Other(*kind as u8, *at),
            Value::Undefined(_) => Key::Other(100, 0),
            Value::Macro(value) => Key::Other(101, Rc::as_ptr(value) as usize),
            Value::Function(name) => Key::Other(102, name.as_ptr() as usize),
            other => return Err(Fail::new(format!("unhashable type: '{}'", other.type_name()))),
        })
    }
}

impl Value {
    pub fn depth(&self) -> u32 {
        match self {
            Value::List(value) | Value::Tuple(value) | Value::View(_, value) => value.depth,
            Value::Dict(value) => value.depth,
            Value::Method(value) => value.0.depth() + 1,
            _ => 0,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(value) | Value::Markup(value) => Some(value),
            _ => None,
        }
    }

    /// An int or a bool, which Python takes for one.
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Value::Int(value) => Some(*value),
            Value::Bool(value) => Some(*value as i128),
            _ => None,
        }
    }

    pub fn as_float(&self) -> Option<f64> {
        match self {
            Value::Float(value) => Some(*value),
            _ => self.as_int().map(|value| value as f64),
        }
    }

    pub fn is_undefined(&self) -> bool {
        matches!(self, Value::Undefined(_))
    }

    pub fn is_string(&self) -> bool {
        matches!(self, Value::Str(_) | Value::Markup(_))
    }

    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Undefined(_) => "Undefined",
            Value::None => "NoneType",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::Markup(_) => "Markup",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Dict(_) => "dict",
            Value::View(name, _) => name,
            Value::Range(..) => "range",
            Value::Method(_) => "method",
            Value::Function(_) => "function",
            Value::Macro(_) => "Macro",
            Value::Object(Kind::Namespace, _) => "Namespace",
            Value::Object(Kind::Loop, _) => "LoopContext",
            Value::Object(Kind::Iterator, _) => "generator",
            Value::Object(Kind::Cycler, _) => "Cycler",
            Value::Object(Kind::Joiner, _) => "Joiner",
        }
    }

    pub fn is_true(&self) -> bool {
        match self {
            Value::Undefined(_) | Value::None => false,
            Value::Bool(value) => *value,
            Value::Int(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Str(value) | Value::Markup(value) => !value.is_empty(),
            Value::List(value) | Value::Tuple(value) | Value::View(_, value) => !value.items.is_empty(),
            Value::Dict(value) => !value.entries.is_empty(),
            Value::Range(range) => range_size(range[0], range[1], range[2]) > 0,
            _ => true, // a generator is true even when it holds nothing
        }
    }

    /// Error: the value is undefined and was used as more than something to print.
    pub fn defined(&self) -> Outcome<&Self> {
        match self {
            Value::Undefined(why) => Err(Fail::new(why.to_string())),
            value => Ok(value),
        }
    }
}

pub fn range_size(from: i128, to: i128, step: i128) -> i128 {
    if step > 0 {
        (to - from + step - 1).max(0) / step
    } else {
        (from - to - step - 1).max(0) / -step
    }
}

/// Python's ==: never an error.
pub fn equal(budget: &Budget, a: &Value, b: &Value) -> Outcome<bool> {
    budget.burn(1)?;
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return Ok(a == b);
    }
    if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
        return Ok(a == b);
    }
    if a.as_float().is_some() && b.as_float().is_some() {
        return Ok(order_numbers(a, b) == Some(std::cmp::Ordering::Equal));
    }
    match (a, b) {
        (Value::None, Value::None) | (Value::Undefined(_), Value::Undefined(_)) => Ok(true),
        (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => {
            equal_lists(budget, &a.items, &b.items)
        }
        (Value::Dict(a), Value::Dict(b)) => {
            if a.entries.len() != b.entries.len() {
                return Ok(false);
            }
            for (key, value) in &a.entries {
                match b.get(key)? {
                    Some(other) if equal(budget, value, other)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Value::Range(a), Value::Range(b)) => {
            let [size, other] = [a, b].map(|range| range_size(range[0], range[1], range[2]));
            Ok(size == other && (size == 0 || (a[0] == b[0] && (size == 1 || a[2] == b[2]))))
        }
        (Value::Object(kind, at), Value::Object(other, place)) => Ok(kind == other && at == place),
        (Value::Macro(a), Value::Macro(b)) => Ok(Rc::ptr_eq(a, b)),
        (Value::Function(a), Value::Function(b)) => Ok(a == b),
        (Value::View("dict_values", _), _) => Ok(false),
        (Value::View(name, a), Value::View(other, b)) if name == other => equal_lists(budget, &a.items, &b.items),
        _ => Ok(false),
    }
}

fn equal_lists(budget: &Budget, a: &[Value], b: &[Value]) -> Outcome<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (a, b) in a.iter().zip(b) {
        if !equal(budget, a, b)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn order_numbers(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    const EXACT: i128 = 1 << 53;
    if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
        return Some(a.cmp(&b));
    }
    let (x, y) = (a.as_float()?, b.as_float()?);
    // A large int must not be rounded before it is compared with a float of its size.
    for (int, float, flip) in [(a.as_int(), y, false), (b.as_int(), x, true)] {
        if let Some(int) = int {
            if int.abs() > EXACT && float.abs() < 1e38 && float.fract() == 0.0 {
                let order = int.cmp(&(float as i128));
                return Some(if flip { order.reverse() } else { order });
            }
        }
    }
    x.partial_cmp(&y)
}

/// Python's < and its kin; None where a NaN is unordered. Error: types that have no order.
pub fn order(budget: &Budget, a: &Value, b: &Value) -> Outcome<Option<std::cmp::Ordering>> {
    budget.burn(1)?;
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return Ok(Some(a.cmp(b)));
    }
    if a.as_float().is_some() && b.as_float().is_some() {
        return Ok(order_numbers(a, b));
    }
    match (a.defined()?, b.defined()?) {
        (Value::List(a), Value::List(b)) | (Value::Tuple(a), Value::Tuple(b)) => {
            for (a, b) in a.items.iter().zip(&b.items) {
                if !equal(budget, a, b)? {
                    return order(budget, a, b);
                }
            }
            Ok(Some(a.items.len().cmp(&b.items.len())))
        }
        _ => Err(Fail::new(format!(
            "no order between values of types '{}' and '{}'",
            a.type_name(),
            b.type_name()
        ))),
    }
}
