//! Whose turn it is to ask at the human's terminal: one question stands there at a time.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use super::human::{self, NotHuman};
use super::store::{Store, StoreFault};

/// How long a turn is waited for where the policy does not say: a human may think about the question before.
const PATIENCE: Duration = Duration::from_secs(300);

/// The terminal of a human, at which nobody else asks as long as this is kept.
#[derive(Debug)]
pub struct Turn {
    tty: File,
    /// Held, never looked at.
    _lock: File,
}

/// Why nothing can be asked at the terminal.
#[derive(Debug, thiserror::Error)]
pub enum NoTurn {
    /// No human can be asked there.
    #[error(transparent)]
    NotHuman(#[from] NotHuman),
    /// The lock cannot be used.
    #[error(transparent)]
    Store(#[from] StoreFault),
}

impl Turn {
    /// Waits for the turn to ask at this process's terminal, at most for `limit`.
    ///
    /// The modes of the terminal are looked at after the turn has come: while another question stands there, it is read
    /// key by key, and that is no sign of a program.
    pub fn take(store: &Store, limit: Option<Duration>) -> Result<Self, NoTurn> {
        let (_, terminal) = human::seat()?;
        let lock = store.turn_at(terminal, limit.unwrap_or(PATIENCE))?.ok_or(NotHuman::Taken)?;
        // Who started us may have gone while we waited.
        Ok(Self { tty: human::terminal()?, _lock: lock })
    }

    /// The terminal.
    pub fn tty(&self) -> &File {
        &self.tty
    }
}

impl AsFd for Turn {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tty.as_fd()
    }
}
