//! The files of the project in which is written what a program runs: as this script left them, else as they lie there.

use std::path::{Path, PathBuf};

use bstr::ByteSlice;

use super::effect::{Aspect, Effect, Part};
use super::inline::settings::{Setting, settings};
use super::place;
use super::resolve::shown_pieces;
use super::state::Made;
use super::table::Judged;
use super::value::{Argument, Piece, UnknownKind};
use super::walker::{By, Walker};
use crate::commands::{Kind, Language, Reach, Recipe};
use crate::host::LookKind;

/// The repository's folder, as it is called in a working tree.
const REPOSITORY: &str = ".git/";
/// Where hooks are in it, if nothing else is configured.
const HOOKS: &str = "hooks/";

impl Walker<'_> {
    /// Judges what is written in the files behind a command.
    pub(super) fn recipes(&mut self, judged: &Judged<'_>) {
        if self.frame.remote {
            return;
        }
        for behind in &judged.reading.recipes {
            for (path, reach) in self.recipe_files(behind.recipe) {
                if reach == Reach::Made && self.loading.contains(&path) {
                    continue;
                }
                self.loading.push(path.clone());
                self.via(judged, |walker| {
                    walker.frame.stdin = None;
                    // Whether it runs is not known, so what cannot be told of it is no doubt.
                    walker.frame.own |= reach == Reach::Made;
                    walker.recipe(&path, behind.recipe.language, &behind.parts, judged.by);
                });
                self.loading.pop();
            }
        }
    }

    /// The files of a recipe that this script made or that may lie there.
    pub(super) fn recipe_files(&self, recipe: &Recipe) -> Vec<(PathBuf, Reach)> {
        let Some(cwd) = self.state.cwd.path() else { return Vec::new() };
        let mut found = Vec::new();
        for file in recipe.files.iter() {
            let (reach, name) = Recipe::reach(file);
            let files = match reach {
                Reach::Here => vec![place::normal(&cwd.join(name))],
                Reach::Above => self.above(cwd, name).into_iter().collect(),
                Reach::Made => self.made_below(cwd, name),
            };
            found.extend(files.into_iter().map(|file| (file, reach)));
        }
        found
    }

    /// The nearest file of this name in the folder and those above it, up to the project's root.
    fn above(&self, cwd: &Path, name: &str) -> Option<PathBuf> {
        let root = self.host.project().filter(|root| cwd.starts_with(root)).unwrap_or(cwd);
        let mut folders = cwd.ancestors().take_while(|folder| folder.starts_with(root)).map(|folder| folder.join(name));
        if let Some(inner) = name.strip_prefix(REPOSITORY)
            && let Some(repository) = self.host.repository(cwd)
        {
            // What this script writes there counts, by whatever name.
            let file = self.in_repository(&repository, cwd, inner);
            let made = folders.find(|file| self.left_by_script(file).is_some());
            return made
                .or(Some(file))
                .filter(|file| self.left_by_script(file).is_some() || self.host.read(file).is_ok());
        }
        folders.find(|file| self.left_by_script(file).is_some() || self.host.read(file).is_ok())
    }

    /// A file of the repository; hooks are where its own configuration says.
    fn in_repository(&self, repository: &Path, cwd: &Path, inner: &str) -> PathBuf {
        let folder = inner.strip_prefix(HOOKS).and_then(|hook| Some((hook, self.hooks(repository, cwd)?)));
        folder.map_or_else(|| repository.join(inner), |(hook, folder)| folder.join(hook))
    }

    fn hooks(&self, repository: &Path, cwd: &Path) -> Option<PathBuf> {
        let text = self.host.read(&repository.join("config")).ok()?;
        let settings = settings(&text.to_str_lossy());
        let folder = settings.into_iter().rfind(|setting| setting.path == "core.hookspath")?.value;
        let root = self.host.tree_of(cwd).unwrap_or_else(|| cwd.to_path_buf());
        Some(self.configured(&root, &folder))
    }

    /// A path in a setting: from `folder`, or from the home folder.
    fn configured(&self, folder: &Path, path: &str) -> PathBuf {
        let below = path.strip_prefix("~/").map(|below| self.host.home().join(below));
        place::normal(&below.unwrap_or_else(|| folder.join(path)))
    }

    /// Settings that other settings include; those of the home folder are the user's own.
    fn included(&mut self, path: &Path, text: &[u8], parts: &[Argument], by: By) {
        let folder = path.parent().unwrap_or(path);
        let included = |setting: &Setting| setting.path == "include.path" || setting.path.starts_with("includeif.");
        for setting in settings(&text.to_str_lossy()).iter().filter(|setting| included(setting)) {
            let file = self.configured(folder, &setting.value);
            if file.starts_with(self.host.home()) && !self.host.project().is_some_and(|root| file.starts_with(root)) {
                continue;
            }
            if !self.loading.contains(&file) {
                self.loading.push(file.clone());
                self.deeper(by.at, |walker| walker.recipe(&file, Language::GitConfig, parts, by));
                self.loading.pop();
            }
        }
    }

    fn made_below(&self, cwd: &Path, name: &str) -> Vec<PathBuf> {
        let named = |path: &Path| {
            let file = path.file_name().unwrap_or_default().as_encoded_bytes();
            place::name_matches(name.as_bytes(), file)
        };
        let root = self.host.project().filter(|root| cwd.starts_with(root)).unwrap_or(cwd);
        let changed = |made: &Made| {
            matches!(made, Made::Written(_) | Made::Unknown(_) | Made::Edited | Made::Moved(_) | Made::Copied(_))
        };
        let files =
            self.state.files.iter().filter(|(path, made)| changed(made) && path.starts_with(root) && named(path));
        files.map(|(path, _)| path.clone()).collect()
    }

    /// A library is loaded: what this script made of it is judged, whatever the folder in which it is looked for.
    pub(super) fn loads(&mut self, language: Language, name: &Argument, by: By) {
        let Some(name) = name.text().filter(|_| !self.state.files.is_empty()) else { return };
        let Some(modules) = super::inline::language::Language::find(language.word()).map(|language| language.modules)
        else {
            return;
        };
        let name = name.to_string().replace("::", "/");
        let name = if modules.iter().any(|file| file.starts_with("{}/")) && !name.contains('/') {
            name.replace('.', "/")
        } else {
            name
        };
        let ends: Vec<PathBuf> =
            modules.iter().map(|file| PathBuf::from(file.replace("{}", name.trim_start_matches("./")))).collect();
        let changed =
            |made: &Made| matches!(made, Made::Written(_) | Made::Unknown(_) | Made::Moved(_) | Made::Copied(_));
        let files =
            self.state.files.iter().filter(|(path, made)| changed(made) && ends.iter().any(|end| path.ends_with(end)));
        let files: Vec<PathBuf> = files.map(|(path, _)| path.clone()).collect();
        for path in files {
            if !self.loading.contains(&path) {
                self.loading.push(path.clone());
                self.run_path(&path, &[], by, Some(language));
                self.loading.pop();
            }
        }
    }

    fn recipe(&mut self, path: &Path, language: Language, parts: &[Argument], by: By) {
        let named = (language != Language::Other).then_some(language);
        let tools = Some(Kind { effect: Effect::Run, aspect: Some(Aspect::Project) });
        self.frame.unlisted = tools.filter(|_| language == Language::Package);
        if self.left_by_script(path).is_some() || self.host.brought(path) {
            return self.run_path(path, parts, by.part(Part::Nested), named);
        }
        // A hook runs only if it may be run.
        if language == Language::Other && self.host.look(path).mode & 0o111 == 0 {
            return;
        }
        let Ok(text) = self.host.read(path) else { return };
        if language == Language::Other {
            let target = Some(place::shown(path));
            self.effect(
                (Effect::Run, Some(Aspect::Project)),
                target,
                by.part(Part::Nested),
                "runs a hook of the project",
            );
        }
        if language == Language::GitConfig {
            self.included(path, &text, parts, by);
        }
        self.frame.own = true;
        self.frame.unlisted = tools;
        self.run_script_text(path, vec![Piece::Text(text.to_vec().into())], parts, by, named);
    }

    /// A module that an interpreter runs.
    pub(super) fn module(&mut self, name: &Argument, by: By) {
        let target = Some(shown_pieces(&name.pieces));
        self.effect((Effect::Run, Some(Aspect::Project)), target, by, "runs a module");
        self.loads(Language::Python, name, by);
    }

    /// Code that is loaded by its name, or by its file.
    pub(super) fn loaded(&mut self, language: Language, name: &Argument, judged: &Judged<'_>) {
        self.loads(language, name, judged.by.at(name.at));
        if name.prefix().contains(&b'/') {
            self.loads_from_temp(&name.pieces, judged.by.at(name.at));
            self.script(language, name, &[], judged);
        }
    }

    /// What an archive from the network or a decoder holds is that as well, whatever its names are.
    pub(super) fn unpacked(&mut self, judged: &Judged<'_>) {
        let folders = judged.reading.effects.iter().filter(|declared| declared.effect == Effect::Write);
        let folders: Vec<_> = folders
            .flat_map(|declared| {
                let here = declared.at_cwd.then(|| Argument::known(".", judged.by.at));
                here.into_iter().chain(declared.on.iter().map(|on| (**on).clone()))
            })
            .collect();
        if folders.is_empty() || !self.unpacks_downloaded(judged) {
            return;
        }
        let targets: Vec<_> = folders.iter().flat_map(|folder| self.targets(&folder.pieces)).collect();
        for path in targets.into_iter().filter_map(|target| target.path) {
            self.state.touch(path.join("*"), Made::Unknown(UnknownKind::Downloaded));
        }
    }

    /// Whether what a command reads came from the network or out of a decoder.
    fn unpacks_downloaded(&mut self, judged: &Judged<'_>) -> bool {
        let archives = judged.reading.effects.iter().filter(|declared| declared.effect == Effect::Read);
        let archives: Vec<Argument> =
            archives.flat_map(|declared| declared.on.iter().map(|on| (**on).clone())).collect();
        let downloaded = archives.iter().any(|archive| {
            super::state::Value::Scalar(self.content(&archive.pieces)).kind() == UnknownKind::Downloaded
        });
        downloaded || self.output_taint(judged) == Some(UnknownKind::Downloaded)
    }

    /// The working directory, or a folder that an argument names, was brought in by this script.
    pub(super) fn is_downloaded(&self, judged: &Judged<'_>) -> bool {
        let (Some(cwd), false) = (self.state.cwd.path(), self.state.files.is_empty()) else { return false };
        let brought = |path: &Path| matches!(self.left_by_script(path), Some(Made::Unknown(UnknownKind::Downloaded)));
        let values = judged.reading.options.iter().filter_map(|given| given.value.as_ref());
        // A name with an extension is rather data that the code is given.
        let operands = judged.reading.operands.iter().filter(|word| place::path(&word.prefix()).extension().is_none());
        brought(cwd)
            || operands
                .chain(values)
                .filter_map(|word| word.text())
                .any(|name| brought(&place::normal(&cwd.join(place::path(&name)))))
    }

    /// What this script did to a file, or to the folder from which it comes.
    pub(super) fn left_by_script(&self, path: &Path) -> Option<Made> {
        if self.state.files.is_empty() {
            return None;
        }
        let files = &self.state.files;
        if let Some(made) = files.get(path) {
            return matches!(
                made,
                Made::Written(_) | Made::Unknown(_) | Made::Edited | Made::Link(_) | Made::Moved(_) | Made::Copied(_)
            )
            .then(|| made.clone());
        }
        let downloaded = |made: Option<&Made>| matches!(made, Some(Made::Unknown(UnknownKind::Downloaded)));
        // What is unpacked beside it may be this file, unless that lies there already.
        let beside = |folder: &Path| {
            downloaded(files.get(&folder.join("*")))
                && matches!(self.host.look(path).kind, LookKind::Missing | LookKind::Unknown)
        };
        let brought = path.ancestors().skip(1).any(|folder| downloaded(files.get(folder)) || beside(folder));
        brought.then_some(Made::Unknown(UnknownKind::Downloaded))
    }
}
