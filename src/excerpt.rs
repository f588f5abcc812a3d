//! Lines of a text with a place in them underlined.

use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

use annotate_snippets::{Annotation, AnnotationKind, Level, Origin, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, Span};
use crate::terminal_text;

/// The lines of a text that a span stands on, as a terminal may show them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The lines.
    pub text: String,
    /// Number of the first one, from 1.
    pub line: usize,
    /// The span, in bytes of these lines.
    pub span: Range<usize>,
}

impl Excerpt {
    /// Cuts the lines of `span` out of `text`; what could deceive on a terminal is written out.
    pub fn of(text: &[u8], span: Span) -> Self {
        let end = span.end.min(text.len());
        let start = span.start.min(end);
        let (before, rest) = text.split_at(start);
        let (inside, after) = rest.split_at(end - start);
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let line = 1 + before.split(|&byte| byte == b'\n').skip(1).count();
        let before = terminal_text::block(before.get(line_start..).unwrap_or_default());
        let inside = terminal_text::block(inside);
        let after = terminal_text::block(after.split(|&byte| byte == b'\n').next().unwrap_or_default());
        let span = before.len()..before.len() + inside.len();
        Self { text: before + &inside + &after, line, span }
    }

    /// The excerpt as a snippet of the file `name`, with the span underlined and `label` under it.
    pub fn snippet<'a>(&'a self, name: &'a str, label: &'a str) -> Snippet<'a, Annotation<'a>> {
        let annotation = AnnotationKind::Primary.span(self.span.clone());
        let annotation = if label.is_empty() { annotation } else { annotation.label(label) };
        Snippet::source(self.text.as_str()).line_start(self.line).path(name).annotation(annotation)
    }
}

impl Diagnostic {
    /// The message with the place it points at; `source` is the file's content, empty if it cannot be had.
    pub fn render(&self, source: &[u8]) -> String {
        let path = terminal_text::line(self.path.as_os_str().as_bytes());
        let excerpt = self.span.map(|span| Excerpt::of(source, span));
        let help = self.help.as_ref().map(|help| Level::HELP.message(help.as_str()));
        let title = Level::ERROR.primary_title(self.message.as_str());
        let mut group = match &excerpt {
            Some(excerpt) => title.element(excerpt.snippet(&path, "")),
            None => title.element(Origin::path(path.as_str())),
        };
        if let Some(help) = help {
            group = group.element(help);
        }
        Renderer::plain().render(&[group])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_points_at_its_place() {
        let source = b"version = 1\nmode = \"outo\"\n";
        let diagnostic = Diagnostic {
            path: "/home/user/policy.toml".into(),
            span: Some(Span::new(19, 25)),
            message: "no mode has this name".into(),
            help: Some("write read-only, ask, auto or full".into()),
        };
        let expected = "\
error: no mode has this name
 --> /home/user/policy.toml:2:8
  |
2 | mode = \"outo\"
  |        ^^^^^^
  |
  = help: write read-only, ask, auto or full";
        assert_eq!(diagnostic.render(source), expected);
    }

    #[test]
    fn an_excerpt_escapes_what_deceives() {
        let excerpt = Excerpt::of(b"one\ntwo\x1b[2J three\xff\nfour", Span::new(12, 17));
        assert_eq!(&excerpt.text[excerpt.span.clone()], "three");
        assert_eq!((excerpt.text.as_str(), excerpt.line), ("two\\x1b[2J three\\xff", 2));
        assert_eq!(Excerpt::of(b"short", Span::new(99, 100)).text, "short");
    }
}
