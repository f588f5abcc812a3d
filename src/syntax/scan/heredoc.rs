//! Here-documents: the delimiter on the line, the body below it.

use bstr::BString;

use super::{Fault, Scanner, ends_word};
use crate::diagnostic::Span;
use crate::syntax::model::{Dialect, Part, Word};

/// How the body of a here-document ends.
pub(super) struct Delimiter {
    /// The word after quote removal.
    text: Vec<u8>,
    /// Some of it was quoted: nothing in the body is expanded.
    quoted: bool,
    /// `<<-`: tabs at the start of lines are removed.
    strips_tabs: bool,
}

impl Scanner<'_> {
    /// Reads the word after `<<`.
    pub(super) fn delimiter(&mut self, strips_tabs: bool) -> Result<Delimiter, Fault> {
        let mut delimiter = Delimiter { text: Vec::new(), quoted: false, strips_tabs };
        let start = self.at;
        while let Some(byte) = self.peek().filter(|byte| !ends_word(*byte)) {
            self.at += 1;
            match byte {
                b'\\' if self.take(b"\n") => {}
                b'\\' => {
                    delimiter.quoted = true;
                    delimiter.text.extend(self.peek());
                    self.at += 1;
                }
                b'\'' | b'"' => {
                    delimiter.quoted = true;
                    self.quoted_delimiter(byte, &mut delimiter.text)?;
                }
                b'$' if matches!(self.peek(), Some(b'\'' | b'"' | b'(' | b'{')) => {
                    return Err(Fault::syntax("a here-document delimiter with an expansion"));
                }
                b'`' => return Err(Fault::syntax("a here-document delimiter with a substitution")),
                other => delimiter.text.push(other),
            }
        }
        if self.at == start {
            return Err(Fault::syntax("a here-document without a delimiter"));
        }
        Ok(delimiter)
    }

    fn quoted_delimiter(&mut self, quote: u8, text: &mut Vec<u8>) -> Result<(), Fault> {
        loop {
            let byte = self.peek().ok_or(Fault::syntax("a quote that is not closed"))?;
            self.at += 1;
            match byte {
                b'\n' => return Err(Fault::syntax("a here-document delimiter of two lines")),
                b'\\' if quote == b'"' && matches!(self.peek(), Some(b'"' | b'\\' | b'$' | b'`')) => {
                    text.extend(self.peek());
                    self.at += 1;
                }
                other if other == quote => return Ok(()),
                other => text.push(other),
            }
        }
    }

    /// Reads a body that starts here, and steps over the line that ends it. A body that nothing ends reaches to the
    /// end of the text, as in every shell.
    pub(super) fn here_document(&mut self, delimiter: &Delimiter) -> Word {
        let start = self.at;
        let (end, next) = self.body_end(delimiter);
        self.at = next;
        let text = self.text.get(..end).unwrap_or_default();
        let span = Span::new(self.place(start), self.place(end));
        let parts = self.inner(text, start, self.origin).and_then(|mut inner| {
            inner.strips_tabs = delimiter.strips_tabs;
            let parts = if delimiter.quoted { Ok(inner.quoted_body()) } else { inner.here_body() };
            self.merge(inner);
            parts
        });
        // The shell reads what a body expands only when it runs the command.
        let parts = parts.unwrap_or_else(|fault| vec![Part::Opaque(self.unread(span, &fault))]);
        Word { span, parts }
    }

    /// Where the body ends and where the text goes on after it.
    fn body_end(&self, delimiter: &Delimiter) -> (usize, usize) {
        let mut line_start = self.at;
        let mut logical: Vec<u8> = Vec::new();
        let mut logical_start = line_start;
        while line_start < self.text.len() {
            let rest = self.text.get(line_start..).unwrap_or_default();
            let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let next = (line_start + length + 1).min(self.text.len());
            let mut line = rest.get(..length).unwrap_or_default();
            if delimiter.strips_tabs && logical.is_empty() {
                line = line.trim_ascii_start_tabs();
            }
            let goes_on = !delimiter.quoted && next > line_start + length && ends_in_odd_backslashes(line);
            if goes_on {
                logical.extend(line.get(..line.len() - 1).unwrap_or_default());
            } else {
                let whole = logical.is_empty() && logical_start == line_start;
                let ends = if whole {
                    line == delimiter.text
                } else {
                    // dash looks for the delimiter before it joins lines.
                    self.dialect != Dialect::Dash && [&logical, line].concat() == delimiter.text
                };
                if ends {
                    return (logical_start, next);
                }
                logical.clear();
                logical_start = next;
            }
            line_start = next;
        }
        (self.text.len(), self.text.len())
    }

    /// The body below a quoted delimiter.
    fn quoted_body(&mut self) -> Vec<Part> {
        let raw = self.rest();
        self.at = self.text.len();
        let text = if self.strips_tabs {
            let mut text = Vec::with_capacity(raw.len());
            raw.split_inclusive(|byte| *byte == b'\n').for_each(|line| text.extend(line.trim_ascii_start_tabs()));
            BString::from(text)
        } else {
            BString::from(raw)
        };
        if text.is_empty() { Vec::new() } else { vec![Part::Literal { text, quoted: true }] }
    }
}

trait Tabs {
    /// Without the tabs at its start.
    fn trim_ascii_start_tabs(&self) -> &Self;
}

impl Tabs for [u8] {
    fn trim_ascii_start_tabs(&self) -> &Self {
        let tabs = self.iter().take_while(|byte| **byte == b'\t').count();
        self.get(tabs..).unwrap_or_default()
    }
}

fn ends_in_odd_backslashes(line: &[u8]) -> bool {
    line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}
