//! What programs do, as data: `*.toml` in this folder, compiled into static tables by the build.
//!
//! A table says how a program takes options, what each operand and option value *is* (its role), and which effects
//! the whole has. `docs/commands.md` describes the file format; `read` applies a table to arguments.
