//! Where vetsh's files are, and the names of environment variables.
