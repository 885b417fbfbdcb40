//! Buffers between pages that no access survives.

const PAGE: usize = 4096;
const CANARY: u8 = 0xee;

/// Where a buffer lies between the pages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Against {
    /// So many bytes behind the page before it.
    Front(usize),
    /// So many bytes before the page behind it.
    Back(usize),
}

/// Bytes between two pages that cannot be touched; read-only if they are an input.
pub(crate) struct Guarded {
    map: *mut u8,
    inner: usize,
    start: usize,
    len: usize,
}

impl Guarded {
    pub(crate) fn new(bytes: &[u8], against: Against, read_only: bool) -> Self {
        let inner = (bytes.len() + 16).next_multiple_of(PAGE);
        let start = match against {
            Against::Front(distance) => distance,
            Against::Back(distance) => inner - bytes.len() - distance,
        };
        // SAFETY: a fresh mapping, made accessible but for its first and last page.
        unsafe {
            let (none, private) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let map = libc::mmap(std::ptr::null_mut(), inner + 2 * PAGE, none, private, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            let body = map.cast::<u8>().add(PAGE);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(body.cast(), inner, access), 0);
            std::ptr::write_bytes(body, CANARY, inner);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), body.add(start), bytes.len());
            if read_only {
                assert_eq!(libc::mprotect(body.cast(), inner, libc::PROT_READ), 0);
            }
            Self {
                map: map.cast(),
                inner,
                start,
                len: bytes.len(),
            }
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the range is mapped, and nobody writes to it while it is borrowed.
        unsafe { std::slice::from_raw_parts(self.map.add(PAGE + self.start), self.len) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the range is mapped and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.map.add(PAGE + self.start), self.len) }
    }

    /// Whether the bytes around it are as they were.
    pub(crate) fn is_intact(&self) -> bool {
        // SAFETY: the range between the guard pages is mapped.
        let all = unsafe { std::slice::from_raw_parts(self.map.add(PAGE), self.inner) };
        let (front, behind) = (&all[..self.start], &all[self.start + self.len..]);
        front.iter().chain(behind).all(|byte| *byte == CANARY)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping is owned.
        unsafe { libc::munmap(self.map.cast(), self.inner + 2 * PAGE) };
    }
}
