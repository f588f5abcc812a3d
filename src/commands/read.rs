//! Applying a table to arguments: what is an option, what an operand, what a subcommand, what a wrapped command.

use std::borrow::Cow;

use bstr::{BStr, ByteSlice};

use super::bind;
use super::condition::{Holds, Seen};
use super::reading::{Given, Reading, Tail, Use, Vague, lead, rest, unknown};
use super::schema::{OperandSpec, OptionSpec, Program, Role, Style, TailKind, Takes};
use super::tables::{Table, Tables, setting};
use crate::facts::kind::Doubt;
use crate::facts::value::{Argument, UnknownKind};

/// What the program of `table` would take `arguments` for.
pub(super) fn read<'a>(table: Table<'a>, arguments: &'a [Argument]) -> Reading<'a> {
    let mut reader = Reader {
        tables: table.tables,
        levels: vec![table.program],
        path: table.program.name().to_owned(),
        arguments,
        next: 0,
        style: table.program.style.unwrap_or(Style::Gnu),
        ended: false,
        double_dash: false,
        descending: table.program.subcommands || table.program.parent,
        position: 0,
        roleless: false,
        unlisted: false,
        leading: None,
        reading: Reading::default(),
    };
    reader.run();
    reader.finish()
}

/// The state of a reading.
pub(super) struct Reader<'a> {
    tables: &'a Tables,
    /// The entries on the way to the subcommand, the program's own first.
    pub(super) levels: Vec<&'a Program>,
    /// The main names of program and subcommand.
    path: String,
    arguments: &'a [Argument],
    next: usize,
    style: Style,
    /// No further option can come.
    ended: bool,
    pub(super) double_dash: bool,
    /// The next operand can be a subcommand.
    descending: bool,
    /// The number of operands so far, without leading assignments.
    position: usize,
    /// Nothing is known of the operands.
    pub(super) roleless: bool,
    /// The subcommand has no entry.
    pub(super) unlisted: bool,
    /// The last subcommand word, while the words so far only lead to entries (`az storage blob` before `list`).
    pub(super) leading: Option<&'a Argument>,
    pub(super) reading: Reading<'a>,
}

impl<'a> Reader<'a> {
    fn run(&mut self) {
        while let Some(argument) = self.take() {
            if self.option(argument) || self.subcommand(argument) {
                continue;
            }
            self.note_loose(argument);
            let specs = self.specs();
            if bind::takes_assignments(specs, self.position) && is_assignment(argument) {
                self.using(Role::Env, Cow::Borrowed(argument), None);
                continue;
            }
            if let Some(Role::Command { kind, remote }) = self.tail_role(specs) {
                self.next -= 1;
                self.tail(kind, remote, None, self.arguments.len());
                continue;
            }
            self.position += 1;
            self.reading.operands.push(Cow::Borrowed(argument));
            self.ended |= self.style == Style::Posix;
        }
    }

    fn take(&mut self) -> Option<&'a Argument> {
        let argument = self.arguments.get(self.next)?;
        self.next += 1;
        Some(argument)
    }

    /// The entry of the deepest subcommand found.
    pub(super) fn entry(&self) -> Option<&'a Program> {
        self.levels.last().copied()
    }

    /// What the operands are, by what has been read so far.
    pub(super) fn specs(&self) -> &'a [OperandSpec] {
        let Some(entry) = self.entry() else { return &[] };
        let seen = self.seen();
        let case = entry.cases.iter().find(|case| case.operands.is_some() && seen.holds(&case.when) != Holds::No);
        case.and_then(|case| case.operands.as_deref()).unwrap_or(&entry.operands)
    }

    pub(super) fn seen(&self) -> Seen<'_, 'a> {
        let Reading { options, operands, tails, .. } = &self.reading;
        let levels = &self.levels;
        Seen { levels, options, operands, double_dash: self.double_dash, command: !tails.is_empty() }
    }

    /// The role of a wrapped command, if it begins with the word at hand.
    fn tail_role(&self, specs: &[OperandSpec]) -> Option<Role> {
        // First of all, so that the operands before each operand are not looked through for most programs.
        if self.roleless || !specs.iter().any(|spec| matches!(spec.role, Role::Command { .. })) {
            return None;
        }
        let many = self.reading.operands.iter().any(|operand| operand.many);
        let here = if many {
            // How many operands there were is not known, so the command may begin here.
            specs.iter().map(|spec| spec.role).find(|role| matches!(role, Role::Command { .. }))
        } else {
            bind::leading(specs, self.position)
        };
        here.filter(|role| matches!(role, Role::Command { .. }))
    }

    fn note_loose(&mut self, argument: &Argument) {
        let open = !self.ended && self.style != Style::None && matches!(&**lead(argument), b"" | b"-");
        if open && unknown(argument).is_some_and(|unknown| unknown.kind == UnknownKind::Any) {
            self.reading.loose.get_or_insert(argument.at);
        }
    }

    /// Takes `argument` as options, if it is some.
    fn option(&mut self, argument: &'a Argument) -> bool {
        if self.ended || self.style == Style::None {
            return false;
        }
        let text = lead(argument);
        let whole = unknown(argument).is_none() && argument.text().is_some();
        if whole && **text == *b"--" {
            if let Some(spec) = self.spec(b"--") {
                self.given(spec, b"--", None);
                return true;
            }
            self.ended = true;
            self.double_dash = true;
            // What follows `--` can still be a subcommand's operand, never an option.
            return true;
        }
        match self.style {
            Style::Long | Style::Assign => self.word_option(argument, &text),
            Style::Tar if self.next == 1 && !text.starts_with(b"-") && whole => self.old_cluster(&text),
            _ if text.starts_with(b"--") => self.long_option(argument, &text),
            _ if text.starts_with(b"-") && text.len() > 1 => self.dash_option(argument, &text),
            // `vim +CMD`, where the table lists it.
            _ if text.starts_with(b"+") && text.len() > 1 => self.spelled(argument, &text),
            _ => false,
        }
    }

    /// `-name`, `-name=value`, `name=value`, `(`: whole words, as the table spells them.
    fn word_option(&mut self, argument: &'a Argument, text: &BStr) -> bool {
        if self.spelled(argument, text) {
            return true;
        }
        let dashed = text.starts_with(b"-") && text.len() > 1;
        if dashed {
            let name = text.split_str("=").next().unwrap_or(text);
            let value = (name.len() < text.len()).then(|| rest(argument, name.len() + 1));
            self.unlisted(name, value);
        }
        dashed
    }

    /// Takes `argument` if the table spells it, or what stands before its `=`, or a prefix of it.
    fn spelled(&mut self, argument: &'a Argument, text: &BStr) -> bool {
        let (name, valued) = match text.find_byte(b'=') {
            Some(end) => (text.get(..end).unwrap_or_default(), true),
            None => (&**text, false),
        };
        if let Some(spec) = self.spec(name) {
            let value = valued.then(|| rest(argument, name.len() + 1));
            self.given(spec, name, value);
            return true;
        }
        let Some((spec, prefix)) = self.prefix_spec(text) else { return false };
        self.given(spec, prefix.as_bytes(), Some(rest(argument, prefix.trim_end_matches('*').len())));
        true
    }

    /// `--name`, `--name=value`, `--na`.
    fn long_option(&mut self, argument: &'a Argument, text: &BStr) -> bool {
        if self.spelled(argument, text) {
            return true;
        }
        let name = text.split_str("=").next().unwrap_or(text);
        let value = (name.len() < text.len()).then(|| rest(argument, name.len() + 1));
        match self.abbreviated(name) {
            Some((spec, full)) => self.given(spec, full.as_bytes(), value),
            None => self.unlisted(name, value),
        }
        true
    }

    /// `-x`, `-xyz`, `-xVALUE`, and names with one dash that the table spells.
    fn dash_option(&mut self, argument: &'a Argument, text: &BStr) -> bool {
        if text.len() > 2 && self.spelled(argument, text) {
            return true;
        }
        let mut name = [b'-', 0];
        for (at, letter) in text.iter().enumerate().skip(1) {
            name[1] = *letter;
            match self.spec(&name) {
                Some(spec) if spec.takes != Takes::Nothing => {
                    let value = rest(argument, at + 1);
                    let value = (!value.pieces.is_empty()).then_some(value);
                    self.given(spec, &name, value);
                    return true;
                }
                Some(spec) => self.given(spec, &name, None),
                None => self.unlisted(&name, None),
            }
        }
        if unknown(argument).is_some() {
            self.reading.loose.get_or_insert(argument.at);
        }
        true
    }

    /// `xzf`: letters whose values are the next words, in order.
    fn old_cluster(&mut self, text: &BStr) -> bool {
        for letter in text.bytes() {
            let name = [b'-', letter];
            match self.spec(&name) {
                Some(spec) => self.given(spec, &name, None),
                None => self.unlisted(&name, None),
            }
        }
        true
    }

    /// The entries whose options count here: the deepest, and those above that are valid everywhere.
    fn option_levels(&self) -> impl Iterator<Item = &'a Program> + use<'a, '_> {
        let last = self.levels.len().saturating_sub(1);
        let counts = move |(at, level): &(usize, &&Program)| *at == last || level.everywhere;
        self.levels.iter().enumerate().rev().filter(move |it| counts(it)).map(|(_, level)| *level)
    }

    fn spec(&self, name: &[u8]) -> Option<&'a OptionSpec> {
        let mut options = self.option_levels().flat_map(|level| level.options.iter());
        options.find(|option| option.spellings().any(|spelling| spelling.as_bytes() == name))
    }

    fn prefix_spec(&self, text: &BStr) -> Option<(&'a OptionSpec, &'a str)> {
        let options = self.option_levels().flat_map(|level| level.options.iter());
        let mut spellings = options.flat_map(|option| option.spellings().map(move |spelling| (option, spelling)));
        spellings.find(|(_, spelling)| {
            spelling.ends_with(['=', ':', '*']) && text.starts_with(spelling.trim_end_matches('*').as_bytes())
        })
    }

    /// The one option that `name` abbreviates.
    fn abbreviated(&self, name: &[u8]) -> Option<(&'a OptionSpec, &'a str)> {
        let options = self.option_levels().flat_map(|level| level.options.iter());
        let spellings = options.flat_map(|option| option.spellings().map(move |spelling| (option, spelling)));
        let mut found = spellings.filter(|(_, spelling)| name.len() > 2 && spelling.as_bytes().starts_with(name));
        let first = found.next()?;
        found.all(|(option, _)| std::ptr::eq(option, first.0)).then_some(first)
    }

    /// Records an option of the table and takes its value.
    fn given(&mut self, spec: &'a OptionSpec, name: &[u8], attached: Option<Argument>) {
        let level = self.level_of(spec);
        let own = spec.spellings().find(|spelling| spelling.as_bytes() == name);
        let name: Cow<'a, str> = own.map_or_else(|| Cow::Owned(name.to_str_lossy().into_owned()), Cow::Borrowed);
        match spec.role {
            Role::Command { kind, remote } => {
                self.reading.options.push(Given { spec: Some(spec), level, name, value: None });
                let end = self.command_end(kind);
                return self.tail(kind, remote, attached, end);
            }
            Role::Module => return self.module(spec, name, attached),
            _ => {}
        }
        if let (Takes::Nothing, Some(value)) = (spec.takes, &attached) {
            // `--dry-run=false`: no value of this option, but it may take it back.
            let value = Some(Cow::Owned(value.clone()));
            return self.reading.options.push(Given { spec: Some(spec), level, name, value });
        }
        let value = match (spec.takes, attached) {
            (Takes::Nothing, _) | (Takes::Optional, None) => None,
            (_, Some(value)) => Some(Cow::Owned(value)),
            (Takes::Required | Takes::Many, None) => self.take().map(Cow::Borrowed),
        };
        if let Some(value) = &value {
            self.using(spec.role, value.clone(), Some(name.clone()));
        }
        if let Some(role) = spec.second
            && let Some(second) = self.take()
        {
            self.using(role, Cow::Borrowed(second), Some(name.clone()));
        }
        self.reading.options.push(Given { spec: Some(spec), level, name: name.clone(), value });
        while spec.takes == Takes::Many
            && let Some(next) = self.arguments.get(self.next).filter(|next| !lead(next).starts_with(b"-"))
        {
            self.next += 1;
            self.using(spec.role, Cow::Borrowed(next), Some(name.clone()));
        }
    }

    /// How deep the entry is that lists `spec`.
    fn level_of(&self, spec: &OptionSpec) -> usize {
        let lists = |level: &&Program| level.options.iter().any(|listed| std::ptr::eq(listed, spec));
        self.levels.iter().position(lists).map_or(self.levels.len(), |level| level + 1)
    }

    fn unlisted(&mut self, name: &[u8], value: Option<Argument>) {
        let name = Cow::Owned(name.to_str_lossy().into_owned());
        self.reading.options.push(Given { spec: None, level: self.levels.len(), name, value: value.map(Cow::Owned) });
    }

    /// Records what a word is; a setting is what its key says.
    pub(super) fn using(&mut self, role: Role, value: Cow<'a, Argument>, option: Option<Cow<'a, str>>) {
        self.reading.uses.push(Use { role, value: value.clone(), option });
        if role == Role::Config {
            self.config(&value);
        }
    }

    fn config(&mut self, value: &Argument) {
        let text = lead(value);
        let Some(end) = text.find_byteset(b"= ") else {
            if let Some(unknown) = unknown(value) {
                let reason = format!("which setting is given is not known: {}", unknown.reason);
                self.doubt(Doubt::Argument, value, reason.into());
            }
            return;
        };
        let key = text.get(..end).unwrap_or_default().trim_ascii().as_bstr().to_owned();
        let found = self.levels.iter().rev().find_map(|level| setting(&level.settings, key.as_bstr()));
        if let Some(found) = found {
            let value = rest(value, end + 1);
            let option = Some(Cow::Owned(key.to_string()));
            self.reading.uses.push(Use { role: found.role, value: Cow::Owned(value), option });
        }
    }

    fn doubt(&mut self, doubt: Doubt, argument: &Argument, reason: Cow<'static, str>) {
        self.reading.doubts.push(Vague { doubt, at: Some(argument.at), reason });
    }

    /// Where the command that begins at hand ends.
    fn command_end(&self, kind: TailKind) -> usize {
        let rest = self.arguments.get(self.next..).unwrap_or_default();
        let is = |word: &Argument, text: &str| word.text().is_some_and(|word| *word == *text);
        let mut before = None;
        let end = rest.iter().position(|word| {
            let ends = is(word, ";") || is(word, "+") && before.is_some_and(|before| is(before, "{}"));
            before = Some(word);
            ends && kind == TailKind::UntilSemicolon
        });
        self.next + end.unwrap_or(rest.len())
    }

    /// Takes the words up to `end` as a command.
    fn tail(&mut self, kind: TailKind, remote: bool, first: Option<Argument>, end: usize) {
        let words = self.arguments.get(self.next..end).unwrap_or_default();
        let stops = self.entry().map(|entry| &*entry.stops).unwrap_or_default();
        let stop =
            words.iter().position(|word| stops.iter().any(|stop| word.text().is_some_and(|text| *text == **stop)));
        let words = words.get(..stop.unwrap_or(words.len())).unwrap_or_default();
        self.next += words.len() + usize::from(kind == TailKind::UntilSemicolon || stop.is_some());
        let words = match first {
            Some(first) => Cow::Owned(std::iter::once(first).chain(words.iter().cloned()).collect()),
            None => Cow::Borrowed(words),
        };
        if stop.is_some() {
            // What follows are values for the command's placeholders.
            self.ended = true;
            self.roleless = true;
        }
        let uses = &self.reading.uses;
        let environment =
            uses.iter().filter(|it| it.role == Role::Env && it.option.is_none()).map(|it| it.value.clone());
        let tail = Tail {
            kind,
            words,
            environment: environment.collect(),
            remote,
            appends: self.levels.iter().any(|level| level.appends)
                && !uses.iter().any(|it| it.role == Role::Placeholder),
            unlisted: self.entry().and_then(|entry| entry.unlisted),
        };
        if !tail.words.is_empty() {
            self.reading.tails.push(tail);
        }
    }

    /// `python -m NAME …`: another program's command line if there is a table for it, else a module of the project.
    fn module(&mut self, spec: &'a OptionSpec, name: Cow<'a, str>, attached: Option<Argument>) {
        let Some(value) = attached.map(Cow::Owned).or_else(|| self.take().map(Cow::Borrowed)) else { return };
        let path = value.text().map(|module| format!("{} {name} {module}", self.path));
        if let Some((_, program)) = path.and_then(|path| self.tables.entry(&path)) {
            let first = Argument::known(program.name(), value.at);
            self.tail(TailKind::Command, false, Some(first), self.arguments.len());
        } else {
            self.using(Role::Module, value.clone(), Some(name.clone()));
        }
        self.reading.options.push(Given { spec: Some(spec), level: self.level_of(spec), name, value: Some(value) });
        self.ended = true;
        self.descending = false;
        self.roleless = true;
    }

    /// Takes `argument` as a subcommand, if it can be one.
    fn subcommand(&mut self, argument: &'a Argument) -> bool {
        if !self.descending {
            return false;
        }
        let needs_one = self.entry().is_none_or(|entry| entry.subcommands);
        let Some(text) = argument.text() else {
            self.descending = false;
            if !needs_one {
                return false;
            }
            self.roleless = true;
            let why = unknown(argument).map_or(Cow::Borrowed("a pattern"), |unknown| unknown.reason.clone());
            let reason = format!("the subcommand of `{}` is not known: {why}", self.path);
            self.doubt(Doubt::Argument, argument, reason.into());
            return false;
        };
        let word = text.to_str().ok().filter(|word| !word.is_empty() && !word.contains([' ', '*']));
        let path = word.map(|word| format!("{} {word}", self.path)).filter(|path| self.tables.leads(path));
        if path.is_none() && !needs_one {
            self.descending = false;
            return false;
        }
        self.reading.subcommand.push(text.clone().into_owned());
        let Some(path) = path else {
            self.unlisted_subcommand(argument);
            return true;
        };
        self.leading = Some(argument);
        self.descend(path);
        true
    }

    fn descend(&mut self, path: String) {
        self.path = path;
        let Some((main, entry)) = self.tables.entry(&self.path) else { return };
        self.leading = None;
        // The main spelling, so that rules and deeper entries need no others; `uv pip` goes on as `pip`.
        let main = if entry.name().contains(' ') { main } else { entry.name() };
        if !main.contains('*') && main != self.path {
            let last = self.reading.subcommand.last_mut();
            if let (Some((_, word)), Some(last)) = (main.rsplit_once(' '), last) {
                *last = word.into();
            }
            main.clone_into(&mut self.path);
        }
        self.ended = false;
        self.style = entry.style.unwrap_or(self.style);
        self.levels.push(entry);
        self.descending = entry.subcommands || entry.parent;
        self.position = 0;
    }

    /// The words led to entries, but to none of their own.
    pub(super) fn unsettled(&mut self, word: &'a Argument) {
        let end = self.path.rfind(' ').unwrap_or(self.path.len());
        self.path.truncate(end);
        self.unlisted_subcommand(word);
    }

    fn unlisted_subcommand(&mut self, argument: &'a Argument) {
        self.leading = None;
        self.descending = false;
        self.roleless = true;
        self.unlisted = true;
        let word = argument.text().unwrap_or_default();
        match self.entry().and_then(|entry| entry.other) {
            Some(kind) => {
                self.reading.effects.push(super::Declared::of(kind, format!("`{} {word}`", self.path).into()));
            }
            None => {
                let reason = format!("no table says what `{} {word}` does", self.path);
                self.doubt(Doubt::Program, argument, reason.into());
            }
        }
    }
}

fn is_assignment(argument: &Argument) -> bool {
    // Whatever stands before the sign: bash takes functions from names that it could not assign itself.
    lead(argument)
        .split_once_str("=")
        .is_some_and(|(name, _)| !name.is_empty() && !name.starts_with(b"-") && !name.contains(&b'/'))
}
