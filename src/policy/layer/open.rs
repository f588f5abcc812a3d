//! Opening a layer's file, and telling by the opened file whose word it is.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};

use crate::decision::LayerKind;

/// Which content of which file: it changes whenever the file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp(pub(super) [u64; 7]);

/// A layer's file that passed.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) stamp: Stamp,
    file: File,
    kind: LayerKind,
}

/// Why a file is no layer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// A folder, a pipe, a device; a link where none may be.
    #[error("is not a regular file")]
    NotFile,
    /// Someone else wrote it.
    #[error("belongs to user {0}")]
    Foreign(u32),
    /// Someone else can write it.
    #[error("can be written by others")]
    Open,
    /// Someone else can put another file in its place.
    #[error("lies in a folder that belongs to or can be written by others")]
    OpenFolder,
    /// Nobody writes so much by hand.
    #[error("is larger than {0} MiB")]
    TooLarge(u64),
    /// TOML is UTF-8.
    #[error("is not UTF-8 text")]
    NotText,
}

impl Refused {
    /// What to do about it.
    pub(super) fn help(&self, path: &Path, kind: LayerKind) -> String {
        let path = path.display();
        let owner = if kind == LayerKind::System { "root" } else { "you" };
        match self {
            Self::Unreadable(_) | Self::NotFile | Self::NotText | Self::TooLarge(_) => {
                "put a readable file there, or take it away".to_owned()
            }
            Self::Foreign(_) => format!("it has to belong to {owner}"),
            Self::Open => format!("chmod go-w {path}"),
            Self::OpenFolder => format!("the folder has to belong to {owner}, without write permission for others"),
        }
    }
}

/// Opens a layer; `None` if there is none.
pub(super) fn open(path: &Path, kind: LayerKind, euid: u32) -> Result<Option<Opened>, Refused> {
    // Without following a link first: a project's file may not be one, and a user's is looked at closer.
    let file = match open_file(path, OFlags::NOFOLLOW) {
        Err(rustix::io::Errno::LOOP) if kind < LayerKind::Project => {
            folder_is_closed(&fs::canonicalize(path)?, kind, euid)?;
            open_file(path, OFlags::empty())
        }
        other => other,
    };
    let file = match file {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err(Refused::NotFile),
        Err(errno) => return Err(Refused::Unreadable(errno.into())),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(Refused::NotFile);
    }
    // A project's words only make things stricter until its very content is trusted: whose file it is matters nothing.
    if kind < LayerKind::Project {
        if !is_ours(&metadata, kind, euid) {
            return Err(Refused::Foreign(metadata.uid()));
        }
        if metadata.mode() & 0o022 != 0 {
            return Err(Refused::Open);
        }
        folder_is_closed(path, kind, euid)?;
    }
    Ok(Some(Opened { stamp: Stamp::of(&metadata), file, kind }))
}

fn open_file(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    // A pipe in its place must not keep us waiting.
    let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    rustix::fs::open(path, flags, Mode::empty())
}

fn is_ours(metadata: &fs::Metadata, kind: LayerKind, euid: u32) -> bool {
    metadata.uid() == 0 || (kind != LayerKind::System && metadata.uid() == euid)
}

/// Whether nobody else can put another file in the place of this one.
pub(super) fn folder_is_closed(path: &Path, kind: LayerKind, euid: u32) -> Result<(), Refused> {
    let folder = path.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
    let metadata = fs::metadata(folder)?;
    if is_ours(&metadata, kind, euid) && metadata.mode() & 0o022 == 0 { Ok(()) } else { Err(Refused::OpenFolder) }
}

impl Opened {
    /// The text, read once.
    pub(super) fn text(self) -> Result<String, Refused> {
        let mebibytes = if self.kind < LayerKind::Project { 16 } else { 1 };
        let limit = mebibytes << 20;
        let mut bytes = Vec::new();
        self.file.take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(Refused::TooLarge(mebibytes));
        }
        String::from_utf8(bytes).map_err(|_| Refused::NotText)
    }
}

impl Stamp {
    fn of(metadata: &fs::Metadata) -> Self {
        let signed = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
        let [mtime, mtime_part, ctime, ctime_part] = signed.map(i64::cast_unsigned);
        Self([metadata.dev(), metadata.ino(), metadata.size(), mtime, mtime_part, ctime, ctime_part])
    }

    /// Of several files together.
    pub(super) fn of_all<'a>(files: impl Iterator<Item = (&'a [u8], Self)>) -> Self {
        let mut all = Vec::new();
        let (mut mtime, mut ctime) = (0, 0);
        for (name, stamp) in files {
            all.extend_from_slice(name);
            all.push(0);
            all.extend(stamp.0.iter().flat_map(|number| number.to_le_bytes()));
            let [_, _, _, modified, _, changed, _] = stamp.0;
            (mtime, ctime) = (modified.max(mtime), changed.max(ctime));
        }
        let digest = Sha256::digest(&all);
        let [a, b, c, d] = [0, 8, 16, 24].map(|at| {
            digest.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes).unwrap_or_default()
        });
        Self([a, b, c, mtime, d, ctime, 0])
    }

    /// Of no file: what is kept under it never counts.
    pub(super) const NONE: Self = Self([0; 7]);

    /// Seconds since the epoch of the last change of content or metadata.
    pub(super) fn changed(self) -> i64 {
        let [_, _, _, mtime, _, ctime, _] = self.0;
        mtime.cast_signed().max(ctime.cast_signed())
    }
}
