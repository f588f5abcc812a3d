//! Reading the script, so that the shell then reads the very same.
//!
//! Files are read without moving anybody's offset, and once more just before exec. A pipe can be read only once: it is
//! read to its end and handed on as a file in memory, so nothing runs before all of it was judged.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bstr::{BStr, ByteSlice};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, MemfdFlags, Mode, OFlags, SeekFrom, fstat, memfd_create, open, seek, tell};
use rustix::termios::isatty;
use sha2::{Digest, Sha256};

use super::{Reading, Shell, Source};
use crate::host::FileRead;
use crate::invocation::Start;

/// The longest script that is read, in bytes.
pub const LONGEST: usize = 4 << 20;

/// How long a pipe may be silent before it counts as kept open.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How soon a pipe must end where the policy lets shells run that are fed through one that stays open.
const END: Duration = Duration::from_secs(1);

/// Where bash looks for script files if `PATH` is not set.
const DEFAULT_PATH: &[u8] = b"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A text that was read, and what makes sure that the shell reads the same.
#[derive(Debug)]
pub struct Script<'a> {
    /// The text.
    pub text: Cow<'a, [u8]>,
    /// What it is, for people.
    pub name: String,
    /// The text of `-c` that runs before it (dash with `-s`).
    pub first: Option<&'a BStr>,
    /// More will be typed: the shell reads from a terminal.
    pub terminal: bool,
    held: Held,
}

/// How the shell will come by the text.
#[derive(Debug)]
enum Held {
    /// It has it already: as an argument, or because there is nothing to read.
    Already,
    /// It opens a file.
    File { path: PathBuf, digest: [u8; 32] },
    /// It reads on from the offset of descriptor 0.
    Input { digest: [u8; 32] },
    /// It reads a descriptor that is to be replaced by what was read.
    Memory { file: OwnedFd, number: RawFd },
}

/// Why a script cannot be read, and so not run.
#[derive(Debug, thiserror::Error)]
pub enum SourceFault {
    /// Longer than [`LONGEST`].
    #[error("{0} is longer than 4 MiB; nobody could vet it; put it into smaller files or run its commands one by one")]
    TooLong(String),
    /// A pipe whose writer is silent and does not end it.
    #[error(
        "{0} is a pipe that stays open, and a shell that is fed command by command cannot be vetted; give the command \
         with -c, or end the input"
    )]
    KeptOpen(String),
    /// Somebody else's pipe or device: what is read from it is gone.
    #[error("{0} is neither a file nor an inherited pipe; what a shell would read from it cannot be vetted")]
    OneTime(String),
    /// The system says no.
    #[error("{0} cannot be read: {1}")]
    Io(String, io::Error),
    /// It is no longer what was judged.
    #[error("{0} changed while it was vetted; run it again")]
    Changed(String),
}

impl<'a> Script<'a> {
    /// Finds and reads what `shell`, called as `reading` says, would run. `path` is the environment's `PATH`; `unread`
    /// leaves a pipe on descriptor 0 that does not end soon to the shell (`[shell] pipe = "allow"`).
    pub fn find(shell: Shell, reading: &Reading<'a>, path: Option<&BStr>, unread: bool) -> Result<Self, SourceFault> {
        match reading.source {
            Source::Nowhere => Ok(Self::empty("no script")),
            Source::Text(text) if reading.then_stdin => Ok(Self { first: Some(text), ..Self::on_input(unread)? }),
            Source::Text(text) => Ok(Self { text: text.as_bytes().into(), ..Self::empty("-c text") }),
            Source::Stdin if reads_terminal_anyway(shell, reading) => Ok(Self::typed()),
            Source::Stdin => Self::on_input(unread),
            Source::File(name) => Self::in_file(shell, reading, name, path),
        }
    }

    /// Nothing is read from anywhere: the shell will end at once, or complain.
    fn empty(name: &str) -> Self {
        Self { text: Cow::Borrowed(b""), name: name.to_owned(), first: None, terminal: false, held: Held::Already }
    }

    fn typed() -> Self {
        Self { terminal: true, ..Self::empty("a terminal") }
    }

    /// What is on descriptor 0.
    fn on_input(unread: bool) -> Result<Self, SourceFault> {
        let input = rustix::stdio::stdin();
        let name = || "standard input".to_owned();
        if isatty(input) {
            return Ok(Self::typed());
        }
        let fault = |error: rustix::io::Errno| SourceFault::Io(name(), error.into());
        if FileType::from_raw_mode(fstat(input).map_err(fault)?.st_mode) != FileType::RegularFile {
            return if unread && stays_open(input) {
                Ok(Self::empty(&name()))
            } else {
                Self::from_pipe(input, 0, name())
            };
        }
        let file = match input.try_clone_to_owned() {
            Ok(file) => File::from(file),
            // A place holder for a closed descriptor, or one not open for reading: the shell will find that out.
            Err(_) => return Ok(Self::empty(&name())),
        };
        let offset = tell(input).map_err(fault)?;
        match read_at(&file, offset, &name()) {
            Ok(text) => {
                let held = Held::Input { digest: digest(&text) };
                Ok(Self { text: text.into(), name: name(), first: None, terminal: false, held })
            }
            Err(SourceFault::Io(_, error)) if is_closed(&error) => Ok(Self::empty(&name())),
            Err(fault) => Err(fault),
        }
    }

    /// Reads a pipe, socket or device to its end, and keeps what was read for descriptor `number`.
    fn from_pipe(input: BorrowedFd<'_>, number: RawFd, name: String) -> Result<Self, SourceFault> {
        let text = match drain(input, &name) {
            Ok(text) => text,
            Err(SourceFault::Io(_, error)) if is_closed(&error) => return Ok(Self::empty(&name)),
            Err(fault) => return Err(fault),
        };
        // A device is at its end for good; a pipe may get another writer once it was judged.
        let device = fstat(input).is_ok_and(|file| FileType::from_raw_mode(file.st_mode) == FileType::CharacterDevice);
        if text.is_empty() && device {
            return Ok(Self::empty(&name));
        }
        let fault = |error: io::Error| SourceFault::Io(name.clone(), error);
        let mut file = File::from(memfd_create("script", MemfdFlags::CLOEXEC).map_err(|error| fault(error.into()))?);
        file.write_all(&text).map_err(fault)?;
        seek(&file, SeekFrom::Start(0)).map_err(|error| fault(error.into()))?;
        let held = Held::Memory { file: file.into(), number };
        Ok(Self { text: text.into(), name, first: None, terminal: false, held })
    }

    /// The file of this name, found as the shell finds it.
    fn in_file(shell: Shell, reading: &Reading<'a>, name: &BStr, path: Option<&BStr>) -> Result<Self, SourceFault> {
        let shown = name.to_str_lossy().into_owned();
        let Some((path, file)) = locate(shell, reading, name, path) else { return Ok(Self::empty(&shown)) };
        let fault = |error: rustix::io::Errno| SourceFault::Io(shown.clone(), error.into());
        match FileType::from_raw_mode(fstat(&file).map_err(fault)?.st_mode) {
            FileType::RegularFile => {
                let text = read_at(&file, 0, &shown)?;
                if shell == Shell::Bash && is_binary(&text) {
                    return Ok(Self::empty(&shown));
                }
                let held = Held::File { path, digest: digest(&text) };
                Ok(Self { text: text.into(), name: shown, first: None, terminal: false, held })
            }
            FileType::Directory => Ok(Self::empty(&shown)),
            _ if isatty(&file) => Ok(Self::typed()),
            FileType::CharacterDevice if is_null(&file) => Ok(Self::empty(&shown)),
            _ => match inherited_number(name) {
                Some(number) => Self::from_pipe(file.as_fd(), number, shown),
                None => Err(SourceFault::OneTime(shown)),
            },
        }
    }

    /// The file that the shell will open, as it was read.
    pub fn file(&self) -> Option<FileRead> {
        let Held::File { path, digest } = &self.held else { return None };
        Some(FileRead { path: path.clone(), digest: *digest })
    }

    /// Makes sure, just before exec, that the shell will read what was judged.
    pub fn hand_over(&self, start: &Start) -> Result<(), SourceFault> {
        let fault = |error: io::Error| SourceFault::Io(self.name.clone(), error);
        let (text, digest_then) = match &self.held {
            Held::Already => return Ok(()),
            Held::Memory { file, number } => return (start.place)(file.as_fd(), *number).map_err(fault),
            Held::File { path, digest } => (read_at(&File::open(path).map_err(fault)?, 0, &self.name)?, digest),
            Held::Input { digest } => {
                let input = rustix::stdio::stdin();
                let file = File::from(input.try_clone_to_owned().map_err(fault)?);
                let offset = tell(input).map_err(|error| fault(error.into()))?;
                (read_at(&file, offset, &self.name)?, digest)
            }
        };
        if digest(&text) == *digest_then { Ok(()) } else { Err(SourceFault::Changed(self.name.clone())) }
    }
}

/// An interactive zsh that was not told `-s` opens the terminal, whatever is on descriptor 0.
fn reads_terminal_anyway(shell: Shell, reading: &Reading<'_>) -> bool {
    shell == Shell::Zsh
        && reading.flags.interactive == Some(true)
        && !reading.flags.stdin
        && open("/dev/tty", OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).is_ok()
}

/// Opens the file that the shell will open: as named, and for a plain name bash goes on along `PATH`, as zsh does where it
/// plays sh. `None`: the shell will not open it either.
fn locate(shell: Shell, reading: &Reading<'_>, name: &BStr, path: Option<&BStr>) -> Option<(PathBuf, File)> {
    let open = |path: &Path| {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        open(path, flags, Mode::empty()).map(File::from)
    };
    let plain = Path::new(name.to_os_str().ok()?);
    match open(plain) {
        Ok(file) => return Some((plain.to_path_buf(), file)),
        Err(rustix::io::Errno::NOENT) if !name.contains(&b'/') => {}
        Err(_) => return None,
    }
    let named =
        || reading.flags.names.iter().any(|(name, _)| name.to_ascii_lowercase().replace("_", "") == b"pathscript");
    if !(shell == Shell::Bash || shell == Shell::Zsh && (reading.flags.posix || named())) {
        return None;
    }
    let folders = path.map_or(DEFAULT_PATH, |path| path.as_bytes());
    folders.split(|byte| *byte == b':').find_map(|folder| {
        let folder = if folder.is_empty() { &b"."[..] } else { folder };
        let path = Path::new(std::ffi::OsStr::from_bytes(folder)).join(plain);
        let file = open(&path).ok()?;
        (FileType::from_raw_mode(fstat(&file).ok()?.st_mode) != FileType::Directory).then_some((path, file))
    })
}

/// Reads a regular file from `offset` to its end.
fn read_at(file: &File, offset: u64, name: &str) -> Result<Vec<u8>, SourceFault> {
    let size = file.metadata().map_or(0, |file| file.len()).saturating_sub(offset);
    if size > LONGEST as u64 {
        return Err(SourceFault::TooLong(name.to_owned()));
    }
    let mut text = vec![0; usize::try_from(size).unwrap_or(LONGEST) + 1];
    let mut length = 0;
    while let Some(room) = text.get_mut(length..).filter(|room| !room.is_empty()) {
        match file.read_at(room, offset + length as u64) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(SourceFault::Io(name.to_owned(), error)),
        }
        if length > LONGEST {
            return Err(SourceFault::TooLong(name.to_owned()));
        }
        if length == text.len() {
            text.resize(length * 2, 0);
        }
    }
    text.truncate(length);
    Ok(text)
}

/// Reads to the end, for as long as bytes keep coming.
fn drain(input: BorrowedFd<'_>, name: &str) -> Result<Vec<u8>, SourceFault> {
    let mut text = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        wait(input, name)?;
        let count = match rustix::io::read(input, &mut buffer) {
            Ok(0) => return Ok(text),
            Ok(count) => count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
            Err(error) => return Err(SourceFault::Io(name.to_owned(), error.into())),
        };
        text.extend_from_slice(buffer.get(..count).unwrap_or_default());
        if text.len() > LONGEST {
            return Err(SourceFault::TooLong(name.to_owned()));
        }
    }
}

/// Waits until there is something to read, or the end.
fn wait(input: BorrowedFd<'_>, name: &str) -> Result<(), SourceFault> {
    let patience = Timespec { tv_sec: PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
    match poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&patience)) {
        Ok(0) => Err(SourceFault::KeptOpen(name.to_owned())),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(SourceFault::Io(name.to_owned(), error.into())),
    }
}

/// Whether somebody still holds the other end after [`END`].
fn stays_open(input: BorrowedFd<'_>) -> bool {
    let kind = fstat(input).map(|file| FileType::from_raw_mode(file.st_mode));
    if !matches!(kind, Ok(FileType::Fifo | FileType::Socket)) {
        return false;
    }
    let limit = Timespec { tv_sec: END.as_secs().cast_signed(), tv_nsec: 0 };
    matches!(poll(&mut [PollFd::new(&input, PollFlags::RDHUP)], Some(&limit)), Ok(0))
}

/// The number in `/dev/fd/N` and its like, of an own descriptor.
fn inherited_number(name: &BStr) -> Option<RawFd> {
    match name.as_bytes() {
        b"/dev/stdin" => return Some(0),
        b"/dev/stdout" => return Some(1),
        b"/dev/stderr" => return Some(2),
        _ => {}
    }
    let own = format!("/proc/{}/fd/", rustix::process::getpid().as_raw_nonzero());
    let prefixes = [&b"/dev/fd/"[..], b"/proc/self/fd/", b"/proc/thread-self/fd/", own.as_bytes()];
    let number = prefixes.into_iter().find_map(|prefix| name.strip_prefix(prefix))?;
    number.to_str().ok()?.parse().ok()
}

/// bash refuses what has a NUL in its first line, and ELF files.
fn is_binary(text: &[u8]) -> bool {
    let sample = text.get(..80).unwrap_or(text);
    let line = sample.split(|byte| *byte == b'\n').next().unwrap_or_default();
    sample.starts_with(b"\x7fELF") || line.contains(&0) && !line.starts_with(b"#!")
}

/// A device that is at its end at once.
fn is_null(mut file: &File) -> bool {
    matches!(file.read(&mut [0]), Ok(0))
}

fn is_closed(error: &io::Error) -> bool {
    [rustix::io::Errno::BADF, rustix::io::Errno::ISDIR]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn digest(text: &[u8]) -> [u8; 32] {
    Sha256::digest(text).into()
}
