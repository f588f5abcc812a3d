//! Signals while a human is asked: they withdraw the question, after what was changed for it is given back.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::{flag, low_level};

/// Signals that end the question.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];
/// Signals after which the terminal may look otherwise.
const REDRAWING: [i32; 2] = [SIGCONT, SIGWINCH];

/// What a signal means for the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// It is withdrawn.
    Ending(i32),
    /// It has to be drawn anew.
    Redraw,
}

/// Signals that come while the question stands. Before and after, they do what they did.
pub(super) struct Signals {
    /// The last ending signal, or 0.
    ending: Arc<AtomicUsize>,
    redraw: Arc<AtomicBool>,
    /// Set when the question is over: then an ending signal ends us at once.
    over: Arc<AtomicBool>,
    woken: UnixStream,
}

impl Signals {
    /// Watches from now on.
    pub(super) fn watch() -> io::Result<Self> {
        let (woken, waker) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        let signals = Self { ending: Arc::default(), redraw: Arc::default(), over: Arc::default(), woken };
        let ignored = ignored_signals();
        let heeded = |signal: &i32| ignored >> (signal - 1) & 1 == 0;
        for signal in ENDING.into_iter().filter(heeded) {
            flag::register_conditional_default(signal, Arc::clone(&signals.over))?;
            flag::register_usize(signal, Arc::clone(&signals.ending), usize::try_from(signal).unwrap_or_default())?;
            low_level::pipe::register(signal, waker.try_clone()?)?;
        }
        for signal in REDRAWING.into_iter().filter(heeded) {
            flag::register(signal, Arc::clone(&signals.redraw))?;
            low_level::pipe::register(signal, waker.try_clone()?)?;
        }
        Ok(signals)
    }

    /// What came since the last call.
    pub(super) fn news(&mut self) -> Option<News> {
        let mut bytes = [0; 64];
        while self.woken.read(&mut bytes).is_ok_and(|count| count > 0) {}
        self.ending().or_else(|| self.redraw.swap(false, Ordering::SeqCst).then_some(News::Redraw))
    }

    fn ending(&self) -> Option<News> {
        let signal = i32::try_from(self.ending.swap(0, Ordering::SeqCst)).unwrap_or_default();
        (signal != 0).then_some(News::Ending(signal))
    }
}

impl AsFd for Signals {
    /// Can be read when there is news.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // One that came after the last look, and before the line above.
        if let Some(News::Ending(signal)) = self.ending() {
            die(signal);
        }
    }
}

/// Ends this process by `signal`, as it would have ended a shell that was running the command.
pub fn die(signal: i32) -> ! {
    // Only an unknown number fails, and those were never watched.
    let _ = low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal)
}

/// The signals that this process was started to ignore, as a bit mask. They stay ignored.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

/// Which of `fds` can be read (or have ended), after at most `limit`.
pub(super) fn wait<const N: usize>(fds: [BorrowedFd<'_>; N], limit: Option<Duration>) -> rustix::io::Result<[bool; N]> {
    let mut polled = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    poll(&mut polled, limit.as_ref())?;
    Ok(polled.map(|fd| !fd.revents().is_empty()))
}
