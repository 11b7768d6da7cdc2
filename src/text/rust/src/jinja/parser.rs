//! Tokens to statements, by jinja2's grammar with the tags break, continue and generation.

use std::sync::Arc;

use super::ast::*;
use super::budget::{Fail, Outcome};
use super::expressions::is_end_of_tuple;
use super::lexer::{tokenize, Token};

/// Blocks in blocks, and brackets in brackets.
const MOST_NESTED: usize = 100;

pub struct Parser {
    tokens: Vec<(Token, u32)>,
    at: usize,
    nested: usize,
    pub soft: usize, // in a branch: an unknown filter is an error only when it is reached, as in jinja2
    loops: usize,    // loops around, within the same macro
    pub macros: Vec<Macro>,
}

pub struct Parsed {
    pub body: Vec<Stmt>,
    pub macros: Vec<Macro>,
}

pub fn parse(source: &str) -> Outcome<Parsed> {
    let mut parser =
        Parser { tokens: tokenize(source)?, at: 0, nested: 0, soft: 0, loops: 0, macros: Vec::new() };
    let (body, _) = parser.block(&[])?;
    Ok(Parsed { body, macros: parser.macros })
}

impl Parser {
    pub fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub fn peek_next(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub fn line(&self) -> u32 {
        self.tokens[self.at].1
    }

    pub fn next(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub fn fail<T>(&self, message: impl Into<String>) -> Outcome<T> {
        Err(Fail::new(message).at(self.line()))
    }

    pub fn unexpected<T>(&self, wanted: &str) -> Outcome<T> {
        let found = match self.peek() {
            Token::Data(_) => "text".into(),
            Token::End => "the end of the template".into(),
            Token::BlockBegin => "'{%'".into(),
            Token::BlockEnd => "'%}'".into(),
            Token::VariableBegin => "'{{'".into(),
            Token::VariableEnd => "'}}'".into(),
            Token::Name(name) => format!("'{name}'"),
            Token::Str(_) => "a string".into(),
            Token::Int(value) => format!("{value}"),
            Token::Float(value) => format!("{value}"),
            Token::Operator(operator) => format!("'{operator}'"),
        };
        self.fail(format!("{wanted} is expected, not {found}"))
    }

    pub fn is_operator(&self, operator: &str) -> bool {
        matches!(self.peek(), Token::Operator(found) if *found == operator)
    }

    pub fn skip_operator(&mut self, operator: &str) -> bool {
        let found = self.is_operator(operator);
        if found {
            self.next();
        }
        found
    }

    pub fn expect_operator(&mut self, operator: &str) -> Outcome<()> {
        if self.skip_operator(operator) { Ok(()) } else { self.unexpected(&format!("'{operator}'")) }
    }

    pub fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Token::Name(found) if &**found == name)
    }

    pub fn skip_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        if found {
            self.next();
        }
        found
    }

    pub fn expect_name(&mut self) -> Outcome<Arc<str>> {
        match self.peek() {
            Token::Name(name) => {
                let name = name.clone();
                self.next();
                Ok(name)
            }
            _ => self.unexpected("a name"),
        }
    }

    pub fn expect(&mut self, token: Token, wanted: &str) -> Outcome<()> {
        if *self.peek() != token {
            return self.unexpected(wanted);
        }
        self.next();
        Ok(())
    }

    pub fn nest<T>(&mut self, parse: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if self.nested >= MOST_NESTED {
            return self.fail(format!("the template nests more than {MOST_NESTED} levels deep"));
        }
        self.nested += 1;
        let parsed = parse(self);
        self.nested -= 1;
        parsed
    }

    /// Statements up to a tag with one of the names `ends`, and that name; the tag's rest is left.
    fn block(&mut self, ends: &[&str]) -> Outcome<(Vec<Stmt>, Arc<str>)> {
        let opened = self.line();
        let mut body = Vec::new();
        loop {
            let line = self.line();
            match self.next() {
                Token::Data(text) => body.push(Stmt { line, kind: StmtKind::Data(text) }),
                Token::VariableBegin => {
                    let value = self.tuple(true, &[])?;
                    self.expect(Token::VariableEnd, "'}}'")?;
                    body.push(Stmt { line, kind: StmtKind::Output(value) });
                }
                Token::BlockBegin => {
                    let name = self.expect_name()?;
                    if ends.contains(&&*name) {
                        return Ok((body, name));
                    }
                    let kind = self.nest(|parser| parser.statement(&name))?;
                    self.expect(Token::BlockEnd, "'%}'")?;
                    body.push(Stmt { line, kind });
                }
                Token::End if ends.is_empty() => return Ok((body, "".into())),
                _ => {
                    let wanted = ends.join(" or ");
                    return Err(Fail::new(format!("the block is not closed: {wanted} is missing")).at(opened));
                }
            }
        }
    }

    fn body(&mut self, ends: &[&str]) -> Outcome<(Vec<Stmt>, Arc<str>)> {
        self.expect(Token::BlockEnd, "'%}'")?;
        self.block(ends)
    }

    fn statement(&mut self, name: &str) -> Outcome<StmtKind> {
        match name {
            "if" => self.if_block(),
            "for" => self.for_block(),
            "set" => self.set(),
            "with" => self.with(),
            "macro" => self.macro_block(),
            "call" => self.call_block(),
            "filter" => self.filter_block(),
            "generation" => {
                let loops = std::mem::take(&mut self.loops);
                let body = self.body(&["endgeneration"])?.0;
                self.loops = loops;
                Ok(StmtKind::Scope(body))
            }
            "print" => Ok(StmtKind::Output(self.tuple(true, &[])?)),
            "break" | "continue" if self.loops == 0 => self.fail(format!("'{name}' stands outside a loop")),
            "break" => Ok(StmtKind::Break),
            "continue" => Ok(StmtKind::Continue),
            "block" | "extends" | "include" | "import" | "from" | "autoescape" => {
                self.fail(format!("the tag '{name}' is not supported in a chat template"))
            }
            _ => self.fail(format!("unknown tag: '{name}'")),
        }
    }

    fn if_block(&mut self) -> Outcome<StmtKind> {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            let test = self.tuple(false, &[])?;
            self.soft += 1;
            let (body, end) = self.body(&["elif", "else", "endif"])?;
            branches.push((test, body));
            if &*end == "else" {
                otherwise = self.body(&["endif"])?.0;
            }
            self.soft -= 1;
            if &*end != "elif" {
                return Ok(StmtKind::If(branches, otherwise));
            }
        }
    }

    fn for_block(&mut self) -> Outcome<StmtKind> {
        let target = self.target(&["in"])?;
        if !self.skip_name("in") {
            return self.unexpected("'in'");
        }
        let over = self.tuple(false, &["recursive"])?;
        let condition = if self.skip_name("if") { Some(self.expression()?) } else { None };
        let recursive = self.skip_name("recursive");
        let from = self.at;
        self.loops += 1;
        let (body, end) = self.body(&["endfor", "else"])?;
        self.loops -= 1;
        let uses_loop = recursive || self.names_since(from, "loop");
        let otherwise = if &*end == "else" { self.body(&["endfor"])?.0 } else { Vec::new() };
        Ok(StmtKind::For(Box::new(For { target, over, condition, recursive, uses_loop, body, otherwise })))
    }

    fn names_since(&self, from: usize, name: &str) -> bool {
        self.tokens[from..self.at].iter().any(|(token, _)| matches!(token, Token::Name(n) if &**n == name))
    }

    fn target(&mut self, ends: &[&str]) -> Outcome<Target> {
        let mut targets = Vec::new();
        let mut is_tuple = false;
        loop {
            if is_end_of_tuple(self.peek(), ends) {
                break;
            }
            targets.push(self.nest(|parser| parser.one_target())?);
            if !self.skip_operator(",") {
                break;
            }
            is_tuple = true;
        }
        match targets.pop() {
            Some(target) if !is_tuple => Ok(target),
            Some(target) => {
                targets.push(target);
                Ok(Target::Tuple(targets))
            }
            None => self.unexpected("a name"),
        }
    }

    fn one_target(&mut self) -> Outcome<Target> {
        if self.skip_operator("(") {
            let target = self.target(&[])?;
            self.expect_operator(")")?;
            return Ok(target);
        }
        let name = self.expect_name()?;
        if ["true", "false", "none", "True", "False", "None"].contains(&&*name) {
            return self.fail(format!("'{name}' cannot be assigned to"));
        }
        if self.skip_operator(".") {
            return Ok(Target::Attr(name, self.expect_name()?));
        }
        Ok(Target::Name(name))
    }

    fn set(&mut self) -> Outcome<StmtKind> {
        let target = self.target(&[])?;
        if self.skip_operator("=") {
            return Ok(StmtKind::Set(target, self.tuple(true, &[])?));
        }
        let filter = if self.is_operator("|") { Some(self.filters_of_collected(false)?) } else { None };
        let body = self.body(&["endset"])?.0;
        Ok(StmtKind::SetBlock(target, filter, body))
    }

    fn with(&mut self) -> Outcome<StmtKind> {
        let mut pairs = Vec::new();
        while *self.peek() != Token::BlockEnd {
            if !pairs.is_empty() {
                self.expect_operator(",")?;
            }
            let target = self.one_target()?;
            self.expect_operator("=")?;
            pairs.push((target, self.expression()?));
        }
        Ok(StmtKind::With(pairs, self.body(&["endwith"])?.0))
    }

    fn macro_block(&mut self) -> Outcome<StmtKind> {
        let name = self.expect_name()?;
        Ok(StmtKind::Macro(self.macro_rest(name, true, "endmacro")?))
    }

    fn macro_rest(&mut self, name: Arc<str>, signature: bool, end: &str) -> Outcome<usize> {
        let (parameters, defaults) = if signature { self.signature()? } else { Default::default() };
        self.macro_body(name, parameters, defaults, end)
    }

    fn macro_body(
        &mut self,
        name: Arc<str>,
        parameters: Vec<Arc<str>>,
        defaults: Vec<Expr>,
        end: &str,
    ) -> Outcome<usize> {
        let from = self.at;
        let loops = std::mem::take(&mut self.loops);
        let body = self.body(&[end])?.0;
        self.loops = loops;
        let uses = |name: &str| self.names_since(from, name);
        let definition = Macro {
            uses_caller: uses("caller"),
            uses_varargs: uses("varargs"),
            uses_kwargs: uses("kwargs"),
            name,
            parameters,
            defaults,
            body,
        };
        self.macros.push(definition);
        Ok(self.macros.len() - 1)
    }

    fn signature(&mut self) -> Outcome<(Vec<Arc<str>>, Vec<Expr>)> {
        self.expect_operator("(")?;
        let (mut parameters, mut defaults) = (Vec::new(), Vec::new());
        while !self.is_operator(")") {
            if !parameters.is_empty() {
                self.expect_operator(",")?;
            }
            parameters.push(self.expect_name()?);
            if self.skip_operator("=") {
                defaults.push(self.expression()?);
            } else if !defaults.is_empty() {
                return self.fail("a parameter without a default stands after one with a default");
            }
        }
        self.next();
        Ok((parameters, defaults))
    }

    fn call_block(&mut self) -> Outcome<StmtKind> {
        let (parameters, defaults) =
            if self.is_operator("(") { self.signature()? } else { Default::default() };
        let call = self.expression()?;
        if !matches!(call.kind, ExprKind::Call(..)) {
            return self.fail("the tag 'call' needs a call");
        }
        let caller = self.macro_body("caller".into(), parameters, defaults, "endcall")?;
        Ok(StmtKind::CallBlock(call, caller))
    }

    fn filter_block(&mut self) -> Outcome<StmtKind> {
        let filter = self.filters_of_collected(true)?;
        Ok(StmtKind::FilterBlock(filter, self.body(&["endfilter"])?.0))
    }

    /// `|a|b`, or with `bare` `a|b`, over the text that the block collects.
    fn filters_of_collected(&mut self, bare: bool) -> Outcome<Expr> {
        let collected = Expr { line: self.line(), depth: 1, kind: ExprKind::Collected };
        let mut value = collected;
        let mut first = bare;
        while first || self.is_operator("|") {
            if !first {
                self.next();
            }
            first = false;
            value = self.one_filter(value)?;
        }
        Ok(value)
    }
}
