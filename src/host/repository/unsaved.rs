//! Work in a working tree that no commit holds.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::reference::STASH;
use super::{Entry, Repository};
use crate::host::{Unsaved, Work};

/// More files than these are not looked through.
const FILE_LIMIT: usize = 20_000;
/// What is shown of what would be lost.
const SHOWN: usize = 100;
/// Entries of ignored folders in which a repository is looked for, those nearest to the top first.
const NESTED_LIMIT: usize = 4_000;

/// What was found so far.
struct Search<'r> {
    repository: &'r Repository,
    work: Work,
    files: usize,
    found: Vec<PathBuf>,
}

impl Repository {
    /// The work at or below `path` (absolute, resolved, in the working tree).
    pub(in super::super) fn unsaved(&self, path: &Path, work: Work) -> Unsaved {
        let Ok(inner) = path.strip_prefix(&self.root) else { return Unsaved::Unknown };
        let name = inner.as_os_str().as_bytes();
        let found = match work {
            Work::Changes => self.changes(name),
            Work::Untracked | Work::Ignored => {
                let mut search = Search { repository: self, work, files: 0, found: Vec::new() };
                if path.is_dir() {
                    search.folder(path, name).map(|()| search.found)
                } else {
                    search.file(path, name).map(|()| search.found)
                }
            }
            Work::Stashes => {
                let free = self.references.is_free(STASH.into());
                free.map(|free| if free { Vec::new() } else { vec![path.to_path_buf()] })
            }
        };
        match found {
            None => Unsaved::Unknown,
            Some(paths) if paths.is_empty() => Unsaved::Nothing,
            Some(paths) => Unsaved::Paths(paths),
        }
    }

    /// Tracked files whose content, or whose staged content, is not HEAD's.
    fn changes(&self, name: &[u8]) -> Option<Vec<PathBuf>> {
        let own = self.index.find(name).map(|entry| (name, entry));
        let below = self.index.below(name).map(|(name, entry)| (name.as_slice(), entry));
        let mut changed = Vec::new();
        for (number, (name, entry)) in own.into_iter().chain(below).enumerate() {
            if number > FILE_LIMIT {
                return None;
            }
            if self.is_changed(name, entry) {
                changed.push(self.root.join(super::bytes_path(name)));
            }
            if changed.len() > SHOWN {
                break;
            }
        }
        Some(changed)
    }

    fn is_changed(&self, name: &[u8], entry: &Entry) -> bool {
        if entry.is_repository() {
            return false;
        }
        let path = self.root.join(super::bytes_path(name));
        match fs::symlink_metadata(&path) {
            Ok(metadata) => !self.file_is_kept(&path, name, &metadata),
            // What was only staged is lost as well.
            Err(_) => entry.mode != 0 && self.in_head(name).is_none_or(|(_, id)| id != entry.id),
        }
    }
}

impl Search<'_> {
    /// Looks through a folder; `None` if that is not to be told.
    fn folder(&mut self, path: &Path, name: &[u8]) -> Option<()> {
        for entry in fs::read_dir(path).ok()? {
            let entry = entry.ok()?;
            let file = entry.file_name();
            let path = entry.path();
            let below = if name.is_empty() { Vec::new() } else { [name, b"/"].concat() };
            let name = [&below, file.as_bytes()].concat();
            if file == ".git" {
                continue;
            }
            if entry.file_type().ok()?.is_dir() {
                self.subfolder(&path, &name)?;
            } else {
                self.file(&path, &name)?;
            }
            if self.found.len() > SHOWN {
                return Some(());
            }
        }
        Some(())
    }

    fn subfolder(&mut self, path: &Path, name: &[u8]) -> Option<()> {
        let repository = self.repository;
        if repository.index.find(name).is_some_and(Entry::is_repository) {
            return Some(());
        }
        if !repository.index.holds_below(name) && repository.is_ignored(name, true) {
            self.note(Work::Ignored, path);
            // git removes what it ignores with the repositories in it.
            return Some(());
        }
        if fs::symlink_metadata(path.join(".git")).is_ok() {
            self.note(Work::Untracked, path);
            return Some(());
        }
        self.folder(path, name)
    }

    fn file(&mut self, path: &Path, name: &[u8]) -> Option<()> {
        self.files += 1;
        let repository = self.repository;
        if self.files > FILE_LIMIT {
            return None;
        }
        if let Some(entry) = repository.index.find(name) {
            // git takes the rules from the files as they are now, we from HEAD.
            let rules = name == b".gitignore" || name.ends_with(b"/.gitignore");
            return (!rules || !repository.is_changed(name, entry)).then_some(());
        }
        if repository.is_ignored(name, false) {
            self.note(Work::Ignored, path);
        } else {
            self.note(Work::Untracked, path);
        }
        Some(())
    }

    fn note(&mut self, work: Work, path: &Path) {
        // Files and settings that we do not read may say that git ignores more than HEAD does.
        if self.work == work || self.work == Work::Ignored {
            self.found.push(path.to_path_buf());
        }
    }
}

/// Whether another repository lies below a folder that git ignores.
pub(super) fn holds_repository(folder: &Path) -> bool {
    let mut level = vec![folder.to_path_buf()];
    let mut entries = 0;
    while !level.is_empty() {
        let mut next = Vec::new();
        for folder in level {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                entries += 1;
                if entry.file_name() == ".git" {
                    return true;
                }
                if entries > NESTED_LIMIT {
                    return false;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    next.push(entry.path());
                }
            }
        }
        level = next;
    }
    false
}
