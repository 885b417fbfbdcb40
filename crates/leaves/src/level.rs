//! One body, compiled once per level.
//!
//! A body is generic, always inlined and not tied to a level; the three functions below give it the
//! features of one, and its vectors' instructions are inlined there.

use crate::bodies::CpuLevel;
use crate::lanes::Lanes;
use crate::stack::stack_left;

/// A level at compile time.
pub(crate) trait Level: 'static {
    /// Its widest vector.
    type Wide: Lanes;
    /// Its widest vector of at most 32 bytes.
    type Half: Lanes;
    /// The level as a value.
    const CPU: CpuLevel;
}

/// SSE2, or nothing in particular.
pub(crate) struct Baseline;
/// AVX2.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx2;
/// AVX-512.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Avx512;

/// Sixteen bytes.
#[cfg(target_arch = "x86_64")]
pub(crate) type Sixteen = std::arch::x86_64::__m128i;
/// Sixteen bytes.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) type Sixteen = u128;

impl Level for Baseline {
    type Wide = Sixteen;
    type Half = Sixteen;
    const CPU: CpuLevel = CpuLevel::Baseline;
}

#[cfg(target_arch = "x86_64")]
impl Level for Avx2 {
    type Wide = std::arch::x86_64::__m256i;
    type Half = std::arch::x86_64::__m256i;
    const CPU: CpuLevel = CpuLevel::Avx2;
}

#[cfg(target_arch = "x86_64")]
impl Level for Avx512 {
    type Wide = std::arch::x86_64::__m512i;
    type Half = std::arch::x86_64::__m256i;
    const CPU: CpuLevel = CpuLevel::Avx512;
}

/// What a leaf does, with its parameter block.
pub(crate) trait Body: 'static {
    /// The parameter block.
    type Params: Send + Sync + 'static;

    /// # Safety
    /// The box that `params` was prepared for lies inside memory that may be written (`dst`) and
    /// read (`src`), the two do not overlap, and the code runs at the level it was made for.
    unsafe fn run(dst: *mut u8, src: *const u8, params: &Self::Params);

    /// About how many bytes the parameter block has elsewhere.
    fn elsewhere(_: &Self::Params) -> usize {
        0
    }
}

/// The signature of a leaf.
pub(crate) type Entry = unsafe extern "C" fn(*mut u8, *const u8, *const u8);

#[inline(never)]
unsafe extern "C" fn at_baseline<B: Body>(dst: *mut u8, src: *const u8, params: *const u8) {
    // SAFETY: the caller's; `params` is a block of this body's type.
    unsafe { B::run(dst, src, &*params.cast::<B::Params>()) }
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,ssse3")]
unsafe extern "C" fn at_avx2<B: Body>(dst: *mut u8, src: *const u8, params: *const u8) {
    // SAFETY: as above.
    unsafe { B::run(dst, src, &*params.cast::<B::Params>()) }
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe extern "C" fn at_avx512<B: Body>(dst: *mut u8, src: *const u8, params: *const u8) {
    // SAFETY: as above.
    unsafe { B::run(dst, src, &*params.cast::<B::Params>()) }
}

/// The function that runs `B`, which is written for level `L`. The caller has made sure that the
/// machine has that level.
pub(crate) fn entry<L: Level, B: Body>() -> Entry {
    match L::CPU {
        CpuLevel::Baseline => at_baseline::<B>,
        #[cfg(target_arch = "x86_64")]
        CpuLevel::Avx2 => at_avx2::<B>,
        #[cfg(target_arch = "x86_64")]
        CpuLevel::Avx512 => at_avx512::<B>,
        #[cfg(not(target_arch = "x86_64"))]
        CpuLevel::Avx2 | CpuLevel::Avx512 => at_baseline::<B>,
    }
}

/// As [`entry`] of `B`, which needs `ROOM` bytes of stack; on a thread that has fewer left, `N`
/// does the same with less.
pub(crate) fn entry_with_room<L: Level, B, N, const ROOM: usize>() -> Entry
where
    B: Body,
    N: Body<Params = B::Params>,
{
    unsafe extern "C" fn choose<L: Level, B: Body, N: Body, const ROOM: usize>(
        dst: *mut u8,
        src: *const u8,
        params: *const u8,
    ) {
        // A stack of which nothing is known is one of a coroutine, and may be small.
        let enough = match stack_left() {
            Some(left) => left >= ROOM,
            None => cfg!(not(target_os = "linux")),
        };
        // Neither is inlined here: what it takes, it takes when it is called.
        let chosen = match enough {
            true => entry::<L, B>(),
            false => entry::<L, N>(),
        };
        // SAFETY: the caller's.
        unsafe { chosen(dst, src, params) }
    }
    choose::<L, B, N, ROOM>
}

/// Calls a function generic over a level with the level of a value.
macro_rules! with_level {
    ($cpu:expr, $function:ident $(::<$($generic:ty),*>)? ($($argument:expr),*)) => {
        match $cpu {
            $crate::bodies::CpuLevel::Baseline => {
                $function::<$crate::level::Baseline $(, $($generic),*)?>($($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            $crate::bodies::CpuLevel::Avx2 => {
                $function::<$crate::level::Avx2 $(, $($generic),*)?>($($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            $crate::bodies::CpuLevel::Avx512 => {
                $function::<$crate::level::Avx512 $(, $($generic),*)?>($($argument),*)
            }
            #[cfg(not(target_arch = "x86_64"))]
            $crate::bodies::CpuLevel::Avx2 | $crate::bodies::CpuLevel::Avx512 => {
                $function::<$crate::level::Baseline $(, $($generic),*)?>($($argument),*)
            }
        }
    };
}
pub(crate) use with_level;
