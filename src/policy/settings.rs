//! What a policy sets beside verdicts.

use serde::{Deserialize, Serialize};

use crate::decision::Verdict;

/// `[shell]`: shells whose commands arrive one by one and are not mediated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellSettings {
    /// A shell that reads from a pipe which stays open.
    pub pipe: Verdict,
    /// A shell that reads from a terminal.
    pub terminal: Verdict,
}

/// `[ask]`: how a human is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskSettings {
    /// Longest time to wait for an answer, in seconds; `None`: as long as the agent lets us.
    pub wait: Option<u32>,
    /// A program that asks where no terminal can, with its arguments; the first is an absolute path.
    pub program: Vec<String>,
    /// What is asked where nobody attends (CI).
    pub unattended: Unattended,
}

/// `[ask] unattended`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unattended {
    /// A ticket is left for later.
    #[default]
    Ask,
    /// It is refused at once, and no ticket is left.
    Deny,
}

/// `[audit]`: the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AuditSettings {
    /// What happens to an allowed command if the log cannot be written.
    pub on_error: OnError,
}

/// `[audit] on_error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnError {
    /// It runs, and is counted where possible.
    #[default]
    Run,
    /// It is refused.
    Refuse,
}

/// What one layer sets; `None` where it says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Settings {
    /// `shell.pipe`.
    pub pipe: Option<Verdict>,
    /// `shell.terminal`.
    pub terminal: Option<Verdict>,
    /// `ask.wait`, in seconds.
    pub wait: Option<u32>,
    /// `ask.program`.
    pub program: Option<Vec<String>>,
    /// `ask.unattended`.
    pub unattended: Option<Unattended>,
    /// `audit.on_error`.
    pub on_error: Option<OnError>,
}

impl Unattended {
    /// The word in the policy.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl OnError {
    /// The word in the policy.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Refuse => "refuse",
        }
    }
}

impl Settings {
    /// The settings that are decided first by `self`, then by `below`.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        Self {
            pipe: self.pipe.or(below.pipe),
            terminal: self.terminal.or(below.terminal),
            wait: self.wait.or(below.wait),
            program: self.program.or(below.program),
            unattended: self.unattended.or(below.unattended),
            on_error: self.on_error.or(below.on_error),
        }
    }

    /// Only what `keys` names: `shell`, `shell.pipe` …
    #[must_use]
    pub fn only(&self, keys: &[String]) -> Self {
        let named = |table: &str, key: &str| keys.iter().any(|lock| lock == table || *lock == format!("{table}.{key}"));
        Self {
            pipe: self.pipe.filter(|_| named("shell", "pipe")),
            terminal: self.terminal.filter(|_| named("shell", "terminal")),
            wait: self.wait.filter(|_| named("ask", "wait")),
            program: self.program.clone().filter(|_| named("ask", "program")),
            unattended: self.unattended.filter(|_| named("ask", "unattended")),
            on_error: self.on_error.filter(|_| named("audit", "on_error")),
        }
    }
}
