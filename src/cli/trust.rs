//! `vetsh trust`: let a project's policy lower what it may.

use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Fault;
use crate::approval::human;
use crate::decision::LayerKind;
use crate::exit;
use crate::host::{Host, RealHost};
use crate::paths::{self, Paths};
use crate::policy::layer::{self, Sources};
use crate::terminal_text;

/// Trust the policy of a project, as it stands now
///
/// Without trust the `.vetsh.toml` of a project can only make things stricter. Trust is for this content in this place:
/// any change ends it. Only a human at a terminal can give or take it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The project's folder; without one, the project here
    folder: Option<PathBuf>,
    /// List what is trusted
    #[arg(long, conflicts_with_all = ["folder", "revoke"])]
    list: bool,
    /// Trust the project no longer, and forget that it had a policy
    #[arg(long)]
    revoke: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<i32, Fault> {
    let paths = Paths::locate().map_err(|fault| Fault(fault.to_string()))?;
    let host = RealHost::here(&paths).map_err(|fault| Fault(fault.to_string()))?;
    if arguments.list {
        return list(&Sources::new(&paths, host.project()));
    }
    let root = match &arguments.folder {
        Some(folder) => fs::canonicalize(folder).map_err(|error| Fault::new(folder.display(), error))?,
        None => host.project().ok_or_else(|| Fault("there is no project here; name its folder".into()))?.to_path_buf(),
    };
    if let Err(why) = human::terminal() {
        eprintln!("vetsh: trust is given by a human at a terminal, and this is none: {why}. Nothing was changed.");
        return Ok(exit::REFUSED);
    }
    let sources = Sources::new(&paths, Some(&root));
    if arguments.revoke { revoke(&sources, &root) } else { trust(&sources, &root) }
}

fn list(sources: &Sources) -> Result<i32, Fault> {
    let mut out = io::stdout().lock();
    let trusted = sources.trust_store().list()?;
    if trusted.is_empty() {
        eprintln!("vetsh: no project's policy is trusted");
    }
    for entry in trusted {
        let digest = entry.digest.get(..12).unwrap_or(&entry.digest);
        writeln!(out, "{digest}  {}", terminal_text::line(entry.path.as_os_str().as_bytes()))?;
    }
    Ok(exit::SUCCESS)
}

/// Shows what is trusted, and trusts exactly that.
fn trust(sources: &Sources, root: &Path) -> Result<i32, Fault> {
    let path = root.join(paths::PROJECT_POLICY);
    let text = layer::text(&path, LayerKind::Project, sources.euid).map_err(|fault| Fault(fault.render(b"")))?;
    let text = text.ok_or_else(|| Fault::new(path.display(), "no such file"))?;
    if let Err(faults) = layer::compile_file(&path, &text, LayerKind::Project) {
        let rendered = faults.iter().map(|fault| fault.render(text.as_bytes())).collect::<Vec<_>>().join("\n\n");
        return Err(Fault(format!("this policy cannot be used, so there is nothing to trust\n{rendered}")));
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}", terminal_text::block(text.as_bytes()).trim_end())?;
    sources.trust_store().add(&path, &layer::trust::digest(&path, text.as_bytes()))?;
    writeln!(out, "\ntrusted until it changes: {}", terminal_text::line(path.as_os_str().as_bytes()))?;
    Ok(exit::SUCCESS)
}

fn revoke(sources: &Sources, root: &Path) -> Result<i32, Fault> {
    let path = root.join(paths::PROJECT_POLICY);
    let revoked = sources.trust_store().revoke(&path)?;
    sources.forget(root)?;
    let told = if revoked == 0 { "was not trusted" } else { "is no longer trusted" };
    writeln!(io::stdout().lock(), "{} {told}", terminal_text::line(path.as_os_str().as_bytes()))?;
    Ok(exit::SUCCESS)
}
