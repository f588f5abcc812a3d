//! The languages of text that programs run.

use crate::facts::kind::words;

words! {
    /// Languages of text that is run.
    Language {
        /// Whatever `sh` is.
        Shell = "shell",
        /// POSIX sh.
        Sh = "sh",
        /// GNU bash.
        Bash = "bash",
        /// dash.
        Dash = "dash",
        /// zsh.
        Zsh = "zsh",
        /// Korn shell.
        Ksh = "ksh",
        /// fish.
        Fish = "fish",
        /// csh and tcsh.
        Csh = "csh",
        /// nushell.
        Nu = "nu",
        /// xonsh.
        Xonsh = "xonsh",
        /// PowerShell.
        PowerShell = "powershell",
        /// Windows' command interpreter.
        Cmd = "cmd",
        /// A git alias: arguments of git, or shell text after `!`.
        GitAlias = "git-alias",
        /// A shell command line of which only the first words count (`PAGER`, `EDITOR`): shell text.
        ShellWords = "shell-words",
        /// Options for another call of the same program (`GREP_OPTIONS`, `TAR_OPTIONS`).
        Options = "options",
        /// Python.
        Python = "python",
        /// JavaScript.
        Node = "node",
        /// Perl.
        Perl = "perl",
        /// Ruby.
        Ruby = "ruby",
        /// PHP.
        Php = "php",
        /// Lua.
        Lua = "lua",
        /// R.
        R = "r",
        /// Julia.
        Julia = "julia",
        /// Java and jshell.
        Java = "java",
        /// Groovy.
        Groovy = "groovy",
        /// Scala.
        Scala = "scala",
        /// Kotlin.
        Kotlin = "kotlin",
        /// Clojure.
        Clojure = "clojure",
        /// Elixir.
        Elixir = "elixir",
        /// Erlang.
        Erlang = "erlang",
        /// Haskell.
        Haskell = "haskell",
        /// OCaml.
        Ocaml = "ocaml",
        /// Scheme and Lisp.
        Lisp = "lisp",
        /// Emacs Lisp.
        Elisp = "elisp",
        /// Swift.
        Swift = "swift",
        /// Go.
        Go = "go",
        /// Rust.
        Rust = "rust",
        /// C and its preprocessor.
        C = "c",
        /// Tcl, expect, wish.
        Tcl = "tcl",
        /// `AppleScript` and its `JavaScript`.
        AppleScript = "applescript",
        /// awk.
        Awk = "awk",
        /// sed.
        Sed = "sed",
        /// Text in which only sed's `e` and `w` matter.
        RegexE = "regex-e",
        /// jq.
        Jq = "jq",
        /// yq.
        Yq = "yq",
        /// bc and dc.
        Bc = "bc",
        /// SQL of any database, with the client's own backslash or dot commands.
        Sql = "sql",
        /// mongosh.
        Mongo = "mongo",
        /// redis-cli.
        Redis = "redis",
        /// make.
        Make = "make",
        /// just.
        Just = "just",
        /// package.json and its like: scripts by name.
        Package = "package",
        /// git's configuration.
        GitConfig = "git-config",
        /// tox.ini.
        Tox = "tox",
        /// .pre-commit-config.yaml.
        PreCommit = "pre-commit",
        /// Taskfile.yml.
        Taskfile = "taskfile",
        /// cargo's configuration.
        CargoConfig = "cargo-config",
        /// npm's configuration.
        Npmrc = "npmrc",
        /// `CMake`.
        Cmake = "cmake",
        /// vi and its kin: ex commands.
        Vim = "vim",
        /// dc.
        Dc = "dc",
        /// ed.
        Ed = "ed",
        /// less and more commands.
        Less = "less",
        /// gdb and lldb.
        Gdb = "gdb",
        /// gnuplot.
        Gnuplot = "gnuplot",
        /// Octave and MATLAB.
        Octave = "octave",
        /// TeX.
        Tex = "tex",
        /// PostScript.
        PostScript = "postscript",
        /// Nix.
        Nix = "nix",
        /// A patch that writes the files it names.
        Patch = "patch",
        /// m4.
        M4 = "m4",
        /// tmux commands.
        Tmux = "tmux",
        /// Dockerfiles and compose files.
        Dockerfile = "dockerfile",
        /// YAML that a program acts upon (kubectl, ansible).
        Yaml = "yaml",
        /// socat addresses.
        Socat = "socat",
        /// Commands of an ftp or sftp client.
        Ftp = "ftp",
        /// A crontab.
        Crontab = "crontab",
        /// Settings of a program: `key=value` lines.
        Settings = "settings",
        /// Anything else.
        Other = "other",
    }
}
