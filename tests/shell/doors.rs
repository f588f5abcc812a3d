//! Code that runs beside the script: found and judged, or trusted for who can have written it.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use crate::support::{DENY_TOUCH, Sandbox, feed, see};

const TOUCH: &str = "touch made\n";

/// Shell, environment, arguments. The file `evil` in the project holds [`TOUCH`].
type Call<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

fn status(sandbox: &Sandbox, (shell, environment, arguments): Call<'_>) -> Option<i32> {
    let mut command = sandbox.shell(shell, arguments);
    for (name, value) in environment {
        let value = value.replace("PROJECT", &sandbox.project().display().to_string());
        command.env(name, value.replace("SANDBOX", &sandbox.path("").display().to_string()));
    }
    let seen = see(&mut command);
    assert!(!sandbox.project().join("made").exists(), "{shell} {environment:?} {arguments:?} {seen:?}");
    seen.code
}

#[test]
fn what_the_environment_runs_is_judged() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    for name in ["evil", "evil.so", ".bash_profile", ".zshenv", ".profile", ".bashrc"] {
        sandbox.write(&format!("project/{name}"), TOUCH);
    }
    let calls: &[Call<'_>] = &[
        ("bash", &[("BASH_ENV", "evil")], &["-c", "true"]),
        ("bash", &[("BASH_ENV", "PROJECT/evil")], &["-c", "true"]),
        ("bash", &[("BASH_ENV", "evil")], &["nowhere"]),
        ("bash", &[("BASH_ENV", "evil")], &[]),
        ("bash", &[("BASH_ENV", "$(touch made)")], &["-c", "true"]),
        ("bash", &[("BASH_ENV", "`touch made`")], &["-c", "true"]),
        ("bash", &[("BASH_ENV", "$PWD/evil")], &["-c", "true"]),
        ("bash", &[("HOME", "PROJECT")], &["-lc", "true"]),
        ("bash", &[("HOME", "PROJECT"), ("BASH_ENV", "$HOME/evil")], &["-c", "true"]),
        ("bash", &[("HOME", "PROJECT")], &["-ic", "true"]),
        ("bash", &[], &["--rcfile", "evil", "-i", "-c", "true"]),
        ("bash", &[("BASH_FUNC_ls%%", "() { touch made; }")], &["-c", "ls"]),
        ("bash", &[("BASH_FUNC_ls%%", "() { touch made; }")], &["-c", "\\l\"\"s"]),
        ("bash", &[("LD_PRELOAD", "./evil.so")], &["-c", "true"]),
        ("bash", &[("LD_PRELOAD", "PROJECT/evil.so")], &["--version"]),
        ("sh", &[("ENV", "./evil")], &["-ic", "true"]),
        ("sh", &[("HOME", "PROJECT")], &["-lc", "true"]),
        ("dash", &[("ENV", "$(touch made)")], &["-i", "-c", "true"]),
        ("zsh", &[("ZDOTDIR", "PROJECT")], &["-c", "true"]),
        ("zsh", &[("HOME", "PROJECT")], &["-c", "true"]),
    ];
    let ran: Vec<_> = calls.iter().filter(|call| status(&sandbox, **call) != Some(126)).collect();
    assert_eq!(ran, Vec::<&Call<'_>>::new());
}

#[test]
fn what_is_shown_before_each_command_is_judged_where_it_runs() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    let root = std::fs::metadata(sandbox.path("")).unwrap().uid() == 0;
    let calls: &[Call<'_>] = &[
        ("bash", &[("PS4", "$(touch made)")], &["-xc", "true"]),
        ("bash", &[("PS4", "\\044(touch made)")], &["-xc", "true"]),
        ("bash", &[("PS4", "`touch made`"), ("SHELLOPTS", "xtrace")], &["-c", "true"]),
        ("bash", &[("PS4", "$(touch made)")], &["-c", "set -x; true"]),
    ];
    // bash of root takes no PS4 from its environment.
    let expected = if root { Some(0) } else { Some(126) };
    for call in calls {
        assert_eq!(status(&sandbox, *call), expected, "{call:?}");
    }
    // dash runs nothing for it, and nothing is shown without tracing.
    assert_eq!(status(&sandbox, ("dash", &[("PS4", "`touch made`")], &["-xc", "true"])), Some(0));
    assert_eq!(status(&sandbox, ("bash", &[("PS4", "$(touch made)")], &["-c", "true"])), Some(0));
}

#[test]
fn what_only_the_user_can_have_written_is_trusted() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    sandbox.write("home/.bash_profile", "export FROM=profile\n");
    sandbox.write("home/env", "export FROM=env\n");
    let calls: &[Call<'_>] = &[
        ("bash", &[], &["-lc", "[ $FROM = profile ]"]),
        ("bash", &[("BASH_ENV", "SANDBOX/home/env")], &["-c", "[ $FROM = env ]"]),
        ("bash", &[("BASH_ENV", "/dev/null")], &["-c", "true"]),
        ("bash", &[("BASH_ENV", "nowhere")], &["-c", "true"]),
        ("bash", &[("BASH_ENV", "")], &["-c", "true"]),
        ("sh", &[("BASH_ENV", "evil"), ("ENV", "evil")], &["-c", "true"]),
        ("bash", &[("PS4", "+ ${LINENO}: ")], &["-xc", "true"]),
        ("bash", &[("BASH_FUNC_unused%%", "() { touch made; }")], &["-c", "true"]),
        ("bash", &[("LD_PRELOAD", ""), ("LD_LIBRARY_PATH", ":PROJECT")], &["-c", "true"]),
    ];
    let refused: Vec<_> = calls.iter().filter(|call| status(&sandbox, **call) != Some(0)).collect();
    assert_eq!(refused, Vec::<&Call<'_>>::new());
    // Anybody can have written it.
    sandbox.write("home/env", TOUCH);
    std::fs::set_permissions(sandbox.path("home/env"), std::fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(status(&sandbox, ("bash", &[("BASH_ENV", "SANDBOX/home/env")], &["-c", "true"])), Some(126));
}

#[test]
fn an_interactive_shell_on_a_pipe_expands_its_prompts() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    for (name, value) in [("PROMPT_COMMAND", "touch made"), ("PS1", "\\044(touch made)"), ("PS0", "`touch made`")] {
        let seen = feed(sandbox.shell("bash", ["-i"]).env(name, value), b"true\n");
        assert_eq!(seen.code, Some(126), "{name}");
    }
    let seen = feed(sandbox.shell("bash", ["-i"]).env("PS1", "${X@P}").env("X", "$(touch made)"), b"true\n");
    assert_eq!(seen.code, Some(126));
    let seen = feed(&mut sandbox.shell("bash", ["-i"]), b"echo touch made\n^echo ^^\necho !!\n");
    assert_eq!(seen.code, Some(126));
    assert!(!sandbox.project().join("made").exists());
}

#[test]
fn what_was_decoded_is_remembered() {
    let sandbox = Sandbox::new("version = 1\n");
    sandbox.write("project/a.b64", "dHJ1ZQo=\n");
    sandbox.write("project/own.sh", "true\n");
    let code = |text: &str| see(&mut sandbox.shell("bash", ["-c", text])).code;
    assert_eq!(code("sh own.sh"), Some(0));
    assert_eq!(code("base64 -d a.b64 > x.sh"), Some(0));
    assert_eq!(code("sh own.sh"), Some(0));
    assert_eq!(code("sh x.sh"), Some(126));
    assert_eq!(code("chmod +x x.sh; ./x.sh"), Some(126));
    assert_eq!(code("printf 'true\\n' > y.sh; sh y.sh"), Some(0));
}
