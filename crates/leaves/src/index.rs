//! Index values to byte offsets, a chunk at a time.
//!
//! Every index is loaded once; what is compared is what becomes the offset, and the offsets live
//! in the leaf's own frame. So an index tensor that somebody changes during the call cannot make a
//! leaf leave its buffers.

use restride_loops::{IndexType, Norm};

/// Stands for a row that does not exist; no offset inside a buffer has this value.
pub(crate) const OUTSIDE: isize = isize::MIN;

/// How many offsets are computed at a time.
pub(crate) const CHUNK: usize = 512;

/// What becomes of indices.
#[derive(Clone, Debug)]
pub(crate) struct Indices {
    /// Bytes between two indices.
    stride: isize,
    limit: u64,
    coeff: isize,
    offsets: Offsets,
}

type Offsets = unsafe fn(*const u8, &Indices, &mut [isize]) -> bool;

impl Indices {
    /// Indices at every `stride` bytes; each stands for `coeff` bytes. `norm.limit` is positive and
    /// every product is within `isize`.
    pub(crate) fn new(norm: &Norm, stride: isize, coeff: isize) -> Indices {
        let offsets = match norm.ty {
            IndexType::I8 => policies::<i8>(norm),
            IndexType::U8 => policies::<u8>(norm),
            IndexType::I16 => policies::<i16>(norm),
            IndexType::U16 => policies::<u16>(norm),
            IndexType::I32 => policies::<i32>(norm),
            IndexType::U32 => policies::<u32>(norm),
            IndexType::I64 => policies::<i64>(norm),
            IndexType::U64 => policies::<u64>(norm),
        };
        Indices {
            stride,
            limit: norm.limit.unsigned_abs(),
            coeff,
            offsets,
        }
    }

    /// The offsets of the indices from number `first` on; whether one of them is outside.
    ///
    /// # Safety
    /// So many indices are readable.
    #[inline(always)]
    pub(crate) unsafe fn offsets(&self, index: *const u8, first: usize, to: &mut [isize]) -> bool {
        let from = index.wrapping_offset(self.stride.wrapping_mul(first as isize));
        // SAFETY: the caller's.
        unsafe { (self.offsets)(from, self, to) }
    }
}

/// An integer that indices are stored as.
trait Stored: Copy + 'static {
    const BYTES: isize;
    /// Its value in 64 bits, and whether those are to be read as negative.
    fn widen(self) -> (u64, bool);
}

macro_rules! stored {
    ($($ty:ty as $wide:ty;)*) => { $(
        impl Stored for $ty {
            const BYTES: isize = size_of::<$ty>() as isize;
            #[inline(always)]
            #[allow(unused_comparisons, clippy::unnecessary_cast, reason = "one body for both signs")]
            fn widen(self) -> (u64, bool) {
                (self as $wide as u64, self < 0)
            }
        }
    )* };
}

stored! {
    i8 as i64; u8 as u64; i16 as i64; u16 as u64; i32 as i64; u32 as u64; i64 as i64; u64 as u64;
}

fn policies<T: Stored>(norm: &Norm) -> Offsets {
    match (norm.wrap, norm.clamp) {
        (false, false) => of::<T, false, false>,
        (false, true) => of::<T, false, true>,
        (true, false) => of::<T, true, false>,
        (true, true) => of::<T, true, true>,
    }
}

/// # Safety
/// `to.len()` indices are readable at `from`.
unsafe fn of<T: Stored, const WRAP: bool, const CLAMP: bool>(
    from: *const u8,
    indices: &Indices,
    to: &mut [isize],
) -> bool {
    // A constant stride lets the loop become vectors.
    let stride = if indices.stride == T::BYTES {
        // SAFETY: the caller's.
        return unsafe { each::<T, WRAP, CLAMP>(from, T::BYTES, indices, to) };
    } else {
        indices.stride
    };
    // SAFETY: the caller's.
    unsafe { each::<T, WRAP, CLAMP>(from, stride, indices, to) }
}

/// # Safety
/// `to.len()` indices, so many bytes apart, are readable at `from`.
#[inline(always)]
unsafe fn each<T: Stored, const WRAP: bool, const CLAMP: bool>(
    from: *const u8,
    stride: isize,
    indices: &Indices,
    to: &mut [isize],
) -> bool {
    let (limit, coeff) = (indices.limit, indices.coeff);
    let mut any_outside = false;
    for (i, to) in to.iter_mut().enumerate() {
        let at = from.wrapping_offset((i as isize).wrapping_mul(stride));
        // SAFETY: the caller's.
        let (value, negative) = unsafe { at.cast::<T>().read_unaligned() }.widen();
        let wrapped = if WRAP && negative {
            value.wrapping_add(limit)
        } else {
            value
        };
        // A negative value that stays negative is huge when read without its sign.
        let inside = wrapped < limit;
        let chosen = if CLAMP && !inside {
            if negative { 0 } else { limit.wrapping_sub(1) }
        } else {
            wrapped
        };
        let offset = (chosen as isize).wrapping_mul(coeff);
        *to = if CLAMP || inside { offset } else { OUTSIDE };
        any_outside |= !CLAMP && !inside;
    }
    any_outside
}
