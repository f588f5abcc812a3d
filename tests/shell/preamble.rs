//! Agents' wrappers: the user's part is found in whole templates from the agent itself, and nowhere else.

use std::path::Path;

use bstr::BStr;
use vetsh::shell::Shell;
use vetsh::shell::preamble::{Ancestry, Process, unwrap};

use crate::support::{DENY_TOUCH, Sandbox, see};

const CODEX: &str = "__CODEX_SNAPSHOT_OVERRIDE_SET_0=\"${LANG+x}\"\n__CODEX_SNAPSHOT_OVERRIDE_0=\"${LANG-}\"\n\n\
    if . '/home/user/.codex/shell_snapshots/4f.sh' >/dev/null 2>&1; then :; fi\n\n\
    if [ -n \"${__CODEX_SNAPSHOT_OVERRIDE_SET_0}\" ]; then export LANG=\"${__CODEX_SNAPSHOT_OVERRIDE_0}\"; else unset LANG; fi\n\n\
    exec '/bin/bash' -c 'git status'";
const GEMINI: &str = "shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file=/tmp/shell_pgrep_1.tmp\n(\n  \
    trap 'jobs -p > \"$_bgpids_file\"' EXIT\ngit log | head\n)\n__code=$?\nexit $__code";
const CURSOR: &str = "snap=$(command cat <&3) && builtin shopt -s extglob && builtin eval -- \"$snap\" && \
    { builtin export PWD=\"$(builtin pwd)\"; builtin eval \"$1\" < /dev/null; }; COMMAND_EXIT_CODE=$?; \
    dump_bash_state >&4; builtin exit $COMMAND_EXIT_CODE";

/// What is left for judgement, and in which template, for a text and an ancestor.
fn user_part(arguments: &[&str], parent: &str, environment: &[&str]) -> Option<(String, &'static str)> {
    let arguments: Vec<&BStr> = arguments.iter().map(|argument| BStr::new(*argument)).collect();
    let environment: Vec<&BStr> = environment.iter().map(|entry| BStr::new(*entry)).collect();
    let reading = Shell::Bash.read(&arguments);
    let process = |line: &str| {
        let words: Vec<_> = line.split(' ').map(Into::into).collect();
        Process { executable: line.split(' ').next().unwrap().into(), arguments: words }
    };
    let ancestry = || Ancestry(parent.split(" < ").map(process).collect());
    let wrapped = unwrap(&reading, &environment, Path::new("/home/user"), Some(Path::new("/home/user/src")), ancestry)?;
    Some((String::from_utf8(wrapped.text.into_owned()).unwrap(), wrapped.template))
}

fn claude(segments: &str) -> Option<(String, &'static str)> {
    user_part(&["bash", "-c", segments], "/home/user/.local/bin/claude", &[])
}

#[test]
fn the_users_part_of_each_wrapper_is_found() {
    let found = |part: &str, template| Some((part.to_owned(), template));
    assert_eq!(
        claude(
            "source /home/user/.claude/shell-snapshots/snapshot-bash-1-x.sh 2>/dev/null || true && shopt -u extglob \
             2>/dev/null || true && eval 'git commit -m '\"'\"'a b'\"'\"'' < /dev/null && pwd -P >| /tmp/claude-1f2e-cwd"
        ),
        found("git commit -m 'a b'", "eval")
    );
    assert_eq!(claude("eval ls && pwd -P >| /tmp/claude-1f2e-cwd"), found("ls", "eval"));
    assert_eq!(user_part(&["bash", "-c", CODEX], "/usr/bin/codex", &[]), found("git status", "snapshot"));
    assert_eq!(
        user_part(&["bash", "-c", GEMINI], "/usr/bin/node /usr/lib/node_modules/gemini-cli/dist/index.js", &[]),
        found("git log | head", "background processes")
    );
    assert_eq!(
        user_part(&["bash", "-O", "extglob", "-c", CURSOR, "--", "make test"], "/opt/cursor/cursor", &[]),
        found("make test", "state on descriptors")
    );
    assert_eq!(
        user_part(&["bash", "-i", "-c", "(cargo test) </dev/null"], "/usr/bin/zed", &[]),
        found("cargo test", "parentheses")
    );
    assert_eq!(
        user_part(
            &["sh", "-c", ". \"$1\" && shift && exec \"$@\"", "sh", "snap", "/bin/bash", "-lc", "ls"],
            "/usr/bin/codex",
            &[]
        ),
        found("ls", "parameters")
    );
    let variable = "eval \"$__CLAUDE_CC_COMMAND_TEXT\" < /dev/null && pwd -P >| /tmp/claude-1-cwd";
    assert_eq!(
        user_part(&["bash", "-c", variable], "/usr/bin/claude", &["__CLAUDE_CC_COMMAND_TEXT=pgrep x"]),
        found("pgrep x", "environment")
    );
}

#[test]
fn nothing_else_is_taken_for_a_wrapper() {
    let wrapper = "eval ls && pwd -P >| /tmp/claude-1-cwd";
    for (text, parent) in [
        // Not the agent, or the agent's own command.
        (wrapper, "/usr/bin/python3 run.py"),
        (wrapper, "/bin/bash -c x < /home/user/.local/bin/claude"),
        (wrapper, "/usr/bin/node /tmp/claude-code/other.js"),
        (wrapper, "/usr/bin/node /tmp/claude-code/cli.js"),
        (wrapper, "/tmp/claude"),
        (wrapper, "/home/user/src/claude"),
        (wrapper, "claude"),
        // Something more, something less, something else.
        ("eval ls && pwd -P >| /tmp/claude-1-cwd; rm -rf x", "/usr/bin/claude"),
        ("eval ls && pwd -P >| /tmp/claude-1-cwd\nrm -rf x", "/usr/bin/claude"),
        ("rm -rf x; eval ls && pwd -P >| /tmp/claude-1-cwd", "/usr/bin/claude"),
        ("eval ls && pwd -P >| /etc/passwd", "/usr/bin/claude"),
        ("eval ls && pwd -P >| /tmp/claude-1/../../etc/x", "/usr/bin/claude"),
        ("eval $(id) && pwd -P >| /tmp/claude-1-cwd", "/usr/bin/claude"),
        ("eval \"$x\" && pwd -P >| /tmp/claude-1-cwd", "/usr/bin/claude"),
        ("source /tmp/x.sh 2>/dev/null || true && eval ls && pwd -P >| /tmp/claude-1-cwd", "/usr/bin/claude"),
    ] {
        assert_eq!(user_part(&["bash", "-c", text], parent, &[]), None, "{text} from {parent}");
    }
    let twice = ["__CLAUDE_CC_COMMAND_TEXT=ls", "__CLAUDE_CC_COMMAND_TEXT=rm -rf x"];
    let variable = "eval \"$__CLAUDE_CC_COMMAND_TEXT\" && pwd -P >| /tmp/claude-1-cwd";
    assert_eq!(user_part(&["bash", "-c", variable], "/usr/bin/claude", &twice), None);
}

/// A program of this name starts the shim; what the log says of who asked, and of the text.
fn logged(agent: &str, wrapper: &str) -> (Option<i32>, serde_json::Value, serde_json::Value) {
    let sandbox = Sandbox::new(DENY_TOUCH);
    let wrapper = wrapper.replace("HOME", &sandbox.path("home").display().to_string());
    std::fs::copy("/bin/dash", sandbox.path(agent)).unwrap();
    let mut command = sandbox.command(sandbox.path(agent));
    command.args(["-c", "\"$0\" -c \"$1\"; exit $?"]).arg(sandbox.shim("bash")).arg(wrapper);
    let code = see(&mut command).code;
    let log = std::fs::read_to_string(sandbox.path("state/log.jsonl")).unwrap();
    let record: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert!(!sandbox.project().join("made").exists());
    (code, record["origin"].clone(), record["text"].clone())
}

#[test]
fn an_agent_that_starts_the_shim_is_seen_through() {
    let wrapper = "eval 'echo user' < /dev/null && pwd -P >| /tmp/claude-vetsh-test-cwd";
    assert_eq!(logged("claude", wrapper), (Some(0), "Claude Code".into(), "echo user".into()));
    assert_eq!(logged("other", wrapper), (Some(0), serde_json::Value::Null, wrapper.into()));
    let wrapper = "eval 'touch made' && pwd -P >| /tmp/claude-vetsh-test-cwd";
    assert_eq!(logged("claude", wrapper), (Some(126), "Claude Code".into(), "touch made".into()));
    assert_eq!(logged("other", wrapper).0, Some(126));
    let _ = std::fs::remove_file("/tmp/claude-vetsh-test-cwd");
}
