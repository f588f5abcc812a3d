//! `[[ … ]]`.

use super::word::{Parts, Quoting};
use super::{Fault, MAX_DEPTH, Scanner, TOO_DEEP, ends_word};
use crate::syntax::model::{Part, Word};

/// How many words a test may have: the second reader nests them.
const MAX_TEST_WORDS: usize = 1000;

impl Scanner<'_> {
    /// Reads `[[ … ]]`: the words and operators between the brackets.
    pub(super) fn conditional(&mut self) -> Result<Vec<Word>, Fault> {
        self.at += 2;
        let mut words: Vec<Word> = Vec::new();
        let mut nested = 0;
        loop {
            self.skip_lines();
            let pattern = words.last().is_some_and(|word| literal(word, &[b"=~", b"==", b"=", b"!="]));
            if self.plain_word() == b"]]" && !pattern {
                self.at += 2;
                return Ok(words);
            }
            let word = match self.peek() {
                None => return Err(Fault::syntax("a test that is not closed")),
                Some(_) if pattern => self.test_pattern()?,
                Some(b'(' | b')') => self.test_operator(1),
                Some(b'<' | b'>') if !self.starts_process_substitution() => self.test_operator(1),
                Some(b'&' | b'|') => self.test_operator(2),
                Some(_) => self.argument(false)?,
            };
            if word.span.start == word.span.end {
                return Err(Fault::syntax("a test that is not closed"));
            }
            nested += usize::from(literal(&word, &[b"(", b"!"]));
            words.push(word);
            if nested > MAX_DEPTH || words.len() > MAX_TEST_WORDS {
                return Err(TOO_DEEP);
            }
        }
    }

    fn skip_lines(&mut self) {
        self.skip_blanks();
        while self.take(b"\n") {
            self.skip_blanks();
        }
    }

    fn test_operator(&mut self, length: usize) -> Word {
        let start = self.at;
        self.at = (self.at + length).min(self.text.len());
        let text = self.text.get(start..self.at).unwrap_or_default().into();
        Word { span: self.span_from(start), parts: vec![Part::Literal { text, quoted: false }] }
    }

    /// The right-hand side of `=~` or `==`: parentheses and bars belong to it.
    fn test_pattern(&mut self) -> Result<Word, Fault> {
        let start = self.at;
        let mut parts = Parts::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => self.balanced(&mut parts)?,
                b'|' if self.peek_at(1) != Some(b'|') => self.literal(&mut parts),
                b'<' | b'>' if self.starts_process_substitution() => self.process_substitution(&mut parts)?,
                byte if ends_word(byte) => break,
                _ => self.unit(&mut parts, Quoting::None)?,
            }
        }
        Ok(Word { span: self.span_from(start), parts: parts.into_vec() })
    }
}

fn literal(word: &Word, texts: &[&[u8]]) -> bool {
    match word.parts.as_slice() {
        [Part::Literal { text, quoted: false }] => texts.contains(&text.as_slice()),
        _ => false,
    }
}
