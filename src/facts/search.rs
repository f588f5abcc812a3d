//! Which names a search is narrowed to where it acts on what it finds: the expression of `find`.

use bstr::{BStr, BString};

/// What a path that is found must be called, by patterns; `None`: nothing narrows it.
pub(super) type Names = Option<Vec<BString>>;

/// A search: how many folders it starts from, and what its actions can reach.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    /// So many words are the folders.
    pub(super) roots: usize,
    /// For each `-exec` and its like, in order.
    pub(super) runs: Vec<Names>,
    /// For all `-delete` together; the outer `None`: there is none.
    pub(super) deletes: Option<Names>,
}

/// Tests and actions without an argument.
const BARE: &[&str] = &[
    "-delete",
    "-print",
    "-print0",
    "-ls",
    "-quit",
    "-prune",
    "-empty",
    "-true",
    "-false",
    "-readable",
    "-writable",
    "-executable",
    "-nouser",
    "-nogroup",
    "-depth",
    "-d",
    "-xdev",
    "-mount",
    "-follow",
    "-daystart",
    "-noleaf",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
    "-warn",
    "-nowarn",
    "-x",
    "-X",
    "-E",
    "-s",
];
/// Options that stand before the folders.
const LEADING: &[&str] = &["-H", "-L", "-P", "-O", "-O0", "-O1", "-O2", "-O3"];

/// Reads the words after the program's name; `None` is a word that is not known.
pub(super) fn read(words: &[Option<BString>]) -> Search {
    let word = |word: &Option<BString>| word.as_ref().map(ToString::to_string);
    let leading = words.iter().take_while(|text| word(text).is_some_and(|text| LEADING.contains(&text.as_str())));
    let mut reader = Reader { words, at: leading.count(), found: Search::default() };
    let begins = |text: &Option<BString>| word(text).is_some_and(|text| text.starts_with('-') || "(!,".contains(&text));
    reader.found.roots = words.iter().skip(reader.at).take_while(|text| !begins(text)).count();
    reader.at += reader.found.roots;
    while reader.at < words.len() {
        reader.any(&None, 0);
        // A parenthesis that closes nothing.
        reader.at += 1;
    }
    reader.found
}

struct Reader<'w> {
    words: &'w [Option<BString>],
    at: usize,
    found: Search,
}

impl Reader<'_> {
    fn word(&self) -> Option<&BStr> {
        self.words.get(self.at)?.as_ref().map(AsRef::as_ref)
    }

    fn takes(&mut self, any: &[&str]) -> bool {
        let taken = self.word().is_some_and(|word| any.iter().any(|other| word == *other));
        self.at += usize::from(taken);
        taken
    }

    /// Alternatives: each is reached whatever the others say. The names if one of them holds.
    fn any(&mut self, within: &Names, depth: usize) -> Names {
        let mut all = self.every(within, depth);
        loop {
            if self.takes(&["-o", "-or"]) {
                let other = self.every(within, depth);
                all = both(all, other);
            } else if self.takes(&[","]) {
                all = self.every(within, depth);
            } else {
                return all;
            }
        }
    }

    /// What must hold together: each part is reached only if those before it hold.
    fn every(&mut self, within: &Names, depth: usize) -> Names {
        let mut names = None;
        while self.at < self.words.len() && !self.ends() {
            if self.takes(&["-a", "-and"]) {
                continue;
            }
            let reached = within.clone().or_else(|| names.clone());
            let more = self.one(&reached, depth);
            names = names.or(more);
        }
        names.or_else(|| within.clone())
    }

    fn ends(&self) -> bool {
        self.word().is_some_and(|word| [")", "-o", "-or", ","].iter().any(|end| word == *end))
    }

    fn one(&mut self, reached: &Names, depth: usize) -> Names {
        if self.takes(&["!", "-not"]) {
            self.one(reached, depth);
            return None;
        }
        if depth < 32 && self.takes(&["("]) {
            let names = self.any(reached, depth + 1);
            self.takes(&[")"]);
            return names;
        }
        let Some(test) = self.word().map(BStr::to_owned) else {
            self.at += 1;
            return None;
        };
        self.at += 1;
        match test.to_string().as_str() {
            "-name" | "-iname" => {
                let name = self.words.get(self.at).cloned().flatten();
                self.at += 1;
                return name.map(|name| vec![name]);
            }
            "-delete" => {
                let before = self.found.deletes.take();
                self.found.deletes =
                    Some(before.map_or_else(|| reached.clone(), |before| both(before, reached.clone())));
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                self.found.runs.push(reached.clone());
                self.command();
            }
            "-fprintf" => self.at += 2,
            test if BARE.contains(&test) => {}
            _ => self.at += 1,
        }
        None
    }

    /// Up to `;`, or to `+` after `{}`.
    fn command(&mut self) {
        let mut last = false;
        while self.at < self.words.len() {
            let ends = self.word().is_some_and(|word| word == ";" || last && word == "+");
            last = self.word().is_some_and(|word| word == "{}");
            self.at += 1;
            if ends {
                return;
            }
        }
    }
}

/// The names of either of two.
fn both(a: Names, b: Names) -> Names {
    let mut names = a?;
    names.extend(b?);
    Some(names)
}
