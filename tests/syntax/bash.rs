//! How bash reads.

use super::{Row, compare, shell_accepts};
use vetsh::syntax::Dialect;

/// What tree-sitter-bash 0.25 or brush-parser 0.4 rejects, or reads as something else.
const TRAPS: &[Row] = &[
    ("cat <<'EOF'; echo done\nbody\nEOF", r#"(cat <<"body\n"); (echo done)"#),
    ("cat <<EOF > f | tail\nbody\nEOF", r#"((cat <<"body\n" >f) | (tail))"#),
    ("cat <<A <<B\na\nA\nb\nB\necho after", r#"(cat <<"a\n" <<"b\n"); (echo after)"#),
    ("<<EOF cat\nbody\nEOF", r#"(cat <<"body\n")"#),
    ("exec 3<<<'rm -rf /'", r#"(exec 3<<<"rm -rf /")"#),
    ("exec 3<>/dev/tcp/h/80", "(exec 3<>/dev/tcp/h/80)"),
    ("{rm,-rf,/home/user}", "({rm,-rf,/home/user})"),
    ("echo ${x:$i:2}", r#"(echo $x{: "$i" "2"})"#),
    ("[[ $x != @(*/|[.~])* ]]; [[ $o == --@(help|verbose) ]]", "([[ $x != @(*/|[.~])*); ([[ $o == --@(help|verbose))"),
    ("[[ ~ =~ $HOME ]]", "([[ ~ =~ $HOME)"),
    ("echo $(( 0x$(echo 1) ))", r#"(echo $((" 0x""$((echo 1))"" ")))"#),
    ("echo $((foo`id`bar))", r#"(echo $(("foo""$((id))""bar")))"#),
    ("for i in; do :; done", "(for i in: (:))"),
    ("if case $x in a) true;; esac then :; fi", "(if [(case $x [ a] (true))] (:))"),
    ("{ while :; do :; done } | cat", "(({} (while [(:)] (:))) | (cat))"),
    ("cp $/opt/a /b", "(cp $/opt/a /b)"),
    (r"dir C:\", r#"(dir C:"\\")"#),
    ("let foo=(bar)", r#"(let "foo=("bar")")"#),
    ("echo ${foo@} ${a&}", "(echo $foo{@} ?)"),
    ("$foo-bar() { ls; }", "(function $foo-bar ({} (ls)))"),
    ("while read l; do :; done {fd}<$F", "(while [(read l)] (:) {fd}<$F)"),
    ("export>>/home/user/.zshrc<<<'id'", r#"(export >>/home/user/.zshrc <<<"id")"#),
    ("who$()ami", "(who$()ami)"),
    ("${ foo;}", r#"($((foo))) !Dialect "${ foo;}""#),
    ("${|foo;}", r#"($((foo))) !Dialect "${|foo;}""#),
    ("[ -f = ]", "([ -f = ])"),
    ("[[ ]]", r#"([[) !Syntax "[[ ]]""#),
    ("(( ++ ))", r#"(((" ++ ")"#),
    ("echo $(( ${base}#a ))", "(echo $((\" \"\"$base\"\"#a \")))"),
    ("a[a[1]]=X", r#"(a["a[1]"]=X)"#),
    ("`# foo`", "($())"),
    ("f() [[ -n $1 ]]", r#"(function f ([[ -n $1)) !Syntax "f() [[ -n $1 ]]""#),
    ("x=$(case a in a) echo b;; esac)", "(x=$((case a [ a] (echo b))))"),
    ("select x in a b; do :; done", "(for x in a b: (:))"),
    (r#"python3 -c "print(\"a\", [1,2])""#, r#"(python3 -c "print(\"a\", [1,2])")"#),
    (
        r#"case "$c" in *\**|*\<*|*\{*) echo glob;; *) echo no;; esac"#,
        r#"(case """$c" [ *"*"* *"<"* *"{"*] (echo glob) [ *] (echo no))"#,
    ),
    (r#"node -e "console.log(\`${r.completed_at?.slice(5,16)}\`)""#, r#"(node -e "console.log(`"?"`)")"#),
    ("a | b | c\nrm x > y", "((a) | (b) | (c)); (rm x >y)"),
    ("a | b | c\nrm x && ls", "((a) | (b) | (c)); ((rm x) && (ls))"),
    ("[ 2 -lt 3 ]\nrm -rf ~ >1\n[ ]", "([ 2 -lt 3 ]); (rm -rf ~ >1); ([ ])"),
    ("time X", "(time (X))"),
    ("coproc X", "(coproc COPROC (X))"),
    ("coproc X { rm -rf x; }", "(coproc X ({} (rm -rf x)))"),
    ("x y <f a b c", "(x y a b c <f)"),
    ("cd build && make 2>/dev/null", "((cd build) && (make 2>/dev/null))"),
    ("cat <<EOF\n$((1+2))\nEOF", r#"(cat <<$(("1+2"))"\n")"#),
    ("rm > x -rf /tmp/x", "(rm -rf /tmp/x >x)"),
    ("git push >log --force origin main", "(git push --force origin main >log)"),
    ("echo hi 2>&1 -n foo", "(echo hi -n foo 2>&1)"),
    ("cat <<EOF\n`rm x`\nEOF", r#"(cat <<"$((rm x))""\n")"#),
    (
        r#"echo "${x@P}" $'\x72m' $"rm" r\
m"#,
        r#"(echo "$x{@P}" "rm" "rm" rm)"#,
    ),
    ("> x rm y", "(rm y >x)"),
    ("cat <<''\nbody\n\necho after", r#"(cat <<"body\n"); (echo after)"#),
    ("cat <<E'O'F\n$x\nEOF", r#"(cat <<"$x\n")"#),
    ("cat <<EOF\nx EOF\nEOF", r#"(cat <<"x EOF\n")"#),
    ("((ls); rm x)", "(() (() (ls)); (rm x))"),
    ("${ c; } ${| c; }", r#"($((c)) $((c))) !Dialect "${ c; }" !Dialect "${| c; }""#),
];

/// The rest of the grammar, as people and agents use it.
const GRAMMAR: &[Row] = &[
    ("while read l; do :; done <<EOF\na\nEOF", r#"(while [(read l)] (:) <<"a\n")"#),
    ("if true; then :; fi <<< x 2>/dev/null", "(if [(true)] (:) <<<x 2>/dev/null)"),
    ("for ((i=0; i<3; i++)) { ls; }", r#"(for (( "i=0" " i<3" " i++")): (ls))"#),
    (
        r"ls \
  -la",
        "(ls -la)",
    ),
    ("cmd1 |\n  grep x &&\n  echo y", "(((cmd1) | (grep x)) && (echo y))"),
    ("x=$(<file) > out", "(x=$((: <file)) >out)"),
    ("A=1 time ls; >f if true", r#"(A=1 time ls); (if true >f) !Syntax "A=1 time ls; >f if true""#),
    ("echo a2>f; echo 2 >f; echo 0<f; echo {a}>f", "(echo a2 >f); (echo 2 >f); (echo 0<f); (echo {a}>f)"),
    (
        "[[ ! -f x || ( -n $y && $z == *.txt ) ]]; [[ a<b ]]; [[ $x =~ ^[[:space:]]*$|(a b) ]]",
        "([[ ! -f x || ( -n $y && $z == *.txt )); ([[ a < b); ([[ $x =~ ^[[:space:]]*$|(a b))",
    ),
    ("echo $((ls) ) $(( (1) )) $((1<<2))", r#"(echo $((() (ls))) $((" (1) ")) $(("1<<2")))"#),
    ("a[$(id)]=1; unset a[0]", r#"(a["$((id))"]=1); (unset a[0])"#),
    (r#"echo foo#bar "$#" $((x#y))"#, r#"(echo foo#bar """$#" $(("x#y")))"#),
    ("ls >&file 2>&$fd", "(ls &>file 2&>$fd)"),
    (
        r#"f () {
  local x=$1
  # it's a comment )
  echo "$x" # another (
}

f a"#,
        r#"(function f ({} (local x=$1); (echo """$x"))); (f a)"#,
    ),
    ("ls; ls & ls", "(ls); (ls) &; (ls)"),
    (r"echo 'it'\''s'", r#"(echo "it's")"#),
    ("{ ls\n}", "({} (ls))"),
    ("if a\nthen b\nelif c; then d\nelse\n  e\nfi", "(if [(a)] (b) [(c)] (d) else (e))"),
    (
        r#"case "$x" in
  -h|--help) usage; exit 0 ;;
  *)
    run
esac"#,
        r#"(case """$x" [ -h --help] (usage); (exit 0) [ *] (run))"#,
    ),
    ("(cd a && ls) || exit 1", "((() ((cd a) && (ls))) || (exit 1))"),
    (r#"echo "a `echo "b"` c""#, r#"(echo "a ""$((echo "b"))"" c")"#),
    (r#"sh -c 'rm -rf "$1"' _ x"#, r#"(sh -c "rm -rf \"$1\"" _ x)"#),
    (
        r"find . -name '*.rs' -exec grep -l x {} + -o \( -name a \)",
        r#"(find . -name "*.rs" -exec grep -l x {} + -o "(" -name a ")")"#,
    ),
    (
        r#"cat > f <<'A' && cat <<"B"
$x
A
$(y)
B"#,
        r#"((cat >f <<"$x\n") && (cat <<"$(y)\n"))"#,
    ),
    (
        r#"$(echo rm) x "$(cat <<Q
a
Q
)""#,
        r#"($((echo rm)) x """$((cat <<"a\n"))")"#,
    ),
    (
        r#"ls "$(case x in a) echo;; esac)" `case y in (b) ls;; esac`"#,
        r#"(ls """$((case x [ a] (echo)))" $((case y [ b] (ls))))"#,
    ),
    ("cat <<EOF\nnever ends", r#"(cat <<"never ends") !Syntax "cat <<EOF""#),
    ("coproc { ls; } ; coproc N (ls)", "(coproc COPROC ({} (ls))); (coproc N (() (ls)))"),
    ("A=b", "(A=b)"),
    ("# only a comment", ""),
    ("cat <<EOF $(\nid)\nEOF", r#"(cat $((id)) <<) !Syntax "cat <<EOF $(\nid)" !Syntax "\n""#),
    ("git diff --", "(git diff --)"),
    ("cat <<'EOF' | some-script\nrm x\nEOF", r#"((cat <<"rm x\n") | (some-script))"#),
    (r#"echo "$(( $( ver_cut 2 ) - 1 ))""#, r#"(echo ""$((" ""$((ver_cut 2))"" - 1 ")))"#),
    ("while case $x in a) true ;; esac do echo hi; done", "(while [(case $x [ a] (true))] (echo hi))"),
    (r#"a=(1 "two words" [5]=$x $(ls)) b+=z c[i]=1 cmd"#, r#"(a=[1 "two words" ["5"]=$x $((ls))] b+=z c["i"]=1 cmd)"#),
    (
        r#"declare -A m=([k]=v [j]="$(id)"); export P=$PATH:/x"#,
        r#"(declare -A "m=([""k]="v" [""j]=""""$((id))"")"); (export P=$PATH:/x)"#,
    ),
    ("if ! grep -q x f; then echo no; else echo yes; fi &", "(if [(! (grep -q x f))] (echo no) else (echo yes)) &"),
    (
        "for x do echo $x; done; for ((;;)); do break; done; until false; do :; done",
        r#"(for x: (echo $x)); (for ((  )): (break)); (while [(false)] (:)) !Syntax "for x do echo $x; done; for ((;;)); do break; done; until false; do :; done""#,
    ),
    ("f() ( ls ); function g() { :; } 2>/dev/null", "(function f (() (ls))); (function g ({} (:) 2>/dev/null))"),
    (
        "echo a |& tee log; { ls; } &> all; ls &>> all; ls >&2 2>&- <&3-",
        "((echo a 2>&1) | (tee log)); ({} (ls) &>all); (ls &>>all); (ls >&2 2>&- >&3-)",
    ),
    (
        r#"echo "a$(echo "b$(echo 'c')")" `echo \`date\``"#,
        r#"(echo "a""$((echo "b""$((echo "c"))"))" $((echo $((date)))))"#,
    ),
    ("cat <(sort a) >(tee b) --file=<(ls)", "(cat <((sort a)) >((tee b)) --file=<((ls)))"),
    ("ls # comment ; rm\n# only", "(ls)"),
    ("! ls; ! time ls; time -p ls", r#"(! (ls)); (time ! (ls)); (time (ls)) !Syntax "! time ls""#),
    (
        "echo ${#} ${#x} ${#a[@]} ${!x} ${!p*} ${x/a/b} ${x//a} ${x#*/} ${x%%.*} ${x^^} ${x,,} ${x:1} ${x: -1} ${@:2} $1 $10 $# $? $$ $! $- $_ ${10}",
        r#"(echo $# $#x $#a["@"] $!x $!p{*} $x{/ a b} $x{// a} $x{# */} $x{%% .*} $x{^^ } $x{,, } $x{: "1"} $x{: " -1"} $@{: "2"} $1 $10 $# $? $$ $! $- $_ $10)"#,
    ),
    (
        r#"echo "${x:-"q r"}" "${x#'a'}" ${x:+$(y)} "a\$b\"c\n""#,
        r#"(echo "$x{:- "q r"}" "$x{# "a"}" $x{:+ $((y))} "a$b\"c\\n")"#,
    ),
    ("cat <<-EOF\n\ta\n\t\t$x\n\tEOF\necho z", r#"(cat <<"a\n""$x""\n"); (echo z)"#),
    (
        r"cat <<EOF
a\
EOF
b
EOF",
        r#"(cat <<"aEOF\nb\n") !Syntax "cat <<EOF""#,
    ),
    (
        r"echo a > f\
oo",
        "(echo a >foo)",
    ),
    ("case x in (a) ls;; b|c) ;& d) pwd;;& esac", "(case x [ a] (ls) [ b c]  [ d] (pwd))"),
    (r#"eval "$(ssh-agent -s)""#, r#"(eval """$((ssh-agent -s))")"#),
    ("!(ls)", r#"(! (() (ls))) !Syntax "!(ls)""#),
    (
        r#"for f in a b; do echo "$f" > x; done 2>&1 | cat; if [ -f x ]; then a; elif b; then c; else d; fi"#,
        r#"((for f in a b: (echo """$f" >x) 2>&1) | (cat)); (if [([ -f x ])] (a) [(b)] (c) else (d))"#,
    ),
    (r#"case "$1" in a|b) foo ;; *\**) bar; esac"#, r#"(case """$1" [ a b] (foo) [ *"*"*] (bar))"#),
    (
        r#"x=$(cat <<EOF
hello `date` $(pwd)
EOF
) && echo ${x:-y} ${#x} ${x@P} $((1+$(ls))) "a${b:+"c d"}""#,
        r#"((x=$((cat <<"hello ""$((date))"" ""$((pwd))""\n"))) && (echo $x{:- y} $#x $x{@P} $(("1+""$((ls))")) "a""$b{:+ "c d"}"))"#,
    ),
    (
        "f() { ls; }; function g { ls; } ; time -p ls | cat; ! true; coproc X { ls; }",
        "(function f ({} (ls))); (function g ({} (ls))); (time (ls) | (cat)); (! (true)); (coproc X ({} (ls)))",
    ),
    (
        "while read -r l; do :; done < <(ls) ; [[ $x =~ ^(a|b) && -n $y ]] && ((i++)) ; for ((i=0;i<3;i++)); do ls; done",
        r#"(while [(read -r l)] (:) <<((ls))); (([[ $x =~ ^(a|b) && -n $y) && ((("i++")); (for (( "i=0" "i<3" "i++")): (ls))"#,
    ),
];

/// What bash rejects: the lines before it are read, since bash runs them.
const BROKEN: &[Row] = &[
    ("a\nif\nb", r#"(a); ? !Syntax "if\nb""#),
    ("ls\nfi\nrm x", r#"(ls); ?; (rm x) !Syntax "fi\n" !Syntax "fi\nrm x""#),
    ("echo 'open\nrm x", r#"? !Syntax "echo 'open\nrm x""#),
    (
        r#"rm x
echo "$(ls"#,
        r#"(rm x); ? !Syntax "echo \"$(ls""#,
    ),
    ("ls )", r#"? !Syntax "ls )""#),
    ("ls ;; rm", r#"? !Syntax "ls ;; rm""#),
    ("ls -a <path>", r#"? !Syntax "ls -a <path>""#),
];

#[test]
fn traps_are_read_or_in_doubt() {
    compare(TRAPS, Dialect::Bash);
}

#[test]
fn the_grammar_is_read() {
    compare(GRAMMAR, Dialect::Bash);
}

#[test]
fn a_broken_script_is_read_up_to_the_break() {
    compare(BROKEN, Dialect::Bash);
}

#[test]
fn bash_accepts_what_is_called_grammar_and_nothing_that_is_called_broken() {
    shell_accepts("bash", TRAPS, true);
    shell_accepts("bash", GRAMMAR, true);
    shell_accepts("bash", BROKEN, false);
}
