//! The ladder: by what a command that the policy asks about is settled, first rung first.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use super::cover::Cover;
use super::process::Process;
use super::prompt::{Answer, Purpose};
use super::store::{Opened, Standing, Store, StoreFault};
use super::ticket::{Binding, Ticket};
use super::turn::{NoTurn, Turn};
use super::{Asked, By, EXPIRY, Granted, Outcome, Refusal};
use super::{human, program, prompt};
use crate::decision::{Decision, Verdict};
use crate::policy::{AskSettings, Unattended};

/// Settles a decision. `state` is the folder of vetsh's state.
///
/// Returns at once where the policy is clear or nobody can be asked; waits only while a human is at the terminal.
pub fn settle(asked: &Asked<'_>, decision: &Decision, settings: &AskSettings, state: &Path) -> Outcome {
    match decision.verdict {
        Verdict::Allow => Outcome::Granted(Granted(By::Policy)),
        Verdict::Deny => Outcome::Refused(Refusal::Policy),
        Verdict::Ask => ask(asked, decision, settings, state)
            .unwrap_or_else(|fault| Outcome::Refused(Refusal::Failed { why: fault.to_string() })),
    }
}

fn ask(asked: &Asked<'_>, decision: &Decision, settings: &AskSettings, state: &Path) -> Result<Outcome, StoreFault> {
    let (store, now) = (Store::new(state), Timestamp::now());
    if store.covered(asked, decision, now)? {
        return Ok(Outcome::Granted(Granted(By::Approval)));
    }
    let by = match store.redeem(&Binding::of(asked, decision), now)? {
        Some(Standing::Redeemed(id)) => By::Ticket(id),
        Some(Standing::Denied(ticket)) => return Ok(Outcome::Refused(Refusal::Denied { ticket })),
        Some(Standing::Open) | None => {
            let who = asked.origin.map(ToOwned::to_owned).or_else(human::asker);
            let question = Ticket::open(asked, decision, who, now, EXPIRY);
            match put(&question, settings, &store)? {
                Answer::Yes => By::Human,
                Answer::No => return Ok(Outcome::Refused(Refusal::Human)),
                Answer::Withdrawn(signal) => return Ok(Outcome::Refused(Refusal::Withdrawn { signal })),
                Answer::Gone => return later(question, settings, &store),
            }
        }
    };
    let cover = Process::own().and_then(|own| Cover::of(asked, decision, &own, Timestamp::now()));
    cover.map_or(Ok(()), |cover| store.keep(&cover))?;
    Ok(Outcome::Granted(Granted(by)))
}

/// Puts a question to a human: at the terminal, else through the policy's program. Waits only while one of them lives.
fn put(question: &Ticket, settings: &AskSettings, store: &Store) -> Result<Answer, StoreFault> {
    let limit = settings.wait.map(|seconds| Duration::from_secs(seconds.into()));
    match Turn::take(store, limit) {
        // A terminal that fails is one that went away.
        Ok(turn) => Ok(prompt::ask(turn, question, Purpose::Run, limit).unwrap_or(Answer::Gone)),
        Err(NoTurn::NotHuman(_)) => Ok(program::ask(&settings.program, question, limit)),
        Err(NoTurn::Store(fault)) => Err(fault),
    }
}

/// Leaves a ticket that a human answers later.
fn later(mut question: Ticket, settings: &AskSettings, store: &Store) -> Result<Outcome, StoreFault> {
    if settings.unattended == Unattended::Deny {
        return Ok(Outcome::Refused(Refusal::Unattended));
    }
    let now = Timestamp::now();
    (question.created, question.expires) = (now, now.checked_add(EXPIRY).unwrap_or(now));
    Ok(Outcome::Refused(match store.open(question)? {
        Opened::Waiting(ticket, expires) => Refusal::Pending { ticket, expires },
        Opened::Denied(ticket) => Refusal::Denied { ticket },
        Opened::Full(open) => Refusal::TooMany { open },
    }))
}
