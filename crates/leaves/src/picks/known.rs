//! Elements at offsets that are known before the call.

use std::mem::MaybeUninit;

use super::points::{Points, TOGETHER};
use super::register::Register;
use super::tables::{Grid, Line, Portion, Tables};
use super::{ELEMENTS, LINE, filling, follow, together};
use crate::nest::Nest;

/// As how many windows it counts that a part of a line is stored by a mask, and straddles lines.
const PART: usize = 3;

/// The most elements of rows that are moved together in equal parts of all rows, and the most of these parts.
const MOST: usize = 1024;
const PARTS: usize = 4;

/// Elements that are picked out of rows at offsets that are known before the call, and the lines that they become.
pub(crate) struct KnownPicks {
    portions: Box<[Portion]>,
    lines: Box<[Line]>,
    /// How many rows they are of.
    rows: usize,
    load: u64,
    /// Where in a line the source begins that windows were laid for, and of how many bytes.
    at: (usize, usize),
    points: Points,
}

impl KnownPicks {
    pub(super) fn of<V: Register>(
        offsets: &[isize],
        run: usize,
        nest: &Nest,
        at: usize,
    ) -> Option<KnownPicks> {
        let ([_, step], picked) = (nest.plane(), offsets.len());
        // Of no elements there are no tables.
        offsets.first()?;
        let mut room = vec![MaybeUninit::uninit(); MOST];
        let mut place = MaybeUninit::uninit();
        let tables = Tables::at(&mut place);
        let mut tried = Vec::new();
        let mut laid = |rows: usize| {
            if tried.contains(&rows) {
                return None;
            }
            tried.push(rows);
            let offsets = together(offsets, nest, rows, &mut room);
            let grid = Grid::of::<V>(at, offsets, run)?;
            tables.clear();
            // They were counted before it was chosen.
            let (done, _) = tables.fill::<V>(offsets, 0, run, grid, |_, _| 2 * V::BYTES);
            let (portions, lines) = tables.filled();
            let parts = lines.iter().filter(|line| line.store != u64::MAX).count();
            // A table is loaded for several points.
            let points = step.extent.div_ceil(rows);
            let loads = portions.len() * (points / TOGETHER + points % TOGETHER);
            let cost = loads + 2 * points * (portions.len() + lines.len() + PART * parts);
            let picks = (done == offsets.len()).then(|| KnownPicks {
                portions: portions.into(),
                lines: lines.into(),
                rows,
                load: grid.mask(),
                at: (at % V::BYTES, V::BYTES),
                points: V::POINTS,
            });
            Some((cost, picks?))
        };
        let most = match follow(offsets, run, nest) {
            true => step.extent.min(MOST / picked).max(1),
            false => 1,
        };
        let row = picked * run;
        let mut least_of = |rows: &mut dyn Iterator<Item = usize>| {
            let laid = rows.filter_map(|rows| laid(rows.clamp(1, most)));
            laid.min_by_key(|(cost, _)| *cost)
        };
        let in_lines = [1, LINE / row, filling::<V>(row).min(ELEMENTS / picked)];
        let in_lines = least_of(&mut in_lines.into_iter());
        let in_parts = least_of(&mut (1..=PARTS).map(|parts| step.extent.div_ceil(parts)));
        // Lines that end where rows do are stored in less time than they count.
        let (_, picks) = match (in_lines, in_parts) {
            (Some(lines), Some(parts)) if 4 * parts.0 >= 3 * lines.0 => lines,
            (lines, parts) => parts.or(lines)?,
        };
        Some(picks)
    }

    /// Whether windows were laid for a source that begins there.
    #[inline]
    pub(crate) fn are_of(&self, src: *const u8) -> bool {
        let (at, bytes) = self.at;
        src.addr() % bytes == at
    }

    /// Moves them.
    ///
    /// # Safety
    /// As [`Picks`], of the nest and the offsets that they were made for.
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
