//! The effects of reading, writing and deleting what an argument names.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::effect::{Aspect, Doubt, Effect};
use super::resolve::Target;
use super::state::Made;
use super::value::{Argument, UnknownKind};
use super::walker::{By, Walker};
use crate::host::Recovery;

/// What a delete takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Names only: `rm file`.
    File,
    /// Everything below: `rm -r folder`.
    Tree,
    /// The content stays somewhere: `mv`.
    Away,
}

impl Walker<'_> {
    /// The effect of a command on the path that an argument names.
    pub(super) fn path_effect(&mut self, effect: Effect, argument: &Argument, by: By, reason: &'static str) {
        if self.frame.remote {
            return self.elsewhere(effect, argument, by);
        }
        for target in self.targets(&argument.pieces) {
            let Some(aspect) = target.aspect else { continue };
            match effect {
                Effect::Read => {
                    let whole = target.path.as_deref().is_some_and(|path| self.host.home().starts_with(path));
                    let aspect = if whole { Aspect::Secret } else { aspect };
                    let why = if reason.is_empty() { read_reason(aspect) } else { reason };
                    self.effect((Effect::Read, Some(aspect)), Some(target.shown), by, why);
                }
                _ => self.write(effect, target, by, reason),
            }
        }
    }

    /// On another machine or in a container a path has no place; what is changed there is changed.
    fn elsewhere(&mut self, effect: Effect, argument: &Argument, by: By) {
        let inert = argument.prefix().starts_with(b"/dev/") || argument.prefix().starts_with(b"/tmp/");
        if effect != Effect::Read && !inert {
            let target = Some(super::resolve::shown_pieces(&argument.pieces));
            self.effect((Effect::Control, None), target, by, "changes files on another machine or in a container");
        }
    }

    fn write(&mut self, effect: Effect, target: Target, by: By, reason: &'static str) {
        let aspect = self.settled_aspect(&target, by);
        if let Some(path) = target.path {
            if effect == Effect::Write {
                self.state.touch(path, Made::Unknown(UnknownKind::Any));
            }
        } else if let Some(folder) = target.below {
            self.state.touch(folder.join("*"), Made::Unknown(UnknownKind::Any));
        }
        let why = if reason.is_empty() { write_reason(aspect) } else { reason };
        self.effect((effect, Some(aspect)), Some(target.shown), by, why);
    }

    /// The place of a target; what is not certain is a doubt and of unknown place.
    fn settled_aspect(&mut self, target: &Target, by: By) -> Aspect {
        if let Some(reason) = &target.unsure {
            self.doubt(Doubt::Path, by, format!("{}: {reason}", target.shown));
            return match target.aspect {
                Some(aspect @ (Aspect::Secret | Aspect::Startup)) => aspect,
                _ => Aspect::Unknown,
            };
        }
        target.aspect.unwrap_or(Aspect::Unknown)
    }

    /// Something is deleted, or moved away.
    pub(super) fn delete(&mut self, argument: &Argument, reach: Reach, by: By) {
        if self.frame.remote {
            return self.elsewhere(Effect::Delete, argument, by);
        }
        for target in self.targets(&argument.pieces) {
            let Some(_) = target.aspect else { continue };
            let target = self.unfollowed(target, argument);
            let aspect = self.settled_aspect(&target, by);
            let (aspect, reason) = if target.whole && target.unsure.is_none() && reach != Reach::File {
                (Aspect::Root, Cow::Borrowed("would take a whole home or system tree away"))
            } else if reach != Reach::File && self.settings.places.are_below(target.path.as_deref()) {
                (Aspect::Vetsh, "would take vetsh away with it".into())
            } else if reach == Reach::Away {
                (aspect, "moves it away".into())
            } else if aspect == Aspect::Temp && is_all_temp(&target) {
                (Aspect::System, "deletes the temporary files of everyone".into())
            } else if aspect == Aspect::Project {
                self.recovered(&target, reach)
            } else {
                (aspect, delete_reason(aspect).into())
            };
            if let Some(path) = target.path.clone().or_else(|| target.below.clone()).filter(|_| reach != Reach::Away) {
                self.lose_moved(&path, by);
            }
            let effect = if reach == Reach::Away && aspect != Aspect::Root { Effect::Write } else { Effect::Delete };
            self.effect((effect, Some(aspect)), Some(target.shown), by, reason);
            if let Some(path) = target.path {
                self.state.touch(path, Made::Deleted);
            }
        }
    }

    /// Whether a delete in the project loses anything.
    fn recovered(&self, target: &Target, reach: Reach) -> (Aspect, Cow<'static, str>) {
        let name = target.shown.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let folder = target.path.as_deref().or(target.below.as_deref());
        let Some(folder) = folder else { return (Aspect::Project, "what would be lost is not known".into()) };
        if self.host.project().is_some_and(|root| root.starts_with(folder)) && target.path.is_some() {
            return (Aspect::Project, "would delete the whole project".into());
        }
        let built = is_build_product(folder, self.host.project(), name);
        match self.made(target) {
            Some(Made::Deleted) if target.path.is_some() => {
                return (Aspect::Replaceable, "this script took it away before".into());
            }
            Some(Made::Moved(_)) if target.path.is_some() => {
                return (Aspect::Replaceable, "this script moved it there".into());
            }
            Some(Made::Copied(_)) if self.host.assumed() && reach == Reach::File => {
                return (Aspect::Replaceable, "this script copied it there".into());
            }
            Some(Made::Written(_) | Made::Built | Made::Folder | Made::Link(_)) if self.is_new(target) => {
                return (Aspect::Replaceable, "this script made it".into());
            }
            Some(Made::Unknown(_) | Made::Copied(_)) if self.is_copy(target) => {
                return (Aspect::Replaceable, "this script made it, and moved nothing there".into());
            }
            Some(Made::Unknown(_) | Made::Copied(_)) if !built || self.moved_work() => {
                return (Aspect::Project, "this script put something there that is not known".into());
            }
            _ => {}
        }
        let Some(path) = target.path.as_deref() else {
            if CACHES.iter().any(|glob| super::place::name_matches(glob.as_bytes(), name)) {
                return (Aspect::Replaceable, "caches that are made again when they are missing".into());
            }
            return self.recovered_by_pattern(folder, built);
        };
        match self.host.recovery(path) {
            Recovery::Absent => (Aspect::Replaceable, "nothing is there".into()),
            Recovery::Tracked => (Aspect::Replaceable, "git has it as it is".into()),
            Recovery::Ignored if built => (Aspect::Replaceable, "a build product that git ignores".into()),
            Recovery::Ignored => (Aspect::Project, "git ignores it, so it cannot be had back".into()),
            Recovery::Lost => (Aspect::Project, "not in git as it is, so it cannot be had back".into()),
            // An assumed project: what agents delete by name they made, what they delete as a tree is not known.
            Recovery::Unknown if built => (Aspect::Replaceable, "a build product".into()),
            Recovery::Unknown if reach == Reach::File => (Aspect::Replaceable, "a single file named in full".into()),
            Recovery::Unknown => (Aspect::Project, "what would be lost is not known".into()),
        }
    }

    /// A link that is deleted or moved leaves what it leads to; with a slash after its name it is followed.
    fn unfollowed(&self, target: Target, argument: &Argument) -> Target {
        let Some(path) = target.path.as_ref() else { return target };
        let followed = || argument.text().is_none_or(|text| text.ends_with(b"/") || text.ends_with(b"/."));
        let is_link = matches!(self.state.files.get(path), Some(Made::Link(_))) || self.host.is_link(path);
        if !is_link || followed() {
            return target;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return target };
        let spot = self.settings.places.spot(&self.host.look(folder).real.join(name), self.host);
        Target { aspect: spot.aspect, whole: false, ..target }
    }

    /// What this script wrote there took the place of nothing that was worth keeping.
    fn is_new(&self, target: &Target) -> bool {
        let kept = |path: &PathBuf| !matches!(self.host.recovery(path), Recovery::Lost | Recovery::Ignored);
        target.path.as_ref().is_some_and(kept)
    }

    /// This script put something exactly there, where nothing was; what it was made from is still where it was.
    fn is_copy(&self, target: &Target) -> bool {
        let new = |path: &PathBuf| {
            self.state.files.contains_key(path) && self.host.recovery(path) == Recovery::Absent && !self.moved_work()
        };
        target.path.as_ref().is_some_and(new)
    }

    fn recovered_by_pattern(&self, folder: &Path, built: bool) -> (Aspect, Cow<'static, str>) {
        let recovery = self.host.recovery(folder);
        let ignored = matches!(recovery, Recovery::Ignored | Recovery::Absent) || self.host.assumed();
        if built && ignored {
            return (Aspect::Replaceable, "build products".into());
        }
        if recovery == Recovery::Tracked {
            return (Aspect::Replaceable, "git has the whole folder as it is".into());
        }
        (Aspect::Project, "everything that matches would be lost".into())
    }

    /// What this script did to a target, or to a folder that holds it.
    fn made(&self, target: &Target) -> Option<&Made> {
        let start = target.path.as_ref().or(target.below.as_ref())?;
        start
            .ancestors()
            .enumerate()
            .find_map(|(up, path)| match self.state.files.get(path) {
                // What stands in a folder is the folder's as long as the script made it all.
                Some(made) if up == 0 || !matches!(made, Made::Unknown(_)) => Some(made),
                _ => self.state.files.get(&path.join("*")),
            })
            .or_else(|| self.below(start))
    }

    /// Something not known below a folder that is to be deleted.
    fn below(&self, folder: &PathBuf) -> Option<&Made> {
        self.state
            .files
            .range(folder.clone()..)
            .take_while(|(path, _)| path.starts_with(folder))
            .map(|(_, made)| made)
            .find(|made| matches!(made, Made::Unknown(_)))
    }
}

/// A temporary folder itself, or everything in it.
fn is_all_temp(target: &Target) -> bool {
    let root = |path: &Path| super::places::TEMP.iter().any(|temp| path == Path::new(temp));
    let all = target.shown.ends_with(b"/*") || target.shown.ends_with(b"/.*");
    target.path.as_deref().is_some_and(root) || all && target.below.as_deref().is_some_and(root)
}

/// Programs that change a file's metadata, not what it holds.
pub(super) const KEEP_CONTENT: &[&str] = &["chmod", "chown", "chgrp", "chcon", "setfacl", "touch"];

/// Names of folders and files that builds make again.
const BUILD_PRODUCTS: &[&str] = &[
    "node_modules",
    "target",
    "dist",
    "build",
    "out",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".coverage",
    "coverage",
    "htmlcov",
    ".nyc_output",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".cache",
    ".vite",
    ".angular",
    ".gradle",
    ".eggs",
    "*.egg-info",
    "*.pyc",
    "*.pyo",
    "*.o",
    "*.obj",
    "*.class",
    "*.tsbuildinfo",
    ".terraform",
    "DerivedData",
    "cmake-build-*",
    "CMakeFiles",
    "_build",
    ".dart_tool",
    "storybook-static",
    "test-results",
    "playwright-report",
    ".output",
    ".vercel",
    ".serverless",
    "zig-out",
    "zig-cache",
    ".zig-cache",
    "bazel-*",
    ".hypothesis",
    ".ipynb_checkpoints",
    "site",
    ".venv",
    "venv",
];

/// Names that are nothing but caches, in whatever project.
const CACHES: &[&str] = &["*.pyc", "*.pyo", "*.py[co]", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"];

/// A name below the project is one that builds make.
pub(super) fn is_build_product(path: &Path, project: Option<&Path>, shown_name: &[u8]) -> bool {
    let inside = project.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    let product = |name: &[u8]| BUILD_PRODUCTS.iter().any(|glob| super::place::name_matches(glob.as_bytes(), name));
    inside.components().any(|part| product(part.as_os_str().as_encoded_bytes())) || product(shown_name)
}

fn read_reason(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Secret => "reads a secret",
        Aspect::Device => "reads a device",
        _ => "reads a file",
    }
}

fn write_reason(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Startup => "changes a file from which code is run later",
        Aspect::Secret => "changes a secret",
        Aspect::Vcs => "changes git's own files",
        Aspect::System => "changes the system's files",
        Aspect::Device => "writes to a device",
        Aspect::Vetsh => "changes vetsh's own files",
        Aspect::Home => "changes files of the home folder",
        Aspect::Elsewhere => "changes files outside the project",
        _ => "changes files",
    }
}

fn delete_reason(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Temp => "deletes temporary files",
        Aspect::Vcs => "deletes git's own files",
        Aspect::System => "deletes the system's files",
        Aspect::Home => "deletes files of the home folder",
        Aspect::Vetsh => "deletes vetsh's own files",
        _ => "deletes files outside the project",
    }
}
