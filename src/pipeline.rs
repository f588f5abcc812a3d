//! The product on one page.
//!
//! `argv → Invocation → Host → Policy → Script → Facts → Decision → Outcome → Record → Permit → exec`

use std::convert::Infallible;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use crate::approval::{self, Asked, Outcome, human};
use crate::audit::log::Log;
use crate::audit::record::Record;
use crate::decision::{Decision, Verdict};
use crate::exec::{self, Real, resolve};
use crate::facts::{Code, Prelude, Task};
use crate::host::{self, Host, RealHost};
use crate::invocation::{Role, Start, base_name};
use crate::judgement::{self, Question};
use crate::paths::Paths;
use crate::policy::{OnError, Policy, layer};
use crate::refusal::Refusal;
use crate::shell::Reading;
use crate::shell::preamble::{self, Wrapped};
use crate::shell::source::Script;
use crate::shell::startup::Surroundings;
use crate::{cli, exit};

/// Runs the binary; the result is its exit status.
pub fn run(start: &Start) -> i32 {
    let refusal = match std::fs::read_link("/proc/self/exe") {
        Ok(executable) => match role(&executable, start) {
            Role::Tool => return cli::run(start.arguments.iter().map(|word| OsStr::from_bytes(word).to_owned())),
            Role::Shell(name) => {
                let Err(refusal) = vet(start, name, &executable);
                refusal
            }
        },
        Err(error) => Refusal::Executable(error),
    };
    refusal.print();
    exit::REFUSED
}

/// As what we were called: by the name of the file that was started. One that was replaced since keeps its name.
fn role(executable: &Path, start: &Start) -> Role {
    let name = base_name(executable.as_os_str().as_bytes());
    Role::of(name.strip_suffix(b" (deleted)").map_or(name, |name| name.as_bstr()), &start.arguments)
}

/// Judges one start of a shell and becomes the real one; returns only if nothing runs.
///
/// `executable` is the file that was started: the install record lies beside it.
fn vet(start: &Start, name: &'static str, executable: &Path) -> Result<Infallible, Refusal> {
    let paths = Paths::locate_beside(executable)?;
    let real = resolve::real(name, paths.record.as_ref())?;
    let reading = real.shell.read(&start.arguments);
    let host = RealHost::here(&paths)?;
    let policy = load(&paths, &host, &real)?;
    let path = host.variable("PATH".into());
    let unread = policy.shell().pipe == Verdict::Allow;
    let script = Script::find(real.shell, &reading, path.as_ref().map(|path| path.as_bstr()), unread)?;
    let wrapped = preamble::unwrap(&reading, &start.environment, host.home(), host.project(), preamble::processes);
    let task = task(start, &real, &reading, &script, wrapped.as_ref(), &host);
    let origin = wrapped.as_ref().map(|wrapped| wrapped.agent);
    let decision = judge(&task, &host, &policy, &paths.own(), name, origin)?;
    if script.terminal && !may_be_typed(&policy) {
        return Err(Refusal::Terminal);
    }
    let words: Vec<BString> = start.arguments.iter().skip(1).map(|word| BString::from(*word)).collect();
    let options = options(start, &reading);
    let files = [host.reads(), script.file().into_iter().collect()].concat();
    let asked = Asked {
        part: task.text,
        shell: name,
        options: &options,
        argv: &words,
        start: host.start(),
        project: host.project(),
        origin,
        files: &files,
        user: host.user(),
    };
    let outcome = approval::settle(&asked, &decision, &policy.ask(), &paths.state);
    let record = Record::of(&asked, &decision, &outcome);
    let log = Log { state: &paths.state, strict: policy.audit().on_error == OnError::Refuse };
    let granted = match outcome {
        Outcome::Granted(granted) => granted,
        Outcome::Refused(outcome) => {
            // The refusal stands whether it is recorded or not.
            let _ = log.note(&record);
            if let approval::Refusal::Withdrawn { signal } = outcome {
                approval::die(signal);
            }
            return Err(Refusal::Outcome { decision: Box::new(decision), outcome });
        }
    };
    let permit = log.permit(&record, &granted)?;
    script.hand_over(start)?;
    host::note_brought(&paths.brought(), &decision.facts.brought);
    Err(exec::run(permit, start, &real).into())
}

/// The policy of this user in this project.
fn load(paths: &Paths, host: &RealHost, real: &Real) -> Result<Policy, Refusal> {
    let sources = layer::Sources::new(paths, host.project());
    let way_out = || Path::new(OsStr::from_bytes(real.path.as_bytes())).to_path_buf();
    layer::load(&sources).map_err(|faults| Refusal::Policy { faults, real: way_out() })
}

/// What is to be judged: the user's part of an agent's wrapper or the whole script, and what runs before it.
fn task<'a>(
    start: &'a Start,
    real: &Real,
    reading: &'a Reading<'a>,
    script: &'a Script<'a>,
    wrapped: Option<&'a Wrapped<'a>>,
    host: &RealHost,
) -> Task<'a> {
    let caller = start.arguments.first().copied().unwrap_or_default();
    let environment = &start.environment;
    let surroundings = Surroundings { shell: real.shell, reading, caller, environment, host };
    let mut before = surroundings.preludes(&script.text);
    let prelude = |text: &BStr| Prelude { name: "-c text".to_owned(), code: Code::Script(text.into()) };
    before.extend(script.first.map(prelude));
    let dialect = surroundings.dialect();
    let Some(wrapped) = wrapped else {
        return Task {
            text: &script.text,
            name: script.name.clone(),
            dialect,
            zero: reading.zero.into(),
            positional: reading.positional.iter().map(|word| BString::from(*word)).collect(),
            before,
        };
    };
    before.extend(surroundings.sourced(&wrapped.sourced));
    let dialect = wrapped.shell.map_or(dialect, super::shell::Shell::dialect);
    let name = format!("command of {}", wrapped.agent);
    Task { text: &wrapped.text, name, dialect, zero: caller.into(), positional: Vec::new(), before }
}

/// Whether a shell may run what is typed at its terminal, which nobody vets: a human who opens one need not be asked.
fn may_be_typed(policy: &Policy) -> bool {
    match policy.shell().terminal {
        Verdict::Allow => true,
        Verdict::Ask => human::terminal().is_ok(),
        Verdict::Deny => false,
    }
}

/// From the script to the decision. `own` are vetsh's folders.
fn judge(
    task: &Task<'_>,
    host: &RealHost,
    policy: &Policy,
    own: &[PathBuf],
    shell: &str,
    origin: Option<&str>,
) -> Result<Decision, Refusal> {
    let origin = origin.unwrap_or_default();
    Ok(judgement::decide(task, host, Question { policy, mode: None, shell, origin, own })?)
}

/// The words after `argv[0]`, without the script's own text.
fn options(start: &Start, reading: &Reading<'_>) -> Vec<BString> {
    use crate::shell::Source;
    let text = if let Source::Text(text) = reading.source { Some(text) } else { None };
    let is_text = |word: &BStr| text.is_some_and(|text| std::ptr::eq(text, word));
    start.arguments.iter().skip(1).filter(|word| !is_text(word)).map(|word| BString::from(*word)).collect()
}
