//! A policy file as written becomes a layer, or everything that is wrong with it.

use std::collections::HashMap;

use crate::advice;
use crate::decision::{LayerKind, Mode};
use crate::diagnostic::{Problem, Span};
use crate::facts::{Aspect, Doubt, Effect};
use crate::toml_text::{List, Spanned};

use super::schema::{self, File, Head, RuleTable};
use super::settings::Settings;
use super::statement::{Effects, Entry, ModeEntry, Rule};
use super::{Core, builtin, rule, wrapper};

/// A layer that compiled.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Compiled {
    /// Everything but its rules.
    pub core: Core,
    /// Its rules, in the order of the file.
    pub rules: Vec<Rule>,
    /// What its rules say of themselves.
    pub examples: Vec<Example>,
}

/// A command that a rule's author says it matches, or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// Index into [`Compiled::rules`].
    pub rule: usize,
    /// The command.
    pub command: String,
    /// Whether it is to match.
    pub matches: bool,
    /// Where it is written.
    pub span: Span,
}

/// Compiles the text of a layer's file.
pub fn compile(text: &str, kind: LayerKind) -> Result<Compiled, Vec<Problem>> {
    let mut problems = Vec::new();
    let file = schema::read(text, &mut problems);
    let lines = Lines::of(text);
    let mut compiler = Compiler { kind, lines, problems, locks: Vec::new() };
    let layer = compiler.file(&file);
    let mut problems = compiler.problems;
    if problems.is_empty() {
        return Ok(layer);
    }
    problems.sort_by_key(|problem| problem.span);
    Err(problems)
}

/// The state of one compilation.
pub(super) struct Compiler {
    pub(super) kind: LayerKind,
    pub(super) lines: Lines,
    pub(super) problems: Vec<Problem>,
    locks: Vec<String>,
}

impl Compiler {
    fn file(&mut self, file: &File) -> Compiled {
        self.version(&file.head);
        self.own_tables(&file.head);
        self.locks = file.head.lock.iter().map(|lock| lock.get_ref().clone()).collect();
        let core = Core {
            mode: self.mode(&file.head),
            effects: self.effects(&file.head),
            doubts: self.doubts(&file.head),
            places: self.places(&file.head),
            wrappers: file.wrappers.iter().flat_map(|(span, table)| wrapper::compile(self, *span, table)).collect(),
            settings: self.settings(&file.head),
            locks: self.locks.clone(),
            digest: [0; 32],
        };
        let (rules, examples) = self.rules(&file.rules);
        self.check_locks(&file.head, &core, &rules);
        Compiled { core, rules, examples }
    }

    fn version(&mut self, head: &Head) {
        match &head.version {
            // What cannot be read at all is reported once.
            None if !self.problems.is_empty() => {}
            None => {
                let start = Some(Span::new(0, 0));
                self.problems.push(Problem::new(start, "no `version`", Some("write `version = 1` at the top".into())));
            }
            Some(version) if *version.get_ref() != 1 => {
                let message = format!("version {} is not known", version.get_ref());
                self.problems.push(Problem::at(version, message, "this vetsh reads version 1"));
            }
            Some(_) => {}
        }
    }

    /// Tables that a project has no say in.
    fn own_tables(&mut self, head: &Head) {
        if let Some(lock) = head.lock.first().filter(|_| self.kind != LayerKind::System) {
            self.problems.push(Problem::at(lock, "`lock` counts only in the system layer", "take it out"));
        }
        if self.kind < LayerKind::Project {
            return;
        }
        let tables = [
            head.shell.as_ref().map(|table| ("shell", table.span())),
            head.ask.as_ref().map(|table| ("ask", table.span())),
            head.audit.as_ref().map(|table| ("audit", table.span())),
        ];
        for (name, span) in tables.into_iter().flatten() {
            let message = format!("`[{name}]` counts only in the system and user layers");
            self.problems.push(Problem::new(Some(span.into()), message, Some("take it out".into())));
        }
    }

    fn mode(&mut self, head: &Head) -> Option<ModeEntry> {
        let mode = head.mode.as_ref()?;
        if *mode.get_ref() == Mode::Full && self.kind >= LayerKind::Project {
            self.problems.push(Problem::at(
                mode,
                "a project cannot choose `full`",
                "only its user can, for all projects",
            ));
        }
        let line = self.lines.line(mode.span().start);
        Some(ModeEntry { mode: *mode.get_ref(), line, locked: self.is_locked("mode", "") })
    }

    fn effects(&mut self, head: &Head) -> Vec<Entry<Effects>> {
        let mut out = Vec::new();
        for (key, verdict) in &head.effects {
            let Some(of) = self.effect(key) else {
                continue;
            };
            let verdict = *verdict.get_ref();
            if let Some(floor) =
                builtin::FLOORS.iter().find(|floor| floor.verdict > verdict && floor.effects.contains(&of))
            {
                let help = format!(
                    "a rule with `id = \"{}\"` in the system or user layer lowers it for what it matches",
                    floor.id
                );
                self.problems.push(Problem::at(key, format!("the floor `{}` stands above this entry", floor.id), help));
            }
            let (line, locked) = (self.lines.line(key.span().start), self.is_locked("effects", key.get_ref()));
            out.push(Entry { of, verdict, line, locked });
        }
        out
    }

    fn doubts(&mut self, head: &Head) -> Vec<Entry<Option<Doubt>>> {
        let mut out = Vec::new();
        for (key, verdict) in &head.doubts {
            let word = key.get_ref().as_str();
            let of = Doubt::from_word(word);
            if of.is_none() && word != "*" {
                let help = advice::help(word, Doubt::ALL.iter().map(|doubt| doubt.word()));
                self.problems.push(Problem::new(Some(key.span().into()), format!("unknown doubt `{word}`"), help));
                continue;
            }
            let (line, locked) = (self.lines.line(key.span().start), self.is_locked("doubts", word));
            out.push(Entry { of, verdict: *verdict.get_ref(), line, locked });
        }
        out
    }

    /// `effect.aspect`, `effect` or `*`.
    pub(super) fn effect(&mut self, key: &Spanned<String>) -> Option<Effects> {
        let written = key.get_ref().as_str();
        if written == "*" {
            return Some(Effects { effect: None, aspect: None });
        }
        let (word, aspect) = written.split_once('.').map_or((written, None), |(word, aspect)| (word, Some(aspect)));
        let Some(effect) = Effect::from_word(word) else {
            let help = advice::help(word, Effect::ALL.iter().map(|effect| effect.word()));
            self.problems.push(Problem::new(Some(key.span().into()), format!("unknown effect `{word}`"), help));
            return None;
        };
        let aspect = match aspect {
            Some(word) => Some(self.aspect(key, word)?),
            None => None,
        };
        Some(Effects { effect: Some(effect), aspect })
    }

    pub(super) fn aspect(&mut self, key: &Spanned<String>, word: &str) -> Option<Aspect> {
        let aspect = Aspect::from_word(word);
        if aspect.is_none() {
            let help = advice::help(word, Aspect::ALL.iter().map(|aspect| aspect.word()));
            self.problems.push(Problem::new(
                Some(key.span().into()),
                format!("unknown place or aspect `{word}`"),
                help,
            ));
        }
        aspect
    }

    fn places(&mut self, head: &Head) -> Vec<(Aspect, String)> {
        let places = &head.places;
        let lists: [(Aspect, &List); 4] = [
            (Aspect::Project, &places.project),
            (Aspect::Temp, &places.temp),
            (Aspect::Secret, &places.secret),
            (Aspect::Startup, &places.startup),
        ];
        let mut out = Vec::new();
        for (aspect, glob) in
            lists.into_iter().flat_map(|(aspect, list)| list.items.iter().map(move |glob| (aspect, glob)))
        {
            let plain = glob.get_ref().strip_prefix('!').unwrap_or(glob.get_ref());
            if !["~/", "/", "**/"].iter().any(|start| plain.starts_with(start)) {
                let message = format!("`{plain}` is not anchored");
                self.problems.push(Problem::at(glob, message, "begin it with `~/`, `/` or `**/`"));
            } else if plain.split('/').any(|name| name == "..") {
                self.problems.push(Problem::at(glob, "`..` never matches", "write the path that it leads to"));
            }
            out.extend(rule::alternatives(glob.get_ref()).into_iter().map(|glob| (aspect, glob)));
        }
        out
    }

    fn settings(&mut self, head: &Head) -> Settings {
        let shell = head.shell.as_ref().map(Spanned::get_ref);
        let ask = head.ask.as_ref().map(Spanned::get_ref);
        let program = ask.map(|ask| &ask.program.items).filter(|words| !words.is_empty());
        if let Some(first) = program.and_then(|words| words.first()).filter(|word| !word.get_ref().starts_with('/')) {
            let help = "write its absolute path: what PATH finds is the caller's choice";
            self.problems.push(Problem::at(first, format!("`{}` is not an absolute path", first.get_ref()), help));
        }
        Settings {
            pipe: shell.and_then(|shell| shell.pipe),
            terminal: shell.and_then(|shell| shell.terminal),
            wait: ask.and_then(|ask| ask.wait.as_ref()).and_then(|wait| self.seconds(wait)),
            program: program.map(|words| words.iter().map(|word| word.get_ref().clone()).collect()),
            unattended: ask.and_then(|ask| ask.unattended),
            on_error: head.audit.as_ref().and_then(|audit| audit.get_ref().on_error),
        }
    }

    /// `30s`, `5m`, `1h`.
    fn seconds(&mut self, wait: &Spanned<String>) -> Option<u32> {
        let units = [('s', 1), ('m', 60), ('h', 3600)];
        let seconds = units
            .iter()
            .find_map(|(unit, factor)| wait.get_ref().strip_suffix(*unit)?.parse::<u32>().ok()?.checked_mul(*factor));
        if seconds.is_none() {
            let message = format!("`{}` is not a length of time", wait.get_ref());
            self.problems.push(Problem::at(wait, message, "write a number with `s`, `m` or `h`: `90s`, `5m`"));
        }
        seconds
    }

    fn rules(&mut self, tables: &[(Span, RuleTable)]) -> (Vec<Rule>, Vec<Example>) {
        let (mut rules, mut examples) = (Vec::new(), Vec::new());
        let mut lines: HashMap<String, u32> = HashMap::new();
        for (span, table) in tables {
            let Some(rule) = rule::compile(self, *span, table) else {
                continue;
            };
            if let (Some(line), Some(id)) = (lines.get(&rule.id), &table.id) {
                let message = format!("two rules are called `{}`", rule.id);
                self.problems.push(Problem::at(id, message, format!("the other one is in line {line}")));
            }
            lines.entry(rule.id.clone()).or_insert(rule.line);
            for (list, matches) in [(&table.examples.r#match, true), (&table.examples.not_match, false)] {
                examples.extend(list.items.iter().map(|command| Example {
                    rule: rules.len(),
                    command: command.get_ref().clone(),
                    matches,
                    span: command.span().into(),
                }));
            }
            rules.push(rule);
        }
        (rules, examples)
    }

    /// A lock must name something: a mistyped one would leave open what it was meant to close.
    fn check_locks(&mut self, head: &Head, core: &Core, rules: &[Rule]) {
        let tables = ["mode", "effects", "doubts", "rule", "places", "wrapper", "shell", "ask", "audit"];
        for lock in &head.lock {
            let written = lock.get_ref().as_str();
            let (table, key) = written.split_once('.').unwrap_or((written, ""));
            let known = match (table, key) {
                (table, "") => tables.contains(&table),
                ("effects", key) => head.effects.keys().any(|known| known.get_ref() == key),
                ("doubts", key) => head.doubts.keys().any(|known| known.get_ref() == key),
                ("rule", id) => {
                    rules.iter().any(|rule| rule.id == id) || builtin::FLOORS.iter().any(|floor| floor.id == id)
                }
                ("places", word) => ["project", "temp", "secret", "startup"].contains(&word),
                _ => core.settings.only(&[written.to_owned()]) != Settings::default(),
            };
            if !known {
                let help = "name a key of this file (`mode`, `effects.send`, `shell.pipe`), `rule.ID` or a whole table";
                self.problems.push(Problem::at(lock, format!("`{written}` locks nothing"), help));
            }
        }
    }

    /// Whether `lock` names the table or the key in it.
    pub(super) fn is_locked(&self, table: &str, key: &str) -> bool {
        self.locks.iter().any(|lock| lock == table || lock.strip_prefix(table) == Some(&format!(".{key}")))
    }
}

/// Line numbers of a text.
pub(super) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Self {
        Self { starts: text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1).collect() }
    }

    /// The line, from 1, of an offset.
    pub(super) fn line(&self, offset: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= offset) + 1).unwrap_or(u32::MAX)
    }
}
