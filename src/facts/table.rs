//! A program's table applied to its arguments: what they are, and what follows.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use bstr::{BStr, ByteSlice};

use super::Identity;
use super::command::Call;
use super::effect::{Aspect, Doubt, Effect, Part};
use super::path::{KEEP_CONTENT, Reach};
use super::resolve::shown_pieces;
use super::state::{Folder, Made};
use super::value::{Argument, Piece, UnknownKind, known};
use super::walker::{By, Walker};
use crate::commands::{Declared, Language, Reading, Role, Table, Use};

/// A command that is being judged by its table.
pub(super) struct Judged<'r> {
    pub(super) name: &'r BStr,
    pub(super) call: &'r Call,
    pub(super) by: By,
    pub(super) reading: &'r Reading<'r>,
    /// Something is given to another host: text, files.
    pub(super) sends: bool,
}

impl Walker<'_> {
    /// Judges a command by the table of its program.
    pub(super) fn by_table(
        &mut self,
        name: &BStr,
        table: Table<'_>,
        identity: Identity,
        words: &[Argument],
        call: &Call,
    ) {
        let reading = table.read(words.get(1..).unwrap_or_default());
        let command = self.list_command(Some(name.to_owned()), identity, words, call);
        if let Some(fact) = self.facts.commands.get_mut(command) {
            fact.subcommand.clone_from(&reading.subcommand);
            fact.options = reading.options.iter().map(crate::commands::Given::fact).collect();
            let text = |word: &Cow<'_, Argument>| if word.many { None } else { word.text().map(Cow::into_owned) };
            fact.operands = reading.operands.iter().map(text).collect();
        }
        let by = self.own(command, call);
        if reading.inspect_only {
            self.effect((Effect::Inspect, None), None, by, "only prints");
            return self.print_unknown(UnknownKind::Any, format!("what {name} prints"));
        }
        let sends = reading
            .uses
            .iter()
            .any(|used| matches!(used.role, Role::Data | Role::Upload | Role::RemoteWrite if is_sent(used)));
        let judged = Judged { name, call, by, reading: &reading, sends };
        let cwd = self.state.cwd.clone();
        self.follow_chdir(&judged);
        self.reading(&judged, &cwd);
        self.linked(&judged);
        self.environment(&judged, table);
        let fed = self.fed(&judged, table);
        let tails = self.tails(&judged);
        self.state.cwd = cwd;
        if !fed && !tails {
            self.program_output(&judged);
        }
    }

    /// The doubts, effects and uses of a reading.
    fn reading(&mut self, judged: &Judged<'_>, start: &Folder) {
        for vague in &judged.reading.doubts {
            let by = judged.by.at(vague.at.unwrap_or(judged.by.at));
            self.doubt(vague.doubt, by, vague.reason.clone());
        }
        for declared in &judged.reading.effects {
            self.declared(declared, judged, start);
        }
        for used in &judged.reading.uses {
            self.used(used, judged);
        }
        // What is written depends on what is fetched and read, wherever that stands.
        for used in &judged.reading.uses {
            match used.role {
                Role::Write | Role::Append | Role::ArchiveWrite => self.filled(&used.value, judged),
                Role::Url | Role::RemoteRead => self.saved(&used.value),
                _ => {}
            }
        }
    }

    /// `git -C`, `make -C`, `tar -C`: relative paths count from there.
    fn follow_chdir(&mut self, judged: &Judged<'_>) {
        for used in judged.reading.uses.iter().filter(|used| used.role == Role::Chdir) {
            self.state.cwd = self.folder_at(&used.value);
        }
    }

    /// The folder that an argument names.
    pub(super) fn folder_at(&self, argument: &Argument) -> Folder {
        let mut targets = self.targets(&argument.pieces).into_iter();
        match (targets.next(), targets.next()) {
            (Some(target), None) => match (target.path, target.below, target.unsure) {
                (Some(path), ..) => Folder::Known(vec![path]),
                (None, _, Some(reason)) => Folder::Unknown(reason),
                (None, Some(below), None) => Folder::Below(below),
                (None, None, None) => Folder::Temp,
            },
            _ => Folder::Unknown("the working directory can be one of several".into()),
        }
    }

    fn declared(&mut self, declared: &Declared<'_>, judged: &Judged<'_>, start: &Folder) {
        let by = judged.by;
        let reason =
            if declared.reason.is_empty() { default_reason(declared.effect).into() } else { declared.reason.clone() };
        let place =
            matches!(declared.effect, Effect::Read | Effect::Write | Effect::Delete) && declared.aspect.is_none();
        if place {
            if declared.at_cwd {
                let here = Argument::known(".", by.at);
                self.place_effect(declared.effect, &here, by);
            }
            let found = self.found_names(declared, judged);
            for argument in found
                .iter()
                .map(Cow::Borrowed)
                .chain(declared.on.iter().map(|on| Cow::Borrowed(&**on)).filter(|_| found.is_empty()))
            {
                let argument = &argument;
                // The folder that an option names was named from where the command started.
                let chdir =
                    judged.reading.uses.iter().any(|used| used.role == Role::Chdir && *used.value == **argument);
                let cwd = self.state.cwd.clone();
                if chdir {
                    self.state.cwd = start.clone();
                }
                self.place_effect(declared.effect, argument, by.at(argument.at));
                self.state.cwd = cwd;
            }
            if !declared.at_cwd && declared.on.is_empty() {
                self.effect((declared.effect, None), None, by, reason);
            }
            return;
        }
        let aspect = declared.aspect.or_else(|| match (declared.effect, declared.on.first()) {
            (Effect::Fetch | Effect::Send, Some(host)) => Some(self.host_aspect(host)),
            (Effect::Fetch | Effect::Send, None) => Some(Aspect::Other),
            _ => None,
        });
        let target = declared.on.first().map(|argument| shown_pieces(&argument.pieces));
        self.effect((declared.effect, aspect), target, by, reason);
    }

    fn place_effect(&mut self, effect: Effect, argument: &Argument, by: By) {
        match effect {
            Effect::Delete => self.delete(argument, Reach::Tree, by),
            effect => self.path_effect(effect, argument, by, ""),
        }
    }

    /// What an argument is used for.
    pub(super) fn used(&mut self, used: &Use<'_>, judged: &Judged<'_>) {
        let value = &*used.value;
        let by = judged.by.at(value.at);
        let dash = value.pieces.as_slice() == [Piece::Text("-".into())];
        match used.role {
            Role::Text
            | Role::Process
            | Role::Placeholder
            | Role::List
            | Role::Chdir
            | Role::Env
            | Role::Unset
            | Role::Config
            | Role::Assign
            | Role::Command { .. } => {}
            Role::Read | Role::ArchiveRead | Role::Upload if dash => {}
            Role::Write | Role::Edit | Role::Append | Role::ArchiveWrite if dash => {}
            Role::Read | Role::ArchiveRead | Role::Upload => self.path_effect(Effect::Read, value, by, ""),
            Role::Edit => {
                let files = self.state.files.clone();
                self.path_effect(Effect::Write, value, by, "");
                self.edited(value, judged, files);
            }
            Role::Write | Role::Append | Role::ArchiveWrite => {
                self.path_effect(Effect::Write, value, by, "");
            }
            Role::Discard => self.discard(value, false, by),
            Role::RefOrDiscard => self.discard(value, true, by),
            Role::MakeFolder => self.make_folder(value, by),
            Role::Delete => self.delete(value, Reach::File, by),
            Role::DeleteTree => self.delete(value, Reach::Tree, by),
            Role::Move => self.delete(value, Reach::Away, by),
            Role::Run => self.via(judged, |walker| walker.run(std::slice::from_ref(value), Call::program(by))),
            Role::Script(language) => {
                let operands = &judged.reading.operands;
                let after = operands.iter().position(|operand| operand.at == value.at).map_or(0, |found| found + 1);
                let arguments: Vec<_> = operands.iter().skip(after).map(|operand| (**operand).clone()).collect();
                self.script(language, value, &arguments, judged);
            }
            Role::Code(language) => self.code_argument(language, value, judged),
            Role::Module => self.effect(
                (Effect::Run, Some(Aspect::Project)),
                Some(shown_pieces(&value.pieces)),
                by,
                "runs a module",
            ),
            Role::Url => self.request(value, judged),
            Role::SendUrl => self.url_effect(Effect::Send, value, by),
            Role::Data => self.data(value, by),
            Role::Host => self.contact(value, judged),
            Role::Remote | Role::RemoteRead | Role::RemoteWrite => self.remote(used, judged),
            Role::Package => self.package(value, judged),
            Role::Device => {
                let target = Some(shown_pieces(&value.pieces));
                self.effect((Effect::Device, Some(Aspect::Device)), target, by, "changes a device");
            }
        }
    }

    /// A file that is changed in place is still mostly what it was; its metadata say nothing of its content.
    fn edited(&mut self, value: &Argument, judged: &Judged<'_>, before: std::rc::Rc<BTreeMap<PathBuf, Made>>) {
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

    /// `ln -s`: what is done to the link is done to where it leads.
    fn linked(&mut self, judged: &Judged<'_>) {
        let reading = judged.reading;
        if *judged.name != "ln" || !reading.options.iter().any(|given| given.is("-s")) {
            return;
        }
        let [to, rest @ ..] = reading.operands.as_slice() else { return };
        let name = rest.first().map_or_else(|| Argument::known(".", judged.by.at), |name| (**name).clone());
        for link in self.targets(&name.pieces).into_iter().filter_map(|target| target.path) {
            let folder = matches!(self.host.look(&link).kind, crate::host::LookKind::Directory);
            let base = to.text().and_then(|text| super::place::path(&text).file_name().map(ToOwned::to_owned));
            let link = match (folder, base) {
                (true, Some(base)) => link.join(base),
                _ => link,
            };
            let lead = to.text().map(|text| super::place::path(&text));
            let Some(to) = lead else {
                self.state.touch(link, Made::Unknown(UnknownKind::Any));
                continue;
            };
            let to = super::place::normal(&link.parent().unwrap_or(std::path::Path::new("/")).join(to));
            self.state.touch(link, Made::Link(to));
        }
    }

    fn make_folder(&mut self, value: &Argument, by: By) {
        let before = self.state.files.clone();
        self.path_effect(Effect::Write, value, by, "");
        for target in self.targets(&value.pieces) {
            let Some(path) = target.path else { continue };
            // `mkdir -p` of what is there already makes nothing.
            let exists =
                before.get(&path).is_some() || !matches!(self.host.look(&path).kind, crate::host::LookKind::Missing);
            match (before.get(&path), exists && !self.host.assumed()) {
                (Some(made), _) => self.state.touch(path, made.clone()),
                (None, true) => {
                    std::rc::Rc::make_mut(&mut self.state.files).remove(&path);
                }
                (None, false) => self.state.touch(path, Made::Folder),
            }
        }
    }

    /// A file that a program writes: what comes from the network or a decoder is remembered as such.
    fn filled(&mut self, value: &Argument, judged: &Judged<'_>) {
        let kind = self.output_taint(judged);
        let Some(kind) = kind else { return };
        for target in self.targets(&value.pieces) {
            if let Some(path) = target.path {
                self.state.touch(path, Made::Unknown(kind));
            }
        }
    }

    /// What is fetched may be saved here under its own name.
    fn saved(&mut self, value: &Argument) {
        let Some(text) = value.text() else { return };
        let name = text.trim_end_with(|byte| byte == '/').rsplit_str("/").next().unwrap_or_default();
        let name = name.split_str("?").next().unwrap_or_default();
        let name = name.strip_suffix(b".git").unwrap_or(name);
        let Some(cwd) = self.state.cwd.path().cloned() else { return };
        if !name.is_empty() && !super::fetch::is_loopback(&super::fetch::host(&text)) {
            self.state.touch(cwd.join(super::place::path(name)), Made::Unknown(UnknownKind::Downloaded));
        }
    }

    fn request(&mut self, value: &Argument, judged: &Judged<'_>) {
        let by = judged.by.at(value.at);
        let effect = if judged.sends { Effect::Send } else { Effect::Fetch };
        self.url_effect(effect, value, by);
    }

    fn data(&mut self, value: &Argument, by: By) {
        let lead = value.prefix();
        let file = lead.strip_prefix(b"@").or_else(|| lead.find("=@").and_then(|at| lead.get(at + 2..)));
        if let Some(name) = file
            && name != b"-"
        {
            let skipped = lead.len() - name.len();
            self.path_effect(Effect::Read, &without(value, skipped), by, "");
        }
    }

    fn contact(&mut self, value: &Argument, judged: &Judged<'_>) {
        let network = |declared: &Declared<'_>| {
            matches!(
                declared.effect,
                Effect::Fetch | Effect::Send | Effect::Control | Effect::Publish | Effect::Inspect
            )
        };
        if judged.reading.effects.iter().any(network) {
            return;
        }
        let aspect = self.host_aspect(value);
        let target = Some(shown_pieces(&value.pieces));
        self.effect((Effect::Fetch, Some(aspect)), target, judged.by.at(value.at), "contacts a host");
    }

    fn remote(&mut self, used: &Use<'_>, judged: &Judged<'_>) {
        let by = judged.by.at(used.value.at);
        let writes = used.role == Role::RemoteWrite;
        if used.value.prefix().contains_str("://") && is_remote(&used.value) {
            return self.url_effect(if writes { Effect::Send } else { Effect::Fetch }, &used.value, by);
        }
        if is_remote(&used.value) {
            let target = Some(shown_pieces(&used.value.pieces));
            let aspect = Some(Aspect::Other);
            return match writes {
                true => self.effect((Effect::Send, aspect), target, by, "copies files to another host"),
                false => self.effect((Effect::Fetch, aspect), target, by, "copies files from another host"),
            };
        }
        self.path_effect(if writes { Effect::Write } else { Effect::Read }, &used.value, by, "");
    }

    fn package(&mut self, value: &Argument, judged: &Judged<'_>) {
        if judged.reading.effects.iter().any(|declared| matches!(declared.effect, Effect::Install | Effect::Delete)) {
            return;
        }
        let local = value.prefix().first().is_some_and(|byte| b"./".contains(byte));
        let aspect = if local { Aspect::Locked } else { Aspect::Named };
        let target = Some(shown_pieces(&value.pieces));
        self.effect((Effect::Install, Some(aspect)), target, judged.by.at(value.at), "installs a package");
    }

    /// A file of code.
    pub(super) fn script(&mut self, language: Language, value: &Argument, arguments: &[Argument], judged: &Judged<'_>) {
        let by = judged.by.at(value.at);
        let text = value.text();
        if text.as_ref().is_some_and(|text| matches!(text.as_bytes(), b"-" | b"/dev/stdin" | b"/dev/fd/0")) {
            if let Some(stdin) = self.frame.stdin.clone() {
                self.via(judged, |walker| {
                    walker.code(language, stdin.to_vec(), format!("input of {}", judged.name), by)
                });
            }
            return;
        }
        if text.as_ref().is_some_and(|text| text.contains_str("://")) {
            let target = text.map(Cow::into_owned);
            return self.effect((Effect::Run, Some(Aspect::Downloaded)), target, by, "runs code from the network");
        }
        if let Some(name) = &text
            && let Some((_, printed)) = self.pipes.iter().find(|(pipe, _)| *pipe == **name).cloned()
        {
            return self.via(judged, |walker| {
                walker.code(language, printed.to_vec(), format!("input of {}", judged.name), by)
            });
        }
        for target in self.targets(&value.pieces) {
            match target.path {
                Some(path) => self.via(judged, |walker| walker.run_path(&path, arguments, by, Some(language))),
                None => {
                    let aspect = if target.unsure.is_some() { Some(Aspect::Unknown) } else { target.aspect };
                    self.effect((Effect::Run, aspect), Some(target.shown.clone()), by, "runs a file");
                    self.doubt(
                        Doubt::Script,
                        by.part(Part::Nested),
                        format!("which script is run is not known: {}", target.shown),
                    );
                }
            }
        }
    }

    /// Text of code.
    fn code_argument(&mut self, language: Language, value: &Argument, judged: &Judged<'_>) {
        let by = judged.by.at(value.at);
        let name = match &self.option_of(judged, value) {
            Some(option) => format!("argument of {} {option}", judged.name),
            None => format!("argument of {}", judged.name),
        };
        match language {
            Language::Options | Language::Settings => {}
            Language::GitAlias => {
                if value.prefix().starts_with(b"!") {
                    self.via(judged, |walker| walker.code(Language::Sh, without(value, 1).pieces, name, by));
                }
            }
            _ => match self.shell_of(language) {
                Some(dialect) => {
                    let mut operands = judged.reading.operands.iter().map(|operand| (**operand).clone());
                    let is_shell = matches!(
                        language,
                        Language::Bash | Language::Sh | Language::Dash | Language::Zsh | Language::Shell
                    );
                    let zero = operands.next().and_then(|zero| zero.text().map(Cow::into_owned));
                    let zero = zero.filter(|_| is_shell).unwrap_or_else(|| judged.name.to_owned());
                    let shell = Some((zero, operands.collect()));
                    let text = value.pieces.clone();
                    self.nested(super::nested::Nested { text, name, dialect, shell, by });
                }
                None => {
                    let arguments: Vec<_> = judged.reading.operands.iter().map(|operand| (**operand).clone()).collect();
                    self.via(judged, |walker| walker.inline(language, &value.pieces, &arguments, by));
                }
            },
        }
    }

    fn option_of(&self, judged: &Judged<'_>, value: &Argument) -> Option<String> {
        let used = judged.reading.uses.iter().find(|used| used.value.at == value.at)?;
        used.option.as_ref().map(ToString::to_string)
    }

    /// An interpreter without a script reads it from its input.
    fn fed(&mut self, judged: &Judged<'_>, table: Table<'_>) -> bool {
        let runs = |role: &Role| matches!(role, Role::Script(_) | Role::Code(_) | Role::Module);
        let shell = |role: &Role| match role {
            Role::Script(language) | Role::Code(language) => self.shell_of(*language).is_some(),
            _ => false,
        };
        if judged.reading.uses.iter().any(|used| runs(&used.role)) {
            return judged.reading.uses.iter().any(|used| shell(&used.role));
        }
        let language = table.program().operands.iter().find_map(|operand| match operand.role {
            Role::Script(language) => Some(language),
            _ => None,
        });
        let Some(language) = language.filter(|_| judged.reading.tails.is_empty()) else { return false };
        let by = judged.by;
        let Some(stdin) = self.frame.stdin.clone() else {
            let reason = format!("{} reads code that is not known here", judged.name);
            self.doubt(Doubt::Script, by.part(Part::Nested), reason);
            return false;
        };
        let name = format!("input of {}", judged.name);
        self.via(judged, |walker| {
            walker.framed(|frame| frame.stdin = None, |walker| walker.code(language, stdin.to_vec(), name, by))
        });
        self.shell_of(language).is_some()
    }

    /// Runs `walk` as reached through this command.
    pub(super) fn via(&mut self, judged: &Judged<'_>, walk: impl FnOnce(&mut Self)) {
        let name = judged.name.to_string();
        self.framed(
            |frame| {
                frame.via = frame.reached(name);
                if !judged.call.environment.is_empty() {
                    frame.given = std::rc::Rc::new(judged.call.environment.clone());
                }
            },
            walk,
        );
    }
}

/// `@-` of a data argument is what is piped in; it is sent like anything else.
fn is_sent(used: &Use<'_>) -> bool {
    used.role != Role::RemoteWrite || is_remote(&used.value)
}

fn is_remote(value: &Argument) -> bool {
    let lead = value.prefix();
    super::fetch::remote(lead.as_ref()).is_some()
}

/// An argument without the first bytes of its leading text.
pub(super) fn without(argument: &Argument, count: usize) -> Argument {
    let mut left = count;
    let mut pieces = Vec::with_capacity(argument.pieces.len());
    for piece in &argument.pieces {
        match piece {
            Piece::Text(text) if left > 0 => {
                let skipped = left.min(text.len());
                left -= skipped;
                pieces.push(Piece::Text(text.get(skipped..).unwrap_or_default().into()));
            }
            piece => pieces.push(piece.clone()),
        }
    }
    Argument { pieces, ..*argument }
}

/// Whether every piece is known and the text is empty.
pub(super) fn is_blank(pieces: &[Piece]) -> bool {
    known(pieces).is_some_and(|text| text.trim_ascii().is_empty())
}

fn default_reason(effect: Effect) -> &'static str {
    match effect {
        Effect::Inspect => "only looks",
        Effect::Read => "reads files",
        Effect::Write => "changes files",
        Effect::Delete => "deletes files",
        Effect::Run => "runs code",
        Effect::Install => "installs packages",
        Effect::Fetch => "gets something from another host",
        Effect::Send => "gives something to another host",
        Effect::Publish => "makes something public",
        Effect::Discard => "loses work or history",
        Effect::Commit => "records work in the repository",
        Effect::Signal => "signals processes",
        Effect::Elevate => "gets other rights",
        Effect::Persist => "makes code run later",
        Effect::Configure => "changes settings",
        Effect::Device => "writes to a device",
        Effect::Control => "changes containers, clouds, databases or other machines",
        Effect::Tamper => "touches vetsh or another terminal",
        Effect::Exhaust => "takes the machine down by exhaustion",
    }
}
