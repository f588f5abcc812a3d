//! What the arguments of a call reach: commands, code, hosts, paths.

use super::What;
use super::arguments::{Given, Site};
use super::binding::{Definition, Spot};
use super::call::{Judge, argument, reason, shown};
use super::expression::Program;
use super::language::{Call, Role};
use super::lexer::{Kind, Part};
use super::value::{Value, known_text};
use crate::diagnostic::Span;
use crate::facts::value::{Argument, Piece, Unknown, UnknownKind};
use crate::facts::{Aspect, Doubt, Effect};

impl Judge<'_> {
    pub(super) fn effect(&mut self, word: &'static str, span: Span, call: &Call) {
        let (effect, aspect) =
            word.split_once('.').map_or((word, None), |(effect, aspect)| (effect, Aspect::from_word(aspect)));
        if let Some(effect) = Effect::from_word(effect) {
            self.push(What::Effect(effect, aspect), span, format!("`{}` in the code", shown(call)));
        }
    }

    /// An argument that holds the whole environment.
    pub(super) fn shown(&mut self, given: Option<&Given>, span: Span) {
        let Some(given) = given else { return };
        for at in given.spot.at..given.end {
            let spot = Spot { at, ..given.spot };
            let tested = spot
                .before()
                .and_then(|before| self.program.word(before))
                .is_some_and(|word| matches!(word, "in" | "of"));
            let sigil = self.program.mark(spot) == Some("%");
            if !sigil && (self.program.word(spot).is_none() || tested || !self.begins_chain(spot)) {
                continue;
            }
            let (values, _) = self.program.chain(spot, 0, &mut |_| {});
            if values.iter().any(|value| matches!(value, Value::Name(name) if self.program.is_environment_name(name))) {
                return self.push(
                    What::Effect(Effect::Read, Some(Aspect::Environment)),
                    span,
                    "shows the whole environment",
                );
            }
        }
    }

    pub(super) fn argv(&mut self, value: &Value, site: &Site, call: &'static Call) {
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
    pub(super) fn script(&mut self, language: &'static str, value: &Value, span: Span, reason: String) {
        if matches!(value, Value::Decoded(_)) {
            self.push(What::Effect(Effect::Run, Some(Aspect::Downloaded)), span, "runs text that is decoded first");
        }
        self.push(What::Script { language: language.into(), text: self.program.as_argument(value) }, span, reason);
    }

    pub(super) fn code(
        &mut self,
        language: &'static str,
        value: &Value,
        given: &Given,
        span: Span,
        call: &'static Call,
    ) {
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
        if self.unwraps(given) {
            let what = What::Effect(Effect::Run, Some(Aspect::Downloaded));
            return self.push(what, span, "runs text that is decoded first");
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
    pub(super) fn inner_sites(&self, given: &Given) -> Vec<Site> {
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
                        });
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
    pub(super) fn file_read(&self, given: &Given) -> Option<Argument> {
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

    /// Whether an argument is taken out of an encoding that hides what it says.
    fn unwraps(&self, given: &Given) -> bool {
        const ENCODINGS: &[&str] = &[
            "b64decode",
            "fromhex",
            "unhexlify",
            "decompress",
            "decode64",
            "decode_base64",
            "base64_decode",
            "gzinflate",
        ];
        let hides = |name: &String| ENCODINGS.contains(&name.rsplit('.').next().unwrap_or(name));
        self.inner_sites(given).iter().any(|site| site.names.iter().any(hides))
    }

    /// Whether an argument comes from the network or a decoder.
    pub(super) fn foreign(&self, given: &Given) -> bool {
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

    pub(super) fn url(&mut self, role: &Role, value: &Value, site: &Site, call: &'static Call) {
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
    pub(super) fn sends(&self, site: &Site) -> bool {
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

    /// Where the code goes; what is not known may be anywhere if anything outside is named.
    pub(super) fn chdir(&mut self, value: &Value, span: Span) {
        let path = self.program.as_argument(value);
        let told = path.text().is_some() || matches!(path.pieces.first(), Some(Piece::Text(_))) || self.outside;
        if told && !matches!(value, Value::Unknown(_) | Value::Name(_)) {
            self.push(What::Chdir(path), span, "changes the working directory");
        }
    }

    pub(super) fn host(&mut self, role: &Role, value: &Value, span: Span, call: &Call) {
        let host = match value {
            Value::List(items) => items.first().cloned().unwrap_or_else(|| value.clone()),
            other => other.clone(),
        };
        let any = *role != Role::Listen;
        let near = known_text(&host).is_some_and(|host| {
            host == "localhost" || host == "::1" || host == "0.0.0.0" && any || host.starts_with("127.")
        });
        if *role == Role::Listen && !near {
            let what = What::Effect(Effect::Send, Some(Aspect::Other));
            return self.push(what, span, format!("`{}` lets others connect", shown(call)));
        }
        let effect = if near || *role == Role::Lookup { Effect::Fetch } else { Effect::Send };
        self.push(
            What::Host { effect, url: self.program.as_argument(&host) },
            span,
            format!("`{}` connects to a host", shown(call)),
        );
    }

    pub(super) fn path_role(
        &mut self,
        role: &Role,
        value: &Value,
        site: &Site,
        index: usize,
        call: &'static Call,
        receiver: bool,
    ) {
        if let Value::List(items) | Value::Either(items) = value {
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
            Role::Inplace => (in_place(self.program, site), false),
            Role::PerlOpen => return self.perl_open(value, site, index, call),
            _ => return,
        };
        if known_text(value).is_some_and(|text| *role == Role::Run && text.contains("://")) {
            let what = What::Effect(Effect::Run, Some(Aspect::Downloaded));
            return self.push(what, site.span, "runs code from the network");
        }
        let opens = matches!(role, Role::File) || call.name.starts_with("IO.");
        if let Some(command) = known_text(value).filter(|text| opens && text.starts_with('|')) {
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
    pub(super) fn path(&self, value: &Value, effect: Effect) -> Argument {
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
    pub(super) fn opened(&self, mode: Option<&Given>) -> Effect {
        let Some(given) = mode else { return Effect::Read };
        let writes = |text: &str| text.contains(['w', 'a', 'x', '+', '>']) && !text.starts_with("utf");
        let values = self.program.values(given.spot);
        let reads = values.iter().all(|value| known_text(value).is_some_and(|text| !writes(&text)));
        if reads { Effect::Read } else { Effect::Write }
    }

    /// perl: `open($f, ">", $path)`, `open($f, ">path")`, `open($f, "command|")`, `open($f, "-|", "command")`.
    pub(super) fn perl_open(&mut self, value: &Value, site: &Site, index: usize, call: &'static Call) {
        let mode = known_text(value).unwrap_or_default();
        let mode = mode.trim();
        let next = self.one(argument(site, index + 1));
        let command =
            |text: &str| What::Script { language: "shell".into(), text: Argument::known(text, self.program.source.at) };
        match next {
            Some(_) if mode.contains('|') && site.arguments.len() > index + 2 => {
                let words = (index + 1..site.arguments.len()).filter_map(|index| self.one(argument(site, index)));
                let words = words.map(|word| self.program.as_argument(&word)).collect();
                self.push(What::Command(words), site.span, "`open` runs a command");
            }
            Some(next) if mode.contains('|') => {
                let text = self.program.as_argument(&next);
                self.push(What::Script { language: "shell".into(), text }, site.span, "`open` runs a command");
            }
            Some(next) => {
                let role = if mode.contains(['>', '+']) { &Role::Write } else { &Role::Read };
                self.path_role(role, &next, site, index, call, true);
            }
            None if mode.starts_with('|') || mode.ends_with('|') => {
                let what = command(mode.trim_matches('|').trim());
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

/// Whether a call is told to change its files in place.
fn in_place(program: &Program<'_>, site: &Site) -> Effect {
    let told = site
        .arguments
        .iter()
        .any(|given| given.name.as_deref() == Some("inplace") && !matches!(program.word(given.spot), Some("False")));
    if told { Effect::Write } else { Effect::Read }
}

impl Program<'_> {
    pub(super) fn code_language(&self) -> &'static str {
        self.language.names.first().copied().unwrap_or_default()
    }
}
