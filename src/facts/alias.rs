//! Names that a repository's settings give to subcommands of their own.

use bstr::ByteSlice;

use super::inline::settings::settings;
use super::nested::Nested;
use super::state::Folder;
use super::table::Judged;
use super::value::{Argument, Piece};
use super::walker::Walker;
use crate::commands::{Language, Reading};
use crate::syntax::Dialect;

impl Walker<'_> {
    /// What a subcommand that no table lists stands for by the settings of the repository at hand.
    pub(super) fn subcommand_alias(&self, reading: &Reading<'_>) -> Option<String> {
        let word = reading.subcommand.last().filter(|_| reading.unlisted && !self.frame.remote)?;
        let settled = reading.recipes.iter().find(|behind| behind.recipe.language == Language::GitConfig)?;
        let files = self.recipe_files(settled.recipe).into_iter().map(|(file, _)| file);
        let path = format!("alias.{word}").to_lowercase();
        let texts =
            files.filter(|file| self.left_by_script(file).is_none()).filter_map(|file| self.host.read(&file).ok());
        let found = texts.filter_map(|text| {
            settings(&text.to_str_lossy())
                .into_iter()
                .rfind(|setting| setting.path == path)
                .map(|setting| setting.value)
        });
        found.last()
    }

    /// Runs what a subcommand stands for: words of the same program, or shell text that starts in the tree's root. The
    /// arguments are appended.
    pub(super) fn run_alias(&mut self, text: &str, words: &[Argument], judged: &Judged<'_>) {
        let shell = text.strip_prefix('!');
        if let (Some(_), Some(root)) = (shell, self.state.cwd.path().and_then(|cwd| self.host.tree_of(cwd))) {
            self.state.cwd = Folder::Known(vec![root]);
        }
        let line = match shell {
            Some(line) => format!("{line} \"$@\""),
            None => format!("{} {text} \"$@\"", judged.name),
        };
        let word = judged.reading.subcommand.last();
        let at = words.iter().position(|argument| argument.text().as_deref() == word.map(AsRef::as_ref));
        let rest = words.get(at.map_or(words.len(), |at| at + 1)..).unwrap_or_default().to_vec();
        let text = vec![Piece::Text(line.into())];
        let name = format!("the alias {}", word.cloned().unwrap_or_default());
        let shell = Some((judged.name.to_owned(), rest));
        self.nested(Nested { text, name, dialect: Dialect::Bash, shell, by: judged.by });
    }
}
