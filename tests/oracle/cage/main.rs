//! A throw-away machine for one command after the other: user, mount, process and network namespaces of its own, an
//! empty file system, and stubs under the names of all programs.
//!
//! Reads messages on its standard input: first what the machine holds, then a command each; answers on its output.
//! Whatever a command does ends with its namespaces; it can reach neither files nor processes nor the network.

mod kernel;
mod wire;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio, exit};
use std::time::{Duration, Instant};

/// What lies here is hidden by the file system that everything else lies on.
const BASE: &str = "/tmp";
/// How long a command may take, and what it left in the background after that.
const TIME: Duration = Duration::from_secs(1);
const BACKGROUND: Duration = Duration::from_millis(500);
/// Folders that every machine has.
const FOLDERS: &[&str] = &[
    ".oracle/real",
    ".oracle/wrap",
    "boot",
    "dev",
    "etc",
    "home",
    "mnt",
    "opt",
    "proc",
    "root",
    "run",
    "srv",
    "sys",
    "tmp",
    "usr/bin",
    "usr/lib",
    "usr/local/lib",
    "usr/share",
    "var/log",
    "var/tmp",
];
/// Other names of the folder of all programs.
const PROGRAMS: &[(&str, &str)] = &[
    ("bin", "usr/bin"),
    ("sbin", "usr/bin"),
    ("usr/sbin", "bin"),
    ("usr/local/bin", "../bin"),
    ("usr/local/sbin", "../bin"),
];
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

fn main() {
    if let Err(error) = serve() {
        eprintln!("cage: {error}");
        exit(1);
    }
}

fn serve() -> io::Result<()> {
    let Some(machine) = wire::receive(&mut io::stdin().lock())? else { return Ok(()) };
    let machine = Machine::read(&machine)?;
    kernel::leave()?;
    kernel::mount("tmpfs", BASE, "tmpfs", "mode=755")?;
    machine.build(&Path::new(BASE).join("machine"))?;
    fs::create_dir(Path::new(BASE).join("run"))?;
    let mut ready = wire::Writer::default();
    ready.field(b"ready");
    ready.send(&mut io::stdout().lock())?;
    while let Some(message) = wire::receive(&mut io::stdin().lock())? {
        let order = Order::read(&message);
        let given = Path::new(BASE).join("given");
        order.give(&given)?;
        // The answer comes from within; only where that fails it is ours.
        if let Err(error) = kernel::apart(|| order.run(&given)) {
            let mut answer = wire::Writer::default();
            answer.field(format!("failed: {error}").as_bytes());
            answer.send(&mut io::stdout().lock())?;
        }
        fs::remove_dir_all(&given)?;
    }
    Ok(())
}

/// What the machine holds.
struct Machine {
    stub: Vec<u8>,
    /// Names under which the stub stands.
    names: Vec<PathBuf>,
    /// Files to take over: from where, to where.
    files: Vec<(PathBuf, PathBuf)>,
}

impl Machine {
    fn read(message: &[u8]) -> io::Result<Self> {
        let mut fields = wire::Reader(message);
        let stub = fs::read(path(fields.field()))?;
        let names = fields.list().into_iter().map(path).collect();
        let files = fields.list().chunks_exact(2).map(|pair| (path(pair[0]), path(pair[1]))).collect();
        Ok(Self { stub, names, files })
    }

    fn build(&self, root: &Path) -> io::Result<()> {
        for folder in FOLDERS {
            fs::create_dir_all(root.join(folder))?;
        }
        for (link, to) in PROGRAMS {
            symlink(to, root.join(link))?;
        }
        for (link, to) in [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")] {
            symlink(format!("/proc/self/fd{to}"), root.join("dev").join(link))?;
        }
        for device in DEVICES {
            File::create(root.join("dev").join(device))?;
        }
        fs::write(
            root.join("etc/passwd"),
            "root:x:0:0:root:/root:/bin/bash\nuser:x:1000:1000::/home/user:/bin/bash\n",
        )?;
        let stub = root.join(".oracle/stub");
        fs::write(&stub, &self.stub)?;
        fs::set_permissions(&stub, fs::Permissions::from_mode(0o755))?;
        for name in &self.names {
            fs::hard_link(&stub, root.join("usr/bin").join(name))?;
        }
        for (from, to) in &self.files {
            let to = root.join(to);
            fs::create_dir_all(to.parent().unwrap_or(root))?;
            fs::copy(from, to)?;
        }
        Ok(())
    }
}

/// One command to run.
struct Order<'m> {
    world: &'m [u8],
    shell: &'m [u8],
    command: &'m [u8],
    home: &'m [u8],
    project: &'m [u8],
    input: &'m [u8],
    folders: Vec<&'m [u8]>,
    files: Vec<&'m [u8]>,
    /// Where the stub stands beside the folder of all programs.
    stubs: Vec<&'m [u8]>,
}

impl<'m> Order<'m> {
    fn read(message: &'m [u8]) -> Self {
        let mut fields = wire::Reader(message);
        Self {
            world: fields.field(),
            shell: fields.field(),
            command: fields.field(),
            home: fields.field(),
            project: fields.field(),
            input: fields.field(),
            folders: fields.list(),
            files: fields.list(),
            stubs: fields.list(),
        }
    }

    /// The first process of its own namespaces.
    fn run(&self, given: &Path) -> io::Result<()> {
        let (root, upper) = prepare(given)?;
        let upper = File::open(&upper)?;
        kernel::enter(&root)?;
        let how = self.start()?;
        let mut answer = wire::Writer::default();
        answer.field(how.as_bytes());
        let upper = PathBuf::from(format!("/proc/self/fd/{}", upper.as_raw_fd()));
        answer.field(&fs::read("/.oracle/log").unwrap_or_default());
        let mut changes = Vec::new();
        list_changes(&upper, Path::new("/"), &mut changes);
        answer.list(&changes);
        answer.send(&mut io::stdout().lock())
    }

    /// What this run finds beside what every run finds. What cannot be made is not there.
    fn give(&self, root: &Path) -> io::Result<()> {
        let stub = Path::new(BASE).join("machine/.oracle/stub");
        let below = |name: &[u8]| inside(root, &path(name));
        for folder in [self.home, self.project].into_iter().chain(self.folders.iter().copied()) {
            let _ = fs::create_dir_all(below(folder));
        }
        for file in &self.files {
            let _ = fs::write(below(file), "one two\nthree\n");
        }
        for file in self.stubs.iter().map(|file| below(file)) {
            let _ = file.parent().map(fs::create_dir_all);
            let _ = fs::hard_link(&stub, &file);
        }
        fs::create_dir_all(root.join(".oracle"))?;
        fs::write(root.join(".oracle/world"), [self.world, b"\n", self.project].concat())
    }

    /// Runs the shell to its end; how it ended.
    fn start(&self) -> io::Result<&'static str> {
        let input = Path::new("/.oracle/input");
        fs::write(input, self.input)?;
        let name = OsStr::from_bytes(self.shell);
        let mut shell = Command::new(Path::new("/.oracle/real").join(name));
        shell.arg0(name).arg("-c").arg(OsStr::from_bytes(self.command)).current_dir(path(self.project)).env_clear();
        shell.env("HOME", path(self.home)).env("PATH", PATH).env("PWD", path(self.project)).env("SHELL", "/bin/bash");
        shell.env("USER", path(self.home).file_name().unwrap_or_default());
        shell.stdin(File::open(input)?).stdout(Stdio::null()).stderr(Stdio::null());
        // `kill 0` reaches its own group, and nothing of what runs it.
        shell.process_group(0);
        // SAFETY: what runs between fork and exec only calls the kernel.
        unsafe { shell.pre_exec(kernel::limit) };
        let mut waiting = kernel::Waiting::new()?;
        let child = shell.spawn()?;
        let main = i32::try_from(child.id()).unwrap_or(-1);
        let deadline = Instant::now() + TIME;
        let how = match waiting.until(deadline, |ended| ended == Some(main))? {
            true => {
                waiting.until((Instant::now() + BACKGROUND).min(deadline), |ended| ended.is_none())?;
                "ended"
            }
            false => "timeout",
        };
        kernel::end_all();
        Ok(how)
    }
}

/// Makes the file system of one run: its root, and the layer that takes all changes.
fn prepare(given: &Path) -> io::Result<(PathBuf, PathBuf)> {
    let base = Path::new(BASE);
    let run = base.join("run");
    kernel::mount("tmpfs", &run, "tmpfs", "mode=755,size=64m")?;
    let [root, upper, work] = ["root", "upper", "work"].map(|name| run.join(name));
    for folder in [&root, &upper, &work] {
        fs::create_dir(folder)?;
    }
    let layers = format!(
        "lowerdir={}:{},upperdir={},workdir={},userxattr",
        given.display(),
        base.join("machine").display(),
        upper.display(),
        work.display()
    );
    kernel::mount("overlay", &root, "overlay", &layers)?;
    kernel::mount("proc", root.join("proc"), "proc", "")?;
    for device in DEVICES {
        kernel::bind(Path::new("/dev").join(device), root.join("dev").join(device))?;
    }
    Ok((root, upper))
}

/// What was written (`+`) and deleted (`-`) below a folder of the upper layer.
fn list_changes(upper: &Path, name: &Path, changes: &mut Vec<Vec<u8>>) {
    let Ok(entries) = fs::read_dir(upper) else { return };
    for entry in entries.flatten() {
        let path = name.join(entry.file_name());
        let Ok(kind) = entry.file_type() else { continue };
        if path.starts_with("/.oracle") {
            continue;
        }
        let sign = if kind.is_char_device() { b'-' } else { b'+' };
        if kind.is_dir() {
            list_changes(&entry.path(), &path, changes);
        } else {
            changes.push([&[sign], path.as_os_str().as_bytes()].concat());
        }
    }
}

/// Where a path lies that is seen from `root`; nothing leads out of it.
fn inside(root: &Path, path: &Path) -> PathBuf {
    let names = path.components().fold(Vec::new(), |mut names, component| {
        match component {
            Component::Normal(name) => names.push(name),
            Component::ParentDir => drop(names.pop()),
            _ => {}
        }
        names
    });
    names.iter().fold(root.to_owned(), |path, name| path.join(name))
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
