//! The user's policy: layers of TOML, compiled, and what they say about facts.
