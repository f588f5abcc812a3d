//! How long rows of a batch take: median, p99 and the slowest.
//!
//! `cargo bench --profile dev --bench batch -- PATH FILE` gives the rows of FILE (JSON lines, as `vetsh check --batch`
//! takes them) one by one to the build at PATH and waits for each answer. The first rows, which pay for the start, count
//! as all others.

#![allow(clippy::expect_used, reason = "a measurement that cannot be made ends the program")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--"));
    let (Some(vetsh), Some(file)) = (words.next(), words.next()) else {
        println!("usage: cargo bench --profile dev --bench batch -- PATH FILE");
        return;
    };
    let rows = std::fs::read_to_string(&file).expect("a file of rows");
    let mut batch = Command::new(vetsh);
    batch.args(["check", "--batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut batch = batch.spawn().expect("a program that starts");
    let mut input = batch.stdin.take().expect("its input");
    let mut output = BufReader::new(batch.stdout.take().expect("its output"));
    let mut times: Vec<(Duration, &str)> = Vec::new();
    let mut answer = String::new();
    for row in rows.lines().filter(|row| !row.is_empty()) {
        let start = Instant::now();
        writeln!(input, "{row}").expect("a program that reads");
        answer.clear();
        output.read_line(&mut answer).expect("an answer");
        times.push((start.elapsed(), row));
    }
    drop(input);
    let status = batch.wait().expect("an end");
    times.sort_unstable();
    let at = |share: usize| times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
    for (name, share) in [("median", 50), ("p99", 99), ("slowest", 100)] {
        if let Some((time, row)) = at(share) {
            println!("{name:>7}: {:.3} ms  {}", time.as_secs_f64() * 1e3, row.chars().take(100).collect::<String>());
        }
    }
    println!("{} rows, {status}", times.len());
}
