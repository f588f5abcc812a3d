//! The product on one page.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::cli;
use crate::exec::{self, NoShell, resolve};
use crate::exit;
use crate::invocation::{Role, Start, base_name};
use crate::paths::{Paths, PathsFault};
use crate::shell::Source;

/// Why nothing runs.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("denied: cannot tell as what vetsh was started: /proc/self/exe: {0}")]
    Executable(std::io::Error),
    #[error("denied: {0}")]
    Paths(#[from] PathsFault),
    #[error("denied: {0}")]
    Shell(#[from] NoShell),
    #[error("denied: {0}")]
    Exec(#[from] exec::ExecFault),
    #[error("denied: the script cannot be judged")]
    Unjudged,
}

/// Runs the binary; the result is its exit status.
pub fn run(start: &Start) -> i32 {
    let executable = match std::fs::read_link("/proc/self/exe") {
        Ok(path) => path,
        Err(error) => return refuse(&Refusal::Executable(error)),
    };
    match Role::of(name_of(&executable).as_slice().into(), &start.arguments) {
        Role::Tool => cli::run(start.arguments.iter().map(|argument| OsStr::from_bytes(argument).to_owned())),
        Role::Shell(name) => refuse(&vet(start, name)),
    }
}

/// Judges one start of a shell and becomes the real one; returns only to refuse.
fn vet(start: &Start, name: &str) -> Refusal {
    vet_and_run(start, name).unwrap_or_else(|refusal| refusal)
}

fn vet_and_run(start: &Start, name: &str) -> Result<Refusal, Refusal> {
    let paths = Paths::locate()?;
    let real = resolve::real(name, paths.record.as_ref())?;
    let reading = real.shell.read(&start.arguments);
    match reading.source {
        Source::Nowhere => Ok(exec::run(start, &real).into()),
        Source::Text(_) | Source::File(_) | Source::Stdin => Err(Refusal::Unjudged),
    }
}

/// The name of the started file; a file that was replaced since keeps it.
fn name_of(executable: &PathBuf) -> Vec<u8> {
    let name = base_name(executable.as_os_str().as_bytes());
    name.strip_suffix(b" (deleted)").unwrap_or(name).to_vec()
}

fn refuse(refusal: &Refusal) -> i32 {
    // There is nobody left to tell where even this fails.
    let _ = writeln!(std::io::stderr(), "vetsh: {refusal}. Nothing was run.");
    exit::REFUSED
}
