//! Which places an argument names, when it is taken for a path.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};

use super::effect::Aspect;
use super::place::{self, Spot, normal, shown, stricter};
use super::state::{Folder, Made};
use super::value::{Piece, Unknown, UnknownKind};
use super::walker::Walker;
use crate::host::LookKind;

/// Links are followed so often.
const MAX_LINKS: usize = 16;
/// The kernel takes no path of so many bytes.
const LONGEST: usize = 4096;

/// One place that an argument can name.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// The place; `None` for what keeps nothing (`/dev/null`).
    pub(super) aspect: Option<Aspect>,
    /// `/`, a home folder or a system tree itself, or everything in it.
    pub(super) whole: bool,
    /// The absolute path, if it is exactly known.
    pub(super) path: Option<PathBuf>,
    /// The folder in which it lies, if only that is known.
    pub(super) below: Option<PathBuf>,
    /// As it is shown.
    pub(super) shown: BString,
    /// Why the place is not certain.
    pub(super) unsure: Option<Cow<'static, str>>,
}

/// A path as far as it is known: the leading text and what follows.
struct Shape<'p> {
    lead: BString,
    rest: &'p [Piece],
}

impl Walker<'_> {
    /// The places that a path can name; one, unless the working directory can be several.
    pub(super) fn targets(&self, pieces: &[Piece]) -> Vec<Target> {
        let count = pieces.iter().take_while(|piece| matches!(piece, Piece::Text(_))).count();
        let lead = pieces.iter().take(count).fold(BString::default(), |mut lead, piece| {
            if let Piece::Text(text) = piece {
                lead.extend_from_slice(text);
            }
            lead
        });
        // An empty name is no file.
        if pieces.iter().all(|piece| matches!(piece, Piece::Text(text) if text.is_empty())) {
            return Vec::new();
        }
        if lead.len() >= LONGEST {
            let shown = lead.get(..LONGEST).unwrap_or_default();
            return vec![unknown(shown.into(), "the path is longer than any program can use".into())];
        }
        let shape = Shape { lead, rest: pieces.get(count..).unwrap_or_default() };
        if shape.lead.starts_with(b"/") {
            return vec![self.target(Path::new("/"), &shape)];
        }
        if let (true, Some(Piece::Unknown(unknown))) = (shape.lead.is_empty(), shape.rest.first())
            && !unknown.kind.stays_below()
        {
            return vec![self.unknown_target(unknown, shape.rest)];
        }
        match &self.state.cwd {
            Folder::Known(paths) => paths.iter().map(|cwd| self.target(cwd, &shape)).collect(),
            Folder::Below(path) if !climbs(&shape.lead) => {
                let mut target = self.target(path, &shape);
                target.below = Some(path.clone());
                target.path = None;
                vec![target]
            }
            Folder::Temp if !climbs(&shape.lead) => vec![temp_target(shape.lead)],
            Folder::Temp | Folder::Below(_) => {
                vec![unknown(shape.lead, "the path leaves a folder that is not known".into())]
            }
            Folder::Unknown(reason) => vec![unknown(shape.lead, reason.clone())],
        }
    }

    /// What begins with something that is not known.
    fn unknown_target(&self, first: &Unknown, pieces: &[Piece]) -> Target {
        let climbs = pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if climbs(text)));
        let strays =
            pieces.iter().skip(1).any(|piece| matches!(piece, Piece::Unknown(unknown) if !unknown.kind.stays_below()));
        match first.kind {
            UnknownKind::TempPath if !climbs && !strays => temp_target(shown_pieces(pieces)),
            _ => {
                let mut target = unknown(shown_pieces(pieces), first.reason.clone());
                target.aspect = self.place_of_name(&target.shown, pieces).or(target.aspect);
                target
            }
        }
    }

    fn target(&self, base: &Path, shape: &Shape<'_>) -> Target {
        if shape.rest.is_empty() {
            let path = normal(&base.join(place::path(&shape.lead)));
            let spot = self.spot(&path, &base.join(place::path(&shape.lead)));
            let (aspect, whole) = (spot.aspect, spot.whole);
            return Target { aspect, whole, shown: shown(&path), path: Some(path), below: None, unsure: None };
        }
        // The folder of the last name that is wholly known, and whatever stands in it.
        let slash = shape.lead.rfind_byte(b'/').map_or(0, |slash| slash + 1);
        let (folder, name) = shape.lead.split_at_checked(slash).unwrap_or((&shape.lead, b""));
        let folder = normal(&base.join(place::path(folder)));
        let mut spot = self.spot(&folder, &folder);
        let rest = shown_pieces(shape.rest);
        let mut text = shown(&folder);
        if text.last() != Some(&b'/') {
            text.push(b'/');
        }
        text.extend_from_slice(name);
        text.extend_from_slice(&rest);
        let climbs = shape.rest.iter().any(|piece| matches!(piece, Piece::Text(text) if climbs(text)));
        let stray = shape.rest.iter().find_map(|piece| match piece {
            Piece::Unknown(unknown) if !unknown.kind.stays_below() => Some(unknown.reason.clone()),
            _ => None,
        });
        let unsure = stray.or_else(|| climbs.then(|| "the path goes up from a folder that is not known".into()));
        spot.whole = spot.whole && Self::takes_all(&folder, name, shape.rest);
        let aspect = self.pattern_place(&text, shape.rest).or_else(|| self.place_of_name(&text, shape.rest));
        if let Some(aspect) = aspect {
            spot = stricter(spot, Spot { aspect: Some(aspect), whole: false });
        }
        Target { aspect: spot.aspect, whole: spot.whole, path: None, below: Some(folder), shown: text, unsure }
    }

    /// A pattern directly in `/` or in a folder that counts as a whole takes it all, or a tree of the system.
    fn takes_all(folder: &Path, name: &[u8], rest: &[Piece]) -> bool {
        match rest.first() {
            Some(Piece::Pattern(pattern)) => {
                let general = pattern.iter().all(|byte| b"*?.[]!^".contains(byte)) && matches!(name, b"" | b".");
                general
                    || folder == Path::new("/")
                        && !rest.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(&b'/')))
            }
            // An empty value leaves the folder itself.
            Some(Piece::Unknown(unknown)) => {
                name.is_empty() && !unknown.kind.stays_below() && unknown.kind != UnknownKind::NotEmpty
            }
            _ => false,
        }
    }

    /// Where links lead that this script made.
    pub(super) fn led(&self, path: &Path) -> Option<PathBuf> {
        if self.state.files.is_empty() {
            return None;
        }
        let step = |path: &Path| {
            path.ancestors().find_map(|folder| match self.state.files.get(folder) {
                Some(Made::Link(to)) => Some(normal(&to.join(path.strip_prefix(folder).ok()?))),
                _ => None,
            })
        };
        std::iter::successors(step(path), |path| step(path)).take(MAX_LINKS).last()
    }

    /// The place of a path of which only the end is known: a secret or a startup file by its name.
    fn place_of_name(&self, shown: &[u8], pieces: &[Piece]) -> Option<Aspect> {
        match pieces.last() {
            Some(Piece::Text(text)) if text.contains(&b'/') => {}
            _ => return None,
        }
        let path = normal(&Path::new("/").join(place::path(shown)));
        let spot = self.settings.places.spot(&path, self.host);
        spot.aspect.filter(|aspect| matches!(aspect, Aspect::Secret | Aspect::Startup))
    }

    /// Where a path lies by its name and where it leads through symbolic links.
    fn spot(&self, path: &Path, physical: &Path) -> Spot {
        let named = self.settings.places.spot(path, self.host);
        if let Some(led) = self.led(path) {
            return stricter(named, self.settings.places.spot(&led, self.host));
        }
        if self.frame.remote || named.aspect.is_none() {
            return named;
        }
        let look = self.host.look(physical);
        let other = look.kind == LookKind::File && look.links > 1;
        let hidden = if other { self.settings.places.other_name(&look, self.host) } else { None };
        let named = hidden.map_or(named, |aspect| stricter(named, Spot { aspect: Some(aspect), whole: false }));
        if look.kind == LookKind::Unknown || look.real == path {
            return named;
        }
        stricter(named, self.settings.places.spot(&look.real, self.host))
    }
}

/// There is a `..` in it.
fn climbs(text: &[u8]) -> bool {
    text.split_str("/").any(|name| name == b"..")
}

fn temp_target(shown: BString) -> Target {
    Target { aspect: Some(Aspect::Temp), whole: false, path: None, below: None, shown, unsure: None }
}

fn unknown(shown: BString, reason: Cow<'static, str>) -> Target {
    Target { aspect: Some(Aspect::Unknown), whole: false, path: None, below: None, shown, unsure: Some(reason) }
}

/// Pieces as they are shown to people.
pub(super) fn shown_pieces(pieces: &[Piece]) -> BString {
    pieces.iter().fold(BString::default(), |mut text, piece| {
        match piece {
            Piece::Text(bytes) | Piece::Pattern(bytes) => text.extend_from_slice(bytes),
            Piece::Unknown(unknown) => text.extend_from_slice(match unknown.kind {
                UnknownKind::TempPath => b"<temp>",
                _ => "…".as_bytes(),
            }),
        }
        text
    })
}
