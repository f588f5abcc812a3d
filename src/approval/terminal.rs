//! The human's terminal while a question stands on it: keys one by one, modes and signals given back on every way out.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::termios::{self, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios};

use super::signals::{News, Signals, wait};
use super::turn::Turn;

/// How long nothing may come from the terminal, with the question visible, before a key counts.
pub const SILENCE: Duration = Duration::from_millis(700);
/// How long more bytes are waited for that would make a key a paste or a reply of the terminal: slow lines and loaded
/// machines split them, and a person does not feel it.
const GATHER: Duration = Duration::from_millis(200);

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
    /// The terminal is gone, or nobody answered in time.
    Gone,
}

/// A terminal that was taken over. Dropping it gives it back, and then the turn.
pub struct Terminal {
    turn: Turn,
    before: Termios,
    signals: Signals,
    quiet_since: Instant,
    /// When the question ends without an answer.
    end: Option<Instant>,
    marks: bool,
}

impl Terminal {
    /// Takes the terminal over, for at most `limit`. `marks` tells whether it understands escape sequences.
    pub fn take(turn: Turn, limit: Option<Duration>, marks: bool) -> io::Result<Self> {
        let before = termios::tcgetattr(&turn)?;
        // From here on a signal is ours to act on: none may end us while the terminal is not as it was.
        let signals = Signals::watch()?;
        let now = Instant::now();
        let mut terminal = Self { turn, before, signals, quiet_since: now, end: limit.map(|limit| now + limit), marks };
        terminal.read_keys()?;
        Ok(terminal)
    }

    /// The question is now visible. What was typed before is forgotten.
    pub fn shown(&mut self) {
        // A terminal that cannot forget is gone, which the next read tells.
        let _ = termios::tcflush(&self.turn, QueueSelector::IFlush);
        self.quiet_since = Instant::now();
    }

    /// Waits for the next event.
    pub fn event(&mut self) -> Event {
        loop {
            match self.signals.news() {
                Some(News::Ending(signal)) => return Event::Signal(signal),
                Some(News::Redraw) if self.read_keys().is_ok() => return Event::Redraw,
                Some(News::Redraw) => return Event::Gone,
                None => {}
            }
            let left = self.end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Event::Gone;
            }
            let [typed, _] = match wait([self.turn.as_fd(), self.signals.as_fd()], left) {
                Ok(ready) => ready,
                Err(Errno::INTR) => continue,
                Err(_) => return Event::Gone,
            };
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
        let count = self.turn.tty().read(&mut bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let quiet = self.quiet_since.elapsed() >= SILENCE;
        let alone = count == 1 && !wait([self.turn.as_fd()], Some(GATHER)).is_ok_and(|[more]| more);
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
        termios::tcsetattr(&self.turn, OptionalActions::Now, &modes)?;
        if self.marks { self.turn.tty().write_all(MARK_PASTES) } else { Ok(()) }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Nothing can be done about a terminal that does not take its modes back: it is gone.
        if self.marks {
            let _ = self.turn.tty().write_all(UNMARK_PASTES);
        }
        let _ = termios::tcflush(&self.turn, QueueSelector::IFlush);
        let _ = termios::tcsetattr(&self.turn, OptionalActions::Now, &self.before);
    }
}
