//! The words for what a command would do and what could not be told; the build reads the tables by them too.

macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$meta:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$meta])* $variant,)* }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word used in policies, tables and output.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The variant with this word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

pub(crate) use words;

words! {
    /// The kinds of effect.
    Effect {
        /// Looks at state that holds no secret: files listed, processes shown, help printed.
        Inspect = "inspect",
        /// Reads the content of a file or of the environment.
        Read = "read",
        /// Creates, changes or moves something.
        Write = "write",
        /// Removes something, or empties it.
        Delete = "delete",
        /// Runs code that is not a program of the tables.
        Run = "run",
        /// Brings packages in.
        Install = "install",
        /// Gets something from another host.
        Fetch = "fetch",
        /// Gives something to another host.
        Send = "send",
        /// Makes something public or shared: push, release, registry upload.
        Publish = "publish",
        /// Loses uncommitted or published history.
        Discard = "discard",
        /// Records work in the repository in a way that loses nothing: commit, branch, stash.
        Commit = "commit",
        /// Signals, stops or reprioritises processes.
        Signal = "signal",
        /// Gets other rights: sudo, su, setuid.
        Elevate = "elevate",
        /// Makes code run later: cron, services, startup files.
        Persist = "persist",
        /// Changes settings.
        Configure = "configure",
        /// Writes to a device, a disk or the kernel.
        Device = "device",
        /// Changes containers, clusters, clouds, databases or other machines.
        Control = "control",
        /// Touches vetsh itself, or types into another terminal.
        Tamper = "tamper",
        /// Takes the machine down by exhaustion: a fork bomb.
        Exhaust = "exhaust",
    }
}

words! {
    /// What tells two effects of one kind apart: a place, a sort of code, a sort of host.
    Aspect {
        /// Inside the project root or a folder declared as such.
        Project = "project",
        /// Under a temporary folder.
        Temp = "temp",
        /// In a home folder.
        Home = "home",
        /// A key, token, credential store or the like.
        Secret = "secret",
        /// A file that code is run from later: rc files, git hooks, agents' settings.
        Startup = "startup",
        /// Inside `.git`.
        Vcs = "vcs",
        /// The system's own folders.
        System = "system",
        /// A device node.
        Device = "device",
        /// vetsh's own files.
        Vetsh = "vetsh",
        /// Any other path.
        Elsewhere = "elsewhere",
        /// `/`, a home folder itself or a system tree as a whole.
        Root = "root",
        /// In the project, and nothing would be lost.
        Replaceable = "replaceable",
        /// A known path of unknown place, or no path known at all.
        Unknown = "unknown",
        /// Code given as text (`python -c`).
        Inline = "inline",
        /// Text that came from the network or from decoding.
        Downloaded = "downloaded",
        /// From the project's lock or manifest.
        Locked = "locked",
        /// A newly named package.
        Named = "named",
        /// For the whole system.
        Global = "global",
        /// This machine.
        Loopback = "loopback",
        /// A literal public host.
        Public = "public",
        /// A name without dots: a container, a service, a machine of the local network.
        Local = "local",
        /// A private, computed or otherwise unclear host.
        Other = "other",
        /// What this shell started itself.
        Own = "own",
        /// All variables of the environment.
        Environment = "environment",
    }
}

words! {
    /// What could not be told.
    Doubt {
        /// The text could not be read.
        Syntax = "syntax",
        /// The construct means something else in the shell that runs it.
        Dialect = "dialect",
        /// No table says what this program does, or the name leads to a file that is not the known program.
        Program = "program",
        /// The command name is not known.
        Command = "command",
        /// An argument that decides an effect is not known.
        Argument = "argument",
        /// A path that decides a place is not known.
        Path = "path",
        /// A script that would run could not be read.
        Script = "script",
        /// Too long, too deep, too many.
        Limit = "limit",
    }
}

words! {
    /// Sorts of work in a repository that a program can take away.
    Work {
        /// Uncommitted changes of the whole working tree.
        Changes = "changes",
        /// Files that git does not know, below the operands or the working directory.
        Untracked = "untracked",
        /// The same and files that git ignores.
        Ignored = "ignored",
        /// Everything uncommitted in the working trees that the operands name.
        Trees = "trees",
        /// Stashed changes.
        Stashes = "stashes",
        /// The commits of the branch that is checked out.
        Commits = "commits",
    }
}
