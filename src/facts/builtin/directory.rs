//! `cd`, `pushd`, `popd`, `pwd`.

use bstr::BStr;

use super::Called;
use crate::facts::place::shown;
use crate::facts::state::{Folder, Value};
use crate::facts::value::{Argument, Piece, UnknownKind, known};
use crate::facts::walker::Walker;
use crate::host::LookKind;

pub(super) fn cd(walker: &mut Walker<'_>, called: &Called<'_>) {
    let mut operands = called.operands();
    let (to, more) = (operands.next(), operands.next());
    let folder = match (to, more) {
        (None, _) => home(walker),
        // zsh replaces one text by another in the name.
        (Some(_), Some(_)) => Folder::Unknown("`cd` with two arguments".into()),
        (Some(to), None) if to.text().is_some_and(|text| &*text == "-") => old(walker),
        (Some(to), None) => named(walker, to),
    };
    enter(walker, folder);
}

fn home(walker: &Walker<'_>) -> Folder {
    match &*walker.variable(BStr::new("HOME")) {
        [Value::Scalar(pieces)] => match known(pieces) {
            Some(path) if !path.is_empty() => {
                Folder::Known(vec![crate::facts::place::normal(&crate::facts::place::path(&path))])
            }
            _ => Folder::Unknown("$HOME is not known".into()),
        },
        _ => Folder::Known(vec![walker.host.home().to_path_buf()]),
    }
}

fn old(walker: &Walker<'_>) -> Folder {
    match &*walker.variable(BStr::new("OLDPWD")) {
        [Value::Scalar(pieces)] if known(pieces).is_some_and(|path| path.starts_with(b"/")) => {
            walker.folder_at(&Argument { pieces: pieces.clone(), many: false, at: crate::facts::Location::default() })
        }
        _ => Folder::Unknown("the folder before the last `cd`".into()),
    }
}

fn named(walker: &Walker<'_>, to: &Argument) -> Folder {
    let relative = to.pieces.first().is_some_and(|piece| match piece {
        Piece::Text(text) => !text.starts_with(b"/") && !text.starts_with(b"."),
        _ => false,
    });
    let searched = match &*walker.variable(BStr::new("CDPATH")) {
        [Value::Unset] => false,
        [Value::Scalar(pieces)] => known(pieces).is_some_and(|path| !path.is_empty()),
        _ => true,
    };
    if relative && searched {
        return Folder::Unknown("CDPATH may lead `cd` elsewhere".into());
    }
    if to.pieces.is_empty() { walker.state.cwd.clone() } else { walker.folder_at(to) }
}

/// The working directory changes; whether it can is asked of the host.
fn enter(walker: &mut Walker<'_>, folder: Folder) {
    let before = walker.state.cwd.clone();
    let may_fail = match &folder {
        Folder::Known(paths) => paths.iter().any(|path| !walker.is_folder(path)),
        Folder::Below(_) | Folder::Unknown(_) => !walker.host.assumed(),
        Folder::Temp => false,
    };
    let value = Walker::folder_value(&before);
    walker.state.set(BStr::new("OLDPWD"), value);
    walker.state.fallback = may_fail.then_some(before);
    walker.state.cwd = folder;
}

impl Walker<'_> {
    /// A folder that is there, or that this script made, as far as can be told.
    fn is_folder(&self, path: &std::path::Path) -> bool {
        use crate::facts::state::Made;
        match self.state.files.get(path) {
            Some(Made::Folder | Made::Unknown(_) | Made::Link(_)) => return true,
            Some(Made::Moved(from) | Made::Copied(from)) => return self.is_folder(from),
            Some(Made::Written(_) | Made::Built | Made::Edited | Made::Deleted) => return false,
            None => {}
        }
        let below = self.state.files.range(path.to_path_buf()..).next().is_some_and(|(made, _)| made.starts_with(path));
        below || matches!(self.host.look(path).kind, LookKind::Directory | LookKind::Unknown)
    }
}

pub(super) fn pushd(walker: &mut Walker<'_>, called: &Called<'_>) {
    let Some(to) = called.operands().next() else {
        let top = walker.state.pushed.pop();
        let before = walker.state.cwd.clone();
        walker.state.pushed.push(before);
        return enter(walker, top.unwrap_or_else(|| Folder::Unknown("`pushd` without a folder".into())));
    };
    if called
        .arguments
        .iter()
        .any(|argument| argument.prefix().starts_with(b"+") || argument.prefix().starts_with(b"-"))
    {
        walker.state.cwd = Folder::Unknown("`pushd` turns the stack of folders".into());
        return walker.state.pushed.clear();
    }
    let folder = named(walker, to);
    let before = walker.state.cwd.clone();
    walker.state.pushed.push(before);
    enter(walker, folder);
}

pub(super) fn popd(walker: &mut Walker<'_>, called: &Called<'_>) {
    let folder = walker.state.pushed.pop();
    let known = folder.filter(|_| called.arguments.is_empty());
    enter(walker, known.unwrap_or_else(|| Folder::Unknown("the folder that `popd` goes to".into())));
}

pub(super) fn pwd(walker: &mut Walker<'_>, called: &Called<'_>) {
    let physical = called.has(b'P');
    match (physical, walker.state.cwd.path().cloned()) {
        (true, Some(path)) => {
            let real = walker.host.look(&path).real;
            walker.print([Piece::Text(shown(&real)), Piece::Text("\n".into())]);
        }
        (true, None) => walker.print_unknown(UnknownKind::Any, "the working directory"),
        (false, _) => walker.print_folder(),
    }
}
