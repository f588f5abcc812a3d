//! The shipped layer: `builtin.toml`, compiled into static data by the build.

use crate::decision::{LayerKind, Mode, Provenance, Verdict};
use crate::facts::{Aspect, Doubt, Effect};

use super::statement::{Effects, Statement};

/// The text of the shipped layer, for people.
pub const TEXT: &str = include_str!("builtin.toml");

include!(concat!(env!("OUT_DIR"), "/policy.rs"));

/// What each mode says of one thing, in the order of [`Mode`].
pub(super) struct Row<T> {
    pub(super) of: T,
    verdicts: [Verdict; 4],
    line: u32,
}

/// A statement that stands above all layers, unless a rule of the same id in the system or user layer lowers it.
#[derive(Debug)]
pub struct Floor {
    /// The rule's id.
    pub id: &'static str,
    /// At least this.
    pub verdict: Verdict,
    /// The effects it is about.
    pub effects: &'static [Effects],
    /// Why, for people.
    pub reason: &'static str,
    /// Line in `builtin.toml`.
    pub line: u32,
}

impl<T> Row<T> {
    /// What `mode` says.
    pub(super) fn verdict(&self, mode: Mode) -> Verdict {
        let [read_only, ask, auto, full] = self.verdicts;
        match mode {
            Mode::ReadOnly => read_only,
            Mode::Ask => ask,
            Mode::Auto => auto,
            Mode::Full => full,
        }
    }

    fn statement(&self, mode: Mode) -> Statement {
        Statement::entry(self.verdict(mode), Provenance { layer: LayerKind::Builtin, line: self.line })
    }
}

/// What `mode` says of an effect.
pub(super) fn effect(mode: Mode, effect: Effect, aspect: Option<Aspect>) -> Statement {
    let rows = EFFECTS.iter().filter(|row| row.of.covers(effect, aspect));
    rows.max_by_key(|row| row.of.rank()).map_or_else(unlisted, |row| row.statement(mode))
}

/// What `mode` says of a doubt.
pub(super) fn doubt(mode: Mode, doubt: Doubt) -> Statement {
    let rows = DOUBTS.iter().filter(|row| row.of.is_none_or(|of| of == doubt));
    rows.max_by_key(|row| row.of.is_some()).map_or_else(unlisted, |row| row.statement(mode))
}

/// The strictest floor over an effect that `stands` does not report as lowered.
pub(super) fn floor(effect: Effect, aspect: Option<Aspect>, stands: impl Fn(&str) -> bool) -> Option<&'static Floor> {
    let floors = FLOORS.iter().filter(|floor| floor.effects.iter().any(|of| of.covers(effect, aspect)));
    floors.filter(|floor| stands(floor.id)).max_by_key(|floor| floor.verdict)
}

/// What no entry covers is refused: this cannot happen while `builtin.toml` has `*` entries.
fn unlisted() -> Statement {
    Statement::entry(Verdict::Deny, Provenance { layer: LayerKind::Builtin, line: 1 })
}
