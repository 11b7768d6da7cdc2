//! Executes a template's statements. Everything that changes while it does lies here.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::ast::*;
use super::budget::{fail, Budget, Outcome};
use super::clock::Clock;
use super::functions;
use super::parser::Parsed;
use super::print::Printer;
use super::value::*;

/// Arguments of a call, evaluated.
#[derive(Default, Clone)]
pub struct Given {
    pub positional: Vec<Value>,
    pub keywords: Vec<(Arc<str>, Value)>,
}

impl Given {
    /// One value or none for each parameter; those with an empty name are taken by place only.
    pub fn bind<const N: usize>(self, what: &str, parameters: [&str; N], required: usize) -> Outcome<[Option<Value>; N]> {
        let mut out: [Option<Value>; N] = std::array::from_fn(|_| None);
        let count = self.positional.len();
        if count > N {
            return fail(format!("{what} takes at most {N} arguments, {count} are given"));
        }
        for (place, value) in out.iter_mut().zip(self.positional) {
            *place = Some(value);
        }
        for (name, value) in self.keywords {
            match parameters.iter().position(|parameter| !parameter.is_empty() && **parameter == *name) {
                Some(at) if out[at].is_none() => out[at] = Some(value),
                Some(_) => return fail(format!("{what}: the argument '{name}' is given twice")),
                None => return fail(format!("{what} has no argument '{name}'")),
            }
        }
        match out.iter().take(required).position(Option::is_none) {
            Some(at) => fail(format!("{what} lacks its argument {}", at + 1)),
            None => Ok(out),
        }
    }
}

#[derive(PartialEq)]
enum Flow {
    On,
    Break,
    Continue,
}

pub enum Object<'t> {
    Namespace(Vec<(Value, Value)>),
    Loop(Loop<'t>),
    /// What is left of a generator.
    Iterator(std::vec::IntoIter<Value>),
    Cycler(Vec<Value>, usize),
    Joiner(Value, bool),
}

pub struct Loop<'t> {
    pub items: Rc<Vec<Value>>,
    pub index: usize,
    pub depth: usize,
    pub changed: Option<Vec<Value>>,
    node: &'t For,
    scope: usize,
}

#[derive(Default)]
pub struct Arena<'t> {
    pub objects: RefCell<Vec<Object<'t>>>,
}

impl Arena<'_> {
    pub fn fields(&self, at: usize) -> Vec<(Value, Value)> {
        match &self.objects.borrow()[at] {
            Object::Namespace(fields) => fields.clone(),
            _ => Vec::new(),
        }
    }

    pub fn loop_text(&self, at: usize) -> String {
        match &self.objects.borrow()[at] {
            Object::Loop(state) => format!("<LoopContext {}/{}>", state.index + 1, state.items.len()),
            _ => String::new(),
        }
    }
}

struct Scope {
    variables: HashMap<Arc<str>, Value>,
    parent: Option<usize>,
}

pub struct Render<'t> {
    template: &'t Parsed,
    context: HashMap<Arc<str>, Value>,
    pub clock: Clock,
    pub budget: Budget,
    pub arena: Arena<'t>,
    scopes: RefCell<Vec<Scope>>,
    kept_scopes: Cell<usize>, // those that a macro may still name
    collected: RefCell<Vec<Value>>,
}

impl<'t> Render<'t> {
    pub fn new(template: &'t Parsed, context_bytes: usize, clock: Clock) -> Self {
        Self {
            template,
            context: HashMap::new(),
            clock,
            budget: Budget::new(context_bytes),
            arena: Arena::default(),
            scopes: RefCell::default(),
            kept_scopes: Cell::new(0),
            collected: RefCell::default(),
        }
    }

    pub fn define(&mut self, name: &str, value: Value) {
        self.context.insert(name.into(), value);
    }

    pub fn run(&self) -> Outcome<String> {
        let scope = self.open_scope(None)?;
        let mut out = String::new();
        self.body(&self.template.body, scope, &mut out)?;
        Ok(out)
    }

    // ---- values ----

    pub fn text(&self, text: String) -> Outcome<Value> {
        self.budget.charge(text.len() + 32)?;
        Ok(Value::Str(text.into()))
    }

    pub fn list(&self, items: Vec<Value>) -> Outcome<Value> {
        self.budget.charge(items.len() * 32 + 32)?;
        Ok(Value::List(Sequence::new(items)?))
    }

    pub fn tuple(&self, items: Vec<Value>) -> Outcome<Value> {
        self.budget.charge(items.len() * 32 + 32)?;
        Ok(Value::Tuple(Sequence::new(items)?))
    }

    pub fn dict(&self, pairs: Vec<(Value, Value)>) -> Outcome<Value> {
        self.budget.charge(pairs.len() * 128 + 64)?;
        Ok(Value::Dict(Dict::new(pairs)?))
    }

    pub fn object(&self, kind: Kind, object: Object<'t>) -> Outcome<Value> {
        self.budget.charge(128)?;
        let mut objects = self.arena.objects.borrow_mut();
        objects.push(object);
        Ok(Value::Object(kind, objects.len() - 1))
    }

    pub fn generator(&self, items: Vec<Value>) -> Outcome<Value> {
        self.budget.charge(items.len() * 32)?;
        self.object(Kind::Iterator, Object::Iterator(items.into_iter()))
    }

    fn printer(&self) -> Printer<'_, 't> {
        Printer { budget: &self.budget, arena: &self.arena }
    }

    pub fn str(&self, value: &Value) -> Outcome<String> {
        let mut out = String::new();
        self.printer().str(value, &mut out)?;
        Ok(out)
    }

    pub fn repr(&self, value: &Value) -> Outcome<String> {
        let mut out = String::new();
        self.printer().repr(value, &mut out, 0)?;
        Ok(out)
    }

    // ---- names ----

    fn open_scope(&self, parent: Option<usize>) -> Outcome<usize> {
        self.budget.burn(1)?;
        let mut scopes = self.scopes.borrow_mut();
        scopes.push(Scope { variables: HashMap::new(), parent });
        Ok(scopes.len() - 1)
    }

    fn close_scope(&self, scope: usize) {
        if scope >= self.kept_scopes.get() {
            self.scopes.borrow_mut().truncate(scope);
        }
    }

    fn in_scope<T>(&self, parent: usize, work: impl FnOnce(usize) -> Outcome<T>) -> Outcome<T> {
        let scope = self.open_scope(Some(parent))?;
        let done = work(scope);
        self.close_scope(scope);
        done
    }

    fn store(&self, scope: usize, name: &Arc<str>, value: Value) {
        self.scopes.borrow_mut()[scope].variables.insert(name.clone(), value);
    }

    pub fn lookup(&self, scope: usize, name: &str) -> Value {
        let scopes = self.scopes.borrow();
        let mut at = Some(scope);
        while let Some(scope) = at {
            if let Some(value) = scopes[scope].variables.get(name) {
                return value.clone();
            }
            at = scopes[scope].parent;
        }
        if let Some(value) = self.context.get(name) {
            return value.clone();
        }
        match functions::named(name) {
            Some(function) => Value::Function(function),
            None => Value::Undefined(format!("'{name}' is undefined").into()),
        }
    }

    fn assign(&self, scope: usize, target: &Target, value: Value) -> Outcome<()> {
        match target {
            Target::Name(name) => {
                self.store(scope, name, value);
                Ok(())
            }
            Target::Attr(name, field) => match self.lookup(scope, name) {
                Value::Object(Kind::Namespace, at) => {
                    self.budget.charge(64)?;
                    let mut objects = self.arena.objects.borrow_mut();
                    let Object::Namespace(fields) = &mut objects[at] else { return fail("not a namespace") };
                    match fields.iter_mut().find(|(key, _)| key.as_str() == Some(field)) {
                        Some((_, place)) => *place = value,
                        None => fields.push((Value::Str(field.clone()), value)),
                    }
                    Ok(())
                }
                _ => fail(format!("'{name}.{field}' cannot be set: only a namespace takes attributes")),
            },
            Target::Tuple(targets) => {
                let items = self.iterate(value.defined()?)?;
                if items.len() != targets.len() {
                    let (have, want) = (items.len(), targets.len());
                    return fail(format!("{have} values cannot be unpacked into {want} names"));
                }
                for (target, item) in targets.iter().zip(items) {
                    self.assign(scope, target, item)?;
                }
                Ok(())
            }
        }
    }

    // ---- statements ----

    fn body(&self, body: &'t [Stmt], scope: usize, out: &mut String) -> Outcome<Flow> {
        for stmt in body {
            let flow = self.statement(stmt, scope, out).map_err(|fail| fail.at(stmt.line))?;
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    fn statement(&self, stmt: &'t Stmt, scope: usize, out: &mut String) -> Outcome<Flow> {
        let _level = self.budget.enter()?;
        match &stmt.kind {
            StmtKind::Data(text) => {
                self.budget.charge(text.len())?;
                out.push_str(text);
            }
            StmtKind::Output(value) => {
                let value = self.eval(value, scope)?;
                self.printer().str(&value, out)?;
            }
            StmtKind::If(branches, otherwise) => {
                for (test, body) in branches {
                    if self.eval(test, scope)?.is_true() {
                        return self.body(body, scope, out);
                    }
                }
                return self.body(otherwise, scope, out);
            }
            StmtKind::For(node) => {
                let items = self.eval(&node.over, scope)?;
                self.for_loop(node, &items, scope, 0, out)?;
            }
            StmtKind::Set(target, value) => {
                let value = self.eval(value, scope)?;
                self.assign(scope, target, value)?;
            }
            StmtKind::SetBlock(target, filter, body) => {
                let value = self.collect(body, scope, filter.as_ref())?;
                self.assign(scope, target, value)?;
            }
            StmtKind::FilterBlock(filter, body) => {
                let value = self.collect(body, scope, Some(filter))?;
                if !value.is_string() {
                    return fail(format!("a filter block makes a {}, not a string", value.type_name()));
                }
                self.printer().str(&value, out)?;
            }
            StmtKind::With(pairs, body) => return self.with(pairs, body, scope, out),
            StmtKind::Scope(body) => {
                self.in_scope(scope, |inner| self.body(body, inner, out))?;
            }
            StmtKind::Macro(definition) => {
                let name = &self.template.macros[*definition].name;
                let value = self.macro_value(*definition, scope)?;
                self.store(scope, name, value);
            }
            StmtKind::CallBlock(call, caller) => {
                let value = self.call_block(call, *caller, scope)?;
                self.printer().str(&value, out)?;
            }
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::On)
    }

    fn macro_value(&self, definition: usize, scope: usize) -> Outcome<Value> {
        self.budget.charge(256)?; // with the scope that stays
        self.kept_scopes.set(self.kept_scopes.get().max(scope + 1));
        Ok(Value::Macro(Rc::new(MacroValue { definition, scope })))
    }

    /// The text that a block makes, through its filters.
    fn collect(&self, body: &'t [Stmt], scope: usize, filter: Option<&'t Expr>) -> Outcome<Value> {
        let mut text = String::new();
        self.in_scope(scope, |inner| self.body(body, inner, &mut text))?;
        let text = self.text(text)?;
        let Some(filter) = filter else { return Ok(text) };
        self.collected.borrow_mut().push(text);
        let value = self.eval(filter, scope);
        self.collected.borrow_mut().pop();
        value
    }

    fn with(&self, pairs: &'t [(Target, Expr)], body: &'t [Stmt], scope: usize, out: &mut String) -> Outcome<Flow> {
        let mut values = Vec::new();
        for (_, value) in pairs {
            values.push(self.eval(value, scope)?);
        }
        self.in_scope(scope, |inner| {
            for ((target, _), value) in pairs.iter().zip(values) {
                self.assign(inner, target, value)?;
            }
            self.body(body, inner, out)
        })
    }

    fn call_block(&self, call: &'t Expr, caller: usize, scope: usize) -> Outcome<Value> {
        let ExprKind::Call(callee, args) = &call.kind else { return fail("not a call") };
        let callee = self.eval(callee, scope)?;
        let mut given = self.arguments(args, scope)?;
        given.keywords.push(("caller".into(), self.macro_value(caller, scope)?));
        self.call(&callee, given)
    }

    pub fn for_loop(
        &self,
        node: &'t For,
        over: &Value,
        scope: usize,
        depth: usize,
        out: &mut String,
    ) -> Outcome<()> {
        let mut items = self.iterate(over)?;
        if let Some(condition) = &node.condition {
            let mut kept = Vec::new();
            for item in items {
                let keep = self.in_scope(scope, |inner| {
                    self.assign(inner, &node.target, item.clone())?;
                    Ok(self.eval(condition, inner)?.is_true())
                })?;
                if keep {
                    kept.push(item);
                }
            }
            items = kept;
        }
        if items.is_empty() {
            self.in_scope(scope, |inner| self.body(&node.otherwise, inner, out))?;
            return Ok(());
        }
        let items = Rc::new(items);
        let state = if node.uses_loop {
            let state = Loop { items: items.clone(), index: 0, depth, changed: None, node, scope };
            Some(self.object(Kind::Loop, Object::Loop(state))?)
        } else {
            None
        };
        for (index, item) in items.iter().enumerate() {
            let flow = self.in_scope(scope, |inner| {
                if let Some(Value::Object(_, at)) = &state {
                    if let Object::Loop(state) = &mut self.arena.objects.borrow_mut()[*at] {
                        state.index = index;
                    }
                }
                if let Some(state) = &state {
                    self.store(inner, &"loop".into(), state.clone());
                }
                self.assign(inner, &node.target, item.clone())?;
                self.body(&node.body, inner, out)
            })?;
            if flow == Flow::Break {
                break;
            }
        }
        Ok(())
    }

    // ---- calls ----

    pub fn call(&self, callee: &Value, given: Given) -> Outcome<Value> {
        let _level = self.budget.enter()?;
        match callee {
            Value::Method(method) => super::methods::call(self, &method.0, method.1, given),
            Value::Function(name) => functions::call(self, name, given),
            Value::Macro(value) => self.call_macro(value, given),
            Value::Object(Kind::Loop, at) => self.call_loop(*at, given),
            Value::Object(Kind::Joiner, at) => match &mut self.arena.objects.borrow_mut()[*at] {
                Object::Joiner(separator, used) => {
                    Ok(if std::mem::replace(used, true) { separator.clone() } else { text("") })
                }
                _ => fail("not a joiner"),
            },
            other => fail(format!("'{}' object is not callable", other.defined()?.type_name())),
        }
    }

    fn call_loop(&self, at: usize, given: Given) -> Outcome<Value> {
        let [over] = given.bind("loop", [""], 1)?;
        let (node, scope, depth) = match &self.arena.objects.borrow()[at] {
            Object::Loop(state) if state.node.recursive => (state.node, state.scope, state.depth),
            _ => return fail("'loop' is called, but the block lacks the word 'recursive'"),
        };
        let mut out = String::new();
        self.for_loop(node, &over.unwrap_or(Value::None), scope, depth + 1, &mut out)?;
        self.text(out)
    }

    fn call_macro(&self, value: &MacroValue, mut given: Given) -> Outcome<Value> {
        let definition = &self.template.macros[value.definition];
        let name = &definition.name;
        let mut take = |parameter: &str| {
            let at = given.keywords.iter().position(|(key, _)| &**key == parameter)?;
            Some(given.keywords.remove(at).1)
        };
        let count = definition.parameters.len();
        let mut values = Vec::new();
        for (at, parameter) in definition.parameters.iter().enumerate() {
            values.push(match given.positional.get(at) {
                Some(value) => Some(value.clone()),
                None => take(parameter),
            });
        }
        let own_caller = definition.parameters.iter().any(|parameter| &**parameter == "caller");
        let caller = if definition.uses_caller && !own_caller { Some(take("caller")) } else { None };
        if let (Some((key, _)), false) = (given.keywords.first(), definition.uses_kwargs) {
            return fail(format!("the macro '{name}' takes no argument '{key}'"));
        }
        let more = given.positional.split_off(count.min(given.positional.len()));
        if !more.is_empty() && !definition.uses_varargs {
            return fail(format!("the macro '{name}' takes at most {count} arguments"));
        }
        let mut out = String::new();
        self.in_scope(value.scope, |scope| {
            if let Some(caller) = caller {
                let none = Value::Undefined("No caller defined".into());
                self.store(scope, &"caller".into(), caller.unwrap_or(none));
            }
            if definition.uses_varargs {
                self.store(scope, &"varargs".into(), self.tuple(more)?);
            }
            if definition.uses_kwargs {
                let pairs = given.keywords.iter().map(|(key, value)| (Value::Str(key.clone()), value.clone()));
                self.store(scope, &"kwargs".into(), self.dict(pairs.collect())?);
            }
            let first_default = count - definition.defaults.len();
            for (at, (parameter, value)) in definition.parameters.iter().zip(values).enumerate() {
                let value = match value {
                    Some(value) => value,
                    None if at >= first_default => self.eval(&definition.defaults[at - first_default], scope)?,
                    None => Value::Undefined(format!("parameter '{parameter}' was not provided").into()),
                };
                self.store(scope, parameter, value);
            }
            self.body(&definition.body, scope, &mut out)
        })?;
        self.text(out)
    }

    pub fn macro_definition(&self, value: &MacroValue) -> &'t Macro {
        &self.template.macros[value.definition]
    }

    pub fn last_collected(&self) -> Value {
        self.collected.borrow().last().cloned().unwrap_or_else(|| text(""))
    }
}
