//! `vetsh approvals`: the tickets, and their answers.

use std::fs;
use std::io::{self, Write};

use clap::{Args, Subcommand};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::Fault;
use crate::approval::die;
use crate::approval::prompt::{self, Answer, Purpose};
use crate::approval::store::Store;
use crate::approval::ticket::{State, Ticket};
use crate::approval::turn::{NoTurn, Turn};
use crate::audit::hex;
use crate::audit::log::Log;
use crate::audit::record::Record;
use crate::exit;
use crate::paths::Paths;

/// Show and answer the questions that nobody could be asked at the time
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    topic: Option<Topic>,
}

#[derive(Debug, Subcommand)]
enum Topic {
    /// List the tickets that still stand, as does no subcommand
    List,
    /// Show one ticket whole
    Show {
        /// The ticket's name, as the refusal and the list give it
        id: String,
    },
    /// Let the command of a ticket run once; asks first, on the terminal of a human
    Approve {
        /// The ticket's name
        id: String,
    },
    /// Refuse the command of a ticket until it ends; asks first, on the terminal of a human
    Deny {
        /// The ticket's name
        id: String,
    },
}

pub(super) fn run(arguments: &Arguments) -> Result<i32, Fault> {
    let paths = Paths::locate().map_err(|fault| Fault(fault.to_string()))?;
    let store = Store::new(&paths.state);
    match &arguments.topic {
        None | Some(Topic::List) => list(&store),
        Some(Topic::Show { id }) => show(&store, id),
        Some(Topic::Approve { id }) => answer(&store, &paths, id, true),
        Some(Topic::Deny { id }) => answer(&store, &paths, id, false),
    }
}

fn list(store: &Store) -> Result<i32, Fault> {
    let now = Timestamp::now();
    let tickets = store.all().map_err(|fault| Fault(fault.to_string()))?;
    let mut out = io::stdout().lock();
    let standing: Vec<_> = tickets.iter().filter(|ticket| !ticket.expired(now)).collect();
    if standing.is_empty() {
        eprintln!("vetsh: nothing waits for an answer");
    }
    for ticket in standing {
        let (text, minutes) = (text_of(ticket), now.duration_until(ticket.expires).as_mins());
        let first = text.lines().next().unwrap_or_default();
        let more = if text.lines().nth(1).is_some() { " …" } else { "" };
        writeln!(out, "{}  {:8}  {minutes:3} min  {}  {first}{more}", ticket.id, state(ticket), ticket.start)?;
    }
    Ok(exit::SUCCESS)
}

fn show(store: &Store, id: &str) -> Result<i32, Fault> {
    let ticket = find(store, id)?;
    let mut out = io::stdout().lock();
    writeln!(out, "ticket {}: {}, until {}\n", ticket.id, state(&ticket), ticket.expires)?;
    for row in prompt::rows(&ticket, true, 120, false) {
        writeln!(out, "{row}")?;
    }
    Ok(exit::SUCCESS)
}

fn answer(store: &Store, paths: &Paths, id: &str, approve: bool) -> Result<i32, Fault> {
    let turn = match Turn::take(store, None) {
        Ok(turn) => turn,
        Err(NoTurn::Store(fault)) => return Err(Fault(fault.to_string())),
        Err(NoTurn::NotHuman(why)) => {
            eprintln!(
                "vetsh: tickets are answered by a human at a terminal, and this is none: {why}. Nothing was changed."
            );
            return Ok(exit::REFUSED);
        }
    };
    let ticket = find(store, id)?;
    if !ticket.waits(Timestamp::now()) {
        return Err(Fault(format!("ticket {id} is not open any more: it is {}", state(&ticket))));
    }
    if let Some(path) = changed(&ticket).filter(|_| approve) {
        return Err(Fault(format!(
            "ticket {id} is void: {path} changed after the question; the agent has to ask again"
        )));
    }
    let purpose = if approve { Purpose::Approve } else { Purpose::Deny };
    match prompt::ask(turn, &ticket, purpose, None)? {
        Answer::Yes => {}
        Answer::No => return Ok(exit::SUCCESS),
        Answer::Withdrawn(signal) => die(signal),
        Answer::Gone => return Err(Fault("the terminal went away".to_owned())),
    }
    record(paths, &ticket, approve)?;
    let answered = store.answer(&ticket, approve, Timestamp::now()).map_err(|fault| Fault(fault.to_string()))?;
    answered.map_err(|why| Fault::new(format_args!("ticket {id}"), why))?;
    Ok(exit::SUCCESS)
}

/// Writes the answer down before it counts: one that left no trace could not be told from a forged one.
fn record(paths: &Paths, ticket: &Ticket, approve: bool) -> Result<(), Fault> {
    let log = Log { state: &paths.state, strict: true };
    log.note(&Record::answer(ticket, approve)).map_err(|fault| Fault::new("the answer does not count", fault))
}

fn find(store: &Store, id: &str) -> Result<Ticket, Fault> {
    let found = store.read(id).map_err(|fault| Fault(fault.to_string()))?;
    found.ok_or_else(|| Fault(format!("there is no ticket `{id}`; `vetsh approvals list` shows those that stand")))
}

/// The first file read for the question that is not what it was.
fn changed(ticket: &Ticket) -> Option<&str> {
    let same = |path: &str, digest: &str| fs::read(path).is_ok_and(|text| hex(&Sha256::digest(text)) == digest);
    ticket.files.iter().find(|(path, digest)| !same(path, digest)).map(|(path, _)| path.as_str())
}

fn text_of(ticket: &Ticket) -> String {
    ticket.text.iter().map(|piece| piece.text.as_str()).collect()
}

fn state(ticket: &Ticket) -> &'static str {
    match ticket.state {
        _ if ticket.expired(Timestamp::now()) => "expired",
        State::Open => "open",
        State::Approved => "approved",
        State::Denied => "denied",
        State::Used => "used",
    }
}
