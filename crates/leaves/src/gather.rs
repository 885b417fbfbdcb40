//! Rows named by an index tensor.
//!
//! Offsets are computed a chunk at a time ([`crate::index`]), so the rows ahead are known and can
//! be asked for early, and the copying loop has neither compare nor branch unless an index of its
//! chunk is outside.

use std::any::Any;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use restride_loops::{Form, Gather};

use crate::copy::{Copier, with_copier};
use crate::cpu::CpuLevel;
use crate::error::PrepareError;
use crate::index::{CHUNK, Indices, OUTSIDE};
use crate::leaf::Leaf;
use crate::level::{Level, with_level};
use crate::shape::{Shape, reach};
use crate::vector::prefetch;

/// The function of a gather: destination of row 0, source of row 0, first index, parameter block.
pub type GatherFn = unsafe extern "C" fn(*mut u8, *const u8, *const u8, *const u8);

/// A gather, ready to be called any number of times and on any number of threads.
pub struct GatherLeaf {
    entry: GatherFn,
    params: Box<dyn Any + Send + Sync>,
}

impl GatherLeaf {
    /// Prepares a gather of elements of `width` bytes. The places in it play no part: it will be
    /// called with their addresses.
    pub fn prepare(
        gather: &Gather,
        width: usize,
        cpu: CpuLevel,
    ) -> Result<GatherLeaf, PrepareError> {
        let norm = &gather.norm;
        if norm.limit < 1 {
            return Err(PrepareError::Limit { limit: norm.limit });
        }
        let extent = usize::try_from(gather.extent).map_err(|_| PrepareError::Extent {
            dim: 0,
            extent: gather.extent,
        })?;
        let stride = reach(gather.extent, gather.index_stride, norm.ty.width().bytes())?;
        let coeff = reach(norm.limit, gather.coeff, width)?;
        let dst_stride = reach(gather.extent, gather.dst_stride, width)?;
        let shape = Shape::of_move(&gather.dims, width)?;
        let cpu = cpu.available();
        let row = match shape.steps.is_empty() && !shape.empty {
            true => Row::Run(shape.run),
            false => Row::Box {
                copy: Leaf::prepare_move(&gather.dims, width, Form::Rows, cpu)?,
                zero: Leaf::prepare_fill(&zeroed(gather), width, 0, cpu)?,
            },
        };
        let table = coeff.unsigned_abs().saturating_mul(norm.limit as usize);
        let params = GatherParams {
            extent,
            indices: Indices::new(norm, stride, coeff, cpu),
            dst_stride,
            ahead: rows_ahead(shape.bytes(), table),
            row,
        };
        let run = match params.row {
            Row::Run(run) => run,
            Row::Box { .. } => 0,
        };
        Ok(GatherLeaf {
            entry: with_level!(cpu, entry_of(run)),
            params: Box::new(params),
        })
    }

    /// The function, for generated code.
    pub fn entry(&self) -> GatherFn {
        self.entry
    }

    /// The fourth argument of the function; valid as long as the leaf lives, moved or not.
    pub fn params_ptr(&self) -> *const u8 {
        (&raw const *self.params).cast()
    }

    /// Runs it.
    ///
    /// # Safety
    /// So many indices lie at `index`; every row that an index in range names lies in readable
    /// memory relative to `src`, every row of the destination in writable memory relative to
    /// `dst`. The destination overlaps neither of the others, and nobody else uses it meanwhile.
    #[inline]
    pub unsafe fn call(&self, dst: *mut u8, src: *const u8, index: *const u8) {
        // SAFETY: the block is the one made for this function; the rest is the caller's.
        unsafe { (self.entry)(dst, src, index, self.params_ptr()) }
    }
}

impl std::fmt::Debug for GatherLeaf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GatherLeaf").finish_non_exhaustive()
    }
}

struct GatherParams {
    extent: usize,
    indices: Indices,
    dst_stride: isize,
    /// How many rows ahead are prefetched; 0 for none.
    ahead: usize,
    row: Row,
}

enum Row {
    /// So many contiguous bytes.
    Run(usize),
    /// Any other box, by leaves of its own.
    Box { copy: Leaf, zero: Leaf },
}

/// The box of one row as the fill of its destination.
fn zeroed(gather: &Gather) -> Vec<(i64, i64)> {
    gather
        .dims
        .iter()
        .map(|dim| (dim.extent, dim.dst))
        .collect()
}

/// Tables that the second-level cache holds need no prefetch.
const CACHED: usize = 512 << 10;

/// About 2 KB of rows, within 4 to 32 of them.
fn rows_ahead(row: usize, table: usize) -> usize {
    if table <= CACHED || row == 0 {
        0
    } else {
        (2048 / row).clamp(4, 32)
    }
}

fn entry_of<L: Level>(run: usize) -> GatherFn {
    fn of<L: Level, C: Copier>() -> GatherFn {
        gather_entry::<L, Runs<C>>()
    }
    if run == 0 {
        return gather_entry::<L, Boxes>();
    }
    with_copier!(run, L, of())
}

/// How one row is moved.
trait Mover: 'static {
    /// # Safety
    /// The row is readable at `src` and writable at `dst`.
    unsafe fn copy(row: &Row, dst: *mut u8, src: *const u8);
    /// # Safety
    /// The row is writable at `dst`.
    unsafe fn zero(row: &Row, dst: *mut u8);
    /// How many bytes are worth a prefetch.
    fn bytes(row: &Row) -> usize;
}

struct Runs<C>(PhantomData<C>);

impl<C: Copier> Mover for Runs<C> {
    #[inline(always)]
    unsafe fn copy(row: &Row, dst: *mut u8, src: *const u8) {
        // SAFETY: the caller's.
        unsafe { C::copy(dst, src, Self::bytes(row)) }
    }
    #[inline(always)]
    unsafe fn zero(row: &Row, dst: *mut u8) {
        // SAFETY: the caller's.
        unsafe { dst.write_bytes(0, Self::bytes(row)) }
    }
    #[inline(always)]
    fn bytes(row: &Row) -> usize {
        match row {
            Row::Run(run) => *run,
            Row::Box { .. } => 0,
        }
    }
}

struct Boxes;

impl Mover for Boxes {
    #[inline(always)]
    unsafe fn copy(row: &Row, dst: *mut u8, src: *const u8) {
        if let Row::Box { copy, .. } = row {
            // SAFETY: the caller's.
            unsafe { copy.call(dst, src) }
        }
    }
    #[inline(always)]
    unsafe fn zero(row: &Row, dst: *mut u8) {
        if let Row::Box { zero, .. } = row {
            // SAFETY: the caller's; a fill reads nothing.
            unsafe { zero.call(dst, dst) }
        }
    }
    #[inline(always)]
    fn bytes(_row: &Row) -> usize {
        64
    }
}

/// # Safety
/// As [`GatherLeaf::call`].
#[inline(always)]
unsafe fn run<M: Mover>(dst: *mut u8, src: *const u8, index: *const u8, params: &GatherParams) {
    let mut offsets = [const { MaybeUninit::<isize>::uninit() }; CHUNK];
    let mut first = 0;
    while first < params.extent {
        let count = params.extent.wrapping_sub(first).min(CHUNK);
        // SAFETY: `first + count <= extent` indices are the caller's.
        let (offsets, any_outside) =
            unsafe { params.indices.offsets(index, first, &mut offsets[..count]) };
        let base = dst.wrapping_offset(params.dst_stride.wrapping_mul(first as isize));
        // SAFETY: an offset that is not OUTSIDE comes from an index in range.
        unsafe {
            match any_outside {
                false => rows::<M, false>(base, src, offsets, params),
                true => rows::<M, true>(base, src, offsets, params),
            }
        }
        first = first.wrapping_add(count);
    }
}

/// # Safety
/// The offsets are of rows of the caller's source, or OUTSIDE if `CHECK`.
#[inline(always)]
unsafe fn rows<M: Mover, const CHECK: bool>(
    dst: *mut u8,
    src: *const u8,
    offsets: &[isize],
    params: &GatherParams,
) {
    let mut dst = dst;
    let lines = M::bytes(&params.row).min(4096);
    // The rows that have others so far ahead of them, which are asked for, and the last ones.
    let ahead = params.ahead.min(offsets.len());
    let (early, rest) = offsets.split_at(ahead);
    let asked = if ahead == 0 { 0 } else { rest.len() };
    for &offset in early {
        ask(src.wrapping_offset(offset), lines);
    }
    for (&offset, &later) in offsets.iter().zip(&rest[..asked]) {
        ask(src.wrapping_offset(later), lines);
        // SAFETY: the caller's.
        unsafe { one::<M, CHECK>(&params.row, dst, src, offset) };
        dst = dst.wrapping_offset(params.dst_stride);
    }
    for &offset in &offsets[asked..] {
        // SAFETY: the caller's.
        unsafe { one::<M, CHECK>(&params.row, dst, src, offset) };
        dst = dst.wrapping_offset(params.dst_stride);
    }
}

/// # Safety
/// The offset is of a row of the caller's source, or OUTSIDE if `CHECK`; the row is writable.
#[inline(always)]
unsafe fn one<M: Mover, const CHECK: bool>(row: &Row, dst: *mut u8, src: *const u8, offset: isize) {
    // SAFETY: the caller's.
    unsafe {
        if CHECK && offset == OUTSIDE {
            M::zero(row, dst);
        } else {
            M::copy(row, dst, src.wrapping_offset(offset));
        }
    }
}

/// Prefetches so many bytes.
#[inline(always)]
fn ask(src: *const u8, bytes: usize) {
    prefetch(src);
    let mut at = 64;
    while at < bytes {
        prefetch(src.wrapping_add(at));
        at = at.wrapping_add(64);
    }
}

unsafe extern "C" fn at_baseline<M: Mover>(
    dst: *mut u8,
    src: *const u8,
    index: *const u8,
    params: *const u8,
) {
    // SAFETY: the caller's; `params` is a gather's block.
    unsafe { run::<M>(dst, src, index, &*params.cast()) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,ssse3")]
unsafe extern "C" fn at_avx2<M: Mover>(
    dst: *mut u8,
    src: *const u8,
    index: *const u8,
    params: *const u8,
) {
    // SAFETY: as above.
    unsafe { run::<M>(dst, src, index, &*params.cast()) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe extern "C" fn at_avx512<M: Mover>(
    dst: *mut u8,
    src: *const u8,
    index: *const u8,
    params: *const u8,
) {
    // SAFETY: as above.
    unsafe { run::<M>(dst, src, index, &*params.cast()) }
}

fn gather_entry<L: Level, M: Mover>() -> GatherFn {
    match L::CPU {
        CpuLevel::Baseline => at_baseline::<M>,
        #[cfg(target_arch = "x86_64")]
        CpuLevel::Avx2 => at_avx2::<M>,
        #[cfg(target_arch = "x86_64")]
        CpuLevel::Avx512 => at_avx512::<M>,
        #[cfg(not(target_arch = "x86_64"))]
        CpuLevel::Avx2 | CpuLevel::Avx512 => at_baseline::<M>,
    }
}
