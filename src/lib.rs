//! vetsh, a shell that vets: the map.
//!
//! A command given to a shell travels one straight line, and every module is one stage of it:
//!
//! `argv → Invocation → Host → Policy → Script → Facts → Decision → Outcome → Record → Permit → exec`
//!
//! [`pipeline`] is that line as code. Everything between `Script` and `Decision` is pure: it sees the machine only
//! through [`host::Host`], so the same judgement runs in the shim, in `vetsh check` and in the tests.

#![forbid(unsafe_code)]

mod advice;
pub mod approval;
pub mod audit;
pub mod cli;
pub mod commands;
pub mod decision;
pub mod diagnostic;
pub mod excerpt;
pub mod exec;
pub mod exit;
pub mod explain;
pub mod facts;
pub mod host;
pub mod invocation;
pub mod judgement;
pub mod paths;
pub mod pipeline;
pub mod policy;
pub mod refusal;
pub mod shell;
pub mod syntax;
pub mod terminal_text;
mod toml_text;
