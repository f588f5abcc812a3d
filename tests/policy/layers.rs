//! Layers as files: whose they are, what is kept of them, trust.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use vetsh::facts::{Aspect, Effect};
use vetsh::policy::Policy;
use vetsh::policy::layer::{Sources, load, trust};

use super::{Case, said};

const DENY_GIT: &str = "version = 1
[[rule]]
id = \"no-git\"
verdict = \"deny\"
reason = \"no\"
command = \"git\"
";

/// Folders with layers in them.
struct Machine {
    folder: TempDir,
    sources: Sources,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let [etc, config, state, project] = ["etc", "config", "state", "project"].map(|name| root.join(name));
        for folder in [&etc, &config, &state, &project] {
            fs::create_dir(folder).unwrap();
            fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        }
        let sources = Sources {
            system: etc.join("policy.toml"),
            user: config.join("policy.toml"),
            commands: config.join("commands"),
            cache: state.join("policy.cache"),
            tables_cache: state.join("commands.cache"),
            projects: state.join("projects"),
            trust: state.join("trust"),
            full: state.join("full"),
            project: Some(project),
            euid: rustix::process::geteuid().as_raw(),
        };
        Self { folder, sources }
    }

    fn user(text: &str) -> Self {
        let machine = Self::new();
        write(&machine.sources.user, text);
        machine
    }

    fn project_policy(&self) -> PathBuf {
        self.sources.project_policy().unwrap()
    }

    fn load(&self) -> Policy {
        load(&self.sources).unwrap()
    }

    /// What is said of a command without effects.
    fn says(&self, command: &str) -> String {
        said(&Case::of_command(command).judge(&self.load()))
    }

    /// Why nothing is judged, without the folder's name.
    fn refuses(&self) -> String {
        let faults = load(&self.sources).err().unwrap();
        let folder = self.folder.path().canonicalize().unwrap();
        let told = faults.iter().map(vetsh::policy::layer::told);
        told.collect::<Vec<_>>().join("\n").replace(folder.to_str().unwrap(), "")
    }
}

fn write(path: &Path, text: impl AsRef<[u8]>) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
}

/// Until a file written before is no longer young.
fn age() {
    std::thread::sleep(Duration::from_millis(3100));
}

#[test]
fn without_files_the_shipped_policy_counts() {
    let machine = Machine::new();
    assert_eq!(machine.says("git push"), "allow");
    assert_eq!(machine.load().digest(), Policy::shipped().digest());
}

#[test]
fn a_layer_that_is_wrong_refuses_everything() {
    let machine = Machine::user("version = 1\nmode = \"outo\"\n");
    let expected = "\
error: unknown word `outo`
 --> /config/policy.toml:2:8
  |
2 | mode = \"outo\"
  |        ^^^^^^
  |
  = help: did you mean `auto`?";
    assert_eq!(machine.refuses(), expected);
}

#[test]
fn a_layer_counts_only_if_nobody_else_can_write_it() {
    type Change<'a> = &'a dyn Fn(&Sources);
    let told = |change: &dyn Fn(&Sources)| {
        let machine = Machine::user(DENY_GIT);
        change(&machine.sources);
        machine.refuses()
    };
    let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    let rows: [(Change, &str); 6] = [
        (
            &|sources| mode(&sources.user, 0o664),
            "error: this policy can be written by others\n--> /config/policy.toml\n = help: chmod go-w /config/policy.toml",
        ),
        (
            &|sources| mode(sources.user.parent().unwrap(), 0o777),
            "error: this policy lies in a folder that belongs to or can be written by others\n--> /config/policy.toml\n = help: the folder has to belong to you, without write permission for others",
        ),
        (
            &|sources| {
                fs::remove_file(&sources.user).unwrap();
                fs::create_dir(&sources.user).unwrap();
            },
            "error: this policy is not a regular file\n--> /config/policy.toml\n = help: put a readable file there, or take it away",
        ),
        (
            &|sources| {
                fs::remove_file(&sources.user).unwrap();
                rustix::fs::mknodat(rustix::fs::CWD, &sources.user, rustix::fs::FileType::Fifo, 0o600.into(), 0)
                    .unwrap();
            },
            "error: this policy is not a regular file\n--> /config/policy.toml\n = help: put a readable file there, or take it away",
        ),
        (
            &|sources| write(&sources.user, b"version = 1\n# \xff\n"),
            "error: this policy is not UTF-8 text\n--> /config/policy.toml\n = help: put a readable file there, or take it away",
        ),
        (
            &|sources| {
                // A link into a folder where others can put another file.
                let open = sources.projects.with_file_name("open");
                fs::create_dir(&open).unwrap();
                write(&open.join("policy.toml"), DENY_GIT);
                mode(&open, 0o777);
                fs::remove_file(&sources.user).unwrap();
                symlink(open.join("policy.toml"), &sources.user).unwrap();
            },
            "error: this policy lies in a folder that belongs to or can be written by others\n--> /config/policy.toml\n = help: the folder has to belong to you, without write permission for others",
        ),
    ];
    for (change, expected) in rows {
        assert_eq!(told(change), expected);
    }
}

#[test]
fn a_link_to_a_file_of_the_user_is_followed() {
    let machine = Machine::new();
    let dotfiles = machine.folder.path().join("dotfiles.toml");
    write(&dotfiles, DENY_GIT);
    symlink(&dotfiles, &machine.sources.user).unwrap();
    assert_eq!(machine.says("git status"), "deny no-git user:3");
}

#[test]
fn the_system_layer_is_root_s() {
    let machine = Machine::new();
    write(&machine.sources.system, DENY_GIT);
    if machine.sources.euid == 0 {
        assert_eq!(machine.says("git status"), "deny no-git system:3");
        std::os::unix::fs::chown(&machine.sources.system, Some(4711), None).unwrap();
    }
    assert!(machine.refuses().starts_with("error: this policy belongs to user "), "{}", machine.refuses());
}

#[test]
fn root_reads_no_other_user_s_policy() {
    let machine = Machine::user(DENY_GIT);
    assert_eq!(machine.says("git status"), "deny no-git user:3");
    if machine.sources.euid == 0 {
        let folder = machine.sources.user.parent().unwrap();
        std::os::unix::fs::chown(folder, Some(4711), None).unwrap();
        std::os::unix::fs::chown(&machine.sources.user, Some(4711), None).unwrap();
        assert_eq!(machine.says("git status"), "allow");
    }
}

#[test]
fn a_compiled_layer_is_kept_until_its_file_changes() {
    let machine = Machine::user(DENY_GIT);
    let cache = &machine.sources.cache;
    assert_eq!(machine.says("git status"), "deny no-git user:3");
    assert!(!cache.exists(), "a young layer is not kept");
    age();
    assert_eq!(machine.says("git status"), "deny no-git user:3");
    let kept = fs::read(cache).unwrap();
    // It is what is read from now on: the same file under another build or of another state does not count.
    assert_eq!(machine.says("git status"), "deny no-git user:3");
    assert_eq!(fs::read(cache).unwrap(), kept);

    // Damage of whatever byte changes nothing.
    for at in (0..kept.len()).step_by(7) {
        let mut damaged = kept.clone();
        damaged[at] ^= 0x5a;
        fs::write(cache, &damaged).unwrap();
        assert_eq!(machine.says("git status"), "deny no-git user:3", "byte {at}");
    }
    for garbage in [&b""[..], b"x", &kept[..50], &kept[..kept.len() - 20], &[0xff; 4096]] {
        fs::write(cache, garbage).unwrap();
        assert_eq!(machine.says("git status"), "deny no-git user:3");
    }

    // A forged one is the user's own doing, but it lowers no floor.
    let forger = Machine::user("version = 1\n[effects]\n\"*\" = \"allow\"\n[doubts]\n\"*\" = \"allow\"\n");
    age();
    assert_eq!(forger.says("git status"), "allow");
    let forged = fs::read(&forger.sources.cache).unwrap();
    let stamped = [&forged[..16], &kept[16..72], &forged[72..]].concat();
    fs::write(cache, &stamped).unwrap();
    assert_eq!(machine.says("git status"), "allow", "the cache is in use");
    let policy = machine.load();
    for (effect, aspect) in [(Effect::Delete, Aspect::Root), (Effect::Write, Aspect::Vetsh)] {
        let case = Case::of_effect(effect, Some(aspect));
        assert_eq!(case.judge(&policy).verdict, vetsh::decision::Verdict::Deny);
    }
    // One that others can write does not count.
    fs::set_permissions(cache, Permissions::from_mode(0o666)).unwrap();
    assert_eq!(machine.says("git status"), "deny no-git user:3");

    // The file decides.
    write(&machine.sources.user, DENY_GIT.replace("\"git\"", "\"svn\""));
    assert_eq!(machine.says("git status"), "allow");
    assert_eq!(machine.says("svn status"), "deny no-git user:3");
}

#[test]
fn a_state_that_cannot_be_written_is_no_error() {
    let mut machine = Machine::user(DENY_GIT);
    machine.sources.cache = "/proc/nowhere/policy.cache".into();
    age();
    assert_eq!(machine.says("git status"), "deny no-git user:3");
}

#[test]
fn ten_thousand_rules_are_kept_and_found() {
    let rule = |at: usize| format!("[[rule]]\nid = \"r{at}\"\nverdict = \"ask\"\ncommand = \"tool{at} run\"\n");
    let text = format!("version = 1\n{}", (0..10_000).map(rule).collect::<String>());
    let machine = Machine::user(&text);
    age();
    for _ in 0..2 {
        assert_eq!(machine.says("tool9999 run"), "ask r9999 user:39999");
        assert_eq!(machine.says("tool0 run"), "ask r0 user:3");
        assert_eq!(machine.says("git status"), "allow");
    }
    assert!(fs::metadata(&machine.sources.cache).unwrap().len() > 500_000);
}

#[test]
fn a_project_is_trusted_by_its_content() {
    let machine = Machine::new();
    let loose = "version = 1\n[effects]\nsend = \"allow\"\n";
    let path = machine.project_policy();
    let send = || said(&Case::of_effect(Effect::Send, None).judge(&machine.load()));
    write(&path, loose);
    assert_eq!(send(), "ask builtin");
    let store = machine.sources.trust_store();
    store.add(&path, &trust::digest(&path, loose.as_bytes())).unwrap();
    assert_eq!(send(), "allow project:3");
    assert_eq!(store.list().unwrap().iter().map(|entry| entry.path.clone()).collect::<Vec<_>>(), [&*path]);

    // Any change makes it another; so does another place.
    write(&path, format!("{loose}fetch = \"allow\"\n"));
    assert_eq!(send(), "ask builtin");
    write(&path, loose);
    assert_eq!(send(), "allow project:3");
    assert_ne!(trust::digest(&path, b"x"), trust::digest(Path::new("/elsewhere/.vetsh.toml"), b"x"));

    assert_eq!(store.revoke(&path).unwrap(), 1);
    assert_eq!(send(), "ask builtin");
    assert_eq!(store.list().unwrap(), []);
}

#[test]
fn a_project_policy_that_is_broken_or_gone_asks() {
    let machine = Machine::new();
    let path = machine.project_policy();
    let write_project = || said(&Case::of_effect(Effect::Write, Some(Aspect::Project)).judge(&machine.load()));
    assert_eq!(write_project(), "allow builtin");
    write(&path, "version = 1\nmode = \"auto\"\n");
    assert_eq!(write_project(), "allow builtin");
    write(&path, "version = 1\nmode = ");
    assert_eq!(write_project(), "ask project:1");
    fs::remove_file(&path).unwrap();
    assert_eq!(write_project(), "ask project:1");
    machine.sources.forget(machine.sources.project.as_ref().unwrap()).unwrap();
    assert_eq!(write_project(), "allow builtin");
    // A link may lead anywhere.
    let elsewhere = machine.folder.path().join("elsewhere.toml");
    write(&elsewhere, "version = 1\n");
    symlink(&elsewhere, &path).unwrap();
    assert_eq!(write_project(), "ask project:1");
    fs::remove_file(&path).unwrap();
    // Too large.
    write(&path, format!("version = 1\n{}", "# comment\n".repeat(120_000)));
    assert_eq!(write_project(), "ask project:1");
}

#[test]
fn full_needs_its_acknowledgement() {
    use vetsh::decision::Mode;
    let machine = Machine::user("version = 1\nmode = \"full\"\n");
    let send = || said(&Case::of_effect(Effect::Send, None).judge(&machine.load()));
    assert_eq!((machine.load().mode(), send()), (Mode::Auto, "ask builtin".into()));
    write(&machine.sources.full, "");
    assert_eq!((machine.load().mode(), send()), (Mode::Full, "allow builtin".into()));
}

#[test]
fn the_digest_tells_policies_apart() {
    let machine = Machine::user(DENY_GIT);
    let first = machine.load().digest().to_owned();
    let path = machine.project_policy();
    write(&path, "version = 1\n");
    let second = machine.load().digest().to_owned();
    let store = machine.sources.trust_store();
    store.add(&path, &trust::digest(&path, b"version = 1\n")).unwrap();
    let third = machine.load().digest().to_owned();
    assert!(first != second && second != third && first != third, "{first} {second} {third}");
}
