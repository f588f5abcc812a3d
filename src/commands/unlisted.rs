//! Options that a table does not list: flags without effect, unless their own name says that they take code.

use super::reading::{Given, Vague};
use crate::facts::kind::Doubt;

/// Words in the name of an option whose value is run.
const CODE: &[&str] = &[
    "cmd",
    "command",
    "editor",
    "eval",
    "exec",
    "execute",
    "helper",
    "hook",
    "interpreter",
    "launcher",
    "loader",
    "pager",
    "plugin",
    "plugins",
    "preload",
    "program",
    "runner",
    "script",
    "shell",
    "wrapper",
];

/// The doubt about an unlisted option (`--post-command=TEXT`), if it may take code.
pub(super) fn doubt(given: &Given<'_>, operands: bool) -> Option<Vague> {
    let takes = given.spec.is_none() && (given.value.is_some() || operands);
    let name = given.name.strip_prefix("--").filter(|_| takes)?;
    let code = !name.starts_with("no-") && name.split(['-', '_']).any(|word| CODE.contains(&word));
    code.then(|| Vague {
        doubt: Doubt::Argument,
        at: given.value.as_ref().map(|value| value.at),
        reason: format!("no table says what {} does; it may run code", given.name).into(),
    })
}
