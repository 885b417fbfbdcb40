//! Pages of code, mapped twice: one view executes, the other writes, and only while it is at it.

use std::ptr::NonNull;

use crate::error::CodeMemoryError;
use crate::process::{Identity as _, Process};

/// `MFD_EXEC` of Linux 6.3, where `vm.memfd_noexec` may ask for it; older kernels reject it.
const MFD_EXEC: libc::c_uint = 0x10;

/// The view that executes. It is unmapped when it is dropped.
#[derive(Debug)]
pub(super) struct Pages(View);

/// The view that writes. It gives no access but within [`Writer::write`], and a forked child does
/// not have it.
#[derive(Debug)]
pub(super) struct Writer {
    view: View,
    owner: Process,
}

#[derive(Clone, Copy, Debug)]
struct View {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to its owner alone and may be used from any thread.
unsafe impl Send for Pages {}
// SAFETY: as above; a shared reference gives out addresses and nothing else.
unsafe impl Sync for Pages {}
// SAFETY: as above.
unsafe impl Send for Writer {}

/// Maps `len` bytes, a multiple of the page size.
///
/// Every page is there when this is back: a system without memory says so here, and not by a
/// signal later.
pub(super) fn map(len: usize) -> Result<(Pages, Writer), CodeMemoryError> {
    may_have(len)?;
    let file = memory_file()?;
    let writer = Writer {
        view: View::of(&file, len, libc::PROT_NONE)?,
        owner: Process::current(),
    };
    // SAFETY: the range is the mapping just made.
    if unsafe { libc::madvise(writer.view.at(), len, libc::MADV_DONTFORK) } != 0 {
        return Err(refused("madvise"));
    }
    // From here on nobody can map the file for writing, or make what is mapped writable: not a
    // child either, which has the view that executes in common with its parent. Linux before 5.1
    // does not know how.
    // SAFETY: the descriptor is open.
    unsafe { libc::fcntl(file.0, libc::F_ADD_SEALS, libc::F_SEAL_FUTURE_WRITE) };
    let pages = Pages(View::of(&file, len, libc::PROT_READ | libc::PROT_EXEC)?);
    allocate(&file, len)?;
    Ok((pages, writer))
}

fn refused(call: &'static str) -> CodeMemoryError {
    CodeMemoryError::Refused {
        call,
        errno: std::io::Error::last_os_error().raw_os_error().unwrap_or(0),
    }
}

/// An owned file descriptor.
struct Fd(libc::c_int);

impl Drop for Fd {
    fn drop(&mut self) {
        // SAFETY: the descriptor is open and owned.
        unsafe { libc::close(self.0) };
    }
}

/// Whether this process may have a file of `len` bytes. To make one regardless would end it by a
/// signal.
fn may_have(len: usize) -> Result<(), CodeMemoryError> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is this function's own.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } != 0 {
        return Err(refused("getrlimit"));
    }
    if limit.rlim_cur < len as libc::rlim_t {
        return Err(CodeMemoryError::Refused {
            call: "getrlimit(RLIMIT_FSIZE)",
            errno: libc::EFBIG,
        });
    }
    Ok(())
}

/// An empty file that is nowhere but in memory.
fn memory_file() -> Result<Fd, CodeMemoryError> {
    let open = |flags| {
        let flags = flags | libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: the name is a C string.
        let fd = unsafe { libc::memfd_create(c"restride-code".as_ptr(), flags) };
        (fd >= 0).then_some(Fd(fd))
    };
    let file = open(MFD_EXEC).or_else(|| open(0));
    file.ok_or_else(|| refused("memfd_create"))
}

/// Gives a file its pages.
fn allocate(file: &Fd, len: usize) -> Result<(), CodeMemoryError> {
    let len = libc::off_t::try_from(len).unwrap_or(libc::off_t::MAX);
    loop {
        // SAFETY: the descriptor is open.
        if unsafe { libc::fallocate(file.0, 0, 0, len) } == 0 {
            return Ok(());
        }
        match refused("fallocate") {
            CodeMemoryError::Refused { errno, .. } if errno == libc::EINTR => {}
            error => return Err(error),
        }
    }
}

impl View {
    fn of(file: &Fd, len: usize, protection: libc::c_int) -> Result<Self, CodeMemoryError> {
        let anywhere = std::ptr::null_mut();
        // SAFETY: a fresh mapping at an address of the system's choice.
        let at = unsafe { libc::mmap(anywhere, len, protection, libc::MAP_SHARED, file.0, 0) };
        if at == libc::MAP_FAILED {
            return Err(refused("mmap"));
        }
        let start = NonNull::new(at.cast()).ok_or_else(|| refused("mmap"))?;
        Ok(Self { start, len })
    }

    fn at(self) -> *mut libc::c_void {
        self.start.as_ptr().cast()
    }

    fn unmap(self) {
        // SAFETY: the range is a mapping that its only owner is done with.
        unsafe { libc::munmap(self.at(), self.len) };
    }
}

impl Pages {
    /// Where the code at `offset` executes.
    pub(super) fn entry(&self, offset: usize) -> *const u8 {
        self.0.start.as_ptr().wrapping_add(offset)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.0.unmap();
    }
}

impl Writer {
    /// Whether this is the process that made it, and not a copy in a child.
    pub(super) fn is_own(&self) -> bool {
        self.owner == Process::current()
    }

    /// Copies code to `offset`. A writer that was refused is of no more use.
    ///
    /// # Safety
    /// The range is within the pages, nothing was written to it before, and the writer is this
    /// process's [own](Self::is_own).
    pub(super) unsafe fn write(
        &mut self,
        offset: usize,
        bytes: &[u8],
    ) -> Result<(), CodeMemoryError> {
        self.protect(libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: the caller vouches for the range, which can be written now.
        unsafe {
            let to = self.view.start.as_ptr().add(offset);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
        self.protect(libc::PROT_NONE)
    }

    fn protect(&mut self, protection: libc::c_int) -> Result<(), CodeMemoryError> {
        // SAFETY: the range is this writer's own mapping, which nobody else refers to.
        if unsafe { libc::mprotect(self.view.at(), self.view.len, protection) } != 0 {
            return Err(refused("mprotect"));
        }
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if self.is_own() {
            self.view.unmap();
        }
    }
}
