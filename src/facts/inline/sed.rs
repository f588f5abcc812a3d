//! sed scripts: the commands that run something, and those that name files.

use bstr::ByteSlice;

use super::source::Source;
use super::{InlineFinding, What, doubt};
use crate::diagnostic::Span;
use crate::facts::{Doubt, Effect};

/// Findings in a sed script.
pub(super) fn judge(source: &Source) -> Vec<InlineFinding> {
    let mut reader = Reader { source, text: &source.text, at: 0, findings: Vec::new() };
    reader.run();
    reader.findings
}

struct Reader<'a> {
    source: &'a Source,
    text: &'a str,
    at: usize,
    findings: Vec<InlineFinding>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.bump();
        }
    }

    fn run(&mut self) {
        loop {
            self.skip(|letter| letter.is_whitespace() || matches!(letter, ';' | '}'));
            self.address();
            let start = self.at;
            let Some(command) = self.bump() else { return };
            self.command(command, start);
        }
    }

    /// `1,5`, `/re/I,$`, `0~4`, `\%re%`, `+3`, `!`.
    fn address(&mut self) {
        loop {
            match self.peek() {
                Some('/') => {
                    self.bump();
                    self.delimited('/');
                    self.skip(|letter| matches!(letter, 'I' | 'M'));
                }
                Some('\\') => {
                    self.bump();
                    if let Some(mark) = self.bump() {
                        self.delimited(mark);
                        self.skip(|letter| matches!(letter, 'I' | 'M'));
                    }
                }
                Some(letter)
                    if letter.is_ascii_digit()
                        || matches!(letter, '$' | ',' | '~' | '+' | '!' | ' ' | '\t')
                        || self.source.unknown(letter).is_some() =>
                {
                    self.bump();
                }
                _ => return,
            }
        }
    }

    /// Text up to an unescaped `mark`, which is taken; a bracket expression hides it not in sed.
    fn delimited(&mut self, mark: char) -> String {
        let mut text = String::new();
        while let Some(letter) = self.bump() {
            if letter == mark {
                return text;
            }
            if letter == '\\' && self.peek() == Some(mark) {
                text.extend(self.bump());
                continue;
            }
            text.push(letter);
            if letter == '\\' {
                text.extend(self.bump());
            }
        }
        text
    }

    fn line(&mut self) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.find('\n').unwrap_or(rest.len());
        let line = rest.get(..length).unwrap_or_default().trim().to_owned();
        self.at += length;
        line
    }

    fn command(&mut self, command: char, start: usize) {
        match command {
            's' => self.substitution(start),
            'y' => {
                if let Some(mark) = self.bump() {
                    self.delimited(mark);
                    self.delimited(mark);
                }
            }
            'e' => {
                let text = self.line();
                if text.is_empty() {
                    self.push_doubt(start, "`e` runs the lines of its input as commands");
                } else {
                    self.script(&text, start);
                }
            }
            'w' | 'W' => {
                let path = self.line();
                self.path(Effect::Write, &path, start);
            }
            'r' | 'R' => {
                let path = self.line();
                self.path(Effect::Read, &path, start);
            }
            'a' | 'i' | 'c' => self.appended(),
            ':' | 'b' | 't' | 'T' => self.skip(|letter| !matches!(letter, ';' | '\n' | '}')),
            '#' => drop(self.line()),
            '{' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'l' | 'n' | 'N' | 'p' | 'P' | 'q' | 'Q' | 'x' | 'z'
            | 'F' | 'L' | 'v' => {
                self.skip(|letter| letter.is_ascii_digit() || matches!(letter, ' ' | '\t'));
            }
            letter if self.source.unknown(letter).is_some() => {
                self.push_doubt(start, "part of the sed script is not known");
            }
            _ => {
                // Not sed: it refuses to run such a script.
                self.at = self.text.len();
            }
        }
    }

    /// The text of `a`, `i`, `c` ends with a line that does not end with a backslash.
    fn appended(&mut self) {
        loop {
            let line = self.line();
            self.bump();
            if !line.ends_with('\\') || self.peek().is_none() {
                return;
            }
        }
    }

    fn substitution(&mut self, start: usize) {
        let Some(mark) = self.bump() else { return };
        self.delimited(mark);
        let replacement = self.delimited(mark);
        loop {
            match self.peek() {
                Some('w') => {
                    self.bump();
                    let path = self.line();
                    return self.path(Effect::Write, &path, start);
                }
                Some('e') => {
                    self.bump();
                    let fixed = !replacement.contains('&') && !replacement.contains('\\');
                    if fixed && !replacement.trim().is_empty() {
                        self.script(&replacement, start);
                    } else {
                        self.push_doubt(start, "`s///e` runs text from its input as a command");
                    }
                }
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                    self.bump();
                }
                Some(letter) if self.source.unknown(letter).is_some() => {
                    self.bump();
                    self.push_doubt(start, "the flags of a substitution are not known");
                }
                _ => return,
            }
        }
    }

    fn script(&mut self, text: &str, start: usize) {
        let what = What::Script { language: "shell".into(), text: self.source.argument(text) };
        self.findings.push(InlineFinding {
            what,
            span: Span::new(start, self.at),
            reason: "sed's `e` runs a command".into(),
        });
    }

    fn path(&mut self, effect: Effect, path: &str, start: usize) {
        if path.is_empty()
            || path.as_bytes().as_bstr() == "/dev/stdout"
            || path == "/dev/stderr"
            || path == "/dev/stdin"
        {
            return;
        }
        let what = What::Path { effect, path: self.source.argument(path), tree: false };
        let reason = if effect == Effect::Write { "sed's `w` writes a file" } else { "sed's `r` reads a file" };
        self.findings.push(InlineFinding { what, span: Span::new(start, self.at), reason: reason.into() });
    }

    fn push_doubt(&mut self, start: usize, reason: &'static str) {
        self.findings.push(doubt(Doubt::Argument, Span::new(start, self.at), reason));
    }
}
