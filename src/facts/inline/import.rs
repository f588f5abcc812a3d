//! Imports: `import a as b`, `from m import a as b`, `import {a as b} from "m"`.

use super::binding::{Collector, Definition, module};
use super::lexer::{Kind, Part, Token};

impl Collector<'_> {
    /// `import a.b as c, d` and `import x, {y as z} from "m"`.
    pub(super) fn import(&mut self, at: usize) {
        let end = self.statement_end(at + 1);
        let text = (at + 1..end).find_map(|at| match &self.tokens.get(at)?.kind {
            Kind::Text(text) => text
                .parts
                .iter()
                .find_map(|part| if let Part::Known(known) = part { Some(known.clone()) } else { None }),
            _ => None,
        });
        match text {
            Some(name) => {
                self.bindings.libraries.push(name.clone());
                self.import_names(at + 1, end, &module(&name));
            }
            None => self.import_modules(at + 1, end),
        }
    }

    pub(super) fn import_names(&mut self, from: usize, end: usize, module: &str) {
        let mut at = from;
        let mut inside = false;
        while at < end {
            if self.is_mark(at, "{") {
                inside = true;
            } else if let Some(word) = self.word(at).map(str::to_owned) {
                if word == "from" {
                    break;
                }
                let renamed = if self.word(at + 1) == Some("as") { self.word(at + 2).map(str::to_owned) } else { None };
                at += if renamed.is_some() { 2 } else { 0 };
                let whole = !inside || word == "default";
                let target = if whole { module.to_owned() } else { format!("{module}.{word}") };
                if word != "type" {
                    self.define(&renamed.unwrap_or(word), Definition::Module(target));
                }
            } else if self.is_mark(at, "*")
                && let Some(name) = self.word(at + 2).map(str::to_owned)
            {
                self.define(&name, Definition::Module(module.to_owned()));
                at += 2;
            }
            at += 1;
        }
    }

    pub(super) fn import_modules(&mut self, from: usize, end: usize) {
        let mut at = from;
        while at < end {
            let (name, next) = self.dotted(at);
            self.bindings.libraries.push(name.clone());
            if self.word(next) == Some("as")
                && let Some(alias) = self.word(next + 1).map(str::to_owned)
            {
                self.define(&alias, Definition::Module(name));
                at = next + 2;
            } else {
                at = next.max(at + 1);
            }
        }
    }

    /// `from m import a as b, c`.
    pub(super) fn from(&mut self, at: usize) {
        let (module, next) = self.dotted(at + 1);
        if self.word(next) != Some("import") {
            return;
        }
        self.bindings.libraries.push(module.clone());
        if self.is_mark(next + 1, "*") {
            self.bindings.opened.push(module);
            return;
        }
        let parenthesised = self.is_mark(next + 1, "(");
        let mut at = next + 1 + usize::from(parenthesised);
        while let Some(name) = self.word(at).map(str::to_owned) {
            let renamed = if self.word(at + 1) == Some("as") { self.word(at + 2).map(str::to_owned) } else { None };
            at += if renamed.is_some() { 3 } else { 1 };
            let target = format!("{module}.{name}");
            self.bindings.libraries.push(target.clone());
            self.define(&renamed.unwrap_or(name), Definition::Module(target));
            if !self.is_mark(at, ",") {
                break;
            }
            at += 1;
        }
    }

    /// perl: `use A::B;`.
    pub(super) fn loaded(&mut self, mut at: usize) {
        let mut name = String::new();
        while let Some(word) = self.word(at) {
            name.push_str(word);
            if !self.is_mark(at + 1, "::") {
                break;
            }
            name.push('/');
            at += 2;
        }
        if !name.is_empty() {
            self.bindings.libraries.push(name);
        }
    }

    pub(super) fn dotted(&self, mut at: usize) -> (String, usize) {
        let mut name = String::new();
        while let Some(word) = self.word(at) {
            name.push_str(word);
            at += 1;
            if !self.is_mark(at, ".") {
                break;
            }
            name.push('.');
            at += 1;
        }
        (name, at)
    }

    pub(super) fn statement_end(&self, from: usize) -> usize {
        let mut depth = 0usize;
        for at in from..self.tokens.len() {
            match self.tokens.get(at) {
                Some(token) if depth == 0 && token.fresh && at > from => return at,
                Some(Token { kind: Kind::Mark(";"), .. }) if depth == 0 => return at,
                Some(Token { kind: Kind::Mark("(" | "{"), .. }) => depth += 1,
                Some(Token { kind: Kind::Mark(")" | "}"), .. }) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.tokens.len()
    }
}
