//! One integration binary; a module per subject.

#![allow(unreachable_pub, dead_code, reason = "modules of one binary share their support")]

mod support;

mod shell;
