//! Every way to hand a shell a command, against the real shells.

use bstr::BStr;
use vetsh::shell::{Shell, Source};

use super::generator::{Options, differs};

/// Shell, arguments, whether the shell runs CMD with nothing on its standard input.
const SHAPES: &[(&str, &[&str], bool)] = &[
    // bash
    ("bash", &["-c", "CMD"], true),
    ("bash", &["-lc", "CMD"], true),
    ("bash", &["-cl", "CMD"], true),
    ("bash", &["-c", "-l", "CMD"], true),
    ("bash", &["-l", "-c", "CMD"], true),
    ("bash", &["-o", "pipefail", "-c", "CMD"], true),
    ("bash", &["-oc", "pipefail", "CMD"], true),
    ("bash", &["-co", "pipefail", "CMD"], true),
    ("bash", &["-c", "-o", "pipefail", "CMD"], true),
    ("bash", &["-O", "extglob", "-c", "CMD"], true),
    ("bash", &["-cO", "extglob", "CMD"], true),
    ("bash", &["-c", "-O", "extglob", "CMD"], true),
    ("bash", &["+e", "-c", "CMD"], true),
    ("bash", &["-c", "+e", "CMD"], true),
    ("bash", &["+O", "extglob", "-c", "CMD"], true),
    ("bash", &["+c", "CMD"], true),
    ("bash", &["--rcfile", "/dev/null", "-c", "CMD"], true),
    ("bash", &["--rcfile=/dev/null", "-c", "CMD"], false),
    ("bash", &["-rcfile", "/dev/null", "-c", "CMD"], true),
    ("bash", &["--init-file", "/dev/null", "-c", "CMD"], true),
    ("bash", &["--norc", "-c", "CMD"], true),
    ("bash", &["-norc", "-c", "CMD"], true),
    ("bash", &["-login", "-c", "CMD"], true),
    ("bash", &["--login", "-c", "CMD"], true),
    ("bash", &["--posix", "-c", "CMD"], true),
    ("bash", &["-posix", "-c", "CMD"], true),
    ("bash", &["--restricted", "-c", "CMD"], true),
    ("bash", &["--debugger", "-c", "CMD"], true),
    ("bash", &["-noprofile", "-c", "CMD"], true),
    ("bash", &["-c", "--", "CMD"], true),
    ("bash", &["-c", "-", "CMD"], true),
    ("bash", &["-", "-c", "CMD"], false),
    ("bash", &["--", "-c", "CMD"], false),
    ("bash", &["-ic", "CMD"], true),
    ("bash", &["-sc", "CMD"], true),
    ("bash", &["-c", "-s", "CMD"], true),
    ("bash", &["-c", "--norc", "CMD"], false),
    ("bash", &["-c", "-c", "CMD"], true),
    ("bash", &["-D", "-c", "CMD"], false),
    ("bash", &["-nc", "CMD"], false),
    ("bash", &["-eo", "pipefail", "-c", "CMD"], true),
    ("bash", &["-euxo", "pipefail", "-c", "CMD"], true),
    ("bash", &["-xO", "extglob", "-c", "CMD"], true),
    ("bash", &["-oo", "pipefail", "errexit", "-c", "CMD"], true),
    ("bash", &["-Oo", "extglob", "errexit", "-c", "CMD"], true),
    ("bash", &["-o", "-c", "CMD"], false),
    ("bash", &["-c", "CMD", "-l"], true),
    ("bash", &["-vc", "CMD"], true),
    ("bash", &["--verbose", "-c", "CMD"], true),
    ("bash", &["--noediting", "-c", "CMD"], true),
    ("bash", &["--protected", "-c", "CMD"], false),
    ("bash", &["--wordexp", "-c", "CMD"], false),
    ("bash", &["--pretty-print", "-c", "CMD"], true),
    // zsh
    ("zsh", &["-c", "CMD"], true),
    ("zsh", &["-lc", "CMD"], true),
    ("zsh", &["-c", "-l", "CMD"], true),
    ("zsh", &["-fc", "CMD"], true),
    ("zsh", &["--no-rcs", "-c", "CMD"], true),
    ("zsh", &["-o", "extendedglob", "-c", "CMD"], true),
    ("zsh", &["-oextendedglob", "-c", "CMD"], true),
    ("zsh", &["-c", "-o", "extendedglob", "CMD"], true),
    ("zsh", &["-co", "extendedglob", "CMD"], true),
    ("zsh", &["--emulate", "sh", "-c", "CMD"], true),
    ("zsh", &["+o", "rcs", "-c", "CMD"], true),
    ("zsh", &["+f", "-c", "CMD"], true),
    ("zsh", &["-c", "--", "CMD"], true),
    ("zsh", &["-c", "-", "CMD"], true),
    ("zsh", &["-b", "-c", "CMD"], false),
    ("zsh", &["-fbc", "CMD"], true),
    ("zsh", &["--extendedglob", "-c", "CMD"], true),
    ("zsh", &["--nullglob", "-c", "CMD"], true),
    ("zsh", &["-cf", "CMD"], true),
    ("zsh", &["-sc", "CMD"], true),
    ("zsh", &["-ic", "CMD"], true),
    ("zsh", &["--shwordsplit", "-c", "CMD"], true),
    ("zsh", &["+c", "CMD"], true),
    // dash
    ("dash", &["-c", "CMD"], true),
    ("dash", &["-ec", "CMD"], true),
    ("dash", &["-ce", "CMD"], true),
    ("dash", &["-c", "-e", "CMD"], true),
    ("dash", &["-o", "errexit", "-c", "CMD"], true),
    ("dash", &["-oc", "errexit", "CMD"], true),
    ("dash", &["-co", "errexit", "CMD"], true),
    ("dash", &["+e", "-c", "CMD"], true),
    ("dash", &["-c", "+e", "CMD"], true),
    ("dash", &["-c", "--", "CMD"], true),
    ("dash", &["-c", "-", "CMD"], true),
    ("dash", &["-lc", "CMD"], true),
    ("dash", &["-sc", "CMD"], true),
    ("dash", &["-ic", "CMD"], true),
    ("dash", &["+c", "CMD"], true),
    ("dash", &["-", "-c", "CMD"], false),
];

fn shell(name: &str) -> Shell {
    Shell::named(name.as_bytes()).unwrap()
}

fn runs(name: &str, arguments: &[&str]) -> bool {
    let arguments: Vec<&BStr> = [name].iter().chain(arguments).map(|argument| BStr::new(*argument)).collect();
    let reading = shell(name).read(&arguments);
    reading.source == Source::Text("CMD".into()) && !reading.flags.complains
}

#[test]
fn each_shape_is_read_as_the_shell_reads_it() {
    let wrong: Vec<_> =
        SHAPES.iter().filter(|(name, arguments, expected)| runs(name, arguments) != *expected).collect();
    assert_eq!(wrong, Vec::<&(&str, &[&str], bool)>::new());
}

#[test]
fn the_first_operands_are_zero_and_the_parameters() {
    let read = |name: &str, arguments: &[&'static str]| {
        let arguments: Vec<&BStr> = arguments.iter().map(|argument| BStr::new(*argument)).collect();
        let reading = shell(name).read(&arguments);
        (reading.source, reading.zero, reading.positional)
    };
    let text = |text: &'static str| Source::Text(text.into());
    let words = |words: &[&'static str]| words.iter().map(|word| BStr::new(*word)).collect::<Vec<_>>();
    assert_eq!(read("bash", &["-bash", "-c", "CMD"]), (text("CMD"), "-bash".into(), words(&[])));
    assert_eq!(
        read("bash", &["bash", "-c", "CMD", "zero", "1", "2"]),
        (text("CMD"), "zero".into(), words(&["1", "2"]))
    );
    assert_eq!(read("bash", &["bash", "-s", "1", "2"]), (Source::Stdin, "bash".into(), words(&["1", "2"])));
    assert_eq!(
        read("bash", &["bash", "-e", "run.sh", "-c"]),
        (Source::File("run.sh".into()), "run.sh".into(), words(&["-c"]))
    );
    assert_eq!(read("zsh", &["zsh", "-sc", "CMD", "1", "2"]), (text("CMD"), "zsh".into(), words(&["1", "2"])));
    assert_eq!(read("dash", &["sh", "--", "run.sh"]), (Source::File("run.sh".into()), "run.sh".into(), words(&[])));
}

/// What the generator found: nothing, or the arguments under which a real shell runs what the model does not see.
fn search(name: &str, count: u64) {
    let missed: Vec<_> = (0..count).map(|seed| Options::generate(name, seed)).filter(differs).take(5).collect();
    assert_eq!(missed, []);
}

#[test]
fn no_option_sequence_hides_a_command_from_the_model_of_bash() {
    search("bash", super::generator::count());
}

#[test]
fn no_option_sequence_hides_a_command_from_the_model_of_zsh() {
    search("zsh", super::generator::count());
}

#[test]
fn no_option_sequence_hides_a_command_from_the_model_of_dash() {
    search("dash", super::generator::count());
}
