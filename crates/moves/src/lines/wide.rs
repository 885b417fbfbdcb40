//! Lines of 64 bytes: byte permutations of one to ten masked windows.

use std::sync::OnceLock;

use super::WideLines;
use super::patterns::{Last, Pattern, Place};
use super::program::{Starts, Vector, cover, vectors};
use super::search;
use super::unit::{Least, Unit};
use crate::cores::Core;
use crate::cost::{permutations, shared_unit, wide_unit as cost};
use crate::features::Features;

/// More windows than this and a line is not worth it.
pub(super) const MAX_WINDOWS: usize = 10;

/// The bytes of a line.
const LINE: usize = 64;

/// So many windows are held in registers for all lines of a unit.
const JOINT_WINDOWS: usize = 4;

/// So many lines have their tables in registers, and one line of any windows.
const HELD_LINES: usize = 3;
const JOINT_LINES: usize = 4;

/// So many lines may have all windows in registers and none of their tables.
const SHARED_LINES: usize = 12;

/// One line, ready to run. Pairs of windows share a table; of pairs after the first, `blend` says
/// which bytes are theirs.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Op {
    /// A table for every pair of windows.
    pub tables: [[u8; LINE]; MAX_WINDOWS / 2],
    /// Of each window, the bytes from the first to the last that is needed.
    pub load: [u64; MAX_WINDOWS],
    /// Of each pair, the bytes of the line that are its.
    pub blend: [u64; MAX_WINDOWS / 2],
    /// Which bytes of the line are written.
    pub store: u64,
}

/// Low `n` bits.
fn low_bits(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

type Line = Vector<LINE>;

/// The bytes of a window from the first to the last that is needed.
fn mask((first, end): (usize, usize)) -> u64 {
    low_bits(end) & !low_bits(first)
}

/// Of each window, the first byte that is needed and the end of those that are.
type Needed = [(usize, usize); MAX_WINDOWS];
const NOTHING: Needed = [(LINE, 0); MAX_WINDOWS];

#[inline(always)]
fn op(line: &Line, windows: &[i32], needed: &mut Needed) -> Op {
    let mut op = Op {
        tables: [[0; LINE]; MAX_WINDOWS / 2],
        load: [0; MAX_WINDOWS],
        blend: [0; MAX_WINDOWS / 2],
        store: 0,
    };
    for (number, (&start, needed)) in windows.iter().zip(needed).enumerate() {
        let (table, second) = (&mut op.tables[number / 2], number % 2 * LINE);
        let part = line.part(start, windows.get(number + 1), |place, its, at| {
            if its {
                table[place] = at | second as u8;
            }
        });
        op.store |= part.bytes;
        op.blend[number / 2] |= part.bytes;
        *needed = (needed.0.min(part.needed.0), needed.1.max(part.needed.1));
    }
    op
}

/// How the lines of a unit get at their windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Windows {
    /// All are loaded once and serve all lines, few of which have their tables in registers, too.
    Joint(usize),
    /// Every line loads its own, at most so many.
    Own(usize),
}

impl Windows {
    /// Whether each line is put together from no more than two pairs.
    pub(crate) fn are_few(self) -> bool {
        let (Self::Joint(windows) | Self::Own(windows)) = self;
        windows <= JOINT_WINDOWS
    }
}

/// A way to run a unit.
pub(crate) struct Way {
    pub(super) windows: Windows,
    lines: Vec<Line>,
    /// Of every line, or of all.
    starts: Vec<Starts>,
    /// Made when they are run: most ways cost more than others.
    made: OnceLock<WideLines>,
    last: Last<WideLines>,
}

impl search::Way for Way {
    type Lines = WideLines;
    const SIZE: usize = LINE;
    const ROW: usize = 4 * LINE;
    const LEAST: usize = cost(0, 1, 1);

    fn lines(&self, pattern: &Pattern) -> WideLines {
        match pattern.is_unit() {
            true => self.made().clone(),
            false => (self.last).or_make(pattern, || self.made().placed(pattern)),
        }
    }

    fn least(of: &Least) -> Option<usize> {
        let Least { vectors, all, .. } = *of;
        if of.first > MAX_WINDOWS {
            return None;
        }
        let cost = |loads, windows| cost(loads, vectors * permutations(windows), vectors);
        // The last vector may be short.
        let own = match vectors {
            1 => of.first,
            _ => of.first + (vectors - 2) * of.each + 1,
        };
        let own = all.max(own);
        let own = match of.first <= JOINT_WINDOWS && vectors <= HELD_LINES || vectors <= 1 {
            true => cost(own, of.first),
            false => cost(own + 2 * vectors, of.first),
        };
        let joint = match all <= JOINT_WINDOWS && (2..=JOINT_LINES).contains(&vectors) {
            true => cost(all.max(2), all.max(2)),
            false => usize::MAX,
        };
        // More lines than these, or more windows.
        let shared = match all <= MAX_WINDOWS && vectors <= SHARED_LINES {
            true => shared_unit(all.max(2), vectors.max(JOINT_LINES + 1))
                .min(shared_unit(all.max(JOINT_WINDOWS + 1), vectors.max(2))),
            false => usize::MAX,
        };
        Some(own.min(joint).min(shared))
    }

    fn of(unit: &Unit, core: Core) -> Option<(Way, usize)> {
        #[cfg(target_arch = "x86_64")]
        if Features::detect() >= Features::Avx512 {
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
            fn wide(unit: &Unit, core: Core) -> Option<(Way, usize)> {
                of(unit, core)
            }
            // SAFETY: the machine has it.
            return unsafe { wide(unit, core) };
        }
        of(unit, core)
    }
}

impl Way {
    /// The lines of the unit itself.
    fn made(&self) -> &WideLines {
        fn made(lines: &[Line], starts: &[Starts]) -> Vec<Op> {
            #[cfg(target_arch = "x86_64")]
            if Features::detect() >= Features::Avx512 {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
                fn wide(lines: &[Line], starts: &[Starts]) -> Vec<Op> {
                    ops(lines, starts)
                }
                // SAFETY: the machine has it.
                return unsafe { wide(lines, starts) };
            }
            ops(lines, starts)
        }
        self.made.get_or_init(|| {
            let first = |starts: &Starts| starts.first().map_or(0, |src| *src as isize);
            let start = self.starts.first().map_or(0, first);
            let place = |(at, line): (usize, &Line)| {
                let starts = starts_of(&self.starts, at);
                let mut src = [first(starts) - start; MAX_WINDOWS];
                for (src, at) in src.iter_mut().zip(starts) {
                    *src = *at as isize - start;
                }
                let dst = line.dst as isize;
                Place { dst, src }
            };
            WideLines {
                ops: made(&self.lines, &self.starts).into(),
                places: self.lines.iter().enumerate().map(place).collect(),
                start,
            }
        })
    }
}

/// The windows of a line, or of all.
fn starts_of(starts: &[Starts], line: usize) -> &Starts {
    match starts {
        [all] => all,
        _ => &starts[line],
    }
}

#[inline(always)]
fn of(unit: &Unit, core: Core) -> Option<(Way, usize)> {
    let lines: Vec<Line> = vectors(unit);
    let mut starts: Vec<Starts> = Vec::with_capacity(lines.len());
    for line in &lines {
        starts.push(cover(std::slice::from_ref(line), MAX_WINDOWS)?);
    }
    let (mut windows, mut cost) = own(&starts, core)?;
    let most = starts.iter().map(|starts| starts.len()).max()?;
    if let Some((joint, all, less)) = joint(&lines, most).filter(|(.., less)| *less <= cost) {
        (windows, cost) = (joint, less);
        starts.clear();
        starts.push(all);
    }
    let way = Way {
        windows,
        lines,
        starts,
        made: OnceLock::new(),
        last: Last::default(),
    };
    Some((way, cost))
}

/// Lines as they are run, with the windows of each, or of all.
#[inline(always)]
fn ops(lines: &[Line], starts: &[Starts]) -> Vec<Op> {
    let mut ops: Vec<Op> = Vec::with_capacity(lines.len());
    let joint = starts.len() == 1;
    let mut needed = NOTHING;
    for (at, line) in lines.iter().enumerate() {
        if !joint {
            needed = NOTHING;
        }
        ops.push(op(line, starts_of(starts, at), &mut needed));
        // Windows that serve all lines have what any of them needs.
        let serves = if joint { 0 } else { at };
        let load = needed.map(mask);
        ops[serves..].iter_mut().for_each(|op| op.load = load);
    }
    ops
}

/// What a unit costs if each line has windows of its own.
fn own(starts: &[Starts], core: Core) -> Option<(Windows, usize)> {
    let lines = starts.len();
    let most = starts.iter().map(|starts| starts.len()).max()?;
    let held = lines <= HELD_LINES && most <= JOINT_WINDOWS || lines == 1;
    // Windows that do not lie like the first straddle lines of memory.
    let windows = || starts.iter().flatten();
    let first = *windows().next()?;
    let load = |src: &i32| match (src - first) % LINE as i32 {
        0 => 1,
        _ => 2,
    };
    // What is not held is loaded again, and hides what straddling costs, but where loads are all that takes time.
    let loads: usize = match core {
        _ if held => windows().map(load).sum(),
        Core::Zen | Core::Cove => windows().count() + 2 * lines,
        Core::Zen5 => windows().map(load).sum::<usize>() + 3 * lines,
    };
    let cost = cost(loads, lines * permutations(most), lines);
    Some((Windows::Own(most), cost))
}

/// The windows of all lines, of which a line has so many by itself, and what a unit costs with these.
#[inline(always)]
fn joint(lines: &[Line], own: usize) -> Option<(Windows, Starts, usize)> {
    let few = lines.len() <= JOINT_LINES;
    if !(2..=SHARED_LINES).contains(&lines.len()) {
        return None;
    }
    let starts = cover(lines, (2 * own).clamp(JOINT_WINDOWS, MAX_WINDOWS))?;
    let count = starts.len();
    let cost = match few && count <= JOINT_WINDOWS {
        true => cost(count, lines.len() * permutations(count), lines.len()),
        // Lines that need no more than half of the windows are better off by themselves.
        false if 2 * own <= count => return None,
        false => shared_unit(count, lines.len()),
    };
    (count >= 2).then_some((Windows::Joint(count), starts, cost))
}
