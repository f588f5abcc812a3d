//! One integration binary; a module per subject.

mod commands;
mod policy;
mod shell;
mod support;
mod syntax;
