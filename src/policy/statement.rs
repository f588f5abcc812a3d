//! What a layer can say, compiled: entries for effects and doubts, rules, settings.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::decision::{Mode, Provenance, Verdict};
use crate::facts::{Aspect, Doubt, Effect};

use super::builtin::Floor;

/// A set of effects: `*`, `effect` or `effect.aspect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Effects {
    /// `None`: every effect.
    pub effect: Option<Effect>,
    /// `None`: every aspect.
    pub aspect: Option<Aspect>,
}

/// An entry of `[effects]` or `[doubts]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry<T> {
    /// What it is about.
    pub of: T,
    /// What is said of it.
    pub verdict: Verdict,
    /// Line in the layer's file.
    pub line: u32,
    /// Layers above may not be less strict.
    pub locked: bool,
}

/// A layer's `mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModeEntry {
    /// The mode.
    pub mode: Mode,
    /// Line in the layer's file.
    pub line: u32,
    /// Layers above may not be less strict.
    pub locked: bool,
}

/// A `[[rule]]`. Of the matchers that are not empty all must hold; in each, one of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rule {
    /// Its name.
    pub id: String,
    /// What it says; `None` only while it is being compiled.
    pub verdict: Option<Verdict>,
    /// Why, for people; may be empty unless it denies.
    pub reason: String,
    /// Line of its `id`.
    pub line: u32,
    /// Layers above may not be less strict.
    pub locked: bool,
    /// Program and leading words, each a glob.
    pub commands: Vec<Vec<String>>,
    /// Options with their dashes.
    pub flags: Vec<String>,
    /// Globs of words after the program's name.
    pub arguments: Vec<String>,
    /// Effects.
    pub effects: Vec<Effects>,
    /// Aspects of effects.
    pub places: Vec<Aspect>,
    /// Globs of the path that an effect is about.
    pub paths: Vec<String>,
    /// Globs of the host that an effect is about.
    pub hosts: Vec<String>,
    /// Globs of variables assigned on the command.
    pub environment: Vec<String>,
    /// Globs of who asks.
    pub origins: Vec<String>,
    /// Names of shells.
    pub shells: Vec<String>,
}

/// The statement that decides something.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) verdict: Verdict,
    pub(super) source: Source,
    pub(super) provenance: Provenance,
}

/// The kinds of statement.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// An entry or a mode.
    Entry,
    /// A rule of a layer.
    Rule(Rc<Rule>),
    /// A floor.
    Floor(&'static Floor),
    /// A state of the policy itself, with a reason.
    State(&'static str),
}

impl Effects {
    /// Whether an effect is one of them.
    pub fn covers(self, effect: Effect, aspect: Option<Aspect>) -> bool {
        self.effect.is_none_or(|own| own == effect) && (self.aspect.is_none() || self.aspect == aspect)
    }

    /// How specific it is: 0 for `*`, 1 for an effect, 2 for an effect with its aspect.
    pub fn rank(self) -> u8 {
        u8::from(self.effect.is_some()) + u8::from(self.aspect.is_some())
    }
}

impl std::fmt::Display for Effects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.effect.map_or("*", Effect::word))?;
        self.aspect.map_or(Ok(()), |aspect| write!(f, ".{}", aspect.word()))
    }
}

impl Rule {
    /// Matches effects only, not commands as such.
    pub(super) fn is_about_effects(&self) -> bool {
        !(self.effects.is_empty() && self.places.is_empty() && self.paths.is_empty() && self.hosts.is_empty())
    }

    /// Names no command, in whatever way.
    pub(super) fn is_without_command(&self) -> bool {
        self.commands.is_empty() && [&self.flags, &self.arguments, &self.environment].iter().all(|list| list.is_empty())
    }

    /// What it says.
    pub fn verdict(&self) -> Verdict {
        // A rule without a verdict does not compile; were one to get here, it would refuse.
        self.verdict.unwrap_or(Verdict::Deny)
    }
}

impl Statement {
    pub(super) fn entry(verdict: Verdict, provenance: Provenance) -> Self {
        Self { verdict, source: Source::Entry, provenance }
    }

    /// The stricter of two; of two equals the first.
    pub(super) fn stricter(self, other: Option<Self>) -> Self {
        other.filter(|other| other.verdict > self.verdict).unwrap_or(self)
    }
}

/// A set of doubts: `None` is `*`.
pub type Doubts = Option<Doubt>;
