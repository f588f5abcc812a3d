//! The subcommands of `vetsh`, one file each.

mod approvals;
mod check;
mod commands;
mod elf;
mod generate;
mod install;
mod log;
mod policy;
mod settings;
mod trust;
mod uninstall;

use std::ffi::OsString;
use std::io::Write;

use clap::{CommandFactory, Parser, Subcommand};

use crate::approval::human;
use crate::diagnostic::Diagnostic;
use crate::exit;
use crate::policy::layer;
use crate::shell::preamble;

/// A drop-in shell that vets every command a coding agent gives to a shell.
///
/// Called as bash, sh, zsh, dash or rbash, or with a first argument that begins with a dash (`vetsh -c 'CMD'`), vetsh is
/// that shell: it judges the command, asks where the policy says so, and becomes the real shell.
#[derive(Debug, Parser)]
#[command(name = "vetsh", version, max_term_width = 100, disable_help_subcommand = true)]
struct Tool {
    #[command(subcommand)]
    subcommand: Topic,
}

#[derive(Debug, Subcommand)]
enum Topic {
    Check(check::Arguments),
    Approvals(approvals::Arguments),
    Log(log::Arguments),
    Policy(policy::Arguments),
    Commands(commands::Arguments),
    Trust(trust::Arguments),
    Install(install::Arguments),
    Uninstall(uninstall::Arguments),
    Completions(generate::Completions),
    #[command(hide = true)]
    Man(generate::Man),
}

/// Why a subcommand failed: a lowercase fragment for people.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);

impl Fault {
    /// A fault with the cause after a colon.
    pub fn new(what: impl std::fmt::Display, cause: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {cause}"))
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// Prints what is wrong with files, and how much that is.
fn write_faults(out: &mut impl Write, faults: &[Diagnostic]) -> std::io::Result<()> {
    writeln!(out, "{}\n", layer::all_told(faults))?;
    writeln!(out, "{} {} found", faults.len(), if faults.len() == 1 { "error" } else { "errors" })
}

/// Refuses what an agent may not do to an installation that stands. A script without a terminal may, so that machines
/// can be set up; and a human at a terminal may, wherever that terminal is.
fn not_by_an_agent(what: &str) -> Result<(), Fault> {
    match preamble::agent_above() {
        Some(agent) if human::terminal().is_err() => {
            Err(Fault(format!("{agent} started this; ask the user to {what} at a terminal. Nothing was changed")))
        }
        _ => Ok(()),
    }
}

/// Runs `vetsh ARGUMENTS…` (the program's own name first) and returns the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> i32 {
    let tool = match Tool::try_parse_from(arguments) {
        Ok(tool) => tool,
        Err(error) => {
            // Where help and errors cannot be written there is nobody to tell.
            let _ = error.print();
            return error.exit_code();
        }
    };
    let outcome = match tool.subcommand {
        Topic::Approvals(arguments) => approvals::run(&arguments),
        Topic::Log(arguments) => log::run(&arguments),
        Topic::Policy(arguments) => policy::run(&arguments),
        Topic::Commands(arguments) => commands::run(&arguments),
        Topic::Trust(arguments) => trust::run(&arguments),
        Topic::Check(arguments) => check::run(&arguments),
        Topic::Install(arguments) => install::run(&arguments),
        Topic::Uninstall(arguments) => uninstall::run(&arguments),
        Topic::Completions(arguments) => generate::completions(&arguments),
        Topic::Man(arguments) => generate::man(&arguments),
    };
    outcome.unwrap_or_else(|fault| {
        eprintln!("vetsh: {fault}");
        exit::USAGE
    })
}

/// The command line as clap sees it, for man pages, completions and tests.
pub fn command() -> clap::Command {
    Tool::command()
}
