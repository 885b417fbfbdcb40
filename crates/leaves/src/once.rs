//! Loads of indices, which another thread may change meanwhile.
//!
//! Each byte is read by one access that the compiler can neither repeat nor leave out, so what is
//! compared with a limit is what becomes an address.

use restride_loops::IndexType;

/// What is at an address, whatever its alignment, read once.
///
/// # Safety
/// So many bytes are readable, and every pattern of them is a `T`.
#[inline(always)]
pub(crate) unsafe fn read_once<T: Copy>(at: *const u8) -> T {
    #[repr(C, packed)]
    #[derive(Clone, Copy)]
    struct Unaligned<T>(T);
    // SAFETY: the caller's.
    unsafe { at.cast::<Unaligned<T>>().read_volatile().0 }
}

/// The value of one index, read once.
///
/// # Safety
/// An integer of the type is readable there.
#[inline]
#[must_use]
pub unsafe fn read_index(at: *const u8, ty: IndexType) -> i128 {
    // SAFETY: the caller's.
    let bits = unsafe {
        match ty {
            IndexType::I8 | IndexType::U8 => u64::from(read_once::<u8>(at)),
            IndexType::I16 | IndexType::U16 => u64::from(read_once::<u16>(at)),
            IndexType::I32 | IndexType::U32 => u64::from(read_once::<u32>(at)),
            IndexType::I64 | IndexType::U64 => read_once(at),
        }
    };
    ty.widen(bits)
}
