//! The kernel's interface, as far as the standard library does not have it.

use std::ffi::{CString, c_char, c_int, c_ulong, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null;
use std::time::Instant;

const NEW_USER: c_int = 0x1000_0000;
const NEW_MOUNT: c_int = 0x0002_0000;
const NEW_PROCESS: c_int = 0x2000_0000;
const NEW_NETWORK: c_int = 0x4000_0000;
const NEW_IPC: c_int = 0x0800_0000;
const NEW_HOST_NAME: c_int = 0x0400_0000;
const BIND: c_ulong = 4096;
const PRIVATE: c_ulong = 0x4_0000 | 0x4000;
const DETACH: c_int = 2;
const SET_DUMPABLE: c_int = 4;
const NO_HANG: c_int = 1;
const CHILD_ENDED: c_int = 17;
const KILL: c_int = 9;
/// The user as whom commands run where we are root: limits do not hold for root.
const NOBODY: u32 = 64_999;
/// Limits by number: processor seconds, bytes of a file, core dumps, processes, bytes of memory.
const LIMITS: &[(c_int, u64)] = &[(0, 4), (1, 8 << 20), (4, 0), (6, 80), (9, 512 << 20)];

#[repr(C)]
struct Limit {
    soft: u64,
    hard: u64,
}

#[repr(C)]
struct Time {
    seconds: i64,
    nanoseconds: i64,
}

/// Large enough for any system's set of signals.
type Signals = [u64; 16];

unsafe extern "C" {
    fn geteuid() -> u32;
    fn getegid() -> u32;
    fn setgroups(count: usize, groups: *const u32) -> c_int;
    fn setresgid(real: u32, effective: u32, saved: u32) -> c_int;
    fn setresuid(real: u32, effective: u32, saved: u32) -> c_int;
    fn prctl(option: c_int, ...) -> c_int;
    fn unshare(flags: c_int) -> c_int;
    #[link_name = "mount"]
    fn sys_mount(
        from: *const c_char,
        to: *const c_char,
        kind: *const c_char,
        flags: c_ulong,
        data: *const c_void,
    ) -> c_int;
    fn umount2(target: *const c_char, flags: c_int) -> c_int;
    fn pivot_root(new: *const c_char, old: *const c_char) -> c_int;
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn kill(process: c_int, signal: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
    fn setrlimit(resource: c_int, limit: *const Limit) -> c_int;
    fn sigemptyset(set: *mut Signals) -> c_int;
    fn sigaddset(set: *mut Signals, signal: c_int) -> c_int;
    fn sigprocmask(how: c_int, set: *const Signals, old: *mut Signals) -> c_int;
    fn sigtimedwait(set: *const Signals, info: *mut c_void, timeout: *const Time) -> c_int;
}

fn done(result: c_int, what: &str) -> io::Result<c_int> {
    if result >= 0 {
        return Ok(result);
    }
    let error = io::Error::last_os_error();
    Err(io::Error::new(error.kind(), format!("{what}: {error}")))
}

fn text(path: impl AsRef<Path>) -> io::Result<CString> {
    Ok(CString::new(path.as_ref().as_os_str().as_bytes())?)
}

/// Leaves the machine: this process is root of a user namespace of its own, with its own mounts and no network.
pub fn leave() -> io::Result<()> {
    // SAFETY: system calls without pointers but an empty list of groups.
    let (user, group) = unsafe {
        if geteuid() == 0 {
            done(setgroups(0, null()), "setgroups")?;
            done(setresgid(NOBODY, NOBODY, NOBODY), "setresgid")?;
            done(setresuid(NOBODY, NOBODY, NOBODY), "setresuid")?;
            done(prctl(SET_DUMPABLE, 1), "prctl")?;
        }
        (geteuid(), getegid())
    };
    // SAFETY: a system call without pointers.
    done(unsafe { unshare(NEW_USER | NEW_MOUNT | NEW_NETWORK | NEW_IPC | NEW_HOST_NAME) }, "unshare")?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))?;
    mount_with("none", "/", "none", PRIVATE, "")
}

pub fn mount(from: &str, to: impl AsRef<Path>, kind: &str, options: &str) -> io::Result<()> {
    mount_with(from, to, kind, 0, options)
}

pub fn bind(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    mount_with(from, to, "none", BIND, "")
}

fn mount_with(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
    kind: &str,
    flags: c_ulong,
    options: &str,
) -> io::Result<()> {
    let what = format!("mount {kind} on {}", to.as_ref().display());
    let (from, to, kind, options) = (text(from)?, text(to)?, text(kind)?, text(options)?);
    // SAFETY: all strings end with a zero and outlive the call.
    let result = unsafe { sys_mount(from.as_ptr(), to.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast()) };
    done(result, &what).map(drop)
}

/// Makes `root` the root and leaves nothing of the old one behind.
pub fn enter(root: &Path) -> io::Result<()> {
    std::env::set_current_dir(root)?;
    let here = text(".")?;
    // SAFETY: the strings end with a zero and outlive the calls.
    unsafe {
        done(pivot_root(here.as_ptr(), here.as_ptr()), "pivot_root")?;
        done(umount2(here.as_ptr(), DETACH), "umount")?;
    }
    std::env::set_current_dir("/")
}

/// Runs `first` as the first process of new process and mount namespaces; an error if it did not get to its end.
pub fn apart(first: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let between = || {
        // SAFETY: a system call without pointers.
        done(unsafe { unshare(NEW_PROCESS | NEW_MOUNT) }, "unshare")?;
        forked(first)
    };
    forked(between)
}

/// Runs `inside` in a child; an error of its own if that fails.
fn forked(inside: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    // SAFETY: this process has one thread.
    let child = done(unsafe { fork() }, "fork")?;
    if child == 0 {
        let status = match inside() {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("cage: {error}");
                1
            }
        };
        // SAFETY: it ends the child, whose buffers are empty.
        unsafe { _exit(status) };
    }
    let mut status = 0;
    // SAFETY: the status lives on the stack.
    done(unsafe { waitpid(child, &raw mut status, 0) }, "waitpid")?;
    if status == 0 { Ok(()) } else { Err(io::Error::other(format!("status {status}"))) }
}

/// Takes from a process what it does not need.
pub fn limit() -> io::Result<()> {
    for (resource, most) in LIMITS {
        let limit = Limit { soft: *most, hard: *most };
        // SAFETY: the limit lives on the stack.
        done(unsafe { setrlimit(*resource, &raw const limit) }, "setrlimit")?;
    }
    Ok(())
}

/// Ends every other process of this namespace.
pub fn end_all() {
    // SAFETY: system calls whose only pointer is null.
    unsafe {
        kill(-1, KILL);
        while waitpid(-1, std::ptr::null_mut(), 0) > 0 {}
    }
}

/// Waits for children, ours and those that lost their parent.
pub struct Waiting(Signals);

impl Waiting {
    pub fn new() -> io::Result<Self> {
        let mut signals = [0; 16];
        // SAFETY: the set lives on the stack and is large enough.
        unsafe {
            sigemptyset(&raw mut signals);
            sigaddset(&raw mut signals, CHILD_ENDED);
            done(sigprocmask(0, &raw const signals, std::ptr::null_mut()), "sigprocmask")?;
        }
        Ok(Self(signals))
    }

    /// Waits until `enough` of a process that ended (`None`: no process is left); false if it is too late.
    pub fn until(&mut self, deadline: Instant, enough: impl Fn(Option<i32>) -> bool) -> io::Result<bool> {
        loop {
            // SAFETY: the only pointer is null.
            let ended = unsafe { waitpid(-1, std::ptr::null_mut(), NO_HANG) };
            if ended != 0 {
                if enough((ended > 0).then_some(ended)) {
                    return Ok(true);
                }
                if ended < 0 {
                    return Ok(false);
                }
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            let left = Time { seconds: left.as_secs().cast_signed(), nanoseconds: i64::from(left.subsec_nanos()) };
            // SAFETY: set and time live on the stack.
            unsafe { sigtimedwait(&raw const self.0, std::ptr::null_mut(), &raw const left) };
        }
    }
}
