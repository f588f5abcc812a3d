//! Tickets and covers as files: one each, for its owner only, replaced whole, changed under one lock.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::OFlags;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Asked;
use super::cover::Cover;
use super::process::Process;
use super::ticket::{Binding, State, Ticket};
use crate::audit::log;
use crate::decision::Decision;

/// How many tickets of one project may be open.
pub const MOST_OPEN: usize = 32;
/// The largest ticket that is read, in bytes.
const LARGEST: u64 = 8 << 20;

/// Why a ticket could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    /// The folder or a file in it failed.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file there is not one that vetsh wrote.
    #[error("{} is not a file of vetsh's that only its owner can write", .0.display())]
    NotOurs(PathBuf),
    /// Another process keeps the tickets locked.
    #[error("another process keeps the tickets locked")]
    Busy,
}

/// What a look at a question's ticket gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It was approved, and this look used it up.
    Redeemed(String),
    /// It was denied.
    Denied(String),
    /// It waits for an answer.
    Open,
}

/// What became of a question that nobody can be asked now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// Its ticket stands until then.
    Waiting(String, Timestamp),
    /// Its ticket was denied.
    Denied(String),
    /// It has none, and no more are opened: so many are open.
    Full(usize),
}

/// Why a ticket cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unanswerable {
    /// There is none of that name, or another one than was shown.
    #[error("there is no such ticket any more")]
    Missing,
    /// It has ended.
    #[error("it has expired")]
    Expired,
    /// It was answered before.
    #[error("it was answered before")]
    Answered,
}

/// The tickets of one user.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The tickets under the folder of vetsh's state.
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join("tickets") }
    }

    /// Uses up the approval of this very question, if there is one; else finds how its ticket stands.
    ///
    /// Nothing is opened here: a question that a human at the terminal answers leaves no ticket.
    pub fn redeem(&self, binding: &Binding, now: Timestamp) -> Result<Option<Standing>, StoreFault> {
        if !self.path(&binding.id()).exists() {
            // Where state cannot be written, there is nothing to lock either.
            return Ok(None);
        }
        let _turn = self.lock()?;
        let Some(mut ticket) = self.bound(binding, now)? else { return Ok(None) };
        Ok(match ticket.state {
            State::Approved => {
                ticket.state = State::Used;
                write(&self.path(&ticket.id), &ticket)?;
                Some(Standing::Redeemed(ticket.id))
            }
            State::Denied => Some(Standing::Denied(ticket.id)),
            State::Open => Some(Standing::Open),
            State::Used => None,
        })
    }

    /// Opens a ticket, unless the same question has one that still stands: then that one is found again.
    pub fn open(&self, ticket: Ticket) -> Result<Opened, StoreFault> {
        let _turn = self.lock()?;
        let now = ticket.created;
        let before = self.read(&ticket.id)?.filter(|before| before.binding == ticket.binding && !before.expired(now));
        match before {
            Some(Ticket { state: State::Denied, id, .. }) => return Ok(Opened::Denied(id)),
            Some(Ticket { state: State::Open | State::Approved, id, expires, .. }) => {
                return Ok(Opened::Waiting(id, expires));
            }
            Some(Ticket { state: State::Used, .. }) | None => {}
        }
        let open = self.sweep(now, |open| open.waits(now) && open.project == ticket.project)?;
        if open >= MOST_OPEN {
            return Ok(Opened::Full(open));
        }
        write(&self.path(&ticket.id), &ticket)?;
        Ok(Opened::Waiting(ticket.id, ticket.expires))
    }

    /// Answers an open ticket as it was shown. What has taken its place since is not what the answer is about.
    pub fn answer(
        &self,
        shown: &Ticket,
        approve: bool,
        now: Timestamp,
    ) -> Result<Result<(), Unanswerable>, StoreFault> {
        let _turn = self.lock()?;
        let standing = self.read(&shown.id)?.filter(|ticket| ticket.binding == shown.binding);
        let Some(mut ticket) = standing else { return Ok(Err(Unanswerable::Missing)) };
        if ticket.expired(now) {
            return Ok(Err(Unanswerable::Expired));
        }
        if ticket.state != State::Open {
            return Ok(Err(Unanswerable::Answered));
        }
        ticket.state = if approve { State::Approved } else { State::Denied };
        write(&self.path(&ticket.id), &ticket).map(Ok)
    }

    /// One ticket.
    pub fn read(&self, id: &str) -> Result<Option<Ticket>, StoreFault> {
        // An identifier names a file in the folder and nothing else.
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Ok(None);
        }
        // A copy under another name stands for nothing.
        Ok(read(&self.path(id))?.filter(|ticket: &Ticket| ticket.id == id))
    }

    /// All tickets, the oldest first. A file that cannot be read as one is left out: it stands for no approval.
    pub fn all(&self) -> Result<Vec<Ticket>, StoreFault> {
        let paths = self.paths("json")?;
        let mut tickets: Vec<Ticket> = paths.iter().filter_map(|path| read(path).ok().flatten()).collect();
        tickets.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        Ok(tickets)
    }

    /// Keeps what the approval that the present process uses up covers.
    pub fn keep(&self, cover: &Cover) -> Result<(), StoreFault> {
        let _turn = self.lock()?;
        write(&self.cover_path(cover.process), cover)
    }

    /// Whether an approval that this process or an ancestor used covers this ask. It is covered once.
    pub fn covered(&self, asked: &Asked<'_>, decision: &Decision, now: Timestamp) -> Result<bool, StoreFault> {
        for process in Process::lineage() {
            let path = self.cover_path((process.pid, process.started));
            if !path.exists() {
                continue;
            }
            let _turn = self.lock()?;
            let Some(mut cover) = read::<Cover>(&path)? else { continue };
            if cover.process == (process.pid, process.started) && cover.take(asked, decision, now) {
                write(&path, &cover)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Waits for the lock of a terminal, at most for `limit`; `None` if it did not come.
    pub(super) fn turn_at(&self, terminal: u32, limit: Duration) -> Result<Option<File>, StoreFault> {
        let file = self.open_lock(&self.folder.join(format!("terminal-{terminal}")))?;
        Ok(log::lock(&file, limit).is_ok().then_some(file))
    }

    /// Removes what has ended, and counts among the rest. One at a time: each may hold a long script.
    fn sweep(&self, now: Timestamp, counts: impl Fn(&Ticket) -> bool) -> Result<usize, StoreFault> {
        let mut count = 0;
        let mut ended = Vec::new();
        for path in self.paths("json")? {
            match read::<Ticket>(&path) {
                Ok(Some(ticket)) if ticket.expired(now) => ended.push(path),
                Ok(Some(ticket)) => count += usize::from(counts(&ticket)),
                _ => {}
            }
        }
        let is_over = |path: &PathBuf| read::<Cover>(path).is_ok_and(|cover| cover.is_some_and(|c| now >= c.until));
        for path in ended.into_iter().chain(self.paths("cover")?.into_iter().filter(is_over)) {
            // What cannot be removed counts for nothing all the same.
            let _ = fs::remove_file(path);
        }
        Ok(count)
    }

    fn paths(&self, extension: &str) -> Result<Vec<PathBuf>, StoreFault> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(StoreFault::File { path: self.folder.clone(), source }),
        };
        let paths = entries.flatten().map(|entry| entry.path());
        Ok(paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect())
    }

    /// The ticket of a question, if it has not ended.
    fn bound(&self, binding: &Binding, now: Timestamp) -> Result<Option<Ticket>, StoreFault> {
        let ticket = self.read(&binding.id())?;
        Ok(ticket.filter(|ticket| ticket.binding == binding.as_str() && !ticket.expired(now)))
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(id).with_extension("json")
    }

    fn cover_path(&self, (pid, started): (u32, u64)) -> PathBuf {
        self.folder.join(format!("{pid}-{started}.cover"))
    }

    fn lock(&self) -> Result<File, StoreFault> {
        let file = self.open_lock(&self.folder.join("lock"))?;
        log::lock(&file, log::PATIENCE).map_err(|_| StoreFault::Busy)?;
        Ok(file)
    }

    fn open_lock(&self, path: &Path) -> Result<File, StoreFault> {
        let fault = |source| StoreFault::File { path: path.to_owned(), source };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(fault)?;
        OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).map_err(fault)
    }
}

/// Replaces a file whole: a reader sees the old one or the new one.
fn write(path: &Path, content: &impl Serialize) -> Result<(), StoreFault> {
    replace(path, content).map_err(|source| StoreFault::File { path: path.to_owned(), source })
}

fn replace(path: &Path, content: &impl Serialize) -> io::Result<()> {
    let new = path.with_extension("new");
    let bytes = serde_json::to_vec(content)?;
    log::room(0, bytes.len())?;
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    // Not synced: what a crash of the machine takes away is asked again.
    let written = file.write_all(&bytes).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // Only the new file is at stake; the old one still stands.
        let _ = fs::remove_file(&new);
    }
    written
}

/// Reads a file that vetsh wrote; `None` if there is none, or one that a crash of the machine left half written.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, StoreFault> {
    let fault = |source| StoreFault::File { path: path.to_owned(), source };
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(fault(source)),
    };
    let metadata = file.metadata().map_err(fault)?;
    let ours = metadata.is_file()
        && metadata.uid() == crate::paths::user()
        && metadata.mode() & 0o022 == 0
        && metadata.len() <= LARGEST;
    if !ours {
        return Err(StoreFault::NotOurs(path.to_owned()));
    }
    let mut text = Vec::new();
    file.take(LARGEST).read_to_end(&mut text).map_err(fault)?;
    Ok(serde_json::from_slice(&text).ok())
}
