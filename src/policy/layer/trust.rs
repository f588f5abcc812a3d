//! Which project policies the user trusts: this very content in this very place.
//!
//! A trusted file is an entry in a folder, named by the digest of its path and content; any change makes it another.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The folder of trusted contents.
#[derive(Debug, Clone)]
pub struct TrustStore {
    folder: PathBuf,
    euid: u32,
}

/// A content that is trusted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trusted {
    /// The policy file.
    pub path: PathBuf,
    /// The digest of path and content, in hex.
    pub digest: String,
}

/// Identifies a policy file: its path and its content.
pub fn digest(path: &Path, text: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(path.as_os_str().as_bytes()).chain_update([0]).chain_update(text).finalize().into()
}

impl TrustStore {
    /// The store in `folder`, of user `euid`.
    pub fn new(folder: PathBuf, euid: u32) -> Self {
        Self { folder, euid }
    }

    /// Whether the user trusts this content.
    pub fn holds(&self, digest: &[u8; 32]) -> bool {
        let entry = fs::symlink_metadata(self.folder.join(hex(digest)));
        entry.is_ok_and(|entry| entry.is_file() && entry.uid() == self.euid && entry.mode() & 0o022 == 0)
    }

    /// Trusts the content of a file from now on.
    pub fn add(&self, path: &Path, digest: &[u8; 32]) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let entry = self.folder.join(hex(digest));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(entry)?;
        file.write_all(path.as_os_str().as_bytes())
    }

    /// Everything trusted, by path.
    pub fn list(&self) -> io::Result<Vec<Trusted>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut all = Vec::new();
        for entry in entries {
            let entry = entry?;
            let path = PathBuf::from(OsString::from_vec(fs::read(entry.path())?));
            all.push(Trusted { path, digest: entry.file_name().to_string_lossy().into_owned() });
        }
        all.sort();
        Ok(all)
    }

    /// Trusts no content of this file any longer; the number of those that were.
    pub fn revoke(&self, path: &Path) -> io::Result<usize> {
        let of_it = self.list()?.into_iter().filter(|entry| entry.path == path).collect::<Vec<_>>();
        for entry in &of_it {
            fs::remove_file(self.folder.join(&entry.digest))?;
        }
        Ok(of_it.len())
    }
}

fn hex(digest: &[u8; 32]) -> String {
    use std::fmt::Write as _;
    digest.iter().fold(String::with_capacity(64), |mut out, byte| {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
