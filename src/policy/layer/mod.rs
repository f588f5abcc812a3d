//! Finding, trusting, reading and caching layers: the only part of the policy that touches files.

mod cache;
mod open;
mod tables;
pub mod trust;

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::commands::schema::Program;
use crate::decision::{LayerKind, Mode};
use crate::diagnostic::{Diagnostic, Problem};
use crate::paths;

use super::index::hash;
use super::{Compiled, Core, Fault, Layer, Policy, Rule, compile, example};
use cache::Slot;
use open::{Refused, Stamp};
use trust::TrustStore;

/// Where layers are, and who reads them.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The administrator's layer.
    pub system: PathBuf,
    /// The user's layer.
    pub user: PathBuf,
    /// The folder of the user's own command tables.
    pub commands: PathBuf,
    /// The user's compiled layer.
    pub cache: PathBuf,
    /// The user's compiled tables.
    pub tables_cache: PathBuf,
    /// The folder of the projects' compiled layers; each also tells that its project had one.
    pub projects: PathBuf,
    /// The folder of trusted contents.
    pub trust: PathBuf,
    /// Exists if the user has acknowledged `full`.
    pub full: PathBuf,
    /// The project's root, if there is one.
    pub project: Option<PathBuf>,
    /// The effective user.
    pub euid: u32,
}

/// Why everything but looking asks in a project.
const BROKEN: &str = "this project's policy cannot be used; `vetsh policy check` tells why";
const VANISHED: &str =
    "this project had a policy and it has vanished; put it back, or run `vetsh trust --revoke` for it";

impl Sources {
    /// The usual places, for a project.
    pub fn new(paths: &paths::Paths, project: Option<&Path>) -> Self {
        Self {
            system: paths::SYSTEM_POLICY.into(),
            user: paths.policy(),
            commands: paths.commands(),
            cache: paths.policy_cache(),
            tables_cache: paths.tables_cache(),
            projects: paths.state.join("projects"),
            trust: paths.trust(),
            full: paths.state.join("full"),
            project: project.map(Path::to_path_buf),
            euid: paths::user(),
        }
    }

    /// The store of trusted contents.
    pub fn trust_store(&self) -> TrustStore {
        TrustStore::new(self.trust.clone(), self.euid)
    }

    /// The file of the project's layer.
    pub fn project_policy(&self) -> Option<PathBuf> {
        self.project.as_ref().map(|root| root.join(paths::PROJECT_POLICY))
    }

    /// A vetsh that root runs from another user's installation reads nothing of that user's.
    fn is_others(&self) -> bool {
        let folder = || self.user.parent().and_then(|folder| fs::metadata(folder).ok());
        self.euid == 0 && folder().is_some_and(|folder| folder.uid() != 0)
    }

    /// The same, with nothing remembered and nothing to be remembered.
    fn without_state(&self) -> Self {
        let nowhere = Path::new("/dev/null/nowhere");
        let places = ["cache", "tables", "projects", "trust", "full"].map(|name| nowhere.join(name));
        let [cache, tables_cache, projects, trust, full] = places;
        Self { cache, tables_cache, projects, trust, full, ..self.clone() }
    }

    fn slot(&self, path: PathBuf) -> Slot {
        Slot { path, owner: self.euid }
    }

    /// Where the system layer's compiled form is kept: beside it, and only root's counts.
    fn system_slot(&self) -> Slot {
        Slot { path: self.system.with_extension("cache"), owner: 0 }
    }

    fn project_slot(&self, root: &Path) -> Slot {
        self.slot(self.projects.join(format!("{:016x}", hash(root.as_os_str().as_bytes()))))
    }

    /// Forgets that a project had a policy.
    pub fn forget(&self, root: &Path) -> std::io::Result<()> {
        match fs::remove_file(self.project_slot(root).path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Loads all layers that count. Whatever is wrong in the system or user layer is an error: the caller refuses.
pub fn load(sources: &Sources) -> Result<Policy, Vec<Diagnostic>> {
    let others = sources.is_others();
    let sources = &if others { sources.without_state() } else { sources.clone() };
    let mut layers = Vec::new();
    let mut faults = Vec::new();
    let (layer, suspended) = project(sources);
    layers.extend(layer);
    if !others {
        let slot = sources.slot(sources.cache.clone());
        match read(&sources.user, LayerKind::User, &slot, sources.euid) {
            Ok(layer) => layers.extend(layer),
            Err(found) => faults.extend(found),
        }
        match tables::read(sources) {
            Ok(layer) => layers.extend(layer),
            Err(found) => faults.extend(found),
        }
    }
    match read(&sources.system, LayerKind::System, &sources.system_slot(), sources.euid) {
        Ok(layer) => layers.extend(layer),
        Err(found) => faults.extend(found),
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let chosen = layers.iter().any(|layer| layer.core.mode.is_some_and(|entry| entry.mode == Mode::Full));
    let full = chosen && is_acknowledged(sources);
    Ok(Policy::new(layers, full, suspended))
}

/// The project's layer, or why it cannot be relied on; neither if there is none.
fn project(sources: &Sources) -> (Option<Layer>, Option<&'static str>) {
    let (Some(root), Some(path)) = (&sources.project, sources.project_policy()) else {
        return (None, None);
    };
    let slot = sources.project_slot(root);
    match read(&path, LayerKind::Project, &slot, sources.euid) {
        Err(_) => (None, Some(BROKEN)),
        Ok(None) => (None, slot.path.exists().then_some(VANISHED)),
        Ok(Some(mut layer)) => {
            layer.trusted = sources.trust_store().holds(&layer.core.digest);
            (Some(layer), None)
        }
    }
}

fn is_acknowledged(sources: &Sources) -> bool {
    let entry = fs::symlink_metadata(&sources.full);
    entry.is_ok_and(|entry| entry.is_file() && entry.uid() == sources.euid && entry.mode() & 0o022 == 0)
}

/// Reads one layer, from its compiled form where that still holds.
fn read(path: &Path, kind: LayerKind, slot: &Slot, euid: u32) -> Result<Option<Layer>, Vec<Diagnostic>> {
    let refused = |fault: Refused| vec![refusal("policy", path, kind, &fault)];
    let Some(opened) = open::open(path, kind, euid).map_err(refused)? else {
        return Ok(None);
    };
    let stamp = opened.stamp;
    let trusted = kind < LayerKind::Project;
    let again = {
        let path = path.to_path_buf();
        move || recompile(&path, kind, euid, stamp)
    };
    if let Some((core, rules)) = slot.read(stamp, again) {
        return Ok(Some(Layer { kind, trusted, core, rules }));
    }
    let text = opened.text().map_err(refused)?;
    let compiled = compile_file(path, &text, kind)?;
    if slot.owner == euid {
        keep(slot, stamp, kind, &compiled);
    }
    Layer::new(kind, trusted, compiled).map(Some).map_err(|fault| vec![failed(path, &fault)])
}

fn failed(path: &Path, fault: &Fault) -> Diagnostic {
    Diagnostic { path: path.into(), span: None, message: fault.to_string(), help: None }
}

fn keep(slot: &Slot, stamp: Stamp, kind: LayerKind, compiled: &Compiled) {
    if !stamp.is_young() {
        slot.write(stamp, &compiled.core, &compiled.rules);
    } else if kind == LayerKind::Project {
        // That the project has a policy is remembered at once.
        slot.write(Stamp::NONE, &Core::default(), &[]);
    }
}

/// The rules of a layer whose compiled form turned out damaged, if it is still what was opened.
fn recompile(path: &Path, kind: LayerKind, euid: u32, stamp: Stamp) -> Result<Vec<Rule>, Fault> {
    let opened = open::open(path, kind, euid).ok().flatten().filter(|opened| opened.stamp == stamp);
    let text = opened.ok_or(Fault::Damaged)?.text().map_err(|_| Fault::Damaged)?;
    compile(&text, kind).map(|compiled| compiled.rules).map_err(|_| Fault::Damaged)
}

/// The text of a layer's file, if it may count as one.
pub fn text(path: &Path, kind: LayerKind, euid: u32) -> Result<Option<String>, Diagnostic> {
    let opened = open::open(path, kind, euid);
    let text = opened.and_then(|opened| opened.map(open::Opened::text).transpose());
    text.map_err(|fault| refusal("policy", path, kind, &fault))
}

/// Everything wrong with a layer's file; as a layer of this kind it would count.
pub fn diagnose(path: &Path, kind: LayerKind, euid: u32) -> Result<Option<Compiled>, Vec<Diagnostic>> {
    let text = text(path, kind, euid).map_err(|fault| vec![fault])?;
    text.map(|text| compile_file(path, &text, kind)).transpose()
}

/// The user's own command tables, or everything that is wrong with them.
pub fn diagnose_tables(sources: &Sources) -> Result<Vec<Program>, Vec<Diagnostic>> {
    tables::diagnose(sources)
}

/// Compiles the text of a file and runs its examples, wherever the file lies.
pub fn compile_file(path: &Path, text: &str, kind: LayerKind) -> Result<Compiled, Vec<Diagnostic>> {
    let diagnostics = |problems: Vec<Problem>| problems.into_iter().map(|problem| problem.in_file(path)).collect();
    let mut compiled = compile(text, kind).map_err(diagnostics)?;
    let failed = example::run(&compiled);
    if !failed.is_empty() {
        return Err(diagnostics(failed));
    }
    compiled.core.digest = trust::digest(path, text.as_bytes());
    Ok(compiled)
}

/// A fault as it is printed, with the line that it points at.
pub fn told(fault: &Diagnostic) -> String {
    // A fault without a place is about the file itself, which may be a pipe that nobody ever writes to.
    let source = fault.span.and_then(|_| fs::read(&fault.path).ok());
    fault.render(&source.unwrap_or_default())
}

/// Where a fault is: `path:line:column`, or the path alone.
pub fn place(fault: &Diagnostic) -> String {
    let path = fault.path.display();
    let Some((span, source)) = fault.span.and_then(|span| Some((span, fs::read(&fault.path).ok()?))) else {
        return path.to_string();
    };
    let before = String::from_utf8_lossy(source.get(..span.start).unwrap_or_default());
    let (line, column) =
        (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1);
    format!("{path}:{line}:{column}")
}

/// Several faults as they are printed.
pub fn all_told(faults: &[Diagnostic]) -> String {
    faults.iter().map(told).collect::<Vec<_>>().join("\n\n")
}

fn refusal(what: &str, path: &Path, kind: LayerKind, fault: &Refused) -> Diagnostic {
    let message = format!("this {what} {fault}");
    Diagnostic { path: path.to_path_buf(), span: None, message, help: Some(fault.help(path, kind)) }
}
