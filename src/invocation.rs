//! How the binary was called.
