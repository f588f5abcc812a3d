//! A decision in words: text, JSON and the refusal.
