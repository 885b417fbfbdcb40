//! A prepared leaf: a function and the block of constants it is called with.

use std::any::Any;

use restride_loops::{Dim, Form, LEAST_BLOCK};
use restride_moves::{ByteBox, MovePlan, Planner, Rows, Way};

use crate::bodies::CpuLevel;
use crate::error::PrepareError;
use crate::level::{Body, Entry, Level, entry, entry_with_room, with_level};
use crate::{fill, rows, transpose};

/// The function of a leaf: destination, source, parameter block.
pub type MoveFn = unsafe extern "C" fn(*mut u8, *const u8, *const u8);

/// Parameters on the heap, in no small block: see [`LEAST_BLOCK`].
fn kept<P: Send + Sync + 'static>(params: P) -> Box<dyn Any + Send + Sync> {
    /// Parameters come first, so that who has the address of one has that of the other.
    #[repr(C)]
    struct Roomy<P>(P, [u8; LEAST_BLOCK]);
    match size_of::<P>() < LEAST_BLOCK {
        true => Box::new(Roomy(params, [0; LEAST_BLOCK])),
        false => Box::new(params),
    }
}

/// A move or a fill, ready to be called any number of times and on any number of threads.
pub struct Leaf {
    entry: MoveFn,
    params: Box<dyn Any + Send + Sync>,
    bytes: usize,
}

impl Leaf {
    /// Plans and prepares the move of a box: `dims` outermost first, in elements of `width` bytes, relative
    /// to the addresses that it will be called with. `form` says how; a form that does not fit
    /// the box is read as the one that does.
    pub fn prepare_move(
        dims: &[Dim],
        width: usize,
        form: Form,
        planner: &Planner,
    ) -> Result<Leaf, PrepareError> {
        Leaf::prepare_after(&mut None, dims, width, form, planner)
    }

    /// The same in a kernel in which `last` was moved before, which this one is from now on: what is left of
    /// a box behind a loop is moved as the box is, and that is not looked for again.
    pub fn prepare_after(
        last: &mut Option<MovePlan>,
        dims: &[Dim],
        width: usize,
        form: Form,
        planner: &Planner,
    ) -> Result<Leaf, PrepareError> {
        let shape = ByteBox::of_move(dims, width)?;
        let plan = planner.plan_after(last.as_ref(), shape, form);
        Ok(Leaf::of(last.insert(plan)))
    }

    /// Prepares the fill of a box with the low `width` bytes of `bits`; `dims` are
    /// `(extent, stride)`, outermost first. The source it is called with plays no part.
    pub fn prepare_fill(
        dims: &[(i64, i64)],
        width: usize,
        bits: u128,
        planner: &Planner,
    ) -> Result<Leaf, PrepareError> {
        let shape = ByteBox::of_fill(dims, width)?;
        let cpu = CpuLevel::of(planner.features());
        Ok(fill::prepare(&shape, width, bits, cpu))
    }

    /// Carries out a plan.
    #[must_use]
    pub fn of(plan: &MovePlan) -> Leaf {
        fn at_level<L: Level>(shape: &ByteBox, way: &Way) -> Leaf {
            let leaf = match way {
                Way::Rows(rows) => Some(rows::prepare::<L>(shape, *rows)),
                Way::Transpose(plane) => Some(transpose::prepare::<L>(shape, plane)),
                Way::Through(plan) => Some(crate::through::prepare(shape, plan)),
                Way::Folded(folded) => Some(transpose::folded::prepare::<L>(shape, folded)),
                #[cfg(target_arch = "x86_64")]
                Way::Packed(plane) => Some(transpose::packed::prepare::<L>(shape, plane)),
                #[cfg(target_arch = "x86_64")]
                Way::Widened(plane) => Some(transpose::widened::prepare(shape, plane)),
                #[cfg(target_arch = "x86_64")]
                Way::Channels(plan) => Some(transpose::channels::prepare(shape, plan)),
                #[cfg(target_arch = "x86_64")]
                Way::Blended(plan) => Some(transpose::blended::prepare(shape, plan)),
                #[cfg(target_arch = "x86_64")]
                Way::Squares(plan) => Some(transpose::squares::prepare(shape, plan)),
                #[cfg(target_arch = "x86_64")]
                Way::Pressed(plan) => Some(crate::pressed::prepare(shape, plan)),
                #[cfg(target_arch = "x86_64")]
                Way::Joined(plan) => crate::joined::prepare(shape, plan),
                #[cfg(target_arch = "x86_64")]
                Way::Pixels(plan) => transpose::pixels::prepare(shape, plan),
                #[cfg(target_arch = "x86_64")]
                Way::Lines(program, stores) => crate::lines::prepare(shape, program, *stores),
                #[cfg(not(target_arch = "x86_64"))]
                Way::Packed(_)
                | Way::Widened(_)
                | Way::Channels(_)
                | Way::Blended(_)
                | Way::Squares(_)
                | Way::Pressed(_)
                | Way::Joined(_)
                | Way::Pixels(_)
                | Way::Lines(..) => None,
            };
            leaf.unwrap_or_else(|| rows::prepare::<L>(shape, Rows::PLAIN))
        }
        let cpu = CpuLevel::of(plan.features());
        with_level!(cpu, at_level(plan.shape(), plan.way()))
    }

    pub(crate) fn new<L: Level, B: Body>(params: B::Params) -> Leaf {
        Leaf::at::<B>(entry::<L, B>(), params)
    }

    /// One whose function is that of a body with these parameters.
    pub(crate) fn at<B: Body>(entry: Entry, params: B::Params) -> Leaf {
        Leaf {
            entry,
            bytes: size_of::<B::Params>() + B::elsewhere(&params) + LEAST_BLOCK,
            params: kept(params),
        }
    }

    /// One that needs `ROOM` bytes of stack, and is `N` where fewer are left.
    pub(crate) fn with_room<L: Level, B, N, const ROOM: usize>(params: B::Params) -> Leaf
    where
        B: Body,
        N: Body<Params = B::Params>,
    {
        Leaf {
            entry: entry_with_room::<L, B, N, ROOM>(),
            ..Leaf::new::<L, B>(params)
        }
    }

    /// The function, for generated code.
    pub fn entry(&self) -> MoveFn {
        self.entry
    }

    /// The third argument of the function; valid as long as the leaf lives, moved or not.
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
    /// Every element of the box it was prepared for lies, relative to `dst` and `src`, in memory
    /// that may be written and read; so do the bytes between two elements of the source. The two
    /// do not overlap, and nobody else uses the destination meanwhile.
    #[inline]
    pub unsafe fn call(&self, dst: *mut u8, src: *const u8) {
        // SAFETY: the block is the one made for this function; the rest is the caller's.
        unsafe { (self.entry)(dst, src, self.params_ptr()) }
    }
}

impl std::fmt::Debug for Leaf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leaf").finish_non_exhaustive()
    }
}
