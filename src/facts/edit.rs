//! Files and folders that programs write, change in place, link or make.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use super::effect::Effect;
use super::path::KEEP_CONTENT;
use super::state::Made;
use super::table::Judged;
use super::value::{Argument, Piece, UnknownKind};
use super::walker::{By, Walker};
use crate::host::LookKind;

impl Walker<'_> {
    /// A file that is changed in place is still mostly what it was; its metadata say nothing of its content.
    pub(super) fn edited(&mut self, value: &Argument, judged: &Judged<'_>, before: Rc<BTreeMap<PathBuf, Made>>) {
        if KEEP_CONTENT.iter().any(|program| *judged.name == *program) {
            self.state.files = before;
            return;
        }
        for path in self.targets(&value.pieces).into_iter().filter_map(|target| target.path) {
            let made = match before.get(&path) {
                Some(Made::Written(content)) => {
                    let mut content = content.to_vec();
                    content.push(Piece::unknown(UnknownKind::Any, "it is edited before"));
                    Made::Written(content.into())
                }
                Some(made) => made.clone(),
                None => Made::Edited,
            };
            self.state.touch(path, made);
        }
    }

    pub(super) fn make_folder(&mut self, value: &Argument, by: By) {
        let before = self.state.files.clone();
        self.path_effect(Effect::Write, value, by, "");
        for target in self.targets(&value.pieces) {
            let Some(path) = target.path else { continue };
            // `mkdir -p` of what is there already makes nothing.
            let exists = before.get(&path).is_some() || !matches!(self.host.look(&path).kind, LookKind::Missing);
            match (before.get(&path), exists && !self.host.assumed()) {
                (Some(made), _) => self.state.touch(path, made.clone()),
                (None, true) => {
                    Rc::make_mut(&mut self.state.files).remove(&path);
                }
                (None, false) => self.state.touch(path, Made::Folder),
            }
        }
    }

    /// A file that a program writes: what comes from the network or a decoder is remembered as such.
    pub(super) fn filled(&mut self, value: &Argument, judged: &Judged<'_>, otherwise: Option<Made>) {
        let copied = self.frame.stdin.clone().filter(|_| *judged.name == "tee" && judged.reading.options.is_empty());
        let made = match (copied, self.output_taint(judged)) {
            (Some(content), _) => Made::Written(content),
            (None, Some(kind)) => Made::Unknown(kind),
            (None, None) => match otherwise {
                Some(made) => made,
                None => return,
            },
        };
        if let Made::Written(content) = &made {
            self.dumped(content, value, judged.by);
        }
        for path in self.targets(&value.pieces).into_iter().filter_map(|target| target.path) {
            self.state.touch(path, made.clone());
        }
    }
}
