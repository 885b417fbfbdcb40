//! Whatever is read of scratch was surely written before.
//!
//! Two kinds of writes surely come before a read: those of earlier phases (and of earlier
//! statements of the top level, when both belong to chunk 0), and those that stand before it in
//! the same iteration of loops around both. Where a buffer is written whole in earlier phases, there
//! is nothing else to look at. In the second case the shared loops must move both
//! addresses alike, so that one iteration stands for all.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::cover::Whole;
use super::search::{SearchBudget, meet};
use super::strided::Strided;
use super::walk::Walker;
use super::{Flaw, Reason};
use crate::ir::{BufferId, Kernel, Place, Stmt};

/// Up to this length, what the search does not decide is decided by marking elements.
const MARKED: i64 = 1 << 16;

/// The most addresses of a read that are looked up one by one.
const LOOKED_UP: i128 = 1 << 20;

/// One access of scratch.
pub(super) struct Access {
    buffer: BufferId,
    write: bool,
    phase: usize,
    /// Positions in the blocks around, outermost first.
    path: SmallVec<[u32; 8]>,
    /// Whether it is in a parallel loop.
    shared_out: bool,
    base: i64,
    /// What the loops around give the address, outermost first.
    loops: SmallVec<[(i64, i64); 8]>,
    /// What the box and loaded indices give it.
    own: SmallVec<[(i64, i64); 6]>,
    stmt: u32,
}

impl Access {
    pub(super) fn new(
        walker: &Walker<'_>,
        place: &Place,
        own: impl Iterator<Item = (i64, i64)>,
        write: bool,
    ) -> Access {
        let loaded = walker.scope.loaded_of(&place.addr);
        Access {
            buffer: place.buffer,
            write,
            phase: walker.phase,
            path: walker.path.clone(),
            shared_out: matches!(walker.outermost, Some(Stmt::For { parallel: true, .. })),
            base: place.addr.base,
            // A loop of one iteration moves nothing.
            loops: walker
                .loops(&place.addr)
                .map(|l| if l.0 == 1 { (1, 0) } else { l })
                .collect(),
            own: own.chain(loaded).collect(),
            stmt: walker.stmt,
        }
    }

    /// Its addresses while the outer `fixed` loops stand at their first iteration.
    fn set(&self, fixed: usize) -> Strided {
        let loops = self.loops[fixed..].iter().copied();
        Strided::new(self.base, loops.chain(self.own.iter().copied()))
    }

    /// Whether all of it surely happens before any of `later`.
    fn is_before(&self, later: &Access) -> bool {
        self.phase < later.phase
            || self.phase == later.phase
                && !self.shared_out
                && !later.shared_out
                && self.path[0] < later.path[0]
    }

    /// Whether it happens before `later` in each iteration of the outer `shared` loops, both
    /// moving alike with them.
    fn is_before_in_iteration(&self, later: &Access, shared: usize) -> bool {
        self.phase == later.phase
            && self.loops.len() >= shared
            && self.path[..shared] == later.path[..shared]
            && self.path[shared] < later.path[shared]
            && self.loops[..shared] == later.loops[..shared]
    }
}

/// All reads. That no element is written twice has been shown, and which buffers are written whole.
pub(super) fn all(
    kernel: &Kernel,
    accesses: &[Access],
    whole: &Whole,
    budget: &mut SearchBudget,
) -> Result<(), Flaw> {
    // The last phase that writes to each buffer.
    let mut last: BTreeMap<BufferId, usize> = BTreeMap::new();
    for write in accesses.iter().filter(|a| a.write) {
        let phase = last.entry(write.buffer).or_default();
        *phase = write.phase.max(*phase);
    }
    for read in accesses.iter().filter(|a| !a.write) {
        let buffer = read.buffer;
        if whole.binary_search(&buffer).is_ok()
            && last.get(&buffer).is_some_and(|phase| *phase < read.phase)
        {
            continue;
        }
        let len = kernel.buffer(buffer).map_or(0, |b| b.len);
        let mut covered = false;
        for shared in 0..=read.loops.len() {
            let mut before = Vec::new();
            for write in accesses.iter().filter(|a| a.write && a.buffer == buffer) {
                if budget.spend(1).is_err() {
                    return Err(Flaw::at(Reason::Undecided { buffer }, read.stmt));
                }
                let earlier = match shared {
                    0 => write.is_before(read),
                    _ => write.is_before_in_iteration(read, shared),
                };
                if earlier {
                    before.push(write.set(shared));
                }
            }
            if is_covered(&read.set(shared), &before, len, budget) {
                covered = true;
                break;
            }
        }
        if !covered {
            return Err(Flaw::at(Reason::ReadBeforeWrite { buffer }, read.stmt));
        }
    }
    Ok(())
}

/// Whether sets that are disjoint and repeat nothing hold all of `read`.
fn is_covered(read: &Strided, writes: &[Strided], len: i64, budget: &mut SearchBudget) -> bool {
    let hull = writes
        .iter()
        .map(|w| w.low)
        .min()
        .zip(writes.iter().map(Strided::high).max());
    let Some((low, high)) = hull.filter(|h| h.0 <= read.low && read.high() <= h.1) else {
        return false;
    };
    let written = writes
        .iter()
        .fold(0i128, |n, w| n.saturating_add(w.count()));
    if written == i128::from(high) - i128::from(low) + 1 {
        return true;
    }
    if writes.iter().any(|w| is_inside(read, w, budget)) {
        return true;
    }
    if len > MARKED || read.count() > LOOKED_UP {
        return false;
    }
    let mut there = vec![false; usize::try_from(len).unwrap_or(0)];
    for write in writes {
        write.all(|a| there.get_mut(a as usize).map(|t| *t = true).is_some());
    }
    read.all(|a| there.get(a as usize) == Some(&true))
}

/// Whether one set lies inside another, which is nested; `false` also when that is not known.
fn is_inside(read: &Strided, write: &Strided, budget: &mut SearchBudget) -> bool {
    write.is_nested()
        && write.low <= read.low
        && read.high() <= write.high()
        && write
            .gaps()
            .iter()
            .all(|gap| matches!(meet(read, gap, budget), Ok(false)))
}
