//! The file behind a program: what `make` runs is written in a Makefile, what `npm run` runs in a package.json.

use serde::{Deserialize, Serialize};

use super::notation::{Fault, condition};
use super::schema::{Condition, Language, List, Text};

/// Files in which is written what a call of a program runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Their language; [`Language::Other`]: what their `#!` line says.
    pub language: Language,
    /// Their names, as seen from the working directory; see [`Recipe::reach`].
    pub files: List<Text>,
    /// Which parts of them run, by name; empty: those that the operands name.
    pub parts: List<Text>,
    /// When the program looks at them.
    pub when: Condition,
}

/// Where a file of a recipe is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// In the working directory.
    Here,
    /// `.../NAME`: in the nearest of the folders from the working directory up to the project's root that holds one.
    Above,
    /// `**/NAME`: anywhere below the project, but only what the script itself has made or changed.
    Made,
}

impl Recipe {
    /// Where a file is looked for, and its name there.
    pub fn reach(file: &str) -> (Reach, &str) {
        if let Some(name) = file.strip_prefix(".../") {
            return (Reach::Above, name);
        }
        file.strip_prefix("**/").map_or((Reach::Here, file), |name| (Reach::Made, name))
    }
}

/// `LANGUAGE FILE… [of PART…] [if TOKENS] [unless TOKENS]`.
pub fn recipe(text: &str) -> Result<Recipe, Fault> {
    let mut words = text.split_whitespace().peekable();
    let word = words.next().unwrap_or_default();
    let language = Language::from_word(word).ok_or_else(|| format!("unknown language `{word}`"))?;
    let mut files: Vec<Text> = Vec::new();
    let mut parts: Vec<Text> = Vec::new();
    let mut named = false;
    while let Some(word) = words.next_if(|word| !matches!(*word, "if" | "unless")) {
        match word {
            "of" if !named => named = true,
            word if named => parts.push(word.to_owned().into()),
            word => files.push(word.to_owned().into()),
        }
    }
    if files.is_empty() || named && parts.is_empty() {
        return Err(format!("`{text}` is not `LANGUAGE FILE… [of PART…]`"));
    }
    Ok(Recipe { language, files: files.into(), parts: parts.into(), when: condition(words)? })
}
