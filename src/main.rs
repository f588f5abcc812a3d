//! The binary: an entry point of its own, then the library.

#![no_main]

#[allow(unsafe_code, reason = "signals, descriptors and exec as C sees them; the only file that may")]
mod start;
