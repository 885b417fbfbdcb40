//! Memory of this process that is counted, and refused on demand: the allocator, and the system
//! calls that mappings are made with, in place of those of the C library.
//!
//! All counts are those of one thread, so tests beside each other do not meet.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_long, c_uint, c_void};

/// What is counted, and refused, apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Allocations.
    Heap,
    /// Calls that make a mapping, or what a mapping needs.
    Mapping,
}

thread_local! {
    static REFUSED: Cell<Option<(Kind, u64)>> = const { Cell::new(None) };
    static ASKED: Cell<[u64; 2]> = const { Cell::new([0; 2]) };
    static HELD: Cell<[i64; 2]> = const { Cell::new([0; 2]) };
}

/// Whether this request is to be granted.
fn granted(kind: Kind) -> bool {
    let mut asked = ASKED.get();
    asked[kind as usize] += 1;
    ASKED.set(asked);
    match REFUSED.get() {
        Some((refused, 0)) if refused == kind => {
            REFUSED.set(None);
            false
        }
        Some((refused, left)) if refused == kind => {
            REFUSED.set(Some((kind, left - 1)));
            true
        }
        Some(_) | None => true,
    }
}

fn hold(kind: Kind, bytes: i64) {
    let mut held = HELD.get();
    held[kind as usize] += bytes;
    HELD.set(held);
}

/// Bytes that this thread has asked for and not given back.
pub(crate) fn held(kind: Kind) -> i64 {
    HELD.get()[kind as usize]
}

/// How many requests some work makes.
pub(crate) fn requests(kind: Kind, work: impl FnOnce()) -> u64 {
    let before = ASKED.get()[kind as usize];
    work();
    ASKED.get()[kind as usize] - before
}

/// Does some work, in which the n-th request, from 0, is refused; whether there was one.
pub(crate) fn refusing<T>(kind: Kind, n: u64, work: impl FnOnce() -> T) -> (T, bool) {
    REFUSED.set(Some((kind, n)));
    let done = work();
    (done, REFUSED.take().is_none())
}

struct Counted;

// SAFETY: what is granted is passed on to the system's allocator; a null pointer is a refusal.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !granted(Kind::Heap) {
            return std::ptr::null_mut();
        }
        hold(Kind::Heap, layout.size() as i64);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        hold(Kind::Heap, -(layout.size() as i64));
        // SAFETY: the caller's.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTED: Counted = Counted;

fn refuse() -> c_int {
    // SAFETY: the place of this thread's error number.
    unsafe { *libc::__errno_location() = libc::ENOMEM };
    -1
}

fn pages(bytes: usize) -> i64 {
    bytes.next_multiple_of(4096) as i64
}

/// # Safety
/// As `mmap`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    at: *mut c_void,
    len: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: libc::off_t,
) -> *mut c_void {
    if !granted(Kind::Mapping) {
        refuse();
        return libc::MAP_FAILED;
    }
    // SAFETY: the caller's.
    let at = unsafe { libc::syscall(libc::SYS_mmap, at, len, protection, flags, fd, offset) };
    if at != -1 {
        hold(Kind::Mapping, pages(len));
    }
    at as *mut c_void
}

/// # Safety
/// As `mmap64`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64(
    at: *mut c_void,
    len: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: libc::off64_t,
) -> *mut c_void {
    // SAFETY: the caller's; the two are one where addresses have 64 bits.
    unsafe { mmap(at, len, protection, flags, fd, offset) }
}

/// # Safety
/// As `munmap`.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(at: *mut c_void, len: usize) -> c_int {
    hold(Kind::Mapping, -pages(len));
    // SAFETY: the caller's.
    unsafe { libc::syscall(libc::SYS_munmap, at, len) as c_int }
}

/// Passes a call on unless it is to be refused.
fn passed(call: c_long, arguments: [usize; 3]) -> c_int {
    if !granted(Kind::Mapping) {
        return refuse();
    }
    let [a, b, c] = arguments;
    // SAFETY: that of the function which was called.
    unsafe { libc::syscall(call, a, b, c) as c_int }
}

/// # Safety
/// As `mprotect`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mprotect(at: *mut c_void, len: usize, protection: c_int) -> c_int {
    passed(libc::SYS_mprotect, [at as usize, len, protection as usize])
}

/// # Safety
/// As `madvise`.
#[unsafe(no_mangle)]
unsafe extern "C" fn madvise(at: *mut c_void, len: usize, advice: c_int) -> c_int {
    passed(libc::SYS_madvise, [at as usize, len, advice as usize])
}

/// # Safety
/// As `fallocate`.
#[unsafe(no_mangle)]
unsafe extern "C" fn fallocate(
    fd: c_int,
    mode: c_int,
    offset: libc::off_t,
    len: libc::off_t,
) -> c_int {
    if !granted(Kind::Mapping) {
        return refuse();
    }
    // SAFETY: the caller's.
    unsafe { libc::syscall(libc::SYS_fallocate, fd, mode, offset, len) as c_int }
}

/// # Safety
/// As `memfd_create`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memfd_create(name: *const c_char, flags: c_uint) -> c_int {
    passed(libc::SYS_memfd_create, [name as usize, flags as usize, 0])
}
