//! What dash and zsh read otherwise than bash.

use super::{Row, compare, shell_accepts};
use vetsh::syntax::Dialect;

/// dash takes bash's extensions for words, operators and subshells.
const DASH: &[Row] = &[
    (r#"echo $'a\nb' $"x" &> f"#, r#"(echo $"a\\nb" $"x") &; (: >f)"#),
    ("[[ a < b ]]", "([[ a ]] <b)"),
    ("a+=1 b[0]=2 cmd", r#"(a+=1 b[0]=2 cmd) !Syntax "a+=1 b[0]=2 cmd""#),
    ("((i++))", "(() (() (i++)))"),
    ("echo {a,b} ${x:1} $[1+2] $((1+2))", r#"(echo {a,b} $x{: "1"} $[1+2] $(("1+2")))"#),
    ("time ls; select x", "(time ls); (select x)"),
    (
        "f() { ls; } ; for x in a; do ls; done 2>&1; echo >&2",
        "(function f ({} (ls))); (for x in a: (ls) 2>&1); (echo >&2)",
    ),
    ("exec {fd}>x", "(exec {fd} >x)"),
    (
        r"cat <<EOF
EO\
F
EOF",
        r#"(cat <<"EOF\n")"#,
    ),
];

/// dash rejects these.
const NOT_DASH: &[Row] = &[
    ("function f { ls; }", r#"(function f { ls); ? !Syntax "function f { ls; }" !Syntax "}""#),
    ("a=(1 2)", r#"? !Syntax "a=(1 2)""#),
    ("cat <<< x", r#"? !Syntax "cat <<< x""#),
    ("diff <(a) b", r#"? !Syntax "diff <(a) b""#),
    ("ls |& cat", r#"? !Syntax "ls |& cat""#),
];

/// What runs code only in zsh is in doubt; the rest is read.
const ZSH: &[Row] = &[
    ("ls *(.) **/*(.om[1]) *(e:'cmd':)", r#"(ls *(.) **/*(.om[1]) *(e:"cmd":)) !Dialect "(e:'cmd':)""#),
    (
        "echo $x[1] $x[1,3] $x:h $#x $+commands[git] $=x ${(f)x} ${(e)x} ${${x}#y} ${x:h}",
        r#"(echo $x["1"] $x["1,3"] $x{: "h"} $#x $#commands["git"] $x $x $x ? $x{: "h"}) !Dialect "$=x" !Dialect "${(e)" !Dialect "${${x}#y}""#,
    ),
    ("=ls -l; cat =(ls)", r#"(=ls -l); (cat =(ls)) !Dialect "=ls" !Syntax "=ls -l; cat =(ls)" !Dialect "=(ls)""#),
    ("repeat 2 ls", r#"(repeat 2 ls) !Dialect "repeat""#),
    ("() { ls; }", r#"?; ? !Syntax "() { ls;" !Syntax "}""#),
    ("for x (a b) echo $x", r#"? !Syntax "for x (a b) echo $x""#),
    ("{ ls } always { rm x }", r#"? !Syntax "{ ls } always { rm x }""#),
    (
        r"ls $'\x41\e\033\u41' $'\cA' $'\z' $'\0'",
        r#"(ls "A\u{1b}\u{1b}A" "\u{1}" "\\z" "") !Dialect "$'\\cA'" !Dialect "$'\\z'" !Dialect "$'\\0'""#,
    ),
    ("noglob rm *", "(noglob rm *)"),
    ("ls >! file", r#"(ls file >!) !Dialect "!""#),
    ("[[ $x == (a|b) ]] && ls (a|b)*", r#"? !Syntax "[[ $x == (a|b) ]] && ls (a|b)*""#),
    ("if (( $+commands[git] )); then git status; fi", r#"(if [(((" ""$#commands["git"]"" ")] (git status))"#),
    ("sleep 1 &!", r#"(sleep 1) &; ? !Syntax "!" !Syntax "!""#),
    ("case x in (a|b) ls;; esac", "(case x [ a b] (ls))"),
    (r#"ls $HOME:$PATH "$x:$y""#, r#"(ls $HOME:$PATH """$x"":""$y")"#),
    (r#"print -l ${x%%.*} ${x//a/b} "${x[@]}" ${#x}"#, r#"(print -l $x{%% .*} $x{// a b} "$x["@"]" $#x)"#),
];

#[test]
fn dash_knows_no_extensions() {
    compare(DASH, Dialect::Dash);
    compare(NOT_DASH, Dialect::Dash);
    shell_accepts("dash", DASH, true);
    shell_accepts("dash", NOT_DASH, false);
}

#[test]
fn zsh_is_read_by_its_own_rules_or_in_doubt() {
    compare(ZSH, Dialect::Zsh);
    shell_accepts("zsh", ZSH, true);
}

#[test]
fn a_quote_in_a_quoted_operand_hides_only_in_bash() {
    let text = r#"echo "${x:-it's}""#;
    let read = r#"(echo "$x{:- "it's"}")"#;
    compare(&[(text, read)], Dialect::Dash);
    compare(&[(text, read)], Dialect::BashPosix);
    compare(&[(text, read)], Dialect::Zsh);
    compare(&[(text, r#"? !Syntax "echo \"${x:-it's}\"""#)], Dialect::Bash);
}
