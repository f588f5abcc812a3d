//! From the calls in a text to findings.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::arguments::{Given, Site};
use super::binding::{Definition, Spot, collect};
use super::expression::Program;
use super::language::{Call, Language, Role};
use super::lexer::{Kind, Part, Text, lex};
use super::source::Source;
use super::value::{Value, expanded, known_text, unknown};
use super::{Code, InlineFinding, What, doubt};
use crate::diagnostic::Span;
use crate::facts::Doubt;
use crate::facts::value::{Argument, Piece};

/// Words before a name that make it something new, not a use of it.
const DEFINES: &[&str] = &["def", "function", "sub", "class", "import", "from", "package", "use", "fn"];

/// Findings in code of expressions.
pub(super) fn judge(code: &Code<'_>, language: &'static Language, source: &Source) -> Vec<InlineFinding> {
    let lexed = lex(language, &source.text);
    let bindings = collect(language, &lexed);
    let mut program =
        Program { language, code, source, lexed, bindings, steps: Cell::new(0), named: RefCell::default() };
    bind_parameters(&mut program);
    let outside = outside(&program);
    let mut judge = Judge { program: &program, outside, findings: Vec::new(), mentioned: HashMap::new() };
    judge.run();
    let mut findings = judge.findings;
    if !language.modules.is_empty() {
        findings.extend(program.bindings.libraries.iter().map(|name| loads(name)));
    }
    if program.exhausted() {
        findings.push(doubt(Doubt::Limit, Span::default(), "the code is too long to follow its values"));
    }
    findings
}

/// A library is loaded.
fn loads(name: &str) -> InlineFinding {
    InlineFinding { what: What::Library(name.to_owned()), span: Span::default(), reason: "loads a library".into() }
}

/// Gives the parameters of the text's functions what its calls give them.
fn bind_parameters(program: &mut Program<'_>) {
    let mut found = Vec::new();
    for (list, tokens) in program.lexed.lists.iter().enumerate() {
        for at in 0..tokens.len() {
            let spot = Spot { list, at };
            let Some(parameters) = program.word(spot).and_then(|word| program.bindings.functions.get(word)) else {
                continue;
            };
            let defines =
                spot.before().and_then(|before| program.word(before)).is_some_and(|word| DEFINES.contains(&word));
            if defines || program.mark(Spot { list, at: at + 1 }) != Some("(") {
                continue;
            }
            for (index, given) in program.given_from(Spot { list, at: at + 2 }).into_iter().enumerate() {
                let name = given.name.clone().or_else(|| parameters.get(index).cloned());
                found.extend(name.map(|name| (name, Definition::Expression(given.spot))));
            }
        }
    }
    for (name, definition) in found {
        program.bindings.names.entry(name).or_default().push(definition);
    }
}

/// Whether the text could name a place outside the project at all: a literal that does, or a source of such names.
///
/// Where nothing does, a path that is not known is one that the text found below where it runs.
fn outside(program: &Program<'_>) -> bool {
    let mut tokens = program.lexed.lists.iter().flatten();
    let named = tokens.any(|token| match &token.kind {
        Kind::Text(text) => text.parts.iter().any(|part| matches!(part, Part::Known(known) if leads_outside(known))),
        Kind::Word(word) => matches!(
            word.as_str(),
            "argv"
                | "ARGV"
                | "environ"
                | "env"
                | "getenv"
                | "ENV"
                | "expanduser"
                | "home"
                | "homedir"
                | "input"
                | "STDIN"
                | "b64decode"
                | "fromhex"
                | "atob"
                | "decode_base64"
                | "fromCharCode"
                | "chr"
        ),
        Kind::Number(_) | Kind::Mark(_) => false,
    });
    // What the shell puts into the code can be any path.
    named || program.source.has_unknown()
}

/// Whether a literal names a place outside: absolute with a name, or climbing.
fn leads_outside(literal: &str) -> bool {
    let absolute = literal.starts_with('/')
        && literal.get(1..2).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_lowercase()))
        && !literal.contains(char::is_whitespace);
    absolute || literal.starts_with("~/") || literal.starts_with("../") || literal == ".." || literal.contains("/../")
}

pub(super) struct Judge<'p> {
    pub(super) program: &'p Program<'p>,
    pub(super) outside: bool,
    pub(super) findings: Vec<InlineFinding>,
    /// Whether a name occurs in the text, as far as it was asked.
    pub(super) mentioned: HashMap<&'static str, bool>,
}

impl Judge<'_> {
    pub(super) fn run(&mut self) {
        for list in 0..self.program.lexed.lists.len() {
            let length = self.program.lexed.lists.get(list).map_or(0, Vec::len);
            for at in 0..length {
                self.token(Spot { list, at });
            }
        }
    }

    pub(super) fn token(&mut self, spot: Spot) {
        let program = self.program;
        let Some(token) = program.token(spot) else { return };
        match &token.kind {
            Kind::Text(text) if text.command => self.command_text(text, token.span),
            Kind::Text(_) => {
                self.template(spot);
                if self.program.mark(spot.after()).is_some_and(|mark| self.program.language.members.contains(&mark)) {
                    self.chain(spot);
                }
            }
            Kind::Word(word) if word.chars().any(|letter| program.source.unknown(letter).is_some()) => {
                let reason = "what the shell puts into the code is not known and stands outside its strings";
                self.findings.push(doubt(Doubt::Argument, token.span, reason));
            }
            Kind::Word(_) if self.begins_chain(spot) => {
                self.by_block(spot);
                self.chain(spot);
            }
            Kind::Mark("(") if self.begins_group(spot) => self.chain(spot),
            Kind::Word(_) | Kind::Mark(_) | Kind::Number(_) => {}
        }
    }

    /// A name that is no member and no definition.
    pub(super) fn begins_chain(&self, spot: Spot) -> bool {
        let Some(before) = spot.before() else { return true };
        let member = self.program.mark(before).is_some_and(|mark| {
            let fresh = || self.program.token(spot).is_some_and(|token| token.fresh);
            self.program.language.members.contains(&mark) && (mark != ":" || !fresh())
        });
        !member && !self.program.word(before).is_some_and(|word| DEFINES.contains(&word))
    }

    /// `(…).name`: not the brackets of a call.
    pub(super) fn begins_group(&self, spot: Spot) -> bool {
        let call = spot.before().and_then(|before| self.program.token(before)).is_some_and(|token| match &token.kind {
            Kind::Word(word) => !matches!(word.as_str(), "await" | "return" | "in" | "and" | "or" | "not" | "if"),
            Kind::Mark(mark) => matches!(*mark, ")" | "]"),
            Kind::Text(_) | Kind::Number(_) => true,
        });
        !call
    }

    pub(super) fn chain(&mut self, spot: Spot) {
        let mut sites = Vec::new();
        let (values, end) = self.program.chain(spot, 0, &mut |site| {
            sites.push(Site {
                names: site.names.clone(),
                receiver: site.receiver.clone(),
                arguments: site.arguments.clone(),
                span: site.span,
            });
        });
        for site in &sites {
            self.site(site);
        }
        self.handed_on(spot, end, &values);
    }

    /// Backticks: a command with what is known of it.
    pub(super) fn command_text(&mut self, text: &Text, span: Span) {
        let mut pieces = Vec::new();
        for part in &text.parts {
            match part {
                Part::Known(known) => pieces.extend(self.program.source.pieces(known)),
                Part::Expression(list) => {
                    let mut values = self.program.values(Spot { list: *list, at: 0 });
                    let value = if values.len() == 1 { values.pop() } else { None };
                    let argument = self.program.as_argument(&value.unwrap_or(unknown("one of several values")));
                    pieces.extend(argument.pieces);
                }
            }
        }
        let text = Argument { pieces, many: false, at: self.program.source.at };
        self.push(What::Script { language: "shell".into(), text }, span, "the code runs a command");
    }

    pub(super) fn push(&mut self, what: What, span: Span, reason: impl Into<std::borrow::Cow<'static, str>>) {
        self.findings.push(InlineFinding { what, span, reason: reason.into() });
    }

    pub(super) fn site(&mut self, site: &Site) {
        let site = &redirected(self.program, site);
        let language = self.program.language;
        let mut calls: Vec<&'static Call> = site.names.iter().filter_map(|name| language.call(name)).collect();
        calls.dedup_by_key(|call| call.name);
        for call in calls {
            if call.needs.is_empty() || self.mentions(call.needs) {
                self.call(call, site);
            }
        }
    }

    pub(super) fn mentions(&mut self, name: &'static str) -> bool {
        if let Some(known) = self.mentioned.get(name) {
            return *known;
        }
        let found = self.occurs(name);
        self.mentioned.insert(name, found);
        found
    }

    fn occurs(&self, name: &str) -> bool {
        let tokens = self.program.lexed.lists.iter().flatten();
        tokens.into_iter().any(|token| match &token.kind {
            Kind::Word(word) => word == name,
            Kind::Text(text) => text
                .parts
                .iter()
                .any(|part| matches!(part, Part::Known(known) if super::binding::module(known) == name)),
            Kind::Number(_) | Kind::Mark(_) => false,
        })
    }

    pub(super) fn call(&mut self, call: &'static Call, site: &Site) {
        let count = if call.repeats { site.arguments.len().max(call.roles.len()) } else { call.roles.len() };
        let mut words: Option<Vec<Value>> = None;
        for index in 0..count {
            let Some(role) = call.roles.get(index).or(call.roles.last()) else { break };
            let given = argument(site, index);
            match role {
                Role::Program => words = Some(self.one(given).into_iter().collect()),
                Role::Started => {
                    words = Some(self.one(given).into_iter().chain([unknown("a list in a list")]).collect());
                }
                Role::Zero => {}
                Role::Word => words.get_or_insert_default().extend(self.one(given)),
                Role::Words | Role::ZeroWords => {
                    let skip = usize::from(*role == Role::ZeroWords);
                    match self.one(given) {
                        Some(Value::List(items)) => words.get_or_insert_default().extend(items.into_iter().skip(skip)),
                        Some(_) if given.is_some_and(|given| self.program.mark(given.spot) == Some("{")) => {
                            words
                                .get_or_insert_default()
                                .extend(given.map(|given| self.member_words(given)).unwrap_or_default());
                        }
                        Some(other) => words.get_or_insert_default().push(Value::Unknown(reason(&other).into())),
                        None => {}
                    }
                }
                Role::Command => return self.command(site),
                role => self.role(role, given, site, index, call),
            }
        }
        let Some(words) = words.filter(|words| !words.is_empty()) else { return };
        if self.asks_shell(site) {
            let text = joined(&words.iter().map(|word| self.program.as_argument(word)).collect::<Vec<_>>());
            return self.push(
                What::Script { language: "shell".into(), text },
                site.span,
                format!("`{}` runs a command", shown(call)),
            );
        }
        self.spawn(&words, site.span, call);
    }

    /// The only value of an argument; one of several is unknown.
    pub(super) fn one(&self, given: Option<&Given>) -> Option<Value> {
        let mut values = self.program.values(given?.spot);
        match values.len() {
            1 => values.pop(),
            _ => Some(unknown("one of several values")),
        }
    }

    pub(super) fn spawn(&mut self, words: &[Value], span: Span, call: &Call) {
        for words in expanded(words) {
            let words = words.iter().map(|word| self.program.as_argument(word)).collect();
            self.push(What::Command(words), span, format!("`{}` runs a command", shown(call)));
        }
    }

    /// `system("text")`, `system("program", "word")`, `spawn(["program", "word"])`.
    pub(super) fn command(&mut self, site: &Site) {
        let given: Vec<&Given> = site
            .arguments
            .iter()
            .filter(|given| {
                given.name.is_none() && self.program.mark(given.spot) != Some("{") && !self.is_option(given)
            })
            .collect();
        let reason = "the code runs a command";
        match given.as_slice() {
            [] => {}
            [only] => {
                for value in self.program.values(only.spot) {
                    match value {
                        Value::List(words) => self.push(
                            What::Command(words.iter().map(|word| self.program.as_argument(word)).collect()),
                            site.span,
                            reason,
                        ),
                        value => self.script("shell", &value, site.span, reason.to_owned()),
                    }
                }
            }
            several => {
                let words = several
                    .iter()
                    .map(|given| self.program.as_argument(&self.one(Some(given)).unwrap_or(unknown("computed"))))
                    .collect();
                self.push(What::Command(words), site.span, reason);
            }
        }
    }

    /// ruby: `chdir: "x"` after the words is an option.
    pub(super) fn is_option(&self, given: &Given) -> bool {
        self.program.word(given.spot).is_some()
            && self.program.mark(Spot { at: given.spot.at + 1, ..given.spot }) == Some(":")
    }

    /// Whether the call is told to use a shell.
    pub(super) fn asks_shell(&self, site: &Site) -> bool {
        site.arguments.iter().any(|given| {
            let named = given.name.as_deref() == Some("shell")
                && !matches!(self.program.word(given.spot), Some("False" | "false"));
            named
                || (given.spot.at..given.end).any(|at| {
                    let key = Spot { at, ..given.spot };
                    self.program.word(key) == Some("shell")
                        && self.program.mark(Spot { at: at + 1, ..key }) == Some(":")
                        && self.program.word(Spot { at: at + 2, ..key }) != Some("false")
                })
        })
    }

    pub(super) fn role(
        &mut self,
        role: &'static Role,
        given: Option<&Given>,
        site: &Site,
        index: usize,
        call: &'static Call,
    ) {
        match role {
            Role::Effect(word) => self.effect(word, site.span, call),
            Role::Receiver(role) => {
                for value in site.receiver.iter().filter(|value| matches!(value, Value::Text(_) | Value::Decoded(_))) {
                    match role {
                        Role::Code(language) => {
                            self.script(language, value, site.span, format!("`{}` runs it", shown(call)));
                        }
                        role => self.path_role(role, value, site, index, call, true),
                    }
                }
            }
            Role::Callable => self.callable(given, site),
            Role::Forks => self.forks(site),
            Role::Shown => self.shown(given, site.span),
            Role::Library => {
                let names = given.map(|given| self.program.values(given.spot)).unwrap_or_default();
                self.findings.extend(names.iter().filter_map(known_text).map(|name| loads(&name)));
            }
            role => {
                let Some(given) = given else { return };
                for value in self.program.values(given.spot) {
                    match role {
                        Role::Argv => self.argv(&value, site, call),
                        Role::Url | Role::SendUrl => self.url(role, &value, site, call),
                        Role::Host | Role::Lookup | Role::Listen => self.host(role, &value, site.span, call),
                        Role::Sql => self.sql(&value, site),
                        Role::Chdir => self.chdir(&value, site.span),
                        Role::Code(language) => self.code(language, &value, given, site.span, call),
                        role => self.path_role(role, &value, site, index, call, false),
                    }
                }
            }
        }
    }
}

/// `X.send(:name, …)` is `X.name(…)`.
pub(super) fn redirected(program: &Program<'_>, site: &Site) -> Site {
    let copy = || Site {
        names: site.names.clone(),
        receiver: site.receiver.clone(),
        arguments: site.arguments.clone(),
        span: site.span,
    };
    let sends = |name: &String| {
        name.strip_suffix(".send")
            .or_else(|| name.strip_suffix(".public_send"))
            .or_else(|| name.strip_suffix(".__send__"))
            .map(str::to_owned)
    };
    let Some(owner) = site.names.iter().find_map(sends) else { return copy() };
    let method = site.arguments.first().and_then(|given| program.values(given.spot).iter().find_map(known_text));
    let Some(method) = method.filter(|_| program.language.bare_calls) else { return copy() };
    Site {
        names: vec![format!("{owner}.{method}")],
        receiver: site.receiver.clone(),
        arguments: site.arguments.iter().skip(1).cloned().collect(),
        span: site.span,
    }
}

/// The argument at this place: by position, or the one whose name says that it is what the call is about.
pub(super) fn argument(site: &Site, index: usize) -> Option<&Given> {
    const NAMES: &[&str] =
        &["path", "file", "filename", "name", "src", "dst", "url", "args", "cmd", "command", "target", "address"];
    let positional: Vec<&Given> = site.arguments.iter().filter(|given| given.name.is_none()).collect();
    let named = || {
        site.arguments
            .iter()
            .filter(|given| given.name.as_deref().is_some_and(|name| NAMES.contains(&name)))
            .nth(index - positional.len().min(index))
    };
    positional.get(index).copied().or_else(named)
}

/// How a call is named for people.
pub(super) fn shown(call: &Call) -> &'static str {
    call.name.trim_start_matches('.')
}

pub(super) fn reason(value: &Value) -> String {
    match value {
        Value::Unknown(reason) => reason.to_string(),
        Value::Name(name) => format!("{name} is not known"),
        Value::Either(_) => "it is one of several values".into(),
        Value::Text(_) | Value::Decoded(_) | Value::List(_) => "part of it is not known".into(),
    }
}

/// Words joined by blanks.
pub(super) fn joined(words: &[Argument]) -> Argument {
    let at = words.first().map(|word| word.at).unwrap_or_default();
    let mut pieces = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            pieces.push(Piece::Text(" ".into()));
        }
        pieces.extend(word.pieces.iter().cloned());
    }
    Argument { pieces, many: false, at }
}
