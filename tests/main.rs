//! One integration binary; a module per subject.

#![allow(unreachable_pub, missing_docs, reason = "nothing here is used from outside")]
#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that panics has failed, which is its job"
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
mod policy;
mod prompt;
mod pty;
mod question;
mod shell;
mod support;
mod syntax;
