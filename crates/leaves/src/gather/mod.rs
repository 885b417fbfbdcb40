//! Rows named by an index tensor.
//!
//! Short rows are moved as their indices are read (`direct`). For all others, and where an index is not simply the number
//! of a row, offsets are computed a chunk at a time ([`crate::index`]), so the rows ahead are known and can be asked for
//! early, and the copying loop has neither compare nor branch unless an index of its chunk is outside.

mod direct;
mod movers;
#[cfg(target_arch = "x86_64")]
mod names;
#[cfg(target_arch = "x86_64")]
mod palette;
#[cfg(target_arch = "x86_64")]
mod together;

use std::any::Any;
use std::mem::MaybeUninit;

use restride_loops::{Gather, NamedRows, Norm};
use restride_moves::{AT_ONCE, GatherPlan, GatherWay, Planner, Stores};

use crate::bodies::CpuLevel;
use crate::copy::{
    Copier, One, WholeLines, with_copier, with_following, with_short_copier, with_vectors,
};
use crate::error::PrepareError;
use crate::fill;
#[cfg(target_arch = "x86_64")]
use crate::index::OUTSIDE;
use crate::index::Offsets;
use crate::leaf::Leaf;
use crate::level::{Level, with_level};
use crate::nest::Nest;
#[cfg(target_arch = "x86_64")]
use crate::picks::{self, KnownPicks, picks};
use crate::vector::Vector;
use direct::{Block, InTurn, InWords, Never, Overlapping, Word};
pub(crate) use movers::Picks;
use movers::{Boxes, Mover, Points, Runs};
#[cfg(target_arch = "x86_64")]
use palette::Palette;

/// The function of a gather: destination of row 0, source of row 0, first index, parameter block.
pub type GatherFn = unsafe extern "C" fn(*mut u8, *const u8, *const u8, *const u8);

/// A gather, ready to be called any number of times and on any number of threads.
pub struct GatherLeaf {
    entry: GatherFn,
    params: Box<dyn Any + Send + Sync>,
    bytes: usize,
}

impl GatherLeaf {
    /// Prepares a gather of elements of `width` bytes, of these rows if constants name them. It will be called with the
    /// addresses of its places.
    pub fn prepare(
        gather: &Gather,
        width: usize,
        named: Option<NamedRows>,
        planner: &Planner,
    ) -> Result<GatherLeaf, PrepareError> {
        Ok(GatherLeaf::of(&planner.gather(gather, width, named)?))
    }

    /// Carries out a plan.
    #[must_use]
    pub fn of(plan: &GatherPlan) -> GatherLeaf {
        let (row, indices, cpu) = (plan.row(), plan.indices(), CpuLevel::of(plan.features()));
        let body = match plan.way() {
            GatherWay::Points | GatherWay::Picked { .. } => {
                let nest = Nest::new(row, (0, 0), &row.steps);
                Row::Points {
                    #[cfg(target_arch = "x86_64")]
                    known: known(plan, &nest),
                    picks: match *plan.way() {
                        #[cfg(target_arch = "x86_64")]
                        GatherWay::Picked { together, .. } => {
                            picks(cpu).map(|picks| (picks, together))
                        }
                        _ => None,
                    },
                    nest,
                    run: row.run,
                }
            }
            GatherWay::Boxes(copy) => Row::Box {
                copy: Leaf::of(copy),
                zero: fill::prepare(row, 1, 0, cpu),
            },
            _ => Row::Run(row.run),
        };
        // A run that is reversed on both sides does not begin where its row does.
        let start = match body {
            Row::Run(_) => (row.dst, row.src),
            Row::Points { .. } | Row::Box { .. } => (0, 0),
        };
        let (ahead, far, past) = match *plan.way() {
            GatherWay::Runs { ahead, far, stores } => (ahead, far, stores == Stores::Past),
            _ => (0, false, false),
        };
        #[cfg(target_arch = "x86_64")]
        let palette = match plan.way() {
            GatherWay::Registers => Some(Box::new(Palette::new(row.run))),
            _ => None,
        };
        let params = GatherParams {
            extent: indices.extent,
            last: indices.coeff.wrapping_mul(indices.norm.limit as isize - 1),
            start,
            offsets: Offsets::new(indices, cpu),
            norm: indices.norm,
            coeff: indices.coeff,
            dst_stride: plan.dst_stride(),
            ahead,
            far,
            past,
            direct: ahead == 0 && indices.follow_each_other(),
            row: body,
            #[cfg(target_arch = "x86_64")]
            palette,
        };
        let elsewhere = match &params.row {
            Row::Box { copy, zero } => copy.bytes() + zero.bytes(),
            #[cfg(target_arch = "x86_64")]
            Row::Points { known, .. } => known.as_ref().map_or(0, KnownPicks::bytes),
            _ => 0,
        };
        #[cfg(target_arch = "x86_64")]
        let elsewhere = elsewhere + params.palette.as_deref().map_or(0, size_of_val);
        GatherLeaf {
            entry: with_level!(cpu, entry_of(plan.way(), row.run)),
            bytes: size_of::<GatherParams>() + elsewhere,
            params: Box::new(params),
        }
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
    /// So many indices lie at `index`; they name the rows that it was prepared for, if any were named. Every row that an index
    /// in range names lies in readable memory relative to `src`, every row of the destination in writable memory relative to
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
    offsets: Offsets,
    norm: Norm,
    /// Bytes of the source that an index counts.
    coeff: isize,
    /// The offset of the last row that there is.
    last: isize,
    dst_stride: isize,
    /// How many rows ahead are prefetched; 0 for none.
    ahead: usize,
    /// Whether they are asked for into a cache that is further away.
    far: bool,
    /// Whether whole lines are stored past the caches.
    past: bool,
    row: Row,
    /// Set where rows are looked up in registers.
    #[cfg(target_arch = "x86_64")]
    palette: Option<Box<Palette>>,
    /// Whether rows are moved as their indices are read.
    direct: bool,
}

enum Row {
    /// So many contiguous bytes.
    Run(usize),
    /// So many contiguous bytes at every point of a nest, around the indices.
    Points {
        nest: Nest,
        run: usize,
        /// Where constants name them.
        #[cfg(target_arch = "x86_64")]
        known: Option<KnownPicks>,
        /// How they are moved by permutations, of so many rows that follow each other.
        picks: Option<(Picks, usize)>,
    },
    /// Any other box, by leaves of its own.
    Box { copy: Leaf, zero: Leaf },
}

/// The elements that constants name, if they are picked out of rows by permutations.
#[cfg(target_arch = "x86_64")]
fn known(plan: &GatherPlan, nest: &Nest) -> Option<KnownPicks> {
    let GatherWay::Picked { known, .. } = *plan.way() else {
        return None;
    };
    let offsets = plan.indices().offsets().map(|it| it.unwrap_or(OUTSIDE));
    let (offsets, cpu) = (Vec::from_iter(offsets), CpuLevel::of(plan.features()));
    let (run, src) = (plan.row().run, plan.src() as usize);
    picks::known(cpu, &offsets, run, (nest, known?), src)
}

fn entry_of<L: Level>(way: &GatherWay, run: usize) -> GatherFn {
    fn runs<L: Level, C: Copier>() -> GatherFn {
        gather_entry::<L, Runs<C, InTurn<C>>>()
    }
    fn follow<L: Level, C: Copier, V: Vector>() -> GatherFn {
        gather_entry::<L, Runs<C, Overlapping<C, V>>>()
    }
    fn elements<L: Level, T: Vector + Word>() -> GatherFn {
        gather_entry::<L, Runs<One<T>, InWords<T>>>()
    }
    fn points<L: Level, C: Copier>() -> GatherFn {
        gather_entry::<L, Points<C>>()
    }
    match way {
        #[cfg(target_arch = "x86_64")]
        GatherWay::Registers => palette::entry(run),
        #[cfg(target_arch = "x86_64")]
        GatherWay::Together => together::entry(run),
        GatherWay::Elements => match run {
            1 => elements::<L, u8>(),
            2 => elements::<L, u16>(),
            4 => elements::<L, u32>(),
            _ => elements::<L, u64>(),
        },
        GatherWay::Runs {
            stores: Stores::Past,
            ..
        } => gather_entry::<L, Runs<WholeLines<L::Wide>, Never>>(),
        GatherWay::Following => with_following!(run, L, follow(), runs()),
        GatherWay::Points | GatherWay::Picked { .. } => with_short_copier!(run, L, points()),
        GatherWay::Boxes(_) => gather_entry::<L, Boxes>(),
        _ => with_copier!(run, L, runs()),
    }
}

/// Room for the offsets of a chunk. A vector of them that straddled lines would not be passed on to
/// the loads that follow before it is in the cache.
#[repr(align(64))]
struct Chunk([MaybeUninit<isize>; AT_ONCE]);

/// # Safety
/// As [`GatherLeaf::call`].
#[inline(always)]
unsafe fn run<M: Mover>(dst: *mut u8, src: *const u8, index: *const u8, params: &GatherParams) {
    // SAFETY: the caller's.
    if unsafe { M::moves_known(dst, src, params) } {
        return;
    }
    let mut chunk = Chunk([const { MaybeUninit::uninit() }; AT_ONCE]);
    let dst = dst.wrapping_offset(params.start.0);
    let src = src.wrapping_offset(params.start.1);
    let extent = params.extent;
    let to = |moved: usize| dst.wrapping_offset(params.dst_stride.wrapping_mul(moved as isize));
    // Rows that were asked for are moved as the next ones are asked for, so those of one chunk are left for the next.
    let ahead = params.ahead.min(AT_ONCE / 2);
    let (mut moved, mut kept, mut kept_outside) = (0usize, 0usize, false);
    loop {
        if M::Block::ROWS > 0 && params.direct {
            let at = index.wrapping_add(moved.wrapping_mul(params.norm.ty.width().bytes()));
            let left = extent.wrapping_sub(moved);
            // SAFETY: the caller's.
            let more = unsafe { direct::rows::<M::Block>(to(moved), src, at, left, params) };
            moved = moved.wrapping_add(more);
        }
        if moved >= extent {
            return;
        }
        let known = extent.wrapping_sub(moved).min(AT_ONCE);
        let first = moved.wrapping_add(kept);
        // SAFETY: these are some of the caller's `extent` indices.
        let (new, outside) = unsafe { params.offsets.of(index, first, &mut chunk.0[kept..known]) };
        if moved == 0 {
            M::ask(src, &new[..ahead.min(known)], params);
        }
        // SAFETY: so many were kept, and the others have just been computed.
        let offsets = unsafe { chunk.0[..known].assume_init_ref() };
        let later = match ahead {
            0 => &[],
            _ => &offsets[ahead.min(known)..],
        };
        let all = moved.wrapping_add(known) == extent;
        let count = known.wrapping_sub(if all { 0 } else { ahead });
        let base = to(moved);
        // SAFETY: an offset that is not OUTSIDE comes from an index in range.
        unsafe {
            match outside || kept_outside {
                false => M::rows::<false>(base, src, &offsets[..count], later, params),
                true => M::rows::<true>(base, src, &offsets[..count], later, params),
            }
        }
        moved = moved.wrapping_add(count);
        if count < known {
            chunk.0.copy_within(count..known, 0);
            (kept, kept_outside) = (ahead, outside);
        }
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
