//! The question on the terminal: where it is put, what counts as an answer, and what is left behind.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use vetsh::approval::prompt;
use vetsh::approval::store::{Opened, Store};
use vetsh::approval::terminal::SILENCE;
use vetsh::approval::ticket::{State, Ticket};
use vetsh::decision::Verdict;
use vetsh::diagnostic::Span;

use crate::pty::{Pty, Tmux, wait_for};
use crate::question::Question;
use crate::support::{ALLOW_ALL, Sandbox};

/// The last words of the question.
const ASKS: &str = "explain):";

/// An installation with one open ticket.
struct Asking {
    sandbox: Sandbox,
    id: String,
}

impl Asking {
    fn new(part: &str) -> Self {
        let sandbox = Sandbox::new(ALLOW_ALL);
        let ticket = ticket(part);
        let Opened::Waiting(id, _) = Store::new(&sandbox.path("state")).open(ticket).unwrap() else { panic!() };
        Self { sandbox, id }
    }

    fn approve(&self) -> String {
        format!("{} approvals approve {}", self.sandbox.shim("vetsh").display(), self.id)
    }

    fn state(&self) -> State {
        Store::new(&self.sandbox.path("state")).read(&self.id).unwrap().unwrap().state
    }

    /// A terminal of tmux on which the question stands.
    fn asked(&self) -> Tmux {
        let tmux = Tmux::attached(&self.sandbox.path("home"));
        tmux.type_in(&format!("{}; echo code=$?; stty -a\r", self.approve()));
        tmux.wait_for(ASKS);
        tmux
    }
}

fn ticket(part: &str) -> Ticket {
    let question = Question::new(part, Verdict::Ask);
    question.with(|asked, decision| {
        let asker = Some("codex (process 7)".to_owned());
        Ticket::open(asked, decision, asker, Timestamp::now(), SignedDuration::from_mins(30))
    })
}

/// Long enough for a key to count.
fn keep_silent() {
    sleep(SILENCE + Duration::from_millis(200));
}

/// The terminal reads lines and shows what is typed, as before.
fn assert_restored(tmux: &Tmux) {
    let screen = tmux.wait_for("icanon");
    assert!(
        !screen.contains("-icanon") && !screen.contains("-echo ") && !screen.contains("susp = <undef>"),
        "{screen}"
    );
}

#[test]
fn no_question_where_a_program_owns_the_terminal() {
    let asking = Asking::new("rm -r build");
    let (pty, approve) = (Pty::new(), asking.approve());
    let mut child = pty.start(&["/bin/sh", "-c", &format!("{approve}; echo code=$?")]);
    pty.wait_for("code=126");
    pty.type_in("y");
    assert!(child.wait().unwrap().success());
    assert!(pty.seen().contains("it was started by") && !pty.seen().contains("run it once"), "{}", pty.seen());
    assert_eq!(asking.state(), State::Open);
}

#[test]
fn no_question_where_an_orphan_took_a_terminal() {
    let asking = Asking::new("rm -r build");
    let (pty, approve) = (Pty::new(), asking.approve());
    // Forked twice, in a session of its own, on a terminal that only its own programs read: nothing but shells and init
    // above it.
    let orphan = format!("sleep 0.5; {approve}; echo code=$?");
    let mut parent = pty.spawn(Command::new("/usr/bin/setsid").args(["--fork", "--ctty", "/bin/bash", "-c", &orphan]));
    parent.wait().unwrap();
    pty.wait_for("code=126");
    assert!(pty.seen().contains("stands behind it"), "{}", pty.seen());
    assert_eq!(asking.state(), State::Open);
}

#[test]
fn no_question_where_no_terminal_is_attached_to_tmux() {
    let asking = Asking::new("rm -r build");
    let tmux = Tmux::detached(&asking.sandbox.path("home"));
    tmux.type_in(&format!("{}; echo code=$?\n", asking.approve()));
    let screen = tmux.wait_for("code=126");
    assert!(screen.contains("no terminal is attached to"), "{screen}");
    assert_eq!(asking.state(), State::Open);
}

#[test]
fn a_yes_of_the_human_at_tmux_counts() {
    let asking = Asking::new("rm -r build");
    let tmux = asking.asked();
    keep_silent();
    tmux.type_in("y");
    tmux.wait_for("code=0");
    assert_eq!(asking.state(), State::Approved);
    assert_restored(&tmux);
    let log = asking.sandbox.path("state/log.jsonl");
    assert!(std::fs::read_to_string(log).unwrap().contains("\"kind\":\"answer\""));
}

#[test]
fn early_keys_pastes_and_replies_are_no_answers() {
    let asking = Asking::new("rm -r build");
    let tmux = Tmux::attached(&asking.sandbox.path("home"));
    // Typed ahead, and within the first moments.
    tmux.type_in(&format!("{}; echo code=$?; stty -a\ryyy", asking.approve()));
    tmux.wait_for(ASKS);
    tmux.type_in("y");
    for reply in ["yy", "\x1b[200~y\x1b[201~", "\x1b[?62;22c", "\x1b[I", "\x1b[12;40R", "Y", "q"] {
        keep_silent();
        tmux.type_in(reply);
    }
    sleep(Duration::from_millis(300));
    assert_eq!(asking.state(), State::Open);
    assert!(!tmux.screen().lines().any(|line| line.starts_with("code=")), "{}", tmux.screen());
    keep_silent();
    tmux.type_in("\x1b");
    tmux.wait_for("code=0");
    assert_eq!(asking.state(), State::Open);
    assert_restored(&tmux);
}

#[test]
fn a_signal_withdraws_the_question_and_gives_the_terminal_back() {
    let asking = Asking::new("rm -r build");
    let tmux = asking.asked();
    // The ticket's name is the question's, which other tests ask too; the shim's path is this test's own.
    let command = format!("^{}$", asking.approve());
    let running = || Command::new("/usr/bin/pgrep").args(["-f", &command]).output().unwrap().stdout;
    let pid =
        wait_for("the question's process", || String::from_utf8(running()).ok()?.lines().next()?.parse::<i32>().ok());
    rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), rustix::process::Signal::TERM).unwrap();
    tmux.wait_for("code=143");
    assert_restored(&tmux);
    assert_eq!(asking.state(), State::Open);
}

#[test]
fn the_question_shows_all_of_a_long_command_before_it_takes_a_yes() {
    let part = (1..=80).map(|line| format!("rm -r build/{line}\n")).collect::<String>();
    let asking = Asking::new(&part);
    let tmux = Tmux::attached(&asking.sandbox.path("home"));
    tmux.type_in(&format!("{}; echo code=$?\r", asking.approve()));
    tmux.wait_for("There is more");
    keep_silent();
    tmux.type_in("y");
    sleep(Duration::from_millis(300));
    assert_eq!(asking.state(), State::Open);
    wait_for("the last page", || {
        keep_silent();
        tmux.type_in(" ");
        sleep(Duration::from_millis(300));
        tmux.screen().contains(ASKS).then_some(())
    });
    keep_silent();
    tmux.type_in("y");
    tmux.wait_for("code=0");
    assert_eq!(asking.state(), State::Approved);
}

#[test]
fn the_question_says_who_where_what_and_why() {
    let mut question = Question::new("cd x\nrm -r \u{202e}build && ls", Verdict::Ask);
    question.decision.findings[0].at.span = Span::new(5, 19);
    let ticket = question.with(|asked, decision| {
        Ticket::open(
            asked,
            decision,
            Some("codex (process 7)".to_owned()),
            Timestamp::now(),
            SignedDuration::from_mins(30),
        )
    });
    let rows = prompt::rows(&ticket, false, 60, false);
    let expected = "vetsh: this command needs your yes

  from   codex (process 7)
  in     /home/me/app
  shell  bash -c

  cd x
  rm -r \\u{202e}build && ls

  1. delete.project build: deletes what cannot be had back
     rm -r \\u{202e}build
";
    assert_eq!(rows.join("\n"), expected);
    let narrow = prompt::rows(&ticket, false, 20, false);
    assert!(narrow.iter().all(|row| row.chars().count() <= 20), "{narrow:#?}");
    let styled = prompt::rows(&ticket, false, 60, true).join("\n");
    assert_eq!(console::strip_ansi_codes(&styled), expected);
    assert!(styled.contains("\u{1b}[1m\u{1b}[4mrm -r \\u{202e}build"), "{styled:?}");
}

/// A policy that asks about `touch` and allows the rest.
const ASK_TOUCH: &str = "version = 1\n[effects]\n\"*\" = \"allow\"\n[doubts]\n\"*\" = \"allow\"\n\
    [[rule]]\nid = \"touching\"\nverdict = \"ask\"\ncommand = \"touch\"\nreason = \"the test asks\"\n";

/// A shell start that is asked about, on a terminal of tmux.
fn touching(sandbox: &Sandbox, script: &str) -> Tmux {
    let tmux = Tmux::attached(&sandbox.path("home"));
    let (bash, project) = (sandbox.shim("bash"), sandbox.project());
    tmux.type_in(&format!("cd {}; {} -c '{script}'; echo code=$?; stty -a\r", project.display(), bash.display()));
    tmux.wait_for(ASKS);
    tmux
}

#[test]
fn a_shell_asks_the_human_at_tmux_and_runs_after_a_yes() {
    let sandbox = Sandbox::new(ASK_TOUCH);
    let tmux = touching(&sandbox, "touch made; exit 7");
    assert!(tmux.screen().contains("the test asks [touching]"), "{}", tmux.screen());
    assert!(!sandbox.project().join("made").exists());
    keep_silent();
    tmux.type_in("y");
    tmux.wait_for("code=7");
    assert!(sandbox.project().join("made").exists());
    assert_restored(&tmux);
}

#[test]
fn a_shell_runs_nothing_after_a_no_or_a_signal() {
    for (key, code) in [("n", "code=126"), ("\x1b", "code=126"), ("\x03", "code=130")] {
        let sandbox = Sandbox::new(ASK_TOUCH);
        let tmux = touching(&sandbox, "touch made");
        keep_silent();
        tmux.type_in(key);
        if code == "code=130" {
            // The caller's shell drops the rest of its line, as it does for any command that ^C ends.
            tmux.wait_for("withdrawn");
            tmux.type_in("echo code=$?; stty -a\r");
        }
        tmux.wait_for(code);
        assert!(!sandbox.project().join("made").exists());
        assert_restored(&tmux);
        assert!(Store::new(&sandbox.path("state")).all().unwrap().is_empty());
    }
}

#[test]
fn a_shell_on_a_programs_terminal_leaves_a_ticket_and_runs_once_after_it_is_approved() {
    let sandbox = Sandbox::new(ASK_TOUCH);
    let line = || {
        let pty = Pty::new();
        let script = format!(
            "cd {}; {} -c 'touch made'; echo code=$?",
            sandbox.project().display(),
            sandbox.shim("bash").display()
        );
        let mut child = pty.start(&["/bin/sh", "-c", &script]);
        pty.wait_for("code=");
        pty.type_in("y");
        child.wait().unwrap();
        pty.seen()
    };
    let seen = line();
    assert!(
        seen.contains("vetsh: approval needed") && seen.contains("code=126") && !seen.contains("Run it once"),
        "{seen}"
    );
    let store = Store::new(&sandbox.path("state"));
    let [ticket] = store.all().unwrap().try_into().unwrap();
    store.answer(&ticket, true, Timestamp::now()).unwrap().unwrap();
    assert!(line().contains("code=0"));
    assert!(sandbox.project().join("made").exists());
    assert!(line().contains("code=126"));
}

#[test]
fn one_yes_covers_the_shells_that_the_command_starts() {
    let sandbox = Sandbox::new(ASK_TOUCH);
    let tmux = Tmux::attached(&sandbox.path("home"));
    let (bash, sh) = (sandbox.shim("bash"), sandbox.shim("sh"));
    let script = format!("{0} -c \"touch a\"; {0} -c \"touch b\"; exit 7", sh.display());
    tmux.type_in(&format!("cd {}; {} -c '{script}'; echo code=$?\r", sandbox.project().display(), bash.display()));
    tmux.wait_for(ASKS);
    keep_silent();
    tmux.type_in("y");
    tmux.wait_for("code=7");
    assert!(sandbox.project().join("a").exists() && sandbox.project().join("b").exists());
    let log = std::fs::read_to_string(sandbox.path("state/log.jsonl")).unwrap();
    let by: Vec<_> =
        log.lines().map(|line| line.split("\"by\":\"").nth(1).unwrap().split('"').next().unwrap()).collect();
    assert_eq!(by, ["human", "approval", "approval"]);
}

#[test]
fn two_commands_at_one_terminal_are_asked_about_one_after_the_other() {
    let sandbox = Sandbox::new(ASK_TOUCH);
    let tmux = Tmux::attached(&sandbox.path("home"));
    let (project, bash) = (sandbox.project().display().to_string(), sandbox.shim("bash").display().to_string());
    let both = format!("{bash} -c \"touch a\" & {bash} -c \"touch b\"; wait; echo code=0");
    tmux.type_in(&format!("cd {project}; clear; sh -c '{both}'\r"));
    for asked in 1..=2 {
        wait_for("the next question", || (tmux.screen().matches(ASKS).count() == asked).then_some(()));
        keep_silent();
        assert_eq!(tmux.screen().matches(ASKS).count(), asked);
        tmux.type_in("y");
    }
    wait_for("both commands", || {
        let made = ["a", "b"].map(|name| sandbox.project().join(name).exists());
        (made == [true, true]).then_some(())
    });
}

#[test]
fn a_question_that_nobody_answers_in_time_leaves_a_ticket() {
    let sandbox = Sandbox::new(&format!("{ASK_TOUCH}[ask]\nwait = \"1s\"\n"));
    let tmux = touching(&sandbox, "touch made");
    let screen = tmux.wait_for("code=126");
    assert!(screen.contains("no answer") && screen.contains("vetsh: approval needed"), "{screen}");
    assert_restored(&tmux);
    assert_eq!(Store::new(&sandbox.path("state")).all().unwrap().len(), 1);
}
