//! Terminals for tests: one whose other end the test holds, and one of tmux.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// How long anything is waited for. The machine that runs the tests may be slow.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until `found` gives something.
pub fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until `seen` gives text that contains `text`; what it gave last says why it did not.
fn wait_for_text(text: &str, seen: impl Fn() -> String) -> String {
    let begun = Instant::now();
    loop {
        let last = seen();
        if last.contains(text) {
            return last;
        }
        assert!(begun.elapsed() < PATIENCE, "`{text}` did not appear:\n{last}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A pseudo terminal whose other end this process holds, as a program that drives shells does.
pub struct Pty {
    master: File,
    slave: File,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Pty {
    pub fn new() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = {
            use std::os::unix::fs::OpenOptionsExt;
            let flags = rustix::fs::OFlags::NOCTTY.bits().cast_signed();
            OpenOptions::new().read(true).write(true).custom_flags(flags).open(name).unwrap()
        };
        tcsetwinsize(&slave, Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let (master, seen) = (File::from(master), Arc::new(Mutex::new(Vec::new())));
        let (mut reader, into) = (master.try_clone().unwrap(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                into.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self { master, slave, seen }
    }

    /// Starts a command in a session of its own, on this terminal.
    pub fn start(&self, command: &[&str]) -> Child {
        self.spawn(Command::new("/usr/bin/setsid").args(["--wait", "--ctty"]).args(command))
    }

    /// Starts a command with this terminal as its descriptors 0–2.
    pub fn spawn(&self, command: &mut Command) -> Child {
        let end = || Stdio::from(self.slave.try_clone().unwrap());
        command.env("TERM", "xterm").stdin(end()).stdout(end()).stderr(end()).spawn().unwrap()
    }

    pub fn type_in(&self, keys: &str) {
        (&self.master).write_all(keys.as_bytes()).unwrap();
    }

    pub fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
    }

    pub fn wait_for(&self, text: &str) {
        wait_for_text(text, || self.seen());
    }
}

/// A tmux server of its own, with one pane that runs bash.
pub struct Tmux {
    socket: String,
    client: Option<(Pty, Child)>,
}

impl Tmux {
    /// Starts a server that no terminal is attached to.
    pub fn detached(folder: &Path) -> Self {
        let socket = folder.join("tmux").to_str().unwrap().to_owned();
        let tmux = Self { socket, client: None };
        let pane = "exec env -i TERM=screen PATH=/usr/bin:/bin PS1='ready> ' /bin/bash --norc --noprofile";
        tmux.run(&["-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", pane]);
        tmux.wait_for("ready>");
        tmux
    }

    /// Starts a server, and attaches a terminal to it.
    pub fn attached(folder: &Path) -> Self {
        let mut tmux = Self::detached(folder);
        let pty = Pty::new();
        let client = pty.start(&["/usr/bin/tmux", "-S", &tmux.socket, "attach"]);
        pty.wait_for("ready>");
        tmux.client = Some((pty, client));
        tmux
    }

    /// Types into the pane: through the attached terminal, as a human does, if there is one.
    pub fn type_in(&self, keys: &str) {
        match &self.client {
            Some((pty, _)) => pty.type_in(keys),
            None => drop(self.run(&["send-keys", "-l", keys])),
        }
    }

    /// What stands in the pane.
    pub fn screen(&self) -> String {
        self.run(&["capture-pane", "-p", "-J"])
    }

    pub fn wait_for(&self, text: &str) -> String {
        wait_for_text(text, || self.screen())
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new("/usr/bin/tmux").args(["-S", &self.socket]).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // A server that failed to start is no reason to hide what failed.
        let _ = Command::new("/usr/bin/tmux").args(["-S", &self.socket, "kill-server"]).output();
        if let Some((_, client)) = &mut self.client {
            let _ = client.wait();
        }
    }
}
