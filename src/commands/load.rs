//! From the text of a table file to its entries; used by the build and for users' own tables.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::notation;
use super::schema::{
    self, Case, Condition, EffectSpec, Language, Name, OperandSpec, Program, Shell, Style, Target, Text, Token,
};
use crate::advice;
use crate::diagnostic::{Diagnostic, Problem, Span};
use crate::facts::kind::{Aspect, Effect};
use crate::toml_text::{self, List, Spanned, table, tables, take_tables};

/// Why an entry may not have a name, and what to do about it.
type Refusal = (String, String);

/// The entries of one file, or everything that is wrong with it.
pub fn load(text: &str, path: &Path) -> Result<Vec<Program>, Vec<Diagnostic>> {
    load_if(text, path, &|_| None)
}

/// The same, where an entry may not have every name.
pub(super) fn load_if(
    text: &str,
    path: &Path,
    refusal: &dyn Fn(&str) -> Option<Refusal>,
) -> Result<Vec<Program>, Vec<Diagnostic>> {
    let mut faults = Faults { text, refusal, list: Vec::new() };
    let (places, programs): (Vec<Span>, Vec<Program>) = entries(text, &mut faults.list)
        .into_iter()
        .map(|(place, entry)| (place, entry.build(place, &mut faults)))
        .unzip();
    for (program, place) in programs.iter().zip(&places) {
        for name in unknown_options(program, &programs) {
            let message = format!("`{}` names the option `{name}`, which it does not list", program.name());
            faults.list.push(Problem::new(Some(*place), message, Some("add it to `options`".to_owned())));
        }
        for name in doubled_options(program) {
            let message = format!("`{}` spells the option `{name}` twice", program.name());
            faults.list.push(Problem::new(Some(*place), message, Some("leave one of them".to_owned())));
        }
    }
    if faults.list.is_empty() {
        return Ok(marked(part(programs)));
    }
    faults.list.sort_by_key(|fault| fault.span);
    Err(faults.list.into_iter().map(|fault| fault.in_file(path)).collect())
}

/// The entries as they are written, each with the place of its header.
fn entries(text: &str, problems: &mut Vec<Problem>) -> Vec<(Span, Entry)> {
    let Some(mut root) = toml_text::root(text, problems) else { return Vec::new() };
    let programs = take_tables(root.get_mut(), "program", problems);
    let Nothing { .. } = table(root, problems);
    let header = |span: Span| Span::new(span.start, span.start + "[[program]]".len());
    tables(programs, problems).into_iter().map(|(span, entry)| (header(span), entry)).collect()
}

/// Notes which entries have others below them.
fn marked(mut programs: Vec<Program>) -> Vec<Program> {
    let names: BTreeSet<String> =
        programs.iter().flat_map(|program| program.names.iter()).map(|name| name.text.to_string()).collect();
    let below = |name: &Name| {
        let prefix = format!("{} ", name.main);
        names.range(prefix.clone()..).next().is_some_and(|next| next.starts_with(&prefix))
    };
    for program in &mut programs {
        program.parent = program.names.iter().any(below);
    }
    programs
}

/// Parts the names that have subcommands of their own from an entry that they share with others: the rest of an
/// entry's names are aliases, whose subcommands are those of its first name.
fn part(programs: Vec<Program>) -> Vec<Program> {
    let leads = |name: &str| {
        let mut names = programs.iter().flat_map(|program| program.names.iter());
        names.any(|other| other.text.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')))
    };
    let mut parted = Vec::with_capacity(programs.len());
    for program in &programs {
        let own = |name: &Name| program.subcommands && program.names.first() != Some(name) && leads(&name.text);
        let (own, shared): (Vec<Name>, Vec<Name>) = program.names.iter().cloned().partition(own);
        parted.extend(own.into_iter().map(|name| Program { names: vec![name].into(), ..program.clone() }));
        parted.push(Program { names: shared.into(), ..program.clone() });
    }
    parted
}

/// What stands beside the entries.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Nothing {
    /// Read apart; here so that it counts as known.
    #[serde(rename = "program")]
    _program: IgnoredAny,
}

/// An entry as it is written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Entry {
    name: List,
    style: Option<Spanned<String>>,
    subcommands: bool,
    everywhere: bool,
    options: List,
    operands: Option<Spanned<String>>,
    case: Vec<EntryCase>,
    effects: List,
    reason: String,
    inspect: Option<List>,
    dry: List,
    recipes: List,
    environment: List,
    settings: List,
    other: Option<Spanned<String>>,
    unlisted: Option<Spanned<String>>,
    appends: bool,
    stops: List,
    builtin: List,
    standard: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct EntryCase {
    #[serde(rename = "if")]
    when: Option<Spanned<String>>,
    unless: Option<Spanned<String>>,
    operands_at_least: Option<Spanned<usize>>,
    operands: Option<Spanned<String>>,
    effects: List,
}

impl List {
    fn texts(self) -> schema::List<Text> {
        self.items.into_iter().map(|word| word.into_inner().into()).collect()
    }

    fn parse<T: Clone>(self, faults: &mut Faults, parse: impl Fn(&str) -> Result<T, String>) -> schema::List<T> {
        self.items.into_iter().filter_map(|word| faults.parse(&word, |word| parse(word))).collect()
    }
}

/// What is wrong with a file, as it is found.
struct Faults<'a> {
    text: &'a str,
    refusal: &'a dyn Fn(&str) -> Option<Refusal>,
    list: Vec<Problem>,
}

impl Faults<'_> {
    /// The names that are written, if an entry may have them.
    fn names(&mut self, written: &Spanned<String>) -> Vec<Name> {
        let names = self.parse(written, notation::names).unwrap_or_default();
        if let Some((message, help)) = names.iter().find_map(|name| (self.refusal)(&name.text)) {
            self.list.push(Problem::at(written, message, help));
        }
        names
    }

    fn parse<T>(&mut self, written: &Spanned<String>, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let fault = match parse(written.get_ref()) {
            Ok(value) => return Some(value),
            Err(fault) => fault,
        };
        let span = Span::from(written.span());
        // The word at fault, where the fault names it and it stands there as it is.
        let word = fault.split('`').nth(1).filter(|word| !word.is_empty());
        let within = word.and_then(|word| {
            let at = span.start + self.text.get(span.start..span.end)?.find(word)?;
            Some(Span::new(at, at + word.len()))
        });
        let help = word.and_then(|word| nearest(&fault, word)).map(|near| format!("did you mean `{near}`?"));
        let help = help.unwrap_or_else(|| "docs/commands.md has the notation".to_owned());
        self.list.push(Problem::new(Some(within.unwrap_or(span)), fault, Some(help)));
        None
    }
}

/// The word of the notation that was meant.
fn nearest(fault: &str, word: &str) -> Option<&'static str> {
    let known: Vec<&str> = match fault.strip_prefix("unknown ")?.split(' ').next()? {
        "role" => notation::ROLES.iter().map(|(word, _)| *word).collect(),
        "effect" => Effect::ALL.iter().map(|effect| effect.word()).collect(),
        "aspect" => Aspect::ALL.iter().map(|aspect| aspect.word()).collect(),
        "language" => Language::ALL.iter().map(|language| language.word()).collect(),
        "style" => Style::ALL.iter().map(|style| style.word()).collect(),
        "shell" => Shell::ALL.iter().map(|shell| shell.word()).collect(),
        _ => return None,
    };
    advice::nearest(word, &known)
}

impl Entry {
    fn build(self, place: Span, faults: &mut Faults) -> Program {
        if self.name.items.is_empty() {
            let help = "write the program and its subcommand: `name = \"git push\"`".to_owned();
            faults.list.push(Problem::new(Some(place), "an entry without `name`", Some(help)));
        }
        let style = |word: &str| Style::from_word(word).ok_or_else(|| format!("unknown style `{word}`"));
        let shell = |word: &str| Shell::from_word(word).ok_or_else(|| format!("unknown shell `{word}`"));
        let style = self.style.and_then(|word| faults.parse(&word, style));
        let below = self.name.items.iter().any(|name| name.get_ref().contains(' '));
        Program {
            names: self.name.items.iter().flat_map(|word| faults.names(word)).collect(),
            style,
            subcommands: self.subcommands,
            parent: false,
            everywhere: self.everywhere,
            options: self.options.parse(faults, notation::option),
            operands: self.operands.and_then(|word| faults.parse(&word, notation::operands)).unwrap_or_default().into(),
            cases: self.case.into_iter().filter_map(|case| case.build(faults)).collect(),
            effects: self.effects.parse(faults, notation::effect),
            inspect: match self.inspect {
                Some(words) => words.texts(),
                None if style == Some(Style::None) => schema::List::default(),
                // `helm install --version 1.2` names a version; alone it needs no word for it.
                None if self.subcommands || below => [Text::Borrowed("--help")].into_iter().collect(),
                None => [Text::Borrowed("--help"), Text::Borrowed("--version")].into_iter().collect(),
            },
            dry: self.dry.texts(),
            recipes: self.recipes.parse(faults, super::recipe::recipe),
            environment: self.environment.parse(faults, notation::setting),
            settings: self.settings.parse(faults, notation::setting),
            other: self
                .other
                .filter(|word| word.get_ref() != "doubt")
                .and_then(|word| faults.parse(&word, notation::kind)),
            unlisted: self.unlisted.and_then(|word| faults.parse(&word, notation::kind)),
            appends: self.appends,
            stops: self.stops.texts(),
            builtin: self.builtin.parse(faults, shell),
            standard: self.standard.unwrap_or(true),
            reason: self.reason.into(),
        }
    }
}

impl EntryCase {
    fn build(self, faults: &mut Faults) -> Option<Case> {
        let place = self.when.as_ref().or(self.unless.as_ref()).map_or(0..0, Spanned::span);
        let when = Spanned::new(place, self.when.map(Spanned::into_inner).unwrap_or_default());
        let unless = self.unless.map(Spanned::into_inner).unwrap_or_default();
        let mut condition = faults.parse(&when, |when| notation::case_condition(when, &unless))?;
        if let Some(count) = self.operands_at_least.map(Spanned::into_inner) {
            let enough: schema::List<Token> = vec![Token::Operands(count.saturating_sub(1))].into();
            condition.all = condition.all.iter().cloned().chain([enough]).collect();
        }
        let operands: Option<schema::List<OperandSpec>> = match self.operands {
            Some(word) => Some(faults.parse(&word, notation::operands)?.into()),
            None => None,
        };
        Some(Case { when: condition, operands, effects: self.effects.parse(faults, notation::effect) })
    }
}

/// The options that conditions and targets name, but neither the entry nor one that it belongs to lists.
fn unknown_options(program: &Program, all: &[Program]) -> Vec<String> {
    let below = |own: &Text, owner: &Text| {
        own.strip_prefix(&**owner).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let belongs = |owner: &&Program| {
        owner.names.iter().any(|owner| program.names.iter().any(|own| below(&own.text, &owner.text)))
    };
    let spells = |owner: &Program, name: &str| {
        owner.options.iter().any(|option| option.spellings().any(|spelling| spelling == name))
    };
    let listed = |name: &str| {
        program.inspect.iter().chain(program.dry.iter()).any(|listed| listed == name)
            || all.iter().filter(belongs).any(|owner| spells(owner, name))
    };
    let conditions =
        program.cases.iter().map(|case| &case.when).chain(program.recipes.iter().map(|recipe| &recipe.when));
    let effects = || program.effects.iter().chain(program.cases.iter().flat_map(|case| case.effects.iter()));
    let conditions = conditions.chain(effects().map(|effect: &EffectSpec| &effect.when));
    let named = conditions.flat_map(option_tokens).chain(effects().filter_map(|effect| match &effect.on {
        Target::Option(name) => Some(&**name),
        _ => None,
    }));
    named.filter(|name| !listed(name)).map(str::to_owned).collect()
}

fn option_tokens(condition: &Condition) -> impl Iterator<Item = &str> {
    let tokens = condition.all.iter().flat_map(|clause| clause.iter()).chain(condition.unless.iter());
    tokens.filter_map(|token| match token {
        Token::Option(name) | Token::Value(name, _) => Some(&**name),
        _ => None,
    })
}

/// The spellings that an entry lists more than once.
fn doubled_options(program: &Program) -> Vec<&str> {
    let mut spellings: Vec<_> = program.options.iter().flat_map(schema::OptionSpec::spellings).collect();
    spellings.sort_unstable();
    spellings.iter().zip(spellings.iter().skip(1)).filter(|(one, next)| one == next).map(|(one, _)| *one).collect()
}
