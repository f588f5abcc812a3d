//! The log file, and the permit that only it gives.
//!
//! JSON Lines, each line chained to the one before: it ends with `"prev":"H","hash":"H"}`, where `hash` is the SHA-256
//! of the line up to `,"hash"` and `prev` is the `hash` of the line before. So an append needs no more of the file than
//! its last 76 bytes. Writers take turns by `flock`; who cannot get a turn in [`PATIENCE`] goes without.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::hex;
use super::record::Record;
use crate::approval::Granted;

/// How long a turn is waited for: a stopped process may hold the lock for ever.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// The `prev` of a log's first line.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// What stands before a line's own hash.
pub(super) const BEFORE_HASH: &str = ",\"hash\":\"";
/// How a line ends after its hash.
const AFTER_HASH: &str = "\"}\n";
/// Length of a line's end: `,"hash":"`, 64 digits, `"}` and the line break.
const TAIL: usize = BEFORE_HASH.len() + 64 + AFTER_HASH.len();
/// How far back the beginning of an unfinished line is looked for.
const LONGEST_LINE: u64 = 4 << 20;

/// Leave to run the real shell, which `exec::run` takes.
///
/// Only [`Log::permit`] makes one: nothing runs that was neither recorded nor accounted for.
#[must_use]
#[derive(Debug)]
pub struct Permit(Accounting);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Accounting {
    Recorded,
    Missed,
}

impl Permit {
    /// Whether the record is in the log; false where it could not be written and the policy lets that pass.
    pub fn recorded(&self) -> bool {
        self.0 == Accounting::Recorded
    }
}

/// Why a record is not in the log.
#[derive(Debug, thiserror::Error)]
pub enum LogFault {
    /// The file cannot be opened or read.
    #[error("cannot open the log {}: {source}", path.display())]
    Open {
        /// The log.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file belongs to someone else, can be written by others, or is no plain file.
    #[error("the log {} is not a plain file that only its owner can write", path.display())]
    NotOurs {
        /// The log.
        path: PathBuf,
    },
    /// Another process holds the lock.
    #[error("another process has kept the log locked for {} seconds", PATIENCE.as_secs())]
    Busy,
    /// The line could not be written.
    #[error("cannot write the log: {0}")]
    Write(io::Error),
}

/// The log of one user.
#[derive(Debug, Clone, Copy)]
pub struct Log<'a> {
    /// The folder of vetsh's state.
    pub state: &'a Path,
    /// Refuse even what the policy allows when it cannot be recorded (`[audit] on_error = "refuse"`).
    pub strict: bool,
}

impl Log<'_> {
    /// Records what was granted and gives the permit for it.
    ///
    /// Where the record cannot be written, what the policy itself allows is counted, as far as that can be written, and
    /// runs all the same; what a human was asked about does not run.
    pub fn permit(&self, record: &Record, granted: &Granted) -> Result<Permit, LogFault> {
        let answered = !granted.by_policy();
        match self.append(record, answered) {
            Ok(()) => Ok(Permit(Accounting::Recorded)),
            Err(fault) if answered || self.strict => Err(fault),
            Err(fault) => {
                self.count_missed(record, &fault);
                Ok(Permit(Accounting::Missed))
            }
        }
    }

    /// Records what does not run, or an answer. A failure is for the caller to tell; it changes nothing.
    pub fn note(&self, record: &Record) -> Result<(), LogFault> {
        self.append(record, false)
    }

    /// Where the log is.
    pub fn path(&self) -> PathBuf {
        self.state.join("log.jsonl")
    }

    /// Where commands are counted that ran without a record.
    pub fn missed_path(&self) -> PathBuf {
        self.state.join("log.missed")
    }

    fn append(&self, record: &Record, sync: bool) -> Result<(), LogFault> {
        let path = self.path();
        let open = |source| LogFault::Open { path: path.clone(), source };
        let file = open_for_append(&path).map_err(open)?;
        lock(&file, PATIENCE)?;
        let metadata = file.metadata().map_err(open)?;
        if !metadata.is_file() || metadata.mode() & 0o022 != 0 || metadata.uid() != record.uid {
            return Err(LogFault::NotOurs { path });
        }
        let size = metadata.size();
        let end = last(&file, size).map_err(open)?;
        write_whole(&file, size, &line(record, &end)).map_err(LogFault::Write)?;
        if sync {
            file.sync_data().map_err(LogFault::Write)?;
        }
        Ok(())
    }

    /// One line per command that ran without a record. No lock: a short append is whole by itself.
    fn count_missed(&self, record: &Record, fault: &LogFault) {
        let line = format!("{} {} {fault}\n", record.time, record.pid);
        // Nothing is left to do where even this fails: the state is read-only or full.
        let _ = open_for_append(&self.missed_path())
            .and_then(|file| write_whole(&file, file.metadata()?.size(), line.as_bytes()));
    }
}

/// The end of a log.
struct End {
    /// The hash of its last whole line.
    hash: String,
    /// How many bytes of an unfinished line follow.
    torn: usize,
}

/// Reads the end of a log of `size` bytes.
fn last(file: &File, size: u64) -> io::Result<End> {
    if size == 0 {
        return Ok(End { hash: GENESIS.to_owned(), torn: 0 });
    }
    let mut tail = [0; TAIL];
    let length = usize::try_from(size).map_or(TAIL, |size| size.min(TAIL));
    let tail = tail.get_mut(..length).unwrap_or_default();
    file.read_exact_at(tail, size - length as u64)?;
    if let Some(hash) = ending(tail) {
        return Ok(End { hash: hash.to_owned(), torn: 0 });
    }
    torn_end(file, size)
}

/// The end of a log whose last line a killed writer left unfinished, or that was damaged.
fn torn_end(file: &File, size: u64) -> io::Result<End> {
    let start = size.saturating_sub(LONGEST_LINE);
    let mut text = vec![0; usize::try_from(size - start).unwrap_or_default()];
    file.read_exact_at(&mut text, start)?;
    let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let hash = ending(text.get(..whole).unwrap_or_default()).unwrap_or(GENESIS).to_owned();
    Ok(End { hash, torn: text.len() - whole })
}

/// The hash with which a log ends, if its last line is whole.
fn ending(log: &[u8]) -> Option<&str> {
    let tail = log.strip_suffix(AFTER_HASH.as_bytes())?;
    let hash = tail.get(tail.len().checked_sub(64)?..)?;
    let before = tail.get(..tail.len() - 64)?;
    let digits = hash.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if digits && before.ends_with(BEFORE_HASH.as_bytes()) { std::str::from_utf8(hash).ok() } else { None }
}

/// The bytes to append for `record`: one line, after a line break where the line before is unfinished.
fn line(record: &Record, end: &End) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 << 10);
    if end.torn > 0 {
        out.push(b'\n');
    }
    let start = out.len();
    let written = if end.torn == 0 {
        serde_json::to_writer(&mut out, record)
    } else {
        serde_json::to_writer(&mut out, &Record { torn: end.torn, ..record.clone() })
    };
    // A record is strings, numbers and lists: nothing in it can fail to serialize into memory.
    debug_assert!(written.is_ok());
    out.pop();
    out.extend_from_slice(b",\"prev\":\"");
    out.extend_from_slice(end.hash.as_bytes());
    out.push(b'"');
    let hash = digest(out.get(start..).unwrap_or_default());
    for part in [BEFORE_HASH, &hash, AFTER_HASH] {
        out.extend_from_slice(part.as_bytes());
    }
    out
}

/// SHA-256 in hex.
pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn open_for_append(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // Not `OpenOptions`: the C library asks for close-on-exec twice.
    let open = || rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR);
    let file = match (open(), path.parent()) {
        (Err(Errno::NOENT), Some(folder)) => {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            open()
        }
        (other, _) => other,
    };
    Ok(file?.into())
}

/// Fails if `more` bytes after `size` pass the limit of file sizes: writing them would kill us by SIGXFSZ.
pub(crate) fn room(size: u64, more: usize) -> io::Result<()> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    if limit.is_some_and(|limit| size + more as u64 > limit) { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
}

/// Waits for a turn, at most for `limit`. The lock goes with the file.
pub(crate) fn lock(file: &File, limit: Duration) -> Result<(), LogFault> {
    let mut since: Option<Instant> = None;
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(errno) => return Err(LogFault::Write(errno.into())),
        }
        let waited = since.get_or_insert_with(Instant::now).elapsed();
        if waited >= limit {
            return Err(LogFault::Busy);
        }
        // A turn takes some 20 µs. Waiting longer each time would starve those who came first.
        // Beyond our patience with machines, a human is waited for.
        let pause = match waited {
            _ if waited < Duration::from_millis(20) => Duration::from_micros(100),
            _ if waited < PATIENCE => Duration::from_millis(1),
            _ => Duration::from_millis(20),
        };
        std::thread::sleep(pause);
    }
}

/// Appends all of `bytes` to a file of `size` bytes, or nothing.
fn write_whole(mut file: &File, size: u64, bytes: &[u8]) -> io::Result<()> {
    room(size, bytes.len())?;
    let result = io::Write::write_all(&mut file, bytes);
    if result.is_err() {
        // What a full disk took of the line is taken back while the lock is ours.
        let _ = file.set_len(size);
    }
    result
}
