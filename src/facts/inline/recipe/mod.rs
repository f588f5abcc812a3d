//! Files in which a project writes what its tools run: Makefiles, justfiles, package.json, settings.

pub(super) mod just;
pub(super) mod keys;
pub(super) mod make;
mod makefile;
pub(super) mod package;
pub(in crate::facts) mod settings;

use super::Code;

/// What is to run of a file: the names that are known, and whether one is not.
struct Goals {
    names: Vec<String>,
    unknown: bool,
}

impl Goals {
    /// The arguments of the code that name parts of it; `NAME=value` words and options do not.
    fn of(code: &Code<'_>) -> Self {
        let mut goals = Self { names: Vec::new(), unknown: false };
        for argument in code.arguments {
            match argument.text().filter(|_| !argument.many) {
                Some(text) if text.contains(&b'=') || text.starts_with(b"-") => {}
                Some(text) => goals.names.push(text.to_string()),
                None => goals.unknown = true,
            }
        }
        goals
    }
}
