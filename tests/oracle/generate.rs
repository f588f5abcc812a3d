//! A seeded generator of shell scripts that do nothing but start harmless programs, in every way that it can think of.

use super::row::Row;

/// Programs that are stubs in the cage and harmless elsewhere.
const PROGRAMS: &[&str] = &["ls", "stat", "du", "file", "wc", "df", "who", "/usr/bin/ls", "\\ls", "l\"s\"", "'du'"];
const NAMES: &[&str] = &["x", "y", "z", "A"];
const FUNCTIONS: &[&str] = &["f", "g", "h"];
const FOLDERS: &[&str] = &["sub", "/tmp", "..", "sub/deep", "\"$x\"", "/home/user", "-", "", "~", "nowhere"];
const FILES: &[&str] = &["o1", "o2", "/tmp/o3", "sub/o4"];
const TEXTS: &[&str] = &[
    "a", "b", "c", "-l", "-n", "1", "2", "10", "a=b", "x", "y", "/etc", "a/b.c", "key:v", "@", "%", "+", ",", "a.b",
    "=ls", "]", "a]", "^a", "a#b", "~", "~/a", "!", "a!b",
];
const ESCAPES: &[&str] = &["\\ ", "\\$", "\\\"", "\\'", "\\\\", "\\;", "\\\n", "\\a", "\\*", "\\{", "\\#"];
const QUOTED: &[&str] = &[
    "a b", " ", "", "$x", "a;b", "a|b", "*", "`", "\\", "\\n", "a\\tb", "#", "{a,b}", "~", "&&", "a\nb", "$(ls q)",
    "(", ")", "}", "%s", "-e", "\"", "!x",
];
const ANSI: &[&str] =
    &["a\\nb", "\\x41", "\\101", "\\'", "\\\"", "\\\\", "a\\tb", "\\u0041", "\\cA", "\\e", "q", "$x", "\\z"];
const PATTERNS: &[&str] =
    &["a", "*", "?", "a*", "*a", "[ab]", "[!a]", "*/", "/*", "%", "\\#", "b", "\"*\"", "''", "\\*", "$y"];
const BRACES: &[&str] = &[
    "{a,b}",
    "{1..3}",
    "{a,}",
    "x{a,b}y",
    "{a,{b,c}}",
    "{a}",
    "{}",
    "{3..1}",
    "{a..c}",
    "{a,b c}",
    "{01..03}",
    "{$x,b}",
];
const SUMS: &[&str] = &[
    "1+2", "x", "x+1", "2*3", "10/3", "7%4", "x=5", "y+=2", "x++", "++x", "-1", "!0", "1<2", "1&&0", "1?4:5",
    "(1+2)*3", "010", "0x10", "2**3", "x[0]", "a", "$x", "5>3||0", "1,2", "\"3\"",
];

/// The scripts of this number.
pub fn rows(seed: u64) -> Vec<Row> {
    let mut script = Script {
        random: Random(seed.wrapping_mul(0x1000_0001).wrapping_add(7)),
        depth: 0,
        plain: seed.is_multiple_of(2),
    };
    let count = 1 + script.random.below(4);
    let mut text = script.statements(count);
    if !seed.is_multiple_of(4) {
        text = format!("x=a; y='b c'; z=\nset -- p 'q r' ''\n{text}");
    }
    vec![Row::new(format!("generated {seed}"), text, None)]
}

/// A small deterministic generator (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// A script that is being written.
struct Script {
    random: Random,
    depth: usize,
    /// Only what every shell has.
    plain: bool,
}

impl Script {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        self.random.pick(from)
    }

    fn deeper(&mut self, write: impl FnOnce(&mut Self) -> String) -> String {
        self.depth += 1;
        let text = write(self);
        self.depth -= 1;
        text
    }

    fn statements(&mut self, count: usize) -> String {
        let mut text = String::new();
        for number in 0..count {
            if number > 0 && !text.ends_with('\n') {
                text += self.pick(&["\n", "\n", "\n", "; ", "\n\n", " # note\n"]);
            }
            text += &if self.random.one_in(10) { self.heredoc() } else { self.list() };
        }
        text
    }

    /// A few statements inside of something else.
    fn body(&mut self) -> String {
        self.deeper(|script| {
            let count = 1 + usize::from(script.random.one_in(3));
            script.statements(count)
        })
    }

    fn list(&mut self) -> String {
        let first = self.pipeline();
        match self.random.below(10) {
            0 => format!("{first} && {}", self.pipeline()),
            1 => format!("{first} || {}", self.pipeline()),
            2 => format!("{first} &&\n {} || {}", self.pipeline(), self.pipeline()),
            3 if !self.random.one_in(3) => format!("{first} &\nwait"),
            _ => first,
        }
    }

    fn pipeline(&mut self) -> String {
        let first = self.statement();
        match self.random.below(14) {
            0 => format!("{first} | {}", self.statement()),
            1 => format!("! {first}"),
            2 => format!("{first} |\n {} | {}", self.statement(), self.simple()),
            _ => first,
        }
    }

    #[expect(clippy::too_many_lines, reason = "a list of forms")]
    fn statement(&mut self) -> String {
        if self.depth > 1 {
            return self.simple();
        }
        match self.random.below(if self.plain { 30 } else { 38 }) {
            0 => format!("if {}; then {}\nfi", self.condition(), self.body()),
            1 => format!("if {}; then {}\nelse {}\nfi", self.condition(), self.body(), self.body()),
            2 => format!(
                "if {}; then {}\nelif {}; then\n{}\nfi",
                self.condition(),
                self.body(),
                self.condition(),
                self.body()
            ),
            3 | 4 => format!("for {} in {}; do\n{}\ndone", self.pick(NAMES), self.words(), self.body()),
            5 => format!("for {}\ndo\n{}\ndone", self.pick(NAMES), self.body()),
            6 => format!("n=0; while [ $n -lt 2 ]; do n=$((n+1)); {}\ndone", self.body()),
            7 => format!("until {}; do\n{}\nbreak\ndone", self.condition(), self.body()),
            8 | 9 => self.case(),
            10 => format!("( {}\n)", self.body()),
            11 => format!("{{ {}\n}} {}", self.body(), self.redirection()),
            12..=14 => self.function(),
            15 => format!("eval {}", self.code()),
            16 => {
                format!("{} -c {} {}", self.pick(&["sh", "bash", "sh -e", "dash", "zsh -f"]), self.code(), self.words())
            }
            17 => format!("trap {} {}", self.code(), self.pick(&["EXIT", "0", "INT", "EXIT INT"])),
            18 => format!("set -- {}", self.words()),
            19 => format!("cd {}", self.pick(FOLDERS)),
            20 => {
                format!("{} | {{ read {} {}\n{}\n}}", self.printed(), self.pick(NAMES), self.pick(NAMES), self.body())
            }
            21 => format!("{} > {}\n. ./{}", self.printed(), self.pick(&["o1", "o2"]), self.pick(&["o1", "o2"])),
            22 => format!("alias l={}\nl {}", self.code(), self.word()),
            23 => self
                .pick(&[
                    "shift",
                    "shift 2",
                    "set -f",
                    "set +f",
                    "set -e",
                    "IFS=:",
                    "IFS=",
                    "unset x",
                    "unset -f f",
                    "set -u",
                    "IFS=' '",
                    "export x",
                    "readonly A",
                    "break",
                    "continue",
                    "return",
                    "unset IFS",
                    "exec 3>o2",
                    "umask 022",
                    "wait",
                ])
                .to_owned(),
            24 => format!("{} | while read -r {}; do\n{}\ndone", self.printed(), self.pick(NAMES), self.body()),
            25 => format!(
                "{} {}",
                self.pick(&[
                    "command",
                    "exec",
                    "env",
                    "nice",
                    "nohup",
                    "timeout 5",
                    "xargs",
                    "env -i",
                    "command -p",
                    "time"
                ]),
                self.simple()
            ),
            26 => format!(
                "{} | xargs {} {}",
                self.printed(),
                self.pick(&["", "-n 1", "-I{}", "-n2", "-0"]),
                self.plain_command()
            ),
            27 => format!(
                "{} | {}",
                self.printed(),
                self.pick(&["sh", "bash", "sh -s a b", "bash -s", "cat", "xargs -n1 ls"])
            ),
            28 | 29 => self.assignment(),
            30 => format!("if [[ {} ]]; then\n{}\nfi", self.test(), self.body()),
            31 => format!("(( {} )) && {}", self.pick(SUMS), self.simple()),
            32 => format!("for ((i=0; i<2; i++)); do\n{}\ndone", self.body()),
            33 => format!(
                "{} <<< {}",
                self.pick(&["read x", "read -a z", "cat", "sh", "while read -r x; do ls $x; done", "read x y"]),
                self.word()
            ),
            34 => format!(
                "{} < <({})",
                self.pick(&["cat", "read x", "mapfile -t z", "while read -r y; do ls \"$y\"; done"]),
                self.printed()
            ),
            35 => format!("{}\n{}", self.array(), self.simple()),
            36 => self
                .pick(&[
                    "shopt -s nullglob",
                    "shopt -s extglob",
                    "set -o pipefail",
                    "shopt -s expand_aliases",
                    "declare -i x",
                    "declare -A z",
                    "local x=1",
                    "declare -n y=x",
                    "typeset x=q",
                    "printf -v x '%s-' a b",
                    "let x=1+2",
                    "declare -u x",
                    "pushd sub",
                    "popd",
                    "shopt -s lastpipe",
                    "declare x='a b'",
                ])
                .to_owned(),
            _ => format!(
                "printf -v {} {} {}",
                self.pick(NAMES),
                self.pick(&["'%s'", "'%s %s'", "%d", "'%q'", "'%b'", "a%sb", "'%5s'"]),
                self.words()
            ),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(5) {
            0 => format!("[ {} = {} ]", self.double(), self.double()),
            1 => format!("[ -n {} ]", self.double()),
            2 => format!("test -f {}", self.pick(FILES)),
            3 => {
                self.pick(&["true", "false", ":", "! true", "cd sub", "cd nowhere", "exit 0", "[ -d sub ]"]).to_owned()
            }
            _ => self.simple(),
        }
    }

    fn test(&mut self) -> String {
        match self.random.below(5) {
            0 => format!("{} == {}", self.word(), self.pick(PATTERNS)),
            1 => format!("-n {} && -z $z", self.word()),
            2 => format!("{} =~ ^{}", self.word(), self.pick(&["a", "(a|b)", "[a-z]+$", ".*"])),
            3 => format!("{} -eq 1", self.pick(&["1", "x", "$#", "x+1"])),
            _ => format!("! ( {} < {} )", self.word(), self.word()),
        }
    }

    fn case(&mut self) -> String {
        let end = if self.plain { ";;" } else { self.pick(&[";;", ";;", ";&", ";;&"]) };
        format!(
            "case {} in\n{}) {} {end}\n({}|{})\n{}\n;;\n*) {};;\nesac",
            self.word(),
            self.pick(PATTERNS),
            self.body(),
            self.pick(PATTERNS),
            self.pick(PATTERNS),
            self.body(),
            self.simple()
        )
    }

    fn function(&mut self) -> String {
        let name = self.pick(FUNCTIONS);
        let head = if self.plain {
            format!("{name}()")
        } else {
            self.pick(&["f()", "function f", "function f()", "g ()"]).to_owned()
        };
        let local =
            self.pick(&["", "local x; ", "local x=l; ", "shift; ", "set -- k; ", "return; ", "local y=\"$1\"; "]);
        let open = if self.random.one_in(4) { ("(", ")") } else { ("{", "}") };
        let body = self.body();
        let last = self.pick(&["", "ls \"$@\"", "ls $1 $#", "ls \"$*\"", "return 0"]);
        let call = self.pick(FUNCTIONS);
        format!("{head} {} {local}{body}\n{last}\n{}\n{call} {}", open.0, open.1, self.words())
    }

    fn heredoc(&mut self) -> String {
        let (mark, quoted) = (self.pick(&["E", "E", "'E'", "\"E\"", "\\E"]), self.random.one_in(3));
        let command = self.pick(&[
            "cat",
            "sh",
            "bash -s q",
            "cat > o1",
            "read x",
            "read -r x y",
            "read y z",
            "eval ls",
            "{ read x; read y; }",
            "while read -r x y; do ls \"$x\" $y; done",
            "wc -l",
            "tee o2",
        ]);
        let more = if quoted { self.line() } else { format!("ls {}", self.line()) };
        let dash = self.pick(&["", "", "-"]);
        format!(
            "{command} <<{dash}{mark} {}\n{}\n{more}\n{}E\n",
            self.pick(&["", "| sh", "&& ls after $x", "; ls next \"$y\" $z", "| cat"]),
            self.line(),
            if dash == "-" { "\t" } else { "" }
        )
    }

    /// A line of a here-document.
    fn line(&mut self) -> String {
        let parts: Vec<_> = (0..=self.random.below(3))
            .map(|_| match self.random.below(5) {
                0 => self.expansion(),
                1 => self.pick(QUOTED).replace('\n', " "),
                2 => self.pick(ESCAPES).replace('\n', ""),
                3 => format!("ls {}", self.pick(TEXTS)),
                _ => self.pick(TEXTS).to_owned(),
            })
            .collect();
        parts.join(" ")
    }

    /// Shell code as one word.
    fn code(&mut self) -> String {
        let code = self.deeper(|script| {
            script.depth += 1;
            let text = script.list();
            script.depth -= 1;
            text
        });
        match self.random.below(4) {
            0 => format!("\"{}\"", code.replace('\\', "\\\\").replace('"', "\\\"")),
            1 => self.simple().split_whitespace().collect::<Vec<_>>().join(" ").replace(['\'', '"', '\\'], ""),
            _ => format!("'{}'", code.replace('\'', "'\\''")),
        }
    }

    /// A command that prints something known.
    fn printed(&mut self) -> String {
        match self.random.below(5) {
            0 => format!(
                "printf {} {}",
                self.pick(&["'%s\\n'", "'ls %s\\n'", "%s", "'%s %s\\n'", "'ls a\\nls b\\n'", "'%b'", "'a\\0b\\0'"]),
                self.words()
            ),
            1 => format!("echo ls {}", self.words()),
            2 => format!("echo {} {}", self.pick(&["-n", "-e", "-en", "-E", "--", "-ne"]), self.words()),
            _ => format!("echo {}", self.words()),
        }
    }

    fn assignment(&mut self) -> String {
        let name = self.pick(NAMES);
        match self.random.below(6) {
            0 => format!("{name}+={}", self.value()),
            1 => format!("{} {name}={}", self.pick(&["export", "readonly", "local", "typeset"]), self.value()),
            2 => format!("{name}={} {}={}", self.value(), self.pick(NAMES), self.value()),
            _ => format!("{name}={}", self.value()),
        }
    }

    fn value(&mut self) -> String {
        if self.random.one_in(8) { String::new() } else { self.word() }
    }

    fn array(&mut self) -> String {
        match self.random.below(4) {
            0 => format!("z=({})", self.words()),
            1 => format!("z+=({})", self.words()),
            2 => format!("z[{}]={}", self.pick(&["0", "1", "x", "2"]), self.word()),
            _ => format!("z=([1]={} {})", self.word(), self.word()),
        }
    }

    fn plain_command(&mut self) -> String {
        format!("{} {}", self.pick(PROGRAMS), self.words())
    }

    fn simple(&mut self) -> String {
        let mut text = String::new();
        if self.random.one_in(8) {
            text += &format!("{}={} ", self.pick(NAMES), self.word());
        }
        if self.random.one_in(12) {
            text += &format!("{} ", self.redirection());
        }
        text += &match self.random.below(12) {
            0 => self.pick(FUNCTIONS).to_owned(),
            1 => self.expansion(),
            2 => "echo".to_owned(),
            3 => format!("ls {}", self.expansion()),
            _ => self.pick(PROGRAMS).to_owned(),
        };
        text += &format!(" {}", self.words());
        if self.random.one_in(8) {
            text += &format!(" {}", self.redirection());
        }
        text
    }

    fn redirection(&mut self) -> String {
        let file = self.pick(FILES);
        match self.random.below(8) {
            0 => format!(">> {file}"),
            1 => "2>&1".to_owned(),
            2 => "2>/dev/null".to_owned(),
            3 => "< /dev/null".to_owned(),
            4 if !self.plain => format!("&> {file}"),
            5 => format!("< {file}"),
            _ => format!("> {file}"),
        }
    }

    fn words(&mut self) -> String {
        (0..self.random.below(4)).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn word(&mut self) -> String {
        let count = if self.random.one_in(3) { 2 + self.random.below(2) } else { 1 };
        (0..count).map(|_| self.part()).collect()
    }

    fn part(&mut self) -> String {
        match self.random.below(if self.plain { 13 } else { 17 }) {
            0..=3 => self.pick(TEXTS).to_owned(),
            4 => self.pick(ESCAPES).to_owned(),
            5 => format!("'{}'", self.pick(QUOTED)),
            6..=8 => self.double(),
            9..=11 => self.expansion(),
            12 => self.pick(&["*", "?", "[ab]", "~", "*.txt", "a*", "$", "$,", "\"$\"", "''", "\"\""]).to_owned(),
            13 => format!("$'{}'", self.pick(ANSI)),
            14 | 15 => self.pick(BRACES).to_owned(),
            _ => format!("$\"{}\"", self.pick(TEXTS)),
        }
    }

    fn double(&mut self) -> String {
        let parts: String = (0..=self.random.below(2))
            .map(|_| match self.random.below(6) {
                0 | 1 => self.expansion(),
                2 => self.pick(QUOTED).replace(['"', '`'], "").replace('\\', "\\\\").replace('!', ""),
                3 => self.pick(&["\\$x", "\\\"", "\\a", "\\\\", "\\\n", "\\`", "'", "'a b'", "\\n", "$"]).to_owned(),
                _ => self.pick(TEXTS).replace('!', ""),
            })
            .collect();
        format!("\"{parts}\"")
    }

    fn expansion(&mut self) -> String {
        let name = self.pick(NAMES);
        if self.depth > 5 {
            return format!("${name}");
        }
        match self.random.below(if self.plain { 22 } else { 32 }) {
            0..=4 => format!("${name}"),
            5 => format!("${{{name}}}"),
            6 => format!("${{{name}{}{}}}", self.pick(&[":-", "-", ":=", "=", ":+", "+"]), self.deeper(Self::word)),
            7 => format!("${{{name}{}{}}}", self.pick(&["#", "##", "%", "%%"]), self.pick(PATTERNS)),
            8 => format!("${{#{name}}}"),
            9 => self
                .pick(&["$@", "\"$@\"", "$*", "\"$*\"", "$#", "$1", "${2}", "\"$1\"", "${1:-d}", "${@}", "${#}", "$3"])
                .to_owned(),
            10 => format!("$(({}))", self.pick(SUMS)),
            11 | 12 => format!("$({})", self.deeper(Self::printed)),
            13 => format!(
                "`echo {} {}`",
                self.pick(TEXTS),
                self.pick(&["$x", "\\$x", "\"a b\"", "'$x'", "\\\\$x", "\\`echo q\\`", "a\\ b", "\\\\\\$y"])
            ),
            14 => format!("$({})", self.deeper(Self::list)),
            15 => {
                self.pick(&["$?", "$-", "$$", "$!", "$0", "$_", "$PWD", "$HOME", "$OLDPWD", "$PATH", "$IFS"]).to_owned()
            }
            16 => format!("$(pwd){}", self.pick(TEXTS)),
            17 => format!("$(basename {})", self.word()),
            18 => format!("$(dirname {})", self.word()),
            19 => format!("$(cat {})", self.pick(FILES)),
            20 | 21 => format!("\"${name}\""),
            22 => format!("${{{name}:{}}}", self.pick(&["0", "1", "1:1", " -1", "0:2", "x", "1:x", "(1)"])),
            23 => format!(
                "${{{name}{}{}/{}}}",
                self.pick(&["/", "//", "/#", "/%"]),
                self.pick(PATTERNS),
                self.pick(TEXTS)
            ),
            24 => format!(
                "${{{name}{}}}",
                self.pick(&["^^", ",,", "^", ",", "@Q", "@U", "@E", "@P", "@a", "^a", ",,[ab]"])
            ),
            25 => format!(
                "${{{}}}",
                self.pick(&[
                    "z[@]", "z[*]", "z[0]", "z[1]", "#z[@]", "!z[@]", "z[-1]", "z[x]", "z[@]:1", "z[@]:0:1",
                    "z[@]/a/b", "z[@]#a", "@:1", "@:2:1", "*:1"
                ])
            ),
            26 => format!(
                "\"${{{}}}\"",
                self.pick(&["z[@]", "z[*]", "z[0]", "#z[@]", "!z[@]", "z[@]:1", "z[@]%b", "@:2", "*: -1"])
            ),
            27 => format!("${{!{name}}}"),
            28 => format!("<({})", self.deeper(Self::printed)),
            29 => format!("$[{}]", self.pick(SUMS)),
            30 => format!("$(<{})", self.pick(FILES)),
            _ => format!(
                "${{{name}{}}}",
                self.pick(&["@Q", ":-$(ls d)", "-`ls e`", "+\"$@\"", ":-'a b'", "-\"a b\"", "#$x", "%\"$y\""])
            ),
        }
    }
}
