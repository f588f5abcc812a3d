//! Branches, tags and other names of commits: loose files and `packed-refs` (gitrepository-layout).

use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use super::object::{Id, Objects, id};
use super::{Repository, bytes_path};

/// More commits than these are not looked through.
const COMMIT_LIMIT: usize = 5_000;
/// More loose names than these are not read.
const NAME_LIMIT: usize = 2_000;
/// Where the stash is kept.
pub(super) const STASH: &str = "refs/stash";

/// The names of commits.
pub(super) struct References {
    /// The working tree's own folder: `HEAD`.
    folder: PathBuf,
    /// The repository's folder: everything else.
    common: PathBuf,
}

impl References {
    pub(super) fn new(folder: &Path, common: &Path) -> Self {
        Self { folder: folder.to_path_buf(), common: common.to_path_buf() }
    }

    /// The name that HEAD stands for; `None` if it is detached.
    fn current(&self) -> Option<BString> {
        let head = fs::read(self.folder.join("HEAD")).ok()?;
        head.trim_ascii_end().strip_prefix(b"ref: ").map(BString::from)
    }

    /// The commit that HEAD names.
    pub(super) fn head(&self) -> Option<Id> {
        match self.current() {
            Some(name) => self.find(name.as_ref()),
            None => id(fs::read(self.folder.join("HEAD")).ok()?.trim_ascii_end()),
        }
    }

    /// The object that a full name stands for.
    pub(super) fn find(&self, name: &BStr) -> Option<Id> {
        if let Ok(loose) = fs::read(self.common.join(bytes_path(name))) {
            return id(loose.trim_ascii_end());
        }
        self.packed().into_iter().find(|(known, _)| known == name).map(|(_, id)| id)
    }

    /// Whether something is written under a full name, whatever that is.
    fn is_written(&self, name: &BStr) -> bool {
        fs::symlink_metadata(self.common.join(bytes_path(name))).is_ok()
    }

    /// Whether no object stands under a full name; `None` if what is written there is not understood.
    pub(super) fn is_free(&self, name: &BStr) -> Option<bool> {
        let free = self.find(name).is_none();
        if free && self.is_written(name) { None } else { Some(free) }
    }

    fn packed(&self) -> Vec<(BString, Id)> {
        let packed = fs::read(self.common.join("packed-refs")).unwrap_or_default();
        let named = |line: &[u8]| {
            let (digits, name) = line.split_once_str(b" ")?;
            Some((BString::from(name), id(digits)?))
        };
        packed.lines().filter_map(named).collect()
    }

    /// All names and what they stand for; `None` if there are too many. What is not understood is left out: then less
    /// seems to be kept.
    fn all(&self) -> Option<BTreeMap<BString, Id>> {
        let mut all: BTreeMap<BString, Id> = self.packed().into_iter().collect();
        let mut folders = vec![PathBuf::from("refs")];
        let mut names = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(self.common.join(&folder)).into_iter().flatten().flatten() {
                names += 1;
                if names > NAME_LIMIT {
                    return None;
                }
                let name = folder.join(entry.file_name());
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(name);
                } else if let Some(id) = fs::read(entry.path()).ok().and_then(|text| id(text.trim_ascii_end())) {
                    all.insert(name.as_os_str().as_bytes().into(), id);
                }
            }
        }
        Some(all)
    }
}

impl Repository {
    /// The branch that is checked out.
    pub(in super::super) fn branch(&self) -> Option<BString> {
        self.references.current()?.strip_prefix(b"refs/heads/").map(BString::from)
    }

    /// Whether a branch's commits stay reachable when its name is gone; `None`: the branch of HEAD, or HEAD itself.
    pub(in super::super) fn branch_is_kept(&self, branch: Option<&BStr>) -> Option<bool> {
        let current = self.references.current();
        let name = match branch {
            Some(branch) => Some(BString::from([b"refs/heads/", branch.as_bytes()].concat())),
            None => current,
        };
        let commit = match &name {
            Some(name) => self.references.find(name.as_ref()),
            None => self.references.head(),
        };
        let Some(commit) = commit else { return self.references.is_free(name?.as_ref()) };
        let mut others = self.references.all()?;
        others.retain(|other, _| Some(other) != name.as_ref() && other != STASH);
        Some(is_reachable(&self.objects, commit, others.into_values()))
    }
}

/// Whether `commit` is one of these or an ancestor of one. Newer commits are looked at first, and none that is older.
fn is_reachable(objects: &Objects, commit: Id, from: impl Iterator<Item = Id>) -> bool {
    let Some((_, made)) = objects.parents_of(commit) else { return false };
    let mut seen = HashSet::new();
    let mut next: BinaryHeap<(i64, Id)> = BinaryHeap::new();
    let tips = from.map(|id| objects.peeled(id));
    let mut found = tips.collect::<Vec<_>>();
    loop {
        for id in found.drain(..) {
            if id == commit {
                return true;
            }
            if seen.insert(id)
                && let Some((_, time)) = objects.parents_of(id)
                && time >= made
            {
                next.push((time, id));
            }
        }
        let Some((_, id)) = next.pop() else { return false };
        if seen.len() > COMMIT_LIMIT {
            return false;
        }
        found.extend(objects.parents_of(id).map(|(parents, _)| parents).unwrap_or_default());
    }
}
