//! The compound commands: their nodes, reserved words and bodies.

use tree_sitter::Node;

use super::{Children, Lowered, Lowering, Misfit, children};
use crate::syntax::model::{Block, CompoundKind, Part, Word};
use crate::syntax::scan::{Keyword, TokenKind};

impl Lowering {
    pub(super) fn subshell(&mut self, node: Node<'_>) -> Lowered<CompoundKind> {
        self.expect(|kind| matches!(kind, TokenKind::Open))?;
        let body = self.block(&mut children(node))?;
        self.expect(|kind| matches!(kind, TokenKind::Close))?;
        Ok(CompoundKind::Subshell(body))
    }

    pub(super) fn group(&mut self, node: Node<'_>) -> Lowered<CompoundKind> {
        self.keyword(Keyword::Open)?;
        let body = self.block(&mut children(node))?;
        self.keyword(Keyword::Close)?;
        Ok(CompoundKind::Group(body))
    }

    pub(super) fn conditional(&mut self, node: Node<'_>) -> Lowered<CompoundKind> {
        let mut parts = children(node);
        self.keyword(Keyword::If)?;
        let mut branches = vec![self.branch(&mut parts)?];
        let mut otherwise = Block::new();
        for part in parts {
            let mut inner = children(part);
            match part.kind() {
                "elif_clause" => {
                    self.keyword(Keyword::Elif)?;
                    branches.push(self.branch(&mut inner)?);
                }
                "else_clause" => {
                    self.keyword(Keyword::Else)?;
                    otherwise = self.block(&mut inner)?;
                }
                _ => return Err(Misfit),
            }
        }
        self.keyword(Keyword::Fi)?;
        Ok(CompoundKind::If { branches, otherwise })
    }

    fn branch(&mut self, parts: &mut Children<'_>) -> Lowered<(Block, Block)> {
        let condition = self.block(parts)?;
        self.keyword(Keyword::Then)?;
        Ok((condition, self.block(parts)?))
    }

    pub(super) fn repeated(&mut self, node: Node<'_>) -> Lowered<CompoundKind> {
        let mut parts = children(node);
        self.keyword(Keyword::While)?;
        let condition = self.block(&mut parts)?;
        let body = self.body(&mut parts)?;
        Ok(CompoundKind::While { condition, body })
    }

    /// `do … done` or `{ … }`.
    fn body(&mut self, parts: &mut Children<'_>) -> Lowered<Block> {
        let node = parts.next().ok_or(Misfit)?;
        let (open, close) = match node.kind() {
            "do_group" => (Keyword::Do, Keyword::Done),
            "compound_statement" => (Keyword::Open, Keyword::Close),
            _ => return Err(Misfit),
        };
        self.keyword(open)?;
        let body = self.block(&mut children(node))?;
        self.keyword(close)?;
        Ok(body)
    }

    pub(super) fn counted(&mut self, node: Node<'_>) -> Lowered<CompoundKind> {
        self.keyword(Keyword::For)?;
        let head = self.expect(|kind| matches!(kind, TokenKind::Word(_) | TokenKind::ArithmeticFor(_)))?;
        let mut words = None;
        if self.take(|kind| matches!(kind, TokenKind::Keyword(Keyword::In))).is_some() {
            words = Some(self.words());
        }
        let _ = self.take(|kind| matches!(kind, TokenKind::Terminator { background: false, .. }));
        let body = self.body(&mut children(node))?;
        Ok(match head.kind {
            TokenKind::ArithmeticFor(expressions) if words.is_none() => {
                CompoundKind::ArithmeticFor { expressions, body }
            }
            TokenKind::Word(word) => CompoundKind::For { name: plain(&word).ok_or(Misfit)?, words, body },
            _ => return Err(Misfit),
        })
    }

    fn words(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        while let Some(token) = self.take(|kind| matches!(kind, TokenKind::Word(_))) {
            if let TokenKind::Word(word) = token.kind {
                words.push(word);
            }
        }
        words
    }

    pub(super) fn case(&mut self, node: Node<'_>) -> Lowered<CompoundKind> {
        self.keyword(Keyword::Case)?;
        let Some(TokenKind::Word(word)) = self.next().map(|token| token.kind) else { return Err(Misfit) };
        self.keyword(Keyword::In)?;
        let mut clauses = Vec::new();
        for item in children(node) {
            if item.kind() != "case_item" {
                return Err(Misfit);
            }
            clauses.push(self.clause(item)?);
        }
        self.keyword(Keyword::Esac)?;
        Ok(CompoundKind::Case { word, clauses })
    }

    fn clause(&mut self, item: Node<'_>) -> Lowered<(Vec<Word>, Block)> {
        let _ = self.take(|kind| matches!(kind, TokenKind::PatternOpen));
        let mut patterns = self.words();
        while self.take(|kind| matches!(kind, TokenKind::Bar)).is_some() {
            patterns.append(&mut self.words());
        }
        self.expect(|kind| matches!(kind, TokenKind::PatternEnd))?;
        let body = self.block(&mut children(item))?;
        let _ = self.take(|kind| matches!(kind, TokenKind::ClauseEnd));
        Ok((patterns, body))
    }
}

/// The text of a word without quotes and expansions.
fn plain(word: &Word) -> Option<String> {
    match word.parts.as_slice() {
        [Part::Literal { text, quoted: false }] => String::from_utf8(text.to_vec()).ok(),
        _ => None,
    }
}
