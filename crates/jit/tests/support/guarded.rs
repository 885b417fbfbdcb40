//! Buffers between pages that no access survives.

/// Bytes that end at (or begin after) a page that cannot be touched. Inputs are made read-only.
pub(crate) struct Guarded {
    map: *mut u8,
    map_len: usize,
    start: *mut u8,
    len: usize,
}

const PAGE: usize = 4096;

impl Guarded {
    /// A copy of `bytes` against the page behind it, or against the one before it.
    pub(crate) fn new(bytes: &[u8], at_front: bool, read_only: bool) -> Self {
        let inner = bytes.len().max(1).next_multiple_of(PAGE);
        let map_len = inner + 2 * PAGE;
        // SAFETY: a fresh mapping, made accessible but for its first and last page.
        unsafe {
            let map = libc::mmap(
                std::ptr::null_mut(),
                map_len,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(map, libc::MAP_FAILED);
            let map = map.cast::<u8>();
            let body = map.add(PAGE);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(body.cast(), inner, access), 0);
            let start = body.add(if at_front { 0 } else { inner - bytes.len() });
            std::ptr::write_bytes(body, 0xee, inner);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len());
            if read_only {
                assert_eq!(libc::mprotect(body.cast(), inner, libc::PROT_READ), 0);
            }
            Self {
                map,
                map_len,
                start,
                len: bytes.len(),
            }
        }
    }

    pub(crate) fn as_mut_ptr(&self) -> *mut u8 {
        self.start
    }

    /// What it holds now.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the range is mapped and nobody writes to it while the test looks.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// Whether the bytes around it, as far as they can be written, are as they were.
    pub(crate) fn is_intact(&self) -> bool {
        let inner = self.map_len - 2 * PAGE;
        // SAFETY: the range between the guard pages is mapped.
        let all = unsafe { std::slice::from_raw_parts(self.map.add(PAGE), inner) };
        let front = self.start as usize - all.as_ptr() as usize;
        all[..front].iter().all(|byte| *byte == 0xee)
            && all[front + self.len..].iter().all(|byte| *byte == 0xee)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping is owned.
        unsafe { libc::munmap(self.map.cast(), self.map_len) };
    }
}
