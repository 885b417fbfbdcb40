//! Lines of 64 bytes as they are run.

use crate::lines::program::{Starts, Vectors, cover, place};
use crate::lines::search;
use crate::lines::unit::Segment;

/// More windows than this and a line is not worth it.
pub(super) const MAX_WINDOWS: usize = 8;

/// The bytes of a line.
pub(super) const LINE: usize = 64;

/// So many windows are held in registers for all lines of a unit.
const JOINT_WINDOWS: usize = 4;

/// So many lines have their tables in registers.
pub(super) const HELD_LINES: usize = 3;
pub(super) const JOINT_LINES: usize = 4;

/// One line, ready to run. Pairs of windows share a table; of pairs after the first, `blend` says
/// which bytes are theirs.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Op {
    pub(super) tables: [[u8; LINE]; MAX_WINDOWS / 2],
    pub(super) src: [isize; MAX_WINDOWS],
    /// Of each window, the bytes from the first to the last that is needed.
    pub(super) load: [u64; MAX_WINDOWS],
    pub(super) blend: [u64; MAX_WINDOWS / 2],
    pub(super) dst: isize,
    pub(super) store: u64,
    pub(super) windows: usize,
}

/// Low `n` bits.
fn low_bits(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// Of each window, the first byte that is needed and the end of those that are.
type Needed = [(usize, usize); MAX_WINDOWS];

fn op(dst: isize, parts: &[Segment], windows: &[isize], needed: &mut Needed) -> Op {
    let mut op = Op {
        tables: [[0; LINE]; MAX_WINDOWS / 2],
        src: [windows.first().copied().unwrap_or(0); MAX_WINDOWS],
        load: [0; MAX_WINDOWS],
        blend: [0; MAX_WINDOWS / 2],
        dst,
        store: 0,
        windows: windows.len(),
    };
    for (to, from) in op.src.iter_mut().zip(windows) {
        *to = *from;
    }
    place::<{ LINE as isize }>(dst, parts, windows, |to, window, at, len| {
        let mask = low_bits(to + len) & !low_bits(to);
        op.store |= mask;
        op.blend[window / 2] |= mask;
        let first = window % 2 * LINE + at;
        let table = &mut op.tables[window / 2][to..to + len];
        for (byte, from) in table.iter_mut().zip(first..) {
            *byte = from as u8;
        }
        let (low, high) = &mut needed[window];
        (*low, *high) = (at.min(*low), (at + len).max(*high));
    });
    op
}

/// How the lines of a unit get at their windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Windows {
    /// All are loaded once and serve all lines.
    Joint(usize),
    /// Every line loads its own, at most so many.
    Own(usize),
}

/// A way to run a unit.
pub(crate) struct Way {
    pub(super) windows: Windows,
    vectors: Vectors,
    /// Of every line, or of all.
    starts: Vec<Starts>,
}

impl search::Way for Way {
    const SIZE: usize = LINE;

    fn least(vectors: usize) -> usize {
        let held = cost(vectors, vectors, vectors);
        match vectors {
            0 | 1 => held,
            2..=JOINT_LINES => held.min(cost(2, vectors, vectors)),
            _ => cost(3 * vectors, vectors, vectors),
        }
    }

    fn of(unit: &[Segment]) -> Option<(Way, usize)> {
        let vectors = Vectors::of(unit, LINE);
        // Windows that serve all lines are no fewer than those of one.
        let (own, starts, cost) = own(&vectors)?;
        Some(match joint(&vectors) {
            Some((windows, joint, less)) if less <= cost => (
                Way {
                    windows,
                    vectors,
                    starts: vec![joint],
                },
                less,
            ),
            Some(_) | None => (
                Way {
                    windows: own,
                    vectors,
                    starts,
                },
                cost,
            ),
        })
    }
}

impl Way {
    /// The lines as they are run.
    pub(super) fn ops(&self) -> Vec<Op> {
        let nothing = [(LINE, 0); MAX_WINDOWS];
        let mut ops: Vec<Op> = Vec::with_capacity(self.vectors.len());
        let mut needed = nothing;
        for (at, (dst, parts)) in self.vectors.each().enumerate() {
            let joint = self.starts.len() == 1;
            if !joint {
                needed = nothing;
            }
            let starts = &self.starts[if joint { 0 } else { at }];
            ops.push(op(dst, parts, starts, &mut needed));
            // Windows that serve all lines have what any of them needs.
            let load = needed.map(|(first, end)| low_bits(end) & !low_bits(first));
            let serves = if joint { 0 } else { at };
            ops[serves..].iter_mut().for_each(|op| op.load = load);
        }
        ops
    }
}

/// The windows of each line, and what a unit costs with these.
fn own(vectors: &Vectors) -> Option<(Windows, Vec<Starts>, usize)> {
    let mut starts = Vec::with_capacity(vectors.len());
    for (_, parts) in vectors.each() {
        starts.push(cover::<{ LINE as isize }>(parts, MAX_WINDOWS)?);
    }
    let most = starts.iter().map(Starts::len).max()?;
    let held = vectors.len() <= HELD_LINES && most <= JOINT_WINDOWS;
    // Windows that do not lie like the first straddle lines of memory.
    let windows = || starts.iter().flatten();
    let first = *windows().next()?;
    let load = |src: &isize| {
        if (src - first) % LINE as isize == 0 {
            1
        } else {
            2
        }
    };
    // What is not held is loaded again, and hides what straddling costs.
    let loads: usize = if held {
        windows().map(load).sum()
    } else {
        windows().count() + 2 * vectors.len()
    };
    let cost = cost(loads, vectors.len() * permutations(most), vectors.len());
    Some((Windows::Own(most), starts, cost))
}

/// The windows of all lines, and what a unit costs with these.
fn joint(vectors: &Vectors) -> Option<(Windows, Starts, usize)> {
    if !(2..=JOINT_LINES).contains(&vectors.len()) {
        return None;
    }
    let starts = cover::<{ LINE as isize }>(vectors.parts(), JOINT_WINDOWS)?;
    let count = starts.len();
    let cost = cost(count, vectors.len() * permutations(count), vectors.len());
    (count >= 2).then_some((Windows::Joint(count), starts, cost))
}

/// What a unit costs, in about micro-operations: the part of the machine that has most to do decides,
/// and everything has to be issued. A store of a line takes as long as two loads.
fn cost(loads: usize, permutations: usize, stores: usize) -> usize {
    4 * loads.max(permutations).max(2 * stores) + loads + permutations + stores
}

/// How many permutations and blends join so many windows.
fn permutations(windows: usize) -> usize {
    match windows {
        0..=2 => 1,
        3 => 2,
        _ => windows.div_ceil(2) * 2 - 1,
    }
}
