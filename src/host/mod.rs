//! What judgement may know of the machine.
//!
//! [`Host`] is the only door: the shim and `check` pass the real one, `check --batch` for a project that does not exist
//! an assumed one, tests a table. Answers are remembered, so that one decision sees one machine.

mod assumed;
mod brought;
mod project;
mod real;
mod repository;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use bstr::{BStr, BString};

pub use assumed::AssumedHost;
pub use brought::note as note_brought;
pub use real::{HostFault, RealHost};

/// The machine as one decision sees it.
pub trait Host {
    /// The directory in which the shell was started; absolute.
    fn start(&self) -> &Path;
    /// The home folder of the effective user, by the user database first; absolute.
    fn home(&self) -> &Path;
    /// The project root (design: nearest root marker that is ours, under the bans), or `None`.
    fn project(&self) -> Option<&Path>;
    /// Effective user id.
    fn user(&self) -> u32;
    /// The value of a variable in the environment that the real shell will get.
    fn variable(&self, name: &BStr) -> Option<BString>;
    /// The names of all variables in that environment.
    fn variables(&self) -> Vec<BString>;
    /// What stands at `path` (absolute, `..` allowed): symbolic links followed as the kernel would.
    fn look(&self, path: &Path) -> Look;
    /// Whether a symbolic link stands at `path`: its folders are followed, the last name is not.
    fn is_link(&self, path: &Path) -> bool {
        let _ = path;
        false
    }
    /// The names in a directory; `None` if it cannot be listed.
    fn list(&self, path: &Path) -> Option<Vec<BString>>;
    /// The content of a file that judgement depends on: remembered with its digest.
    fn read(&self, path: &Path) -> Result<Rc<[u8]>, Unread>;
    /// Which file a command name without a slash starts, by `path` (the `PATH` that this command gets).
    fn program(&self, name: &BStr, path: Option<&BStr>) -> Option<PathBuf>;
    /// Whether what stands at `path` could be had back after it is deleted or overwritten.
    fn recovery(&self, path: &Path) -> Recovery;
    /// The folder of the repository that git would use in `folder`: its configuration and hooks are there.
    fn repository(&self, folder: &Path) -> Option<PathBuf> {
        let _ = folder;
        None
    }
    /// The root of the working tree in which `folder` lies, if there is one.
    fn tree_of(&self, folder: &Path) -> Option<PathBuf> {
        let _ = folder;
        None
    }
    /// What git work of one sort at or below `path` could not be had back if git took it away.
    fn unsaved(&self, path: &Path, work: Work) -> Unsaved {
        let _ = (path, work);
        Unsaved::Unknown
    }
    /// Whether the commits of a branch (`None`: the one that is checked out in `folder`) stay reachable by another name
    /// when it is moved or removed; `None` if the host cannot say.
    fn branch_is_kept(&self, folder: &Path, branch: Option<&BStr>) -> Option<bool> {
        let _ = (folder, branch);
        None
    }
    /// The branch that is checked out in `folder`; `None` if there is none or the host cannot say.
    fn branch(&self, folder: &Path) -> Option<BString> {
        let _ = folder;
        None
    }
    /// Whether the file at `path` was written from the network or out of a decoder by a command that was allowed before.
    fn brought(&self, _path: &Path) -> bool {
        false
    }
    /// The files read so far.
    fn reads(&self) -> Vec<FileRead>;
    /// True where the machine is not the real one (a project that does not exist).
    fn assumed(&self) -> bool;
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The path with every symbolic link resolved, as far as it exists; the rest is appended lexically.
    pub real: PathBuf,
    /// What it is.
    pub kind: LookKind,
    /// Owner, or 0 where nothing exists.
    pub owner: u32,
    /// Permission bits, or 0 where nothing exists.
    pub mode: u32,
    /// Size in bytes, or 0.
    pub size: u64,
    /// Number of hard links, or 0.
    pub links: u64,
    /// Device and inode: what two names of one file have in common. 0 where nothing exists.
    pub inode: (u64, u64),
}

/// The kinds of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookKind {
    /// Nothing is there.
    Missing,
    /// The host cannot say (assumed host, or no permission).
    Unknown,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A block or character device.
    Device,
    /// A pipe, socket or anything else.
    Other,
}

/// Why a file was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// Nothing is there.
    Missing,
    /// It exists as far as can be told, but it cannot be read (permission, assumed host).
    Unreadable,
    /// Not a regular file.
    NotFile,
    /// Larger than 1 MiB.
    TooLarge,
}

/// Whether a file's content can be had back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing stands there: nothing can be lost.
    Absent,
    /// Tracked and equal to HEAD.
    Tracked,
    /// Ignored by HEAD's own `.gitignore`.
    Ignored,
    /// It would be lost: modified, untracked, no repository.
    Lost,
    /// The host cannot say.
    Unknown,
}

/// Sorts of work that no commit holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Tracked files that differ from the last commit.
    Changes,
    /// Files that git neither tracks nor ignores.
    Untracked,
    /// Files that git ignores, and those that it may ignore.
    Ignored,
    /// Stashed changes.
    Stashes,
}

/// What would be lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsaved {
    /// Nothing.
    Nothing,
    /// What stands at these paths, some of them or all.
    Paths(Vec<PathBuf>),
    /// The host cannot say.
    Unknown,
}

/// A file that was read for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    /// Its real path.
    pub path: PathBuf,
    /// SHA-256 of what was read.
    pub digest: [u8; 32],
}
