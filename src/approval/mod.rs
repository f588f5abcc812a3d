//! From a decision to an outcome: what the policy leaves open is put to a human.

pub mod cover;
pub mod human;
pub mod ladder;
pub mod process;
pub mod program;
pub mod prompt;
mod signals;
pub mod store;
pub mod terminal;
pub mod ticket;
pub mod turn;

use std::path::Path;

use bstr::BString;
use jiff::{SignedDuration, Timestamp};

use crate::host::FileRead;

pub use ladder::settle;
pub use signals::die;

/// What was asked of vetsh: one shell start, as a human is shown it and as an approval is bound to it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The user's part of the script, after an agent's preamble was recognised.
    pub part: &'a [u8],
    /// The shell that was meant: `bash`.
    pub shell: &'a str,
    /// The words after `argv[0]` without the script's own text: options, `$0` and the positional parameters.
    pub options: &'a [BString],
    /// All words after `argv[0]`.
    pub argv: &'a [BString],
    /// The folder it was started in.
    pub start: &'a Path,
    /// The project.
    pub project: Option<&'a Path>,
    /// The agent that was recognised, if one was.
    pub origin: Option<&'a str>,
    /// The files that the decision was made from.
    pub files: &'a [FileRead],
    /// The effective user.
    pub user: u32,
}

/// How long a ticket stands.
pub const EXPIRY: SignedDuration = SignedDuration::from_mins(30);

/// What becomes of a command.
#[derive(Debug)]
pub enum Outcome {
    /// It runs, once it is recorded.
    Granted(Granted),
    /// It does not run.
    Refused(Refusal),
}

/// Leave to record a command as granted. Only [`settle`] gives it.
#[must_use]
#[derive(Debug)]
pub struct Granted(By);

impl Granted {
    /// By what or whom.
    pub fn by(&self) -> &By {
        &self.0
    }

    /// Whether nobody had to be asked.
    pub fn by_policy(&self) -> bool {
        self.0 == By::Policy
    }
}

/// By what or whom a command was granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// The policy allows it.
    Policy,
    /// A human said yes at the terminal.
    Human,
    /// A human approved this ticket.
    Ticket(String),
    /// It is part of a command that a human approved and that started it.
    Approval,
}

/// Why a command does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The policy denies it.
    Policy,
    /// A human said no at the terminal.
    Human,
    /// A human denied this ticket, which still stands.
    Denied {
        /// The ticket.
        ticket: String,
    },
    /// Nobody can be asked now; a human can answer this ticket.
    Pending {
        /// The ticket.
        ticket: String,
        /// Until when.
        expires: Timestamp,
    },
    /// Nobody can be asked now, and so many tickets of this project are open that no more are opened.
    TooMany {
        /// How many are open.
        open: usize,
    },
    /// Nobody can be asked now, and the policy wants no ticket then (`[ask] unattended = "deny"`).
    Unattended,
    /// A signal came while a human was asked. The caller records this and dies by that signal.
    Withdrawn {
        /// The signal's number.
        signal: i32,
    },
    /// Asking failed.
    Failed {
        /// Why: a lowercase fragment.
        why: String,
    },
}
