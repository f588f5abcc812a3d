//! `vetsh uninstall`: takes away what `vetsh install` made.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Fault, install};
use crate::exit;
use crate::paths::{self, Paths};

/// Remove the shims and the record beside them.
///
/// Your policy and the log stay, unless --purge is said. Settings of agents that name the shims are yours to change
/// back first: an agent whose shell is gone cannot run anything.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder of the shims; without it, the one that this program was installed into.
    #[arg(long, value_name = "DIR")]
    shims: Option<PathBuf>,
    /// Remove the policy, the log and all other state too.
    #[arg(long)]
    purge: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<i32, Fault> {
    super::not_by_an_agent("uninstall vetsh")?;
    let paths = match &arguments.shims {
        Some(shims) => Paths::installed_in(shims).map_err(|fault| Fault(fault.to_string()))?,
        None => Some(Paths::locate().map_err(|fault| Fault(fault.to_string()))?),
    };
    let installed = paths.as_ref().and_then(|paths| Some((paths, paths.record.as_ref()?)));
    let Some((paths, record)) = installed else {
        return Err(Fault("there is no install record here: say --shims DIR".to_owned()));
    };
    // The record goes last: an interrupted run can be repeated, and no shim outlives it.
    let names = install::SHIMS.iter().chain([&install::BINARY, &paths::RECORD]);
    for name in names {
        remove(&record.shims.join(name), false)?;
    }
    let mut report = format!("removed the shims from {}\n", record.shims.display());
    if arguments.purge {
        purge(paths)?;
        report.push_str("removed policy, log and state\n");
    } else {
        let _ = writeln!(report, "kept {} and {}", paths.config.display(), paths.state.display());
    }
    for folder in [&record.shims, &paths.runtime] {
        // Stays where it holds anything else.
        let _ = fs::remove_dir(folder);
    }
    print!("{report}");
    Ok(exit::SUCCESS)
}

/// Removes what vetsh keeps, by name: the folders may have been chosen by the user and hold other things.
fn purge(paths: &Paths) -> Result<(), Fault> {
    for folder in [paths.commands(), paths.tickets(), paths.trust(), paths.grants()] {
        remove(&folder, true)?;
    }
    for file in [paths.policy(), paths.log(), paths.policy_cache()] {
        remove(&file, false)?;
    }
    for folder in [&paths.config, &paths.state] {
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

fn remove(path: &Path, tree: bool) -> Result<(), Fault> {
    let removed = if tree { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Fault::new(path.display(), error)),
        _ => Ok(()),
    }
}
