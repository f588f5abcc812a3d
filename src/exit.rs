//! Exit codes, and the two lines that must be printed when nothing else works any more.

/// All went well; `vetsh check`: it would run.
pub const SUCCESS: i32 = 0;
/// `vetsh policy check`: something is wrong with the policy.
pub const FAULTY: i32 = 1;
/// `vetsh` was used wrongly.
pub const USAGE: i32 = 2;
/// `vetsh check`: a human would be asked.
pub const WOULD_ASK: i32 = 10;
/// `vetsh check`: it would not run.
pub const WOULD_DENY: i32 = 11;
/// Nothing was run. Shells use the same code for "found but not executed", and no agent retries or installs on it.
pub const REFUSED: i32 = 126;

/// Printed by the handler of fatal signals, which may neither allocate nor format.
pub const FAULT: &str = "vetsh: denied: internal error: vetsh was stopped by a fatal signal before it came to a decision. \
                         Nothing was run. Do not work around this; tell the user.\n";
/// Printed with the place of a panic.
pub const PANIC: &str = "vetsh: denied: internal error: vetsh panicked before it came to a decision";
/// Printed where memory ran out.
pub const EXHAUSTED: &str = "vetsh: denied: out of memory before vetsh came to a decision. Nothing was run. Do not work \
                             around this; tell the user.\n";
