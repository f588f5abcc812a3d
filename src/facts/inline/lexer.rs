//! Code as tokens: strings with their interpolated expressions, names, marks. Comments and layout are gone.

use super::language::Language;
use crate::diagnostic::Span;

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: Kind,
    /// Where it is written.
    pub(super) span: Span,
    /// A line ended before it.
    pub(super) fresh: bool,
}

/// The kinds of token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word(String),
    /// A string.
    Text(Text),
    /// A number.
    Number(String),
    /// An operator or a bracket.
    Mark(&'static str),
}

/// A string.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text {
    /// Its parts, in order.
    pub(super) parts: Vec<Part>,
    /// It is a command that is run.
    pub(super) command: bool,
    /// It is a list of words (`qw`, `%w`).
    pub(super) words: bool,
}

/// A part of a string.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Text after escapes.
    Known(String),
    /// An expression, as an index into [`Lexed::lists`].
    Expression(usize),
}

/// Tokens of a text, and of the expressions within its strings.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    /// The text's own tokens first.
    pub(super) lists: Vec<Vec<Token>>,
    /// A string or comment had no end.
    pub(super) unclosed: bool,
}

/// Operators, longest first. `/` and quotes are read before these where they begin something else.
const MARKS: &[&str] = &[
    "<<<", ">>>", "===", "!==", "**=", "...", "||=", "&&=", "??=", "<=>", "==", "!=", "=>", "->", "::", "?.", "+=",
    "-=", "*=", "/=", ".=", "%=", "|=", "&=", "^=", "||", "&&", "??", ":=", "=~", "!~", "<<", ">>", "<=", ">=", "++",
    "--", "**", "..", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "=", "+", "-", "*", "/", "%", "<", ">", "!",
    "?", "|", "&", "^", "~", "@", "$", "#", "\\",
];

/// How deep expressions in strings may nest.
pub(super) const DEEPEST: usize = 8;

/// The tokens of `text`.
pub(super) fn lex(language: &'static Language, text: &str) -> Lexed {
    let mut lexed = Lexed::default();
    lexed.lists.push(Vec::new());
    let tokens = Lexer { language, text, at: 0, base: 0, depth: 0, fresh: true, pending: Vec::new() }.run(&mut lexed);
    if let Some(first) = lexed.lists.first_mut() {
        *first = tokens;
    }
    lexed
}

pub(super) struct Lexer<'a> {
    pub(super) language: &'static Language,
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Offset of `text` in the whole code.
    pub(super) base: usize,
    pub(super) depth: usize,
    pub(super) fresh: bool,
    /// Here-documents whose text begins on the next line: index of the token, end word, indented, interpolated.
    pub(super) pending: Vec<(usize, String, bool, bool)>,
}

impl Lexer<'_> {
    pub(super) fn run(&mut self, lexed: &mut Lexed) -> Vec<Token> {
        let mut tokens: Vec<Token> = Vec::new();
        while self.skip(lexed, &mut tokens) {
            let start = self.at;
            let fresh = std::mem::take(&mut self.fresh);
            let Some(kind) = self.token(lexed, &mut tokens) else { continue };
            tokens.push(Token { kind, span: Span::new(self.base + start, self.base + self.at), fresh });
        }
        tokens
    }

    pub(super) fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    /// Skips layout and comments; false at the end.
    pub(super) fn skip(&mut self, lexed: &mut Lexed, tokens: &mut [Token]) -> bool {
        while let Some(letter) = self.peek() {
            if letter == '\n' {
                self.bump();
                self.fresh = true;
                self.heredocs(lexed, tokens);
            } else if letter.is_whitespace() {
                self.bump();
            } else if let Some((_, close)) = self.language.blocks.iter().find(|(open, _)| self.block_begins(open)) {
                match self.rest().find(close) {
                    Some(end) => self.at += end + close.len(),
                    None => self.finish(lexed),
                }
            } else if self.language.comments.iter().any(|comment| self.rest().starts_with(comment)) {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else {
                return true;
            }
        }
        false
    }

    /// A block comment that begins with a word (`=begin`) does so only at the beginning of a line.
    pub(super) fn block_begins(&self, open: &str) -> bool {
        self.rest().starts_with(open)
            && (!open.starts_with('=')
                || self.text.get(..self.at).is_some_and(|before| before.is_empty() || before.ends_with('\n')))
    }

    pub(super) fn finish(&mut self, lexed: &mut Lexed) {
        self.at = self.text.len();
        lexed.unclosed = true;
    }

    pub(super) fn token(&mut self, lexed: &mut Lexed, tokens: &mut [Token]) -> Option<Kind> {
        let letter = self.peek()?;
        if self.language.heredoc
            && self.rest().starts_with("<<")
            && let Some(kind) = self.heredoc(tokens.len())
        {
            return Some(kind);
        }
        if let Some(kind) = self.quoted(lexed, tokens.last()) {
            return Some(kind);
        }
        if letter.is_ascii_digit() {
            let end = self.rest().find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(self.rest().len());
            let number = self.rest().get(..end).unwrap_or_default().to_owned();
            self.at += end;
            return Some(Kind::Number(number));
        }
        if self.is_letter(letter) {
            let end =
                self.rest().find(|c: char| !self.is_letter(c) && !c.is_ascii_digit()).unwrap_or(self.rest().len());
            let word = self.rest().get(..end).unwrap_or_default().to_owned();
            self.at += end;
            return Some(Kind::Word(word));
        }
        if let Some(mark) = MARKS.iter().find(|mark| self.rest().starts_with(**mark)) {
            self.at += mark.len();
            return Some(Kind::Mark(mark));
        }
        self.bump();
        None
    }

    pub(super) fn is_letter(&self, letter: char) -> bool {
        letter.is_alphabetic() || letter == '_' || !letter.is_ascii() || self.language.letters.contains(letter)
    }

    /// The text from `start` up to the delimiter before `end`, read as code of its own.
    pub(super) fn code(&self, lexed: &mut Lexed, start: usize, end: usize) -> Option<usize> {
        let text = self.text.get(start..end)?;
        let text = text.get(..text.char_indices().next_back()?.0)?;
        (self.depth < DEEPEST).then(|| self.inner(lexed, text, start))
    }

    /// Reads `text`, which begins at `start` in this one, as a list of its own.
    pub(super) fn inner(&self, lexed: &mut Lexed, text: &str, start: usize) -> usize {
        let base = self.base + start;
        let mut inner = Lexer {
            language: self.language,
            text,
            at: 0,
            base,
            depth: self.depth + 1,
            fresh: true,
            pending: Vec::new(),
        };
        let index = lexed.lists.len();
        lexed.lists.push(Vec::new());
        let tokens = inner.run(lexed);
        if let Some(list) = lexed.lists.get_mut(index) {
            *list = tokens;
        }
        index
    }
}

/// A value may end with this token, so what follows is an operator.
pub(super) fn ends_value(token: &Token) -> bool {
    match &token.kind {
        Kind::Text(_) | Kind::Number(_) => true,
        Kind::Word(word) => !matches!(
            word.as_str(),
            "return"
                | "typeof"
                | "case"
                | "in"
                | "of"
                | "and"
                | "or"
                | "not"
                | "if"
                | "unless"
                | "when"
                | "print"
                | "puts"
                | "split"
                | "grep"
                | "while"
                | "await"
        ),
        Kind::Mark(mark) => matches!(*mark, ")" | "]" | "}"),
    }
}
