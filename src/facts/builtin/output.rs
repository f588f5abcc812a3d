//! `echo` and `printf`: text that is known as far as its words are.

use bstr::{BString, ByteSlice};

use super::Called;
use crate::facts::expand::append;
use crate::facts::state::Value;
use crate::facts::value::{Argument, Piece, UnknownKind};
use crate::facts::walker::Walker;
use crate::syntax::Dialect;

pub(super) fn echo(walker: &mut Walker<'_>, called: &Called<'_>) {
    if walker.captures.is_empty() {
        return;
    }
    let takes_options = walker.dialect() != Dialect::Dash;
    let option = |argument: &&Argument| {
        argument.text().is_some_and(|text| match text.split_first() {
            Some((b'-', letters)) => !letters.is_empty() && letters.iter().all(|letter| b"neE".contains(letter)),
            _ => false,
        })
    };
    let options: Vec<_> = called.arguments.iter().take_while(option).filter(|_| takes_options).collect();
    let has = |letter: u8| options.iter().any(|option| option.prefix().contains(&letter));
    let escapes = has(b'e') || matches!(walker.dialect(), Dialect::Dash | Dialect::Zsh | Dialect::ZshSh);
    let mut line = Vec::new();
    for (number, argument) in called.arguments.iter().skip(options.len()).enumerate() {
        if number > 0 {
            append(&mut line, [Piece::Text(" ".into())]);
        }
        append(
            &mut line,
            argument.pieces.iter().map(|piece| match piece {
                Piece::Text(text) if escapes => Piece::Text(escaped(text)),
                // A pattern prints the names that match.
                Piece::Pattern(_) => Piece::unknown(UnknownKind::Any, "names that match a pattern"),
                piece => piece.clone(),
            }),
        );
    }
    if !has(b'n') {
        append(&mut line, [Piece::Text("\n".into())]);
    }
    walker.print(line);
}

pub(super) fn printf(walker: &mut Walker<'_>, called: &Called<'_>) {
    let mut arguments = called.arguments;
    let mut variable = None;
    if let [option, name, rest @ ..] = arguments
        && option.text().is_some_and(|text| &*text == "-v")
    {
        walker.evaluated(&name.pieces, called.by);
        variable = name.text().map(std::borrow::Cow::into_owned);
        arguments = rest;
    }
    if let [option, rest @ ..] = arguments
        && let Some(name) = option.prefix().strip_prefix(b"-v")
        && !name.is_empty()
    {
        let name = crate::facts::table::without(option, 2);
        walker.evaluated(&name.pieces, called.by);
        variable = name.text().map(std::borrow::Cow::into_owned);
        if variable.is_none() {
            walker.unsettle("a variable of a name that is not known is assigned");
        }
        arguments = rest;
    }
    if let [dashes, rest @ ..] = arguments
        && dashes.text().is_some_and(|text| &*text == "--")
    {
        arguments = rest;
    }
    if variable.is_none() && walker.captures.is_empty() {
        return;
    }
    let Some((format, values)) = arguments.split_first() else { return };
    let text = match format.text() {
        Some(format) if !values.iter().any(|value| value.many) => formatted(&format, values),
        _ => None,
    };
    let text = text.unwrap_or_else(|| {
        let kind =
            arguments.iter().map(|argument| Value::Scalar(argument.pieces.clone()).kind()).reduce(UnknownKind::or);
        vec![Piece::unknown(kind.unwrap_or(UnknownKind::Any), "what `printf` makes of words that are not known")]
    });
    match variable {
        Some(name) => walker.state.set(name.as_ref(), Value::Scalar(text)),
        None => walker.print(text),
    }
}

/// What `printf` makes of its words; `None` for formats that are not followed.
fn formatted(format: &[u8], values: &[Argument]) -> Option<Vec<Piece>> {
    let mut out = Vec::new();
    let mut values = values.iter();
    loop {
        let before = values.len();
        once(format, &mut values, &mut out)?;
        // The format is used again until the words are used up.
        if values.len() == 0 || values.len() == before {
            return Some(out);
        }
    }
}

fn once<'v>(format: &[u8], values: &mut impl Iterator<Item = &'v Argument>, out: &mut Vec<Piece>) -> Option<()> {
    let mut rest = format;
    while let Some(percent) = rest.find_byte(b'%') {
        let (text, directive) = rest.split_at_checked(percent)?;
        append(out, [Piece::Text(escaped(text))]);
        let letter = directive.get(1..)?;
        let flags = letter.iter().take_while(|byte| b"0123456789.- +#".contains(byte)).count();
        rest = letter.get(flags + 1..)?;
        match (letter.get(flags)?, flags) {
            (b'%', 0) => append(out, [Piece::Text("%".into())]),
            (b's', 0) => append(out, values.next().map(|value| value.pieces.clone()).unwrap_or_default()),
            (b'b', 0) => append(
                out,
                values.next().map(|value| value.pieces.clone()).unwrap_or_default().into_iter().map(
                    |piece| match piece {
                        Piece::Text(text) => Piece::Text(escaped(&text)),
                        piece => piece,
                    },
                ),
            ),
            (b'd' | b'i' | b'u' | b'x' | b'f' | b'g' | b'e', _) => {
                values.next();
                append(out, [Piece::unknown(UnknownKind::Number, "a number")]);
            }
            _ => return None,
        }
    }
    append(out, [Piece::Text(escaped(rest))]);
    Some(())
}

/// Backslash escapes of `echo -e` and `printf` formats.
fn escaped(text: &[u8]) -> BString {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(b'r') => out.push(b'\r'),
            Some(b'a') => out.push(7),
            Some(b'b') => out.push(8),
            Some(b'e' | b'E') => out.push(27),
            Some(b'f') => out.push(12),
            Some(b'v') => out.push(11),
            Some(b'\\') => out.push(b'\\'),
            Some(b'x') => number(&mut out, &mut bytes, 16, 2, b"\\x", 0),
            Some(digit @ b'0'..=b'7') => {
                // `\0NNN` in `echo`, `\NNN` in formats.
                let first = if digit == b'0' { 0 } else { u32::from(digit - b'0') };
                number(&mut out, &mut bytes, 8, if digit == b'0' { 3 } else { 2 }, b"", first);
            }
            Some(other) => out.extend([b'\\', other]),
            None => out.push(b'\\'),
        }
    }
    out.into()
}

fn number(
    out: &mut Vec<u8>,
    bytes: &mut std::iter::Peekable<impl Iterator<Item = u8>>,
    base: u32,
    digits: usize,
    otherwise: &[u8],
    first: u32,
) {
    let mut value = first;
    let mut count = 0;
    while count < digits {
        let Some(digit) = bytes.peek().and_then(|byte| char::from(*byte).to_digit(base)) else { break };
        value = value * base + digit;
        count += 1;
        bytes.next();
    }
    match (count, otherwise.is_empty()) {
        (0, false) => out.extend(otherwise),
        _ => out.push(u8::try_from(value & 0xff).unwrap_or(0)),
    }
}
