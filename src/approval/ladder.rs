//! The ladder: by what a command that the policy asks about is settled, first rung first.

use std::fs::File;
use std::path::Path;

use jiff::Timestamp;

use super::cover::Cover;
use super::process::Process;
use super::prompt::{Answer, Purpose};
use super::store::{Opened, Standing, Store, StoreFault};
use super::ticket::{Binding, Ticket};
use super::{Asked, By, EXPIRY, Granted, Outcome, Refusal};
use super::{human, prompt};
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
    let outcome = match store.redeem(&Binding::of(asked, decision), now)? {
        Some(Standing::Redeemed(id)) => Outcome::Granted(Granted(By::Ticket(id))),
        Some(Standing::Denied(ticket)) => return Ok(Outcome::Refused(Refusal::Denied { ticket })),
        Some(Standing::Open) | None => match human::terminal() {
            Ok(tty) => at_terminal(tty, asked, decision, settings, &store)?,
            Err(_) => later(asked, decision, settings, &store)?,
        },
    };
    if let (Outcome::Granted(_), Some(own)) = (&outcome, Process::own())
        && let Some(cover) = Cover::of(asked, decision, &own, Timestamp::now())
    {
        store.keep(&cover)?;
    }
    Ok(outcome)
}

/// Asks the human at the terminal, when it is this question's turn there.
fn at_terminal(
    tty: File,
    asked: &Asked<'_>,
    decision: &Decision,
    settings: &AskSettings,
    store: &Store,
) -> Result<Outcome, StoreFault> {
    let _turn = store.turn_at(Process::own().map_or(0, |own| own.terminal))?;
    let question = question(asked, decision);
    match prompt::ask(tty, &question, Purpose::Run) {
        Ok(Answer::Yes) => Ok(Outcome::Granted(Granted(By::Human))),
        Ok(Answer::No) => Ok(Outcome::Refused(Refusal::Human)),
        Ok(Answer::Withdrawn(signal)) => Ok(Outcome::Refused(Refusal::Withdrawn { signal })),
        Ok(Answer::Gone) | Err(_) => later(asked, decision, settings, store),
    }
}

/// Leaves a ticket that a human answers later.
fn later(asked: &Asked<'_>, decision: &Decision, settings: &AskSettings, store: &Store) -> Result<Outcome, StoreFault> {
    if settings.unattended == Unattended::Deny {
        return Ok(Outcome::Refused(Refusal::Unattended));
    }
    Ok(Outcome::Refused(match store.open(question(asked, decision))? {
        Opened::Waiting(ticket, expires) => Refusal::Pending { ticket, expires },
        Opened::Denied(ticket) => Refusal::Denied { ticket },
        Opened::Full(open) => Refusal::TooMany { open },
    }))
}

fn question(asked: &Asked<'_>, decision: &Decision) -> Ticket {
    let asker = asked.origin.map(ToOwned::to_owned).or_else(human::asker);
    Ticket::open(asked, decision, asker, Timestamp::now(), EXPIRY)
}
