//! Strings, regular expressions, quoting words and here-documents.

use super::language::{Quoting, StringForm};
use super::lexer::{DEEPEST, Kind, Lexed, Lexer, Part, Text, Token, ends_value};

impl Lexer<'_> {
    /// A string, a regular expression or a quoting word, if one begins here.
    pub(super) fn quoted(&mut self, lexed: &mut Lexed, before: Option<&Token>) -> Option<Kind> {
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
        if self.language.quoting == Quoting::Perl && self.peek() == Some('<') && before.is_some_and(takes_names) {
            return self.pattern();
        }
        if self.language.regex && value_expected && self.peek() == Some('/') {
            return self.regex();
        }
        None
    }

    /// perl: `<folder/*>`, the names that match.
    fn pattern(&mut self) -> Option<Kind> {
        let inner = self.rest().strip_prefix('<')?.split(['>', '\n']).next()?.to_owned();
        let named = inner.contains('*') || inner.starts_with(['/', '~']);
        if !named || inner.contains(char::is_whitespace) || !self.rest().get(inner.len() + 1..)?.starts_with('>') {
            return None;
        }
        self.at += inner.len() + 2;
        Some(Kind::Text(Text { parts: vec![Part::Known(inner)], command: false, words: false }))
    }

    /// `/…/flags` on one line.
    pub(super) fn regex(&mut self) -> Option<Kind> {
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
    pub(super) fn string(&mut self, lexed: &mut Lexed, form: &StringForm, escapes: bool, formatted: bool) -> Text {
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
    pub(super) fn escape(&mut self, known: &mut String, escapes: bool) {
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

    pub(super) fn code_point(&mut self, known: &mut String, most: usize) {
        let length = self.rest().bytes().take(most).take_while(u8::is_ascii_hexdigit).count();
        let digits = self.rest().get(..length).unwrap_or_default();
        known.extend(u32::from_str_radix(digits, 16).ok().and_then(char::from_u32));
        self.at += length;
    }

    /// An expression within a string; what looks like one and is none stays text.
    pub(super) fn interpolation(
        &mut self,
        lexed: &mut Lexed,
        form: &StringForm,
        known: &mut String,
        parts: &mut Vec<Part>,
    ) {
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
        let index = self.inner(lexed, text, start);
        parts.push(Part::Expression(index));
        self.at = start + length + usize::from(skip > 0);
    }

    /// `q{}`, `qx()`, `s/a/b/e`, `%w[]` and their kin.
    pub(super) fn quoting_word(
        &mut self,
        lexed: &mut Lexed,
        before: Option<&Token>,
        value_expected: bool,
    ) -> Option<Kind> {
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
        let mut replacement = self.at;
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
            replacement = self.at;
            kind.parts = self.delimited(lexed, open);
        }
        let end = self.at;
        let flagged = matches!(word, "s" | "m" | "qr" | "tr" | "y" | "%r");
        let letters = self.rest().find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest().len());
        let flags = if flagged { letters } else { 0 };
        let evaluated = word == "s" && self.rest().get(..flags).unwrap_or_default().contains('e');
        self.at += flags;
        if evaluated {
            kind.parts = self.code(lexed, replacement, end).into_iter().map(Part::Expression).collect();
        } else if flagged {
            kind.parts.retain(|part| matches!(part, Part::Expression(_)));
        }
        Some(Kind::Text(kind))
    }

    /// Text up to the delimiter that closes `open`, which may nest.
    pub(super) fn delimited(&mut self, lexed: &mut Lexed, open: char) -> Vec<Part> {
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
    pub(super) fn heredoc(&mut self, index: usize) -> Option<Kind> {
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
    pub(super) fn heredocs(&mut self, lexed: &mut Lexed, tokens: &mut [Token]) {
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
    let ordinary = match open {
        '_' | ',' | ';' | ')' | '.' | '\u{f0000}'.. => true,
        '=' => spaced || trimmed.starts_with("=>") || !matches!(word, "s" | "m"),
        '#' | '-' | '+' | '<' => spaced,
        _ => open.is_alphanumeric(),
    };
    !ordinary
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

/// perl: names may follow this token.
fn takes_names(token: &Token) -> bool {
    matches!(&token.kind, Kind::Word(word) if !word.starts_with(['$', '@']))
        || matches!(token.kind, Kind::Mark("(" | "," | "="))
}
