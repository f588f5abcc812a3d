//! Becoming the real shell.

pub mod resolve;

pub use resolve::{NoShell, Real};

use crate::audit::log::Permit;
use crate::invocation::Start;

/// Why the real shell did not start.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the real shell {path}: {error}")]
pub struct ExecFault {
    /// Its path.
    path: String,
    /// What the kernel said.
    error: std::io::Error,
}

/// Becomes the real shell, called exactly as we were; returns only if that fails.
pub fn run(permit: Permit, start: &Start, real: &Real) -> ExecFault {
    // That it was recorded, or accounted for, is all that the permit says.
    drop(permit);
    let error = (start.replace)(&real.path);
    ExecFault { path: real.path.to_string_lossy().into_owned(), error }
}
