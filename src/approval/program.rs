//! A program that puts the question to a human where no terminal can: `[ask] program`.
//!
//! It gets the question as its last argument, and answers by its exit status: 0 yes, 1 no, anything else that nobody
//! was asked. Its environment is not the caller's, who would choose the display or the libraries by it; what it needs
//! (`DISPLAY`, `XAUTHORITY`) it sets itself.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::prompt::{self, Answer};
use super::signals::{News, Signals, wait};
use super::ticket::Ticket;
use crate::paths;

/// How long it is waited for where the policy does not say: below the shortest limit that an agent is known to have.
const PATIENCE: Duration = Duration::from_secs(8);
/// Columns of the question.
const WIDTH: usize = 100;
/// The programs that it finds.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Puts a question to a human through `program`. [`Answer::Gone`] means that nobody answered.
pub fn ask(program: &[String], ticket: &Ticket, limit: Option<Duration>) -> Answer {
    let Some((path, arguments)) = program.split_first().filter(|(path, _)| is_ours(Path::new(path))) else {
        return Answer::Gone;
    };
    let Ok(signals) = Signals::watch() else { return Answer::Gone };
    let home = paths::home_of(paths::user()).unwrap_or_else(|| "/".into());
    let started = Command::new(path)
        .args(arguments)
        .arg(prompt::rows(ticket, true, WIDTH, false).join("\n"))
        .env_clear()
        .env("PATH", PATH)
        .env("HOME", home)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.map_or(Answer::Gone, |mut child| {
        let answer = follow(&mut child, signals, limit.unwrap_or(PATIENCE));
        // Gone already where it answered; else nothing of it may stay and wait for a click that counts for nothing.
        let _ = child.kill();
        let _ = child.wait();
        answer
    })
}

/// Whether nobody but the user or root can have written the program.
fn is_ours(path: &Path) -> bool {
    path.is_absolute() && File::open(path).and_then(|file| file.metadata()).is_ok_and(|metadata| paths::ours(&metadata))
}

/// Waits for the answer, a signal or the limit.
fn follow(child: &mut Child, mut signals: Signals, limit: Duration) -> Answer {
    let end = Instant::now() + limit;
    let handle = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let Some(Ok(handle)) = handle.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else { return Answer::Gone };
    loop {
        if let Some(News::Ending(signal)) = signals.news() {
            return Answer::Withdrawn(signal);
        }
        match child.try_wait().map(|status| status.map(|status| status.code())) {
            Ok(Some(Some(0))) => return Answer::Yes,
            Ok(Some(Some(1))) => return Answer::No,
            Ok(Some(_)) | Err(_) => return Answer::Gone,
            Ok(None) => {}
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Answer::Gone;
        }
        // Why the wait ended is looked at above.
        let _ = wait([handle.as_fd(), signals.as_fd()], Some(left));
    }
}
