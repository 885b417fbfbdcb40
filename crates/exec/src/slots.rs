//! Which slot of a frame a variable has, and for how long.
//!
//! A loop has its slot while it runs. A loaded index gives its slot back with the statement that
//! mentions it last, so a frame is as large as the indices that are needed at one time: a chain of
//! gathers has hundreds of them, of which a few live together.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use restride_loops::{Kernel, Move, Place, Stmt, Var};
use smallvec::SmallVec;

/// Variables in scope and their slots.
pub(crate) struct Slots {
    /// All variables that are loaded, in order.
    loaded: Vec<Index>,
    /// Statements are numbered in the order of the text, from 1. The one that is being prepared.
    now: usize,
    /// Outermost first.
    loops: SmallVec<[(Var, usize, i64); 8]>,
    free: Vec<usize>,
    /// How many there are.
    count: usize,
}

/// A variable that some statement loads.
struct Index {
    var: Var,
    /// The statement that mentions it last; 0 if none does.
    last: usize,
    /// While it is needed.
    slot: Option<usize>,
}

/// The indices that a block has loaded, soonest to be given up first: the statements that mention
/// them last, and their places among all.
#[derive(Default)]
pub(crate) struct Loaded(BinaryHeap<Reverse<(usize, usize)>>);

/// A variable as addresses have it.
pub(crate) struct FrameSlot {
    pub(crate) number: usize,
    pub(crate) is_index: bool,
}

impl Slots {
    pub(crate) fn new(kernel: &Kernel) -> Slots {
        let mut slots = Slots {
            loaded: Vec::new(),
            now: 0,
            loops: SmallVec::new(),
            free: Vec::new(),
            count: 0,
        };
        kernel.visit(|stmt| {
            if let Stmt::Index { var, .. } = *stmt {
                let (last, slot) = (0, None);
                slots.loaded.push(Index { var, last, slot });
            }
        });
        slots.loaded.sort_unstable_by_key(|index| index.var);
        if !slots.loaded.is_empty() {
            let mut number = 0;
            kernel.visit(|stmt| {
                number += 1;
                for place in places(stmt).into_iter().flatten() {
                    for (var, _) in &place.addr.terms {
                        if let Some(at) = slots.at(*var) {
                            slots.loaded[at].last = number;
                        }
                    }
                }
            });
        }
        slots
    }

    /// How many slots a frame needs.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    fn take(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }

    /// The next statement is prepared.
    pub(crate) fn step(&mut self) {
        self.now += 1;
    }

    /// Statements are left out, with all that is in them.
    pub(crate) fn skip(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.step();
            self.skip(stmt.body());
        }
    }

    pub(crate) fn enter(&mut self, var: Var, extent: i64) -> usize {
        let slot = self.take();
        self.loops.push((var, slot, extent));
        slot
    }

    pub(crate) fn leave(&mut self) {
        if let Some((_, slot, _)) = self.loops.pop() {
            self.free.push(slot);
        }
    }

    pub(crate) fn load(&mut self, var: Var, block: &mut Loaded) -> usize {
        let slot = self.take();
        if let Some(at) = self.at(var) {
            self.loaded[at].slot = Some(slot);
            block.0.push(Reverse((self.loaded[at].last, at)));
        }
        slot
    }

    /// Gives up what a block has loaded and nothing after the statement at hand mentions.
    pub(crate) fn give_up(&mut self, block: &mut Loaded) {
        while let Some(&Reverse((last, at))) = block.0.peek()
            && last <= self.now
        {
            block.0.pop();
            self.free.extend(self.loaded[at].slot.take());
        }
    }

    /// Where a variable is among those that are loaded.
    fn at(&self, var: Var) -> Option<usize> {
        let found = self.loaded.binary_search_by_key(&var, |index| index.var);
        found.ok()
    }

    /// The slot of a variable, if it is in scope.
    pub(crate) fn find(&self, var: Var) -> Option<FrameSlot> {
        let of_loop = self.loops.iter().find(|known| known.0 == var);
        let of_loop = of_loop.map(|known| (known.1, false));
        let loaded = || Some((self.loaded[self.at(var)?].slot?, true));
        let (number, is_index) = of_loop.or_else(loaded)?;
        Some(FrameSlot { number, is_index })
    }

    /// The loops around the statement at hand, outermost first, and how often they run.
    pub(crate) fn loops(&self) -> impl Iterator<Item = (usize, i64)> {
        self.loops.iter().map(|&(_, slot, extent)| (slot, extent))
    }
}

/// The places that a statement itself mentions.
fn places(stmt: &Stmt) -> [Option<&Place>; 3] {
    match stmt {
        Stmt::For { .. } => [None; 3],
        Stmt::Index { place, .. } => [Some(place), None, None],
        Stmt::Check { index, .. } => [Some(index), None, None],
        Stmt::Move(Move { dst, src, .. }) => [Some(dst), Some(src), None],
        Stmt::Gather(g) => [Some(&g.dst), Some(&g.src), Some(&g.index)],
        Stmt::Fill { dst, .. } => [Some(dst), None, None],
    }
}
