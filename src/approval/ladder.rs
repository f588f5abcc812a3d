//! The ladder: by what a command that the policy asks about is settled, first rung first.

use std::path::Path;

use jiff::Timestamp;

use super::store::{Standing, Store, StoreFault};
use super::ticket::Binding;
use super::{Asked, By, Granted, Outcome, Refusal, Settings};
use crate::decision::{Decision, Verdict};

/// Settles a decision. `state` is the folder of vetsh's state.
///
/// Returns at once where the policy is clear or nobody can be asked; waits only while a human is at the terminal.
pub fn settle(asked: &Asked<'_>, decision: &Decision, settings: &Settings, state: &Path) -> Outcome {
    match decision.verdict {
        Verdict::Allow => Outcome::Granted(Granted(By::Policy)),
        Verdict::Deny => Outcome::Refused(Refusal::Policy),
        Verdict::Ask => ask(asked, decision, settings, state)
            .unwrap_or_else(|fault| Outcome::Refused(Refusal::Failed { why: fault.to_string() })),
    }
}

fn ask(asked: &Asked<'_>, decision: &Decision, settings: &Settings, state: &Path) -> Result<Outcome, StoreFault> {
    let (store, now) = (Store::new(state), Timestamp::now());
    let binding = Binding::of(asked, decision);
    match store.redeem(&binding, now)? {
        Some(Standing::Redeemed(id)) => return Ok(Outcome::Granted(Granted(By::Ticket(id)))),
        Some(Standing::Denied(ticket)) => return Ok(Outcome::Refused(Refusal::Denied { ticket })),
        Some(Standing::Open(..) | Standing::Full(_)) | None => {}
    }
    Ok(Outcome::Refused(match store.open(asked, decision, now, settings.expiry)? {
        Standing::Open(ticket, expires) => Refusal::Pending { ticket, expires },
        Standing::Full(open) => Refusal::TooMany { open },
        // The ticket was answered in between; the next ask finds the answer.
        Standing::Redeemed(ticket) | Standing::Denied(ticket) => Refusal::Denied { ticket },
    }))
}
