//! The log: what was decided, written down before anything runs.

pub mod log;
pub mod mask;
pub mod record;
pub mod verify;

/// `bytes` in lowercase hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    // By digits, not by `format!`: every start writes two digests.
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
