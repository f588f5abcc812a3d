//! Files behind programs: which of their parts run, and what these do.

use bstr::{BStr, BString};
use vetsh::facts::Location;
use vetsh::facts::inline::{Code, What, judge};
use vetsh::facts::value::{Argument, Piece};

const MAKEFILE: &str = "\
NAME := tool
OBJECTS = $(SOURCES:.c=.o)
SOURCES = $(wildcard src/*.c)
VERSION := $(shell git describe)
ifeq ($(OS),Windows)
REMOVE = del
else
REMOVE = rm -f
endif
.PHONY: all
all: $(NAME) ; @echo $(NAME)
$(NAME): $(OBJECTS)
\t$(CC) -o $@ $^ \\
\t  -lm
%.o: %.c
\t$(CC) -c $< -o $@
clean:
\t-$(RM) $(OBJECTS)
\t$(REMOVE) $$HOME/x
publish: all
\tcurl -T $(NAME) $(URL)
";

const JUSTFILE: &str = "\
target := 'out'
# Builds.
build mode='debug': clean
    @cc -o {{target}}/a a.c {{mode}}
clean:
    rm -rf {{target}}
[private]
script:
    #!/usr/bin/env python3
    print(1)
";

const PACKAGE: &str = r#"{ "scripts": { "test": "jest", "pretest": "tsc", "test:watch": "jest --watch", "x": "ls" } }"#;

const CONFIG: &str = "\
[core]
\tfsmonitor = sh -c id
[filter \"lfs\"]
\tclean = git-lfs clean -- %f
[alias]
\tx = !id
\ty = log -1
";

const TASKFILE: &str = "\
tasks:
  default:
    cmds: [a]
  build:
    cmds:
      - go build
      - cmd: go vet
  deploy:
    cmds:
      - kubectl apply
";

/// Language, text, which parts, and what is found.
const ROWS: &[(&str, &str, &[&str], &[&str])] = &[
    (
        "make",
        MAKEFILE,
        &[],
        &[
            "shell: git describe",
            "shell: cc -c src/*.c -o src/*.o",
            "shell: cc -o tool src/*.o \\\n  -lm",
            "shell: echo tool",
        ],
    ),
    ("make", MAKEFILE, &["clean"], &["shell: git describe", "shell: rm -f src/*.o", "shell: <Name> $HOME/x"]),
    ("make", MAKEFILE, &["nothing"], &["shell: git describe"]),
    ("make", "all:\n\techo $(X) $(Y)\n", &["X=1", "all"], &["shell: echo 1 "]),
    ("make", "SHELL = python3\nall:\n\tprint(1)\n", &[], &["python: print(1)"]),
    ("make", "SHELL = evil\nall:\n\tx\n", &[], &["doubt"]),
    ("make", "include a.mk\nall:\n\techo $(X)\n", &[], &["file make: a.mk", "shell: echo <Name>"]),
    ("just", JUSTFILE, &[], &["shell: cc -o out/a a.c <Name>", "shell: rm -rf out"]),
    ("just", JUSTFILE, &["script"], &["python: print(1)\n"]),
    ("package", PACKAGE, &["test"], &["shell: tsc", "shell: jest"]),
    ("package", PACKAGE, &["y"], &[]),
    ("git-config", CONFIG, &["core.fsmonitor", "filter.*"], &["shell: sh -c id", "shell: git-lfs clean -- %f"]),
    ("git-config", CONFIG, &["alias.*"], &["shell: id"]),
    ("taskfile", TASKFILE, &["build"], &["shell: go build", "shell: go vet"]),
    (
        "tox",
        "[testenv:py]\ncommands =\n    pytest -q\n    ruff check\ndeps = x\n",
        &[],
        &["shell: pytest -q", "shell: ruff check"],
    ),
    ("cargo-config", "[build]\nrustc-wrapper = [\"a\", \"b\"]\n", &[], &["shell: a b"]),
];

#[test]
fn the_parts_that_run_are_read() {
    for (language, text, parts, expected) in ROWS {
        let text = Argument::known(*text, Location::default());
        let arguments: Vec<_> = parts.iter().map(|part| Argument::known(*part, Location::default())).collect();
        let variable = |_: &BStr| -> Option<BString> { None };
        let findings = judge(&Code { language, text: &text, arguments: &arguments, variable: &variable });
        let mut found: Vec<String> = findings.iter().map(|finding| what(&finding.what)).collect();
        let mut expected = expected.to_vec();
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{language} {parts:?}");
    }
}

fn what(what: &What) -> String {
    let shown = |argument: &Argument| -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) | Piece::Pattern(text) => text.to_string(),
            Piece::Unknown(unknown) => format!("<{:?}>", unknown.kind),
        };
        argument.pieces.iter().map(piece).collect()
    };
    match what {
        What::Script { language, text } => format!("{language}: {}", shown(text)),
        What::ScriptFile { language, path } => format!("file {language}: {}", shown(path)),
        What::Doubt(_) => "doubt".into(),
        other => format!("{other:?}"),
    }
}
