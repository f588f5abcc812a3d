//! One integration binary; a module per subject.

#![allow(unreachable_pub, missing_docs, reason = "nothing here is used from outside")]
#![allow(
    clippy::expect_used,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::similar_names,
    clippy::unwrap_used,
    reason = "a test that panics has failed, which is its job, and it may be slow to build a text"
)]

mod approvals;
mod audit;
mod check;
mod clients;
mod commands;
mod corpus;
mod docs;
mod facts;
mod inline;
mod install;
mod judged;
mod layering;
mod meanings;
mod oracle;
mod policy;
mod prompt;
mod pty;
mod question;
mod recipes;
mod repository;
mod rewrites;
mod shell;
mod support;
mod syntax;
mod tables;
