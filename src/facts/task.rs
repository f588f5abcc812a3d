//! What is to be judged: the start of one shell.

use bstr::BString;

use crate::syntax::Dialect;

/// A shell's script, and what the shell gets or reads beside it.
#[derive(Debug, Clone)]
pub struct Task<'a> {
    /// The script.
    pub text: &'a [u8],
    /// What it is, for people: `` `-c` text ``, `scripts/build.sh`, `standard input`.
    pub name: String,
    /// Whose rules it is read by.
    pub dialect: Dialect,
    /// `$0`.
    pub zero: BString,
    /// `$1` and the following.
    pub positional: Vec<BString>,
    /// Code that the shell runs before the script and in the same scope, in order.
    pub before: Vec<Prelude>,
}

/// Code that a shell runs beside its script, because the environment or an option says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prelude {
    /// What it is, for people: `BASH_ENV file env.sh`, `inherited function f`.
    pub name: String,
    /// The code.
    pub code: Code,
}

/// The code of a [`Prelude`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// A script. Definitions (functions, variables) in it hold for the script that follows.
    Script(BString),
    /// It cannot be read: the reason, as a lowercase fragment; a `script` doubt.
    Unread(String),
}
