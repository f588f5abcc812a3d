//! What a program would take its arguments for.

use std::borrow::Cow;

use bstr::{BStr, BString};

use super::recipe::Recipe;
use super::schema::{Kind, Language, OptionSpec, Role, Setting, TailKind};
use crate::facts::kind::{Aspect, Doubt, Effect, Work};
use crate::facts::value::{Argument, Unknown};
use crate::facts::{Location, OptionFact};

/// A command's arguments as its program reads them.
#[derive(Debug, Clone, Default)]
pub struct Reading<'a> {
    /// The subcommand words, by their main names.
    pub subcommand: Vec<BString>,
    /// The options in the order in which they stand.
    pub options: Vec<Given<'a>>,
    /// The words that are neither options, nor subcommand, nor wrapped command.
    pub operands: Vec<Cow<'a, Argument>>,
    /// What each operand and each option value is.
    pub uses: Vec<Use<'a>>,
    /// The effects that the table declares; their conditions hold.
    pub effects: Vec<Declared<'a>>,
    /// The commands that it would run.
    pub tails: Vec<Tail<'a>>,
    /// The environment variables that matter to it and to its subcommand.
    pub environment: Vec<&'a Setting>,
    /// The files in which is written what it runs.
    pub recipes: Vec<Behind<'a>>,
    /// What cannot be told.
    pub doubts: Vec<Vague>,
    /// It only prints (`--help`): no uses, effects or tails are given.
    pub inspect_only: bool,
    /// It changes nothing (`--dry-run`): what would be changed is given as listed.
    pub dry: bool,
    /// The language of the script that it would take as an operand, and else reads from its input.
    pub script: Option<Language>,
    /// The last subcommand word has no entry.
    pub unlisted: bool,
    /// A word that is not known and stands where an option could stand.
    pub loose: Option<Location>,
}

/// An option that is given.
#[derive(Debug, Clone)]
pub struct Given<'a> {
    /// What the table says of it; `None` if it does not list it.
    pub spec: Option<&'a OptionSpec>,
    /// How deep the entry is whose option it is: 1 for the program itself.
    pub(super) level: usize,
    /// The spelling, with dashes, in full.
    pub name: Cow<'a, str>,
    /// Its value.
    pub value: Option<Cow<'a, Argument>>,
}

/// An operand or an option value, and what it is.
#[derive(Debug, Clone)]
pub struct Use<'a> {
    /// What it is.
    pub role: Role,
    /// The word, or the part of it that counts.
    pub value: Cow<'a, Argument>,
    /// The option (or the setting or variable) whose value it is.
    pub option: Option<Cow<'a, str>>,
}

/// An effect that the table declares.
#[derive(Debug, Clone)]
pub struct Declared<'a> {
    /// What kind.
    pub effect: Effect,
    /// Which one of its kind; `None`: the target tells.
    pub aspect: Option<Aspect>,
    /// What it is on.
    pub on: Vec<Cow<'a, Argument>>,
    /// It is on the working directory.
    pub at_cwd: bool,
    /// It is on the paths that standard input lists.
    pub at_input: bool,
    /// It is on work in a repository, of this sort.
    pub work: Option<Work>,
    /// Why it matters, for people; may be empty.
    pub reason: Cow<'static, str>,
}

/// A command that the program would run.
#[derive(Debug, Clone)]
pub struct Tail<'a> {
    /// How it is read.
    pub kind: TailKind,
    /// Its words.
    pub words: Cow<'a, [Argument]>,
    /// The `NAME=value` words before it.
    pub environment: Vec<Cow<'a, Argument>>,
    /// It runs on another machine or in a container.
    pub remote: bool,
    /// Unknown arguments are appended to it.
    pub appends: bool,
    /// What it is if no table knows its program; `None`: not known.
    pub unlisted: Option<Kind>,
}

/// Files in which is written what the program runs.
#[derive(Debug, Clone)]
pub struct Behind<'a> {
    /// Which files.
    pub recipe: &'a Recipe,
    /// The parts of them that run; empty: what runs by default.
    pub parts: Vec<Argument>,
}

/// Something that cannot be told from the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vague {
    /// What kind.
    pub doubt: Doubt,
    /// The word that it is about; `None`: the whole command.
    pub at: Option<Location>,
    /// What and why, as a lowercase fragment.
    pub reason: Cow<'static, str>,
}

impl Given<'_> {
    /// Whether `name` is one of its spellings.
    pub fn is(&self, name: &str) -> bool {
        self.name == name || self.spec.is_some_and(|spec| spec.spellings().any(|spelling| spelling == name))
    }

    /// The fact for the policy.
    pub fn fact(&self) -> OptionFact {
        let names = match self.spec {
            Some(spec) => spec.spellings().map(str::to_owned).collect(),
            None => vec![self.name.to_string()],
        };
        let value = self.value.as_ref().and_then(|value| value.text().map(Cow::into_owned));
        OptionFact { names, value }
    }
}

/// Why the first unknown piece of `argument` is not known.
pub(super) fn unknown(argument: &Argument) -> Option<&Unknown> {
    argument.pieces.iter().find_map(|piece| match piece {
        crate::facts::value::Piece::Unknown(unknown) => Some(unknown),
        _ => None,
    })
}

/// The known text that `argument` begins with.
pub(super) fn lead(argument: &Argument) -> Cow<'_, BStr> {
    use crate::facts::value::Piece::Text;
    match argument.pieces.as_slice() {
        [Text(text)] => Cow::Borrowed(text.as_ref()),
        [Text(text), second, ..] if !matches!(second, Text(_)) => Cow::Borrowed(text.as_ref()),
        [Text(_), ..] => Cow::Owned(argument.prefix()),
        _ => Cow::Borrowed(BStr::new("")),
    }
}

/// `argument` without the first `count` bytes of its leading text.
pub(super) fn rest(argument: &Argument, mut count: usize) -> Argument {
    use crate::facts::value::Piece;
    let mut pieces = Vec::with_capacity(argument.pieces.len());
    for piece in &argument.pieces {
        match piece {
            Piece::Text(text) if count >= text.len() => count -= text.len(),
            Piece::Text(text) => {
                pieces.push(Piece::Text(text.get(count..).unwrap_or_default().into()));
                count = 0;
            }
            piece => pieces.push(piece.clone()),
        }
    }
    Argument { pieces, many: argument.many, at: argument.at }
}
