//! The front and the back of the line: what each shell makes of its arguments, and that it runs untouched.

mod compliance;
mod generator;
mod options;
mod preamble;
mod refusal;
