//! One integration binary; a module per subject.

mod commands;
mod shell;
mod support;
mod syntax;
