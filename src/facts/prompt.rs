//! Prompts: texts that a shell expands each time it shows them.

use bstr::{BString, ByteSlice};

use super::value::{Piece, known};
use super::walker::{By, Walker};
use crate::syntax::Dialect;

impl Walker<'_> {
    /// A prompt is expanded. dash runs no commands for it, zsh only as an option says, which is doubted where it is set.
    pub(super) fn prompted(&mut self, text: &[Piece], by: By) {
        if !matches!(self.frame.dialect, Dialect::Bash | Dialect::BashPosix) {
            return;
        }
        if let Some(text) = known(text) {
            self.evaluated(&[Piece::Text(decoded(&text))], by);
        }
    }
}

/// What bash makes of a prompt's backslashes before it expands the rest as in double quotes.
pub fn decoded(text: &[u8]) -> BString {
    let mut out = BString::default();
    let mut rest = text;
    while let Some(slash) = rest.find_byte(b'\\') {
        let (before, after) = rest.split_at_checked(slash).unwrap_or((rest, b""));
        out.extend_from_slice(before);
        let escape = after.get(1..).unwrap_or_default();
        let digits = escape.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
        let octal = |value: u32, digit: &u8| value * 8 + u32::from(digit - b'0');
        match escape.first() {
            Some(b'0'..=b'7') => {
                let value = escape.iter().take(digits).fold(0, octal);
                out.push(u8::try_from(value & 0xff).unwrap_or_default());
            }
            Some(quoted @ (b'$' | b'\\')) => out.extend([b'\\', *quoted]),
            _ => {}
        }
        rest = escape.get(digits.max(1)..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}
