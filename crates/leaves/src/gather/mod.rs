//! Rows named by an index tensor.
//!
//! Offsets are computed a chunk at a time ([`crate::index`]), so the rows ahead are known and can
//! be asked for early, and the copying loop has neither compare nor branch unless an index of its
//! chunk is outside.

mod movers;
#[cfg(target_arch = "x86_64")]
mod names;
#[cfg(target_arch = "x86_64")]
mod palette;
#[cfg(target_arch = "x86_64")]
mod together;

use std::any::Any;
use std::mem::MaybeUninit;

use restride_loops::{Form, Gather};

use crate::bodies::CpuLevel;
use crate::copy::{
    Copier, LINE, WholeLines, with_copier, with_following, with_short_copier, with_vectors,
};
use crate::error::PrepareError;
use crate::index::{CHUNK, Indices, OVERLAPPED};
use crate::leaf::Leaf;
use crate::level::{Level, with_level};
use crate::nest::Nest;
use crate::picks::Picks;
use crate::vector::Vector;
use movers::{Boxes, Elements, Following, Lanes, Mover, Runs};
use restride_moves::{BoxError, ByteBox, Core, Planner, Step, following, reach};

/// The function of a gather: destination of row 0, source of row 0, first index, parameter block.
pub type GatherFn = unsafe extern "C" fn(*mut u8, *const u8, *const u8, *const u8);

/// A gather, ready to be called any number of times and on any number of threads.
pub struct GatherLeaf {
    entry: GatherFn,
    params: Box<dyn Any + Send + Sync>,
    bytes: usize,
}

impl GatherLeaf {
    /// Prepares a gather of elements of `width` bytes. The places in it play no part: it will be
    /// called with their addresses.
    pub fn prepare(
        gather: &Gather,
        width: usize,
        planner: &Planner,
    ) -> Result<GatherLeaf, PrepareError> {
        let norm = &gather.norm;
        if norm.limit < 1 {
            return Err(PrepareError::Limit { limit: norm.limit });
        }
        let extent = usize::try_from(gather.extent).map_err(|_| BoxError::Extent {
            dim: 0,
            extent: gather.extent,
        })?;
        let stride = reach(gather.extent, gather.index_stride, norm.ty.width().bytes())?;
        let coeff = reach(norm.limit, gather.coeff, width)?;
        let dst_stride = reach(gather.extent, gather.dst_stride, width)?;
        let shape = ByteBox::of_move(&gather.dims, width)?;
        let cpu = CpuLevel::of(planner.features());
        let row = if shape.steps.is_empty() && !shape.empty {
            Row::Run(shape.run)
        } else if is_inner(&shape, dst_stride) {
            let nest = Nest::new(&shape, (0, 0), &shape.steps);
            Row::Lanes(nest, shape.run)
        } else {
            Row::Box {
                copy: Leaf::prepare_move(&gather.dims, width, Form::Rows, planner)?,
                zero: Leaf::prepare_fill(&zeroed(gather), width, 0, planner)?,
            }
        };
        let points = shape.runs();
        let picks = match row {
            Row::Lanes(_, run) => Picks::new(run, coeff, dst_stride, points, cpu),
            Row::Run(_) | Row::Box { .. } => None,
        };
        #[cfg(target_arch = "x86_64")]
        let palette = match row {
            Row::Run(run) if dst_stride == run as isize => {
                palette::Palette::of(gather, run, coeff, cpu).map(Box::new)
            }
            _ => None,
        };
        let table = coeff.unsigned_abs().saturating_mul(norm.limit as usize);
        #[cfg(target_arch = "x86_64")]
        let together = match row {
            Row::Run(run) if run >= 4 && is_element(run, dst_stride) => {
                together::Together::of(gather, (table, coeff), cpu, planner.target().core)
            }
            _ => None,
        };
        // A run that is reversed on both sides does not begin where its row does.
        let start = match row {
            Row::Run(_) => (shape.dst, shape.src),
            Row::Lanes(..) | Row::Box { .. } => (0, 0),
        };
        let (ahead, far) = match row {
            Row::Run(run) if is_element(run, dst_stride) => (0, false),
            // What asks for them takes the places where what is read is waited for.
            _ if planner.target().core == Core::Cove => (0, false),
            _ => rows_ahead(shape.bytes(), table),
        };
        let follows = match row {
            Row::Run(run) => dst_stride == run as isize && coeff > 0 && ahead == 0,
            Row::Lanes(..) | Row::Box { .. } => false,
        };
        let params = GatherParams {
            extent,
            last: coeff.wrapping_mul(norm.limit as isize - 1),
            follows: follows && following(shape.run, coeff.unsigned_abs()).is_some(),
            start,
            indices: Indices::new(norm, stride, coeff, cpu),
            dst_stride,
            ahead,
            far,
            stream: shape.bytes().saturating_mul(extent) >= STREAM && table >= UNCACHED,
            chunk: match row {
                Row::Run(run) if run <= LINE && ahead == 0 => OVERLAPPED,
                Row::Run(_) | Row::Lanes(..) | Row::Box { .. } => CHUNK,
            },
            row,
            picks,
            #[cfg(target_arch = "x86_64")]
            palette,
            #[cfg(target_arch = "x86_64")]
            together,
        };
        let elsewhere = match &params.row {
            Row::Box { copy, zero } => copy.bytes() + zero.bytes(),
            Row::Run(_) | Row::Lanes(..) => 0,
        };
        #[cfg(target_arch = "x86_64")]
        let elsewhere = elsewhere + params.palette.as_deref().map_or(0, size_of_val);
        Ok(GatherLeaf {
            entry: with_level!(cpu, entry_of(&params)),
            bytes: size_of::<GatherParams>() + elsewhere,
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

    /// About how many bytes it keeps alive beside itself.
    pub fn bytes(&self) -> usize {
        self.bytes
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
    /// Where the first byte of a run lies, from the addresses of the call.
    start: (isize, isize),
    indices: Indices,
    /// The offset of the last row that there is.
    last: isize,
    /// Whether rows may be moved as vectors that end within the next row, on both sides.
    follows: bool,
    dst_stride: isize,
    /// How many rows ahead are prefetched; 0 for none.
    ahead: usize,
    /// Whether they are asked for into a cache that is further away.
    far: bool,
    /// Whether whole lines are stored past the caches.
    stream: bool,
    row: Row,
    /// Set where lanes may be moved by permutations.
    picks: Option<Picks>,
    /// Set where rows are looked up in registers.
    #[cfg(target_arch = "x86_64")]
    palette: Option<Box<palette::Palette>>,
    /// Set where elements are loaded several at a time.
    #[cfg(target_arch = "x86_64")]
    together: Option<together::Together>,
    /// How many rows are moved once their offsets are known.
    chunk: usize,
}

enum Row {
    /// So many contiguous bytes.
    Run(usize),
    /// So many contiguous bytes at every point of a nest, around the indices.
    Lanes(Nest, usize),
    /// Any other box, by leaves of its own.
    Box { copy: Leaf, zero: Leaf },
}

/// Whether the indices run along the innermost dimension of the destination: short runs that lie
/// closer together than those of one row. The same indices then serve one point of the row after
/// the other, and the destination is written in order.
fn is_inner(shape: &ByteBox, dst_stride: isize) -> bool {
    let inside = |step: &Step| dst_stride.unsigned_abs() < step.dst.unsigned_abs();
    shape.run < 64 && shape.steps.iter().all(inside)
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

/// No cache holds tables of so many bytes.
const UNCACHED: usize = 32 << 20;

/// A call that writes so many bytes, and reads an uncached table, stores them past the caches: of
/// fewer, whoever reads them next finds a part there.
const STREAM: usize = 8 << 20;

/// How many rows ahead are asked for, and whether into a cache that is further away: that pays for
/// tables that come from memory, where it takes more of them.
fn rows_ahead(row: usize, table: usize) -> (usize, bool) {
    let far = table >= UNCACHED;
    let rows = match row {
        0 => 0,
        _ if table <= CACHED => 0,
        _ if far => (8192 / row).clamp(8, 32),
        _ => (4096 / row).clamp(1, 32),
    };
    (rows, far)
}

/// Whether rows are elements that follow each other. The processor itself has many of them under
/// way at once; asking for them early takes as long as loading them.
fn is_element(run: usize, dst_stride: isize) -> bool {
    matches!(run, 1 | 2 | 4 | 8) && dst_stride == run as isize
}

fn entry_of<L: Level>(params: &GatherParams) -> GatherFn {
    fn runs<L: Level, C: Copier>() -> GatherFn {
        gather_entry::<L, Runs<C>>()
    }
    fn follow<L: Level, C: Copier, V: Vector>() -> GatherFn {
        gather_entry::<L, Following<C, V>>()
    }
    fn lanes<L: Level, C: Copier>() -> GatherFn {
        gather_entry::<L, Lanes<C>>()
    }
    match &params.row {
        #[cfg(target_arch = "x86_64")]
        Row::Run(run) if params.palette.is_some() => palette::entry(*run),
        #[cfg(target_arch = "x86_64")]
        Row::Run(run) if params.together.is_some() => together::entry(*run),
        Row::Run(run) if is_element(*run, params.dst_stride) => match run {
            1 => gather_entry::<L, Elements<u8>>(),
            2 => gather_entry::<L, Elements<u16>>(),
            4 => gather_entry::<L, Elements<u32>>(),
            _ => gather_entry::<L, Elements<u64>>(),
        },
        Row::Run(run) if params.stream && run.is_multiple_of(LINE) => {
            gather_entry::<L, Runs<WholeLines<L::Wide>>>()
        }
        Row::Run(run) if params.follows => with_following!(*run, L, follow(), runs()),
        Row::Run(run) => with_copier!(*run, L, runs()),
        Row::Lanes(_, run) => with_short_copier!(*run, L, lanes()),
        Row::Box { .. } => gather_entry::<L, Boxes>(),
    }
}

/// Room for the offsets of a chunk. A vector of them that straddled lines would not be passed on to
/// the loads that follow before it is in the cache.
#[repr(align(64))]
struct Offsets([MaybeUninit<isize>; CHUNK]);

/// # Safety
/// As [`GatherLeaf::call`].
#[inline(always)]
unsafe fn run<M: Mover>(dst: *mut u8, src: *const u8, index: *const u8, params: &GatherParams) {
    let mut offsets = Offsets([const { MaybeUninit::uninit() }; CHUNK]);
    let dst = dst.wrapping_offset(params.start.0);
    let src = src.wrapping_offset(params.start.1);
    let mut first = 0;
    while first < params.extent {
        let count = params
            .extent
            .wrapping_sub(first)
            .min(params.chunk)
            .min(CHUNK);
        // SAFETY: `first + count <= extent` indices are the caller's.
        let (offsets, any_outside) = unsafe {
            params
                .indices
                .offsets(index, first, &mut offsets.0[..count])
        };
        let base = dst.wrapping_offset(params.dst_stride.wrapping_mul(first as isize));
        // SAFETY: an offset that is not OUTSIDE comes from an index in range.
        unsafe {
            match any_outside {
                false => M::rows::<false>(base, src, offsets, params),
                true => M::rows::<true>(base, src, offsets, params),
            }
        }
        first = first.wrapping_add(count);
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
