//! The end of a reading: roles of the operands, the effects whose conditions hold, `--help` and `--dry-run`.

use std::borrow::Cow;

use super::condition::Holds;
use super::read::Reader;
use super::reading::{Behind, Declared, Reading, Vague};
use super::recipe::Recipe;
use super::schema::{EffectSpec, Kind, Role, Target, Text};
use super::{Given, bind, unlisted};
use crate::facts::Location;
use crate::facts::kind::{Doubt, Effect};
use crate::facts::value::Argument;

impl<'a> Reader<'a> {
    /// What was read, whole.
    pub(super) fn finish(mut self) -> Reading<'a> {
        self.reading.environment = self.levels.iter().flat_map(|level| level.environment.iter()).collect();
        if self.only_prints() {
            self.reading.inspect_only = true;
            self.reading.uses.clear();
            self.reading.effects.clear();
            self.reading.tails.clear();
            self.reading.doubts.clear();
            return self.reading;
        }
        if let Some(word) = self.leading {
            self.unsettled(word);
        }
        if !self.roleless {
            self.bind();
        }
        let given = self.reading.operands.len();
        self.reading.script = self.specs().iter().skip(given).find_map(|spec| match spec.role {
            Role::Script(language) => Some(language),
            _ => None,
        });
        self.declare();
        self.unlisted_code();
        self.reading.unlisted = self.unlisted;
        self.reading.recipes = self.recipes();
        self.reading.dry = self.levels.iter().any(|level| any_given(&level.dry, &self.reading.options));
        if self.reading.dry {
            self.reading.effects.retain(|declared| !changes(declared.effect));
            self.reading.uses.iter_mut().filter(|it| mutates(it.role)).for_each(|it| it.role = Role::List);
            self.reading.recipes.clear();
        }
        self.reading
    }

    /// Whether `--help` or the like is given: an option counts for the entry that it belongs to.
    fn only_prints(&self) -> bool {
        self.levels.iter().enumerate().any(|(depth, level)| {
            let own = |given: &Given<'_>| given.level == depth + 1 || level.everywhere && given.spec.is_none();
            let mut given = self.reading.options.iter().filter(|given| own(given));
            given.any(|given| any_given(&level.inspect, std::slice::from_ref(given)))
        })
    }

    fn bind(&mut self) {
        let specs = self.specs();
        let count = self.reading.operands.len();
        let first = self.reading.operands.iter().position(|operand| operand.many);
        let many = first.zip(self.reading.operands.iter().rposition(|operand| operand.many));
        for index in 0..count {
            let Some(operand) = self.reading.operands.get(index).cloned() else { continue };
            for role in bind::roles(specs, index, count, many) {
                self.using(role, operand.clone(), None);
            }
        }
    }

    fn declare(&mut self) {
        let Some(entry) = self.entry().filter(|_| !self.unlisted) else { return };
        let seen = self.seen();
        let cases = entry.cases.iter().filter(|case| seen.holds(&case.when) != Holds::No);
        let chosen = cases.clone().find(|case| case.operands.is_some());
        let cases =
            cases.filter(|case| case.operands.is_none() || chosen.is_some_and(|chosen| std::ptr::eq(chosen, *case)));
        let specs = entry.effects.iter().chain(cases.flat_map(|case| case.effects.iter()));
        let mut effects = Vec::new();
        let mut doubts = Vec::new();
        for spec in specs {
            let reason = if spec.reason.is_empty() { &entry.reason } else { &spec.reason };
            match seen.holds(&spec.when) {
                Holds::No => {}
                Holds::Yes => effects.push(self.declared(spec, reason.clone())),
                Holds::Perhaps(at) => {
                    let what = if reason.is_empty() { spec.kind.effect.word() } else { reason };
                    let reason = format!("an argument that is not known may make it {what}").into();
                    doubts.push(Vague { doubt: Doubt::Argument, at: Some(at), reason });
                }
            }
        }
        self.reading.effects.extend(effects);
        self.reading.doubts.extend(doubts);
    }

    /// An option that is not listed may run what it is given; a program that runs code anyway is no worse for it.
    fn unlisted_code(&mut self) {
        if self.reading.effects.iter().any(|declared| declared.effect == Effect::Run) {
            return;
        }
        let operands = !self.reading.operands.is_empty();
        let doubts = self.reading.options.iter().filter_map(|given| unlisted::doubt(given, operands));
        self.reading.doubts.extend(doubts);
    }

    /// The files behind the call, and which of their parts run.
    fn recipes(&self) -> Vec<Behind<'a>> {
        let seen = self.seen();
        let recipes = self.levels.iter().flat_map(|level| level.recipes.iter());
        let used = recipes.filter(|recipe| seen.holds(&recipe.when) != Holds::No);
        used.map(|recipe| Behind { recipe, parts: self.parts(recipe) }).collect()
    }

    /// The parts that a recipe names, else a subcommand that has no entry (`yarn NAME`) and the operands.
    fn parts(&self, recipe: &Recipe) -> Vec<Argument> {
        if !recipe.parts.is_empty() {
            return recipe.parts.iter().map(|part| Argument::known(&**part, Location::default())).collect();
        }
        let word = self.reading.subcommand.last().filter(|_| self.unlisted);
        let word = word.map(|word| Argument::known(word.clone(), Location::default()));
        word.into_iter().chain(self.reading.operands.iter().map(|operand| (**operand).clone())).collect()
    }

    fn declared(&self, spec: &EffectSpec, reason: Text) -> Declared<'a> {
        let mut declared = Declared::of(spec.kind, reason);
        match &spec.on {
            Target::None => {}
            Target::Cwd => declared.at_cwd = true,
            Target::Input => declared.at_input = true,
            Target::Last => declared.on.extend(self.reading.operands.last().cloned()),
            Target::Operands => declared.on.clone_from(&self.reading.operands),
            Target::Path(path) => declared.on.push(Cow::Owned(Argument::known(&**path, Location::default()))),
            Target::Work(work) => declared.work = Some(*work),
            Target::Option(name) => {
                let seen = self.seen();
                declared.on.extend(seen.given(name).filter_map(|given| given.value.clone()));
                declared.at_cwd = declared.on.is_empty();
            }
        }
        declared
    }
}

impl Declared<'_> {
    /// An effect on nothing that can be named.
    pub(super) fn of(kind: Kind, reason: Cow<'static, str>) -> Self {
        let Kind { effect, aspect } = kind;
        Self { effect, aspect, on: Vec::new(), at_cwd: false, at_input: false, work: None, reason }
    }
}

/// Whether one of `names` is given; `--name=value` needs that value.
fn any_given(names: &[Text], options: &[Given<'_>]) -> bool {
    names.iter().any(|name| match name.split_once('=') {
        Some((name, wanted)) => options.iter().any(|given| {
            given.is(name) && given.value.as_ref().and_then(|value| value.text()).is_some_and(|value| *value == *wanted)
        }),
        None => options.iter().any(|given| given.is(name) && !negated(given)),
    })
}

/// `--dry-run=false`.
fn negated(given: &Given<'_>) -> bool {
    let value = given.value.as_ref().and_then(|value| value.text());
    value.is_some_and(|value| ["false", "no", "0", "none"].iter().any(|no| *value == **no))
}

const fn changes(effect: Effect) -> bool {
    use Effect::{Commit, Configure, Control, Delete, Device, Discard, Install, Persist, Publish, Signal, Write};
    matches!(
        effect,
        Commit | Configure | Control | Delete | Device | Discard | Install | Persist | Publish | Signal | Write
    )
}

const fn mutates(role: Role) -> bool {
    use Role::{
        Append, ArchiveWrite, Build, Delete, DeleteTree, Device, Discard, DropBranch, Edit, MakeFolder, Move,
        NewBranch, Package, RefOrDiscard, RemoteWrite, Write,
    };
    matches!(
        role,
        Append
            | ArchiveWrite
            | Delete
            | DeleteTree
            | Device
            | Discard
            | DropBranch
            | Edit
            | MakeFolder
            | Move
            | NewBranch
            | Package
            | RefOrDiscard
            | RemoteWrite
            | Write
            | Build
    )
}
