//! awk programs: `system`, pipes, redirections and `getline`.

use std::cell::{Cell, RefCell};

use super::binding::{Spot, collect};
use super::expression::Program;
use super::language::Language;
use super::lexer::{Kind, lex};
use super::source::Source;
use super::value::{soften, unknown};
use super::{Code, InlineFinding, What, doubt};
use crate::facts::value::{Argument, Piece};
use crate::facts::{Doubt, Effect};

/// Findings in an awk program.
pub(super) fn judge(code: &Code<'_>, language: &'static Language, source: &Source) -> Vec<InlineFinding> {
    let lexed = lex(language, &source.text);
    let bindings = collect(language, &lexed);
    let program = Program { language, code, source, lexed, bindings, steps: Cell::new(0), named: RefCell::default() };
    let mut judge = Judge { program: &program, findings: Vec::new() };
    judge.run();
    judge.findings
}

struct Judge<'p> {
    program: &'p Program<'p>,
    findings: Vec<InlineFinding>,
}

impl Judge<'_> {
    fn run(&mut self) {
        let length = self.program.lexed.lists.first().map_or(0, Vec::len);
        let mut depth = 0usize;
        let mut printing = None;
        for at in 0..length {
            let spot = Spot { list: 0, at };
            let Some(token) = self.program.token(spot) else { break };
            let next = Spot { list: 0, at: at + 1 };
            if token.fresh {
                printing = None;
            }
            match &token.kind {
                Kind::Word(word) => match word.as_str() {
                    "print" | "printf" => printing = Some(depth),
                    "system" if self.program.mark(next) == Some("(") => {
                        self.command(self.operand(Spot { list: 0, at: at + 2 }), spot, "awk's `system` runs a command");
                    }
                    "getline" => self.getline(spot),
                    word if word.chars().any(|letter| self.program.source.unknown(letter).is_some()) => {
                        self.findings.push(doubt(
                            Doubt::Argument,
                            token.span,
                            "what the shell puts into the program is not known and stands outside its strings",
                        ));
                    }
                    _ => {}
                },
                Kind::Mark("(" | "[" | "{") => depth += 1,
                Kind::Mark(")" | "]" | "}") => {
                    depth = depth.saturating_sub(1);
                    if printing.is_some_and(|printing| depth < printing) {
                        printing = None;
                    }
                }
                Kind::Mark(";") => printing = None,
                Kind::Mark(">" | ">>") if printing == Some(depth) => self.path(self.operand(next), Effect::Write, spot),
                Kind::Mark("|") => self.pipe(at, printing.is_some()),
                Kind::Mark("@") if self.program.mark(Spot { list: 0, at: at + 2 }) == Some("(") => {
                    self.findings.push(doubt(Doubt::Argument, token.span, "awk calls a function by a computed name"));
                }
                Kind::Mark("@") if matches!(self.program.word(next), Some("load" | "include")) => {
                    let path = self.operand(Spot { list: 0, at: at + 2 });
                    self.path(path, Effect::Run, spot);
                }
                _ => {}
            }
        }
    }

    /// `"command" | getline`, `print | "command"`, and both with `|&`.
    fn pipe(&mut self, at: usize, printing: bool) {
        let spot = Spot { list: 0, at };
        let both = self.program.mark(Spot { list: 0, at: at + 1 }) == Some("&");
        let after = Spot { list: 0, at: at + 1 + usize::from(both) };
        if self.program.word(after) == Some("getline") {
            self.command(self.operand_before(at), spot, "awk reads what a command prints");
        } else if printing {
            self.command(self.operand(after), spot, "awk writes to a command");
        }
    }

    /// The strings and names that stand side by side from `spot`.
    fn operand(&self, mut spot: Spot) -> Vec<Piece> {
        let start = spot.at;
        let mut pieces = Vec::new();
        while let Some(token) = self.program.token(spot) {
            if token.fresh && spot.at > start {
                break;
            }
            match &token.kind {
                Kind::Text(_) | Kind::Number(_) => pieces.extend(self.pieces(spot)),
                Kind::Word(word)
                    if self.program.mark(Spot { at: spot.at + 1, ..spot }) == Some("(") || word == "getline" =>
                {
                    pieces.extend(self.program.as_argument(&unknown("the result of a call")).pieces);
                    break;
                }
                Kind::Word(_) => pieces.extend(self.pieces(spot)),
                Kind::Mark("$") => {
                    pieces.extend(self.program.as_argument(&unknown("a field of the input")).pieces);
                    spot.at += 1;
                }
                Kind::Mark("(") if spot.at == start => {}
                Kind::Mark(_) => break,
            }
            spot.at += 1;
        }
        pieces
    }

    fn pieces(&self, spot: Spot) -> Vec<Piece> {
        // Only this token: what stands beside it is joined by the caller.
        let mut values = match &self.program.token(spot).map(|token| &token.kind) {
            Some(Kind::Text(_) | Kind::Word(_)) => self.program.chain(spot, 0, &mut |_| {}).0,
            _ => vec![unknown("a number")],
        };
        let reassigned = match &self.program.token(spot).map(|token| &token.kind) {
            Some(Kind::Word(word)) => self.program.bindings.names.get(word).is_some_and(|given| given.len() > 1),
            _ => false,
        };
        let value = if values.len() == 1 && !reassigned {
            values.pop().unwrap_or_else(|| unknown("computed"))
        } else {
            unknown("one of several values")
        };
        self.program.as_argument(&value).pieces
    }

    /// The strings and names that end before `at`.
    fn operand_before(&self, at: usize) -> Vec<Piece> {
        let mut start = at;
        while let Some(before) = start.checked_sub(1) {
            match self.program.token(Spot { list: 0, at: before }).map(|token| &token.kind) {
                Some(Kind::Text(_) | Kind::Word(_) | Kind::Number(_) | Kind::Mark(")" | "$")) => start = before,
                _ => break,
            }
        }
        self.operand(Spot { list: 0, at: start })
    }

    /// `getline < "file"`.
    fn getline(&mut self, spot: Spot) {
        for skip in 1..=2 {
            if self.program.mark(Spot { at: spot.at + skip, ..spot }) == Some("<") {
                let path = self.operand(Spot { at: spot.at + skip + 1, ..spot });
                return self.path(path, Effect::Read, spot);
            }
        }
    }

    fn command(&mut self, pieces: Vec<Piece>, spot: Spot, reason: &'static str) {
        let text = Argument { pieces, many: false, at: self.program.source.at };
        if text.prefix().starts_with(b"/inet") {
            let what = What::Host { effect: Effect::Send, url: inet_host(&text) };
            return self.push(what, spot, "awk opens a connection");
        }
        self.push(What::Script { language: "shell".into(), text }, spot, reason);
    }

    fn path(&mut self, pieces: Vec<Piece>, effect: Effect, spot: Spot) {
        let path = Argument { pieces: soften(pieces), many: false, at: self.program.source.at };
        let prefix = path.prefix();
        if prefix.starts_with(b"/inet") {
            return self.push(
                What::Host { effect: Effect::Send, url: inet_host(&path) },
                spot,
                "awk opens a connection",
            );
        }
        if prefix.starts_with(b"/dev/std") || prefix == "-" {
            return;
        }
        if effect == Effect::Read && path.text().is_none() {
            return;
        }
        let reason = match effect {
            Effect::Write => "awk writes a file",
            Effect::Run => "awk loads code",
            _ => "awk reads a file",
        };
        self.push(What::Path { effect, path, tree: false }, spot, reason);
    }

    fn push(&mut self, what: What, spot: Spot, reason: &'static str) {
        let span = self.program.token(spot).map(|token| token.span).unwrap_or_default();
        self.findings.push(InlineFinding { what, span, reason: reason.into() });
    }
}

/// gawk's `/inet/tcp/0/HOST/PORT`.
fn inet_host(path: &Argument) -> Argument {
    let text = path.text().map(|text| text.to_string());
    match text.as_deref().and_then(|text| text.split('/').nth(4)) {
        Some(host) => Argument::known(host, path.at),
        None => Argument {
            pieces: path.pieces.iter().filter(|piece| matches!(piece, Piece::Unknown(_))).cloned().collect(),
            many: false,
            at: path.at,
        },
    }
}
