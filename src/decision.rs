//! A verdict and why.

use std::borrow::Cow;

use bstr::BString;
use serde::{Deserialize, Serialize};

use crate::facts::{Aspect, Doubt, Effect, Facts, Location};

/// What may happen to a command. The order is the order of strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It runs.
    Allow,
    /// A human is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// How much is allowed without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Only looking.
    ReadOnly,
    /// Every change is asked.
    Ask,
    /// Ordinary work is allowed.
    Auto,
    /// Everything but rules and floors is allowed, after the user's acknowledgement.
    Full,
}

/// The rank of a policy file; later ones speak over earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// Shipped with vetsh.
    Builtin,
    /// `/etc/vetsh/policy.toml`.
    System,
    /// The user's own.
    User,
    /// `.vetsh.toml` of the project.
    Project,
    /// One `vetsh run`.
    Session,
}

/// Where a statement of the policy was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Which layer.
    pub layer: LayerKind,
    /// Line in that layer's file, from 1.
    pub line: u32,
}

/// One effect or doubt, and what the policy says about it.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What the policy says.
    pub verdict: Verdict,
    /// The rule that says so; `None` where an effect's or doubt's entry does.
    pub rule: Option<String>,
    /// The effect judged, if it is one.
    pub effect: Option<(Effect, Option<Aspect>)>,
    /// The doubt judged, if it is one.
    pub doubt: Option<Doubt>,
    /// Path, host, package or process.
    pub target: Option<BString>,
    /// The command, as an index into [`Facts::commands`].
    pub command: Option<usize>,
    /// Where it is written.
    pub at: Location,
    /// Why, for people: a lowercase fragment.
    pub reason: Cow<'static, str>,
    /// Which statement of the policy decided.
    pub provenance: Provenance,
}

/// The judgement of one invocation.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The strictest finding's.
    pub verdict: Verdict,
    /// By which mode it was judged.
    pub mode: Mode,
    /// Digest of the policy (hex).
    pub policy: String,
    /// Everything found that is not plainly allowed, and what is, in reading order.
    pub findings: Vec<Finding>,
    /// What was judged.
    pub facts: Facts,
}
