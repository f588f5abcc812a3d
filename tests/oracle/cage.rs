//! A throw-away machine: what its programs do is in `cage/`.

mod wire;

use std::collections::BTreeSet;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use bstr::{BString, ByteSlice};

use super::tool::{Tools, tools};

/// Programs that are what they are in every world: shells, and what prints text that a reading knows.
const REAL: &[&str] = &["bash", "dash", "zsh", "cat", "tee", "basename", "dirname", "base64"];
/// Programs that are real where everything goes well: they start others, or move and change files of the cage.
const WRAPPERS: &[&str] = &[
    "env", "xargs", "find", "timeout", "nice", "nohup", "rm", "mkdir", "rmdir", "cp", "mv", "ln", "touch", "chmod",
    "head", "tail", "sort", "uniq", "tr", "cut", "seq", "grep", "mktemp", "realpath", "readlink", "echo", "printf",
    "true", "false", "test", "expr",
];

/// A running cage; it ends with the value.
pub struct Cage {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// A command, and the machine it finds.
#[derive(Debug, Clone)]
pub struct Order<'o> {
    pub world: &'o str,
    pub shell: &'o str,
    pub command: &'o str,
    pub home: &'o str,
    pub project: &'o str,
    /// What stands on its standard input.
    pub input: &'o str,
    pub folders: &'o BTreeSet<String>,
    pub files: &'o BTreeSet<String>,
    /// Where stubs stand beside those that are everywhere.
    pub stubs: &'o BTreeSet<String>,
}

/// What a command did.
#[derive(Debug, Default)]
pub struct Seen {
    /// It ran into a limit of time.
    pub late: bool,
    pub started: Vec<Started>,
    /// The paths of files that were written or deleted.
    pub changed: Vec<String>,
}

/// A program that was started.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Started {
    /// The file's name without its folder.
    pub program: BString,
    pub folder: BString,
    pub words: Vec<BString>,
}

impl Cage {
    /// Builds a machine with stubs under these names; an error where the kernel does not let us.
    pub fn new(names: &BTreeSet<String>) -> Result<Self, String> {
        let Tools { cage, stub } = tools();
        let mut command = Command::new(cage);
        command.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let mut orders = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        let mut machine = wire::Writer::default();
        machine.field(stub.as_os_str().as_encoded_bytes());
        machine.list(&names.iter().collect::<Vec<_>>());
        let files = files();
        let pairs = files.iter().flat_map(|(from, to)| [from, to]).map(|path| path.as_os_str().as_encoded_bytes());
        machine.list(&pairs.collect::<Vec<_>>());
        machine.send(&mut orders).map_err(|error| error.to_string())?;
        match wire::receive(&mut answers) {
            Ok(Some(_)) => Ok(Self { child, orders, answers }),
            _ => Err(String::from_utf8_lossy(&child.wait_with_output().unwrap().stderr).into_owned()),
        }
    }

    pub fn run(&mut self, order: &Order<'_>) -> Seen {
        let mut message = wire::Writer::default();
        for field in [order.world, order.shell, order.command, order.home, order.project, order.input] {
            message.field(field.as_bytes());
        }
        for list in [order.folders, order.files, order.stubs] {
            message.list(&list.iter().collect::<Vec<_>>());
        }
        message.send(&mut self.orders).unwrap();
        let Some(answer) = wire::receive(&mut self.answers).unwrap() else {
            let mut why = String::new();
            let _ = self.child.stderr.take().unwrap().read_to_string(&mut why);
            panic!("the cage has ended in {:?}: {why}", order.command);
        };
        Seen::read(&answer)
    }
}

impl Drop for Cage {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Seen {
    fn read(answer: &[u8]) -> Self {
        let mut fields = wire::Reader(answer);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let how = text(fields.field());
        assert!(!how.starts_with("failed"), "{how}");
        let mut log = wire::Reader(fields.field());
        let mut started = Vec::new();
        while !log.0.is_empty() {
            let mut record = wire::Reader(log.field());
            let (file, folder) = (record.field(), record.field().into());
            let program = file.rsplit_str("/").next().unwrap_or_default().into();
            let words = record.list().into_iter().map(nameless).collect();
            started.push(Started { program, folder, words });
        }
        let changed = fields.list().iter().map(|change| text(change)).collect();
        Self { late: how == "timeout", started, changed }
    }
}

/// A word with one name for all open files: their numbers are the shell's choice.
pub fn nameless(word: &[u8]) -> BString {
    let mut text = BString::default();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once_str("/fd/") {
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let folder = before.strip_suffix(b"/proc/self").or(before.strip_suffix(b"/dev")).filter(|_| digits > 0);
        text.extend_from_slice(folder.unwrap_or(before));
        text.extend_from_slice(if folder.is_some() { b"/dev/fd/N" } else { b"/fd/" });
        rest = &after[if folder.is_some() { digits } else { 0 }..];
    }
    text.extend_from_slice(rest);
    text
}

/// The real programs and all that they load: from where, to where.
fn files() -> Vec<(PathBuf, PathBuf)> {
    let mut files = Vec::new();
    let mut programs = Vec::new();
    for (folder, names) in [(".oracle/real", REAL), (".oracle/wrap", WRAPPERS)] {
        for name in names {
            let Some(file) = ["/usr/bin", "/bin"].map(|bin| Path::new(bin).join(name)).into_iter().find(|f| f.exists())
            else {
                continue;
            };
            files.push((file.clone(), Path::new(folder).join(name)));
            programs.push(file);
        }
    }
    // What the assumed machine's `sh` is.
    files.push(("/bin/dash".into(), ".oracle/real/sh".into()));
    for module in modules() {
        files.push((module.clone(), module.strip_prefix("/").unwrap().into()));
        programs.push(module);
    }
    let listed = Command::new("ldd").args(&programs).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let libraries: BTreeSet<&str> =
        listed.lines().filter(|line| line.starts_with(['\t', ' '])).flat_map(str::split_whitespace).collect();
    let libraries = libraries.into_iter().filter(|word| word.starts_with('/')).map(Path::new);
    files.extend(libraries.map(|file| (file.into(), file.strip_prefix("/").unwrap().into())));
    files
}

/// zsh loads much of itself.
fn modules() -> Vec<PathBuf> {
    let Ok(printed) = Command::new("/bin/zsh").args(["-fc", "print -rn -- $module_path"]).output() else {
        return Vec::new();
    };
    let mut folders = vec![Path::new(String::from_utf8_lossy(&printed.stdout).as_ref()).join("zsh")];
    let mut modules = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { modules.push(path) }
        }
    }
    modules
}
