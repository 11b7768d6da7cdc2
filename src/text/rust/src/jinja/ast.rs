//! A template, parsed.

use std::sync::Arc;

pub struct Expr {
    pub line: u32,
    pub depth: u32, // of the tree below, bounded by the parser
    pub kind: ExprKind,
}

pub enum Const {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(Arc<str>),
}

#[derive(Clone, Copy, PartialEq)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    NotIn,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
}

pub enum ExprKind {
    Const(Const),
    Name(Arc<str>),
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    Attr(Box<Expr>, Arc<str>),
    Item(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, Box<[Option<Expr>; 3]>),
    Call(Box<Expr>, Box<Args>),
    Filter(Box<Expr>, Arc<str>, Box<Args>),
    Test(Box<Expr>, Arc<str>, Box<Args>),
    Cond(Box<(Expr, Expr, Option<Expr>)>), // test, then, else
    And(Box<(Expr, Expr)>),
    Or(Box<(Expr, Expr)>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Positive(Box<Expr>),
    Compare(Box<Expr>, Vec<(Compare, Expr)>),
    Binary(Binary, Box<(Expr, Expr)>),
    Concat(Vec<Expr>),
    /// The text that a filter block has collected.
    Collected,
}

#[derive(Default)]
pub struct Args {
    pub positional: Vec<Expr>,
    pub keywords: Vec<(Arc<str>, Expr)>,
    pub star: Option<Expr>,
    pub star_star: Option<Expr>,
}

pub enum Target {
    Name(Arc<str>),
    Attr(Arc<str>, Arc<str>), // a namespace's
    Tuple(Vec<Target>),
}

pub struct Stmt {
    pub line: u32,
    pub kind: StmtKind,
}

pub enum StmtKind {
    Data(Arc<str>),
    Output(Expr),
    If(Vec<(Expr, Vec<Stmt>)>, Vec<Stmt>),
    For(Box<For>),
    Set(Target, Expr),
    SetBlock(Target, Option<Expr>, Vec<Stmt>),
    With(Vec<(Target, Expr)>, Vec<Stmt>),
    Macro(usize),
    CallBlock(Expr, usize), // the call, and the caller
    FilterBlock(Expr, Vec<Stmt>),
    /// Marks what a model is trained on: its body is printed, in a scope of its own.
    Scope(Vec<Stmt>),
    Break,
    Continue,
}

pub struct For {
    pub target: Target,
    pub over: Expr,
    pub condition: Option<Expr>,
    pub recursive: bool,
    pub uses_loop: bool,
    pub body: Vec<Stmt>,
    pub otherwise: Vec<Stmt>,
}

pub struct Macro {
    pub name: Arc<str>,
    pub parameters: Vec<Arc<str>>,
    pub defaults: Vec<Expr>, // of the last parameters
    pub uses_caller: bool,
    pub uses_varargs: bool,
    pub uses_kwargs: bool,
    pub body: Vec<Stmt>,
}
