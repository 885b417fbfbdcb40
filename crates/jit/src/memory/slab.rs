//! One memfd, mapped twice: a view that is written and a view that is executed.

use std::ptr::NonNull;

use crate::error::CodeMemoryError;

/// `MFD_EXEC` of Linux 6.3, where `vm.memfd_noexec` may ask for it; older kernels reject it.
const MFD_EXEC: libc::c_uint = 0x10;

/// Both views of a slab. The writable one is not inherited by a forked child.
#[derive(Debug)]
pub(super) struct Slab {
    write: NonNull<u8>,
    exec: NonNull<u8>,
    len: usize,
}

// SAFETY: the mappings belong to the slab alone and may be used from any thread.
unsafe impl Send for Slab {}

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

fn memfd() -> Result<Fd, CodeMemoryError> {
    let name = c"restride-code";
    for flags in [libc::MFD_CLOEXEC | MFD_EXEC, libc::MFD_CLOEXEC] {
        // SAFETY: the name is a C string.
        let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
        if fd >= 0 {
            return Ok(Fd(fd));
        }
    }
    Err(refused("memfd_create"))
}

fn map(fd: &Fd, len: usize, protection: libc::c_int) -> Result<NonNull<u8>, CodeMemoryError> {
    // SAFETY: a fresh mapping at an address of the system's choice.
    let at = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            len,
            protection,
            libc::MAP_SHARED,
            fd.0,
            0,
        )
    };
    if at == libc::MAP_FAILED {
        return Err(refused("mmap"));
    }
    NonNull::new(at.cast::<u8>()).ok_or_else(|| refused("mmap"))
}

/// Unmaps a view that failed to become part of a slab.
fn unmap(at: NonNull<u8>, len: usize) {
    // SAFETY: the range is a mapping made by `map` that nothing refers to any more.
    unsafe { libc::munmap(at.as_ptr().cast(), len) };
}

impl Slab {
    /// Maps `len` bytes, a multiple of the page size.
    pub(super) fn new(len: usize) -> Result<Self, CodeMemoryError> {
        let fd = memfd()?;
        let size = libc::off_t::try_from(len).unwrap_or(libc::off_t::MAX);
        // SAFETY: the descriptor is open.
        if unsafe { libc::ftruncate(fd.0, size) } != 0 {
            return Err(refused("ftruncate"));
        }
        let write = map(&fd, len, libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: the range is the mapping just made.
        if unsafe { libc::madvise(write.as_ptr().cast(), len, libc::MADV_DONTFORK) } != 0 {
            let error = refused("madvise");
            unmap(write, len);
            return Err(error);
        }
        let exec =
            map(&fd, len, libc::PROT_READ | libc::PROT_EXEC).inspect_err(|_| unmap(write, len))?;
        Ok(Self { write, exec, len })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Where code at `offset` is executed.
    pub(super) fn entry(&self, offset: usize) -> *const u8 {
        self.exec.as_ptr().wrapping_add(offset)
    }

    /// Copies code to `offset` through the writable view.
    ///
    /// # Safety
    /// The range is within the slab, nothing executes in it, and this is the process that made
    /// the slab.
    pub(super) unsafe fn write(&self, offset: usize, bytes: &[u8]) {
        // SAFETY: the caller vouches for the range.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                self.write.as_ptr().add(offset),
                bytes.len(),
            );
        }
    }

    /// Overwrites a range with `int3`.
    ///
    /// # Safety
    /// As [`Slab::write`].
    pub(super) unsafe fn poison(&self, offset: usize, len: usize) {
        // SAFETY: the caller vouches for the range.
        unsafe { std::ptr::write_bytes(self.write.as_ptr().add(offset), 0xcc, len) };
    }

    /// Unmaps the view a forked child inherits.
    ///
    /// # Safety
    /// Nothing executes or will execute in the slab, and this is a child of the process that
    /// made it.
    pub(super) unsafe fn unmap_inherited(self) {
        unmap(self.exec, self.len);
    }

    /// Unmaps both views.
    ///
    /// # Safety
    /// Nothing executes or will execute in the slab, and this is the process that made it.
    pub(super) unsafe fn unmap(self) {
        unmap(self.write, self.len);
        unmap(self.exec, self.len);
    }
}
