//! What names stand for: assignments, imports, loops over lists, parameters.
//!
//! A name stands for everything that the text gives it anywhere, whatever the order and the branches.

use std::collections::HashMap;

use super::language::Language;
use super::lexer::{Kind, Lexed, Token};

/// A token of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Spot {
    /// Index into [`Lexed::lists`].
    pub(super) list: usize,
    /// Index into that list.
    pub(super) at: usize,
}

impl Spot {
    /// The next token of the list.
    pub(super) fn after(self) -> Self {
        Self { at: self.at + 1, ..self }
    }

    pub(super) fn before(self) -> Option<Self> {
        self.at.checked_sub(1).map(|at| Self { at, ..self })
    }
}

/// One thing that a name may stand for.
#[derive(Debug, Clone)]
pub(super) enum Definition {
    /// The expression that begins there.
    Expression(Spot),
    /// An element of the expression that begins there.
    Element(Spot),
    /// An element of the expression from there up to the token of that index.
    ElementUntil(Spot, usize),
    /// A member of the expression that begins there.
    Member(Spot, String),
    /// Itself, with the expression that begins there joined to it.
    Joined,
    /// A module or a member of one.
    Module(String),
}

/// All names of a text.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    /// What each stands for.
    pub(super) names: HashMap<String, Vec<Definition>>,
    /// The parameters of functions.
    pub(super) functions: HashMap<String, Vec<String>>,
    /// Modules whose members all became names.
    pub(super) opened: Vec<String>,
    /// Libraries that are loaded, as their names are written.
    pub(super) libraries: Vec<String>,
}

/// The module name without what its spelling adds: `node:fs/promises` is `fs`.
pub(super) fn module(name: &str) -> String {
    let name = name.trim_start_matches("node:").trim_start_matches("npm:").replace("/promises", "");
    name.replace('/', ".")
}

/// Reads all definitions.
pub(super) fn collect(language: &'static Language, lexed: &Lexed) -> Bindings {
    let mut bindings = Bindings::default();
    for (list, tokens) in lexed.lists.iter().enumerate() {
        Collector { language, tokens, list, bindings: &mut bindings }.run();
    }
    bindings
}

pub(super) struct Collector<'a> {
    pub(super) language: &'static Language,
    pub(super) tokens: &'a [Token],
    pub(super) list: usize,
    pub(super) bindings: &'a mut Bindings,
}

impl Collector<'_> {
    pub(super) fn run(&mut self) {
        let mut depth = 0usize;
        for at in 0..self.tokens.len() {
            match self.tokens.get(at).map(|token| &token.kind) {
                Some(Kind::Mark("(" | "[")) => depth += 1,
                Some(Kind::Mark(")" | "]")) => depth = depth.saturating_sub(1),
                Some(Kind::Mark("=" | ":=" | "||=" | "??="))
                    if depth == 0 || !self.language.indented || self.is_mark(at, ":=") =>
                {
                    self.assignment(at);
                }
                Some(Kind::Mark("+=" | ".=" | "/=")) => self.joined(at),
                Some(Kind::Word(word)) => match word.as_str() {
                    "import" if !self.is_mark(at + 1, "(") && !self.after_from(at) => self.import(at),
                    "from" if self.statement_begins(at) => self.from(at),
                    "use" | "require" if self.statement_begins(at) => self.loaded(at + 1),
                    "in" | "of" => self.each(at),
                    "for" | "foreach" => self.foreach(at),
                    "def" | "function" | "sub" | "fn" => self.function(at + 1),
                    "lambda" => self.lambda(at),
                    _ => {}
                },
                Some(Kind::Mark("=>")) => self.arrow(at),
                Some(Kind::Mark("|")) => self.block(at),
                _ => {}
            }
        }
    }

    pub(super) fn word(&self, at: usize) -> Option<&str> {
        match &self.tokens.get(at)?.kind {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn is_mark(&self, at: usize, mark: &str) -> bool {
        matches!(self.tokens.get(at), Some(Token { kind: Kind::Mark(found), .. }) if *found == mark)
    }

    pub(super) fn statement_begins(&self, at: usize) -> bool {
        at == 0
            || self.tokens.get(at).is_some_and(|token| token.fresh)
            || at.checked_sub(1).is_some_and(|before| self.is_mark(before, ";") || self.is_mark(before, ":"))
    }

    pub(super) fn after_from(&self, at: usize) -> bool {
        (at.saturating_sub(12)..at)
            .rev()
            .take_while(|&before| self.tokens.get(before + 1).is_some_and(|token| !token.fresh))
            .any(|before| self.word(before) == Some("from") && self.statement_begins(before))
    }

    pub(super) fn define(&mut self, name: &str, definition: Definition) {
        self.bindings.names.entry(name.to_owned()).or_default().push(definition);
    }

    pub(super) fn spot(&self, at: usize) -> Spot {
        Spot { list: self.list, at }
    }

    /// `name = …`, `name: type = …`, `a, b = …`, `{a, b: c} = …`, `(…) = …`.
    pub(super) fn assignment(&mut self, at: usize) {
        let Some(before) = at.checked_sub(1) else { return };
        if self.is_mark(before, "}") {
            return self.destructured(before, at + 1);
        }
        if self.is_mark(before, ")") || self.is_mark(before, "]") {
            return;
        }
        let Some(name) = self.target(before) else { return };
        let name_at = name.1;
        let name = name.0.to_owned();
        if name_at.checked_sub(1).is_some_and(|comma| self.is_mark(comma, ",")) && self.language.indented {
            return self.tuple(name_at, at + 1);
        }
        self.function_value(&name, at + 1);
        self.define(&name, Definition::Expression(self.spot(at + 1)));
    }

    /// The name before an `=`, over a type annotation.
    pub(super) fn target(&self, before: usize) -> Option<(&str, usize)> {
        let colon = (before.saturating_sub(6)..=before).rev().find(|&at| self.is_mark(at, ":"));
        let plain = self.word(before).map(|word| (word, before));
        let annotated =
            colon.and_then(|colon| colon.checked_sub(1)).and_then(|at| self.word(at).map(|word| (word, at)));
        let same_line =
            |at: usize| (at + 1..=before).all(|next| self.tokens.get(next).is_some_and(|token| !token.fresh));
        let found = match annotated {
            Some((word, at))
                if same_line(at)
                    && !matches!(word, "else" | "try" | "finally" | "do" | "then")
                    && self.statement_begins_name(at) =>
            {
                Some((word, at))
            }
            _ => plain,
        }?;
        let member = found
            .1
            .checked_sub(1)
            .is_some_and(|dot| self.language.members.iter().any(|member| self.is_mark(dot, member)));
        (!member).then_some(found)
    }

    pub(super) fn statement_begins_name(&self, at: usize) -> bool {
        self.statement_begins(at)
            || at
                .checked_sub(1)
                .and_then(|before| self.word(before))
                .is_some_and(|word| matches!(word, "const" | "let" | "var"))
    }

    /// `a, b = x, y`.
    pub(super) fn tuple(&mut self, last: usize, value: usize) {
        let mut names = Vec::new();
        let mut at = last;
        loop {
            let Some(name) = self.word(at) else { return };
            names.push(name.to_owned());
            match at.checked_sub(2) {
                Some(next) if self.is_mark(at - 1, ",") && !self.tokens.get(at).is_some_and(|token| token.fresh) => {
                    at = next;
                }
                _ => break,
            }
        }
        names.reverse();
        let mut starts = vec![value];
        starts.extend(self.commas(value));
        if starts.len() == names.len() {
            for (name, start) in names.iter().zip(starts) {
                self.define(name, Definition::Expression(self.spot(start)));
            }
        }
    }

    /// The starts of the values after each comma of a statement.
    pub(super) fn commas(&self, from: usize) -> Vec<usize> {
        let mut depth = 0usize;
        let mut found = Vec::new();
        for (at, token) in self.tokens.iter().enumerate().skip(from) {
            match &token.kind {
                _ if depth == 0 && token.fresh && at > from => break,
                Kind::Mark("(" | "[" | "{") => depth += 1,
                Kind::Mark(")" | "]" | "}") if depth == 0 => break,
                Kind::Mark(")" | "]" | "}") => depth -= 1,
                Kind::Mark(";") if depth == 0 => break,
                Kind::Mark(",") if depth == 0 => found.push(at + 1),
                _ => {}
            }
        }
        found
    }

    /// `{a, b: c} = value`.
    pub(super) fn destructured(&mut self, close: usize, value: usize) {
        let Some(open) = (0..close).rev().take(40).find(|&at| self.is_mark(at, "{")) else { return };
        let mut at = open + 1;
        while at < close {
            let Some(member) = self.word(at).map(str::to_owned) else {
                at += 1;
                continue;
            };
            let renamed = if self.is_mark(at + 1, ":") { self.word(at + 2).map(str::to_owned) } else { None };
            at += if renamed.is_some() { 3 } else { 1 };
            let name = renamed.unwrap_or_else(|| member.clone());
            self.define(&name, Definition::Member(self.spot(value), member));
        }
    }

    /// `name += …`.
    pub(super) fn joined(&mut self, at: usize) {
        if let Some(name) = at.checked_sub(1).and_then(|before| self.target(before)).map(|(name, _)| name.to_owned()) {
            self.define(&name, Definition::Joined);
        }
    }

    /// `for name in …`, `for (const name of …)`.
    pub(super) fn each(&mut self, at: usize) {
        let Some(name) = at.checked_sub(1).and_then(|before| self.word(before)).map(str::to_owned) else { return };
        let opener = at.checked_sub(2).and_then(|before| self.word(before)).unwrap_or_default();
        if matches!(opener, "for" | "const" | "let" | "var" | "async") {
            self.define(&name, Definition::Element(self.spot(at + 1)));
        }
    }

    /// perl: `for my $name (…)`.
    pub(super) fn foreach(&mut self, at: usize) {
        let at = if matches!(self.word(at + 1), Some("my" | "our")) { at + 2 } else { at + 1 };
        if let Some(name) = self.word(at).map(str::to_owned)
            && self.is_mark(at + 1, "(")
        {
            self.define(&name, Definition::Element(self.spot(at + 1)));
        }
    }

    /// `def name(a, b)`: the parameters; their values come from the calls.
    pub(super) fn function(&mut self, at: usize) {
        if let Some(name) = self.word(at).map(str::to_owned)
            && self.is_mark(at + 1, "(")
        {
            let parameters = self.parameters(at + 2);
            self.bindings.functions.insert(name, parameters);
        }
    }

    /// `name = (a, b) => …`, `name = a => …`, `name = lambda a, b: …`, `name = function (a) …`.
    pub(super) fn function_value(&mut self, name: &str, at: usize) {
        let at = if self.word(at) == Some("async") { at + 1 } else { at };
        let parameters = if self.word(at) == Some("lambda") {
            self.parameters(at + 1)
        } else if self.word(at) == Some("function") && self.is_mark(at + 1, "(") {
            self.parameters(at + 2)
        } else if self.is_mark(at, "(") && self.arrow_follows(at) {
            self.parameters(at + 1)
        } else if self.is_mark(at + 1, "=>") {
            self.word(at).map(|word| vec![word.to_owned()]).unwrap_or_default()
        } else {
            return;
        };
        self.bindings.functions.insert(name.to_owned(), parameters);
    }

    pub(super) fn arrow_follows(&self, open: usize) -> bool {
        let mut depth = 0usize;
        for at in open..self.tokens.len().min(open + 60) {
            if self.is_mark(at, "(") {
                depth += 1;
            } else if self.is_mark(at, ")") {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return self.is_mark(at + 1, "=>");
                }
            }
        }
        false
    }

    /// The names up to the end of a parameter list, defaults skipped (they are read as assignments).
    pub(super) fn parameters(&mut self, from: usize) -> Vec<String> {
        let mut depth = 0usize;
        let mut names: Vec<String> = Vec::new();
        let mut expected = true;
        for at in from..self.tokens.len() {
            match self.tokens.get(at).map(|token| &token.kind) {
                Some(Kind::Mark("(" | "[" | "{")) => depth += 1,
                Some(Kind::Mark(")" | "]" | "}")) if depth == 0 => break,
                Some(Kind::Mark(")" | "]" | "}")) => depth -= 1,
                Some(Kind::Mark(":"))
                    if depth == 0
                        && !expected
                        && self.language.indented
                        && !self.is_mark(from.saturating_sub(1), "(") =>
                {
                    break;
                }
                Some(Kind::Mark(",")) if depth == 0 => expected = true,
                Some(Kind::Mark("=")) if depth == 0 && self.language.indented => {
                    if let Some(name) = names.last().cloned() {
                        self.define(&name, Definition::Expression(self.spot(at + 1)));
                    }
                }
                Some(Kind::Word(word)) if expected && depth == 0 => {
                    names.push(word.to_owned());
                    expected = false;
                }
                _ => {}
            }
        }
        names
    }

    /// `list.forEach(name => …)`: the parameter is an element of the list.
    pub(super) fn arrow(&mut self, at: usize) {
        let Some(before) = at.checked_sub(1) else { return };
        let (name, open) = if self.is_mark(before, ")") {
            let Some(open) = (0..before).rev().take(12).find(|&at| self.is_mark(at, "(")) else { return };
            (self.word(open + 1), open)
        } else {
            (self.word(before), before)
        };
        let Some(name) = name.map(str::to_owned) else { return };
        let open = open.saturating_sub(usize::from(open.checked_sub(1).and_then(|at| self.word(at)) == Some("async")));
        self.each_of_receiver(&name, open);
    }

    /// `list.each { |name| … }`, `list.each do |name|`.
    pub(super) fn block(&mut self, at: usize) {
        let opens =
            at.checked_sub(1).is_some_and(|before| self.is_mark(before, "{") || self.word(before) == Some("do"));
        let Some(name) = self.word(at + 1).map(str::to_owned) else { return };
        if !opens || !self.is_mark(at + 2, "|") {
            return;
        }
        self.each_of_receiver(&name, at);
    }

    /// Before `each`, `map`, `forEach` and `(` or `{` at `open - 1`: the receiver's chain, if it is a name or a list.
    pub(super) fn each_of_receiver(&mut self, name: &str, open: usize) {
        let Some(method) = open.checked_sub(2) else { return };
        let iterates = self
            .word(method)
            .is_some_and(|word| matches!(word, "forEach" | "map" | "each" | "filter" | "flatMap" | "each_entry"));
        let Some(end) = method.checked_sub(2).filter(|_| iterates && method > 0 && self.is_mark(method - 1, "."))
        else {
            return;
        };
        let start = if self.is_mark(end, "]") || self.is_mark(end, ")") { self.matching(end) } else { Some(end) };
        let Some(mut start) = start else { return };
        // The name of a call, and what stands before its dots.
        if self.is_mark(end, ")") && start > 0 && self.word(start - 1).is_some() {
            start -= 1;
        }
        while start >= 2 && self.is_mark(start - 1, ".") && self.word(start - 2).is_some() {
            start -= 2;
        }
        self.define(name, Definition::ElementUntil(self.spot(start), end + 1));
    }

    pub(super) fn matching(&self, close: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in (0..=close).rev() {
            match self.tokens.get(at).map(|token| &token.kind) {
                Some(Kind::Mark(")" | "]" | "}")) => depth += 1,
                Some(Kind::Mark("(" | "[" | "{")) => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }

    pub(super) fn lambda(&mut self, at: usize) {
        // A list mapped with a lambda: `map(lambda p: …, list)`.
        let Some(name) = self.word(at + 1).map(str::to_owned) else { return };
        let maps =
            at.checked_sub(2).and_then(|before| self.word(before)).is_some_and(|word| matches!(word, "map" | "filter"));
        if maps && let Some(list) = self.commas(at).first().copied() {
            self.define(&name, Definition::Element(self.spot(list)));
        }
    }
}
