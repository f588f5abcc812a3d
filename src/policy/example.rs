//! What a rule says of itself: commands that it matches and commands that it does not.

use std::path::Path;

use crate::commands::Tables;
use crate::diagnostic::Problem;
use crate::facts::{self, Places, Settings, Task};
use crate::host::{AssumedHost, Host};
use crate::syntax::Dialect;

use super::compile::Example;
use super::{Call, Compiled, Roots, evaluate};

/// The machine on which examples run: nothing on it is known but where things are.
const HOME: &str = "/home/user";
const PROJECT: &str = "/home/user/project";

/// The examples that do not hold.
pub(super) fn run(compiled: &Compiled) -> Vec<Problem> {
    if compiled.examples.is_empty() {
        return Vec::new();
    }
    let host = AssumedHost::new(Path::new(PROJECT), Path::new(HOME));
    let tables = Tables::builtin().with_user(compiled.core.wrappers.clone());
    // A project's own places count for it once it is trusted; its examples are written for that.
    let places = Places { globs: &compiled.core.places, own: &[] };
    let settings = Settings { places, tables: &tables };
    let examples = compiled.examples.iter();
    examples.filter_map(|example| failure(compiled, example, &host, &settings)).collect()
}

fn failure(compiled: &Compiled, example: &Example, host: &AssumedHost, settings: &Settings<'_>) -> Option<Problem> {
    let rule = compiled.rules.get(example.rule)?;
    let task = Task {
        text: example.command.as_bytes(),
        name: "example".to_owned(),
        dialect: Dialect::Bash,
        zero: "bash".into(),
        positional: Vec::new(),
        before: Vec::new(),
    };
    let facts = facts::collect(&task, host, settings);
    // A rule for another shell or origin is tried as if it were called from there.
    let shell = rule.shells.first().map_or("bash", String::as_str);
    let origin = rule.origins.first().map_or("", String::as_str);
    let roots = Roots { home: host.home(), project: host.project() };
    let call = Call { mode: None, shell, origin, roots };
    if evaluate::is_about(rule, &facts, &call) == example.matches {
        return None;
    }
    let does = if example.matches { "does not match" } else { "matches" };
    let message = format!("rule `{}` {does} this example", rule.id);
    let help = "`vetsh check` shows what the command is read as".to_owned();
    Some(Problem::new(Some(example.span), message, Some(help)))
}
