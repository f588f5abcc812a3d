//! How each shell reads its arguments, and where its script is.
