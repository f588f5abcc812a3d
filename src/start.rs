//! From the kernel to the library and back: the only file with unsafe code.
//!
//! Rust's own runtime would ignore SIGPIPE, replace the alternate stack and fill closed descriptors before `main` sees
//! them, and what is changed once cannot be given back to the real shell exactly. So the C entry point is ours. It
//! turns every way in which this program can die into a refusal, and hands the library what only this place can do.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{CStr, c_char, c_int, c_ulong, c_void};
use std::io::{self, Write};
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::panic::{PanicHookInfo, set_hook};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use bstr::BStr;
use vetsh::exec::resolve::NOTE_OWNER;
use vetsh::exit;
use vetsh::invocation::Start;
use vetsh::syntax::{ParserMemory, set_parser_memory};

/// The signals by which a program dies of its own fault: stack overflow, bad memory, abort, illegal instruction.
const FATAL: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGILL];

/// Room for the handler of [`FATAL`] where the ordinary stack is used up; AVX-512 state alone takes 3 KiB.
const STACK: usize = 32 * 1024;

static mut HANDLER_STACK: [u8; STACK] = [0; STACK];

unsafe extern "C" {
    static environ: *const *const c_char;
}

/// Room for what one start allocates, without a system call; untouched pages cost nothing.
const ROOM: usize = 512 * 1024;
/// Larger blocks are the C library's: they are few, and their memory is worth giving back.
const LARGE: usize = 32 * 1024;

static mut ARENA: [u8; ROOM] = [0; ROOM];
/// How much of [`ARENA`] is taken.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Allocation for a process that lives for a millisecond: from one block, freed only at its end.
///
/// What does not fit is the C library's. Without memory there is no decision, so running out of it refuses.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

impl Allocator {
    /// Where `pointer` lies in the arena, if it does.
    fn offset(pointer: *mut u8) -> Option<usize> {
        (pointer as usize).checked_sub(&raw const ARENA as usize).filter(|offset| *offset < ROOM)
    }

    /// Takes a block of the arena.
    fn take(layout: Layout) -> Option<*mut u8> {
        let base = &raw mut ARENA as usize;
        let mut taken = TAKEN.load(Ordering::Relaxed);
        loop {
            let start = (base + taken).next_multiple_of(layout.align()) - base;
            let end = start.checked_add(layout.size()).filter(|end| *end <= ROOM && layout.size() < LARGE)?;
            match TAKEN.compare_exchange_weak(taken, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some((&raw mut ARENA).cast::<u8>().wrapping_add(start)),
                Err(now) => taken = now,
            }
        }
    }

    /// Moves the end of the block at `offset` from `old` to `new` bytes, if it is the last one.
    fn resize_last(offset: usize, old: usize, new: usize) -> bool {
        let end = offset + new;
        let move_to = |from| TAKEN.compare_exchange(from, end, Ordering::Relaxed, Ordering::Relaxed);
        end <= ROOM && move_to(offset + old).is_ok()
    }
}

// SAFETY: blocks of the arena are disjoint, because `TAKEN` moves by compare-and-exchange and goes back only over the
// last block; all others come from the C library and go back to it.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract.
        let pointer = Self::take(layout).unwrap_or_else(|| unsafe { System.alloc(layout) });
        if pointer.is_null() {
            stop(exit::EXHAUSTED);
        }
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        match Self::offset(pointer) {
            Some(offset) => _ = Self::resize_last(offset, layout.size(), 0),
            // SAFETY: not of the arena, so the C library's.
            None => unsafe { System.dealloc(pointer, layout) },
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(offset) = Self::offset(pointer) else {
            // SAFETY: not of the arena, so the C library's.
            let moved = unsafe { System.realloc(pointer, layout, size) };
            if moved.is_null() {
                stop(exit::EXHAUSTED);
            }
            return moved;
        };
        if size <= layout.size() || Self::resize_last(offset, layout.size(), size) {
            return pointer;
        }
        // SAFETY: the new block is disjoint from the old one and as large as both lengths' minimum.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            moved.copy_from_nonoverlapping(pointer, layout.size());
            moved
        }
    }
}

/// What stands before each block of the parser, who does not say again how large it is.
const HEADER: usize = 16;
/// What a header begins with.
type Size = [u8; size_of::<usize>()];

/// The layout of a block of the parser, header included; one that cannot be is the largest there is.
fn with_header(size: usize) -> Layout {
    let size = size.saturating_add(HEADER).min(isize::MAX as usize - HEADER);
    // SAFETY: the alignment is a power of two, and the size rounded up to it does not overflow.
    unsafe { Layout::from_size_align_unchecked(size, HEADER) }
}

/// The C library's `malloc` for the parser, from our own room.
extern "C" fn parser_malloc(size: usize) -> *mut c_void {
    let layout = with_header(size);
    // SAFETY: the size is not zero; the block is live and aligned for its header.
    unsafe {
        let block = ALLOCATOR.alloc(layout);
        block.cast::<Size>().write(layout.size().to_ne_bytes());
        block.add(HEADER).cast()
    }
}

extern "C" fn parser_calloc(count: usize, size: usize) -> *mut c_void {
    let size = count.saturating_mul(size);
    let block = parser_malloc(size);
    // SAFETY: the block is new and so large.
    unsafe { block.cast::<u8>().write_bytes(0, size) };
    block
}

unsafe extern "C" fn parser_realloc(block: *mut c_void, size: usize) -> *mut c_void {
    if block.is_null() {
        return parser_malloc(size);
    }
    let new = with_header(size).size();
    // SAFETY: a block of the parser begins with its size.
    unsafe {
        let block = block.cast::<u8>().sub(HEADER);
        let old = usize::from_ne_bytes(block.cast::<Size>().read());
        let block = ALLOCATOR.realloc(block, Layout::from_size_align_unchecked(old, HEADER), new);
        block.cast::<Size>().write(new.to_ne_bytes());
        block.add(HEADER).cast()
    }
}

unsafe extern "C" fn parser_free(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    // SAFETY: as above.
    unsafe {
        let block = block.cast::<u8>().sub(HEADER);
        let size = usize::from_ne_bytes(block.cast::<Size>().read());
        ALLOCATOR.dealloc(block, Layout::from_size_align_unchecked(size, HEADER));
    }
}

/// Where the parser, which is written in C, gets its memory.
const PARSER_MEMORY: ParserMemory =
    ParserMemory { malloc: parser_malloc, calloc: parser_calloc, realloc: parser_realloc, free: parser_free };

/// What the real shell must find as we found it.
struct Inherited {
    /// The caller's argument vector; an integer, because pointers are not `Sync`.
    arguments: usize,
    mask: libc::sigset_t,
    fatal: [Action; FATAL.len()],
}

/// What the kernel keeps of a signal. The C library blocks signals around setting it, which costs three calls more.
#[repr(C)]
#[derive(Clone, Copy)]
struct Action {
    handler: usize,
    flags: c_ulong,
    /// Where a handler returns to; ours never does.
    restorer: usize,
    mask: u64,
}

/// x86-64 runs no handler without it; elsewhere it is nothing.
const SA_RESTORER: c_ulong = 0x0400_0000;

impl Action {
    /// Makes it what `signal` does; what it did before is returned.
    ///
    /// # Safety
    /// The handler may be called wherever the signal may come.
    unsafe fn set(&self, signal: c_int) -> Self {
        let mut before = Self { handler: libc::SIG_DFL, flags: 0, restorer: 0, mask: 0 };
        // SAFETY: both are live and laid out as the kernel has them; sets of signals are eight bytes long there.
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, &raw const *self, &raw mut before, size_of::<u64>()) };
        before
    }
}

/// By this every build of vetsh is told from a real shell: an ELF note with an owner and no description.
#[used]
#[unsafe(link_section = ".note.vetsh")]
static NOTE: Note = Note { owner_size: 8, description_size: 0, kind: 1, owner: NOTE_OWNER };

/// The layout that the ELF format gives a note.
#[repr(C, align(4))]
struct Note {
    owner_size: u32,
    description_size: u32,
    kind: u32,
    owner: [u8; 8],
}

static INHERITED: OnceLock<Inherited> = OnceLock::new();

#[unsafe(no_mangle)]
extern "C" fn main(_count: c_int, arguments: *const *const c_char) -> c_int {
    occupy_closed_descriptors();
    // SAFETY: all zero is a valid value of integers and a sigset_t; the calls below overwrite it.
    let mut inherited: Inherited = unsafe { zeroed() };
    inherited.arguments = arguments as usize;
    // SAFETY: both pointers are null or point to a live value.
    unsafe {
        libc::sigprocmask(libc::SIG_BLOCK, null(), &raw mut inherited.mask);
    }
    inherited.fatal = catch_fatal_signals();
    // SAFETY: the functions belong together, blocks are aligned like the C library's, and no parser was used yet.
    unsafe {
        set_parser_memory(Some(PARSER_MEMORY));
    }
    set_hook(Box::new(refuse_after_panic));
    let _ = INHERITED.set(inherited);
    // SAFETY: the kernel's argument vector and the C library's environment end with a null pointer and stay in place.
    let (arguments, environment) = unsafe { (strings(arguments), strings(environ)) };
    vetsh::pipeline::run(&Start { arguments, environment, replace, place })
}

/// Sees to it that no file we open gets the number of a descriptor that the caller left closed.
///
/// The place holder answers reads and writes with the error of a closed descriptor, and is gone after exec.
fn occupy_closed_descriptors() {
    let mut standard = [0, 1, 2].map(|fd| libc::pollfd { fd, events: 0, revents: 0 });
    // SAFETY: the array is live and three long; the path is a C string.
    unsafe {
        libc::poll(standard.as_mut_ptr(), 3, 0);
        for _ in standard.iter().filter(|poll| poll.revents & libc::POLLNVAL != 0) {
            libc::open(c"/".as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        }
    }
}

/// Makes every fatal signal a refusal, on a stack of its own; what each did before is returned.
fn catch_fatal_signals() -> [Action; FATAL.len()] {
    let handler: extern "C" fn(c_int) = refuse_after_fault;
    let handler = handler as usize;
    // The flags are small positive numbers, whatever type the C library gives them.
    let flags = (libc::SA_ONSTACK | libc::SA_NODEFER) as c_ulong | SA_RESTORER;
    let action = Action { handler, flags, restorer: handler, mask: 0 };
    // SAFETY: the stack is static and used by nothing else, and `refuse_after_fault` calls only what may be called in a
    // signal handler.
    unsafe {
        let stack = libc::stack_t { ss_sp: (&raw mut HANDLER_STACK).cast(), ss_flags: 0, ss_size: STACK };
        libc::sigaltstack(&raw const stack, null_mut());
        FATAL.map(|signal| action.set(signal))
    }
}

extern "C" fn refuse_after_fault(_signal: c_int) {
    stop(exit::FAULT)
}

/// Refuses where nothing may be allocated or locked any more.
fn stop(line: &str) -> ! {
    // SAFETY: write and _exit may be called in a signal handler.
    unsafe {
        libc::write(2, line.as_ptr().cast(), line.len());
        libc::_exit(exit::REFUSED)
    }
}

fn refuse_after_panic(panic: &PanicHookInfo<'_>) {
    let at = panic.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
    let _ = writeln!(io::stderr(), "{}{at}. Nothing was run. Do not work around this; tell the user.", exit::PANIC);
    // SAFETY: ends the process; nothing of ours needs unwinding.
    unsafe { libc::_exit(exit::REFUSED) }
}

/// The C strings of a vector that ends with a null pointer.
///
/// # Safety
/// `vector` is null, or points to such a vector that is never changed or freed.
unsafe fn strings(mut vector: *const *const c_char) -> Vec<&'static BStr> {
    let mut strings = Vec::with_capacity(64);
    // SAFETY: by the contract above.
    unsafe {
        while !vector.is_null() && !(*vector).is_null() {
            strings.push(BStr::new(CStr::from_ptr(*vector).to_bytes()));
            vector = vector.add(1);
        }
    }
    strings
}

/// Becomes the program at `path`, with the caller's arguments, environment, dispositions and mask; returns only if that
/// fails.
///
/// Caught signals become default by exec itself; only ignored ones must be given back. Handlers for everything else
/// are not ours to restore: whoever sets one while asking takes it back.
fn replace(path: &CStr) -> io::Error {
    let Some(inherited) = INHERITED.get() else { return io::Error::from_raw_os_error(libc::EINVAL) };
    // SAFETY: the actions, the mask and the vectors are the ones that we were started with.
    unsafe {
        for (signal, before) in FATAL.into_iter().zip(&inherited.fatal) {
            if before.handler == libc::SIG_IGN {
                before.set(signal);
            }
        }
        libc::sigprocmask(libc::SIG_SETMASK, &raw const inherited.mask, null_mut());
        libc::execve(path.as_ptr(), inherited.arguments as *const *const c_char, environ);
    }
    io::Error::last_os_error()
}

/// Makes `number` a name for what `file` is, also after exec.
fn place(file: BorrowedFd<'_>, number: RawFd) -> io::Result<()> {
    // SAFETY: plain integers; whoever calls this owns the meaning of `number`.
    match unsafe { libc::dup2(file.as_raw_fd(), number) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
