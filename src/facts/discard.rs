//! What git takes away: changes that no commit holds, files that it does not know, branches, stashes.

use std::path::{Path, PathBuf};

use bstr::{BStr, BString};

use super::effect::{Doubt, Effect};
use super::kind::Work;
use super::resolve::Target;
use super::state::{Folder, Made};
use super::table::Judged;
use super::value::Argument;
use super::walker::{By, Walker};
use crate::commands::{Declared, Role, Use};
use crate::host::{self, LookKind, Recovery, Unsaved};

/// What git did in this script: from there on what the host says of the repository may no longer hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Git {
    /// Commits, branches or stashes were made, moved or removed.
    pub(super) recorded: bool,
    /// Changes that no commit holds were brought into the working tree.
    pub(super) unsaved: bool,
}

const NOTHING: &str = "nothing is lost that could not be had back";

impl Walker<'_> {
    /// A path or a branch that git takes something away from.
    pub(super) fn given_up(&mut self, used: &Use<'_>, judged: &Judged<'_>) {
        match used.role {
            Role::RefOrDiscard => self.discard(&used.value, true, judged),
            Role::DropBranch => self.drop_branch(&used.value, false, judged),
            Role::NewBranch => self.drop_branch(&used.value, true, judged),
            _ => self.discard(&used.value, false, judged),
        }
    }

    /// The changes of a path are lost; with `or_ref` only if it is a path and no branch, tag or commit.
    fn discard(&mut self, argument: &Argument, or_ref: bool, judged: &Judged<'_>) {
        let by = judged.by.at(argument.at);
        if self.frame.remote {
            return;
        }
        for target in self.targets(&argument.pieces) {
            if let Some(reason) = &target.unsure {
                self.doubt(Doubt::Argument, by, format!("what is taken back is not known: {}: {reason}", target.shown));
            } else if self.loses_changes(&target, or_ref, judged) {
                self.lose(Some(target.shown), by, "changes that no commit holds would be lost");
            } else if !or_ref {
                self.effect((Effect::Commit, None), Some(target.shown), by, NOTHING);
            }
        }
    }

    fn loses_changes(&self, target: &Target, or_ref: bool, judged: &Judged<'_>) -> bool {
        let Some(path) = target.path.as_ref().or(target.below.as_ref()) else { return !or_ref };
        let is_path = target.path.is_none()
            || match self.host.look(path).kind {
                LookKind::Missing => false,
                LookKind::Unknown => !or_ref || looks_like_path(&target.shown),
                _ => true,
            };
        is_path && self.unsaved(path, host::Work::Changes, judged) != Unsaved::Nothing
    }

    /// Work of a sort is lost.
    pub(super) fn forgo(&mut self, work: Work, declared: &Declared<'_>, judged: &Judged<'_>) {
        let reason = declared.reason.clone();
        if declared.effect != Effect::Discard {
            // What comes into the working tree here is lost by what comes later.
            self.git.unsaved = true;
            return self.effect((declared.effect, declared.aspect), None, judged.by, reason);
        }
        let folders = self.folders_of(work, judged);
        let lost = folders.iter().flatten().map(|folder| self.lost(work, folder, judged));
        match lost.reduce(together).filter(|_| folders.is_some()).unwrap_or(Unsaved::Unknown) {
            Unsaved::Nothing => self.effect((Effect::Commit, None), None, judged.by, NOTHING),
            Unsaved::Paths(paths) => {
                let first = paths.first().map(|path| super::place::shown(path));
                self.lose(first, judged.by, reason);
            }
            Unsaved::Unknown => self.lose(None, judged.by, reason),
        }
    }

    fn lose(&mut self, target: Option<BString>, by: By, reason: impl Into<std::borrow::Cow<'static, str>>) {
        self.effect((Effect::Discard, None), target, by, reason);
    }

    /// Where the work lies: in what the operands name, or where the command runs. `None`: not known.
    fn folders_of(&self, work: Work, judged: &Judged<'_>) -> Option<Vec<PathBuf>> {
        let operands = &judged.reading.operands;
        if matches!(work, Work::Untracked | Work::Ignored | Work::Trees) && !operands.is_empty() {
            let targets = operands.iter().flat_map(|operand| self.targets(&operand.pieces));
            return targets.map(|target| target.path.filter(|_| target.unsure.is_none())).collect();
        }
        match &self.state.cwd {
            Folder::Known(paths) => Some(paths.clone()),
            _ => None,
        }
    }

    fn lost(&self, work: Work, folder: &Path, judged: &Judged<'_>) -> Unsaved {
        let unsaved = |work| self.unsaved(folder, work, judged);
        match work {
            Work::Changes => match self.host.tree_of(folder) {
                Some(root) => self.unsaved(&root, host::Work::Changes, judged),
                None => Unsaved::Unknown,
            },
            Work::Untracked => unsaved(host::Work::Untracked),
            Work::Ignored => unsaved(host::Work::Ignored),
            Work::Trees => together(unsaved(host::Work::Changes), unsaved(host::Work::Ignored)),
            Work::Stashes if self.is_stale(judged) => Unsaved::Unknown,
            Work::Stashes => self.host.unsaved(folder, host::Work::Stashes),
            Work::Commits if self.is_stale(judged) => Unsaved::Unknown,
            Work::Commits => match self.host.branch_is_kept(folder, None) {
                Some(true) => Unsaved::Nothing,
                _ => Unsaved::Unknown,
            },
        }
    }

    /// What the host says, unless this script has changed that.
    fn unsaved(&self, path: &Path, work: host::Work, judged: &Judged<'_>) -> Unsaved {
        if judged.git.unsaved || self.is_elsewhere(judged) || self.moved_work() {
            return Unsaved::Unknown;
        }
        match self.host.unsaved(path, work) {
            Unsaved::Paths(mut paths) => {
                paths.retain(|path| work != host::Work::Ignored || !self.is_made_again(path));
                if paths.is_empty() { Unsaved::Nothing } else { Unsaved::Paths(paths) }
            }
            unsaved => unsaved,
        }
    }

    /// Build products that git ignores.
    fn is_made_again(&self, path: &Path) -> bool {
        super::path::is_build_product(path, self.host.project(), b"") && self.host.recovery(path) == Recovery::Ignored
    }

    /// Work that nothing else holds was moved by this script: nobody knows where it is now.
    pub(super) fn moved_work(&self) -> bool {
        let is_lost = |path: &Path| match self.host.recovery(path) {
            Recovery::Lost => true,
            Recovery::Ignored => !self.is_made_again(path),
            _ => false,
        };
        self.state.files.iter().any(|(path, made)| *made == Made::Deleted && is_lost(path))
    }

    /// Branches and stashes may not be what the host sees.
    fn is_stale(&self, judged: &Judged<'_>) -> bool {
        judged.git.recorded || self.is_elsewhere(judged)
    }

    /// Options or variables name another repository than the one in the working directory.
    fn is_elsewhere(&self, judged: &Judged<'_>) -> bool {
        let named = || judged.reading.environment.iter().filter(|setting| setting.role == Role::OtherTree);
        let is_set = |name: &BStr| {
            judged.call.environment.iter().any(|(set, _)| set == name)
                || self.state.variables.contains_key(name)
                || self.host.variable(name).is_some()
        };
        judged.reading.uses.iter().any(|used| used.role == Role::OtherTree)
            || named().any(|setting| is_set(BStr::new(setting.name.as_bytes())))
    }

    /// No repository was here when the script began: what is in it now is the script's own.
    fn is_own_repository(&self, judged: &Judged<'_>) -> bool {
        let Folder::Known(paths) = &self.state.cwd else { return false };
        !self.is_elsewhere(judged) && paths.iter().all(|folder| self.host.tree_of(folder).is_none())
    }

    /// A branch is moved or removed; with `new` it is made, unless there is one of that name.
    fn drop_branch(&mut self, argument: &Argument, new: bool, judged: &Judged<'_>) {
        let by = judged.by.at(argument.at);
        let Some(name) = argument.text().filter(|_| !argument.many).map(std::borrow::Cow::into_owned) else {
            return self.doubt(Doubt::Argument, by, "which branch is moved or removed is not known");
        };
        // A script that renames its branch after a commit has hardly just made the one that would be overwritten.
        let stale = if new { self.is_elsewhere(judged) } else { self.is_stale(judged) };
        let kept = match &self.state.cwd {
            _ if stale => None,
            Folder::Known(paths) => {
                let itself = |folder: &Path| new && self.host.branch(folder).as_ref() == Some(&name);
                let kept = |folder: &Path| self.host.branch_is_kept(folder, Some(name.as_ref()));
                let kept = paths.iter().map(|folder| if itself(folder) { Some(true) } else { kept(folder) });
                kept.reduce(|a, b| Some(a? && b?)).flatten()
            }
            _ => None,
        };
        match kept {
            Some(true) => self.effect((Effect::Commit, None), Some(name), by, NOTHING),
            None if new && self.is_own_repository(judged) => {
                self.effect((Effect::Commit, None), Some(name), by, "makes or renames a branch");
            }
            _ => self.lose(Some(name), by, "commits that no other branch holds would be lost"),
        }
    }
}

/// What is lost in two places.
fn together(a: Unsaved, b: Unsaved) -> Unsaved {
    match (a, b) {
        (Unsaved::Unknown, _) | (_, Unsaved::Unknown) => Unsaved::Unknown,
        (Unsaved::Nothing, other) | (other, Unsaved::Nothing) => other,
        (Unsaved::Paths(mut a), Unsaved::Paths(b)) => {
            a.extend(b);
            Unsaved::Paths(a)
        }
    }
}

/// Whether a name is rather a path than a ref, where the files cannot be seen.
fn looks_like_path(name: &[u8]) -> bool {
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
    let extension = last.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let dotted = extension.len() < last.len() && extension.iter().any(u8::is_ascii_alphabetic);
    name == b"." || name.ends_with(b"/") || name.starts_with(b"./") || name.starts_with(b"../") || dotted
}
