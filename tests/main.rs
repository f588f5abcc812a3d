//! One integration binary; a module per subject.

#![allow(unreachable_pub, missing_docs, reason = "nothing here is used from outside")]

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
mod policy;
mod prompt;
mod pty;
mod question;
mod shell;
mod support;
mod syntax;
