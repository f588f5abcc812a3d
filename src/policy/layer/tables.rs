//! The user's own command tables: `commands/*.toml` beside the policy, together a layer without rules.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::commands::schema::Program;
use crate::commands::user;
use crate::decision::LayerKind;
use crate::diagnostic::Diagnostic;
use crate::policy::{Compiled, Core, Layer};

use super::open::{self, Opened, Stamp};
use super::{Sources, failed, refusal};

/// The layer of the user's tables, from its compiled form where that still holds; `None` if there are no tables.
pub(super) fn read(sources: &Sources) -> Result<Option<Layer>, Vec<Diagnostic>> {
    let files = open_all(sources)?;
    if files.is_empty() {
        return Ok(None);
    }
    let stamp = Stamp::of_all(files.iter().map(|(path, opened)| (path.as_os_str().as_bytes(), opened.stamp)));
    let slot = sources.slot(sources.tables_cache.clone());
    // There are no rules that could turn out damaged.
    if let Some((core, rules)) = slot.read(stamp, || Ok(Vec::new())) {
        return Ok(Some(Layer { kind: LayerKind::User, trusted: true, core, rules }));
    }
    let core = compile(files)?;
    if !stamp.is_young() {
        slot.write(stamp, &core, &[]);
    }
    let compiled = Compiled { core, ..Compiled::default() };
    Layer::new(LayerKind::User, true, compiled).map(Some).map_err(|fault| vec![failed(&sources.commands, &fault)])
}

/// Everything that is wrong with the user's tables.
pub(super) fn diagnose(sources: &Sources) -> Result<Vec<Program>, Vec<Diagnostic>> {
    compile(open_all(sources)?).map(|core| core.wrappers)
}

/// The table files, if each may count as one.
fn open_all(sources: &Sources) -> Result<Vec<(PathBuf, Opened)>, Vec<Diagnostic>> {
    let entries = match fs::read_dir(&sources.commands) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(error) => return Err(vec![refused(&sources.commands, &error.into())]),
    };
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.map_err(|error| vec![refused(&sources.commands, &error.into())])?;
    paths.retain(|path| is_table(path));
    paths.sort();
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    if !paths.is_empty() {
        // Whoever can write in the folder above can put another folder in its place.
        let closed = open::folder_is_closed(&sources.commands, LayerKind::User, sources.euid);
        faults.extend(closed.err().map(|fault| refused(&sources.commands, &fault)));
    }
    for path in paths {
        match open::open(&path, LayerKind::User, sources.euid) {
            Ok(opened) => files.extend(opened.map(|opened| (path, opened))),
            Err(fault) => faults.push(refused(&path, &fault)),
        }
    }
    if faults.is_empty() { Ok(files) } else { Err(faults) }
}

/// `NAME.toml`, but none that an editor hides.
fn is_table(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."));
    path.extension() == Some(OsStr::new("toml")) && !hidden
}

fn compile(files: Vec<(PathBuf, Opened)>) -> Result<Core, Vec<Diagnostic>> {
    let (mut programs, mut faults) = (Vec::new(), Vec::new());
    let mut digest = Sha256::new();
    let mut owners: BTreeMap<String, PathBuf> = BTreeMap::new();
    for (path, opened) in files {
        let text = match opened.text() {
            Ok(text) => text,
            Err(fault) => {
                faults.push(refused(&path, &fault));
                continue;
            }
        };
        digest.update(super::trust::digest(&path, text.as_bytes()));
        match user::load(&text, &path) {
            Ok(found) => {
                for name in found.iter().flat_map(|program| program.names.iter()) {
                    if let Some(owner) = owners.insert(name.text.to_string(), path.clone()) {
                        faults.push(twice(&path, &name.text, &owner));
                    }
                }
                programs.extend(found);
            }
            Err(found) => faults.extend(found),
        }
    }
    if faults.is_empty() {
        Ok(Core { wrappers: programs, digest: digest.finalize().into(), ..Core::default() })
    } else {
        Err(faults)
    }
}

fn twice(path: &Path, name: &str, owner: &Path) -> Diagnostic {
    let help = Some("leave one of them".to_owned());
    let message = format!("`{name}` is described in {} too", owner.display());
    Diagnostic { path: path.to_owned(), span: None, message, help }
}

fn refused(path: &Path, fault: &open::Refused) -> Diagnostic {
    refusal("table", path, LayerKind::User, fault)
}
