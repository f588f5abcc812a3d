//! What the parser is given: the shape of a level in place of its text.
//!
//! tree-sitter-bash misreads words, redirections and here-documents, now and then without an error node. So it gets a
//! text of the same length in which each word, assignment, redirection and test is a plain word, a newline that ends
//! a statement is a `;`, and comments, prefixes, here-documents and redirections after compound commands are blank.

use super::scan::{Keyword, Token, TokenKind};

/// Draws the tokens that stand between `start` and `end` of a text.
pub(super) fn draw(tokens: &[Token], start: usize, end: usize) -> Vec<u8> {
    let mut canvas = Canvas { text: vec![b' '; end.saturating_sub(start)], base: start };
    let mut previous: Option<&Token> = None;
    for token in tokens {
        if let Some(previous) = previous {
            canvas.join(previous, token);
        }
        // Of alternative patterns the first will do.
        if !matches!(previous.map(|previous| &previous.kind), Some(TokenKind::Bar)) {
            canvas.token(token);
        }
        previous = Some(token);
    }
    canvas.text
}

struct Canvas {
    text: Vec<u8>,
    base: usize,
}

impl Canvas {
    fn put(&mut self, at: usize, bytes: &[u8]) {
        let start = at.saturating_sub(self.base);
        if let Some(place) = self.text.get_mut(start..start + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    fn fill(&mut self, token: &Token) {
        let base = self.base;
        if let Some(place) = self.text.get_mut(token.start.saturating_sub(base)..token.end.saturating_sub(base)) {
            place.fill(b'x');
        }
    }

    fn token(&mut self, token: &Token) {
        let bytes: &[u8] = match &token.kind {
            TokenKind::Word(_)
            | TokenKind::Assignment(_)
            | TokenKind::Redirection(_)
            | TokenKind::Conditional(_)
            | TokenKind::Arithmetic(_) => return self.fill(token),
            TokenKind::ArithmeticFor(_) => {
                self.put(token.start, b"((;;");
                return self.put(token.end.saturating_sub(2), b"))");
            }
            TokenKind::Keyword(keyword) => spelling(*keyword),
            TokenKind::HungRedirection(_) | TokenKind::Prefix(_) | TokenKind::PatternOpen | TokenKind::Bar => return,
            TokenKind::Terminator { background: true, .. } => b"&",
            TokenKind::Terminator { .. } => b";",
            TokenKind::And => b"&&",
            TokenKind::Or => b"||",
            TokenKind::Pipe | TokenKind::PipeBoth => b"|",
            TokenKind::Open => b"(",
            TokenKind::Close | TokenKind::PatternEnd => b")",
            TokenKind::ClauseEnd => b";;",
            TokenKind::Stray => b")",
        };
        self.put(token.start, bytes);
    }

    /// Bridges what the shell accepts between two tokens and the grammar does not.
    fn join(&mut self, previous: &Token, next: &Token) {
        match (&previous.kind, &next.kind) {
            // A newline before `;;` ends the statement once more.
            (TokenKind::Terminator { newline: true, .. }, TokenKind::ClauseEnd) => self.put(previous.start, b" "),
            // `for x in; do`: no words are written as no list.
            (TokenKind::Keyword(Keyword::In), TokenKind::Terminator { .. }) => self.put(previous.start, b"  "),
            // `done }`, `for x do`: a reserved word right after what it closes.
            (kind, TokenKind::Keyword(keyword)) if needs_terminator(kind, *keyword) => {
                if next.start > previous.end || matches!(kind, TokenKind::ArithmeticFor(_)) {
                    self.put(next.start - 1, b";");
                }
            }
            _ => {}
        }
    }
}

fn needs_terminator(previous: &TokenKind, keyword: Keyword) -> bool {
    let closes = matches!(
        keyword,
        Keyword::Then | Keyword::Elif | Keyword::Else | Keyword::Fi | Keyword::Do | Keyword::Done | Keyword::Close
    );
    closes
        && matches!(
            previous,
            TokenKind::Keyword(Keyword::Fi | Keyword::Done | Keyword::Esac | Keyword::Close)
                | TokenKind::Close
                | TokenKind::Word(_)
                | TokenKind::Conditional(_)
                | TokenKind::Arithmetic(_)
                | TokenKind::HungRedirection(_)
        )
}

/// What the grammar calls a reserved word; `until` and `select` are read like `while` and `for`.
fn spelling(keyword: Keyword) -> &'static [u8] {
    match keyword {
        Keyword::If => b"if",
        Keyword::Then => b"then",
        Keyword::Elif => b"elif",
        Keyword::Else => b"else",
        Keyword::Fi => b"fi",
        Keyword::While => b"while",
        Keyword::For => b"for",
        Keyword::In => b"in",
        Keyword::Do => b"do",
        Keyword::Done => b"done",
        Keyword::Case => b"case",
        Keyword::Esac => b"esac",
        Keyword::Open => b"{",
        Keyword::Close => b"}",
    }
}
