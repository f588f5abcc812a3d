//! Secrets and startup files that a pathname pattern can stand for.

use std::path::PathBuf;

use bstr::{BStr, BString, ByteSlice};

use super::effect::Aspect;
use super::expand::pattern_matches;
use super::place::{self, name_matches};
use super::value::Piece;
use super::walker::Walker;

/// So many names that match are looked at one by one.
const MAX_FOUND: usize = 256;

impl Walker<'_> {
    /// The place of a secret or a startup file among what a pattern can name: by what is there, where that can be seen,
    /// else by what the pattern spells out.
    pub(super) fn pattern_place(&self, text: &[u8], rest: &[Piece]) -> Option<Aspect> {
        if rest.iter().any(|piece| matches!(piece, Piece::Unknown(_))) || !text.starts_with(b"/") {
            return None;
        }
        let names: Vec<&[u8]> = text.split_str("/").skip(1).collect();
        if !self.host.assumed()
            && let Some(found) = self.standing_for(&names)
        {
            let places = found.iter().filter_map(|path| self.settings.places.spot(path, self.host).aspect);
            let mut hidden = places.filter(|aspect| is_hidden(*aspect));
            return hidden.next();
        }
        let builtin = super::places::BUILTIN.iter().flat_map(|(of, globs)| globs.iter().map(move |glob| (*of, *glob)));
        let added = self.settings.places.globs.iter().map(|(of, glob)| (*of, glob.as_str()));
        let mut globs = builtin.chain(added).filter(|(of, glob)| is_hidden(*of) && !glob.starts_with('!'));
        globs.find(|(_, glob)| self.spells(&names, glob)).map(|(of, _)| of)
    }

    /// The files that a pattern stands for; `None` if a folder cannot be listed, or they are very many.
    fn standing_for(&self, names: &[&[u8]]) -> Option<Vec<PathBuf>> {
        let mut found = vec![PathBuf::from("/")];
        for name in names.iter().filter(|name| !name.is_empty()) {
            if !is_pattern(name) {
                found.iter_mut().for_each(|path| path.push(place::path(name)));
                continue;
            }
            let mut next = Vec::new();
            for folder in &found {
                let listed = self.host.list(folder)?;
                let matching = listed.iter().filter(|entry| self.takes(name, entry));
                next.extend(matching.map(|entry| folder.join(place::path(entry))));
                if next.len() > MAX_FOUND {
                    return None;
                }
            }
            found = next;
        }
        Some(found)
    }

    fn takes(&self, pattern: &[u8], name: &[u8]) -> bool {
        let hidden = name.starts_with(b".") && !pattern.starts_with(b".") && !self.state.options.dotglob;
        !hidden && pattern_matches(pattern, name).unwrap_or(true)
    }

    /// Whether the names of a pattern spell out what a glob of a place names.
    fn spells(&self, names: &[&[u8]], glob: &str) -> bool {
        let own: Vec<&[u8]> =
            glob.trim_start_matches("~/").trim_start_matches("**/").as_bytes().split_str("/").collect();
        if glob.starts_with("**/") {
            let start = names.len().saturating_sub(own.len());
            let tail = names.get(start..).unwrap_or_default();
            return tail.len() == own.len() && self.spelled(tail, &own);
        }
        if !glob.starts_with("~/") {
            return self.spelled(names, own.get(1..).unwrap_or_default());
        }
        let home = place::bytes(self.host.home()).split_str("/").skip(1).map(<[u8]>::to_vec).collect::<Vec<_>>();
        let others = [vec![b"home".to_vec(), b"*".to_vec()], vec![b"root".to_vec()]];
        std::iter::once(&home).chain(&others).any(|home| {
            let (above, below) = names.split_at_checked(home.len()).unwrap_or((names, &[]));
            above.len() == home.len()
                && above.iter().zip(home).all(|(name, home)| self.may_be(name, home))
                && self.spelled(below, &own)
        })
    }

    /// Each name can be what the glob names, and one of them says so.
    fn spelled(&self, names: &[&[u8]], globs: &[&[u8]]) -> bool {
        let open = globs.last() == Some(&&b"**"[..]);
        let globs = if open { globs.split_last().map_or(globs, |(_, globs)| globs) } else { globs };
        let fits = if open { names.len() > globs.len() } else { names.len() == globs.len() };
        let pairs = || names.iter().zip(globs);
        fits && names.iter().any(|name| is_pattern(name))
            && pairs().all(|(name, glob)| self.may_be(name, glob))
            && pairs().any(|(name, glob)| says(name, glob))
    }

    fn may_be(&self, name: &[u8], glob: &[u8]) -> bool {
        if !is_pattern(name) {
            return name_matches(glob, name);
        }
        self.takes(name, &sample(glob)) || name_matches(glob, name)
    }
}

fn is_hidden(aspect: Aspect) -> bool {
    matches!(aspect, Aspect::Secret | Aspect::Startup)
}

fn is_pattern(name: &[u8]) -> bool {
    name.iter().any(|byte| b"*?[(".contains(byte))
}

/// A name that a glob of a place takes.
fn sample(glob: &[u8]) -> BString {
    glob.replace("*", "x").into()
}

/// Whether a name, which may be a pattern, says more than that there is some file of its kind.
fn says(name: &[u8], glob: &[u8]) -> bool {
    /// Folders that hold more than secrets.
    const COMMON: &[&[u8]] = &[b".config", b".local", b"share", b"etc", b"var", b"run", b"usr", b"lib", b"Library"];
    if !is_pattern(name) {
        return !COMMON.contains(&name);
    }
    let stem = name.rsplit_once_str(".").filter(|(stem, end)| !stem.is_empty() && !is_pattern(end));
    let stem = stem.map_or(name, |(stem, _)| stem);
    let letters = stem.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    let lead = name.iter().take_while(|byte| !b"*?[(@+!".contains(byte)).count();
    name_matches(glob, name) && BStr::new(glob) != "*" || letters >= 2 || lead >= 2
}
