//! Whether a human sits at this process's terminal.
//!
//! That there is a terminal says nothing: agents own pseudo terminals and type into them. It counts only if it is in
//! canonical mode, we are its foreground, every ancestor up to init is one of the few programs that stand between a
//! human and a shell, and the process that started our session is one that shows a terminal to a human. The last rule
//! is what an orphan fails: who forks twice to lose an agent as ancestor ends below init, and init shows no terminal.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;
use rustix::termios::{self, LocalModes};

use super::process::{self, Process};

/// Why nobody can be asked at the terminal: completes "this is not a human's terminal: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotHuman {
    /// `/dev/tty` does not open.
    #[error("there is no terminal")]
    NoTerminal,
    /// A program reads it key by key.
    #[error("another program has taken the terminal over")]
    NotCanonical,
    /// Another question stands on it.
    #[error("another question still stands there")]
    Taken,
    /// Another job of the shell has it.
    #[error("this runs in the background")]
    Background,
    /// A program that could type the answer.
    #[error("it was started by {program} (process {pid})")]
    Ancestor {
        /// Its file or name, escaped for a terminal.
        program: String,
        /// Its process id.
        pid: u32,
    },
    /// An ancestor cannot be looked at, or the chain leads out of this process namespace.
    #[error("who started it cannot be told")]
    Hidden,
    /// Nothing that shows a terminal to a human started this session.
    #[error("no terminal program, login or ssh connection stands behind it")]
    NoOwner,
    /// A multiplexer that no terminal is attached to.
    #[error("no terminal is attached to {program}")]
    Detached {
        /// The multiplexer.
        program: String,
    },
    /// An ssh connection from this machine to itself: its other end is a process here.
    #[error("the ssh connection comes from this very machine")]
    Loopback,
}

/// What an ancestor does between a human and a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Runs commands.
    Shell,
    /// Shows a terminal in a window.
    Emulator,
    /// Shows terminals of its own in another terminal, and lives on without one.
    Multiplexer,
    /// Lets in over the network.
    Remote,
    /// Lets in at a console.
    Console,
    /// Passes a terminal on to another user.
    Relay,
    /// Starts the programs of a desktop or of a user.
    Desktop,
}

/// The programs that may be ancestors, by file name.
const ANCESTORS: &[(Kind, &[&str])] = &[
    (Kind::Shell, &["bash", "rbash", "sh", "dash", "zsh", "fish", "ksh", "ksh93", "mksh", "yash"]),
    (
        Kind::Emulator,
        &[
            "xterm",
            "uxterm",
            "rxvt",
            "urxvt",
            "urxvtd",
            "st",
            "gnome-terminal-server",
            "kgx",
            "ptyxis-agent",
            "konsole",
            "yakuake",
            "xfce4-terminal",
            "mate-terminal",
            "lxterminal",
            "qterminal",
            "tilix",
            "kitty",
            "alacritty",
            "wezterm-gui",
            "foot",
            "footclient",
            "ghostty",
            "contour",
            "rio",
            "cool-retro-term",
            "terminology",
            "zutty",
            "deepin-terminal",
            "io.elementary.terminal",
        ],
    ),
    (Kind::Multiplexer, &["tmux", "screen"]),
    (Kind::Remote, &["sshd", "sshd-session", "sshd-auth", "dropbear"]),
    (Kind::Console, &["login", "agetty", "getty"]),
    (Kind::Relay, &["su", "sudo", "sudo-rs", "doas", "runuser"]),
    (
        Kind::Desktop,
        &[
            "systemd",
            "init",
            "dbus-daemon",
            "dbus-broker-launch",
            "gdm",
            "gdm3",
            "gdm-session-worker",
            "gdm-x-session",
            "gdm-wayland-session",
            "gnome-session-binary",
            "gnome-shell",
            "sddm",
            "sddm-helper",
            "lightdm",
            "ly-dm",
            "greetd",
            "startplasma-wayland",
            "startplasma-x11",
            "plasmashell",
            "kwin_wayland",
            "kwin_x11",
            "krunner",
            "ksmserver",
            "kded5",
            "kded6",
            "xfce4-session",
            "xfce4-panel",
            "xfdesktop",
            "xfwm4",
            "mate-session",
            "mate-panel",
            "cinnamon",
            "cinnamon-session-binary",
            "lxqt-session",
            "lxqt-panel",
            "lxpanel",
            "openbox",
            "i3",
            "sway",
            "Hyprland",
            "river",
            "labwc",
            "niri",
            "awesome",
            "bspwm",
            "sxhkd",
            "dwm",
            "xmonad",
            "xinit",
            "ssh-agent",
        ],
    ),
];

/// More ancestors than this are a trick or a fault.
const MOST_ANCESTORS: usize = 128;

/// Opens this process's terminal, if a human sits there and no program has taken it over.
pub fn terminal() -> Result<File, NotHuman> {
    let (tty, _) = seat()?;
    let modes = termios::tcgetattr(&tty).map_err(|_| NotHuman::NoTerminal)?;
    if modes.local_modes.contains(LocalModes::ICANON) { Ok(tty) } else { Err(NotHuman::NotCanonical) }
}

/// Opens this process's terminal, if a human sits there, whoever reads it now; with its device number.
pub(super) fn seat() -> Result<(File, u32), NotHuman> {
    let flags = OFlags::NOCTTY.bits().cast_signed();
    let opened = OpenOptions::new().read(true).write(true).custom_flags(flags).open("/dev/tty");
    let tty = opened.map_err(|_| NotHuman::NoTerminal)?;
    if termios::tcgetpgrp(&tty).ok() != Some(rustix::process::getpgrp()) {
        return Err(NotHuman::Background);
    }
    let own = Process::own().ok_or(NotHuman::Hidden)?;
    descends_from_human(&own, &Machine)?;
    Ok((tty, own.terminal))
}

/// Who asks, for people: the nearest ancestor that is no shell, else the parent.
pub fn asker() -> Option<String> {
    let ancestors: Vec<_> = Process::lineage().skip(1).collect();
    let shell = |process: &&Process| {
        process.program.as_ref().and_then(|program| named(program.file_name())) == Some(Kind::Shell)
    };
    let asker = ancestors.iter().find(|process| !shell(process)).or(ancestors.first())?;
    Some(format!("{} (process {})", asker.label(), asker.pid))
}

/// What the rule asks of the machine.
trait Processes {
    fn look(&self, pid: u32) -> Option<Process>;
    /// Whether a terminal is attached to a multiplexer.
    fn attached(&self, multiplexer: u32) -> bool;
    /// Whether the ssh connection of a session comes from this machine.
    fn loopback(&self, leader: u32) -> bool;
}

struct Machine;

impl Processes for Machine {
    fn look(&self, pid: u32) -> Option<Process> {
        Process::look(pid)
    }

    fn attached(&self, multiplexer: u32) -> bool {
        // The server of tmux and of screen holds the terminal of each attached client open, and no other.
        !process::terminals_of(multiplexer).is_empty()
    }

    fn loopback(&self, leader: u32) -> bool {
        let connection = process::variable_of(leader, "SSH_CONNECTION").unwrap_or_default();
        let client = connection.split(' ').next().unwrap_or_default();
        client.starts_with("127.") || client == "::1" || client.starts_with("::ffff:127.")
    }
}

/// The rule over ancestors.
fn descends_from_human(own: &Process, processes: &impl Processes) -> Result<(), NotHuman> {
    // Below is the session whose owner is still looked for, and whether its leader was met on the way.
    let (mut below, mut leader_met) = (own.clone(), own.pid == own.session);
    let (mut owned, mut at) = (false, own.parent);
    for _ in 0..MOST_ANCESTORS {
        match at {
            // A process that was put into this namespace from outside; who did it cannot be seen.
            0 => return Err(NotHuman::Hidden),
            1 if owned => return Ok(()),
            1 => return Err(NotHuman::NoOwner),
            _ => {}
        }
        let ancestor = processes.look(at).ok_or(NotHuman::Hidden)?;
        let stranger = || NotHuman::Ancestor { program: ancestor.label(), pid: ancestor.pid };
        let kind = kind_of(&ancestor, processes).ok_or_else(stranger)?;
        if !owned && ancestor.session != below.session {
            if !leader_met {
                return Err(NotHuman::NoOwner);
            }
            owned = owns(&ancestor, kind, &below, processes)?;
            leader_met = false;
            below = ancestor.clone();
        }
        leader_met |= ancestor.pid == below.session;
        at = ancestor.parent;
    }
    Err(NotHuman::Hidden)
}

/// Whether `ancestor`, the first one outside the session of `below`, shows that session's terminal to a human; false if
/// it only passes its own terminal on.
fn owns(ancestor: &Process, kind: Kind, below: &Process, processes: &impl Processes) -> Result<bool, NotHuman> {
    match kind {
        Kind::Remote if processes.loopback(below.session) => Err(NotHuman::Loopback),
        Kind::Emulator | Kind::Remote => Ok(true),
        Kind::Multiplexer if processes.attached(ancestor.pid) => Ok(true),
        Kind::Multiplexer => Err(NotHuman::Detached { program: ancestor.label() }),
        // Behind a pseudo terminal, login is a program that somebody started.
        Kind::Console if !below.on_pty() => Ok(true),
        Kind::Relay => Ok(false),
        Kind::Console | Kind::Shell | Kind::Desktop => Err(NotHuman::NoOwner),
    }
}

/// What a process may do as an ancestor; `None` if it may not be one.
fn kind_of(process: &Process, processes: &impl Processes) -> Option<Kind> {
    match &process.program {
        Some(program) if program.system && !program.vetsh => named(program.file_name()),
        Some(_) => None,
        // We may not look at the programs of others. Root's own give themselves no false name.
        None if process.root => named(full_name(&process.name)),
        // The user's side of an ssh connection hides its program; its parent is root's side.
        None => {
            let remote = |name: &str| named(name).filter(|&kind| kind == Kind::Remote);
            let parent = processes.look(process.parent).filter(|parent| parent.root)?;
            remote(&parent.name).and(remote(&process.name))
        }
    }
}

/// The known name that a process's own name, cut at 15 bytes by the kernel, stands for.
fn full_name(name: &str) -> &str {
    let mut names = ANCESTORS.iter().flat_map(|(_, names)| names.iter().copied());
    names.find(|full| full.len() > 15 && name.len() == 15 && full.starts_with(name)).unwrap_or(name)
}

fn named(name: &str) -> Option<Kind> {
    ANCESTORS.iter().find(|(_, names)| names.contains(&name)).map(|&(kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use super::super::process::Program;
    use super::*;

    /// A process tree: each row is `pid parent session program`, of a user's unless the program begins with `#`.
    struct Tree {
        processes: Vec<Process>,
        attached: bool,
        loopback: bool,
    }

    impl Tree {
        fn new(rows: &str) -> Self {
            Self { processes: rows.split(", ").map(process).collect(), attached: false, loopback: false }
        }

        fn judge(&self) -> Result<(), NotHuman> {
            descends_from_human(&self.processes[0], self)
        }
    }

    impl Processes for Tree {
        fn look(&self, pid: u32) -> Option<Process> {
            self.processes.iter().find(|process| process.pid == pid).cloned()
        }

        fn attached(&self, _multiplexer: u32) -> bool {
            self.attached
        }

        fn loopback(&self, _leader: u32) -> bool {
            self.loopback
        }
    }

    /// `?name` hides its program, `#name` is root's and hides it, `~path` is no program of the system's, `/dev/tty1`
    /// after the program puts it on a console.
    fn process(row: &str) -> Process {
        let words: Vec<_> = row.split(' ').collect();
        let number = |at: usize| words[at].parse().unwrap();
        let name = words[3].trim_start_matches(['?', '#', '~']);
        let hidden = words[3].starts_with(['?', '#']);
        let program = Program {
            path: format!("/usr/bin/{name}").into(),
            system: !words[3].starts_with('~'),
            vetsh: name == "vetsh",
        };
        Process {
            pid: number(0),
            parent: number(1),
            session: number(2),
            terminal: if words.get(4).is_some() { 0x401 } else { 0x8800 },
            started: 0,
            root: words[3].starts_with('#'),
            name: name.chars().take(15).collect(),
            program: Some(program).filter(|_| !hidden),
        }
    }

    #[test]
    fn humans_sit_behind_these() {
        let rows = [
            "9 8 8 vetsh, 8 7 8 bash, 7 3 3 gnome-terminal-server, 3 1 3 systemd",
            "9 8 8 vetsh, 8 7 8 zsh, 7 5 5 kitty, 5 4 5 bash, 4 3 3 konsole, 3 1 3 systemd",
            "9 7 9 vetsh, 7 1 1 xterm",
            "9 8 8 vetsh, 8 7 8 bash, 7 6 6 ?sshd-session, 6 5 6 #sshd-session, 5 1 5 #sshd",
            "9 8 8 vetsh /dev/tty1, 8 7 8 bash /dev/tty1, 7 1 7 #login /dev/tty1",
            "9 8 8 vetsh, 8 7 8 bash, 7 6 7 sudo, 6 5 5 sudo, 5 4 5 bash, 4 1 4 foot",
            "9 8 5 vetsh, 8 7 5 bash, 7 5 5 su, 5 4 5 bash, 4 2 2 xterm, 2 1 2 #gdm-session-worker",
        ];
        for row in rows {
            assert_eq!(Tree::new(row).judge(), Ok(()), "{row}");
        }
        let tmux = "9 8 8 vetsh, 8 7 8 bash, 7 1 7 tmux";
        assert_eq!(Tree { attached: true, ..Tree::new(tmux) }.judge(), Ok(()));
        let detached = NotHuman::Detached { program: "/usr/bin/tmux".to_owned() };
        assert_eq!(Tree::new(tmux).judge(), Err(detached));
    }

    #[test]
    fn others_sit_behind_these() {
        let ancestor = |pid, program: &str| NotHuman::Ancestor { program: program.to_owned(), pid };
        let rows = [
            // An agent, its shell, a program that owns the terminal.
            ("9 8 8 vetsh, 8 7 8 bash, 7 5 5 node, 5 4 5 bash, 4 1 4 xterm", ancestor(7, "/usr/bin/node")),
            ("9 7 9 vetsh, 7 1 7 python3.11", ancestor(7, "/usr/bin/python3.11")),
            ("9 8 8 vetsh, 8 7 8 bash, 7 1 7 script", ancestor(7, "/usr/bin/script")),
            // A shim that waits, a copy under a known name, a name without a program.
            ("9 8 8 vetsh, 8 7 8 vetsh, 7 1 7 xterm", ancestor(8, "/usr/bin/vetsh")),
            ("9 8 8 vetsh, 8 7 8 bash, 7 1 7 ~xterm", ancestor(7, "/usr/bin/xterm")),
            ("9 8 8 vetsh, 8 7 8 bash, 7 1 7 ?xterm", ancestor(7, "xterm")),
            ("9 8 8 vetsh, 8 7 8 bash, 7 6 6 ?sshd, 6 1 6 bash", ancestor(7, "sshd")),
            // Orphans: of a double fork, below the user's systemd, in a session whose leader is gone.
            ("9 8 8 vetsh, 8 1 8 bash", NotHuman::NoOwner),
            ("9 8 8 vetsh, 8 3 8 bash, 3 1 3 systemd", NotHuman::NoOwner),
            ("9 8 5 vetsh, 8 1 5 bash", NotHuman::NoOwner),
            ("9 8 5 vetsh, 8 3 5 bash, 3 1 3 xterm", NotHuman::NoOwner),
            // su and login pass on a terminal that somebody made for them.
            ("9 8 8 vetsh, 8 7 8 bash, 7 1 7 su", NotHuman::NoOwner),
            ("9 8 8 vetsh, 8 7 8 bash, 7 1 7 #login", NotHuman::NoOwner),
            // From outside of the namespace, or gone while we look.
            ("9 8 8 vetsh, 8 0 8 bash", NotHuman::Hidden),
            ("9 8 8 vetsh, 8 7 8 bash", NotHuman::Hidden),
        ];
        for (row, why) in rows {
            assert_eq!(Tree::new(row).judge(), Err(why), "{row}");
        }
        let ssh = "9 8 8 vetsh, 8 7 8 bash, 7 6 6 ?sshd, 6 1 6 #sshd";
        assert_eq!(Tree { loopback: true, ..Tree::new(ssh) }.judge(), Err(NotHuman::Loopback));
    }
}
