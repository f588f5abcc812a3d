//! When something in a table holds.

use serde::{Deserialize, Serialize};

use super::schema::{List, Text};

/// When something holds: every `all` clause by any of its tokens, and none of `unless`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Condition {
    /// The clauses, all of which must hold.
    pub all: List<List<Token>>,
    /// What must not hold.
    pub unless: List<Token>,
}

/// What is looked for among the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Token {
    /// This option is given, by any of its spellings.
    Option(Text),
    /// This option is given with a value that matches the glob.
    Value(Text, Text),
    /// `--` is given.
    DoubleDash,
    /// A wrapped command is given.
    Command,
    /// More operands than this.
    Operands(usize),
    /// An operand matches the glob, case aside.
    Word(Text),
    /// The first operand matches the glob, case aside.
    First(Text),
}
