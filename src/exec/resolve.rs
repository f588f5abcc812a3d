//! Which file is the real shell.
//!
//! Only the install record and root's own folders are asked, never `PATH`: whoever is judged may set that. A vetsh
//! build is told by the note in its file, whatever it is called and wherever it was copied, so that shims never find
//! each other.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use rustix::fs::{Mode, OFlags, open};

use crate::invocation::base_name;
use crate::paths::{Record, SYSTEM_PROGRAMS};
use crate::shell::Shell;

/// The owner of the note that every build of vetsh carries.
pub const NOTE_OWNER: [u8; 8] = *b"vetsh.v1";

/// How much of a file's beginning is read for its notes; linkers put them right after the headers.
const HEAD: usize = 4096;

/// A real shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Real {
    /// The path to execute, as recorded or found.
    pub path: CString,
    /// Which model reads its arguments: that of the file behind all links.
    pub shell: Shell,
}

/// Why there is no real shell.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum NoShell {
    /// Nothing of that name in the record or the system's folders.
    #[error("no real {0} is recorded, and none is in root's own folders; run `vetsh install` again")]
    None(String),
    /// The recorded file is not there, or not a program.
    #[error("the recorded real {0} is not usable: {1}; run `vetsh install` again")]
    Unusable(String, Unusable),
}

/// Why a file is not taken as a real shell.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unusable {
    /// It cannot be opened.
    #[error("cannot open {0}")]
    Unreadable(String),
    /// It is a build of vetsh.
    #[error("{0} is vetsh itself")]
    Vetsh(String),
    /// It is no ELF file: a script's interpreter would have to be judged in turn.
    #[error("{0} is not a program")]
    NotProgram(String),
    /// Everybody may write to it.
    #[error("{0} can be written by others")]
    Exposed(String),
    /// No option model for it.
    #[error("{0} is not bash, zsh or dash")]
    Unknown(String),
}

/// Finds the real shell that `name` (`bash`, `sh`, `zsh`, `dash`, `rbash`) stands for.
pub fn real(name: &str, record: Option<&Record>) -> Result<Real, NoShell> {
    // A restricted bash is bash: its own argv[0] makes it so.
    let name = if name == "rbash" { "bash" } else { name };
    if let Some(path) = record.and_then(|record| record.real(name)) {
        return usable(path).map_err(|fault| NoShell::Unusable(name.to_owned(), fault));
    }
    let roots = |folder: &&str| {
        let owner = std::fs::metadata(folder);
        owner.is_ok_and(|folder| folder.uid() == 0 && folder.mode() & 0o022 == 0)
    };
    let found = SYSTEM_PROGRAMS.into_iter().filter(roots).find_map(|folder| usable(&Path::new(folder).join(name)).ok());
    found.ok_or_else(|| NoShell::None(name.to_owned()))
}

/// Makes sure of one file.
fn usable(path: &Path) -> Result<Real, Unusable> {
    let shown = || path.display().to_string();
    let unreadable = |_| Unusable::Unreadable(shown());
    // Not `File::open`: the C library asks for close-on-exec twice.
    let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map(File::from)
        .map_err(|_| Unusable::Unreadable(shown()))?;
    let mut head = vec![0; HEAD];
    let read = file.read_at(&mut head, 0).map_err(unreadable)?;
    head.truncate(read);
    if !head.starts_with(b"\x7fELF") {
        return Err(Unusable::NotProgram(shown()));
    }
    if has_note(&head, &file) {
        return Err(Unusable::Vetsh(shown()));
    }
    if file.metadata().map_err(unreadable)?.mode() & 0o002 != 0 {
        return Err(Unusable::Exposed(shown()));
    }
    let behind = behind(&file).map_err(unreadable)?;
    let shell = Shell::named(base_name(behind.as_os_str().as_bytes())).ok_or_else(|| Unusable::Unknown(shown()))?;
    let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Unusable::Unreadable(shown()))?;
    Ok(Real { path, shell })
}

/// Whether an open program file is a build of vetsh.
pub fn is_vetsh(file: &File) -> std::io::Result<bool> {
    let mut head = vec![0; HEAD];
    let read = file.read_at(&mut head, 0)?;
    head.truncate(read);
    Ok(has_note(&head, file))
}

/// The path of an open file, all links resolved.
fn behind(file: &File) -> std::io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Whether one of the file's note segments is ours.
fn has_note(head: &[u8], file: &File) -> bool {
    note_segments(head).any(|(offset, size)| {
        let size = size.min(HEAD);
        if let Some(note) = head.get(offset..offset.saturating_add(size)) {
            return note.contains_str(NOTE_OWNER);
        }
        let mut note = vec![0; size];
        file.read_exact_at(&mut note, offset as u64).is_ok() && note.contains_str(NOTE_OWNER)
    })
}

/// Offset and size of each note segment of a 64-bit little-endian ELF file.
fn note_segments(head: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    const NOTE: u64 = 4;
    let field = |offset: usize, size: usize| {
        let bytes = head.get(offset..offset.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    let as_usize = |value: Option<u64>| value.and_then(|value| usize::try_from(value).ok());
    let table = as_usize(field(32, 8)).unwrap_or(HEAD);
    let size = as_usize(field(54, 2)).unwrap_or(0);
    let count = as_usize(field(56, 2)).unwrap_or(0);
    (0..count).map_while(move |index| table.checked_add(index.checked_mul(size)?)).filter_map(move |entry| {
        let is_note = field(entry, 4)? == NOTE;
        is_note.then_some(())?;
        Some((as_usize(field(entry + 8, 8))?, as_usize(field(entry + 32, 8))?))
    })
}
