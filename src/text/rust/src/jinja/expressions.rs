//! The expressions' part of the parser; each function is one level of precedence, loosest first.

use std::sync::Arc;

use super::ast::*;
use super::budget::Outcome;
use super::lexer::Token;
use super::parser::Parser;
use super::{filters, tests};

/// Of one expression's tree, which is walked by recursion.
const MOST_DEEP: u32 = 300;

pub fn is_end_of_tuple(token: &Token, ends: &[&str]) -> bool {
    match token {
        Token::VariableEnd | Token::BlockEnd => true,
        Token::Operator(operator) => *operator == ")",
        Token::Name(name) => ends.contains(&&**name),
        _ => false,
    }
}

fn deepest<'a>(parts: impl IntoIterator<Item = &'a Expr>) -> u32 {
    parts.into_iter().map(|part| part.depth).max().unwrap_or(0)
}

fn deepest_of(args: &Args) -> u32 {
    let keywords = args.keywords.iter().map(|(_, value)| value);
    deepest(args.positional.iter().chain(keywords).chain(&args.star).chain(&args.star_star))
}

impl Parser {
    fn make(&self, line: u32, below: u32, kind: ExprKind) -> Outcome<Expr> {
        if below >= MOST_DEEP {
            return self.fail(format!("an expression is more than {MOST_DEEP} levels deep"));
        }
        Ok(Expr { line, depth: below + 1, kind })
    }

    /// `a` or `a, b`, up to the end of a tag or one of the names `ends`.
    pub fn tuple(&mut self, conditional: bool, ends: &[&str]) -> Outcome<Expr> {
        self.tuple_in(conditional, ends, false)
    }

    fn tuple_in(&mut self, conditional: bool, ends: &[&str], brackets: bool) -> Outcome<Expr> {
        let line = self.line();
        let mut items = Vec::new();
        let mut is_tuple = false;
        while !is_end_of_tuple(self.peek(), ends) {
            items.push(if conditional { self.expression()? } else { self.nest(Self::or)? });
            if !self.skip_operator(",") {
                break;
            }
            is_tuple = true;
        }
        if !is_tuple {
            if let Some(item) = items.pop() {
                return Ok(item);
            }
            if !brackets {
                return self.unexpected("an expression");
            }
        }
        self.make(line, deepest(&items), ExprKind::Tuple(items))
    }

    pub fn expression(&mut self) -> Outcome<Expr> {
        self.nest(Self::conditional)
    }

    fn conditional(&mut self) -> Outcome<Expr> {
        let mut line = self.line();
        let mut value = self.or()?;
        while self.skip_name("if") {
            let test = self.or()?;
            let otherwise = if self.skip_name("else") { Some(self.expression()?) } else { None };
            let below = deepest([&value, &test].into_iter().chain(&otherwise));
            value = self.make(line, below, ExprKind::Cond(Box::new((test, value, otherwise))))?;
            line = self.line();
        }
        Ok(value)
    }

    fn or(&mut self) -> Outcome<Expr> {
        let line = self.line();
        let mut left = self.and()?;
        while self.skip_name("or") {
            let right = self.and()?;
            left = self.make(line, left.depth.max(right.depth), ExprKind::Or(Box::new((left, right))))?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Outcome<Expr> {
        let line = self.line();
        let mut left = self.not()?;
        while self.skip_name("and") {
            let right = self.not()?;
            left = self.make(line, left.depth.max(right.depth), ExprKind::And(Box::new((left, right))))?;
        }
        Ok(left)
    }

    fn not(&mut self) -> Outcome<Expr> {
        let line = self.line();
        if self.skip_name("not") {
            let value = self.nest(Self::not)?;
            return self.make(line, value.depth, ExprKind::Not(Box::new(value)));
        }
        self.compare()
    }

    fn compare(&mut self) -> Outcome<Expr> {
        let line = self.line();
        let first = self.sum()?;
        let mut rest = Vec::new();
        loop {
            let operator = match self.peek() {
                Token::Operator("==") => Compare::Eq,
                Token::Operator("!=") => Compare::Ne,
                Token::Operator("<") => Compare::Lt,
                Token::Operator("<=") => Compare::Le,
                Token::Operator(">") => Compare::Gt,
                Token::Operator(">=") => Compare::Ge,
                Token::Name(name) if &**name == "in" => Compare::In,
                Token::Name(name)
                    if &**name == "not" && matches!(self.peek_next(), Token::Name(n) if &**n == "in") =>
                {
                    self.next();
                    Compare::NotIn
                }
                _ => break,
            };
            self.next();
            rest.push((operator, self.sum()?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        let below = deepest(rest.iter().map(|(_, value)| value)).max(first.depth);
        self.make(line, below, ExprKind::Compare(Box::new(first), rest))
    }

    fn chain(
        &mut self,
        operators: &[(&str, Binary)],
        operand: fn(&mut Self) -> Outcome<Expr>,
    ) -> Outcome<Expr> {
        let line = self.line();
        let mut left = operand(self)?;
        while let Some((_, operator)) = operators.iter().find(|(text, _)| self.is_operator(text)) {
            self.next();
            let right = operand(self)?;
            let below = left.depth.max(right.depth);
            left = self.make(line, below, ExprKind::Binary(*operator, Box::new((left, right))))?;
        }
        Ok(left)
    }

    fn sum(&mut self) -> Outcome<Expr> {
        self.chain(&[("+", Binary::Add), ("-", Binary::Sub)], Self::concat)
    }

    fn concat(&mut self) -> Outcome<Expr> {
        let line = self.line();
        let mut parts = vec![self.product()?];
        while self.skip_operator("~") {
            parts.push(self.product()?);
        }
        if parts.len() > 1 {
            return self.make(line, deepest(&parts), ExprKind::Concat(parts));
        }
        Ok(parts.remove(0))
    }

    fn product(&mut self) -> Outcome<Expr> {
        let operators =
            [("*", Binary::Mul), ("/", Binary::Div), ("//", Binary::FloorDiv), ("%", Binary::Mod)];
        self.chain(&operators, Self::power)
    }

    fn power(&mut self) -> Outcome<Expr> {
        self.chain(&[("**", Binary::Pow)], |parser| parser.unary(true))
    }

    fn unary(&mut self, filters: bool) -> Outcome<Expr> {
        let line = self.line();
        let mut value = if self.skip_operator("-") {
            let value = self.nest(|parser| parser.unary(false))?;
            self.make(line, value.depth, ExprKind::Negative(Box::new(value)))?
        } else if self.skip_operator("+") {
            let value = self.nest(|parser| parser.unary(false))?;
            self.make(line, value.depth, ExprKind::Positive(Box::new(value)))?
        } else {
            self.primary()?
        };
        value = self.postfix(value)?;
        while filters {
            if self.skip_operator("|") {
                value = self.one_filter(value)?;
            } else if self.skip_name("is") {
                value = self.test(value)?;
            } else if self.is_operator("(") {
                value = self.call(value)?;
            } else {
                break;
            }
        }
        Ok(value)
    }

    fn primary(&mut self) -> Outcome<Expr> {
        let line = self.line();
        let kind = match self.peek().clone() {
            Token::Name(name) => {
                self.next();
                match &*name {
                    "true" | "True" => ExprKind::Const(Const::Bool(true)),
                    "false" | "False" => ExprKind::Const(Const::Bool(false)),
                    "none" | "None" => ExprKind::Const(Const::None),
                    _ => ExprKind::Name(name),
                }
            }
            Token::Str(text) => {
                self.next();
                let mut whole = text;
                while let Token::Str(more) = self.peek() {
                    whole = format!("{whole}{more}").into();
                    self.next();
                }
                ExprKind::Const(Const::Str(whole))
            }
            Token::Int(value) => {
                self.next();
                ExprKind::Const(Const::Int(value))
            }
            Token::Float(value) => {
                self.next();
                ExprKind::Const(Const::Float(value))
            }
            Token::Operator("(") => {
                self.next();
                let value = self.nest(|parser| parser.tuple_in(true, &[], true))?;
                self.expect_operator(")")?;
                return Ok(value);
            }
            Token::Operator("[") => return self.list(),
            Token::Operator("{") => return self.dict(),
            _ => return self.unexpected("an expression"),
        };
        self.make(line, 0, kind)
    }

    fn list(&mut self) -> Outcome<Expr> {
        let line = self.line();
        self.next();
        let mut items = Vec::new();
        while !self.is_operator("]") {
            items.push(self.expression()?);
            if !self.skip_operator(",") {
                break;
            }
        }
        self.expect_operator("]")?;
        self.make(line, deepest(&items), ExprKind::List(items))
    }

    fn dict(&mut self) -> Outcome<Expr> {
        let line = self.line();
        self.next();
        let mut items = Vec::new();
        while !self.is_operator("}") {
            let key = self.expression()?;
            self.expect_operator(":")?;
            items.push((key, self.expression()?));
            if !self.skip_operator(",") {
                break;
            }
        }
        self.expect_operator("}")?;
        let below = deepest(items.iter().flat_map(|(key, value)| [key, value]));
        self.make(line, below, ExprKind::Dict(items))
    }

    fn postfix(&mut self, mut value: Expr) -> Outcome<Expr> {
        loop {
            let line = self.line();
            let below = value.depth;
            if self.skip_operator(".") {
                let kind = match self.next() {
                    Token::Name(name) => ExprKind::Attr(Box::new(value), name),
                    Token::Int(index) => {
                        let index = self.make(line, 0, ExprKind::Const(Const::Int(index)))?;
                        ExprKind::Item(Box::new(value), Box::new(index))
                    }
                    _ => return self.fail("a name or a number is expected after '.'"),
                };
                value = self.make(line, below, kind)?;
            } else if self.skip_operator("[") {
                value = self.subscript(value, line)?;
            } else if self.is_operator("(") {
                value = self.call(value)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn subscript(&mut self, value: Expr, line: u32) -> Outcome<Expr> {
        let mut parts = [None, None, None];
        let mut colons = 0;
        while !self.is_operator("]") {
            if self.skip_operator(":") {
                colons += 1;
                if colons > 2 {
                    return self.fail("a slice has more than two colons");
                }
            } else if parts[colons].is_none() {
                parts[colons] = Some(self.expression()?);
                if self.is_operator(",") {
                    return self.fail("a subscript with a comma is not supported");
                }
            } else {
                return self.unexpected("']'");
            }
        }
        self.next();
        let below = deepest(parts.iter().flatten()).max(value.depth);
        let kind = match parts {
            [Some(index), None, None] if colons == 0 => ExprKind::Item(Box::new(value), Box::new(index)),
            _ if colons == 0 => return self.fail("a subscript is empty"),
            parts => ExprKind::Slice(Box::new(value), Box::new(parts)),
        };
        self.make(line, below, kind)
    }

    fn call(&mut self, value: Expr) -> Outcome<Expr> {
        let line = self.line();
        let args = self.arguments()?;
        let below = value.depth.max(deepest_of(&args));
        self.make(line, below, ExprKind::Call(Box::new(value), Box::new(args)))
    }

    fn arguments(&mut self) -> Outcome<Args> {
        self.expect_operator("(")?;
        let mut args = Args::default();
        while !self.is_operator(")") {
            let plain = args.star.is_none() && args.star_star.is_none();
            if self.skip_operator("*") {
                if !plain {
                    return self.fail("'*' stands after '*' or '**' in a call");
                }
                args.star = Some(self.expression()?);
            } else if self.skip_operator("**") {
                if args.star_star.is_some() {
                    return self.fail("'**' stands twice in a call");
                }
                args.star_star = Some(self.expression()?);
            } else if let (Token::Name(name), Token::Operator("=")) = (self.peek().clone(), self.peek_next()) {
                if args.star_star.is_some() || args.keywords.iter().any(|(other, _)| *other == name) {
                    return self.fail(format!("the argument '{name}' stands twice or after '**'"));
                }
                self.next();
                self.next();
                let value = self.expression()?;
                args.keywords.push((name, value));
            } else {
                if !plain || !args.keywords.is_empty() {
                    return self.fail("an argument without a name stands after one with a name");
                }
                args.positional.push(self.expression()?);
            }
            if !self.skip_operator(",") {
                break;
            }
        }
        self.expect_operator(")")?;
        Ok(args)
    }

    fn dotted_name(&mut self) -> Outcome<Arc<str>> {
        let mut name = self.expect_name()?;
        while self.skip_operator(".") {
            name = format!("{name}.{}", self.expect_name()?).into();
        }
        Ok(name)
    }

    /// The filter's name and arguments, after '|'.
    pub fn one_filter(&mut self, value: Expr) -> Outcome<Expr> {
        let line = self.line();
        let name = self.dotted_name()?;
        if self.soft == 0 && !filters::is_known(&name) {
            return self.fail(format!("unknown filter: '{name}'"));
        }
        let args = if self.is_operator("(") { self.arguments()? } else { Args::default() };
        let below = value.depth.max(deepest_of(&args));
        self.make(line, below, ExprKind::Filter(Box::new(value), name, Box::new(args)))
    }

    fn test(&mut self, value: Expr) -> Outcome<Expr> {
        let line = self.line();
        let negative = self.skip_name("not");
        let name = self.dotted_name()?;
        if self.soft == 0 && !tests::is_known(&name) {
            return self.fail(format!("unknown test: '{name}'"));
        }
        let mut args = Args::default();
        let takes_one = match self.peek() {
            Token::Name(name) if &**name == "is" => return self.fail("tests with 'is' cannot be chained"),
            Token::Name(name) => !["else", "or", "and"].contains(&&**name),
            Token::Str(_) | Token::Int(_) | Token::Float(_) => true,
            Token::Operator(operator) => ["[", "{"].contains(operator),
            _ => false,
        };
        if self.is_operator("(") {
            args = self.arguments()?;
        } else if takes_one {
            let argument = self.primary()?;
            args.positional.push(self.postfix(argument)?);
        }
        let below = value.depth.max(deepest_of(&args));
        let test = self.make(line, below, ExprKind::Test(Box::new(value), name, Box::new(args)))?;
        if negative {
            return self.make(line, test.depth, ExprKind::Not(Box::new(test)));
        }
        Ok(test)
    }
}
