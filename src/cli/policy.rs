//! `vetsh policy`: what is wrong with a policy, and what is in force.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::Fault;
use crate::decision::LayerKind;
use crate::diagnostic::Diagnostic;
use crate::exit;
use crate::host::{Host, RealHost};
use crate::paths::{self, Paths};
use crate::policy::layer::{self, Sources};
use crate::policy::{Call, Roots, Rule, show};
use crate::terminal_text;

/// Look at the policy
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    topic: Topic,
}

#[derive(Debug, Subcommand)]
enum Topic {
    /// Tell everything that is wrong with the policy, and run the examples of its rules
    ///
    /// Exits 0 if nothing is wrong and 1 if something is.
    Check {
        /// Policy files to look at; without one, all that count here
        files: Vec<PathBuf>,
    },
    /// Print what is in force here, each line with the layer and line that says so
    Show,
}

pub(super) fn run(arguments: &Arguments) -> Result<i32, Fault> {
    let paths = Paths::locate().map_err(|fault| Fault(fault.to_string()))?;
    let host = RealHost::here(&paths).map_err(|fault| Fault(fault.to_string()))?;
    let sources = Sources::new(&paths, host.project());
    match &arguments.topic {
        Topic::Check { files } if files.is_empty() => check(&sources),
        Topic::Check { files } => check_files(files),
        Topic::Show => show(&sources, &host),
    }
}

/// The files of the layers that may count here, from the highest.
fn files(sources: &Sources) -> Vec<(PathBuf, LayerKind)> {
    let project = sources.project_policy().map(|path| (path, LayerKind::Project));
    let others = [(sources.user.clone(), LayerKind::User), (sources.system.clone(), LayerKind::System)];
    project.into_iter().chain(others).collect()
}

fn check(sources: &Sources) -> Result<i32, Fault> {
    let faults = files(sources).into_iter().filter_map(|(path, kind)| layer::diagnose(&path, kind, sources.euid).err());
    let tables = layer::diagnose_tables(sources).err();
    report(&faults.chain(tables).flatten().collect::<Vec<_>>())
}

/// Files by themselves: whose they are matters only where they count.
fn check_files(files: &[PathBuf]) -> Result<i32, Fault> {
    let mut faults = Vec::new();
    for path in files {
        let text = fs::read(path).map_err(|error| Fault::new(path.display(), error))?;
        let text = String::from_utf8(text).map_err(|_| Fault::new(path.display(), "not UTF-8 text"))?;
        faults.extend(layer::compile_file(path, &text, kind_of(path)).err().unwrap_or_default());
    }
    report(&faults)
}

fn kind_of(path: &Path) -> LayerKind {
    if path.file_name() == Some(paths::PROJECT_POLICY.as_ref()) {
        LayerKind::Project
    } else if path == Path::new(paths::SYSTEM_POLICY) {
        LayerKind::System
    } else {
        LayerKind::User
    }
}

fn report(faults: &[Diagnostic]) -> Result<i32, Fault> {
    if faults.is_empty() {
        eprintln!("vetsh: nothing is wrong");
        return Ok(exit::SUCCESS);
    }
    super::write_faults(&mut io::stdout().lock(), faults)?;
    Ok(exit::FAULTY)
}

fn show(sources: &Sources, host: &RealHost) -> Result<i32, Fault> {
    let Ok(policy) = layer::load(sources) else {
        return check(sources);
    };
    let mut rules: Vec<(LayerKind, Vec<Rule>)> = Vec::new();
    for (path, kind) in files(sources) {
        if policy.layers().iter().any(|layer| layer.kind == kind) {
            let compiled = layer::diagnose(&path, kind, sources.euid).ok().flatten();
            rules.push((kind, compiled.map(|compiled| compiled.rules).unwrap_or_default()));
        }
    }
    let roots = Roots { home: host.home(), project: host.project() };
    let call = Call { mode: None, shell: "bash", origin: "", roots };
    let text = show::text(&policy, &rules, &call).map_err(|fault| Fault(fault.to_string()))?;
    // A project nobody trusts yet may hold what deceives a terminal.
    writeln!(io::stdout().lock(), "{}", terminal_text::block(text.trim_end().as_bytes()))?;
    Ok(exit::SUCCESS)
}
