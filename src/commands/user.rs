//! Users' own tables: what they may say beside the shipped ones.
//!
//! They add programs and subcommands that the shipped tables do not know, and may describe others anew. What a shipped
//! table says to run other code, what a shell has built in and vetsh itself cannot be described anew: a table that
//! hides what is run would hide it from every rule and floor.

use std::path::Path;

use super::load::load_if;
use super::schema::{Program, Role};
use super::tables::{Tables, shipped};
use crate::diagnostic::Diagnostic;
use crate::facts::kind::Effect;

/// The entries of one file of a user's, or everything that is wrong with it.
pub fn load(text: &str, path: &Path) -> Result<Vec<Program>, Vec<Diagnostic>> {
    load_if(text, path, &refusal)
}

/// The names of `programs` that stand in place of shipped ones.
pub fn replaced(programs: &[Program]) -> impl Iterator<Item = &str> {
    let names = programs.iter().flat_map(|program| program.names.iter());
    names.map(|name| &*name.text).filter(|name| !name.contains('*') && Tables::builtin().entry(name).is_some())
}

/// Why an entry of this name does not count, and what to do; `None` if it does.
fn refusal(name: &str) -> Option<(String, String)> {
    let program = name.split(' ').next().unwrap_or(name);
    if program.contains(['*', '?', '/']) {
        return Some((
            format!("`{program}` is no program's name"),
            "write the whole name, without a folder".to_owned(),
        ));
    }
    if name.contains(['*', '?']) && Tables::builtin().leads(program) {
        let message = format!("vetsh's own tables describe `{program}`, and a glob would cover what they say");
        return Some((message, "name the subcommand".to_owned()));
    }
    runs_code(name).then(|| {
        let message = format!("vetsh's own tables say what `{name}` runs, and no other table may");
        (message, "take the entry away; a rule in policy.toml can decide about the command".to_owned())
    })
}

/// Whether a shipped entry of this name, or one below it, says that something is run.
fn runs_code(name: &str) -> bool {
    let at_or_below = |own: &str| own.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let listed = shipped().any(|(own, program)| at_or_below(own) && runs(program));
    listed || Tables::builtin().entry(name).is_some_and(|(_, program)| runs(program))
}

fn runs(program: &Program) -> bool {
    let code = |role: &Role| {
        use Role::{Code, Command, Library, Module, Run, Script};
        matches!(role, Command { .. } | Code(_) | Script(_) | Module | Run | Library)
    };
    let options = program.options.iter().flat_map(|option| [Some(option.role), option.second]).flatten();
    let cases = program.cases.iter().filter_map(|case| case.operands.as_ref()).flat_map(|operands| operands.iter());
    let operands = program.operands.iter().chain(cases).map(|operand| operand.role);
    let settings = program.settings.iter().chain(program.environment.iter()).map(|setting| setting.role);
    options.chain(operands).chain(settings).any(|role| code(&role))
        || !program.recipes.is_empty()
        || !program.builtin.is_empty()
        || program.effects.iter().any(|effect| effect.kind.effect == Effect::Tamper)
}
