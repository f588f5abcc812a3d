//! `NAME=value` before a command, and arrays.

use super::word::Parts;
use super::{Fault, Scanner, name_length};
use crate::syntax::model::{AssignedValue, Assignment, Word};

impl Scanner<'_> {
    /// Where the `=` of an assignment stands that starts here, and whether a `+` stands before it.
    fn equals_sign(&self) -> Option<usize> {
        let length = name_length(self.rest());
        let mut at = self.at + length;
        if length == 0 {
            return None;
        }
        if self.text.get(at) == Some(&b'[') && self.dialect.has_extensions() {
            at = self.bracket_end(at + 1)? + 1;
        }
        if self.text.get(at) == Some(&b'+') && self.dialect.has_extensions() {
            at += 1;
        }
        (self.text.get(at) == Some(&b'=')).then_some(at)
    }

    /// An assignment starts here.
    pub(super) fn at_assignment(&self) -> bool {
        self.equals_sign().is_some()
    }

    /// Reads an assignment.
    pub(super) fn assignment(&mut self) -> Result<Assignment, Fault> {
        let start = self.at;
        let equals = self.equals_sign().ok_or(Fault::syntax("no assignment"))?;
        let length = name_length(self.rest());
        let name = String::from_utf8_lossy(self.rest().get(..length).unwrap_or_default()).into_owned();
        let append = self.text.get(equals - 1) == Some(&b'+');
        self.at += length;
        let index = if self.peek() == Some(b'[') { Some(self.subscript()?) } else { None };
        self.at = equals + 1;
        let value = if self.peek() == Some(b'(') && self.dialect.has_extensions() {
            AssignedValue::Array(self.array()?)
        } else {
            AssignedValue::Scalar(self.argument(false)?)
        };
        Ok(Assignment { span: self.span_from(start), name, index, append, value })
    }

    /// Reads `[…]`.
    pub(super) fn subscript(&mut self) -> Result<Word, Fault> {
        let end = self.bracket_end(self.at + 1).ok_or(Fault::syntax("a subscript that is not closed"))?;
        self.at += 1;
        let word = self.expression(end)?;
        self.at = end + 1;
        Ok(word)
    }

    /// Reads `(a b [k]=c)`.
    fn array(&mut self) -> Result<Vec<(Option<Word>, Word)>, Fault> {
        self.at += 1;
        let mut elements = Vec::new();
        while !self.array_ends()? {
            let index = match self.peek() {
                Some(b'[') => self.element_index()?,
                _ => None,
            };
            let word = self.argument(false)?;
            if index.is_none() && word.span.start == word.span.end {
                return Err(Fault::syntax("an array that is not closed"));
            }
            elements.push((index, word));
        }
        Ok(elements)
    }

    fn element_index(&mut self) -> Result<Option<Word>, Fault> {
        let end = self.bracket_end(self.at + 1);
        let equals = end.map(|end| end + 1 + usize::from(self.text.get(end + 1) == Some(&b'+')));
        let Some(equals) = equals.filter(|equals| self.text.get(*equals) == Some(&b'=')) else { return Ok(None) };
        let index = self.subscript()?;
        self.at = equals + 1;
        Ok(Some(index))
    }

    /// Steps over blanks, newlines and comments, and over the `)` that closes an array.
    fn array_ends(&mut self) -> Result<bool, Fault> {
        loop {
            self.skip_blanks();
            match self.peek() {
                None => return Err(Fault::syntax("an array that is not closed")),
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.at += self.rest().iter().take_while(|byte| **byte != b'\n').count(),
                Some(b')') => {
                    self.at += 1;
                    return Ok(true);
                }
                Some(_) => return Ok(false),
            }
        }
    }

    /// `NAME=(` stands here as an argument.
    pub(super) fn at_array_argument(&self) -> bool {
        self.dialect.has_extensions()
            && self.equals_sign().is_some_and(|equals| self.text.get(equals + 1) == Some(&b'('))
    }

    /// Reads the array of an argument: its text, with what is expanded in it.
    pub(super) fn array_argument(&mut self, parts: &mut Parts) -> Result<(), Fault> {
        let equals = self.equals_sign().ok_or(Fault::syntax("no assignment"))?;
        parts.text(self.text.get(self.at..equals + 1).unwrap_or_default(), true);
        self.at = equals + 1;
        parts.text(b"(", true);
        for (place, (index, word)) in self.array()?.into_iter().enumerate() {
            if place > 0 {
                parts.text(b" ", true);
            }
            if let Some(index) = index {
                parts.text(b"[", true);
                index.parts.into_iter().for_each(|part| parts.push(part));
                parts.text(b"]=", true);
            }
            word.parts.into_iter().for_each(|part| parts.push(part));
        }
        parts.text(b")", true);
        Ok(())
    }
}
