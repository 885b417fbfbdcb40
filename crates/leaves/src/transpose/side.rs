//! The rows of one side of a transposition.

/// The rows of one side, each contiguous, and where they begin.
pub(super) trait Side: Copy {
    /// Where the first of them begins.
    ///
    /// # Safety
    /// There is one.
    unsafe fn first(self) -> *mut u8;

    /// Whether it is a list, of which two places are read at once: it is read as often as the source.
    const LISTED: bool = false;

    /// Where the first two of them begin.
    ///
    /// # Safety
    /// There are as many.
    #[inline(always)]
    unsafe fn first_two(self) -> [*mut u8; 2] {
        // SAFETY: the caller's.
        unsafe { [self.first(), self.after(1).first()] }
    }

    /// Without the first `n`.
    fn after(self, n: usize) -> Self;

    /// All of them, from so many bytes further on.
    fn along(self, bytes: usize) -> Self;

    /// Whether sixteen bytes may be read of each of those that a block has, however few of them are wanted.
    ///
    /// # Safety
    /// As [`Side::first`].
    #[inline(always)]
    unsafe fn has_whole_lanes(self) -> bool {
        true
    }
}

/// Rows that are equally far apart.
#[derive(Clone, Copy)]
pub(super) struct Apart {
    pub(super) first: *mut u8,
    pub(super) stride: isize,
}

impl Apart {
    #[inline(always)]
    pub(super) fn new(first: *mut u8, stride: isize) -> Apart {
        Apart { first, stride }
    }
}

impl Side for Apart {
    #[inline(always)]
    unsafe fn first(self) -> *mut u8 {
        self.first
    }

    #[inline(always)]
    fn after(self, n: usize) -> Apart {
        Apart {
            first: at(self.first, n, self.stride, 0),
            ..self
        }
    }

    #[inline(always)]
    fn along(self, bytes: usize) -> Apart {
        Apart {
            first: self.first.wrapping_add(bytes),
            ..self
        }
    }
}

/// Rows whose places are listed.
#[derive(Clone, Copy)]
pub(super) struct Listed {
    pub(super) base: *mut u8,
    /// From `base`, of each row.
    pub(super) places: *const u32,
}

impl Side for Listed {
    const LISTED: bool = true;

    #[inline(always)]
    unsafe fn first(self) -> *mut u8 {
        // SAFETY: the caller's.
        self.base.wrapping_add(unsafe { *self.places } as usize)
    }

    #[inline(always)]
    unsafe fn first_two(self) -> [*mut u8; 2] {
        // SAFETY: the caller's.
        let both = unsafe { self.places.cast::<u64>().read_unaligned() };
        let (low, high) = (both as u32, (both >> 32) as u32);
        let two = match cfg!(target_endian = "little") {
            true => [low, high],
            false => [high, low],
        };
        two.map(|place| self.base.wrapping_add(place as usize))
    }

    #[inline(always)]
    fn after(self, n: usize) -> Listed {
        Listed {
            places: self.places.wrapping_add(n),
            ..self
        }
    }

    #[inline(always)]
    fn along(self, bytes: usize) -> Listed {
        Listed {
            base: self.base.wrapping_add(bytes),
            ..self
        }
    }
}

/// As [`Listed`], of a source that ends at some address.
#[derive(Clone, Copy)]
pub(super) struct Bounded {
    pub(super) listed: Listed,
    /// From `base`, of each row: where the last ends of it and of those of a block after it.
    pub(super) ends: *const isize,
    pub(super) end: *const u8,
}

impl Side for Bounded {
    const LISTED: bool = true;

    #[inline(always)]
    unsafe fn first(self) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe { self.listed.first() }
    }

    #[inline(always)]
    unsafe fn first_two(self) -> [*mut u8; 2] {
        // SAFETY: the caller's.
        unsafe { self.listed.first_two() }
    }

    #[inline(always)]
    fn after(self, n: usize) -> Bounded {
        Bounded {
            listed: self.listed.after(n),
            ends: self.ends.wrapping_add(n),
            ..self
        }
    }

    #[inline(always)]
    fn along(self, bytes: usize) -> Bounded {
        Bounded {
            listed: self.listed.along(bytes),
            ..self
        }
    }

    #[inline(always)]
    unsafe fn has_whole_lanes(self) -> bool {
        // SAFETY: the caller's.
        let end = self.listed.base.wrapping_offset(unsafe { *self.ends });
        end.cast_const() <= self.end
    }
}

/// The address of an element, `inner` bytes into a row.
#[inline(always)]
pub(super) fn at(base: *mut u8, outer: usize, stride: isize, inner: usize) -> *mut u8 {
    base.wrapping_offset(stride.wrapping_mul(outer as isize))
        .wrapping_add(inner)
}
