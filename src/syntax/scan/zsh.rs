//! What only zsh reads.

use super::word::Parts;
use super::{Fault, Scanner, ends_word, name_length, starts_name};
use crate::diagnostic::Span;
use crate::syntax::model::{Parameter, Part, SyntaxDoubtKind, Word};

impl Scanner<'_> {
    /// zsh's `=command` and `=(…)` at the start of a word.
    pub(super) fn equals(&mut self, parts: &mut Parts) -> Result<(), Fault> {
        let start = self.at;
        self.at += 1;
        let followed = self.peek().is_some_and(|byte| !ends_word(byte) && byte != b'=');
        parts.text(b"=", false);
        if self.peek() == Some(b'(') {
            self.balanced(parts)?;
        } else if !followed {
            return Ok(());
        }
        let length = self.rest().iter().take_while(|byte| !ends_word(**byte)).count();
        let span = Span::new(self.place(start), self.place(self.at + length));
        self.doubt(SyntaxDoubtKind::Dialect, span, "zsh expands a word that starts with `=`");
        Ok(())
    }

    /// `(` here starts the qualifiers, or a group, of the pattern that started at `start`.
    pub(super) fn starts_qualifiers(&self, start: usize) -> bool {
        self.dialect.is_zsh() && self.at > start && self.peek_at(1) != Some(b')')
    }

    /// Reads `( … )` in a word: a group of alternatives, or glob qualifiers, of which some run code.
    pub(super) fn qualifiers(&mut self, parts: &mut Parts) -> Result<(), Fault> {
        let start = self.at;
        self.balanced(parts)?;
        let inside = self.text.get(start + 1..self.at - 1).unwrap_or_default();
        let runs = inside.iter().any(|byte| matches!(byte, b'e' | b'+' | b'$' | b'`'));
        if runs && !inside.contains(&b'|') {
            let span = self.span_from(start);
            self.doubt(SyntaxDoubtKind::Dialect, span, "glob qualifiers of zsh that may run code");
        }
        self.patch(start, vec![b'x'; self.at - start]);
        Ok(())
    }

    /// Flags and marks of zsh before the name.
    pub(super) fn zsh_flags(&mut self, start: usize) {
        if self.peek() == Some(b'(') {
            let length = self.rest().iter().take_while(|byte| !matches!(byte, b')' | b'}')).count();
            let flags = self.rest().get(1..length).unwrap_or_default();
            let known = flags.iter().all(|flag| b"fFsj.:,/0@uoOnaiULCqQkvwWc\\n".contains(flag));
            if !known {
                let end = (self.at + length + 1).min(self.text.len());
                let span = Span::new(self.place(start), self.place(end));
                self.doubt(SyntaxDoubtKind::Dialect, span, "flags of zsh that may expand the value again");
            }
            self.at += length;
            let _ = self.take(b")");
        }
        let marks = self.at;
        while matches!(self.peek(), Some(b'=' | b'~' | b'^' | b'+')) {
            self.at += 1;
        }
        self.doubt_splitting(start, marks);
    }

    /// `$=x` and `${=x}` are split into words, which is not followed.
    pub(super) fn doubt_splitting(&mut self, start: usize, marks: usize) {
        if self.text.get(marks..self.at).unwrap_or_default().contains(&b'=') {
            let span = Span::new(self.place(start), self.place(self.at));
            self.doubt(SyntaxDoubtKind::Dialect, span, "a value that zsh splits into words");
        }
    }

    /// `$=x`, `$~x`, `$^x`, `$+x`: how many bytes stand between `$` and the name.
    pub(super) fn zsh_marks(&self) -> usize {
        let marks = self.rest().iter().skip(1).take_while(|byte| matches!(byte, b'=' | b'~' | b'^' | b'+')).count();
        let named = self.peek_at(1 + marks).is_some_and(starts_name);
        if self.dialect.is_zsh() && named { marks } else { 0 }
    }

    /// What zsh takes after an unbraced parameter: a subscript and modifiers such as `:h`.
    pub(super) fn zsh_parameter(&mut self, parameter: &mut Parameter) -> Result<(), Fault> {
        if parameter.name == "#" && name_length(self.rest()) > 0 {
            let length = name_length(self.rest());
            parameter.name = String::from_utf8_lossy(self.rest().get(..length).unwrap_or_default()).into_owned();
            parameter.length = true;
            self.at += length;
        }
        if self.peek() == Some(b'[') && self.bracket_end(self.at + 1).is_some() {
            parameter.index = Some(self.subscript()?);
        }
        if self.peek() == Some(b':') && self.peek_at(1).is_some_and(|letter| b"aAcehlpPqQrtuxsgwf&".contains(&letter)) {
            let start = self.at + 1;
            self.at += 2;
            let text = self.text.get(start..self.at).unwrap_or_default().into();
            let word = Word { span: self.span_from(start), parts: vec![Part::Literal { text, quoted: true }] };
            parameter.operation = Some((":".to_owned(), vec![word]));
        }
        Ok(())
    }
}
