//! `vetsh check`: what would happen to a command, without running it.

use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Fault;
use crate::decision::{Decision, Mode, Verdict};
use crate::diagnostic::Diagnostic;
use crate::exit;
use crate::explain;
use crate::facts::Task;
use crate::host::{AssumedHost, Host, HostFault, RealHost};
use crate::judgement::{self, Question};
use crate::paths::{self, Paths};
use crate::policy::Policy;
use crate::policy::layer::{self, Sources};
use crate::syntax::Dialect;

/// Say what would happen to a command, without running it.
///
/// Exits 0 if it would run, 10 if you would be asked, 11 if it would be denied.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The command, as it would be given to `bash -c`.
    #[arg(required_unless_present = "batch", value_name = "CMD")]
    command: Option<std::ffi::OsString>,
    /// Judge as this mode would.
    #[arg(long)]
    mode: Option<ModeName>,
    /// The shell that would run it.
    #[arg(long, default_value = "bash")]
    shell: ShellName,
    /// Print the decision as JSON.
    #[arg(long)]
    json: bool,
    /// Read JSON lines with `id`, `cmd` and perhaps `project`, `home`, `shell`; print one JSON line for each.
    ///
    /// A project that does not exist is judged against an assumed machine: programs are where they usually are, and
    /// what the project's files hold cannot be told.
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["command", "json"])]
    batch: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModeName {
    ReadOnly,
    Ask,
    Auto,
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ShellName {
    Bash,
    Sh,
    Zsh,
    Dash,
}

/// A line of a batch.
#[derive(Debug, Deserialize)]
struct Row {
    #[serde(default)]
    id: Value,
    cmd: String,
    project: Option<PathBuf>,
    home: Option<PathBuf>,
    shell: Option<ShellName>,
}

/// The answer to a [`Row`].
#[derive(Debug, Serialize)]
struct Answer<'a> {
    id: &'a Value,
    verdict: Verdict,
    findings: Vec<explain::JsonFinding<'a>>,
    commands: Vec<explain::JsonCommand<'a>>,
}

/// The answer to a line that is no [`Row`].
#[derive(Debug, Serialize)]
struct Unanswered {
    id: Value,
    error: String,
}

pub(super) fn run(arguments: &Arguments) -> Result<i32, Fault> {
    let paths = Paths::locate().map_err(|fault| Fault(fault.to_string()))?;
    let judges = Judges { paths, mode: arguments.mode.map(Mode::from), last: None };
    match (&arguments.batch, &arguments.command) {
        (Some(file), _) => batch(file, arguments.shell, judges),
        (None, Some(command)) => one(command.as_bytes(), arguments, judges),
        (None, None) => Ok(exit::USAGE),
    }
}

fn one(command: &[u8], arguments: &Arguments, mut judges: Judges) -> Result<i32, Fault> {
    let host = RealHost::here(&judges.paths).map_err(|fault| Fault(fault.to_string()))?;
    let decision = judges.decide(command, arguments.shell, &host)?;
    let text = if arguments.json {
        explain::json_line(&explain::json(&decision, host.assumed())).map_err(|error| Fault(error.to_string()))?
    } else {
        explain::text(&decision)
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(match decision.verdict {
        Verdict::Allow => exit::SUCCESS,
        Verdict::Ask => exit::WOULD_ASK,
        Verdict::Deny => exit::WOULD_DENY,
    })
}

/// Answers every line in order, each as soon as it is read.
fn batch(file: &Path, shell: ShellName, mut judges: Judges) -> Result<i32, Fault> {
    let input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(file).map_err(|error| Fault::new(file.display(), error))?))
    };
    let mut output = std::io::stdout().lock();
    let mut complete = true;
    for line in input.split(b'\n') {
        let line = line?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = answer(&line, shell, &mut judges).unwrap_or_else(|unanswered| {
            complete = false;
            explain::json_line(&unanswered).unwrap_or_default()
        });
        output.write_all(answer.as_bytes())?;
    }
    Ok(if complete { exit::SUCCESS } else { exit::USAGE })
}

fn answer(line: &[u8], shell: ShellName, judges: &mut Judges) -> Result<String, Unanswered> {
    let row: Row = serde_json::from_slice(line).map_err(|error| {
        let id = serde_json::from_slice::<Value>(line).ok().and_then(|row| row.get("id").cloned());
        Unanswered { id: id.unwrap_or_default(), error: error.to_string() }
    })?;
    let unanswered = |error: String| Unanswered { id: row.id.clone(), error };
    let host = host(&row, &judges.paths).map_err(|fault| unanswered(fault.to_string()))?;
    let shell = row.shell.unwrap_or(shell);
    let decision = judges.decide(row.cmd.as_bytes(), shell, host.as_ref()).map_err(|fault| unanswered(fault.0))?;
    let json = explain::json(&decision, host.assumed());
    let answer = Answer { id: &row.id, verdict: json.verdict, findings: json.findings, commands: json.commands };
    explain::json_line(&answer).map_err(|error| unanswered(error.to_string()))
}

/// The machine that a row is judged against: this one if its project exists here.
fn host(row: &Row, paths: &Paths) -> Result<Box<dyn Host>, HostFault> {
    let Some(project) = &row.project else { return Ok(Box::new(RealHost::here(paths)?)) };
    let user = paths::user();
    let home = row.home.clone().or_else(|| paths::home_of(user)).unwrap_or_else(|| "/nonexistent".into());
    if project.is_dir() {
        return Ok(Box::new(RealHost::at(project, &home)));
    }
    Ok(Box::new(AssumedHost::new(project, &home)))
}

/// Judges command after command; the policy stays loaded as long as the project is the same.
struct Judges {
    paths: Paths,
    mode: Option<Mode>,
    last: Option<(Option<PathBuf>, Policy)>,
}

impl Judges {
    fn decide(&mut self, command: &[u8], shell: ShellName, host: &dyn Host) -> Result<Decision, Fault> {
        let task = Task {
            text: command,
            name: "-c".to_owned(),
            dialect: shell.dialect(&self.paths, host.assumed()),
            zero: shell.name().into(),
            positional: Vec::new(),
            before: Vec::new(),
        };
        let mode = self.mode;
        let own = self.paths.own();
        // An assumed project has no policy of its own.
        let policy = self.policy(host.project().filter(|_| !host.assumed()))?;
        let question = Question { policy, mode, shell: shell.name(), origin: "", own: &own };
        judgement::decide(&task, host, question).map_err(|fault| Fault(fault.to_string()))
    }

    fn policy(&mut self, project: Option<&Path>) -> Result<&Policy, Fault> {
        let last = self.last.take().filter(|(known, _)| known.as_deref() == project);
        let policy = match last {
            Some((_, policy)) => policy,
            None => layer::load(&Sources::new(&self.paths, project)).map_err(|faults| Fault(rendered(&faults)))?,
        };
        Ok(&self.last.insert((project.map(Path::to_path_buf), policy)).1)
    }
}

/// All that is wrong with a policy, with the lines at fault.
fn rendered(diagnostics: &[Diagnostic]) -> String {
    format!("the policy cannot be used\n{}", layer::all_told(diagnostics))
}

impl ShellName {
    fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Sh => "sh",
            Self::Zsh => "zsh",
            Self::Dash => "dash",
        }
    }

    /// By whose rules a text is read. An assumed machine's `sh` is dash, the strictest.
    fn dialect(self, paths: &Paths, assumed: bool) -> Dialect {
        use crate::shell::Shell;
        match self {
            Self::Bash => Dialect::Bash,
            Self::Zsh => Dialect::Zsh,
            Self::Dash => Dialect::Dash,
            Self::Sh if assumed => Dialect::Dash,
            Self::Sh => match crate::exec::resolve::real("sh", paths.record.as_ref()).map(|real| real.shell) {
                Ok(Shell::Bash) => Dialect::BashPosix,
                Ok(Shell::Zsh) => Dialect::ZshSh,
                Ok(Shell::Dash) | Err(_) => Dialect::Dash,
            },
        }
    }
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::ReadOnly => Self::ReadOnly,
            ModeName::Ask => Self::Ask,
            ModeName::Auto => Self::Auto,
            ModeName::Full => Self::Full,
        }
    }
}
