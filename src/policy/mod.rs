//! The user's policy: layers of TOML, compiled, and what they say about facts.
//!
//! `schema` knows the keys of the file, `compile` makes a [`Layer`] of it or says all that is wrong, `layer` finds and
//! caches layers, [`evaluate()`] judges facts by them.

pub mod builtin;
mod compile;
mod evaluate;
mod example;
mod index;
pub mod layer;
mod matcher;
mod pattern;
mod rule;
mod schema;
mod settings;
pub mod show;
mod statement;
mod wrapper;

use serde::{Deserialize, Serialize};

use crate::commands::Program;
use crate::decision::{LayerKind, Mode};
use crate::facts::Aspect;

pub use compile::{Compiled, Example, compile};
pub use evaluate::evaluate;
pub use index::{Bytes, Index, Key, Rules};
pub use pattern::Roots;
pub use settings::{AskSettings, AuditSettings, OnError, Settings, ShellSettings, Unattended};
pub use statement::{Doubts, Effects, Entry, ModeEntry, Rule};

/// All layers that count for one invocation.
#[derive(Debug)]
pub struct Policy {
    /// From the highest to the lowest; the shipped one is not among them.
    layers: Vec<Layer>,
    /// The user's acknowledgement of `full` is there.
    full: bool,
    /// Why the project's layer cannot be relied on, if it cannot.
    suspended: Option<&'static str>,
    settings: Settings,
    places: Vec<(Aspect, String)>,
    wrappers: Vec<Program>,
    digest: String,
}

/// One policy file, compiled.
#[derive(Debug)]
pub struct Layer {
    /// Its rank.
    pub kind: LayerKind,
    /// It may lower what layers below say; else it only makes the result stricter.
    pub trusted: bool,
    /// Everything but its rules.
    pub core: Core,
    /// Its rules.
    pub rules: Box<dyn Rules>,
}

/// What a layer says, without its rules.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Core {
    /// `mode`.
    pub mode: Option<ModeEntry>,
    /// `[effects]`.
    pub effects: Vec<Entry<Effects>>,
    /// `[doubts]`.
    pub doubts: Vec<Entry<Doubts>>,
    /// `[places]`: which place, and a glob.
    pub places: Vec<(Aspect, String)>,
    /// `[[wrapper]]`, as entries of the command tables.
    pub wrappers: Vec<Program>,
    /// The other tables.
    pub settings: Settings,
    /// `lock`: keys that layers above may not lower.
    pub locks: Vec<String>,
    /// SHA-256 of the file's path and content.
    pub digest: [u8; 32],
}

/// Who asks for a judgement, and how.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Judge as this mode would.
    pub mode: Option<Mode>,
    /// The shell that was meant: `bash`, `sh`, `zsh`, `dash`.
    pub shell: &'a str,
    /// Who asks: an agent's name, or empty.
    pub origin: &'a str,
    /// Home and project.
    pub roots: Roots<'a>,
}

/// Why a policy gives no answer. The caller refuses.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The compiled policy was damaged or replaced after it was opened.
    #[error("the compiled policy is damaged")]
    Damaged,
    /// The compiled policy cannot be read.
    #[error("cannot read the compiled policy: {0}")]
    Read(#[from] std::io::Error),
    /// More than can be compiled.
    #[error("the policy is too large")]
    Encode,
}

impl Layer {
    /// A layer in memory.
    pub fn new(kind: LayerKind, trusted: bool, compiled: Compiled) -> Result<Self, Fault> {
        let (bytes, slots) = index::encode(&compiled.rules)?;
        Ok(Self { kind, trusted, core: compiled.core, rules: Box::new(Index::new(Box::new(bytes), slots)) })
    }
}

impl Policy {
    /// A policy of these layers, from the highest to the lowest. `full` is the user's acknowledgement of that mode;
    /// `suspended` says why the project's layer cannot be relied on.
    pub fn new(layers: Vec<Layer>, full: bool, suspended: Option<&'static str>) -> Self {
        let trusted = || layers.iter().filter(|layer| layer.trusted);
        let locks = layers.iter().find(|layer| layer.kind == LayerKind::System).map(|layer| &layer.core);
        let locked = locks.map(|core| core.settings.only(&core.locks)).unwrap_or_default();
        let settings = trusted().fold(locked, |above, layer| above.over(layer.core.settings.clone()));
        let is_locked = |layer: &Layer, key: &str| {
            layer.kind != LayerKind::System && locks.is_some_and(|core| core.locks.iter().any(|lock| lock == key))
        };
        let places = trusted().flat_map(|layer| {
            let open =
                |aspect: Aspect| !is_locked(layer, "places") && !is_locked(layer, &format!("places.{}", aspect.word()));
            layer.core.places.iter().filter(move |(aspect, _)| open(*aspect)).cloned()
        });
        let places = places.collect();
        let wrappers = trusted().filter(|layer| !is_locked(layer, "wrapper"));
        let wrappers = wrappers.flat_map(|layer| layer.core.wrappers.iter().cloned()).collect();
        let mut policy = Self { digest: String::new(), layers, full, suspended, settings, places, wrappers };
        policy.digest = policy.fingerprint();
        policy
    }

    /// The shipped policy alone.
    pub fn shipped() -> Self {
        Self::new(Vec::new(), false, None)
    }

    /// By which mode is judged: that of the highest trusted layer that sets one, or a stricter one of a layer without
    /// trust or under a lock.
    pub fn mode(&self) -> Mode {
        let mode = |layer: &Layer| layer.core.mode.map(|entry| self.acknowledged(entry.mode));
        let own = self.layers.iter().filter(|layer| layer.trusted).find_map(mode).unwrap_or(builtin::MODE.0);
        let binding =
            self.layers.iter().filter(|layer| !layer.trusted || layer.core.mode.is_some_and(|mode| mode.locked));
        binding.filter_map(mode).chain([own]).min_by_key(|mode| *mode as u8).unwrap_or(own)
    }

    /// `full` is `auto` until the user has acknowledged it.
    pub fn acknowledged(&self, mode: Mode) -> Mode {
        if mode == Mode::Full && !self.full { Mode::Auto } else { mode }
    }

    /// The layers above the shipped one, from the highest to the lowest.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The places that layers name beside the built-in ones.
    pub fn places(&self) -> &[(Aspect, String)] {
        &self.places
    }

    /// The wrappers that layers declare, as entries of the command tables.
    pub fn wrappers(&self) -> &[Program] {
        &self.wrappers
    }

    /// `[shell]`.
    pub fn shell(&self) -> ShellSettings {
        use crate::decision::Verdict;
        ShellSettings {
            pipe: self.settings.pipe.unwrap_or(Verdict::Deny),
            terminal: self.settings.terminal.unwrap_or(Verdict::Ask),
        }
    }

    /// `[ask]`.
    pub fn ask(&self) -> AskSettings {
        AskSettings {
            wait: self.settings.wait,
            program: self.settings.program.clone().unwrap_or_default(),
            unattended: self.settings.unattended.unwrap_or_default(),
        }
    }

    /// `[audit]`.
    pub fn audit(&self) -> AuditSettings {
        AuditSettings { on_error: self.settings.on_error.unwrap_or_default() }
    }

    /// Which policy this is: a change of any layer, of trust or of vetsh changes it.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Why everything but looking asks, and whose layer is the cause.
    fn suspended(&self) -> Option<(&'static str, LayerKind)> {
        self.suspended.map(|reason| (reason, LayerKind::Project))
    }

    /// The system layer forbids the user's to lower a floor.
    fn is_locked_floor(&self, floor: &str) -> bool {
        let system = self.layers.iter().find(|layer| layer.kind == LayerKind::System);
        system.is_some_and(|layer| {
            layer.core.locks.iter().any(|lock| lock == "rule" || lock.strip_prefix("rule.") == Some(floor))
        })
    }

    /// Joined, not hashed: the parts tell which layer differs, and a hash would cost more than all look-ups.
    fn fingerprint(&self) -> String {
        use std::fmt::Write as _;
        let mut out = format!("b{:016x}", builtin::BUILD);
        for layer in self.layers.iter().rev() {
            let letter = match layer.kind {
                LayerKind::Builtin => 'b',
                LayerKind::System => 's',
                LayerKind::User => 'u',
                LayerKind::Project => 'p',
                LayerKind::Session => 'r',
            };
            out.push('-');
            out.push(letter);
            layer.core.digest.iter().take(8).for_each(|byte| {
                // Writing to a string does not fail.
                let _ = write!(out, "{byte:02x}");
            });
            if layer.kind >= LayerKind::Project && layer.trusted {
                out.push('t');
            }
        }
        if self.full {
            out.push_str("-full");
        }
        if self.suspended.is_some() {
            out.push_str("-suspended");
        }
        out
    }
}
