//! Memory between two pages that may not be touched, and a small generator of numbers.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test file uses its own part"
)]

pub mod arena;

pub const PAGE: usize = 4096;

/// Bytes with an inaccessible page before and after.
pub struct Guarded {
    map: *mut u8,
    pages: usize,
}

impl Guarded {
    pub fn new(bytes: usize) -> Guarded {
        let pages = bytes.div_ceil(PAGE).max(1);
        // SAFETY: a fresh anonymous mapping; its first and last page lose all access.
        unsafe {
            let map = libc::mmap(
                std::ptr::null_mut(),
                (pages + 2) * PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(map, libc::MAP_FAILED);
            let map = map.cast::<u8>();
            assert_eq!(libc::mprotect(map.cast(), PAGE, libc::PROT_NONE), 0);
            let end = map.add((pages + 1) * PAGE);
            assert_eq!(libc::mprotect(end.cast(), PAGE, libc::PROT_NONE), 0);
            Guarded { map, pages }
        }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the pages between the guards are this value's own.
        unsafe { std::slice::from_raw_parts_mut(self.map.add(PAGE), self.pages * PAGE) }
    }

    pub fn start(&self) -> *mut u8 {
        self.map.wrapping_add(PAGE)
    }

    pub fn len(&self) -> usize {
        self.pages * PAGE
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: it was mapped by `new`.
        unsafe {
            libc::munmap(self.map.cast(), (self.pages + 2) * PAGE);
        }
    }
}

/// The first byte and the number of bytes that strides reach, for elements of `width` bytes.
pub fn hull(dims: &[(i64, i64)], width: usize) -> (i64, usize) {
    let (mut low, mut high) = (0i64, 0i64);
    for &(extent, stride) in dims {
        let reach = (extent - 1) * stride;
        low += reach.min(0);
        high += reach.max(0);
    }
    (low * width as i64, (high - low + 1) as usize * width)
}

/// Calls `visit` with the element offsets of every point of a box.
pub fn points(dims: &[(i64, i64, i64)], visit: &mut impl FnMut(i64, i64)) {
    fn go(dims: &[(i64, i64, i64)], a: i64, b: i64, visit: &mut impl FnMut(i64, i64)) {
        match dims.split_first() {
            None => visit(a, b),
            Some((&(extent, x, y), rest)) => {
                for i in 0..extent {
                    go(rest, a + i * x, b + i * y, visit);
                }
            }
        }
    }
    go(dims, 0, 0, visit);
}
