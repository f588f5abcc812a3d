//! `vetsh install`: the binary under the shells' names, the record beside it, folders, and what to set where.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::{Fault, elf, settings};
use crate::exec::resolve;
use crate::exit;
use crate::paths::{self, Paths, Record};

/// The file that the links are made of.
pub(super) const BINARY: &str = "vetsh";
/// The names under which the binary is a shell.
pub(super) use crate::invocation::SHELLS as SHIMS;
/// The policy that a new user gets.
const POLICY: &str = include_str!("../../install/policy.toml");

/// Install the shims into a folder and say what to set where.
///
/// Copies this binary into the folder, makes it known as bash, sh, zsh, dash and rbash, and writes beside it which
/// configuration, state and real shells belong to it. Running it again brings an installation up to date. Nothing is
/// changed outside the folder, except that a policy and a state folder are made where there are none.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder for the shims; it is made if it does not exist.
    #[arg(long, value_name = "DIR")]
    shims: PathBuf,
    /// Install a dynamically linked binary too, although variables such as `LD_PRELOAD` can then run code inside it.
    #[arg(long)]
    allow_dynamic: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<i32, Fault> {
    let binary = fs::read("/proc/self/exe").map_err(|error| Fault::new("cannot read this program", error))?;
    if elf::interpreter(&binary) && !arguments.allow_dynamic {
        return Err(Fault(DYNAMIC.to_owned()));
    }
    let paths = Paths::locate().map_err(|fault| Fault(fault.to_string()))?;
    let shims = folder(&arguments.shims)?;
    let record = record(&shims)?;
    for folder in [&paths.config, &paths.state, &paths.runtime] {
        private(folder)?;
    }
    let new_policy = write_new(&paths.policy(), POLICY.as_bytes())?;
    place(&shims.join(BINARY), &binary, 0o755)?;
    // The record stands before the first shim: a shim without one would follow the environment.
    place(&shims.join(paths::RECORD), &record.text(&paths), 0o644)?;
    for name in SHIMS {
        link(&shims, name, &binary)?;
    }
    print!("{}", report(&paths, &record, new_policy));
    Ok(exit::SUCCESS)
}

const DYNAMIC: &str = "this binary is dynamically linked: variables such as LD_PRELOAD could run code inside it. \
Build a static one (`sh install/install.sh` does), or say --allow-dynamic";

/// The absolute path of the shims' folder, made if need be; never one that holds other programs of these names.
fn folder(shims: &Path) -> Result<PathBuf, Fault> {
    DirBuilder::new().recursive(true).mode(0o755).create(shims).map_err(|error| Fault::new(shims.display(), error))?;
    let shims = shims.canonicalize().map_err(|error| Fault::new(shims.display(), error))?;
    let shown = shims.display();
    if shims.as_os_str().as_bytes().contains(&b'\n') {
        return Err(Fault(format!("{shown}: a line break in the folder's name cannot be recorded")));
    }
    if !paths::ours(&fs::metadata(&shims)?) {
        return Err(Fault(format!(
            "{shown} is not owned by you or root, or others may write to it; take another folder"
        )));
    }
    let taken = |name: &&&str| fs::symlink_metadata(shims.join(name)).is_ok();
    let installed = shims.join(paths::RECORD).exists();
    if installed {
        super::not_by_an_agent("install vetsh again")?;
    }
    match SHIMS.iter().chain([&BINARY]).find(taken) {
        Some(name) if !installed => {
            Err(Fault(format!("{shown} holds a {name} that vetsh did not install; take another folder")))
        }
        _ => Ok(shims),
    }
}

/// What is to be recorded.
fn record(shims: &Path) -> Result<Record, Fault> {
    let user = paths::user();
    let told = || std::env::var_os(paths::HOME).map(PathBuf::from).filter(|home| home.is_absolute());
    let home = paths::home_of(user).or_else(told).ok_or_else(|| Fault(format!("user {user} has no home folder")))?;
    // Nothing works without an sh; any other shell may be missing, and then its shim says so.
    resolve::real("sh", None).map_err(|fault| Fault(fault.to_string()))?;
    let real = SHIMS.iter().filter_map(|name| {
        let found = resolve::real(name, None).ok()?;
        Some(((*name).to_owned(), PathBuf::from(OsStr::from_bytes(found.path.as_bytes()))))
    });
    let real = real.collect();
    Ok(Record { shims: shims.to_path_buf(), version: env!("CARGO_PKG_VERSION").to_owned(), user, home, real })
}

/// Makes a folder that only the user can look into; one that exists stays as it is.
fn private(folder: &Path) -> Result<(), Fault> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| Fault::new(folder.display(), error))
}

/// Writes a file that does not exist yet; false if it does.
fn write_new(path: &Path, content: &[u8]) -> Result<bool, Fault> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => file.write_all(content).map(|()| true).map_err(|error| Fault::new(path.display(), error)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(Fault::new(path.display(), error)),
    }
}

/// Puts a file in its place whole or not at all.
fn place(path: &Path, content: &[u8], mode: u32) -> Result<(), Fault> {
    let fault = |error| Fault::new(path.display(), error);
    let new = new_name(path);
    let mut file = File::create(&new).map_err(fault)?;
    file.write_all(content).map_err(fault)?;
    file.set_permissions(Permissions::from_mode(mode)).map_err(fault)?;
    file.sync_all().map_err(fault)?;
    fs::rename(&new, path).map_err(fault)
}

/// Makes the binary known by another name; a copy where the file system knows no hard links.
fn link(shims: &Path, name: &str, binary: &[u8]) -> Result<(), Fault> {
    let path = shims.join(name);
    let new = new_name(&path);
    // What an interrupted run left.
    let _ = fs::remove_file(&new);
    match fs::hard_link(shims.join(BINARY), &new) {
        Ok(()) => {
            fs::rename(&new, &path).map_err(|error| Fault::new(path.display(), error))?;
            // Renaming onto another link of the same file does nothing, and leaves the new name behind.
            let _ = fs::remove_file(&new);
            Ok(())
        }
        Err(_) => place(&path, binary, 0o755),
    }
}

fn new_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// What was done, and what the user has to set.
fn report(paths: &Paths, record: &Record, new_policy: bool) -> String {
    let shims = record.shims.display();
    let policy = paths.policy();
    let kept = if new_policy { "written, change it as you like" } else { "kept as it was" };
    let real: Vec<String> = record.real.iter().map(|(name, path)| format!("{name} = {}", path.display())).collect();
    format!(
        "installed vetsh {version} in {shims}\n\
         real shells: {real}\n\
         policy: {policy} ({kept})\n\
         log: {log}\n\n{settings}",
        version = record.version,
        real = real.join(", "),
        policy = policy.display(),
        log = paths.log().display(),
        settings = settings::text(&record.shims),
    )
}
