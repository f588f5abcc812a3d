//! The oracle: commands run for real under real shells, in a throw-away namespace with stubs for all programs, and
//! everything that starts must be among the commands that `vetsh check` lists.
//!
//! `VETSH_ORACLE=FILE.jsonl` runs the rows of a file (`{"id", "cmd", "project", "home", "shell"}`),
//! `VETSH_ORACLE_GENERATED=N` so many scripts that a generator makes. Otherwise a few of the project's own.

mod cage;
mod generate;
mod minimise;
mod proof;
mod reading;
mod row;
mod tool;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bstr::BString;
use proof::{Miss, Proof, Prover};
use reading::Cover;
use row::Row;

/// How many misses are made small and shown.
const SHOWN: usize = 40;
/// How many scripts are generated where nobody says.
const GENERATED: u64 = 25;

#[test]
fn what_starts_is_listed() {
    let rows = match std::env::var_os("VETSH_ORACLE") {
        Some(file) => Row::file(Path::new(&file)),
        None if std::env::var_os("VETSH_LONG").is_some() => Row::seeds(),
        None => Row::seeds().into_iter().step_by(4).collect(),
    };
    prove(&rows);
}

#[test]
fn what_generated_scripts_start_is_listed() {
    let count = std::env::var("VETSH_ORACLE_GENERATED").map_or(GENERATED, |count| count.parse().unwrap());
    let seed = std::env::var("VETSH_ORACLE_SEED").map_or(0, |seed| seed.parse().unwrap());
    prove(&(seed..seed + count).flat_map(generate::rows).collect::<Vec<_>>());
}

/// The tests above see what they are meant to see.
#[test]
fn what_is_not_listed_is_found() {
    let Some(mut prover) = prover() else { return };
    let row = Row::new("", "PATH=/nowhere:$PATH; f() { ls \"$@\"; }; f a 'b c'; true > here", None);
    let proof = prover.prove(&row);
    let words = |text: &[&str]| text.iter().map(|word| BString::from(*word)).collect::<Vec<_>>();
    let started = proof.covers.keys().map(|(shell, started)| (*shell, started.words.clone())).collect::<Vec<_>>();
    let ls = words(&["ls", "a", "b c"]);
    assert_eq!(started, ["bash", "dash", "zsh"].map(|shell| (shell, ls.clone())));
    assert_eq!(proof.misses, []);
    let mut reading = prover.reading(&row, "bash");
    reading.commands.retain(|command| command.program.as_ref() != Some(&"ls".into()));
    reading.findings.clear();
    let misses = prover.misses_of(&row, "bash", "ok", &reading);
    let here = Miss::Changed("+/home/user/project/here".to_owned());
    assert!(matches!(&misses[..], [Miss::Started(one), two] if one.words == ls && *two == here), "{misses:?}");
}

/// What all rows together have shown.
#[derive(Default)]
struct Report {
    rows: usize,
    /// Rows of which some program was started.
    executed: usize,
    runs: usize,
    late: usize,
    exact: usize,
    unknown: usize,
    doubt: usize,
    missed: Vec<(Row, Proof)>,
}

/// Runs all rows and fails if anything is missed.
fn prove(rows: &[Row]) {
    let next = AtomicUsize::new(0);
    let report = Mutex::new(Report::default());
    let work = || {
        let Some(mut prover) = prover() else { return };
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            if row.is_elsewhere() {
                let proof = prover.prove(row);
                report.lock().unwrap().add(row, proof);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let report = report.into_inner().unwrap();
    println!("{report}");
    report.fail_if_missed();
}

/// A prover, or `None` where the kernel forbids namespaces and nobody insists.
fn prover() -> Option<Prover> {
    match Prover::new(&row::programs()) {
        Ok(prover) => Some(prover),
        Err(error) => {
            assert!(std::env::var_os("VETSH_ORACLE_REQUIRED").is_none(), "{error}");
            eprintln!("the oracle is left out, as it can have no namespaces here: {error}");
            None
        }
    }
}

impl Report {
    fn add(&mut self, row: &Row, proof: Proof) {
        self.rows += 1;
        self.executed += usize::from(!proof.covers.is_empty());
        self.runs += proof.runs;
        self.late += proof.late;
        let count = |cover: Cover| proof.covers.values().filter(|found| **found == cover).count();
        self.exact += count(Cover::Exact);
        self.unknown += count(Cover::Unknown);
        self.doubt += count(Cover::Doubt);
        if !proof.misses.is_empty() {
            self.missed.push((row.clone(), proof));
        }
    }

    fn fail_if_missed(&self) {
        let Some(mut prover) = prover().filter(|_| !self.missed.is_empty()) else { return };
        let mut seen = BTreeSet::new();
        for (row, proof) in &self.missed {
            if seen.len() >= SHOWN {
                break;
            }
            let Some((shell, world, miss)) = proof.misses.first() else { continue };
            let small = minimise::minimise(&row.command, |command| {
                let row = Row { command: command.to_owned(), ..row.clone() };
                prover.misses(&row, shell, world).iter().any(|other| miss.is_like(other))
            });
            let small_row = Row { command: small.clone(), ..row.clone() };
            let misses = prover.misses(&small_row, shell, world);
            if seen.insert(small.clone()) {
                println!("{} in {shell}, world {world}: {small:?}\n  missed: {misses:?}", row.id);
                println!("  listed: {:?}", prover.reading(&small_row, shell).commands);
            }
        }
        panic!("{} rows started or changed something that is not listed", self.missed.len());
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = (self.exact + self.unknown + self.doubt).max(1);
        let per_mille = 1000 * self.exact / all;
        let share = format!("{}.{}", per_mille / 10, per_mille % 10);
        let Self { rows, executed, runs, late, exact, unknown, doubt, missed } = self;
        write!(
            f,
            "{rows} rows, {executed} of them started something; {runs} runs, {late} of them late; {all} programs: "
        )?;
        write!(
            f,
            "{exact} exact ({share} %), {unknown} by something unknown, {doubt} by a doubt; {} rows missed",
            missed.len()
        )
    }
}
