//! What a template may use: a fault in it, or a hostile one, ends with an error and not with the machine.

use std::cell::Cell;

/// Steps: one for a node of the template that is executed, for an item that is looked at, and for each 64
/// bytes of text that are made. Some 30 are used for a message.
const STEPS: u64 = 20_000_000;
/// Bytes of values made, whether still held or not, over those of the context.
const BYTES: u64 = 256 << 20;
/// Text is copied by most that is done with it, so a long conversation may use more.
const FOR_A_BYTE_OF_CONTEXT: u64 = 64;
/// Nodes in nodes, macros in macros. jinja2 itself ends at some 200 macros.
const MOST_NESTED: u32 = 1000;

pub struct Fail {
    pub message: String,
    pub line: u32, // 0: not known yet
}

pub type Outcome<T> = Result<T, Fail>;

impl Fail {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), line: 0 }
    }

    pub fn at(mut self, line: u32) -> Self {
        if self.line == 0 {
            self.line = line;
        }
        self
    }
}

pub fn fail<T>(message: impl Into<String>) -> Outcome<T> {
    Err(Fail::new(message))
}

pub struct Budget {
    steps: Cell<u64>,
    bytes: Cell<u64>,
    depth: Cell<u32>,
    limits: (u64, u64),
}

impl Budget {
    pub fn new(context_bytes: usize) -> Self {
        let more = context_bytes as u64 * FOR_A_BYTE_OF_CONTEXT;
        let limits = (STEPS + more, BYTES + more);
        Self { steps: Cell::new(limits.0), bytes: Cell::new(limits.1), depth: Cell::new(0), limits }
    }

    pub fn burn(&self, steps: usize) -> Outcome<()> {
        match self.steps.get().checked_sub(steps as u64) {
            Some(rest) => {
                self.steps.set(rest);
                Ok(())
            }
            None => fail(format!("the template did not end within {} steps", self.limits.0)),
        }
    }

    /// Before `bytes` are made.
    pub fn charge(&self, bytes: usize) -> Outcome<()> {
        match self.bytes.get().checked_sub(bytes as u64) {
            Some(rest) => {
                self.bytes.set(rest);
                self.burn(bytes / 64)
            }
            None => fail(format!("the template makes more than {} bytes of values", self.limits.1)),
        }
    }

    /// One level down; the guard's end is the way up.
    pub fn enter(&self) -> Outcome<Level<'_>> {
        self.burn(1)?;
        if self.depth.get() >= MOST_NESTED {
            return fail(format!("the template nests or recurses more than {MOST_NESTED} levels deep"));
        }
        self.depth.set(self.depth.get() + 1);
        Ok(Level(&self.depth))
    }
}

pub struct Level<'a>(&'a Cell<u32>);

impl Drop for Level<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
