//! What a level of a script is made of.

use crate::diagnostic::Span;
use crate::syntax::model::{Assignment, Redirection, Word};

/// A piece of a level, in the order in which the pieces stand.
#[derive(Debug)]
pub(in crate::syntax) struct Token {
    /// Offset of the first byte in the text that is scanned.
    pub(in crate::syntax) start: usize,
    /// Offset after the last byte in the text that is scanned.
    pub(in crate::syntax) end: usize,
    /// The same in the script.
    pub(in crate::syntax) span: Span,
    /// How many compound commands of this level stand around it.
    pub(in crate::syntax) depth: usize,
    /// What it is.
    pub(in crate::syntax) kind: TokenKind,
}

/// What a piece of a level is.
#[derive(Debug)]
pub(in crate::syntax) enum TokenKind {
    /// A word of a simple command, a `for` list or a pattern.
    Word(Word),
    /// `NAME=value` before a command.
    Assignment(Assignment),
    /// A redirection of a simple command.
    Redirection(Redirection),
    /// A redirection written after a compound command.
    HungRedirection(Redirection),
    /// `[[ … ]]`.
    Conditional(Vec<Word>),
    /// `(( … ))`.
    Arithmetic(Word),
    /// The parenthesis of `for ((…; …; …))`.
    ArithmeticFor(Vec<Word>),
    /// A reserved word.
    Keyword(Keyword),
    /// What is written before a command and changes what it does as a whole.
    Prefix(Prefix),
    /// `;`, `&` or a newline that ends a statement.
    Terminator {
        /// It is `&`.
        background: bool,
    },
    /// `&&`.
    And,
    /// `||`.
    Or,
    /// `|` between commands.
    Pipe,
    /// `|&` between commands.
    PipeBoth,
    /// `|` between patterns.
    Bar,
    /// `(` around commands.
    Open,
    /// `)` after commands.
    Close,
    /// `(` before the patterns of a clause.
    PatternOpen,
    /// `)` after the patterns of a clause.
    PatternEnd,
    /// `;;`, `;&`, `;;&`.
    ClauseEnd,
    /// Nothing that may stand there.
    Stray,
}

/// The reserved words that give a level its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax) enum Keyword {
    /// `if`.
    If,
    /// `then`.
    Then,
    /// `elif`.
    Elif,
    /// `else`.
    Else,
    /// `fi`.
    Fi,
    /// `while`, `until`.
    While,
    /// `for`, `select`.
    For,
    /// `in`.
    In,
    /// `do`.
    Do,
    /// `done`.
    Done,
    /// `case`.
    Case,
    /// `esac`.
    Esac,
    /// `{`.
    Open,
    /// `}`.
    Close,
}

/// What is written before a command and changes what it does as a whole.
#[derive(Debug)]
pub(in crate::syntax) enum Prefix {
    /// `!`.
    Not,
    /// `time`, `time -p`.
    Time,
    /// `coproc NAME`.
    Coproc(String),
    /// `NAME ()`, `function NAME`.
    Function(String),
}
