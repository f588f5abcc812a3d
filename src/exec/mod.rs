//! Becoming the real shell.
