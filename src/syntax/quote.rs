//! Quote removal: what the shell sees of `'…'`, `$'…'` and a backslash.

use std::borrow::Cow;

/// What a backslash and the byte after it are in double quotes, a here-document's body or arithmetic: the byte alone
/// if it is special there, else both.
pub(super) fn special_after_backslash(byte: u8, in_quotes: bool) -> bool {
    matches!(byte, b'$' | b'`' | b'\\') || (in_quotes && byte == b'"')
}

/// Whether zsh reads what is between the quotes of `$'…'` as bash does: it leaves out the backslash of what it does not
/// know, has other control characters, and goes on after a NUL.
pub(super) fn is_ansi_c_of_both(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'\\' {
            continue;
        }
        let Some((letter, after)) = rest.split_first() else { return false };
        rest = after;
        let digits = match letter {
            b'0' | b'x' => 2,
            b'u' => 4,
            _ if br#"abeEfnrtv\'"?1234567"#.contains(letter) => continue,
            _ => return false,
        };
        // Digits are needed, and not only zeros.
        let mut digits = after.iter().take(digits).take_while(|digit| digit.is_ascii_hexdigit());
        if digits.all(|digit| *digit == b'0') {
            return false;
        }
    }
    true
}

/// The bytes that `$'…'` stands for, from what is between its quotes. A NUL ends them, as in bash.
pub(super) fn ansi_c(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'\\') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let Some((&letter, after)) = rest.split_first() else {
            bytes.push(b'\\');
            break;
        };
        rest = after;
        match escape(letter, &mut rest) {
            Some(Escape::Byte(0)) => break,
            Some(Escape::Byte(value)) => bytes.push(value),
            Some(Escape::Character(value)) => {
                let mut buffer = [0; 4];
                let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                bytes.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
            }
            None => bytes.extend([b'\\', letter]),
        }
    }
    Cow::Owned(bytes)
}

enum Escape {
    Byte(u8),
    Character(u32),
}

/// What the escape with `letter` stands for; steps over what belongs to it.
fn escape(letter: u8, rest: &mut &[u8]) -> Option<Escape> {
    let byte = match letter {
        b'a' => 7,
        b'b' => 8,
        b'e' | b'E' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' | b'\'' | b'"' | b'?' => letter,
        b'0'..=b'7' => {
            let first = u32::from(letter - b'0');
            return Some(Escape::Byte(low_byte(number(rest, 8, 2, first).unwrap_or(first))));
        }
        b'x' => return hexadecimal(rest),
        b'u' => return number(rest, 16, 4, 0).map(character),
        b'U' => return number(rest, 16, 8, 0).map(character),
        b'c' => {
            let (&control, after) = rest.split_first()?;
            *rest = after;
            if control == b'\\' && rest.first() == Some(&b'\\') {
                *rest = rest.get(1..).unwrap_or_default();
            }
            return Some(Escape::Byte(if control == b'?' { 127 } else { control.to_ascii_uppercase() & 31 }));
        }
        _ => return None,
    };
    Some(Escape::Byte(byte))
}

/// `\xHH`, and bash's `\x{HHH}`.
fn hexadecimal(rest: &mut &[u8]) -> Option<Escape> {
    if let Some(mut braced) = rest.strip_prefix(b"{")
        && let Some(value) = number(&mut braced, 16, 8, 0)
    {
        *rest = braced.strip_prefix(b"}").unwrap_or(braced);
        return Some(Escape::Byte(low_byte(value)));
    }
    number(rest, 16, 2, 0).map(|value| Escape::Byte(low_byte(value)))
}

fn character(value: u32) -> Escape {
    u8::try_from(value).ok().filter(u8::is_ascii).map_or(Escape::Character(value), Escape::Byte)
}

fn low_byte(value: u32) -> u8 {
    value.to_le_bytes().first().copied().unwrap_or_default()
}

/// Reads up to `digits` digits after those in `first`; `None` if there is none.
fn number(rest: &mut &[u8], radix: u32, digits: usize, first: u32) -> Option<u32> {
    let length = rest.iter().take(digits).take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    let value = text.iter().fold(first, |value, byte| {
        value.wrapping_mul(radix).wrapping_add(char::from(*byte).to_digit(radix).unwrap_or_default())
    });
    (length > 0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::ansi_c;

    #[test]
    fn ansi_c_escapes_are_those_of_bash() {
        let rows: [(&[u8], &[u8]); 16] = [
            (b"plain", b"plain"),
            (br"\x72m", b"rm"),
            (br"\162\155", b"rm"),
            (br"\x{72}m", b"rm"),
            (br"\u0072\U0000006d", b"rm"),
            (br"\u00e9", b"\xc3\xa9"),
            (br"\a\b\e\E\f\n\r\t\v", b"\x07\x08\x1b\x1b\x0c\n\r\t\x0b"),
            (br#"\\\'\"\?"#, br#"\'"?"#),
            (br"\cA\ca\c?", b"\x01\x01\x7f"),
            (br"a\0b", b"a"),
            (br"a\x00b", b"a"),
            (br"\q\x", br"\q\x"),
            (br"\7777", b"\xff7"),
            (br"\xfff", b"\xfff"),
            (br"\u", br"\u"),
            (b"tail\\", b"tail\\"),
        ];
        for (text, expected) in rows {
            assert_eq!(ansi_c(text), expected, "{}", String::from_utf8_lossy(text));
        }
    }
}
