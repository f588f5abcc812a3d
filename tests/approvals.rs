//! Tickets: the same question finds the same ticket, any change another one, and a yes counts once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use vetsh::approval::store::{MOST_OPEN, Opened, Store, Unanswerable};
use vetsh::approval::ticket::{State, Ticket};
use vetsh::approval::{By, Outcome, Refusal};
use vetsh::decision::Verdict;
use vetsh::facts::{Aspect, Effect};
use vetsh::host::FileRead;
use vetsh::policy::{AskSettings, Unattended};

use crate::question::{Question, state};
use crate::support::{ALLOW_ALL, Sandbox, see};

fn ask(part: &str) -> Question {
    Question::new(part, Verdict::Ask)
}

/// The ticket that a question is left with where nobody can be asked.
fn pending(question: &Question, state: &Path) -> String {
    match question.settle(state) {
        Outcome::Refused(Refusal::Pending { ticket, .. }) => ticket,
        other => panic!("{other:?}"),
    }
}

fn answer(state: &Path, id: &str, approve: bool) -> Result<(), Unanswerable> {
    let store = Store::new(state);
    store.answer(&store.read(id).unwrap().unwrap(), approve, Timestamp::now()).unwrap()
}

/// By what a question is granted.
fn granted(question: &Question, state: &Path) -> Option<By> {
    match question.settle(state) {
        Outcome::Granted(granted) => Some(granted.by().clone()),
        Outcome::Refused(_) => None,
    }
}

#[test]
fn the_policy_alone_settles_what_it_allows_and_denies() {
    let state = state();
    assert_eq!(granted(&Question::new("ls", Verdict::Allow), state.path()), Some(By::Policy));
    assert!(matches!(Question::new("ls", Verdict::Deny).settle(state.path()), Outcome::Refused(Refusal::Policy)));
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
}

#[test]
fn an_identical_question_finds_the_same_ticket() {
    let state = state();
    let id = pending(&ask("rm -r build"), state.path());
    assert_eq!(pending(&ask("rm -r build"), state.path()), id);
    assert_eq!(Store::new(state.path()).all().unwrap().len(), 1);
    let ticket = Store::new(state.path()).read(&id).unwrap().unwrap();
    let text: String = ticket.text.iter().map(|piece| piece.text.as_str()).collect();
    assert_eq!((ticket.state, text.as_str(), ticket.origin.as_deref()), (State::Open, "rm -r build", Some("codex")));
    let mode = fs::metadata(state.path().join(format!("tickets/{id}.json"))).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn any_change_voids_an_approval() {
    let changes: [fn(&mut Question); 11] = [
        |question| question.part.push(b' '),
        |question| question.shell = "zsh".to_owned(),
        |question| question.options.insert(0, "-e".into()),
        |question| question.options.push("$0".into()),
        |question| question.start = "/home/me/other".into(),
        |question| question.project = None,
        |question| question.decision.policy = "p1".repeat(32),
        |question| question.files = vec![FileRead { path: "/home/me/app/x".into(), digest: [1; 32] }],
        |question| question.decision.findings[0].target = Some("src".into()),
        |question| question.decision.findings[0].effect = Some((Effect::Delete, Some(Aspect::Home))),
        |question| question.decision.findings.push(question.decision.findings[0].clone()),
    ];
    let state = state();
    let original = ask("rm -r build");
    let id = pending(&original, state.path());
    answer(state.path(), &id, true).unwrap();
    for change in changes {
        let mut changed = ask("rm -r build");
        change(&mut changed);
        assert_ne!(pending(&changed, state.path()), id);
    }
    assert_eq!(granted(&original, state.path()), Some(By::Ticket(id)));
}

#[test]
fn an_approval_counts_once() {
    let state = state();
    let question = ask("rm -r build");
    let id = pending(&question, state.path());
    answer(state.path(), &id, true).unwrap();
    let state = state.path();
    let grants = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..8).map(|_| scope.spawn(move || granted(&ask("rm -r build"), state))).collect();
        racers.into_iter().filter_map(|racer| racer.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(grants, [By::Ticket(id.clone())]);
    // The same question again is a new one under the same name.
    assert_eq!(pending(&question, state), id);
    assert_eq!(granted(&question, state), None);
}

#[test]
fn a_denial_stands_until_the_ticket_ends() {
    let state = state();
    let question = ask("rm -r build");
    let id = pending(&question, state.path());
    answer(state.path(), &id, false).unwrap();
    for _ in 0..2 {
        let outcome = question.settle(state.path());
        assert!(matches!(outcome, Outcome::Refused(Refusal::Denied { ref ticket }) if *ticket == id), "{outcome:?}");
    }
    assert_eq!(answer(state.path(), &id, true).unwrap_err(), Unanswerable::Answered);
}

#[test]
fn a_ticket_ends() {
    let (state, store) = (state(), |state: &Path| Store::new(state));
    let open = |question: &Question, created: Timestamp| {
        let ticket = question
            .with(|asked, decision| Ticket::open(asked, decision, None, created, SignedDuration::from_mins(30)));
        match store(state.path()).open(ticket).unwrap() {
            Opened::Waiting(id, _) => id,
            other => panic!("{other:?}"),
        }
    };
    let question = ask("rm -r build");
    let long_ago = Timestamp::now() - SignedDuration::from_mins(31);
    let id = open(&question, long_ago);
    assert_eq!(answer(state.path(), &id, true).unwrap_err(), Unanswerable::Expired);
    // An approval that was never used ends with its ticket.
    let ticket = store(state.path()).read(&id).unwrap().unwrap();
    store(state.path()).answer(&ticket, true, long_ago).unwrap().unwrap();
    assert_eq!(granted(&question, state.path()), None);
    // What has ended makes room.
    open(&ask("other"), Timestamp::now());
    assert!(store(state.path()).all().unwrap().iter().all(|ticket| !ticket.expired(Timestamp::now())));
}

#[test]
fn a_project_has_so_many_open_tickets_and_no_more() {
    let state = state();
    for number in 0..MOST_OPEN {
        pending(&ask(&format!("rm {number}")), state.path());
    }
    let full = ask("rm more").settle(state.path());
    assert!(matches!(full, Outcome::Refused(Refusal::TooMany { open: MOST_OPEN })), "{full:?}");
    // One that is open is still found, another project has its own, and an answer makes room.
    let id = pending(&ask("rm 0"), state.path());
    let mut elsewhere = ask("rm more");
    elsewhere.project = Some("/home/me/other".into());
    pending(&elsewhere, state.path());
    answer(state.path(), &id, false).unwrap();
    pending(&ask("rm more"), state.path());
}

#[test]
fn a_file_that_vetsh_did_not_write_approves_nothing() {
    let state = state();
    let question = ask("rm -r build");
    let id = pending(&question, state.path());
    answer(state.path(), &id, true).unwrap();
    let path = state.path().join(format!("tickets/{id}.json"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let outcome = question.settle(state.path());
    assert!(matches!(outcome, Outcome::Refused(Refusal::Failed { .. })), "{outcome:?}");
    // Nor does a copy under the name of another question.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let other = pending(&ask("rm -r src"), state.path());
    fs::copy(&path, state.path().join(format!("tickets/{other}.json"))).unwrap();
    assert_eq!(granted(&ask("rm -r src"), state.path()), None);
}

#[test]
fn no_state_no_approval() {
    let state = state();
    fs::write(state.path().join("file"), "").unwrap();
    let outcome = ask("rm -r build").settle(&state.path().join("file"));
    assert!(matches!(outcome, Outcome::Refused(Refusal::Failed { .. })), "{outcome:?}");
}

#[test]
fn an_answer_is_about_the_ticket_that_was_shown() {
    let state = state();
    let store = Store::new(state.path());
    let question = ask("rm -r build");
    let id = pending(&question, state.path());
    let mut shown = store.read(&id).unwrap().unwrap();
    shown.binding.push('0');
    assert_eq!(store.answer(&shown, true, Timestamp::now()).unwrap(), Err(Unanswerable::Missing));
    // One that a crash left half written is asked anew.
    fs::write(state.path().join(format!("tickets/{id}.json")), "{\"version\":1,").unwrap();
    assert_eq!(pending(&question, state.path()), id);
}

/// The shell start that the approved command of `an_approval_covers_the_shells_it_listed` makes.
fn nested() -> Question {
    ask("rm -r build")
}

#[test]
fn an_approval_covers_the_shells_it_listed_as_often_as_listed() {
    let state = state();
    let argv = ["sh", "-c", "rm -r build"];
    let outer =
        ask("sh -c 'rm -r build'; sh -c 'rm -r build'").listing(&argv, "/home/me/app").listing(&argv, "/home/me/app");
    let mut inner = nested();
    inner.shell = "sh".to_owned();
    assert_eq!(granted(&inner, state.path()), None);
    let id = pending(&outer, state.path());
    answer(state.path(), &id, true).unwrap();
    assert_eq!(granted(&outer, state.path()), Some(By::Ticket(id)));

    let others: [fn(&mut Question); 6] = [
        |question| question.part = b"rm -r src".to_vec(),
        |question| question.shell = "zsh".to_owned(),
        |question| question.start = "/home/me".into(),
        |question| question.decision.policy = "p1".repeat(32),
        |question| question.files = vec![FileRead { path: "/x".into(), digest: [1; 32] }],
        |question| question.decision.findings[0].target = Some("src".into()),
    ];
    for change in others {
        let mut other = nested();
        other.shell = "sh".to_owned();
        change(&mut other);
        assert_eq!(granted(&other, state.path()), None);
    }
    assert_eq!(granted(&inner, state.path()), Some(By::Approval));
    assert_eq!(granted(&inner, state.path()), Some(By::Approval));
    assert_eq!(granted(&inner, state.path()), None);
}

/// Settles a question through a program with this text, and says how; the last argument is left in a file.
fn by_program(text: &str, mode: u32, wait: Option<u32>) -> (Outcome, String) {
    let state = state();
    let program = state.path().join("program");
    fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
    let got = state.path().join("got");
    let words = [program.to_str().unwrap(), got.to_str().unwrap()].map(str::to_owned);
    let settings = AskSettings { wait, program: words.to_vec(), unattended: Unattended::Deny };
    let outcome = ask("rm -r build").settle_by(&settings, state.path());
    (outcome, fs::read_to_string(got).unwrap_or_default())
}

#[test]
fn a_program_of_the_policy_asks_where_no_terminal_can() {
    let (outcome, got) = by_program("printf '%s\\n' \"$2\" \"$PWD\" \"${CARGO:-clean}\" > \"$1\"", 0o700, None);
    assert!(matches!(outcome, Outcome::Granted(granted) if *granted.by() == By::Human));
    assert!(got.contains("from   codex") && got.contains("1. delete.project build"), "{got}");
    assert!(got.ends_with("\n/\nclean\n"), "{got}");

    let (outcome, _) = by_program("exit 1", 0o700, None);
    assert!(matches!(outcome, Outcome::Refused(Refusal::Human)), "{outcome:?}");
    // Failed, slow, or not the user's own: nobody was asked.
    for (text, mode, wait) in [("exit 3", 0o700, None), ("sleep 60", 0o700, Some(1)), ("exit 0", 0o722, None)] {
        let (outcome, _) = by_program(text, mode, wait);
        assert!(matches!(outcome, Outcome::Refused(Refusal::Unattended)), "{text}: {outcome:?}");
    }
}

#[test]
fn tickets_are_listed_and_shown_to_everybody_and_answered_only_by_a_human() {
    let sandbox = Sandbox::new(ALLOW_ALL);
    let vetsh = |arguments: &[&str]| see(sandbox.command(sandbox.shim("vetsh")).arg("approvals").args(arguments));
    assert_eq!((vetsh(&["list"]).code, vetsh(&["list"]).stdout.as_str()), (Some(0), ""));
    let id = pending(&ask("rm -r build\nls"), &sandbox.path("state"));
    let list = vetsh(&["list"]).stdout;
    assert!(list.starts_with(&format!("{id}  open ")) && list.ends_with("/home/me/app  rm -r build …\n"), "{list}");
    let shown = vetsh(&["show", &id]).stdout;
    assert!(shown.contains("  rm -r build\n  ls\n") && shown.contains("1. delete.project build"), "{shown}");
    for verb in ["approve", "deny"] {
        let seen = vetsh(&[verb, &id]);
        assert_eq!(seen.code, Some(126));
        assert!(seen.stderr.contains("answered by a human at a terminal"), "{}", seen.stderr);
    }
    let standing = Store::new(&sandbox.path("state")).read(&id).unwrap().unwrap();
    assert_eq!(standing.state, State::Open);
    assert_eq!(vetsh(&["show", "../lock"]).code, Some(2));
}
