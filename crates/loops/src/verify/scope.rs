//! The variables that a statement may mention.

use std::mem::take;

use smallvec::SmallVec;

use crate::ir::{Addr, Var};

/// A variable in scope with values `0..extent`.
#[derive(Clone, Copy)]
pub(super) struct Binding {
    pub(super) var: Var,
    pub(super) extent: i64,
}

/// Variables by kind. Loops nest a few deep; of loaded indices there may be thousands.
#[derive(Default)]
pub(super) struct Scope {
    /// Outermost first.
    loops: SmallVec<[Binding; 8]>,
    /// By variable.
    loaded: SmallVec<[Binding; 4]>,
    /// The loaded ones in the order in which they were.
    order: SmallVec<[Var; 4]>,
}

/// How much was in scope when a block began.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    loops: usize,
    loaded: usize,
}

impl Scope {
    pub(super) fn enter_loop(&mut self, var: Var, extent: i64) {
        self.loops.push(Binding { var, extent });
    }

    pub(super) fn load(&mut self, var: Var, extent: i64) {
        let at = self.loaded.partition_point(|known| known.var < var);
        self.loaded.insert(at, Binding { var, extent });
        self.order.push(var);
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            loops: self.loops.len(),
            loaded: self.order.len(),
        }
    }

    /// Forgets what came into scope since then.
    pub(super) fn reset(&mut self, mark: Mark) {
        self.loops.truncate(mark.loops);
        while self.order.len() > mark.loaded
            && let Some(var) = self.order.pop()
        {
            if let Ok(at) = self.loaded_at(var) {
                self.loaded.remove(at);
            }
        }
    }

    /// Forgets everything; what was there.
    pub(super) fn hide(&mut self) -> Scope {
        take(self)
    }

    /// The loops around, outermost first.
    pub(super) fn loops(&self) -> impl Iterator<Item = &Binding> {
        self.loops.iter()
    }

    fn loaded_at(&self, var: Var) -> Result<usize, usize> {
        self.loaded.binary_search_by_key(&var, |known| known.var)
    }

    /// Whether a variable was loaded.
    pub(super) fn is_loaded(&self, var: Var) -> bool {
        self.loaded_at(var).is_ok()
    }

    /// How many values a variable takes, if it is in scope.
    pub(super) fn extent(&self, var: Var) -> Option<i64> {
        let of_loop = self.loops.iter().find(|known| known.var == var);
        let loaded = || self.loaded_at(var).ok().map(|at| &self.loaded[at]);
        of_loop.or_else(loaded).map(|known| known.extent)
    }

    /// The dimensions that loaded indices give an address.
    pub(super) fn loaded_of(&self, addr: &Addr) -> impl Iterator<Item = (i64, i64)> {
        let known = |&(var, coeff): &(Var, i64)| {
            let at = self.loaded_at(var).ok()?;
            Some((self.loaded[at].extent, coeff))
        };
        addr.terms.iter().filter_map(known)
    }
}
