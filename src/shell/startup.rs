//! Code that a shell runs beside its script: startup files, inherited functions, prompts, preloaded libraries.
//!
//! Startup files are trusted if nobody but the user or root can have written them and they lie where writing is judged:
//! outside the project, in the home folder or root's. Everything else is part of what is judged.

use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use super::{Reading, Shell, Source};
use crate::facts::{Code, Prelude, prompt};
use crate::host::{Host, Look, LookKind};
use crate::invocation::base_name;
use crate::syntax::Dialect;

/// Files that every shell loads; a library folder that holds none of them changes nothing for the shell itself.
const SHELL_LIBRARIES: &[&str] = &[
    "libc.so.6",
    "libtinfo.so.6",
    "libncursesw.so.6",
    "libdl.so.2",
    "libm.so.6",
    "libcap.so.2",
    "libreadline.so.8",
    "libpcre2-8.so.0",
    "glibc-hwcaps",
    "tls",
    "x86_64",
    "haswell",
];

/// Variables that make the loader bring code into the shell, and what their value lists.
const LIBRARIES: &[(&str, Libraries)] = &[
    ("LD_PRELOAD", Libraries::Files),
    ("LD_AUDIT", Libraries::Files),
    ("LD_LIBRARY_PATH", Libraries::Folders),
    ("GCONV_PATH", Libraries::AnyFolder),
    ("LOCPATH", Libraries::AnyFolder),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Libraries {
    Files,
    /// Matters where it holds one of [`SHELL_LIBRARIES`].
    Folders,
    AnyFolder,
}

/// Texts that bash expands as in double quotes, and whether only an interactive shell does.
const PROMPTS: &[(&str, bool)] = &[("PS4", false), ("PS0", true), ("PS1", true), ("PS2", true)];

/// Character sets in which a byte of a longer character can look like ASCII.
const HIDING_CHARSETS: &[&str] =
    &["sjis", "shiftjis", "big5", "gbk", "gb18030", "johab", "cp932", "cp936", "cp949", "cp950"];
/// Locales that mean such a character set without naming it.
const HIDING_LOCALES: &[&str] = &["zh_TW", "zh_HK"];

/// What is known when the code beside a script is collected.
pub struct Surroundings<'a> {
    /// The real shell.
    pub shell: Shell,
    /// What it makes of its arguments.
    pub reading: &'a Reading<'a>,
    /// The caller's `argv[0]`.
    pub caller: &'a BStr,
    /// Each `NAME=value`.
    pub environment: &'a [&'a BStr],
    /// The machine.
    pub host: &'a dyn Host,
}

impl<'a> Surroundings<'a> {
    /// Whose rules the script is read by.
    pub fn dialect(&self) -> Dialect {
        match self.shell {
            Shell::Dash => Dialect::Dash,
            Shell::Zsh if self.reading.flags.posix => Dialect::ZshSh,
            Shell::Zsh => Dialect::Zsh,
            Shell::Bash if self.posix() || self.called_sh() => Dialect::BashPosix,
            Shell::Bash => Dialect::Bash,
        }
    }

    /// The code that runs before the script `text`, in order.
    pub fn preludes(&self, text: &[u8]) -> Vec<Prelude> {
        let mut found = Vec::new();
        self.duplicates(&mut found);
        self.libraries(&mut found);
        self.locale(text, &mut found);
        self.history(text, &mut found);
        self.functions(&mut found);
        self.prompts(&mut found);
        match self.shell {
            Shell::Bash => self.bash_files(&mut found),
            Shell::Zsh => self.zsh_files(&mut found),
            Shell::Dash => self.dash_files(&mut found),
        }
        found
    }

    /// Files that an agent's wrapper sources before the user's part.
    pub fn sourced(&self, files: &[PathBuf]) -> Vec<Prelude> {
        let mut found = Vec::new();
        files.iter().for_each(|file| self.file(file.clone(), &mut found));
        found
    }

    /// All values of a variable: which one of several counts differs from program to program.
    fn values(&self, name: &str) -> impl Iterator<Item = &'a BStr> {
        let value = move |entry: &&'a BStr| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=").map(BStr::new);
        self.environment.iter().filter_map(value)
    }

    fn has(&self, name: &str) -> bool {
        self.values(name).next().is_some()
    }

    fn option_in(&self, variable: &str, option: &str) -> bool {
        self.values(variable).any(|list| list.split(|byte| *byte == b':').any(|item| item == option.as_bytes()))
    }

    fn interactive(&self) -> bool {
        self.reading.flags.interactive == Some(true)
    }

    fn posix(&self) -> bool {
        self.reading.flags.posix || self.has("POSIXLY_CORRECT") || self.option_in("SHELLOPTS", "posix")
    }

    fn called_sh(&self) -> bool {
        let name = base_name(self.caller);
        name.strip_prefix(b"-").unwrap_or(name) == b"sh"
    }

    /// bash: `run_startup_files`.
    fn bash_files(&self, found: &mut Vec<Prelude>) {
        let flags = &self.reading.flags;
        let (sh, posix) = (self.called_sh(), self.posix());
        if flags.login && !posix && !flags.noprofile {
            self.file("/etc/profile".into(), found);
            self.home_files(
                &[if sh { ".profile" } else { ".bash_profile" }, ".bash_login", ".profile", ".bash_logout"],
                found,
            );
        }
        // A shell that sshd or rshd seems to have started reads what an interactive one does.
        let remote = flags.command && self.values("SHLVL").all(|level| matches!(level.as_bytes(), b"" | b"0"));
        if (self.interactive() || remote) && !posix && !sh && !flags.norc && !flags.login {
            self.file("/etc/bash.bashrc".into(), found);
            match flags.rcfile {
                Some(file) => self.file(self.absolute(file), found),
                None => self.home_files(&[".bashrc"], found),
            }
        }
        if flags.privileged {
            return;
        }
        if self.interactive() && (posix || sh) {
            self.named_file("ENV", found);
        } else if !self.interactive() && !posix && !sh {
            self.named_file("BASH_ENV", found);
        }
    }

    /// zsh: `run_init_scripts`.
    fn zsh_files(&self, found: &mut Vec<Prelude>) {
        let flags = &self.reading.flags;
        if flags.posix {
            return self.dash_files(found);
        }
        self.file("/etc/zsh/zshenv".into(), found);
        for (name, wanted) in [
            (".zshenv", true),
            (".zprofile", flags.login),
            (".zshrc", self.interactive()),
            (".zlogin", flags.login),
            (".zlogout", flags.login),
        ] {
            if !wanted {
                continue;
            }
            if !flags.norc && !flags.noglobalrc && name != ".zshenv" {
                self.file(Path::new("/etc/zsh").join(name.trim_start_matches('.')), found);
            }
            if flags.norc || flags.privileged {
                continue;
            }
            if self.has("ZDOTDIR") {
                for folder in self.values("ZDOTDIR") {
                    self.file(self.absolute(folder).join(name), found);
                }
            } else {
                self.home_files(&[name], found);
            }
        }
    }

    fn dash_files(&self, found: &mut Vec<Prelude>) {
        if self.reading.flags.login {
            self.file("/etc/profile".into(), found);
            self.home_files(&[".profile"], found);
        }
        if self.interactive() && !self.reading.flags.privileged {
            self.named_file("ENV", found);
        }
    }

    /// Files in the home folder as the environment gives it.
    fn home_files(&self, names: &[&str], found: &mut Vec<Prelude>) {
        let mut homes: Vec<PathBuf> = self.values("HOME").map(|home| self.absolute(home)).collect();
        if homes.is_empty() {
            homes.push(self.host.home().to_path_buf());
        }
        for home in homes {
            for name in names {
                self.file(home.join(name), found);
            }
        }
    }

    /// The file that a variable names. Its value is expanded first, so it can run commands itself.
    fn named_file(&self, variable: &str, found: &mut Vec<Prelude>) {
        for value in self.values(variable).filter(|value| !value.is_empty()) {
            let home =
                self.values("HOME").last().map_or_else(|| self.host.home().to_path_buf(), |home| self.absolute(home));
            let below_home = ["$HOME/", "${HOME}/", "~/"]
                .iter()
                .find_map(|prefix| value.strip_prefix(prefix.as_bytes()).map(BStr::new));
            let (base, rest) = below_home.map_or((self.host.start().to_path_buf(), value), |rest| (home, rest));
            if rest.contains(&b'$') || rest.contains(&b'`') {
                found.push(expanded(variable, value));
                let reason = format!("{variable} names a startup file by an expansion");
                found.push(Prelude { name: variable.to_owned(), code: Code::Unread(reason) });
            } else {
                self.file(base.join(to_path(rest)), found);
            }
        }
    }

    /// A startup file: trusted, absent, or part of what is judged.
    fn file(&self, path: PathBuf, found: &mut Vec<Prelude>) {
        let mut compiled = path.clone().into_os_string();
        compiled.push(".zwc");
        if self.shell == Shell::Zsh && self.trusted(Path::new(&compiled)) == Some(false) {
            let reason = format!("{} is a compiled startup file", compiled.display());
            found.push(Prelude { name: "startup file".into(), code: Code::Unread(reason) });
        }
        if self.trusted(&path) == Some(false) {
            let name = format!("startup file {}", path.display());
            let code = match self.host.read(&path) {
                Ok(text) => Code::Script(text.to_vec().into()),
                Err(_) => Code::Unread(format!("the startup file {} cannot be read", path.display())),
            };
            found.push(Prelude { name, code });
        }
    }

    /// Whether nobody but the user, by judged writes, or root can have put there what stands at `path`; `None` if nothing
    /// does.
    fn trusted(&self, path: &Path) -> Option<bool> {
        let Look { real, kind, owner, mode, .. } = self.host.look(path);
        match kind {
            LookKind::Missing => return None,
            LookKind::File | LookKind::Directory => {}
            LookKind::Unknown | LookKind::Device | LookKind::Other => {
                return Some(kind == LookKind::Device && real == Path::new("/dev/null"));
            }
        }
        if mode & 0o022 != 0 {
            return Some(false);
        }
        let project = self.host.project().is_some_and(|project| real.starts_with(project));
        Some(!project && (owner == 0 || owner == self.host.user() && real.starts_with(self.host.home())))
    }

    /// Functions that bash takes from its environment.
    fn functions(&self, found: &mut Vec<Prelude>) {
        if self.shell != Shell::Bash || self.reading.flags.privileged {
            return;
        }
        for entry in self.environment {
            let Some((name, value)) = entry.strip_prefix(b"BASH_FUNC_").and_then(|rest| rest.split_once_str("%%="))
            else {
                continue;
            };
            let text = bstr::concat([name, b" ", value, b"\n"]);
            found.push(Prelude {
                name: format!("inherited function {}", name.as_bstr()),
                code: Code::Script(text.into()),
            });
        }
    }

    /// Prompts that hold expansions which can run commands. dash runs none for them.
    fn prompts(&self, found: &mut Vec<Prelude>) {
        let root = self.host.user() == 0;
        let traced = self.reading.flags.trace || self.option_in("SHELLOPTS", "xtrace");
        for (variable, only_interactive) in PROMPTS {
            // Where the script itself turns tracing on, that is judged there. bash of root takes no PS4.
            let shown =
                if *only_interactive { self.interactive() } else { traced && !(root && self.shell == Shell::Bash) };
            if !shown || self.shell == Shell::Dash {
                continue;
            }
            let runs = |value: &BString| [&b"$("[..], b"`", b"${", b"$["].iter().any(|start| value.contains_str(start));
            let values = self.values(variable).map(|value| prompt::decoded(value)).filter(runs);
            found.extend(values.map(|value| expanded(variable, value.as_ref())));
        }
        if self.interactive() {
            let script = |value: &BStr| Prelude { name: "PROMPT_COMMAND".into(), code: Code::Script(value.into()) };
            found.extend(self.values("PROMPT_COMMAND").map(script));
        }
    }

    /// Variables with two values: which one counts differs between shells and programs.
    fn duplicates(&self, found: &mut Vec<Prelude>) {
        let name = |entry: &'a BStr| entry.split(|byte| *byte == b'=').next().unwrap_or_default();
        // Most names differ in length or in these bytes already.
        let mut seen = [0_u64; 64];
        for (number, entry) in self.environment.iter().enumerate() {
            let this = name(entry);
            let mark =
                this.iter().fold(this.len(), |mark, byte| mark.wrapping_mul(31).wrapping_add(usize::from(*byte)));
            let (word, bit) = (mark / 64 % 64, 1_u64 << (mark % 64));
            let Some(word) = seen.get_mut(word) else { continue };
            let before = || self.environment.iter().take(number).any(|other| name(other) == this && other != entry);
            if *word & bit != 0 && before() {
                let reason = format!("{} has two values in the environment", this.as_bstr());
                found.push(Prelude { name: "environment".to_owned(), code: Code::Unread(reason) });
            }
            *word |= bit;
        }
    }

    /// Libraries that the loader brings into the shell.
    fn libraries(&self, found: &mut Vec<Prelude>) {
        for (variable, kind) in LIBRARIES {
            for value in self.values(variable) {
                let items =
                    value.split(|byte| matches!(byte, b':' | b';') || *byte == b' ' && *kind == Libraries::Files);
                let mut strange = items.filter(|item| self.brings_code(BStr::new(item), *kind));
                if let Some(item) = strange.next() {
                    let reason = format!("{variable} loads code into the shell from {:?}", item.as_bstr());
                    found.push(Prelude { name: (*variable).to_owned(), code: Code::Unread(reason) });
                }
            }
        }
    }

    fn brings_code(&self, item: &BStr, kind: Libraries) -> bool {
        let strange = |path: &Path| self.trusted(path) == Some(false);
        match kind {
            // A plain name is looked up in the library folders.
            Libraries::Files => item.contains(&b'/') && strange(&self.absolute(item)),
            Libraries::Folders => {
                let folder = self.absolute(item);
                strange(&folder)
                    && SHELL_LIBRARIES.iter().any(|name| self.host.look(&folder.join(name)).kind != LookKind::Missing)
            }
            Libraries::AnyFolder => !item.is_empty() && strange(&self.absolute(item)),
        }
    }

    /// A locale in which quotes and separators can hide in characters, where the text has such characters.
    fn locale(&self, text: &[u8], found: &mut Vec<Prelude>) {
        if text.is_ascii() {
            return;
        }
        let set = |name: &&str| self.values(name).any(|value| !value.is_empty());
        let Some(variable) = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(|name| set(name)) else { return };
        let hides = |value: &BStr| {
            let charset: Vec<u8> =
                value.iter().filter(|byte| !matches!(byte, b'-' | b'_')).map(u8::to_ascii_lowercase).collect();
            let named = HIDING_CHARSETS.iter().any(|name| charset.contains_str(name));
            named || HIDING_LOCALES.iter().any(|name| value.starts_with(name.as_bytes()) && !value.contains(&b'.'))
        };
        if self.values(variable).any(hides) {
            let reason =
                format!("{variable} names a character set in which bytes of this text can mean something else");
            found.push(Prelude { name: variable.to_owned(), code: Code::Unread(reason) });
        }
    }

    /// Typed lines and those of an interactive shell's input may take words from earlier ones.
    fn history(&self, text: &[u8], found: &mut Vec<Prelude>) {
        let typed = self.interactive() && self.shell != Shell::Dash && self.reading.source == Source::Stdin;
        if typed && (text.contains(&b'!') || text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"^"))) {
            let reason = "an interactive shell replaces words of this text by words of its history".to_owned();
            found.push(Prelude { name: "history expansion".to_owned(), code: Code::Unread(reason) });
        }
    }

    fn absolute(&self, path: &BStr) -> PathBuf {
        self.host.start().join(to_path(path))
    }
}

/// A value that the shell expands as in double quotes, as a script that does the same.
fn expanded(variable: &str, value: &BStr) -> Prelude {
    let script: BString = bstr::concat([b": <<VETSH_EXPANDED\n", value.as_bytes(), b"\nVETSH_EXPANDED\n"]).into();
    Prelude { name: format!("expansion of {variable}"), code: Code::Script(script) }
}

fn to_path(bytes: &BStr) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}
