//! Code as tokens: strings with their interpolated expressions, names, marks. Comments and layout are gone.

use super::language::{Language, Quoting, StringForm};
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
const DEEPEST: usize = 8;

/// The tokens of `text`.
pub(super) fn lex(language: &'static Language, text: &str) -> Lexed {
    let mut lexed = Lexed::default();
    lexed.lists.push(Vec::new());
    let mut lexer = Lexer { language, text, at: 0, base: 0, depth: 0, fresh: true, pending: Vec::new() };
    let tokens = lexer.run(&mut lexed);
    if let Some(first) = lexed.lists.first_mut() {
        *first = tokens;
    }
    lexed
}

struct Lexer<'a> {
    language: &'static Language,
    text: &'a str,
    at: usize,
    /// Offset of `text` in the whole code.
    base: usize,
    depth: usize,
    fresh: bool,
    /// Here-documents whose text begins on the next line: index of the token, end word, indented, interpolated.
    pending: Vec<(usize, String, bool, bool)>,
}

impl Lexer<'_> {
    fn run(&mut self, lexed: &mut Lexed) -> Vec<Token> {
        let mut tokens: Vec<Token> = Vec::new();
        while self.skip(lexed, &mut tokens) {
            let start = self.at;
            let fresh = std::mem::take(&mut self.fresh);
            let Some(kind) = self.token(lexed, &mut tokens) else { continue };
            tokens.push(Token { kind, span: Span::new(self.base + start, self.base + self.at), fresh });
        }
        tokens
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    /// Skips layout and comments; false at the end.
    fn skip(&mut self, lexed: &mut Lexed, tokens: &mut [Token]) -> bool {
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
    fn block_begins(&self, open: &str) -> bool {
        self.rest().starts_with(open)
            && (!open.starts_with('=')
                || self.text.get(..self.at).is_some_and(|before| before.is_empty() || before.ends_with('\n')))
    }

    fn finish(&mut self, lexed: &mut Lexed) {
        self.at = self.text.len();
        lexed.unclosed = true;
    }

    fn token(&mut self, lexed: &mut Lexed, tokens: &mut [Token]) -> Option<Kind> {
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

    fn is_letter(&self, letter: char) -> bool {
        letter.is_alphabetic() || letter == '_' || !letter.is_ascii() || self.language.letters.contains(letter)
    }

    /// A string, a regular expression or a quoting word, if one begins here.
    fn quoted(&mut self, lexed: &mut Lexed, before: Option<&Token>) -> Option<Kind> {
        let value_expected = !before.is_some_and(ends_value);
        if let Some(kind) = self.quoting_word(lexed, before, value_expected) {
            return Some(kind);
        }
        let prefix: &str = {
            let rest = self.rest();
            let length = rest
                .bytes()
                .take(2)
                .take_while(|byte| self.language.prefixes.contains(char::from(byte.to_ascii_lowercase())))
                .count();
            rest.get(..length).unwrap_or_default()
        };
        let prefix = prefix.to_ascii_lowercase();
        let after = self.rest().get(prefix.len()..)?;
        if let Some(form) = self.language.strings.iter().find(|form| after.starts_with(form.open)) {
            self.at += prefix.len() + form.open.len();
            let raw = prefix.contains('r');
            let formatted = form.interpolates != "{" || prefix.contains('f');
            return Some(Kind::Text(self.string(lexed, form, !raw, formatted)));
        }
        if self.language.regex && value_expected && self.peek() == Some('/') {
            return self.regex();
        }
        None
    }

    /// `/…/flags` on one line.
    fn regex(&mut self) -> Option<Kind> {
        let mut class = false;
        let mut letters = self.rest().char_indices().skip(1);
        while let Some((offset, letter)) = letters.next() {
            match letter {
                '\\' => drop(letters.next()),
                '[' => class = true,
                ']' => class = false,
                '\n' => return None,
                '/' if !class => {
                    self.at += offset + 1;
                    self.at += self.rest().find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest().len());
                    return Some(Kind::Text(Text { parts: Vec::new(), command: false, words: false }));
                }
                _ => {}
            }
        }
        None
    }

    /// The rest of a string whose opening has been read.
    fn string(&mut self, lexed: &mut Lexed, form: &StringForm, escapes: bool, formatted: bool) -> Text {
        let mut parts = Vec::new();
        let mut known = String::new();
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                lexed.unclosed = true;
                break;
            }
            if rest.starts_with(form.close) {
                self.at += form.close.len();
                break;
            }
            if form.escapes && rest.starts_with('\\') {
                self.bump();
                self.escape(&mut known, escapes);
            } else if formatted && !form.interpolates.is_empty() && rest.starts_with(form.interpolates) {
                self.interpolation(lexed, form, &mut known, &mut parts);
            } else {
                known.extend(self.bump());
            }
        }
        if !known.is_empty() {
            parts.push(Part::Known(known));
        }
        Text { parts, command: form.command, words: false }
    }

    /// What follows a backslash.
    fn escape(&mut self, known: &mut String, escapes: bool) {
        let Some(letter) = self.bump() else { return };
        if !escapes {
            known.push('\\');
            known.push(letter);
            return;
        }
        match letter {
            'n' => known.push('\n'),
            't' => known.push('\t'),
            'r' => known.push('\r'),
            '0' => known.push('\0'),
            '\n' => {}
            'x' => self.code_point(known, 2),
            'u' if self.rest().starts_with('{') => {
                self.bump();
                self.code_point(known, 8);
                self.bump();
            }
            'u' => self.code_point(known, 4),
            other => known.push(other),
        }
    }

    fn code_point(&mut self, known: &mut String, most: usize) {
        let length = self.rest().bytes().take(most).take_while(u8::is_ascii_hexdigit).count();
        let digits = self.rest().get(..length).unwrap_or_default();
        known.extend(u32::from_str_radix(digits, 16).ok().and_then(char::from_u32));
        self.at += length;
    }

    /// An expression within a string; what looks like one and is none stays text.
    fn interpolation(&mut self, lexed: &mut Lexed, form: &StringForm, known: &mut String, parts: &mut Vec<Part>) {
        let rest = self.rest();
        if form.interpolates == "{" && rest.starts_with("{{") {
            known.push('{');
            self.at += 2;
            return;
        }
        let (skip, length) = match form.interpolates {
            "$" => (0, variable_length(rest)),
            open => (open.len(), braced_length(rest.get(open.len()..).unwrap_or_default())),
        };
        if length == 0 || self.depth >= DEEPEST {
            known.extend(self.bump());
            return;
        }
        if !known.is_empty() {
            parts.push(Part::Known(std::mem::take(known)));
        }
        let start = self.at + skip;
        let mut text = self.text.get(start..start + length).unwrap_or_default();
        if form.interpolates == "{" {
            // A format specification is no part of the expression.
            text = text
                .split_once('!')
                .filter(|(_, rest)| !rest.starts_with('='))
                .map_or(text, |(expression, _)| expression);
            text = before_format(text);
        }
        let mut inner = Lexer {
            language: self.language,
            text,
            at: 0,
            base: self.base + start,
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
        parts.push(Part::Expression(index));
        self.at = start + length + usize::from(skip > 0);
    }

    /// `q{}`, `qx()`, `s/a/b/e`, `%w[]` and their kin.
    fn quoting_word(&mut self, lexed: &mut Lexed, before: Option<&Token>, value_expected: bool) -> Option<Kind> {
        if before.is_some_and(|token| matches!(&token.kind, Kind::Mark("->" | "::" | "." | "{")))
            && self.language.quoting == Quoting::Perl
        {
            return None;
        }
        let rest = self.rest();
        let word = match self.language.quoting {
            Quoting::None => return None,
            Quoting::Perl => {
                ["qq", "qw", "qx", "qr", "tr", "q", "m", "s", "y"].into_iter().find(|word| begins_quote(rest, word))?
            }
            Quoting::Ruby if value_expected => {
                ["%q", "%Q", "%w", "%W", "%i", "%x", "%r", "%"].into_iter().find(|word| begins_percent(rest, word))?
            }
            Quoting::Ruby => return None,
        };
        let mut at = self.at + word.len();
        at += self.text.get(at..)?.find(|c: char| !c.is_whitespace())?;
        let open = self.text.get(at..)?.chars().next()?;
        self.at = at + open.len_utf8();
        let twice = matches!(word, "s" | "tr" | "y");
        let first = self.delimited(lexed, open);
        let mut kind = Text {
            parts: first,
            command: matches!(word, "qx" | "%x"),
            words: matches!(word, "qw" | "%w" | "%W" | "%i"),
        };
        if twice {
            if closing(open) != open {
                self.at += self.rest().find(|c: char| !c.is_whitespace()).unwrap_or(0);
                self.bump();
            }
            kind.parts = self.delimited(lexed, open);
        }
        let flags = self.rest().find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest().len());
        let flags = if matches!(word, "s" | "m" | "qr" | "tr" | "y") { flags } else { 0 };
        let evaluated = word == "s" && self.rest().get(..flags).unwrap_or_default().contains('e');
        self.at += flags;
        if evaluated {
            self.evaluated(lexed, &mut kind);
        } else if twice || matches!(word, "m" | "qr" | "%r") {
            kind.parts.retain(|part| matches!(part, Part::Expression(_)));
        }
        Some(Kind::Text(kind))
    }

    /// The replacement of `s///e` is code.
    fn evaluated(&self, lexed: &mut Lexed, text: &mut Text) {
        let code: String = text
            .parts
            .iter()
            .filter_map(|part| if let Part::Known(known) = part { Some(known.as_str()) } else { None })
            .collect();
        if self.depth >= DEEPEST {
            return;
        }
        let mut inner = Lexer {
            language: self.language,
            text: &code,
            at: 0,
            base: self.base + self.at,
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
        text.parts.push(Part::Expression(index));
    }

    /// Text up to the delimiter that closes `open`, which may nest.
    fn delimited(&mut self, lexed: &mut Lexed, open: char) -> Vec<Part> {
        let close = closing(open);
        let mut depth = 0usize;
        let mut known = String::new();
        let interpolates = if self.language.quoting == Quoting::Ruby { "#{" } else { "$" };
        let form = StringForm { open: "", close: "", escapes: true, interpolates, command: false };
        let mut parts = Vec::new();
        loop {
            let Some(letter) = self.peek() else {
                lexed.unclosed = true;
                break;
            };
            if letter == close && depth == 0 {
                self.bump();
                break;
            }
            if letter == '\\' {
                self.bump();
                known.extend(self.bump());
                continue;
            }
            if open != '\'' && self.rest().starts_with(interpolates) {
                self.interpolation(lexed, &form, &mut known, &mut parts);
                continue;
            }
            if letter == open && open != close {
                depth += 1;
            } else if letter == close {
                depth -= 1;
            }
            known.extend(self.bump());
        }
        if !known.is_empty() {
            parts.push(Part::Known(known));
        }
        parts
    }

    /// `<<WORD`, `<<~"WORD"`, `<<<'WORD'`: its text is read when the line ends.
    fn heredoc(&mut self, index: usize) -> Option<Kind> {
        let rest = self.rest();
        let mut after = rest.trim_start_matches('<');
        let indented = after.starts_with(['~', '-']);
        after = after.trim_start_matches(['~', '-']);
        let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'));
        let word = after.get(quote.map_or(0, char::len_utf8)..)?;
        let length = word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(word.len());
        let word = word.get(..length).filter(|word| {
            word.starts_with(|c: char| c.is_ascii_uppercase() || (quote.is_some() && c.is_ascii_alphabetic()))
        })?;
        let word = word.to_owned();
        let taken = rest.len() - after.len() + length + 2 * quote.map_or(0, char::len_utf8);
        self.at += taken;
        self.pending.push((index, word, indented, quote != Some('\'')));
        Some(Kind::Text(Text { parts: Vec::new(), command: quote == Some('`'), words: false }))
    }

    /// The texts of the here-documents of the line that just ended.
    fn heredocs(&mut self, lexed: &mut Lexed, tokens: &mut [Token]) {
        for (index, word, indented, interpolated) in std::mem::take(&mut self.pending) {
            let mut length = 0;
            let mut end = None;
            for line in self.rest().split_inclusive('\n') {
                let bare = line.trim_end_matches(['\n', '\r', ';']);
                let bare = if indented || self.language.quoting == Quoting::None { bare.trim_start() } else { bare };
                if bare == word {
                    end = Some(line.len());
                    break;
                }
                length += line.len();
            }
            lexed.unclosed |= end.is_none();
            let body = self.rest().get(..length).unwrap_or_default().to_owned();
            let mut inner = Lexer {
                language: self.language,
                text: &body,
                at: 0,
                base: self.base + self.at,
                depth: self.depth + 1,
                fresh: true,
                pending: Vec::new(),
            };
            let interpolates = if self.language.quoting == Quoting::Ruby { "#{" } else { "$" };
            let form = StringForm {
                open: "",
                close: "\0",
                escapes: interpolated,
                interpolates: if interpolated { interpolates } else { "" },
                command: false,
            };
            let unclosed = lexed.unclosed;
            let text = inner.string(lexed, &form, true, true);
            lexed.unclosed = unclosed;
            if let Some(Token { kind: Kind::Text(known), .. }) = tokens.get_mut(index) {
                known.parts = text.parts;
            }
            self.at += length + end.unwrap_or(0);
        }
    }
}

/// A value may end with this token, so what follows is an operator.
fn ends_value(token: &Token) -> bool {
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

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}

/// perl: `q(`, `s{`; no letter may follow directly, and `=>`, `,` or `;` make it an ordinary word.
fn begins_quote(rest: &str, word: &str) -> bool {
    let Some(after) = rest.strip_prefix(word) else { return false };
    let trimmed = after.trim_start();
    let Some(open) = trimmed.chars().next() else { return false };
    let spaced = trimmed.len() < after.len();
    !(open.is_alphanumeric() || matches!(open, '_' | ',' | ';' | ')' | '.' | '\u{f0000}'..))
        && !trimmed.starts_with("=>")
        && !(spaced && matches!(open, '=' | '#' | '-' | '+' | '<'))
        && !(open == '=' && word != "s" && word != "m")
}

/// ruby: `%w[`, `%(`.
fn begins_percent(rest: &str, word: &str) -> bool {
    rest.strip_prefix(word)
        .and_then(|after| after.chars().next())
        .is_some_and(|open| matches!(open, '(' | '[' | '{' | '<' | '|' | '!' | '/'))
}

/// The length of a variable in a string: `$name`, `${name}`, `$name{key}`, `$name->{key}`.
fn variable_length(text: &str) -> usize {
    let Some(after) = text.strip_prefix('$') else { return 0 };
    if let Some(inner) = after.strip_prefix('{') {
        return 3 + braced_length(inner);
    }
    let name = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
    if name == 0 {
        return 0;
    }
    let rest = after.get(name..).unwrap_or_default();
    let arrow = if rest.starts_with("->{") || rest.starts_with("->[") { 2 } else { 0 };
    let rest = rest.get(arrow..).unwrap_or_default();
    let subscript = match rest.chars().next() {
        Some('{') => rest.find('}').map_or(0, |end| end + 1),
        Some('[') => rest.find(']').map_or(0, |end| end + 1),
        _ => 0,
    };
    1 + name + if subscript > 0 { arrow + subscript } else { 0 }
}

/// The length up to the brace that closes one already open; 0 if there is none.
fn braced_length(text: &str) -> usize {
    let mut depth = 0usize;
    for (offset, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => return offset,
            '}' => depth -= 1,
            _ => {}
        }
    }
    0
}

/// A replacement field without its format: up to a `:` outside brackets and strings.
fn before_format(text: &str) -> &str {
    let mut depth = 0usize;
    let mut quote = None;
    for (offset, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), close) if open == close => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ':') if depth == 0 => return text.get(..offset).unwrap_or(text),
            (None, _) => {}
        }
    }
    text
}
