//! From the text of a table file to its entries; used by the build and for users' own tables.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

use super::notation;
use super::schema::{Case, Condition, EffectSpec, List, Name, OperandSpec, Program, Shell, Style, Target, Text, Token};
use crate::diagnostic::{Diagnostic, Span};

/// The entries of one file, or everything that is wrong with it.
pub fn load(text: &str, path: &Path) -> Result<Vec<Program>, Vec<Diagnostic>> {
    let file: File = toml::from_str(text).map_err(|error| {
        let span = error.span().map(|span| Span::new(span.start, span.end));
        vec![Diagnostic { path: path.to_owned(), span, message: error.message().to_owned(), help: None }]
    })?;
    let mut faults = Faults { path, list: Vec::new() };
    let mut programs = Vec::with_capacity(file.program.len());
    let mut places = Vec::with_capacity(file.program.len());
    for entry in file.program {
        let span = entry.span();
        places.push(Span::new(span.start, span.end));
        programs.push(entry.into_inner().build(&mut faults));
    }
    for (program, place) in programs.iter().zip(&places) {
        for name in unknown_options(program, &programs) {
            faults.add(*place, format!("`{}` names the option `{name}`, which it does not list", program.name()));
        }
        for name in doubled_options(program) {
            faults.add(*place, format!("`{}` spells the option `{name}` twice", program.name()));
        }
    }
    if faults.list.is_empty() { Ok(marked(part(programs))) } else { Err(faults.list) }
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    program: Vec<Spanned<Entry>>,
}

/// An entry as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Words,
    style: Option<Spanned<String>>,
    #[serde(default)]
    subcommands: bool,
    #[serde(default)]
    everywhere: bool,
    #[serde(default)]
    options: Words,
    operands: Option<Spanned<String>>,
    #[serde(default)]
    case: Vec<EntryCase>,
    #[serde(default)]
    effects: Words,
    #[serde(default)]
    reason: String,
    inspect: Option<Words>,
    #[serde(default)]
    dry: Words,
    #[serde(default)]
    recipes: Words,
    #[serde(default)]
    environment: Words,
    #[serde(default)]
    settings: Words,
    other: Option<Spanned<String>>,
    unlisted: Option<Spanned<String>>,
    #[serde(default)]
    appends: bool,
    #[serde(default)]
    stops: Words,
    #[serde(default)]
    builtin: Words,
    #[serde(default = "yes")]
    standard: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryCase {
    #[serde(rename = "if")]
    when: Option<Spanned<String>>,
    unless: Option<Spanned<String>>,
    operands_at_least: Option<Spanned<usize>>,
    operands: Option<Spanned<String>>,
    #[serde(default)]
    effects: Words,
}

const fn yes() -> bool {
    true
}

/// One string or a list of strings.
#[derive(Default)]
struct Words(Vec<Spanned<String>>);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Spanned::<Written>::deserialize(deserializer)?;
        let span = written.span();
        Ok(Self(match written.into_inner() {
            Written::One(text) => vec![Spanned::new(span, text)],
            Written::List(words) => words,
        }))
    }
}

/// [`Words`] as it is written; a list knows the place of each of its words.
enum Written {
    One(String),
    List(Vec<Spanned<String>>),
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WrittenVisitor)
    }
}

struct WrittenVisitor;

impl<'de> de::Visitor<'de> for WrittenVisitor {
    type Value = Written;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a string or a list of strings")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Written, E> {
        Ok(Written::One(text.to_owned()))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Written, A::Error> {
        let mut words = Vec::new();
        while let Some(word) = list.next_element()? {
            words.push(word);
        }
        Ok(Written::List(words))
    }
}

impl Words {
    fn texts(self) -> List<Text> {
        self.0.into_iter().map(|word| word.into_inner().into()).collect()
    }

    fn parse<T: Clone>(self, faults: &mut Faults, parse: impl Fn(&str) -> Result<T, String>) -> List<T> {
        self.0.into_iter().filter_map(|word| faults.parse(&word, |word| parse(word))).collect()
    }
}

/// What is wrong with a file, as it is found.
struct Faults<'a> {
    path: &'a Path,
    list: Vec<Diagnostic>,
}

impl Faults<'_> {
    fn add(&mut self, span: Span, message: String) {
        self.list.push(Diagnostic { path: self.path.to_owned(), span: Some(span), message, help: None });
    }

    fn parse<T>(&mut self, word: &Spanned<String>, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let span = word.span();
        match parse(word.get_ref()) {
            Ok(value) => Some(value),
            Err(fault) => {
                self.add(Span::new(span.start, span.end), format!("{fault}, in \"{}\"", word.get_ref()));
                None
            }
        }
    }
}

impl Entry {
    fn build(self, faults: &mut Faults) -> Program {
        let style = |word: &str| Style::from_word(word).ok_or_else(|| format!("unknown style `{word}`"));
        let shell = |word: &str| Shell::from_word(word).ok_or_else(|| format!("unknown shell `{word}`"));
        let style = self.style.and_then(|word| faults.parse(&word, style));
        let below = self.name.0.iter().any(|name| name.get_ref().contains(' '));
        Program {
            names: self.name.0.into_iter().filter_map(|word| faults.parse(&word, notation::names)).flatten().collect(),
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
                None if style == Some(Style::None) => List::default(),
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
            standard: self.standard,
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
            let enough: List<Token> = vec![Token::Operands(count.saturating_sub(1))].into();
            condition.all = condition.all.iter().cloned().chain([enough]).collect();
        }
        let operands: Option<List<OperandSpec>> = match self.operands {
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
    let mut spellings: Vec<_> = program.options.iter().flat_map(super::schema::OptionSpec::spellings).collect();
    spellings.sort_unstable();
    spellings.iter().zip(spellings.iter().skip(1)).filter(|(one, next)| one == next).map(|(one, _)| *one).collect()
}
