//! Words to arguments, as the shell would expand them, as far as the text and the environment tell.

mod arithmetic;
mod brace;
mod field;
mod parameter;
mod pattern;
mod substitution;

use bstr::{BStr, BString, ByteSlice};

use super::effect::Doubt;
use super::value::{Argument, ITEM, MAX_SIZE, Piece, TOO_LONG, UnknownKind};
use super::walker::{By, Walker};
use crate::syntax::Dialect;
use crate::syntax::model::{Parameter, Part, Word};

use field::Bit;
pub(super) use parameter::append;
pub(super) use pattern::matches as pattern_matches;

/// Builtins that take assignments as words.
const DECLARING: &[&str] = &["export", "readonly", "declare", "typeset", "local"];

/// A word with more brace alternatives than this is not written out.
const MAX_BRACES: usize = 256;

/// A word with braces in more unquoted text than this, in bytes, is not written out.
const MAX_BRACED: usize = 4096;

impl Walker<'_> {
    /// All words of a command, expanded.
    pub(super) fn expand(&mut self, words: &[Word]) -> Vec<Argument> {
        let mut arguments = Vec::with_capacity(words.len());
        for word in words {
            arguments.extend(self.expand_word(word));
        }
        arguments
    }

    /// The words of a command; what `export` and its like assign is not split.
    pub(super) fn expand_command(&mut self, words: &[Word]) -> Vec<Argument> {
        let name = words.first().map(|word| word.parts.as_slice());
        let declares = match name {
            Some([Part::Literal { text, .. }]) => DECLARING.iter().any(|builtin| text == builtin),
            _ => false,
        };
        if !declares {
            return self.expand(words);
        }
        let each = words.iter().flat_map(|word| match value_start(&word.parts) {
            Some(start) => self.declared_words(word, start),
            None => self.expand_word(word),
        });
        each.collect()
    }

    /// `NAME=value` as an argument, or several: to bash they are words, whose braces stand for words.
    fn declared_words(&mut self, word: &Word, start: usize) -> Vec<Argument> {
        if !matches!(self.frame.dialect, Dialect::Bash | Dialect::BashPosix) || !brace::may_expand(&word.parts) {
            return vec![self.declared_word(word, start)];
        }
        let Some(words) = brace::expand(&word.parts, MAX_BRACES) else { return self.expand_word(word) };
        words.into_iter().map(|parts| self.declared_word(&Word { parts, ..word.clone() }, start)).collect()
    }

    /// `NAME=value` as one argument: the value is expanded as that of an assignment.
    fn declared_word(&mut self, word: &Word, start: usize) -> Argument {
        let mut value = word.parts.clone();
        let mut pieces = Vec::new();
        if let Some(Part::Literal { text, .. }) = value.first_mut() {
            let tail = text.split_off(start);
            pieces.push(Piece::Text(std::mem::replace(text, tail.into())));
        }
        append(&mut pieces, self.expand_joined(&value, true));
        Argument { pieces, many: false, at: self.at(word.span) }
    }

    /// One word: none, one or several arguments.
    pub(super) fn expand_word(&mut self, word: &Word) -> Vec<Argument> {
        let at = self.at(word.span);
        if let [Part::Literal { text, quoted }] = word.parts.as_slice()
            && (*quoted || is_plain(text))
        {
            return vec![Argument::known(text.clone(), at)];
        }
        if self.has_braces() && brace::may_expand(&word.parts) {
            return if let Some(words) = self.braces(&word.parts) {
                words.iter().flat_map(|parts| self.fields_of(parts, at)).collect()
            } else {
                self.doubt(Doubt::Limit, By::script(at), "braces that stand for very many words");
                let pieces = vec![Piece::unknown(UnknownKind::Any, "braces that stand for very many words")];
                vec![Argument { pieces, many: true, at }]
            };
        }
        self.fields_of(&word.parts, at)
    }

    /// The words that a word's braces stand for; `None` if they are too many for the word or for the script.
    fn braces(&mut self, parts: &[Part]) -> Option<Vec<Vec<Part>>> {
        let written: usize = parts.iter().map(unquoted).sum();
        if written > MAX_BRACED || !self.spend(1) {
            return None;
        }
        let words = brace::expand(parts, MAX_BRACES);
        // To find that there are too many takes as long as to write out as many as there may be.
        let size = words.as_ref().map_or(MAX_BRACES * ITEM, |words| words.iter().map(|word| size_of_parts(word)).sum());
        words.filter(|_| self.spend(size))
    }

    /// A word that stays one: the right-hand side of an assignment, a `case` word, a here-document.
    pub(super) fn expand_scalar(&mut self, word: &Word) -> Vec<Piece> {
        self.expand_joined(&word.parts, true)
    }

    fn expand_joined(&mut self, parts: &[Part], tilde: bool) -> Vec<Piece> {
        let bits = self.bits(parts, tilde);
        field::joined(bits)
    }

    fn fields_of(&mut self, parts: &[Part], at: super::Location) -> Vec<Argument> {
        let bits = match self.value_tilde(parts) {
            // bash expands `~` in whatever looks like an assignment: `make PREFIX=~/x`.
            Some((name, value)) => {
                let mut bits = vec![Bit::literal(name, false)];
                bits.extend(self.bits(&value, true));
                bits
            }
            None => self.bits(parts, true),
        };
        let separators = self.separators();
        let globs = if self.state.options.noglob { None } else { Some(self.state.options.extglob) };
        field::split(bits, separators.as_ref(), globs, at)
    }

    /// `NAME=` and the parts of a value that begins with `~`.
    fn value_tilde(&self, parts: &[Part]) -> Option<(BString, Vec<Part>)> {
        let start = value_start(parts)?;
        let Some((Part::Literal { text, quoted }, rest)) = parts.split_first() else { return None };
        if self.frame.dialect != Dialect::Bash || text.get(start) != Some(&b'~') {
            return None;
        }
        let (name, value) = text.split_at_checked(start)?;
        let first = Part::Literal { text: BStr::new(value).into(), quoted: *quoted };
        Some((name.into(), std::iter::once(first).chain(rest.iter().cloned()).collect()))
    }

    /// The bytes at which unquoted expansions are split.
    pub(super) fn separators(&self) -> BString {
        match &*self.variable(BStr::new("IFS")) {
            [super::state::Value::Scalar(pieces)] => {
                super::value::known(pieces).map_or_else(|| " \t\n".into(), std::borrow::Cow::into_owned)
            }
            _ => " \t\n".into(),
        }
    }

    fn has_braces(&self) -> bool {
        matches!(self.frame.dialect, Dialect::Bash | Dialect::BashPosix | Dialect::Zsh | Dialect::ZshSh)
    }

    /// The parts of a word with their expansions done, before splitting.
    fn bits(&mut self, parts: &[Part], tilde: bool) -> Vec<Bit> {
        let mut bits = Vec::with_capacity(parts.len());
        // What expansions gave, the text as written aside: that is no longer than the script.
        let mut gained = 0;
        for (number, part) in parts.iter().enumerate() {
            let start = bits.len();
            match part {
                Part::Literal { text, quoted } => {
                    let mut text = BStr::new(text);
                    if number == 0
                        && tilde
                        && !quoted
                        && text.first() == Some(&b'~')
                        && let Some((home, rest)) = self.tilde(text, parts.len() == 1)
                    {
                        bits.push(Bit::quoted(home));
                        text = rest;
                    }
                    bits.push(Bit::literal(text.to_owned(), *quoted));
                }
                Part::Parameter(parameter) => {
                    self.parameter(parameter, &mut bits);
                    // zsh splits what commands print, not what parameters hold.
                    if self.frame.dialect == Dialect::Zsh && substitutes(parameter) {
                        bits.truncate(start);
                        bits.push(Bit::Many(Piece::unknown(UnknownKind::Any, "zsh splits a part of this value")));
                    } else if self.frame.dialect == Dialect::Zsh {
                        bits.iter_mut().skip(start).for_each(Bit::keep_whole);
                    }
                }
                Part::CommandSubstitution { body, quoted, span } => {
                    let pieces = self.substitution(body, self.at(*span));
                    bits.extend(pieces.into_iter().map(|piece| Bit::expanded(piece, *quoted)));
                    if *quoted {
                        bits.push(Bit::literal("".into(), true));
                    }
                }
                Part::ProcessSubstitution { body, output, span } => {
                    bits.push(Bit::quoted(self.process_substitution(body, *output, self.at(*span))));
                }
                Part::Arithmetic { parts, span } => {
                    let inner = self.expand_joined(parts, false);
                    self.arithmetic_names(&inner, By::script(self.at(*span)));
                    bits.push(Bit::expanded(self.arithmetic(&inner), false));
                }
                Part::Opaque(opaque) => {
                    let at = self.at(opaque.span);
                    self.doubt(Doubt::Syntax, By::script(at), opaque.reason.clone());
                    bits.push(Bit::expanded(Piece::unknown(UnknownKind::Any, opaque.reason.clone()), false));
                }
            }
            if !matches!(part, Part::Literal { .. }) {
                self.shorten(&mut bits, start, &mut gained);
            }
        }
        bits
    }

    /// Replaces what one expansion gave, from `start` on, if the word or the script has become too long to be followed.
    fn shorten(&mut self, bits: &mut Vec<Bit>, start: usize, gained: &mut usize) {
        let size = bits.iter().skip(start).map(Bit::size).sum::<usize>();
        *gained += size;
        if *gained <= MAX_SIZE && self.spend(size) {
            return;
        }
        let kinds = bits.iter().skip(start).filter_map(Bit::kind);
        let kind = kinds.reduce(UnknownKind::or).filter(|kind| kind.is_tainted()).unwrap_or(UnknownKind::Any);
        bits.truncate(start);
        bits.push(Bit::Many(Piece::unknown(kind, TOO_LONG)));
    }

    /// The home folder for a leading `~`, and what follows.
    fn tilde<'t>(&self, text: &'t BStr, alone: bool) -> Option<(Piece, &'t BStr)> {
        let end = text.find_byte(b'/').unwrap_or(text.len());
        // `~$user` is no tilde expansion.
        if end == text.len() && !alone {
            return None;
        }
        let (user, rest) = text.split_at_checked(end)?;
        let home = match user.get(1..)? {
            b"" => match &*self.variable(BStr::new("HOME")) {
                [super::state::Value::Scalar(pieces)] if !pieces.is_empty() => super::value::known(pieces).map_or_else(
                    || Piece::unknown(UnknownKind::Any, "$HOME is not known"),
                    |home| Piece::Text(home.into_owned()),
                ),
                _ => Piece::Text(super::place::shown(self.host.home())),
            },
            b"+" => match &*self.variable(BStr::new("PWD")) {
                [value] => first_piece(value.clone()),
                _ => Piece::unknown(UnknownKind::Any, "$PWD has one of several values here"),
            },
            b"-" => Piece::unknown(UnknownKind::Any, "the folder before the last `cd`"),
            // `~1`, `~+1`, `~-1`.
            [b'+' | b'-' | b'0'..=b'9', number @ ..] if number.iter().all(u8::is_ascii_digit) => {
                Piece::unknown(UnknownKind::Any, "a folder that `pushd` keeps")
            }
            b"root" => Piece::Text("/root".into()),
            user if user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte)) => {
                Piece::Text([b"/home/", user].concat().into())
            }
            _ => return None,
        };
        Some((home, rest.as_bstr()))
    }
}

fn first_piece(value: super::state::Value) -> Piece {
    match value {
        super::state::Value::Scalar(mut pieces) if pieces.len() == 1 => {
            pieces.pop().unwrap_or_else(|| Piece::Text("".into()))
        }
        _ => Piece::unknown(UnknownKind::Any, "the working directory"),
    }
}

/// How much of a part braces could stand in.
fn unquoted(part: &Part) -> usize {
    if let Part::Literal { text, quoted: false } = part { text.len() } else { 0 }
}

/// What it takes to keep a word, about, in bytes.
fn size_of_parts(parts: &[Part]) -> usize {
    let size = |part: &Part| if let Part::Literal { text, .. } = part { ITEM + text.len() } else { ITEM };
    parts.iter().map(size).sum()
}

/// Where the value begins in `NAME=…` and `NAME+=…`.
fn value_start(parts: &[Part]) -> Option<usize> {
    let Some(Part::Literal { text, quoted: false }) = parts.first() else { return None };
    let name = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let rest = text.get(name..).unwrap_or_default();
    match (name, rest.first(), rest.get(1)) {
        (0, ..) => None,
        (_, Some(b'='), _) => Some(name + 1),
        (_, Some(b'+'), Some(b'=')) => Some(name + 2),
        _ => None,
    }
}

/// Nothing in it is special to expansion.
fn is_plain(text: &[u8]) -> bool {
    !text.iter().any(|byte| b"~{*?[(^#=\\".contains(byte))
}

/// Whether the operands of an unquoted parameter run commands.
fn substitutes(parameter: &Parameter) -> bool {
    let operands = parameter.operation.iter().flat_map(|(_, words)| words).flat_map(|word| &word.parts);
    !parameter.quoted
        && operands.into_iter().any(|part| match part {
            Part::CommandSubstitution { quoted, .. } => !quoted,
            Part::Parameter(inner) => substitutes(inner),
            _ => false,
        })
}
