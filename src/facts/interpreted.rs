//! Code in a language that is not a shell's: what its own reader finds in it, as facts.

use bstr::{BStr, BString};

use super::command::Call;
use super::effect::{Aspect, Doubt, Effect, Part};
use super::inline::{Code, InlineFinding, What, judge};
use super::path::Reach;
use super::table::is_blank;
use super::value::{Argument, Piece, UnknownKind};
use super::walker::{By, Walker};
use crate::commands::Language;

/// Languages that only say what to make of text: what they do beside it is found in them.
const FILTERS: &[Language] = &[
    Language::Sed,
    Language::RegexE,
    Language::Awk,
    Language::Jq,
    Language::Yq,
    Language::Bc,
    Language::Sql,
    Language::Less,
    Language::Make,
    Language::Just,
    Language::Package,
    Language::GitConfig,
    Language::Tox,
    Language::PreCommit,
    Language::Taskfile,
    Language::CargoConfig,
    Language::Npmrc,
];

/// The parts between the separators.
fn split(pieces: &[Piece], separator: u8) -> Vec<Vec<Piece>> {
    let mut parts = vec![Vec::new()];
    for piece in pieces {
        let Piece::Text(text) = piece else {
            parts.last_mut().into_iter().for_each(|part| part.push(piece.clone()));
            continue;
        };
        for (number, text) in text.split(|byte| *byte == separator).enumerate() {
            if number > 0 {
                parts.push(Vec::new());
            }
            parts.last_mut().into_iter().for_each(|part| super::expand::append(part, [Piece::Text(text.into())]));
        }
    }
    parts
}

impl Walker<'_> {
    /// Judges text of code in a language that is not a shell's.
    pub(super) fn inline(&mut self, language: Language, text: &[Piece], arguments: &[Argument], by: By) {
        let by = by.part(Part::Nested);
        if is_blank(text) || !self.step(by.at) {
            return;
        }
        let downloaded =
            |piece: &Piece| matches!(piece, Piece::Unknown(unknown) if unknown.kind == UnknownKind::Downloaded);
        if text.iter().any(downloaded) {
            let why = "runs text that came from the network or a decoder";
            self.effect((Effect::Run, Some(Aspect::Downloaded)), None, by, why);
        }
        let text = Argument { pieces: self.with_contents(text.to_vec()), many: false, at: by.at };
        let findings = {
            let variable = |name: &BStr| self.scalar(name);
            judge(&Code { language: language.word(), text: &text, arguments, variable: &variable })
        };
        if !FILTERS.contains(&language) {
            let what = format!("runs {} code", language.word());
            self.effect((Effect::Run, Some(Aspect::Inline)), Some(language.word().into()), by, what);
        }
        let cwd = self.state.cwd.clone();
        self.framed(
            |frame| frame.via = frame.reached(format!("{} code", language.word())),
            |walker| {
                for finding in findings {
                    walker.deeper(by.at, |walker| walker.inline_finding(language, finding, by));
                }
            },
        );
        self.state.cwd = cwd;
    }

    /// Folders from which a program loads code, parted by colons.
    pub(super) fn library(&mut self, value: &Argument, by: By) {
        for entry in split(&value.pieces, b':') {
            self.loads_from_temp(&entry, by);
            for target in self.targets(&entry) {
                let aspect = if target.unsure.is_some() { Some(Aspect::Unknown) } else { target.aspect };
                self.effect((Effect::Run, aspect), Some(target.shown), by, "loads code from there");
            }
        }
    }

    /// A list of files that are read, as far as it is known.
    pub(super) fn names(&mut self, value: &Argument, by: By) {
        let open = value.text().is_some_and(|name| &*name == "-" || super::nested::descriptor(&name).is_some());
        if !open {
            self.path_effect(Effect::Read, value, by, "");
        }
        let standard = value.text().is_some_and(|name| &*name == "-" || &*name == "/dev/stdin");
        let content = if standard {
            self.frame.stdin.as_ref().map(|stdin| stdin.to_vec()).unwrap_or_default()
        } else {
            self.content(&value.pieces)
        };
        let Some(text) = super::value::known(&content).map(std::borrow::Cow::into_owned) else { return };
        for name in text.split(|byte| matches!(byte, b'\n' | 0)).filter(|name| !name.is_empty()) {
            self.path_effect(Effect::Read, &Argument::known(name, by.at), by, "");
        }
    }

    /// Work is recorded in the repository of the working directory; one outside project and home is none to change.
    pub(super) fn recorded_elsewhere(&mut self, by: By) {
        for here in self.targets(&[Piece::Text(".".into())]) {
            if let Some(aspect @ (Aspect::System | Aspect::Elsewhere)) = here.aspect {
                let why = "records work in a repository outside the project";
                self.effect((Effect::Write, Some(aspect)), Some(here.shown), by, why);
            }
        }
    }

    /// Anything may have put code into a temporary folder before this script.
    pub(super) fn loads_from_temp(&mut self, pieces: &[Piece], by: By) {
        let temp = |target: &super::resolve::Target| {
            target.aspect == Some(Aspect::Temp)
                && target.path.as_ref().is_none_or(|path| !self.state.files.contains_key(path))
        };
        if self.targets(pieces).iter().any(temp) {
            let shown = super::resolve::shown_pieces(pieces);
            let reason = format!("loads code from a temporary folder: {shown}");
            self.doubt(Doubt::Script, by.part(Part::Nested), reason);
        }
    }

    /// The known value of a variable.
    fn scalar(&self, name: &BStr) -> Option<BString> {
        match &*self.variable(name) {
            [value] => super::environment::text_of(value),
            _ => None,
        }
    }

    fn inline_finding(&mut self, language: Language, finding: InlineFinding, by: By) {
        match finding.what {
            What::Script { language, text } => {
                let Some(language) = Language::from_word(&language) else { return };
                self.code(language, text.pieces, "text in code".to_owned(), by);
            }
            What::Command(words) => self.run(&words, Call::program(By { command: None, ..by })),
            What::ScriptFile { language, path } => {
                let language = Language::from_word(&language);
                for target in self.targets(&path.pieces) {
                    match target.path {
                        Some(path) => self.run_path(&path, &[], by, language),
                        None => {
                            self.effect((Effect::Run, Some(Aspect::Unknown)), Some(target.shown), by, "runs a file");
                        }
                    }
                }
            }
            What::Library(name) => self.loads(language, &Argument::known(name, by.at), by),
            What::Path { effect, path, tree } => {
                let path = self.at_home(path);
                match effect {
                    Effect::Delete => self.delete(&path, if tree { Reach::Tree } else { Reach::File }, by),
                    Effect::Run if self.targets(&path.pieces).iter().all(|target| target.path.is_some()) => {
                        for path in self.targets(&path.pieces).into_iter().filter_map(|target| target.path) {
                            self.run_path(&path, &[], by, Some(language));
                        }
                    }
                    effect => self.path_effect(effect, &path, by, ""),
                }
            }
            What::Chdir(path) => self.state.cwd = self.folder_at(&self.at_home(path)),
            What::Host { effect, url } => self.url_effect(effect, &url, by),
            What::Effect(effect, aspect) => self.effect((effect, aspect), None, by, finding.reason),
            What::Doubt(doubt) => self.doubt(doubt, by, finding.reason),
        }
    }

    /// A leading `~` stands for the home folder.
    fn at_home(&self, path: Argument) -> Argument {
        let lead = path.prefix();
        if lead != "~" && !lead.starts_with(b"~/") {
            return path;
        }
        let rest = super::table::without(&path, 1);
        let mut pieces = vec![Piece::Text(super::place::shown(self.host.home()))];
        super::expand::append(&mut pieces, rest.pieces);
        Argument { pieces, ..path }
    }
}
