//! From the calls in a text to findings.

use std::cell::Cell;

use super::binding::{Definition, Spot, collect};
use super::language::{Call, Language, Role};
use super::lexer::{Kind, Part, Text, lex};
use super::source::Source;
use super::value::{Given, Program, Site, Value, known_text};
use super::{Code, InlineFinding, What, doubt};
use crate::diagnostic::Span;
use crate::facts::value::{Argument, Piece, Unknown, UnknownKind};
use crate::facts::{Aspect, Doubt, Effect};

/// Words before a name that make it something new, not a use of it.
const DEFINES: &[&str] = &["def", "function", "sub", "class", "import", "from", "package", "use", "fn"];

/// Findings in code of expressions.
pub(super) fn judge(code: &Code<'_>, language: &'static Language, source: &Source) -> Vec<InlineFinding> {
    let lexed = lex(language, &source.text);
    let bindings = collect(language, &lexed);
    let mut program = Program { language, code, source, lexed, bindings, steps: Cell::new(0) };
    bind_parameters(&mut program);
    let outside = outside(&program);
    let mut judge = Judge { program: &program, outside, findings: Vec::new() };
    judge.run();
    let mut findings = judge.findings;
    if program.exhausted() {
        findings.push(doubt(Doubt::Limit, Span::default(), "the code is too long to follow its values"));
    }
    findings
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
            let defines = at
                .checked_sub(1)
                .and_then(|before| program.word(Spot { list, at: before }))
                .is_some_and(|word| DEFINES.contains(&word));
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
    let tokens = program.lexed.lists.iter().flatten();
    tokens.into_iter().any(|token| match &token.kind {
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
    })
}

/// Whether a literal names a place outside: absolute with a name, or climbing.
fn leads_outside(literal: &str) -> bool {
    let absolute = literal.starts_with('/')
        && literal.get(1..2).is_some_and(|next| next.starts_with(|c: char| c.is_ascii_lowercase()))
        && !literal.contains(char::is_whitespace);
    absolute || literal.starts_with("~/") || literal.starts_with("../") || literal == ".." || literal.contains("/../")
}

struct Judge<'p> {
    program: &'p Program<'p>,
    outside: bool,
    findings: Vec<InlineFinding>,
}

impl Judge<'_> {
    fn run(&mut self) {
        for list in 0..self.program.lexed.lists.len() {
            let length = self.program.lexed.lists.get(list).map_or(0, Vec::len);
            for at in 0..length {
                self.token(Spot { list, at });
            }
        }
    }

    fn token(&mut self, spot: Spot) {
        let program = self.program;
        let Some(token) = program.token(spot) else { return };
        match &token.kind {
            Kind::Text(text) if text.command => self.command_text(text, token.span),
            Kind::Word(word) if word.chars().any(|letter| program.source.unknown(letter).is_some()) => {
                let reason = "what the shell puts into the code is not known and stands outside its strings";
                self.findings.push(doubt(Doubt::Argument, token.span, reason));
            }
            Kind::Word(_) if self.begins_chain(spot) => self.chain(spot),
            Kind::Mark("(") if self.begins_group(spot) => self.chain(spot),
            Kind::Word(_) | Kind::Mark(_) | Kind::Text(_) | Kind::Number(_) => {}
        }
    }

    fn before(&self, spot: Spot) -> Option<Spot> {
        spot.at.checked_sub(1).map(|at| Spot { at, ..spot })
    }

    /// A name that is no member and no definition.
    fn begins_chain(&self, spot: Spot) -> bool {
        let Some(before) = self.before(spot) else { return true };
        let member = self.program.mark(before).is_some_and(|mark| {
            self.program.language.members.contains(&mark)
                && !(mark == ":" && self.program.token(spot).is_some_and(|token| token.fresh))
        });
        let member =
            member && !(self.program.mark(before) == Some(":") && !self.program.language.members.contains(&":"));
        !member && !self.program.word(before).is_some_and(|word| DEFINES.contains(&word))
    }

    /// `(…).name`: not the brackets of a call.
    fn begins_group(&self, spot: Spot) -> bool {
        let call =
            self.before(spot).and_then(|before| self.program.token(before)).is_some_and(|token| match &token.kind {
                Kind::Word(word) => !matches!(word.as_str(), "await" | "return" | "in" | "and" | "or" | "not" | "if"),
                Kind::Mark(mark) => matches!(*mark, ")" | "]"),
                Kind::Text(_) | Kind::Number(_) => true,
            });
        !call
    }

    fn chain(&mut self, spot: Spot) {
        let mut sites = Vec::new();
        self.program.chain(spot, 0, &mut |site| {
            sites.push(Site {
                names: site.names.clone(),
                receiver: site.receiver.clone(),
                arguments: site.arguments.clone(),
                span: site.span,
            })
        });
        for site in &sites {
            self.site(site);
        }
    }

    /// Backticks: a command with what is known of it.
    fn command_text(&mut self, text: &Text, span: Span) {
        let mut pieces = Vec::new();
        for part in &text.parts {
            match part {
                Part::Known(known) => pieces.extend(self.program.source.pieces(known)),
                Part::Expression(list) => {
                    let mut values = self.program.values(Spot { list: *list, at: 0 });
                    let value = if values.len() == 1 { values.pop() } else { None };
                    let argument =
                        self.program.as_argument(&value.unwrap_or(super::value::unknown("one of several values")));
                    pieces.extend(argument.pieces);
                }
            }
        }
        let text = Argument { pieces, many: false, at: self.program.source.at };
        self.push(What::Script { language: "shell".into(), text }, span, "the code runs a command");
    }

    fn push(&mut self, what: What, span: Span, reason: impl Into<std::borrow::Cow<'static, str>>) {
        self.findings.push(InlineFinding { what, span, reason: reason.into() });
    }

    fn site(&mut self, site: &Site) {
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

    fn mentions(&self, name: &str) -> bool {
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

    fn call(&mut self, call: &'static Call, site: &Site) {
        let count = if call.repeats { site.arguments.len().max(call.roles.len()) } else { call.roles.len() };
        let mut words: Option<Vec<Value>> = None;
        for index in 0..count {
            let Some(role) = call.roles.get(index).or(call.roles.last()) else { break };
            let given = argument(site, index);
            match role {
                Role::Program => words = Some(self.one(given).into_iter().collect()),
                Role::Zero => {}
                Role::Word => words.get_or_insert_default().extend(self.one(given)),
                Role::Words | Role::ZeroWords => {
                    let skip = usize::from(*role == Role::ZeroWords);
                    match self.one(given) {
                        Some(Value::List(items)) => words.get_or_insert_default().extend(items.into_iter().skip(skip)),
                        Some(_) if given.is_some_and(|given| self.program.mark(given.spot) == Some("{")) => {}
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
    fn one(&self, given: Option<&Given>) -> Option<Value> {
        let mut values = self.program.values(given?.spot);
        match values.len() {
            1 => values.pop(),
            _ => Some(super::value::unknown("one of several values")),
        }
    }

    fn spawn(&mut self, words: &[Value], span: Span, call: &Call) {
        let words = words.iter().map(|word| self.program.as_argument(word)).collect();
        self.push(What::Command(words), span, format!("`{}` runs a command", shown(call)));
    }

    /// `system("text")`, `system("program", "word")`, `spawn(["program", "word"])`.
    fn command(&mut self, site: &Site) {
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
                    .map(|given| {
                        self.program.as_argument(&self.one(Some(given)).unwrap_or(super::value::unknown("computed")))
                    })
                    .collect();
                self.push(What::Command(words), site.span, reason);
            }
        }
    }

    /// ruby: `chdir: "x"` after the words is an option.
    fn is_option(&self, given: &Given) -> bool {
        self.program.word(given.spot).is_some()
            && self.program.mark(Spot { at: given.spot.at + 1, ..given.spot }) == Some(":")
    }

    /// Whether the call is told to use a shell.
    fn asks_shell(&self, site: &Site) -> bool {
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

    fn role(&mut self, role: &'static Role, given: Option<&Given>, site: &Site, index: usize, call: &'static Call) {
        match role {
            Role::Effect(word) => self.effect(word, site.span, call),
            Role::Receiver(role) => {
                for value in site.receiver.iter().filter(|value| matches!(value, Value::Text(_) | Value::Decoded(_))) {
                    self.path_role(role, value, site, index, call, true);
                }
            }
            Role::Shown => self.shown(given, site.span),
            role => {
                let Some(given) = given else { return };
                for value in self.program.values(given.spot) {
                    match role {
                        Role::Argv => self.argv(&value, site, call),
                        Role::Url | Role::SendUrl => self.url(role, &value, site, call),
                        Role::Host => self.host(&value, site.span, call),
                        Role::Code(language) => self.code(language, &value, given, site.span, call),
                        role => self.path_role(role, &value, site, index, call, false),
                    }
                }
            }
        }
    }

    fn effect(&mut self, word: &'static str, span: Span, call: &Call) {
        let (effect, aspect) =
            word.split_once('.').map_or((word, None), |(effect, aspect)| (effect, Aspect::from_word(aspect)));
        if let Some(effect) = Effect::from_word(effect) {
            self.push(What::Effect(effect, aspect), span, format!("`{}` in the code", shown(call)));
        }
    }

    /// An argument that holds the whole environment.
    fn shown(&mut self, given: Option<&Given>, span: Span) {
        let Some(given) = given else { return };
        for at in given.spot.at..given.end {
            let spot = Spot { at, ..given.spot };
            let tested = self
                .before(spot)
                .and_then(|before| self.program.word(before))
                .is_some_and(|word| matches!(word, "in" | "of"));
            let sigil = self.program.mark(spot) == Some("%");
            if !sigil && (self.program.word(spot).is_none() || tested || !self.begins_chain(spot)) {
                continue;
            }
            let (values, _) = self.program.chain(spot, 0, &mut |_| {});
            if values.iter().any(|value| matches!(value, Value::Name(name) if self.program.is_environment_name(name))) {
                return self.push(What::Effect(Effect::Read, None), span, "shows the whole environment");
            }
        }
    }

    fn argv(&mut self, value: &Value, site: &Site, call: &'static Call) {
        match value {
            Value::List(words) if self.asks_shell(site) => {
                if let Some(first) = words.first() {
                    self.script("shell", first, site.span, format!("`{}` runs a command", shown(call)));
                }
            }
            Value::List(words) => self.spawn(words, site.span, call),
            other => self.script("shell", other, site.span, format!("`{}` runs a command", shown(call))),
        }
    }

    /// A nested script; text that was decoded is that as well.
    fn script(&mut self, language: &'static str, value: &Value, span: Span, reason: String) {
        if matches!(value, Value::Decoded(_)) {
            self.push(What::Effect(Effect::Run, Some(Aspect::Downloaded)), span, "runs text that is decoded first");
        }
        self.push(What::Script { language: language.into(), text: self.program.as_argument(value) }, span, reason);
    }

    fn code(&mut self, language: &'static str, value: &Value, given: &Given, span: Span, call: &'static Call) {
        let language = if language == "self" { self.program.code_language() } else { language };
        if matches!(value, Value::Text(_) | Value::Decoded(_)) || language == "shell" {
            if language == "shell" && !matches!(value, Value::Text(_) | Value::Decoded(_)) && self.foreign(given) {
                return self.push(
                    What::Effect(Effect::Run, Some(Aspect::Downloaded)),
                    span,
                    "runs text that is fetched or decoded first",
                );
            }
            return self.script(language, value, span, format!("`{}` runs text as code", shown(call)));
        }
        if let Some(path) = self.file_read(given) {
            return self.push(
                What::ScriptFile { language: language.into(), path },
                span,
                format!("`{}` runs a file's text as code", shown(call)),
            );
        }
        if self.foreign(given) {
            return self.push(
                What::Effect(Effect::Run, Some(Aspect::Downloaded)),
                span,
                "runs text that is fetched or decoded first",
            );
        }
        self.push(
            What::Doubt(Doubt::Script),
            span,
            format!("`{}` runs text that is not known: {}", shown(call), reason(value)),
        );
    }

    /// The calls within an argument, and within what its names stand for.
    fn inner_sites(&self, given: &Given) -> Vec<Site> {
        let mut sites = Vec::new();
        let mut spans = vec![(given.spot, given.end)];
        for at in given.spot.at..given.end {
            let Some(word) = self.program.word(Spot { at, ..given.spot }) else { continue };
            let definitions = self.program.bindings.names.get(word).into_iter().flatten();
            spans.extend(definitions.filter_map(|definition| match definition {
                Definition::Expression(spot) => Some((*spot, spot.at + 24)),
                _ => None,
            }));
        }
        for (from, end) in spans {
            for at in from.at..end {
                let spot = Spot { at, ..from };
                if self.program.word(spot).is_some() && self.begins_chain(spot) {
                    self.program.chain(spot, 0, &mut |site| {
                        sites.push(Site {
                            names: site.names.clone(),
                            receiver: Vec::new(),
                            arguments: site.arguments.clone(),
                            span: site.span,
                        })
                    });
                }
                if at > from.at && from != given.spot && self.program.token(spot).is_none_or(|token| token.fresh) {
                    break;
                }
            }
        }
        sites
    }

    /// The file whose text an argument reads.
    fn file_read(&self, given: &Given) -> Option<Argument> {
        self.inner_sites(given).iter().find_map(|site| {
            let reads = site
                .names
                .iter()
                .filter_map(|name| self.program.language.call(name))
                .any(|call| matches!(call.roles, [Role::File | Role::Read | Role::Url, ..]));
            let value = self.one(site.arguments.first().filter(|_| reads))?;
            let local = known_text(&value).is_some_and(|text| !text.contains("://"));
            local.then(|| self.program.as_argument(&value))
        })
    }

    /// Whether an argument comes from the network or a decoder.
    fn foreign(&self, given: &Given) -> bool {
        const DECODERS: &[&str] = &[
            "decode",
            "b64decode",
            "fromhex",
            "unhexlify",
            "decompress",
            "atob",
            "decode64",
            "decode_base64",
            "base64_decode",
            "unpack",
            "gzinflate",
            "str_rot13",
            "loads",
            "Buffer.from",
        ];
        self.inner_sites(given).iter().any(|site| {
            site.names.iter().any(|name| {
                let fetches = self
                    .program
                    .language
                    .call(name)
                    .is_some_and(|call| call.roles.iter().any(|role| matches!(role, Role::Url | Role::SendUrl)));
                fetches || DECODERS.iter().any(|decoder| name == decoder || name.rsplit('.').next() == Some(decoder))
            })
        })
    }

    fn url(&mut self, role: &Role, value: &Value, site: &Site, call: &'static Call) {
        let argument = self.program.as_argument(value);
        let prefix = argument.prefix();
        let whole = known_text(value);
        let local = matches!(argument.pieces.first(), Some(Piece::Text(_)))
            && whole.as_ref().is_none_or(|text| !text.contains("://"))
            && !prefix.contains(&b':')
            || prefix.starts_with(b"file:");
        if local {
            let path = whole.map_or_else(
                || argument.clone(),
                |text| Argument::known(text.trim_start_matches("file://"), argument.at),
            );
            return self.push(
                What::Path { effect: Effect::Read, path, tree: false },
                site.span,
                format!("`{}` reads a file", shown(call)),
            );
        }
        let effect = if *role == Role::SendUrl || self.sends(site) { Effect::Send } else { Effect::Fetch };
        self.push(What::Host { effect, url: argument }, site.span, format!("`{}` in the code", shown(call)));
    }

    /// Whether other arguments give the request a body or a method that changes something.
    fn sends(&self, site: &Site) -> bool {
        site.arguments.iter().any(|given| {
            let body = |name: &str| matches!(name, "data" | "json" | "files" | "body" | "content" | "post");
            if given.name.as_deref().is_some_and(body) && self.program.word(given.spot) != Some("None") {
                return true;
            }
            (given.spot.at.saturating_sub(2)..given.end).any(|at| {
                let spot = Spot { at, ..given.spot };
                let key = self.program.word(spot).is_some_and(body) && matches!(self.program.mark(Spot { at: at + 1, ..spot }), Some(":" | "=>"));
                let method = match self.program.token(spot).map(|token| &token.kind) {
                    Some(Kind::Text(text)) => matches!(text.parts.as_slice(), [Part::Known(known)] if matches!(known.to_ascii_uppercase().as_str(), "POST" | "PUT" | "PATCH" | "DELETE")),
                    _ => false,
                };
                key || method
            })
        })
    }

    fn host(&mut self, value: &Value, span: Span, call: &Call) {
        let host = match value {
            Value::List(items) => items.first().cloned().unwrap_or_else(|| value.clone()),
            other => other.clone(),
        };
        let near = known_text(&host)
            .is_some_and(|host| host == "localhost" || host == "::1" || host == "0.0.0.0" || host.starts_with("127."));
        let effect = if near { Effect::Fetch } else { Effect::Send };
        self.push(
            What::Host { effect, url: self.program.as_argument(&host) },
            span,
            format!("`{}` connects to a host", shown(call)),
        );
    }

    fn path_role(
        &mut self,
        role: &Role,
        value: &Value,
        site: &Site,
        index: usize,
        call: &'static Call,
        receiver: bool,
    ) {
        if let Value::List(items) = value {
            for item in items {
                self.path_role(role, item, site, index, call, receiver);
            }
            return;
        }
        let mode = |index: usize| {
            argument(site, index)
                .or_else(|| site.arguments.iter().find(|given| matches!(given.name.as_deref(), Some("mode" | "flags"))))
        };
        let (effect, tree) = match role {
            Role::Read => (Effect::Read, false),
            Role::Write | Role::WriteKnown => (Effect::Write, false),
            Role::Delete => (Effect::Delete, false),
            Role::DeleteTree => (Effect::Delete, true),
            Role::Run => (Effect::Run, false),
            Role::File => (self.opened(mode(if receiver { 0 } else { index + 1 })), false),
            Role::PerlOpen => return self.perl_open(value, site, index, call),
            _ => return,
        };
        if let Some(command) = known_text(value).filter(|text| *role == Role::File && text.starts_with('|')) {
            let text = Argument::known(command.trim_start_matches('|'), self.program.source.at);
            return self.push(
                What::Script { language: "shell".into(), text },
                site.span,
                format!("`{}` runs a command", shown(call)),
            );
        }
        let known = matches!(value, Value::Text(_) | Value::Decoded(_));
        if !known && (matches!(role, Role::WriteKnown) || matches!(effect, Effect::Read)) {
            return;
        }
        let path = self.path(value, effect);
        let verb = effect.word();
        self.push(What::Path { effect, path, tree }, site.span, format!("`{}` in the code: {verb}", shown(call)));
    }

    /// A path; one that is not known is relative where the text can name nothing outside.
    fn path(&self, value: &Value, effect: Effect) -> Argument {
        let mut argument = self.program.as_argument(value);
        argument.many = false;
        if !self.outside && effect == Effect::Write {
            for piece in &mut argument.pieces {
                if let Piece::Unknown(Unknown { kind: kind @ UnknownKind::Any, .. }) = piece {
                    *kind = UnknownKind::RelativePath;
                }
            }
        }
        argument
    }

    /// Whether a file is opened for writing.
    fn opened(&self, mode: Option<&Given>) -> Effect {
        let Some(given) = mode else { return Effect::Read };
        let writes = |text: &str| text.contains(['w', 'a', 'x', '+', '>']) && !text.starts_with("utf");
        let values = self.program.values(given.spot);
        let reads = values.iter().all(|value| known_text(value).is_some_and(|text| !writes(&text)));
        if reads { Effect::Read } else { Effect::Write }
    }

    /// perl: `open($f, ">", $path)`, `open($f, ">path")`, `open($f, "command|")`, `open($f, "-|", "command")`.
    fn perl_open(&mut self, value: &Value, site: &Site, index: usize, call: &'static Call) {
        let mode = known_text(value).unwrap_or_default();
        let mode = mode.trim();
        let next = self.one(argument(site, index + 1));
        let command =
            |text: &str| What::Script { language: "shell".into(), text: Argument::known(text, self.program.source.at) };
        match next {
            Some(next) if mode.contains('|') => {
                let text = self.program.as_argument(&next);
                self.push(What::Script { language: "shell".into(), text }, site.span, "`open` runs a command");
            }
            Some(next) => {
                let role = if mode.contains(['>', '+']) { &Role::Write } else { &Role::Read };
                self.path_role(role, &next, site, index, call, true);
            }
            None if mode.starts_with('|') || mode.ends_with('|') => {
                let what = command(mode.trim_matches('|'));
                self.push(what, site.span, "`open` runs a command");
            }
            None if mode.starts_with(">&") || mode.starts_with("<&") => {}
            None if mode.starts_with(['>', '+']) => {
                let path = super::value::text(mode.trim_start_matches(['>', '+', '<']).trim());
                self.path_role(&Role::Write, &path, site, index, call, true);
            }
            None if !mode.is_empty() => {
                let path = super::value::text(mode.trim_start_matches('<').trim());
                self.path_role(&Role::Read, &path, site, index, call, true);
            }
            None => self.push(
                What::Doubt(Doubt::Argument),
                site.span,
                "whether `open` reads, writes or runs a command is not known",
            ),
        }
    }
}

impl Program<'_> {
    fn code_language(&self) -> &'static str {
        self.language.names.first().copied().unwrap_or_default()
    }
}

/// `X.send(:name, …)` is `X.name(…)`.
fn redirected(program: &Program<'_>, site: &Site) -> Site {
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
fn argument(site: &Site, index: usize) -> Option<&Given> {
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
fn shown(call: &Call) -> &'static str {
    call.name.trim_start_matches('.')
}

fn reason(value: &Value) -> String {
    match value {
        Value::Unknown(reason) => reason.to_string(),
        Value::Name(name) => format!("{name} is not known"),
        Value::Text(_) | Value::Decoded(_) | Value::List(_) => "part of it is not known".into(),
    }
}

/// Words joined by blanks.
fn joined(words: &[Argument]) -> Argument {
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
