//! How the binary was called: as which shell, or as the tool.

use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};

use bstr::{BStr, ByteSlice};

/// What the kernel gave us, and what only the binary's entry point can do with it.
pub struct Start {
    /// The arguments, the caller's `argv[0]` first.
    pub arguments: Vec<&'static BStr>,
    /// The environment, each `NAME=value` as it stands.
    pub environment: Vec<&'static BStr>,
    /// Becomes another program with the same arguments and environment; returns only on failure.
    pub replace: fn(&CStr) -> io::Error,
    /// Makes a descriptor number a name for an open file, also after exec.
    pub place: fn(BorrowedFd<'_>, RawFd) -> io::Result<()>,
}

/// As what the binary was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// As the shell of this name.
    Shell(&'static str),
    /// As `vetsh SUBCOMMAND`.
    Tool,
}

/// The names under which the binary is a shell.
pub const SHELLS: [&str; 5] = ["bash", "sh", "zsh", "dash", "rbash"];

/// The shell that `vetsh -c …` stands for.
const DEFAULT_SHELL: &str = "bash";

/// Arguments with which `vetsh` is the tool although they begin with a dash.
const TOOL_OPTIONS: [&str; 2] = ["--help", "--version"];

impl Role {
    /// Tells it from the name of the file that was started and the arguments.
    ///
    /// Hard links make one binary many shells, so the file's own name decides. Only a file that is not named as a shell
    /// looks at its arguments: a login dash or the name of a shell in `argv[0]`, or a first argument with a dash.
    pub fn of(file: &BStr, arguments: &[&BStr]) -> Self {
        if let Some(shell) = shell_named(file) {
            return Self::Shell(shell);
        }
        let zero = arguments.first().map_or(&b""[..], |zero| zero.as_bytes());
        if let Some(shell) = shell_named(base_name(zero.strip_prefix(b"-").unwrap_or(zero))) {
            return Self::Shell(shell);
        }
        let first = arguments.get(1).map_or(&b""[..], |first| first.as_bytes());
        let tool = TOOL_OPTIONS.iter().any(|option| option.as_bytes() == first);
        if zero.starts_with(b"-") || first.starts_with(b"-") && !tool || first.starts_with(b"+") {
            return Self::Shell(DEFAULT_SHELL);
        }
        Self::Tool
    }
}

/// What follows the last slash.
pub fn base_name(path: &[u8]) -> &BStr {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path).as_bstr()
}

fn shell_named(name: &BStr) -> Option<&'static str> {
    SHELLS.into_iter().find(|shell| name == shell.as_bytes())
}
