//! `vetsh commands`: the tables that say what programs do.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bstr::BString;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::Fault;
use crate::commands::outline::Outline;
use crate::commands::{Program, Tables, user};
use crate::diagnostic::Diagnostic;
use crate::explain;
use crate::facts::value::{Argument, Piece, Unknown, UnknownKind};
use crate::facts::{self, CommandFact, Identity, Location, Places, Settings, Task};
use crate::host::{Host, RealHost};
use crate::paths::Paths;
use crate::policy::layer::{self, Sources};
use crate::syntax::Dialect;
use crate::{exit, terminal_text};

/// Look at the tables that say what programs do
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    topic: Topic,
}

#[derive(Debug, Subcommand)]
enum Topic {
    /// Tell everything that is wrong with tables of your own, and what they describe
    ///
    /// Exits 0 if nothing is wrong and 2 if something is.
    Check {
        /// Table files; without one, all in the folder `commands` beside your policy
        files: Vec<PathBuf>,
    },
    /// Show how the commands of a line are read: options, operands, effects, what they run
    Read {
        /// The line, as it would be given to `bash -c`
        #[arg(value_name = "CMD")]
        command: std::ffi::OsString,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
}

/// What `read --json` prints.
#[derive(Debug, Serialize)]
struct Outlines {
    version: u32,
    commands: Vec<Outline>,
}

pub(super) fn run(arguments: &Arguments) -> Result<i32, Fault> {
    let paths = Paths::locate().map_err(|fault| Fault(fault.to_string()))?;
    let host = RealHost::here(&paths).map_err(|fault| Fault(fault.to_string()))?;
    let sources = Sources::new(&paths, host.project());
    match &arguments.topic {
        Topic::Check { files } if files.is_empty() => report(layer::diagnose_tables(&sources)),
        Topic::Check { files } => report(check(files)?),
        Topic::Read { command, json } => read(command.as_bytes(), *json, &sources, &host),
    }
}

/// Files by themselves: whose they are matters only where they count.
fn check(files: &[PathBuf]) -> Result<Result<Vec<Program>, Vec<Diagnostic>>, Fault> {
    let (mut programs, mut faults) = (Vec::new(), Vec::new());
    for path in files {
        match user::load(&text(path)?, path) {
            Ok(found) => programs.extend(found),
            Err(found) => faults.extend(found),
        }
    }
    Ok(if faults.is_empty() { Ok(programs) } else { Err(faults) })
}

fn text(path: &Path) -> Result<String, Fault> {
    let text = std::fs::read(path).map_err(|error| Fault::new(path.display(), error))?;
    String::from_utf8(text).map_err(|_| Fault::new(path.display(), "not UTF-8 text"))
}

fn report(checked: Result<Vec<Program>, Vec<Diagnostic>>) -> Result<i32, Fault> {
    let mut out = io::stdout().lock();
    match checked {
        Ok(programs) => {
            let replaced: Vec<_> = user::replaced(&programs).collect();
            for name in programs.iter().flat_map(|program| program.names.iter()).map(|name| &*name.text) {
                let note = if replaced.contains(&name) { " (in place of the shipped entry)" } else { "" };
                writeln!(out, "{}{note}", terminal_text::line(name.as_bytes()))?;
            }
            Ok(exit::SUCCESS)
        }
        Err(faults) => {
            super::write_faults(&mut out, &faults)?;
            Ok(exit::USAGE)
        }
    }
}

fn read(line: &[u8], json: bool, sources: &Sources, host: &RealHost) -> Result<i32, Fault> {
    let policy = layer::load(sources).map_err(|faults| Fault(layer::all_told(&faults)))?;
    let tables = Tables::builtin().with_user(policy.wrappers().to_vec());
    let task = Task {
        text: line,
        name: "-c".to_owned(),
        dialect: Dialect::Bash,
        zero: "bash".into(),
        positional: Vec::new(),
        before: Vec::new(),
    };
    let places = Places { globs: policy.places(), own: &[] };
    let facts = facts::collect(&task, host, &Settings { places, tables: &tables });
    let commands = facts.commands.iter().map(|command| outline(&tables, command)).collect();
    let outlines = Outlines { version: 1, commands };
    let text = if json {
        explain::json_line(&outlines).map_err(|error| Fault(error.to_string()))?
    } else {
        let texts: Vec<_> = outlines.commands.iter().map(ToString::to_string).collect();
        terminal_text::block(texts.join("\n").as_bytes())
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(exit::SUCCESS)
}

fn outline(tables: &Tables, command: &CommandFact) -> Outline {
    Outline::of(tables, &words(&command.argv), command.identity == Identity::Described)
}

/// The words of a command, told apart by where they stand.
fn words(argv: &[Option<BString>]) -> Vec<Argument> {
    let unknown = || Piece::Unknown(Unknown { reason: "not known".into(), kind: UnknownKind::Any });
    let word = |(index, word): (usize, &Option<BString>)| {
        let at = Location { script: index, ..Location::default() };
        match word {
            Some(text) => Argument::known(text.clone(), at),
            None => Argument { pieces: vec![unknown()], many: true, at },
        }
    };
    argv.iter().enumerate().map(word).collect()
}
