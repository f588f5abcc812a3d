//! The front and the back of the line: what each shell makes of its arguments, and that it runs untouched.

mod compliance;
mod doors;
mod generator;
mod input;
mod options;
mod preamble;
mod refusal;
