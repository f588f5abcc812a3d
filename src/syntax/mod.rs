//! Reading shell text into [`model::Script`]: tree-sitter-bash first, confirmed by an independent second reader.

pub mod model;

pub use model::{Dialect, Script};
