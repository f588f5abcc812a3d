//! Scripts that a script runs: `sh -c` text, `eval`, traps, files, what is fed to an interpreter.

use std::path::Path;
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};

use super::ScriptText;
use super::effect::{Aspect, Doubt, Effect, Part};
use super::state::Value;
use super::value::{Argument, Piece, UnknownKind, known};
use super::walker::{By, MAX_NESTING, Walker};
use crate::commands::Language;
use crate::syntax::Dialect;
use crate::syntax::model::SyntaxDoubtKind;

/// A text that is run as a script.
pub(super) struct Nested {
    pub(super) text: Vec<Piece>,
    /// What it is, for people.
    pub(super) name: String,
    pub(super) dialect: Dialect,
    /// A shell of its own, with these parameters; `None`: the shell that runs it (`eval`).
    pub(super) shell: Option<(BString, Vec<Argument>)>,
    pub(super) by: By,
}

impl Walker<'_> {
    /// Walks a text as a script.
    pub(super) fn nested(&mut self, nested: Nested) {
        let by = nested.by.part(Part::Nested);
        if self.frame.nesting >= MAX_NESTING {
            return self.doubt(Doubt::Limit, by, "scripts are nested too deeply to be followed");
        }
        let Some((text, unknown)) = self.with_placeholders(&self.with_contents(nested.text), by) else { return };
        for _ in 0..=text.len() / 256 {
            if !self.step(by.at) {
                return;
            }
        }
        self.hold(size_of::<ScriptText>() + text.len());
        let number = self.facts.scripts.len();
        self.facts.scripts.push(ScriptText { text: text.clone(), name: nested.name.clone(), from: Some(by.at) });
        let (dialect, shell) = (nested.dialect, nested.shell);
        self.framed(
            |frame| {
                frame.script = number;
                frame.dialect = dialect;
                frame.via = frame.reached(nested.name);
                frame.nesting += 1;
            },
            |walker| {
                for (name, piece) in unknown {
                    walker.state.set(name.as_ref(), Value::Scalar(vec![piece]));
                }
                match shell {
                    None => walker.deeper(by.at, |walker| walker.read(&text, by)),
                    Some((zero, positional)) => walker.deeper(by.at, |walker| {
                        walker.frame.zero = zero;
                        walker.frame.returns = false;
                        walker.subshell(|walker| {
                            walker.forget();
                            for (name, pieces) in std::mem::take(&mut walker.frame.given).iter() {
                                walker.state.set(name.as_ref(), Value::Scalar(pieces.clone()));
                                walker.state.export(name.as_ref());
                            }
                            walker.state.positional = Rc::new(positional);
                            walker.read(&text, by);
                        });
                    }),
                }
            },
        );
    }

    /// A shell of its own gets only what is exported.
    fn forget(&mut self) {
        let host = self.host;
        let variables = Rc::make_mut(&mut self.state.variables);
        variables.retain(|name, variable| {
            variable.exported || name.starts_with(PLACEHOLDER.as_bytes()) || host.variable(name.as_ref()).is_some()
        });
        if !self.state.options.functions {
            self.state.functions = Rc::default();
        }
        self.state.aliases = Rc::default();
        let functions = self.state.options.functions;
        self.state.options = super::state::Options { functions, ..super::state::Options::default() };
    }

    /// Walks the text of the script that the frame is of, part by part.
    pub(super) fn read(&mut self, text: &[u8], by: By) {
        for part in crate::syntax::parts(text, self.frame.dialect) {
            self.syntax_doubts(&part, by);
            self.block(&part.body);
        }
    }

    /// What the readers of a text were not sure of.
    fn syntax_doubts(&mut self, script: &crate::syntax::Script, by: By) {
        for doubt in &script.doubts {
            let kind = match doubt.kind {
                SyntaxDoubtKind::Syntax => Doubt::Syntax,
                SyntaxDoubtKind::Dialect => Doubt::Dialect,
                SyntaxDoubtKind::Limit => Doubt::Limit,
            };
            let at = self.at(doubt.span);
            self.doubt(kind, by.at(at), doubt.reason.clone());
        }
    }

    /// The text with variables in place of what is not known; `None` if nothing of it is.
    fn with_placeholders(&mut self, pieces: &[Piece], by: By) -> Option<(BString, Vec<(BString, Piece)>)> {
        let mut text = BString::default();
        let mut unknown = Vec::new();
        for piece in pieces {
            let Piece::Unknown(what) = piece else {
                if let Piece::Text(bytes) | Piece::Pattern(bytes) = piece {
                    text.extend_from_slice(bytes);
                }
                continue;
            };
            match what.kind {
                UnknownKind::Downloaded => {
                    let why = "runs text that came from the network or a decoder";
                    self.effect((Effect::Run, Some(Aspect::Downloaded)), None, by, why);
                }
                // These hold nothing that a shell would read as more than a word.
                UnknownKind::Number | UnknownKind::Child | UnknownKind::TempPath => {}
                _ => self.doubt(Doubt::Script, by, format!("text that is run is not known: {}", what.reason)),
            }
            let name = BString::from(format!("{PLACEHOLDER}{}", self.placeholders));
            self.placeholders += 1;
            text.extend_from_slice(b"${");
            text.extend_from_slice(&name);
            text.push(b'}');
            unknown.push((name, piece.clone()));
        }
        (unknown.len() < pieces.len() || pieces.is_empty()).then_some((text, unknown))
    }

    /// Text that the shell expands once more: a subscript, an arithmetic expression, a prompt.
    pub(super) fn evaluated(&mut self, text: &[Piece], by: By) {
        let Some(text) = known(text) else { return };
        if !["$(", "`", "${", "$["].iter().any(|start| text.contains_str(start)) {
            return;
        }
        let quoted = [b": \"", text.replace("\"", "\\\"").as_slice(), b"\""].concat();
        let dialect = self.frame.dialect;
        self.nested(Nested {
            text: vec![Piece::Text(quoted.into())],
            name: "evaluated text".to_owned(),
            dialect,
            shell: None,
            by,
        });
    }

    /// Text of code in some language.
    pub(super) fn code(&mut self, language: Language, text: Vec<Piece>, name: String, by: By) {
        match self.shell_of(language) {
            Some(dialect) => {
                let shell = Some((BString::from("sh"), Vec::new()));
                self.nested(Nested { text, name, dialect, shell, by });
            }
            None => self.inline(language, &text, &[], by),
        }
    }

    /// The shell that a language names; `None` for what is no shell read here.
    pub(super) fn shell_of(&self, language: Language) -> Option<Dialect> {
        Some(match language {
            Language::Bash => Dialect::Bash,
            Language::Dash => Dialect::Dash,
            Language::Zsh => Dialect::Zsh,
            Language::Shell | Language::ShellWords | Language::Sh => self.sh(),
            _ => return None,
        })
    }

    /// What `sh` is on this machine.
    pub(super) fn sh(&self) -> Dialect {
        let file = self.host.program(BStr::new("sh"), None).map(|file| self.host.look(&file).real);
        match file.as_deref().and_then(Path::file_name).map(std::ffi::OsStr::as_encoded_bytes) {
            Some(b"dash") => Dialect::Dash,
            _ => Dialect::BashPosix,
        }
    }

    /// A file's text is run: by an interpreter, or as its `#!` line says.
    pub(super) fn run_script_text(
        &mut self,
        path: &Path,
        text: Vec<Piece>,
        arguments: &[Argument],
        by: By,
        language: Option<Language>,
    ) {
        let lead = match text.first() {
            Some(Piece::Text(lead)) => lead.as_bstr(),
            _ => BStr::new(""),
        };
        if lead.iter().take(512).any(|byte| *byte == 0) {
            return;
        }
        let name = self.shown_relative(path);
        let dialect = match language {
            Some(language) => self.shell_of(language),
            None => self.shebang(lead),
        };
        match (dialect, language) {
            (Some(dialect), _) => {
                let shell = Some((super::place::shown(path), arguments.to_vec()));
                self.nested(Nested { text, name, dialect, shell, by });
            }
            (None, Some(language)) => self.inline(language, &text, arguments, by),
            (None, None) => {
                if let Some(language) = interpreter(lead) {
                    self.inline(language, &text, arguments, by);
                }
            }
        }
    }

    /// A path as seen from the project.
    fn shown_relative(&self, path: &Path) -> String {
        let inside = self.host.project().and_then(|root| path.strip_prefix(root).ok());
        inside.unwrap_or(path).display().to_string()
    }

    /// By which shell a file without a language is run.
    fn shebang(&self, text: &BStr) -> Option<Dialect> {
        let Some(line) = text.strip_prefix(b"#!") else {
            // Without a `#!` line the shell that starts it reads it itself.
            return Some(self.frame.dialect);
        };
        let line = line.lines().next().unwrap_or_default();
        match program_of(line) {
            b"bash" => Some(Dialect::Bash),
            b"sh" => Some(self.sh()),
            b"dash" => Some(Dialect::Dash),
            b"zsh" => Some(Dialect::Zsh),
            _ => None,
        }
    }

    /// Walks what traps run, in the state that the shell ends in.
    pub(super) fn run_traps(&mut self) {
        let traps = self.traps.pop().unwrap_or_default();
        if traps.is_empty() {
            return;
        }
        let state = self.state.clone();
        for trap in traps {
            self.state.ended = false;
            self.nested(Nested {
                text: trap.text,
                name: "trap".to_owned(),
                dialect: self.frame.dialect,
                shell: None,
                by: By::script(trap.at),
            });
        }
        self.state = state;
    }
}

/// Names of the variables that stand for what is not known in a nested text.
const PLACEHOLDER: &str = "__not_known_";

/// The name under `/dev/fd` of an open file, however it is named.
pub(super) fn descriptor(name: &[u8]) -> Option<String> {
    if name == b"/dev/stdin" {
        return Some("/dev/fd/0".to_owned());
    }
    let (folder, number) = name.rsplit_once_str("/fd/")?;
    let number = number.to_str().ok()?;
    (folder == b"/dev" || folder.starts_with(b"/proc/")).then(|| format!("/dev/fd/{number}"))
}

/// The program that a `#!` line names.
fn program_of(line: &[u8]) -> &[u8] {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().rsplit_str("/").next().unwrap_or_default();
    if first != b"env" {
        return first;
    }
    words
        .find(|word| !word.starts_with(b"-") && !word.contains(&b'='))
        .unwrap_or_default()
        .rsplit_str("/")
        .next()
        .unwrap_or_default()
}

/// The language of a `#!` line.
fn interpreter(text: &BStr) -> Option<Language> {
    let line = text.strip_prefix(b"#!")?.lines().next()?;
    let program = program_of(line).to_str().ok()?;
    Language::from_word(program.trim_end_matches(|byte: char| byte.is_ascii_digit() || byte == '.'))
}
