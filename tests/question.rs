//! A question as the stages before the ladder would put it.

use std::path::{Path, PathBuf};

use bstr::BString;
use tempfile::TempDir;
use vetsh::approval::{Asked, Outcome, settle};
use vetsh::decision::{Decision, Finding, LayerKind, Mode, Provenance, Verdict};
use vetsh::diagnostic::Span;
use vetsh::facts::{Aspect, CommandFact, Effect, Facts, Identity, Location, ScriptText};
use vetsh::host::FileRead;
use vetsh::policy::{AskSettings, Unattended};
use vetsh::syntax::Dialect;

/// What one shell start asks, and a folder for vetsh's state.
pub struct Question {
    pub part: Vec<u8>,
    pub shell: String,
    pub options: Vec<BString>,
    pub start: PathBuf,
    pub project: Option<PathBuf>,
    pub files: Vec<FileRead>,
    pub decision: Decision,
}

impl Question {
    /// `bash -c PART`, in which everything deletes `build` and gets this verdict.
    pub fn new(part: &str, verdict: Verdict) -> Self {
        let at = Location { script: 0, span: Span::new(0, part.len()) };
        let text = ScriptText { text: part.into(), name: "`-c` text".to_owned(), from: None };
        let finding = Finding {
            verdict,
            rule: None,
            effect: Some((Effect::Delete, Some(Aspect::Project))),
            doubt: None,
            target: Some("build".into()),
            command: None,
            at,
            reason: "deletes what cannot be had back".into(),
            provenance: Provenance { layer: LayerKind::Builtin, line: 1 },
        };
        Self {
            part: part.into(),
            shell: "bash".to_owned(),
            options: vec!["-c".into()],
            start: "/home/me/app".into(),
            project: Some("/home/me/app".into()),
            files: Vec::new(),
            decision: Decision {
                verdict,
                mode: Mode::Auto,
                policy: "p0".repeat(32),
                findings: vec![finding],
                facts: Facts { scripts: vec![text], ..Facts::default() },
            },
        }
    }

    /// Adds a command that the decision lists.
    pub fn listing(mut self, argv: &[&str], cwd: &str) -> Self {
        self.decision.facts.commands.push(CommandFact {
            program: argv.first().map(|word| BString::from(*word)),
            identity: Identity::Described,
            subcommand: Vec::new(),
            options: Vec::new(),
            operands: Vec::new(),
            argv: argv.iter().map(|word| Some(BString::from(*word))).collect(),
            environment: Vec::new(),
            cwd: Some(Path::new(cwd).into()),
            via: std::rc::Rc::default(),
            at: Location::default(),
            dialect: Dialect::Bash,
        });
        self
    }

    /// The same question in the form that the ladder takes, given to `use_it`.
    pub fn with<T>(&self, use_it: impl FnOnce(&Asked<'_>, &Decision) -> T) -> T {
        let mut argv = self.options.clone();
        argv.push(self.part.clone().into());
        let asked = Asked {
            part: &self.part,
            shell: &self.shell,
            options: &self.options,
            argv: &argv,
            start: &self.start,
            project: self.project.as_deref(),
            origin: Some("codex"),
            files: &self.files,
            user: rustix::process::geteuid().as_raw(),
        };
        use_it(&asked, &self.decision)
    }

    /// Settles it with the state in this folder, where nobody can be asked.
    pub fn settle(&self, state: &Path) -> Outcome {
        self.settle_by(&ASK, state)
    }

    /// Settles it by these settings.
    pub fn settle_by(&self, settings: &AskSettings, state: &Path) -> Outcome {
        self.with(|asked, decision| settle(asked, decision, settings, state))
    }
}

/// The settings of a policy that says nothing about asking.
pub const ASK: AskSettings = AskSettings { wait: None, program: Vec::new(), unattended: Unattended::Ask };

/// A folder for vetsh's state.
pub fn state() -> TempDir {
    tempfile::Builder::new().prefix("state-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}
