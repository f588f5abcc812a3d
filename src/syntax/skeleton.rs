//! What the parser is given: the shape of a level in place of its text.
//!
//! tree-sitter-bash misreads words, redirections and here-documents, now and then without an error node. So it gets a
//! drawing in which each word, assignment, redirection and test is a word of one letter, a newline that ends a
//! statement is a `;`, and comments, prefixes, here-documents and redirections after compound commands are nothing.

use super::scan::{Keyword, Token, TokenKind};

/// The shape of some tokens.
pub(super) struct Drawing {
    /// What the parser reads.
    pub(super) text: Vec<u8>,
    /// Where each token stands in it.
    pub(super) places: Vec<usize>,
}

/// Draws some tokens.
pub(super) fn draw(tokens: &[Token]) -> Drawing {
    let mut drawing = Drawing { text: Vec::with_capacity(tokens.len() * 3), places: Vec::with_capacity(tokens.len()) };
    let mut previous = None;
    let mut tokens = tokens.iter().peekable();
    while let Some(token) = tokens.next() {
        let next = tokens.peek().map(|next| &next.kind);
        if let (Some(previous), TokenKind::Keyword(keyword)) = (previous, &token.kind)
            && needs_terminator(previous, *keyword)
        {
            drawing.text.extend_from_slice(b"; ");
        }
        drawing.places.push(drawing.text.len());
        let spelling = spelling(previous, &token.kind, next);
        if !spelling.is_empty() {
            drawing.text.extend_from_slice(spelling);
            drawing.text.push(b' ');
        }
        previous = Some(&token.kind);
    }
    drawing
}

/// How a token is drawn between its neighbours.
fn spelling(previous: Option<&TokenKind>, token: &TokenKind, next: Option<&TokenKind>) -> &'static [u8] {
    match token {
        // Of alternative patterns the first will do.
        TokenKind::Word(_) if matches!(previous, Some(TokenKind::Bar)) => b"",
        TokenKind::Word(_)
        | TokenKind::Assignment(_)
        | TokenKind::Redirection(_)
        | TokenKind::Conditional(_)
        | TokenKind::Arithmetic(_) => b"x",
        TokenKind::ArithmeticFor(_) => b"((;;))",
        // A list of no words is drawn as no list.
        TokenKind::Keyword(Keyword::In) if matches!(next, Some(TokenKind::Terminator { .. })) => b"",
        TokenKind::Keyword(keyword) => reserved(*keyword),
        TokenKind::HungRedirection(_) | TokenKind::Prefix(_) | TokenKind::PatternOpen | TokenKind::Bar => b"",
        TokenKind::Terminator { background: true, .. } => b"&",
        // A clause ends at `;;` alone.
        TokenKind::Terminator { .. } if matches!(next, Some(TokenKind::ClauseEnd)) => b"",
        TokenKind::Terminator { .. } => b";",
        TokenKind::And => b"&&",
        TokenKind::Or => b"||",
        TokenKind::Pipe | TokenKind::PipeBoth => b"|",
        TokenKind::Open => b"(",
        TokenKind::Close | TokenKind::PatternEnd | TokenKind::Stray => b")",
        TokenKind::ClauseEnd => b";;",
    }
}

/// The shell accepts `done }` and `for x do`; the grammar wants a terminator there.
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
fn reserved(keyword: Keyword) -> &'static [u8] {
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
