//! `$x`, `${x…}` and the special parameters.

use bstr::{BStr, BString, ByteSlice};

use super::field::{Bit, push};
use super::pattern;
use crate::facts::effect::Doubt;
use crate::facts::state::Value;
use crate::facts::value::{Argument, Piece, UnknownKind, first_unknown, known};
use crate::facts::walker::{By, Walker};
use crate::syntax::model::{Parameter, Word};

/// What a parameter is before its operator.
enum Got {
    Unset,
    One(Vec<Piece>),
    /// `$@`, `${a[@]}`; joined by `*` when quoted.
    List(Vec<Argument>, bool),
}

impl Walker<'_> {
    /// Expands a parameter into bits of a word.
    pub(super) fn parameter(&mut self, parameter: &Parameter, bits: &mut Vec<Bit>) {
        let quoted = parameter.quoted;
        let got = if parameter.indirect { self.indirect(parameter) } else { self.plain(parameter) };
        let got = if parameter.length { length(&got) } else { got };
        let got = match &parameter.operation {
            Some((operator, words)) => self.operate(parameter, operator, words, got),
            None => got,
        };
        match got {
            Got::Unset => bits.push(Bit::expanded(Piece::Text("".into()), quoted)),
            Got::One(pieces) => {
                if quoted {
                    bits.push(Bit::literal("".into(), true));
                }
                bits.extend(pieces.into_iter().map(|piece| Bit::expanded(piece, quoted)));
            }
            Got::List(items, star) => list(items, star, quoted, bits),
        }
    }

    fn plain(&mut self, parameter: &Parameter) -> Got {
        let name = parameter.name.as_str();
        match name {
            "@" | "*" => return Got::List((*self.state.positional).clone(), name == "*"),
            "#" => return Got::One(vec![self.count()]),
            "!" => return Got::One(vec![Piece::unknown(UnknownKind::Child, "the last command in the background")]),
            "?" | "$" => return Got::One(vec![Piece::unknown(UnknownKind::Number, "a number")]),
            "-" => return Got::One(vec![Piece::unknown(UnknownKind::Name, "the shell's options")]),
            "_" => return Got::One(vec![Piece::unknown(UnknownKind::Any, "$_ is the last argument")]),
            "0" => return Got::One(vec![Piece::Text(self.frame.zero.clone())]),
            _ => {}
        }
        if let Ok(number) = name.parse::<usize>() {
            return self.positional(number);
        }
        let index = parameter.index.as_ref().map(|index| self.expand_scalar(index));
        if let Some(index) = &index {
            self.arithmetic_names(index, By::script(self.at(parameter.span)));
        }
        self.value(name.into(), index.as_deref())
    }

    fn value(&mut self, name: &BStr, index: Option<&[Piece]>) -> Got {
        let values = self.variable(name);
        let value = match &*values {
            [value] => value.clone(),
            values => {
                let kind = values.iter().map(Value::kind).reduce(UnknownKind::or).unwrap_or(UnknownKind::Any);
                Value::unknown(kind, format!("${name} has one of several values here"))
            }
        };
        let all = index.and_then(known).is_some_and(|index| &*index == "@" || &*index == "*");
        match (value, index) {
            (Value::Unset, _) => Got::Unset,
            (Value::Scalar(pieces), None) => Got::One(pieces),
            (Value::Scalar(pieces), Some(_)) if first_unknown(&pieces).is_some() => {
                let kind = Value::Scalar(pieces).kind();
                let pieces = vec![Piece::unknown(kind, format!("the elements of ${name} are not known"))];
                if all {
                    Got::List(
                        vec![Argument { pieces, many: true, at: self.at(crate::diagnostic::Span::default()) }],
                        false,
                    )
                } else {
                    Got::One(pieces)
                }
            }
            (Value::Scalar(pieces), Some(_)) if all => Got::List(
                vec![Argument { pieces, many: false, at: self.at(crate::diagnostic::Span::default()) }],
                false,
            ),
            (Value::Scalar(pieces), Some(index)) => match self.arithmetic(index) {
                Piece::Text(number) if number == "0" => Got::One(pieces),
                Piece::Text(_) => Got::Unset,
                _ => Got::One(vec![Piece::unknown(UnknownKind::Any, format!("an element of ${name}"))]),
            },
            (Value::Array(items), _) if all => {
                Got::List(items, index.and_then(known).is_some_and(|index| &*index == "*"))
            }
            (Value::Array(items), index) => self.element(name, &items, index),
        }
    }

    fn element(&mut self, name: &BStr, items: &[Argument], index: Option<&[Piece]>) -> Got {
        let number = match index.map(|index| self.arithmetic(index)) {
            None if self.is_zsh() => return Got::List(items.to_vec(), false),
            None => Some(0),
            Some(Piece::Text(number)) => number.to_str().ok().and_then(|number| number.parse::<i64>().ok()),
            Some(_) => None,
        };
        // zsh counts from 1.
        let number = if self.is_zsh() { number.map(|number| number - 1) } else { number };
        let counted = |number: usize| !items.iter().take(number + 1).any(|item| item.many);
        match number.and_then(|number| usize::try_from(number).ok()) {
            Some(number) if counted(number) => {
                items.get(number).map_or(Got::Unset, |item| Got::One(item.pieces.clone()))
            }
            _ => {
                let kind = items
                    .iter()
                    .map(|item| Value::Scalar(item.pieces.clone()).kind())
                    .reduce(UnknownKind::or)
                    .unwrap_or(UnknownKind::Any);
                Got::One(vec![Piece::unknown(kind, format!("an element of ${name}"))])
            }
        }
    }

    pub(in crate::facts) fn is_zsh(&self) -> bool {
        matches!(self.frame.dialect, crate::syntax::Dialect::Zsh)
    }

    fn positional(&self, number: usize) -> Got {
        let items = &self.state.positional;
        let before = items.iter().take(number).any(|item| item.many);
        match number.checked_sub(1).and_then(|index| items.get(index)) {
            _ if before => Got::One(vec![Piece::unknown(UnknownKind::Any, format!("${number} is not known"))]),
            Some(item) => Got::One(item.pieces.clone()),
            None => Got::Unset,
        }
    }

    fn count(&self) -> Piece {
        if self.state.positional.iter().any(|item| item.many) {
            return Piece::unknown(UnknownKind::Number, "the number of arguments");
        }
        Piece::Text(self.state.positional.len().to_string().into())
    }

    /// `${!x}`: the variable that `x` names; `${!x@}`, `${!x[@]}`: names.
    fn indirect(&mut self, parameter: &Parameter) -> Got {
        if parameter.index.is_some() || parameter.operation.as_ref().is_some_and(|(operator, _)| operator == "@") {
            return Got::One(vec![Piece::unknown(UnknownKind::Any, "names of variables or indices")]);
        }
        let name = match self.value(parameter.name.as_str().into(), None) {
            Got::One(pieces) => known(&pieces).map(std::borrow::Cow::into_owned),
            _ => None,
        };
        match name {
            Some(name) if name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') => {
                self.value(name.as_ref(), None)
            }
            Some(name) => {
                let name = [Piece::Text(name)];
                let by = By::script(self.at(parameter.span));
                self.evaluated(&name, by);
                self.arithmetic_names(&name, by);
                Got::One(vec![Piece::unknown(UnknownKind::Any, "an element of an array")])
            }
            _ => Got::One(vec![Piece::unknown(
                UnknownKind::Any,
                format!("what ${{!{}}} names is not known", parameter.name),
            )]),
        }
    }

    fn operate(&mut self, parameter: &Parameter, operator: &str, words: &[Word], got: Got) -> Got {
        let test = operator.trim_start_matches(':');
        if operator != ":" && matches!(test, "-" | "=" | "+" | "?") {
            return self.default(parameter, operator, test, words, got);
        }
        if operator == "@P"
            && let Got::One(pieces) = &got
        {
            let by = By::script(self.at(parameter.span));
            self.prompted(pieces, by);
            if first_unknown(pieces).is_some_and(|unknown| unknown.kind == UnknownKind::Any) {
                self.doubt(Doubt::Script, by, format!("${} is expanded as a prompt, and not known", parameter.name));
            }
            return Got::One(vec![Piece::unknown(UnknownKind::Any, "a text expanded as a prompt")]);
        }
        let operands: Vec<Vec<Piece>> = words.iter().map(|word| self.expand_scalar(word)).collect();
        if operator == ":" {
            operands.iter().for_each(|operand| self.arithmetic_names(operand, By::script(self.at(parameter.span))));
        }
        match got {
            Got::Unset => Got::Unset,
            Got::One(pieces) => Got::One(self.transform(operator, &operands, pieces)),
            Got::List(items, star) if operator == ":" => self.slice(&operands, items, star),
            Got::List(items, star) => {
                let each = items.into_iter().map(|item| {
                    let pieces = self.transform(operator, &operands, item.pieces);
                    Argument { pieces, ..item }
                });
                Got::List(each.collect(), star)
            }
        }
    }

    /// `:-`, `:=`, `:+`, `:?` and the forms without a colon.
    fn default(&mut self, parameter: &Parameter, operator: &str, test: &str, words: &[Word], got: Got) -> Got {
        let colon = operator.starts_with(':');
        let set = match &got {
            Got::Unset => Some(false),
            Got::One(pieces) => match known(pieces) {
                Some(value) => Some(!(colon && value.is_empty())),
                None if has_text(pieces) || !colon => Some(true),
                None => None,
            },
            Got::List(items, _) if items.iter().any(|item| item.many) => None,
            Got::List(items, _) => Some(!items.is_empty()),
        };
        let word =
            |walker: &mut Self| -> Vec<Piece> { words.iter().flat_map(|word| walker.expand_scalar(word)).collect() };
        match (test, set) {
            ("-" | "=" | "?", Some(true)) => got,
            ("+", Some(false)) => Got::One(Vec::new()),
            // The shell ends here.
            ("?", Some(false)) => {
                word(self);
                self.state.ended = true;
                got
            }
            ("?", None) => match got {
                Got::One(pieces) => Got::One(pieces.into_iter().map(not_empty).collect()),
                got => got,
            },
            ("+", Some(true)) => Got::One(word(self)),
            ("=", Some(false)) => {
                let pieces = word(self);
                self.state.set(parameter.name.as_str().into(), Value::Scalar(pieces.clone()));
                Got::One(pieces)
            }
            (_, Some(false)) => Got::One(word(self)),
            // Either of two: the substitutions in the word run all the same.
            (_, None) => {
                let pieces = word(self);
                let kind = |pieces: &[Piece]| Value::Scalar(pieces.to_vec()).kind();
                let other = match &got {
                    Got::One(pieces) => kind(pieces),
                    _ => UnknownKind::Any,
                };
                let reason = format!("${} may be unset", parameter.name);
                let unknown = Piece::unknown(other.or(kind(&pieces)), reason);
                if test == "=" {
                    self.state.set(parameter.name.as_str().into(), Value::Scalar(vec![unknown.clone()]));
                }
                Got::One(vec![unknown])
            }
            (_, Some(true)) => got,
        }
    }

    fn slice(&self, operands: &[Vec<Piece>], items: Vec<Argument>, star: bool) -> Got {
        let number = |operand: Option<&Vec<Piece>>| match self.arithmetic(operand?) {
            Piece::Text(number) => number.to_str().ok()?.parse::<usize>().ok(),
            _ => None,
        };
        let (from, count) = (number(operands.first()), number(operands.get(1)));
        let (Some(from), true) = (from, operands.len() < 2 || count.is_some()) else {
            return Got::List(items.into_iter().map(|item| Argument { many: true, ..item }).collect(), star);
        };
        // `${@:0}` begins with `$0`, which is rarely meant: counting begins at 1 for the positional parameters.
        let from = from.saturating_sub(usize::from(!star && from > 0));
        Got::List(items.into_iter().skip(from).take(count.unwrap_or(usize::MAX)).collect(), star)
    }

    /// The operators that make another text of a value.
    fn transform(&self, operator: &str, operands: &[Vec<Piece>], pieces: Vec<Piece>) -> Vec<Piece> {
        let first = operands.first().map(Vec::as_slice).unwrap_or_default();
        if let (Some(text), true) = (known(&pieces), operands.iter().all(|operand| known(operand).is_some()))
            && let Some(done) = self.transform_known(operator, operands, &text)
        {
            return vec![Piece::Text(done)];
        }
        let kind = Value::Scalar(pieces.clone()).kind();
        let kept = match operator {
            // Removing a part leaves numbers numbers and words without slashes such.
            "#" | "##" | "%" | "%%" | ":" | "^" | "^^" | "," | ",," => kind,
            "@Q" => return pieces,
            _ if kind.is_tainted() => kind,
            _ => UnknownKind::Any,
        };
        let kept = match (kept, operator, known(first)) {
            (UnknownKind::TempPath, "%" | "%%", Some(suffix)) if !suffix.contains(&b'/') => UnknownKind::TempPath,
            (UnknownKind::TempPath, "##", Some(prefix)) if &*prefix == "*/" => UnknownKind::Name,
            (UnknownKind::TempPath, ..) => UnknownKind::Any,
            (UnknownKind::Any | UnknownKind::RelativePath, "##", Some(prefix)) if &*prefix == "*/" => UnknownKind::Name,
            (kept, ..) => kept,
        };
        // A suffix after the last known slash does not move a path elsewhere.
        if let ("%" | "%%", Some(Piece::Text(_)), Some(suffix)) = (operator, pieces.first(), known(first))
            && !suffix.contains(&b'/')
            && first_unknown(&pieces).is_some_and(|unknown| unknown.kind != UnknownKind::Any)
        {
            return pieces;
        }
        vec![Piece::unknown(kept, "part of a value that is not known")]
    }

    fn transform_known(&self, operator: &str, operands: &[Vec<Piece>], text: &BStr) -> Option<BString> {
        let operand =
            |index: usize| operands.get(index).and_then(|operand| known(operand)).map(std::borrow::Cow::into_owned);
        let first = operand(0).unwrap_or_default();
        match operator {
            "#" | "##" | "%" | "%%" => trim(operator, &first, text),
            "/" | "//" | "/#" | "/%" => replace(operator, &first, &operand(1).unwrap_or_default(), text),
            "^" | "^^" | "," | ",," if first.is_empty() => Some(cased(operator, text)),
            ":" => {
                let number = |index: usize| match self.arithmetic(operands.get(index)?) {
                    Piece::Text(number) => number.to_str().ok()?.parse::<i64>().ok(),
                    _ => None,
                };
                substring(text, number(0)?, if operands.len() > 1 { Some(number(1)?) } else { None })
            }
            "@U" => Some(text.to_ascii_uppercase().into()),
            "@L" => Some(text.to_ascii_lowercase().into()),
            "@u" => Some(cased("^", text)),
            _ => None,
        }
    }
}

/// A value that is not known, but not empty.
fn not_empty(piece: Piece) -> Piece {
    match piece {
        Piece::Unknown(unknown) if unknown.kind == UnknownKind::Any => {
            Piece::unknown(UnknownKind::NotEmpty, unknown.reason)
        }
        piece => piece,
    }
}

fn has_text(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| match piece {
        Piece::Text(text) => !text.is_empty(),
        Piece::Pattern(_) => true,
        Piece::Unknown(unknown) => unknown.kind.is_one_word(),
    })
}

fn length(got: &Got) -> Got {
    Got::One(vec![match got {
        Got::Unset => Piece::Text("0".into()),
        Got::One(pieces) => match known(pieces) {
            Some(text) if text.is_ascii() => Piece::Text(text.len().to_string().into()),
            _ => Piece::unknown(UnknownKind::Number, "a length"),
        },
        Got::List(items, _) if items.iter().any(|item| item.many) => Piece::unknown(UnknownKind::Number, "a length"),
        Got::List(items, _) => Piece::Text(items.len().to_string().into()),
    }])
}

/// `"$@"` makes a word of each, `"$*"` one of all, unquoted ones are split.
fn list(items: Vec<Argument>, star: bool, quoted: bool, bits: &mut Vec<Bit>) {
    let count = items.len();
    for (number, item) in items.into_iter().enumerate() {
        if item.many {
            bits.extend(item.pieces.into_iter().map(Bit::Many));
        } else {
            if quoted {
                bits.push(Bit::literal("".into(), true));
            }
            bits.extend(item.pieces.into_iter().map(|piece| Bit::expanded(piece, quoted)));
        }
        if number + 1 < count {
            bits.push(if star && quoted { Bit::literal(" ".into(), true) } else { Bit::Break });
        }
    }
}

/// `${x#p}` and its kin.
fn trim(operator: &str, pattern: &[u8], text: &BStr) -> Option<BString> {
    if text.len() > 1024 {
        return None;
    }
    let front = operator.starts_with('#');
    let longest = operator.len() == 2;
    let lengths: Box<dyn Iterator<Item = usize>> =
        if longest { Box::new((0..=text.len()).rev()) } else { Box::new(0..=text.len()) };
    for length in lengths {
        let (part, rest) = if front {
            (text.get(..length)?, text.get(length..)?)
        } else {
            (text.get(text.len() - length..)?, text.get(..text.len() - length)?)
        };
        if pattern::matches(pattern, part)? {
            return Some(rest.into());
        }
    }
    Some(text.to_owned())
}

/// `${x/p/r}` with a pattern that is plain text.
fn replace(operator: &str, pattern: &[u8], with: &[u8], text: &BStr) -> Option<BString> {
    if pattern.is_empty() {
        return Some(text.to_owned());
    }
    // `&` in the replacement can stand for the match.
    if pattern.iter().any(|byte| b"*?[\\+@!(".contains(byte)) || with.contains(&b'&') {
        return None;
    }
    Some(match operator {
        "//" => text.replace(pattern, with).into(),
        "/#" => text.strip_prefix(pattern).map_or_else(|| text.to_owned(), |rest| [with, rest].concat().into()),
        "/%" => text.strip_suffix(pattern).map_or_else(|| text.to_owned(), |rest| [rest, with].concat().into()),
        _ => text.replacen(pattern, with, 1).into(),
    })
}

fn cased(operator: &str, text: &BStr) -> BString {
    let case =
        |byte: &u8| if operator.starts_with('^') { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() };
    match (operator.len(), text.split_first()) {
        (2, _) => text.iter().map(case).collect::<Vec<_>>().into(),
        (_, Some((first, rest))) => [&[case(first)], rest].concat().into(),
        _ => text.to_owned(),
    }
}

/// `${x:from:count}` of ASCII text; negative numbers count from the end.
fn substring(text: &BStr, from: i64, count: Option<i64>) -> Option<BString> {
    if !text.is_ascii() {
        return None;
    }
    let length = i64::try_from(text.len()).ok()?;
    let start = if from < 0 { length + from } else { from.min(length) };
    let end = match count {
        None => length,
        Some(count) if count < 0 => length + count,
        Some(count) => start.checked_add(count)?.min(length),
    };
    if start < 0 || end < start {
        return Some(BString::default());
    }
    text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?).map(Into::into)
}

/// Adds pieces to others.
pub(in crate::facts) fn append(pieces: &mut Vec<Piece>, more: impl IntoIterator<Item = Piece>) {
    for piece in more {
        push(pieces, piece);
    }
}
