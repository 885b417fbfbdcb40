//! Elements at offsets that are known before the call.

use std::mem::MaybeUninit;

use super::points::Points;
use super::register::Register;
use super::tables::{Line, Portion, Tables, mask_of, windows_of};
use super::together;
use crate::nest::Nest;
use restride_moves::KnownRows;

/// Elements that are picked out of rows at offsets that are known before the call, and the lines that they become.
pub(crate) struct KnownPicks {
    portions: Box<[Portion]>,
    lines: Box<[Line]>,
    /// How many rows they are of.
    rows: usize,
    load: u64,
    /// Where in a line the source begins that windows were laid for, and of how many bytes, unless they serve for others.
    at: Option<(usize, usize)>,
    points: Points,
}

impl KnownPicks {
    pub(super) fn of<V: Register>(
        offsets: &[isize],
        run: usize,
        (nest, known): (&Nest, KnownRows),
        at: usize,
    ) -> Option<KnownPicks> {
        let rows = known.rows;
        let mut room = vec![MaybeUninit::uninit(); rows * offsets.len()];
        let offsets = together(offsets, nest, rows, &mut room);
        let windows = windows_of::<V>(at, offsets, run)?;
        let mut place = MaybeUninit::uninit();
        let tables = Tables::at(&mut place);
        // They were counted before it was chosen.
        let (done, _) = tables.fill::<V>(offsets, 0, run, windows, |_, _| 2 * V::BYTES);
        let (portions, lines) = tables.filled();
        (done == offsets.len()).then(|| KnownPicks {
            portions: portions.into(),
            lines: lines.into(),
            rows,
            load: mask_of(windows),
            at: (!known.anywhere).then_some((at % V::BYTES, V::BYTES)),
            points: V::POINTS,
        })
    }

    /// Whether they serve for a source that begins there.
    #[inline]
    pub(crate) fn are_of(&self, src: *const u8) -> bool {
        self.at.is_none_or(|(at, bytes)| src.addr() % bytes == at)
    }

    /// Moves them.
    ///
    /// # Safety
    /// As [`crate::gather::Picks`], of the nest and the offsets that they were made for.
    #[inline]
    pub(crate) unsafe fn call(&self, dst: *mut u8, src: *const u8, nest: &Nest) {
        let nest = (nest, self.rows);
        // SAFETY: the caller's; what is loaded and stored lies between the elements that were named.
        unsafe { (self.points)(dst, src, nest, self.load, &self.portions, &self.lines) }
    }

    /// About how many bytes they keep alive beside themselves.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.portions) + size_of_val(&*self.lines)
    }
}
