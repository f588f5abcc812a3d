//! Files that a command moves, copies or links: what stands where afterwards.

use std::path::{Path, PathBuf};

use super::effect::{Aspect, Effect};
use super::place;
use super::state::{Files, Made};
use super::table::Judged;
use super::value::{Argument, UnknownKind};
use super::walker::{By, Walker};
use crate::commands::{Role, Use};
use crate::host::{LookKind, Recovery};

impl Walker<'_> {
    /// What a command moves, copies or links is found again at the other end.
    pub(super) fn transferred(&mut self, judged: &Judged<'_>, before: &Files) {
        let is = |role: Role| move |used: &&Use<'_>| used.role == role;
        let uses = &judged.reading.uses;
        let sources: Vec<_> =
            uses.iter().filter(|used| matches!(used.role, Role::Move | Role::Copy | Role::Link)).collect();
        let Some(role) = sources.first().map(|used| used.role) else { return };
        let into = uses.iter().rfind(is(Role::Write));
        let here = Argument::known(".", judged.by.at);
        let target = into.map_or(&here, |used| &*used.value);
        let several = sources.len() > 1 || into.is_none_or(|used| used.option.is_some());
        let folder = several || target.text().is_some_and(|text| text.ends_with(b"/"));
        for to in self.targets(&target.pieces).into_iter().filter_map(|target| target.path) {
            for source in &sources {
                self.spread(role, source, &to);
                for to in self.ends(&to, &source.value, folder) {
                    let made = self.made_of(role, source, &to, judged, before);
                    self.placed(to, made, before);
                }
            }
        }
    }

    /// Names that are not known in full are moved somewhere into a folder.
    fn spread(&mut self, role: Role, source: &Use<'_>, to: &Path) {
        let from = self.targets(&source.value.pieces).into_iter().find_map(|target| target.below);
        if let (Role::Move, Some(from), None) = (role, from, source.value.text()) {
            self.state.touch(to.to_path_buf(), Made::Moved(from));
        }
    }

    /// Where a source comes to stand: at the path itself, in the folder that it is, or at either of both.
    fn ends(&self, to: &Path, source: &Argument, folder: bool) -> Vec<PathBuf> {
        let text = source.text().map(|text| place::normal(&Path::new("/").join(place::path(&text))));
        let inside = text.as_deref().and_then(Path::file_name).map(|name| to.join(name));
        let made = self.state.files.get(to);
        match (self.host.look(to).kind, made) {
            _ if folder => inside.into_iter().collect(),
            (LookKind::Directory, _) | (_, Some(Made::Folder)) => inside.into_iter().collect(),
            (LookKind::Unknown, None) => inside.into_iter().chain([to.to_path_buf()]).collect(),
            _ => vec![to.to_path_buf()],
        }
    }

    fn made_of(&self, role: Role, source: &Use<'_>, to: &Path, judged: &Judged<'_>, before: &Files) -> Made {
        let open = source.value.text().and_then(|name| super::nested::descriptor(&name));
        if let Some(open) = open {
            return match self.pipes.iter().find(|(pipe, _)| *pipe == *open) {
                Some((_, printed)) => Made::Written(printed.clone()),
                None => self.frame.stdin.clone().map_or(Made::Unknown(UnknownKind::Any), Made::Written),
            };
        }
        let mut from = self.targets(&source.value.pieces).into_iter();
        let (Some(target), None) = (from.next(), from.next()) else { return Made::Unknown(UnknownKind::Any) };
        let Some(from) = target.path else { return Made::Unknown(UnknownKind::Any) };
        match role {
            Role::Link => {
                let symbolic = judged.reading.options.iter().any(|given| given.is("-s"));
                let text = source.value.text().filter(|_| symbolic);
                // A symbolic link says where it leads from where it stands.
                Made::Link(match text {
                    Some(text) => place::normal(&to.parent().unwrap_or(Path::new("/")).join(place::path(&text))),
                    None => from,
                })
            }
            Role::Move => Made::Moved(origin(before, &from).unwrap_or(from)),
            _ => match before.get(&from) {
                Some(made @ (Made::Written(_) | Made::Unknown(_) | Made::Built | Made::Link(_))) => made.clone(),
                _ => Made::Copied(origin(before, &from).unwrap_or(from)),
            },
        }
    }

    /// Puts something there, with what this script made below the folder from which it comes.
    fn placed(&mut self, to: PathBuf, made: Made, before: &Files) {
        if let Made::Moved(from) | Made::Copied(from) = &made {
            let start = from.clone();
            let below = before.range(start..).take_while(|(path, _)| path.starts_with(from));
            let below: Vec<_> = below
                .filter(|(path, made)| *path != from && **made != Made::Deleted)
                .filter_map(|(path, made)| Some((to.join(path.strip_prefix(from).ok()?), made.clone())))
                .collect();
            let whole = before.get(from).filter(|made| !matches!(made, Made::Deleted | Made::Folder)).cloned();
            self.state.touch(to, whole.unwrap_or(made));
            below.into_iter().for_each(|(path, made)| self.state.touch(path, made));
        } else {
            self.state.touch(to, made);
        }
    }

    /// Where what stands at a path stood when the script began, if the script moved or copied it there.
    pub(super) fn origin(&self, path: &Path) -> Option<PathBuf> {
        origin(&self.state.files, path)
    }

    /// What was moved below a path is lost with it as much as where it came from.
    pub(super) fn lose_moved(&mut self, path: &Path, by: By) {
        let moved = |made: &Made| if let Made::Moved(from) = made { Some(from.clone()) } else { None };
        let below = self.state.files.range(path.to_path_buf()..).take_while(|(below, _)| below.starts_with(path));
        let mut lost: Vec<PathBuf> = below.filter_map(|(_, made)| moved(made)).collect();
        let above = path.ancestors().skip(1).find_map(|folder| self.state.files.get(folder)).and_then(moved);
        lost.extend(above.and_then(|_| self.origin(path)));
        for from in lost {
            let aspect = self.settings.places.spot(&from, self.host).aspect;
            let kept = matches!(self.host.recovery(&from), Recovery::Absent | Recovery::Tracked);
            let Some(aspect) = aspect.filter(|aspect| *aspect != Aspect::Temp && !kept) else { continue };
            let shown = Some(place::shown(&from));
            self.effect((Effect::Delete, Some(aspect)), shown, by, "deletes what this script moved there");
        }
    }
}

/// Where what stands at a path stood before it was moved or copied there.
fn origin(files: &Files, path: &Path) -> Option<PathBuf> {
    if files.is_empty() {
        return None;
    }
    let (folder, made) = path.ancestors().find_map(|folder| Some((folder, files.get(folder)?)))?;
    let (Made::Moved(from) | Made::Copied(from)) = made else { return None };
    let rest = path.strip_prefix(folder).ok()?;
    Some(if rest.as_os_str().is_empty() { from.clone() } else { from.join(rest) })
}
