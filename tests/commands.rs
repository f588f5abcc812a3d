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
        (
            "git -C /x push -fu origin main",
            "sub push; options -C=/x -f -u; chdir=/x; host=origin; effect publish; effect discard",
        ),
        ("git push origin +main", "sub push; host=origin; effect publish; effect discard"),
        (
            "git push origin $X",
            "sub push; host=origin; effect publish; doubt argument: an argument that is not known may make it rewrites or deletes what is published; loose",
        ),
        ("git push -n origin --force", "sub push; options -n --force; dry; host=origin"),
        (
            "git -c core.sshcommand=evil status",
            "sub status; options -c=core.sshcommand=evil; config=core.sshcommand=evil; code:shell=evil",
        ),
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
