//! Lines of 64 bytes as they are run.

use crate::lines::program::{self, Line};
use crate::lines::unit::{Cut, Segment};

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

fn op(line: &Line) -> Option<Op> {
    if line.windows.len() > MAX_WINDOWS {
        return None;
    }
    let mut op = Op {
        tables: [[0; LINE]; MAX_WINDOWS / 2],
        src: [line.windows.first()?.src; MAX_WINDOWS],
        load: [0; MAX_WINDOWS],
        blend: [0; MAX_WINDOWS / 2],
        dst: line.dst,
        store: 0,
        windows: line.windows.len(),
    };
    for (at, window) in line.windows.iter().enumerate() {
        op.src[at] = window.src;
        op.load[at] = low_bits(window.end) & !low_bits(window.first);
    }
    for (to, from) in line.bytes.iter().enumerate() {
        if let &Some((window, at)) = from {
            op.store |= 1 << to;
            op.blend[window / 2] |= 1 << to;
            op.tables[window / 2][to] = (window % 2 * LINE + at) as u8;
        }
    }
    Some(op)
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
pub(super) struct Way {
    pub(super) windows: Windows,
    lines: Vec<Line>,
}

impl Way {
    /// The cheapest way, and what it costs in about micro-operations.
    pub(super) fn cheapest(unit: &[Segment]) -> Option<(Way, usize)> {
        let own = Way::own(unit);
        let joint = Way::joint(unit);
        joint.into_iter().chain(own).min_by_key(|(_, cost)| *cost)
    }

    fn own(unit: &[Segment]) -> Option<(Way, usize)> {
        let lines = program::lines(unit, LINE, MAX_WINDOWS)?;
        let most = lines.iter().map(|line| line.windows.len()).max()?;
        let held = lines.len() <= HELD_LINES && most <= JOINT_WINDOWS;
        // Windows that do not lie like the first straddle lines of memory.
        let windows = || lines.iter().flat_map(|line| &line.windows);
        let first = windows().next()?.src;
        let load = |src: isize| {
            if (src - first) % LINE as isize == 0 {
                1
            } else {
                2
            }
        };
        // What is not held is loaded again, and hides what straddling costs.
        let loads: usize = if held {
            windows().map(|window| load(window.src)).sum()
        } else {
            windows().count() + 2 * lines.len()
        };
        let cost = cost(loads, lines.len() * permutations(most), lines.len());
        let windows = Windows::Own(most);
        Some((Way { windows, lines }, cost))
    }

    fn joint(unit: &[Segment]) -> Option<(Way, usize)> {
        let lines = program::joint_lines(unit, LINE, JOINT_WINDOWS, JOINT_LINES)?;
        let count = lines.first()?.windows.len();
        let fits = lines.len() >= 2 && count >= 2;
        let cost = cost(count, lines.len() * permutations(count), lines.len());
        let windows = Windows::Joint(count);
        fits.then_some((Way { windows, lines }, cost))
    }

    pub(super) fn ops(&self) -> Option<Vec<Op>> {
        self.lines.iter().map(op).collect()
    }
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

/// What a unit costs, in about micro-operations.
pub(crate) fn costs(cut: &Cut) -> Option<usize> {
    Way::cheapest(&cut.unit).map(|(_, cost)| cost)
}
