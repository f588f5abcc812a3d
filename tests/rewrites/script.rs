//! Rewrites of a whole script.

use super::quote;
use crate::support::Random;

/// A way to put a whole script that keeps what it does.
pub type Rewrite = fn(&str, &mut Random) -> Option<String>;

/// By name.
pub const REWRITES: &[(&str, Rewrite)] = &[
    ("bash -c", |script, random| Some(format!("bash -c {}", quote::text(script, random)))),
    ("wrapped bash -c", |script, random| {
        let before =
            ["env ", "nohup ", "timeout 5 ", "nice -n 5 ", "setsid ", "command ", "exec ", "A=1 ", "/bin/", "time "];
        Some(format!("{}bash -c {}", random.pick(&before), quote::text(script, random)))
    }),
    ("bash -c with a parameter", |script, random| {
        Some(format!("bash -c 'eval \"$1\"' _ {}", quote::text(script, random)))
    }),
    ("eval", |script, random| Some(format!("eval {}", quote::text(script, random)))),
    ("eval of a variable", |script, random| Some(format!("_t={}\neval \"$_t\"", quote::text(script, random)))),
    ("bash -c of a variable", |script, random| {
        Some(format!("export _t={}; bash -c \"$_t\"", quote::text(script, random)))
    }),
    ("group", |script, _| Some(format!("{{ {script}\n}}"))),
    ("subshell", |script, _| Some(format!("(\n{script}\n)"))),
    ("if", |script, random| {
        let test = random.pick(&["true", ":", "[ 1 = 1 ]", "[[ -n x ]]", "((1))", "! false"]);
        Some(format!("if {test}; then\n{script}\nfi"))
    }),
    ("else", |script, _| Some(format!("if false; then echo no; else {script}\nfi"))),
    ("while", |script, _| Some(format!("while :; do\n{script}\nbreak; done"))),
    ("for", |script, _| Some(format!("for _i in one; do {script}\ndone"))),
    ("case", |script, _| Some(format!("case x in (x)\n{script}\n;; *) echo other;; esac"))),
    ("function", |script, random| {
        let head = random.pick(&["_f() {", "function _f {", "function _f() {"]);
        Some(format!("{head}\n{script}\n}}; _f"))
    }),
    ("after other commands", |script, random| {
        let before = random.pick(&[
            "echo hello; ",
            "true && ",
            "false || ",
            "echo a | cat\n",
            "cd . && ",
            ": ;",
            "sleep 0 & ",
            "! false && ",
        ]);
        single(script).then(|| format!("{before}{script}"))
    }),
    ("before other commands", |script, random| {
        let after = random.pick(&["\necho done", "\ntrue", "\nwait", "\n:"]);
        Some(format!("{script}{after}"))
    }),
    ("background", |script, _| Some(format!("{{ {script}\n}} & wait"))),
    ("comments", |script, _| Some(format!("# harmless\n\n  {script}\n# end"))),
    ("here-document", |script, random| {
        let shells = ["bash", "bash -s", "/bin/bash", "env bash", "bash /dev/stdin", "cat", "tee /dev/null"];
        let shell = random.pick(&shells);
        let pipe = if ["cat", "tee /dev/null"].contains(&shell) { " | bash" } else { "" };
        let (quote, end) = (random.pick(&["'", "\""]), format!("END_{}", random.below(100_000)));
        Some(format!("{shell} <<{quote}{end}{quote}{pipe}\n{script}\n{end}"))
    }),
    ("here-string", |script, random| {
        let shell = random.pick(&["bash", "bash -s --", ". /dev/stdin", "source /dev/stdin"]);
        Some(format!("{shell} <<< {}", quote::text(script, random)))
    }),
    ("pipe into a shell", |script, random| {
        let print = random.pick(&["printf %s", "printf '%s\\n'", "echo"]);
        (!script.contains('\\') || print != "echo").then(|| format!("{print} {} | bash", quote::text(script, random)))
    }),
    ("process substitution", |script, random| {
        let run = random.pick(&["bash", ".", "source"]);
        Some(format!("{run} <(printf '%s\\n' {})", quote::text(script, random)))
    }),
    ("command substitution", |script, random| {
        Some(format!("bash -c \"$(printf '%s' {})\"", quote::text(script, random)))
            .filter(|_| !script.contains(['\'', '"', '\\', '`', '$']))
    }),
    ("trap", |script, random| {
        // A trap that is set while traps run does not run.
        (!script.contains("trap")).then(|| format!("trap {} EXIT", quote::text(script, random)))
    }),
    ("written and run", |script, random| {
        let (file, end) = (format!("_t{}.sh", random.below(100_000)), format!("END_{}", random.below(100_000)));
        let run = match random.below(3) {
            0 => format!("bash {file}"),
            1 => format!(". ./{file}"),
            _ => format!("chmod +x {file} && ./{file}"),
        };
        Some(format!("cat > {file} <<'{end}'\n{script}\n{end}\n{run}"))
    }),
];

/// It can stand after `&&` as one command.
fn single(script: &str) -> bool {
    !script.contains([';', '\n', '&', '|', '#'])
}
