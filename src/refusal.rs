//! Why nothing runs: one paragraph of ASCII for standard error, which may be all that a model gets to see.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::approval;
use crate::audit::log::LogFault;
use crate::decision::Decision;
use crate::diagnostic::Diagnostic;
use crate::exec::{ExecFault, NoShell};
use crate::explain;
use crate::host::HostFault;
use crate::paths::PathsFault;
use crate::policy::{self, layer};
use crate::shell::source::SourceFault;

/// Why nothing runs.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The kernel does not say which file was started.
    #[error("cannot tell as what vetsh was started: /proc/self/exe: {0}")]
    Executable(std::io::Error),
    /// vetsh's own folders are not known.
    #[error(transparent)]
    Paths(#[from] PathsFault),
    /// There is no real shell to become.
    #[error(transparent)]
    Shell(#[from] NoShell),
    /// The working directory or the home folder is not known.
    #[error(transparent)]
    Host(#[from] HostFault),
    /// A policy file is broken.
    #[error("{}", broken(.faults, .real))]
    Policy {
        /// All that is wrong.
        faults: Vec<Diagnostic>,
        /// The real shell, by which a human gets out.
        real: PathBuf,
    },
    /// The compiled policy failed while it was used.
    #[error(transparent)]
    Evaluation(#[from] policy::Fault),
    /// The script cannot be read.
    #[error(transparent)]
    Source(#[from] SourceFault),
    /// A shell on a terminal, and nobody there who could be told from a program.
    #[error(
        "a shell on a terminal cannot be vetted command by command, and this terminal is not known to be a human's; give \
         the command with -c (`[shell] terminal` in the policy)"
    )]
    Terminal,
    /// It could not be written down.
    #[error("this command must be recorded, and cannot be: {0}")]
    Log(#[from] LogFault),
    /// The kernel would not start the real shell.
    #[error(transparent)]
    Exec(#[from] ExecFault),
    /// Judged, and not granted.
    #[error("{}", settled(.decision, .outcome))]
    Outcome {
        /// The judgement.
        decision: Box<Decision>,
        /// What became of it.
        outcome: approval::Refusal,
    },
}

impl Refusal {
    /// Writes the paragraph. There is nobody left to tell where even that fails.
    pub fn print(&self) {
        let text = match self {
            Self::Outcome { .. } => self.to_string(),
            fault => format!("vetsh: denied: {fault}. Nothing was run."),
        };
        let mut line: String = text.trim_end().chars().flat_map(shown).collect();
        line.push('\n');
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

fn shown(c: char) -> impl Iterator<Item = char> {
    let c = if matches!(c, '\n' | '\t') { ' ' } else { c };
    let escaped = (!matches!(c, ' '..='~')).then(|| c.escape_default());
    escaped.is_none().then_some(c).into_iter().chain(escaped.into_iter().flatten())
}

fn broken(faults: &[Diagnostic], real: &Path) -> String {
    let Some(first) = faults.first() else { return "the policy cannot be used".to_owned() };
    let more = match faults.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!(
        "the policy {} is broken: {}{more}; `vetsh policy check` shows all. A human can mend it in {}",
        layer::place(first),
        first.message,
        real.display()
    )
}

fn settled(decision: &Decision, outcome: &approval::Refusal) -> String {
    use approval::Refusal as Settled;
    match outcome {
        Settled::Policy => explain::refusal(decision, None),
        Settled::Pending { ticket, .. } => explain::refusal(decision, Some(ticket)),
        Settled::Human => "vetsh: denied: the user said no. Nothing was run. Do not retry it or work around it.".into(),
        Settled::Denied { ticket } => {
            format!(
                "vetsh: denied: the user said no (ticket {ticket}). Nothing was run. Do not retry it or work around it."
            )
        }
        Settled::TooMany { open } => format!(
            "vetsh: denied: it needs approval, and {open} commands of this project already wait for the user. Nothing was \
             run. Ask the user to answer them."
        ),
        Settled::Unattended => explain::refusal(decision, None),
        Settled::Withdrawn { signal } => {
            format!("vetsh: denied: stopped by signal {signal} while the user was asked. Nothing was run.")
        }
        Settled::Failed { why } => {
            format!("vetsh: denied: it needs approval, and the user cannot be asked: {why}. Nothing was run.")
        }
    }
}
