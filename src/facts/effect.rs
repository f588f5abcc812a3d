//! What a command would do.

use std::borrow::Cow;

use bstr::BString;

use super::Location;
pub use super::kind::{Aspect, Doubt, Effect};

/// Which part of a simple command has an effect or is in doubt. An allow rule speaks for [`Part::Own`] alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Part {
    /// The program with its arguments.
    #[default]
    Own,
    /// A redirection written on the command.
    Redirection,
    /// An assignment, inline or inherited, that the program would read.
    Assignment,
    /// A wrapper around it that has no command fact of its own.
    Wrapper,
    /// Code that it was given or reads: inline code, a script file, a package script.
    Nested,
}

/// One effect that a command would have.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectFact {
    /// What kind.
    pub effect: Effect,
    /// Which one of its kind.
    pub aspect: Option<Aspect>,
    /// The path, host, package or process that it is about.
    pub target: Option<BString>,
    /// The command that has it, as an index into [`super::Facts::commands`].
    pub command: Option<usize>,
    /// Which part of that command has it.
    pub part: Part,
    /// Where it is written.
    pub at: Location,
    /// Why it is thought to have it, as a lowercase fragment for people.
    pub reason: Cow<'static, str>,
}

/// One thing that could not be told.
#[derive(Debug, Clone, PartialEq)]
pub struct DoubtFact {
    /// What kind.
    pub doubt: Doubt,
    /// The command that it is about.
    pub command: Option<usize>,
    /// Which part of that command is in doubt.
    pub part: Part,
    /// Where it is written.
    pub at: Location,
    /// What cannot be told and why, as a lowercase fragment for people.
    pub reason: Cow<'static, str>,
}
