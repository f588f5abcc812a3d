//! What programs do, as data: `*.toml` in this folder, compiled into static tables by the build.
//!
//! A table says how a program takes options, what each operand and option value *is* (its role), and which effects
//! the whole has. `docs/commands.md` describes the file format; [`Table::read`] applies a table to arguments.

pub mod clause;
mod language;
pub mod load;
pub mod notation;
pub mod outline;
pub mod recipe;
pub mod schema;
pub mod user;

mod bind;
mod condition;
mod effects;
mod read;
mod reading;
mod render;
mod tables;
mod unlisted;

pub use reading::{Behind, Declared, Given, Reading, Tail, Use, Vague};
pub use recipe::{Reach, Recipe};
pub use schema::{Kind, Language, Program, Role, TailKind};
pub(crate) use tables::glob;
pub use tables::{Table, Tables};
