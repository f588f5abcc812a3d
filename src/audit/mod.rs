//! The log: what was decided, written down before anything runs.

pub mod log;
pub mod mask;
pub mod record;
pub mod verify;

use std::fmt::Write as _;

/// `bytes` in lowercase hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
