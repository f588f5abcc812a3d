//! `vetsh completions` and `vetsh man`: what is made from the command line's own description.

use std::io::Write as _;
use std::path::PathBuf;

use clap_complete::Shell;

use super::Fault;
use crate::exit;

/// Print a completion script for an interactive shell.
#[derive(Debug, clap::Args)]
pub(super) struct Completions {
    /// Which shell will read it.
    #[arg(value_enum)]
    shell: Shell,
}

/// Write the man pages into a folder.
#[derive(Debug, clap::Args)]
pub(super) struct Man {
    /// The folder; it must exist.
    folder: PathBuf,
}

pub(super) fn completions(arguments: &Completions) -> Result<i32, Fault> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::command(), "vetsh", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(exit::SUCCESS)
}

pub(super) fn man(arguments: &Man) -> Result<i32, Fault> {
    let folder = &arguments.folder;
    clap_mangen::generate_to(super::command(), folder).map_err(|error| Fault::new(folder.display(), error))?;
    Ok(exit::SUCCESS)
}
