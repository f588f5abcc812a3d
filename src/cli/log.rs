//! `vetsh log`: what was decided, and whether the log is whole.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};

use clap::{Args, Subcommand, ValueEnum};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp};

use super::Fault;
use crate::audit::log::Log;
use crate::audit::record::{Kind, Record};
use crate::audit::verify::{self, Entry};
use crate::decision::Verdict;
use crate::paths::Paths;
use crate::{exit, terminal_text};

/// Show what was decided
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    topic: Option<Topic>,
    /// Only records since then: a span back from now (`2h`, `3 days`) or a date in UTC (`2026-11-30`, `2026-11-30T12:00`)
    #[arg(long, value_name = "WHEN", value_parser = since)]
    since: Option<Timestamp>,
    /// Only records with this verdict
    #[arg(long, value_enum)]
    verdict: Option<Word>,
    /// Print the lines of the log as they are
    #[arg(long)]
    json: bool,
    /// Only the last N of them
    #[arg(short = 'n', value_name = "N")]
    last: Option<usize>,
}

#[derive(Debug, Subcommand)]
enum Topic {
    /// Tell whether the log's chain of hashes holds; exits with 1 if it does not
    Verify,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Word {
    Allow,
    Ask,
    Deny,
}

/// Exit code of `log verify` where the chain is broken.
const DAMAGED: i32 = 1;

pub(super) fn run(arguments: &Arguments) -> Result<i32, Fault> {
    let paths = Paths::locate().map_err(|fault| Fault(fault.to_string()))?;
    let log = Log { state: &paths.state, strict: false };
    match arguments.topic {
        Some(Topic::Verify) => verify(&log),
        None => show(arguments, &log),
    }
}

/// A point in time: a span before now, or a date.
fn since(text: &str) -> Result<Timestamp, String> {
    let date = |text: &str| TimeZone::UTC.to_timestamp(text.parse::<DateTime>()?);
    let back = |span: Span| Timestamp::now().checked_sub(span.to_duration(SpanRelativeTo::days_are_24_hours())?);
    let found = text.parse::<Span>().and_then(back).or_else(|_| text.parse()).or_else(|_| date(text));
    found.map_err(|_| "not a span such as `2h` or a date such as `2026-11-30`".to_owned())
}

fn show(arguments: &Arguments, log: &Log<'_>) -> Result<i32, Fault> {
    let mut kept: VecDeque<(Vec<u8>, Entry)> = VecDeque::new();
    let mut out = io::stdout().lock();
    let mut print = |(line, entry): &(Vec<u8>, Entry)| -> io::Result<()> {
        if arguments.json {
            out.write_all(line).and_then(|()| writeln!(out))
        } else {
            writeln!(out, "{}", row(&entry.record))
        }
    };
    let mut unreadable = 0_usize;
    for (number, line) in (1..).zip(lines(log)?.split(b'\n')) {
        let line = line?;
        let Some(entry) = verify::entry(number, &line) else {
            unreadable += 1;
            continue;
        };
        if !wanted(arguments, &entry.record) {
            continue;
        }
        let item = (line, entry);
        match arguments.last {
            None => print(&item)?,
            Some(last) => {
                kept.push_back(item);
                if kept.len() > last {
                    kept.pop_front();
                }
            }
        }
    }
    kept.iter().try_for_each(print)?;
    if unreadable > 0 {
        eprintln!("vetsh: lines that are no record: {unreadable}; see `vetsh log verify`");
    }
    Ok(exit::SUCCESS)
}

fn wanted(arguments: &Arguments, record: &Record) -> bool {
    let verdict = match record.verdict {
        Verdict::Allow => Word::Allow,
        Verdict::Ask => Word::Ask,
        Verdict::Deny => Word::Deny,
    };
    arguments.since.is_none_or(|since| record.time >= since) && arguments.verdict.is_none_or(|word| word == verdict)
}

/// A record on one line.
fn row(record: &Record) -> String {
    let outcome = if record.outcome.granted { "ran" } else { "refused" };
    let what = match record.kind {
        Kind::Decision => format!("{:5} {outcome}", record.verdict.word()),
        Kind::Answer => format!("answer {}", if record.outcome.granted { "yes" } else { "no" }),
    };
    let ticket = record.outcome.ticket.as_ref().map(|id| format!(" [{id}]")).unwrap_or_default();
    let shown = |text: &str| terminal_text::line(text.as_bytes());
    format!("{:.0}  {what:13}  {}  {}{ticket}", record.time, shown(&record.cwd), shown(&record.text))
}

fn verify(log: &Log<'_>) -> Result<i32, Fault> {
    let report = verify::verify(&mut lines(log)?)?;
    let mut out = io::stdout().lock();
    for fault in &report.faults {
        writeln!(out, "{fault}")?;
    }
    for line in &report.repaired {
        writeln!(out, "line {line} is unfinished: its writer was killed; the line after it says so")?;
    }
    if report.unfinished {
        writeln!(out, "the last line is unfinished: its writer was killed, or is writing")?;
    }
    let missed = missed(log)?;
    if missed > 0 {
        writeln!(out, "commands that ran without a record, as far as they were counted: {missed}")?;
    }
    let (records, whole) = (report.records, report.faults.is_empty());
    let noun = if records == 1 { "record" } else { "records" };
    writeln!(out, "{records} {noun}; the chain {}", if whole { "holds" } else { "is broken" })?;
    Ok(if whole { exit::SUCCESS } else { DAMAGED })
}

/// How many commands were counted that ran without a record.
fn missed(log: &Log<'_>) -> io::Result<usize> {
    match File::open(log.missed_path()) {
        Ok(file) => Ok(BufReader::new(file).split(b'\n').count()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// The log's text; a log that was never written is empty.
fn lines(log: &Log<'_>) -> Result<Box<dyn BufRead>, Fault> {
    match File::open(log.path()) {
        Ok(file) => Ok(Box::new(BufReader::new(file))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Box::new(io::empty())),
        Err(error) => Err(Fault::new(format_args!("cannot read the log {}", log.path().display()), error)),
    }
}
