//! Matching a text against a template, from end to end.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use super::{Hole, Piece};

/// Deepest nesting of optional parts and lines; templates are far below.
const DEPTH: usize = 64;

/// What stood in the holes.
#[derive(Debug, Clone, Default)]
pub(super) struct Matched<'a> {
    pub(super) user: Option<Cow<'a, [u8]>>,
    pub(super) program: Option<Vec<u8>>,
    pub(super) files: Vec<PathBuf>,
}

/// The holes' content if the whole of `text` matches.
pub(super) fn matches<'a>(pieces: &[Piece], text: &'a [u8], home: &Path) -> Option<Matched<'a>> {
    Matcher { home }.follow(&[pieces], text, Matched::default())
}

struct Matcher<'h> {
    home: &'h Path,
}

impl Matcher<'_> {
    /// Matches the lists of pieces one after the other against all of `text`; the last list comes first.
    fn follow<'a>(&self, lists: &[&[Piece]], text: &'a [u8], mut matched: Matched<'a>) -> Option<Matched<'a>> {
        let Some((pieces, outer)) = lists.split_last() else {
            return text.trim_ascii().is_empty().then_some(matched);
        };
        let Some((piece, rest)) = pieces.split_first() else { return self.follow(outer, text, matched) };
        let mut lists = [outer, &[rest]].concat();
        match piece {
            Piece::Text(literal) => self.follow(&lists, skip(text, literal)?, matched),
            Piece::Optional(optional) => {
                if lists.len() > DEPTH {
                    return None;
                }
                let without = lists.clone();
                lists.push(optional);
                self.follow(&lists, text, matched.clone()).or_else(|| self.follow(&without, text, matched))
            }
            Piece::Hole(Hole::Raw) => self.raw(&lists, text, &matched),
            Piece::Hole(hole) => {
                let after = self.fill(*hole, text, &mut matched)?;
                self.follow(&lists, after, matched)
            }
        }
    }

    /// The user's part as it stands ends where the rest of the template begins for the last time.
    fn raw<'a>(&self, lists: &[&[Piece]], text: &'a [u8], matched: &Matched<'a>) -> Option<Matched<'a>> {
        let Some(Piece::Text(next)) = lists.last().and_then(|pieces| pieces.first()) else { return None };
        let mark = next.trim_end().as_bytes();
        let mut end = text.len();
        while let Some(at) = text.get(..end)?.rfind(mark) {
            let (user, rest) = text.split_at_checked(at)?;
            let matched = Matched { user: Some(Cow::Borrowed(user)), ..matched.clone() };
            if let Some(matched) = self.follow(lists, rest, matched) {
                return Some(matched);
            }
            // Only the last line break or bracket can be the template's; a few tries keep this linear.
            if text.len() - at > 512 {
                return None;
            }
            end = at + mark.len() - 1;
        }
        None
    }

    /// Takes a hole's content off `text`; what follows it.
    fn fill<'a>(&self, hole: Hole, text: &'a [u8], matched: &mut Matched<'a>) -> Option<&'a [u8]> {
        match hole {
            Hole::File(glob) => {
                let (path, after) = word(text)?;
                let glob = glob
                    .strip_prefix("~")
                    .map_or_else(|| glob.to_owned(), |rest| format!("{}{rest}", self.home.display()));
                if !fits(glob.as_bytes(), &path) || path.contains_str("/..") {
                    return None;
                }
                matched.files.push(PathBuf::from(path.to_os_str().ok()?));
                Some(after)
            }
            Hole::Program => {
                let (path, after) = word(text)?;
                matched.program = Some(path.into_owned());
                Some(after)
            }
            Hole::Command => {
                let (user, after) = word(text)?;
                matched.user = Some(user);
                Some(after)
            }
            Hole::Double => {
                let (user, after) = double(text)?;
                matched.user = Some(user.into());
                Some(after)
            }
            Hole::Word => Some(word(text)?.1),
            Hole::Name => take_while(text, |byte| byte.is_ascii_alphanumeric() || byte == b'_'),
            Hole::Number => take_while(text, |byte| byte.is_ascii_digit()),
            Hole::Lines(forms) => Some(self.lines(forms, text)),
            Hole::Raw => None,
        }
    }

    /// What follows the lines of these forms.
    fn lines<'a>(&self, forms: &[&[Piece]], mut text: &'a [u8]) -> &'a [u8] {
        while let Some((line, after)) = text.split_once_str("\n") {
            let known = |form: &&[Piece]| self.follow(&[form], line, Matched::default()).is_some();
            if !line.trim_ascii().is_empty() && !forms.iter().any(known) {
                break;
            }
            text = after;
        }
        text
    }
}

/// What follows `literal`; a line break in it also covers the blanks after it.
fn skip<'a>(mut text: &'a [u8], literal: &str) -> Option<&'a [u8]> {
    for (index, line) in literal.split('\n').enumerate() {
        if index > 0 {
            text = text.strip_prefix(b"\n")?.trim_ascii_start();
        }
        text = text.strip_prefix(line.as_bytes())?;
    }
    Some(text)
}

/// A word that needs no expansion, its quotes removed, and what follows it.
fn word(text: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:=@+,-%".contains(&byte);
    let mut word = Vec::new();
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        match first {
            b'\'' => {
                let (quoted, after) = after.split_once_str("'")?;
                word.extend_from_slice(quoted);
                rest = after;
            }
            b'"' => {
                let (quoted, after) = double(rest)?;
                word.extend_from_slice(&quoted);
                rest = after;
            }
            b'\\' => {
                let (&escaped, after) = after.split_first()?;
                if escaped == b'\n' {
                    return None;
                }
                word.push(escaped);
                rest = after;
            }
            byte if bare(byte) => {
                word.push(byte);
                rest = after;
            }
            b' ' | b'\n' | b';' | b')' => break,
            _ => return None,
        }
    }
    (rest.len() < text.len()).then(|| (word.into(), rest))
}

/// A double-quoted string without expansions, its quotes removed, and what follows it.
fn double(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut inside = Vec::new();
    loop {
        let (&first, after) = rest.split_first()?;
        rest = after;
        match first {
            b'"' => return Some((inside, rest)),
            b'$' | b'`' | b'!' => return None,
            b'\\' => {
                let (&escaped, after) = after.split_first()?;
                match escaped {
                    b'"' | b'\\' | b'$' | b'`' => inside.push(escaped),
                    _ => inside.extend_from_slice(&[b'\\', escaped]),
                }
                rest = after;
            }
            byte => inside.push(byte),
        }
    }
}

/// What follows at least one byte of this kind.
fn take_while(text: &[u8], kind: impl Fn(u8) -> bool) -> Option<&[u8]> {
    let count = text.iter().take_while(|byte| kind(**byte)).count();
    (count > 0).then(|| text.get(count..)).flatten()
}

/// Whether `text` fits a glob in which `*` is any run without a slash.
pub(super) fn fits(glob: &[u8], text: &[u8]) -> bool {
    let Some((literal, rest)) = glob.split_once_str("*") else { return glob == text };
    let Some(text) = text.strip_prefix(literal) else { return false };
    let run = text.find_byte(b'/').unwrap_or(text.len());
    (0..=run).any(|skipped| text.get(skipped..).is_some_and(|text| fits(rest, text)))
}
