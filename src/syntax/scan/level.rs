//! One level of a script: the tokens up to the end of the text or of a substitution.

use super::position::{Frame, Position, State};
use super::token::{Prefix, Token, TokenKind};
use super::{Fault, MAX_DEPTH, Scanner, TOO_DEEP, continues_name, ends_word};
use crate::diagnostic::Span;
use crate::syntax::model::{Redirection, RedirectionKind, SyntaxDoubtKind, Word};

/// How reading a level ended.
pub(super) enum Outcome {
    /// At what closes it.
    Closed,
    /// Between two statements: there is more than should be held at once.
    Paused,
    /// Where it is no shell text any more.
    Broken(Fault),
}

/// How many tokens are held before commands are made of them.
const MANY_TOKENS: usize = 1000;

/// How much text is read before commands are made of it, in bytes.
const MUCH_TEXT: usize = 64 * 1024;

/// How many tokens a statement may have, which the parsers hold at once: a thousand bytes each.
const MAX_TOKENS: usize = 50_000;

/// How deep `case` commands may nest of which the last clause does not end in `;;`.
const MAX_OPEN_CLAUSES: usize = 4;

/// What ends a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax) enum Close {
    /// The end of the text.
    End,
    /// `)`.
    Parenthesis,
    /// `}` in command position.
    Brace,
}

/// A level on its way.
pub(super) struct Level {
    pub(super) state: State,
    pub(super) tokens: Vec<Token>,
    /// Here-documents whose bodies follow the next newline: the token of each and how its body ends.
    pub(super) bodies: Vec<(usize, super::heredoc::Delimiter)>,
    /// How deep the level stands.
    depth: usize,
    /// An outer here-document waits for its body.
    outer_awaits_body: bool,
}

impl<'t> Scanner<'t> {
    /// Reads the tokens of a level and steps over what closes it. The tokens read before a fault are kept.
    pub(super) fn level(&mut self, close: Close) -> (Vec<Token>, Outcome) {
        let (start, depth, outer_awaits_body) = (self.at, self.depth, self.awaits_body);
        let mut level = Level { state: State::new(), tokens: Vec::new(), bodies: Vec::new(), depth, outer_awaits_body };
        let outcome = loop {
            match self.token(&mut level, close) {
                Ok(true) if close == Close::End && self.may_pause(&level, start) => {
                    break Outcome::Paused;
                }
                Ok(true) => {}
                Ok(false) => break Outcome::Closed,
                Err(fault) => break Outcome::Broken(fault),
            }
        };
        self.depth = depth;
        self.awaits_body = outer_awaits_body;
        (level.tokens, outcome)
    }

    /// Between two statements, after enough tokens or text.
    fn may_pause(&self, level: &Level, start: usize) -> bool {
        let ended = |last: &Token| matches!(last.kind, TokenKind::Terminator { .. });
        (level.tokens.len() >= MANY_TOKENS || self.at - start >= MUCH_TEXT)
            && level.state.frames.is_empty()
            && level.bodies.is_empty()
            && level.tokens.last().is_none_or(ended)
    }

    /// Reads one token; `false` at the end of the level.
    fn token(&mut self, level: &mut Level, close: Close) -> Result<bool, Fault> {
        self.skip_blanks();
        self.depth = level.depth + level.state.frames.len();
        self.awaits_body = level.outer_awaits_body || !level.bodies.is_empty();
        if self.depth >= MAX_DEPTH {
            return Err(TOO_DEEP);
        }
        if level.tokens.len() > MAX_TOKENS {
            return Err(Fault { kind: SyntaxDoubtKind::Limit, reason: "too long a statement" });
        }
        let start = self.at;
        let Some(byte) = self.peek() else {
            return match close {
                Close::End if level.state.frames.is_empty() => Ok(false),
                Close::End => Err(Fault::syntax("a compound command that is not closed")),
                _ => Err(Fault::syntax("a substitution that is not closed")),
            }
            .and_then(|more| level_ends(level).map(|()| more));
        };
        match byte {
            b'#' => self.comment(),
            b'\n' => self.newline(level),
            b')' if close == Close::Parenthesis && level.state.frames.is_empty() => {
                self.at += 1;
                return level_ends(level).map(|()| false);
            }
            b'}' if close == Close::Brace && level.state.frames.is_empty() && self.closes_brace(level) => {
                self.at += 1;
                return level_ends(level).map(|()| false);
            }
            b'<' | b'>' if !self.starts_process_substitution() => self.redirection(level)?,
            b'&' if self.dialect.has_extensions() && self.peek_at(1) == Some(b'>') => self.redirection(level)?,
            b'(' if self.opens_arithmetic(level) => {}
            b';' | b'&' | b'|' | b'(' | b')' => self.operator(level)?,
            _ if self.at_descriptor() => self.redirection(level)?,
            _ => self.word_token(level)?,
        }
        debug_assert!(self.at > start, "every token takes text");
        Ok(true)
    }

    fn closes_brace(&self, level: &Level) -> bool {
        let alone = self.peek_at(1).is_none_or(|next| ends_word(next) || matches!(next, b'"' | b'}' | b'\''));
        alone && matches!(level.state.position, Position::Command | Position::Closed)
    }

    fn comment(&mut self) {
        self.at += self.rest().iter().take_while(|byte| **byte != b'\n').count();
    }

    pub(super) fn push(&self, level: &mut Level, start: usize, kind: TokenKind) {
        let depth = level.state.frames.len();
        level.tokens.push(Token { start, end: self.at, span: self.span_from(start), depth, kind });
    }

    fn newline(&mut self, level: &mut Level) {
        let start = self.at;
        self.at += 1;
        if level.outer_awaits_body {
            let span = self.span_from(start);
            self.doubt(SyntaxDoubtKind::Syntax, span, "a newline before the body of an outer here-document");
        }
        if level.state.ends_at_newline() {
            self.push(level, start, TokenKind::Terminator { background: false });
            level.state.position = Position::Command;
        }
        for (token, delimiter) in std::mem::take(&mut level.bodies) {
            let body = self.here_document(&delimiter);
            attach(level, token, body);
        }
    }

    fn operator(&mut self, level: &mut Level) -> Result<(), Fault> {
        let start = self.at;
        let extended = self.dialect.has_extensions();
        let kind = if self.take(b";;") {
            let _ = extended && self.take(b"&");
            clause_end(level)
        } else if extended && self.take(b";&") {
            clause_end(level)
        } else if self.take(b"&&") {
            next_command(level, TokenKind::And)
        } else if self.take(b"||") {
            next_command(level, TokenKind::Or)
        } else if extended && self.take(b"|&") {
            next_command(level, TokenKind::PipeBoth)
        } else if self.take(b";") {
            terminator(level, false)
        } else if self.take(b"&") {
            terminator(level, true)
        } else if self.take(b"|") {
            bar(level)
        } else if self.take(b"(") {
            open(level)
        } else {
            self.at += 1;
            close(level)?
        };
        self.push(level, start, kind);
        Ok(())
    }

    /// A word, an assignment, a reserved word, a prefix or a test.
    fn word_token(&mut self, level: &mut Level) -> Result<(), Fault> {
        let start = self.at;
        if level.state.before_name() && self.at_assignment() {
            let assignment = self.assignment()?;
            level.state.position = Position::Assigned;
            self.push(level, start, TokenKind::Assignment(assignment));
            return Ok(());
        }
        let plain = self.plain_word();
        if level.state.position == Position::Command && self.prefix(level, plain)? {
            return Ok(());
        }
        if level.state.position == Position::Command && plain == b"[[" && self.dialect.has_extensions() {
            let words = self.conditional()?;
            level.state.position = Position::Closed;
            self.push(level, start, TokenKind::Conditional(words));
            return Ok(());
        }
        let depth = level.state.frames.len();
        let cases = level.state.frames.iter().filter(|frame| **frame == Frame::Case).count();
        let clause_open = level.state.position != Position::Pattern;
        if let Some(keyword) = level.state.keyword(plain, self.dialect) {
            match plain {
                b"select" => self.patch(start, b"for   ".to_vec()),
                b"esac" if clause_open => self.end_clause(start, cases)?,
                _ => {}
            }
            self.at += plain.len();
            let depth = depth.min(level.state.frames.len());
            let span = self.span_from(start);
            level.tokens.push(Token { start, end: self.at, span, depth, kind: TokenKind::Keyword(keyword) });
            return Ok(());
        }
        if self.dialect.is_zsh() && level.state.before_name() && matches!(plain, b"repeat" | b"foreach") {
            let span = Span::new(self.place(start), self.place(start + plain.len()));
            self.doubt(SyntaxDoubtKind::Dialect, span, "a loop of zsh");
        }
        let word = self.argument(level.state.position == Position::Arguments)?;
        level.state.word();
        self.push(level, start, TokenKind::Word(word));
        Ok(())
    }

    /// Ends the last clause of a `case` for the second reader, which would read it twice, and what is in it four times.
    fn end_clause(&mut self, esac: usize, cases: usize) -> Result<(), Fault> {
        let before = esac.checked_sub(2).and_then(|at| self.text.get(at..esac)).unwrap_or_default();
        if matches!(before, b"  " | b"\t\t" | b"; ") {
            self.patch(esac - 2, b";;".to_vec());
        } else if cases > MAX_OPEN_CLAUSES {
            return Err(TOO_DEEP);
        }
        Ok(())
    }

    /// The bytes up to the end of an unquoted word, if it has nothing but itself in it.
    pub(super) fn plain_word(&self) -> &'t [u8] {
        let rest = self.rest();
        let length = rest.iter().take_while(|byte| !ends_word(**byte)).count();
        let word = rest.get(..length).unwrap_or_default();
        let plain = length <= 64 && !word.iter().any(|byte| matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`'));
        if plain { word } else { b"" }
    }

    /// `!`, `time`, `coproc`, `function`, `name()`: what stands before a command.
    fn prefix(&mut self, level: &mut Level, plain: &[u8]) -> Result<bool, Fault> {
        let start = self.at;
        let extended = self.dialect.has_extensions();
        let before = level.tokens.iter().rev().take_while(|token| matches!(token.kind, TokenKind::Prefix(_))).count();
        let prefix = match plain {
            b"!" if self.peek_at(1).is_none_or(ends_word) => {
                self.at += 1;
                Prefix::Not
            }
            b"time" if extended && !after_pipe(level) => {
                self.at += 4;
                self.time_options();
                Prefix::Time
            }
            b"coproc" if extended => {
                self.at += 6;
                let name = self.coproc_name();
                if self.dialect.is_zsh() && name != "COPROC" {
                    return Err(Fault { kind: SyntaxDoubtKind::Dialect, reason: "zsh gives coprocesses no name" });
                }
                Prefix::Coproc(name)
            }
            b"function" if extended => {
                self.at += 8;
                self.skip_blanks();
                let Some(name) = self.function_name() else {
                    return Err(Fault::syntax("a function without a name"));
                };
                let _ = self.empty_parentheses();
                Prefix::Function(name)
            }
            _ => match self.named_function() {
                Some(name) => Prefix::Function(name),
                None => return Ok(false),
            },
        };
        if self.depth + before >= MAX_DEPTH {
            return Err(TOO_DEEP);
        }
        self.push(level, start, TokenKind::Prefix(prefix));
        Ok(true)
    }

    /// Steps over the `-p` and `--` of the reserved word `time`.
    fn time_options(&mut self) {
        for option in [b"-p", b"--"] {
            let start = self.at;
            self.skip_blanks();
            if self.plain_word() == option {
                self.at += 2;
            } else {
                self.at = start;
            }
        }
    }

    /// The name of a coprocess, which only a compound command can have.
    fn coproc_name(&mut self) -> String {
        let start = self.at;
        self.skip_blanks();
        let word = self.plain_word();
        let name = String::from_utf8_lossy(word).into_owned();
        self.at += word.len();
        self.skip_blanks();
        let compound = self.peek() == Some(b'(')
            || matches!(self.plain_word(), b"{" | b"if" | b"while" | b"until" | b"for" | b"case" | b"select" | b"[[");
        if compound && !name.is_empty() && crate::syntax::dialect::keyword(word, self.dialect).is_none() {
            return name;
        }
        self.at = start;
        "COPROC".to_owned()
    }

    /// `name ()` with the parentheses.
    fn named_function(&mut self) -> Option<String> {
        let start = self.at;
        let found = self.function_name().filter(|_| self.empty_parentheses());
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn function_name(&mut self) -> Option<String> {
        let rest = self.rest();
        let length = rest.iter().take_while(|byte| !ends_word(**byte)).count();
        let name = rest.get(..length).filter(|name| !name.is_empty())?;
        let quoted = name.iter().any(|byte| matches!(byte, b'\'' | b'"' | b'`' | b'\\'));
        if quoted || name.ends_with(b"$") {
            return None;
        }
        let name = String::from_utf8_lossy(name).into_owned();
        self.at += length;
        Some(name)
    }

    fn empty_parentheses(&mut self) -> bool {
        let start = self.at;
        self.skip_blanks();
        let open = self.take(b"(");
        self.skip_blanks();
        let found = open && self.take(b")");
        if !found {
            self.at = start;
        }
        found
    }

    /// A redirection's descriptor stands here: digits or `{name}` with `<` or `>` right after it.
    fn at_descriptor(&self) -> bool {
        let rest = self.rest();
        let length = match rest.first() {
            Some(byte) if byte.is_ascii_digit() => rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
            Some(b'{') if self.dialect.has_extensions() => {
                let name = rest.iter().skip(1).take_while(|byte| continues_name(**byte)).count();
                match rest.get(name + 1) {
                    Some(b'}') if name > 0 => name + 2,
                    _ => return false,
                }
            }
            _ => return false,
        };
        matches!(rest.get(length), Some(b'<' | b'>'))
    }
}

fn open(level: &mut Level) -> TokenKind {
    match level.state.position {
        Position::Command => {
            level.state.frames.push(Frame::Parenthesis);
            TokenKind::Open
        }
        Position::Pattern => {
            level.state.position = Position::MorePattern;
            TokenKind::PatternOpen
        }
        _ => TokenKind::Stray,
    }
}

fn close(level: &mut Level) -> Result<TokenKind, Fault> {
    if level.state.position == Position::PatternTail {
        level.state.position = Position::Command;
        return Ok(TokenKind::PatternEnd);
    }
    if level.state.frames.pop() != Some(Frame::Parenthesis) {
        return Err(Fault::syntax("a parenthesis that closes nothing"));
    }
    level.state.position = Position::Closed;
    Ok(TokenKind::Close)
}

/// Gives a here-document its body.
fn attach(level: &mut Level, token: usize, body: Word) {
    let Some(token) = level.tokens.get_mut(token) else { return };
    let (TokenKind::Redirection(redirection) | TokenKind::HungRedirection(redirection)) = &mut token.kind else {
        return;
    };
    let Redirection { kind, .. } = redirection;
    *kind = RedirectionKind::HereDocument(body);
}

fn level_ends(level: &Level) -> Result<(), Fault> {
    if level.bodies.is_empty() { Ok(()) } else { Err(Fault::syntax("a here-document without a body")) }
}

fn clause_end(level: &mut Level) -> TokenKind {
    if level.state.frames.last() != Some(&Frame::Case) {
        return TokenKind::Stray;
    }
    level.state.position = Position::Pattern;
    TokenKind::ClauseEnd
}

fn next_command(level: &mut Level, kind: TokenKind) -> TokenKind {
    let stands = matches!(level.state.position, Position::Assigned | Position::Arguments | Position::Closed);
    level.state.position = Position::Command;
    if stands { kind } else { TokenKind::Stray }
}

fn terminator(level: &mut Level, background: bool) -> TokenKind {
    let stands = level.state.ends_at_newline() || (level.state.position == Position::ForIn && !background);
    level.state.position = Position::Command;
    if stands { TokenKind::Terminator { background } } else { TokenKind::Stray }
}

fn bar(level: &mut Level) -> TokenKind {
    if level.state.position == Position::PatternTail {
        level.state.position = Position::MorePattern;
        return TokenKind::Bar;
    }
    next_command(level, TokenKind::Pipe)
}

fn after_pipe(level: &Level) -> bool {
    matches!(level.tokens.last().map(|token| &token.kind), Some(TokenKind::Pipe | TokenKind::PipeBoth))
}
