//! Facts and policy put together: the middle of the line, for the shim and for `vetsh check` alike.

use std::path::PathBuf;

use crate::commands::Tables;
use crate::decision::{Decision, Mode};
use crate::facts::{self, Places, Settings, Task};
use crate::host::Host;
use crate::policy::{self, Call, Policy, Roots};

/// What counts beside the task.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The policy for the host's project.
    pub policy: &'a Policy,
    /// Judge as this mode would.
    pub mode: Option<Mode>,
    /// The shell that was meant.
    pub shell: &'a str,
    /// Who asks: an agent's name, or empty.
    pub origin: &'a str,
    /// vetsh's own folders.
    pub own: &'a [PathBuf],
}

/// Judges one task on one machine.
pub fn decide(task: &Task<'_>, host: &dyn Host, question: Question<'_>) -> Result<Decision, policy::Fault> {
    let Question { policy, mode, shell, origin, own } = question;
    let places = Places { globs: policy.places(), own };
    let tables = Tables::builtin().with_user(policy.wrappers().to_vec());
    let facts = facts::collect(task, host, &Settings { places, tables: &tables });
    let roots = Roots { home: host.home(), project: host.project() };
    policy::evaluate(policy, facts, &Call { mode, shell, origin, roots })
}
