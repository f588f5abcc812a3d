//! The human's terminal while a question stands on it: keys one by one, modes and signals given back on every way out.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{self, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::{flag, low_level};

/// How long nothing may come from the terminal, with the question visible, before a key counts.
pub const SILENCE: Duration = Duration::from_millis(700);
/// How long more bytes are waited for that would make a key a paste or a reply of the terminal.
const GATHER: Duration = Duration::from_millis(50);
/// Signals that end the question.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];
/// Signals after which the question is drawn anew.
const REDRAWING: [i32; 2] = [SIGCONT, SIGWINCH];

/// Pastes arrive between marks, so that a pasted `y` is no key.
const MARK_PASTES: &[u8] = b"\x1b[?2004h";
const UNMARK_PASTES: &[u8] = b"\x1b[?2004l";

/// What came from the terminal or from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A key that a human pressed.
    Key(u8),
    /// The terminal may look otherwise now.
    Redraw,
    /// The question is withdrawn by this signal.
    Signal(i32),
    /// The terminal is gone.
    Gone,
}

/// A terminal that was taken over. Dropping it gives it back.
pub struct Terminal {
    tty: File,
    before: Termios,
    signals: Signals,
    quiet_since: Instant,
    marks: bool,
}

impl Terminal {
    /// Takes the terminal over. `marks` tells whether it understands escape sequences.
    pub fn take(tty: File, marks: bool) -> io::Result<Self> {
        let before = termios::tcgetattr(&tty)?;
        // From here on a signal is ours to act on: none may end us while the terminal is not as it was.
        let signals = Signals::watch()?;
        let mut terminal = Self { tty, before, signals, quiet_since: Instant::now(), marks };
        terminal.read_keys()?;
        Ok(terminal)
    }

    /// The question is now visible. What was typed before is forgotten.
    pub fn shown(&mut self) {
        // A terminal that cannot forget is gone, which the next read tells.
        let _ = termios::tcflush(&self.tty, QueueSelector::IFlush);
        self.quiet_since = Instant::now();
    }

    /// Waits for the next event.
    pub fn event(&mut self) -> Event {
        loop {
            if let Some(event) = self.signals.take() {
                if event == Event::Redraw && self.read_keys().is_err() {
                    return Event::Gone;
                }
                return event;
            }
            let [typed, _] = match wait([self.tty.as_fd(), self.signals.woken.as_fd()], None) {
                Ok(ready) => ready,
                Err(Errno::INTR) => continue,
                Err(_) => return Event::Gone,
            };
            self.signals.rest();
            if typed {
                match self.key() {
                    Ok(Some(key)) => return Event::Key(key),
                    Ok(None) => {}
                    Err(_) => return Event::Gone,
                }
            }
        }
    }

    /// Reads what was typed: a key, if it came alone and after silence.
    fn key(&mut self) -> io::Result<Option<u8>> {
        let mut bytes = [0; 256];
        let count = (&self.tty).read(&mut bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let quiet = self.quiet_since.elapsed() >= SILENCE;
        let alone = count == 1 && !wait([self.tty.as_fd()], Some(GATHER)).is_ok_and(|[more]| more);
        self.quiet_since = Instant::now();
        Ok(bytes.first().copied().filter(|_| quiet && alone))
    }

    fn read_keys(&mut self) -> io::Result<()> {
        let mut modes = self.before.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        // Stopping with the terminal in this state would leave the caller's shell with it.
        modes.special_codes[SpecialCodeIndex::VSUSP] = 0;
        termios::tcsetattr(&self.tty, OptionalActions::Now, &modes)?;
        if self.marks { (&self.tty).write_all(MARK_PASTES) } else { Ok(()) }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Nothing can be done about a terminal that does not take its modes back: it is gone.
        if self.marks {
            let _ = (&self.tty).write_all(UNMARK_PASTES);
        }
        let _ = termios::tcflush(&self.tty, QueueSelector::IFlush);
        let _ = termios::tcsetattr(&self.tty, OptionalActions::Now, &self.before);
    }
}

/// Which of `fds` can be read (or have ended), after at most `limit`.
fn wait<const N: usize>(
    fds: [std::os::fd::BorrowedFd<'_>; N],
    limit: Option<Duration>,
) -> rustix::io::Result<[bool; N]> {
    let mut polled = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    poll(&mut polled, limit.as_ref())?;
    Ok(polled.map(|fd| !fd.revents().is_empty()))
}

/// Signals that come while the question stands. Before and after, they do what they did.
struct Signals {
    /// The last ending signal, or 0.
    ending: Arc<AtomicUsize>,
    redraw: Arc<AtomicBool>,
    /// Set when the question is over: then an ending signal ends us at once.
    over: Arc<AtomicBool>,
    woken: UnixStream,
}

impl Signals {
    fn watch() -> io::Result<Self> {
        let (woken, waker) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        let signals = Self { ending: Arc::default(), redraw: Arc::default(), over: Arc::default(), woken };
        let ignored = ignored_signals();
        for signal in ENDING.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0) {
            flag::register_conditional_default(signal, Arc::clone(&signals.over))?;
            flag::register_usize(signal, Arc::clone(&signals.ending), usize::try_from(signal).unwrap_or_default())?;
            low_level::pipe::register(signal, waker.try_clone()?)?;
        }
        for signal in REDRAWING {
            flag::register(signal, Arc::clone(&signals.redraw))?;
            low_level::pipe::register(signal, waker.try_clone()?)?;
        }
        Ok(signals)
    }

    fn take(&self) -> Option<Event> {
        match i32::try_from(self.ending.swap(0, Ordering::SeqCst)) {
            Ok(signal) if signal != 0 => Some(Event::Signal(signal)),
            _ if self.redraw.swap(false, Ordering::SeqCst) => Some(Event::Redraw),
            _ => None,
        }
    }

    /// Forgets that a signal woke us; what it was is in the flags.
    fn rest(&mut self) {
        let mut bytes = [0; 64];
        while self.woken.read(&mut bytes).is_ok_and(|count| count > 0) {}
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // One that came after the last look, and before the line above.
        if let Some(Event::Signal(signal)) = self.take() {
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
