//! The product on one page.
