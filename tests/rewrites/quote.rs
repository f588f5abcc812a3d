//! Ways to quote.

use std::fmt::Write as _;

use crate::support::Random;

/// The text as one word, in one of the ways to quote.
pub fn text(text: &str, random: &mut Random) -> String {
    match random.below(3) {
        0 => single(text),
        1 => double(text),
        _ => ansi_c(text, random),
    }
}

pub fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn double(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        if matches!(letter, '"' | '\\' | '$' | '`') {
            out.push('\\');
        }
        out.push(letter);
    }
    out + "\""
}

/// `$'…'`, some bytes as escapes.
fn ansi_c(text: &str, random: &mut Random) -> String {
    let mut out = String::from("$'");
    for letter in text.chars() {
        match letter {
            '\'' | '\\' => out.extend(['\\', letter]),
            '\n' if random.below(2) == 0 => out.push_str("\\n"),
            letter if letter.is_ascii_alphanumeric() && random.below(8) == 0 => {
                let code = u32::from(letter);
                let _ = match random.below(3) {
                    0 => write!(out, "\\x{code:02x}"),
                    1 => write!(out, "\\{code:03o}"),
                    _ => write!(out, "\\u{code:04x}"),
                };
            }
            letter => out.push(letter),
        }
    }
    out + "'"
}

/// A plain word, quoted whole, in part or letter by letter.
pub fn word(word: &str, random: &mut Random) -> String {
    let (head, tail) = word.split_at(random.below(word.len()));
    match random.below(7) {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => format!("{head}'{tail}'"),
        3 => format!("\"{head}\"{tail}"),
        4 => format!("{head}\\{tail}"),
        5 => format!("{head}''{tail}"),
        _ => ansi_c(word, random),
    }
}
