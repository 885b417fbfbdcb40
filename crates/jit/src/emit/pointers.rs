//! Which pointers are alive: one per distinct (buffer, terms in scope), stepped, not recomputed.

use core::borrow::Borrow;

use cranelift_codegen::ir::Value;
use restride_loops::{BufferId, Place, Stmt, Var};
use smallvec::SmallVec;

use crate::error::JitError;

/// What a pointer points at: a buffer and the terms of an address, those in scope, by variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    buffer: BufferId,
    terms: SmallVec<[(Var, i64); 6]>,
}

impl Key {
    /// The beginning of a buffer.
    pub(super) fn base(buffer: BufferId) -> Self {
        Self {
            buffer,
            terms: SmallVec::new(),
        }
    }

    pub(super) fn buffer(&self) -> BufferId {
        self.buffer
    }

    /// The same without one variable.
    pub(super) fn without(&self, var: Var) -> Self {
        Self {
            buffer: self.buffer,
            terms: self
                .terms
                .iter()
                .copied()
                .filter(|(other, _)| *other != var)
                .collect(),
        }
    }
}

/// The pointers of the blocks that enclose the current statement.
#[derive(Default)]
pub(super) struct Pointers {
    scope: SmallVec<[Var; 8]>,
    live: Vec<(Key, Value)>,
}

/// How much was alive when a block began.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    scope: usize,
    live: usize,
}

impl Pointers {
    /// The key of a place, as far as its variables are in scope.
    pub(super) fn key(&self, place: &Place) -> Key {
        let mut terms: SmallVec<[(Var, i64); 6]> = place
            .addr
            .terms
            .iter()
            .copied()
            .filter(|(var, coeff)| *coeff != 0 && self.scope.contains(var))
            .collect();
        terms.sort_unstable();
        Key {
            buffer: place.buffer,
            terms,
        }
    }

    /// The buffers that statements touch, each once.
    pub(super) fn buffers_of(&self, stmts: &[Stmt]) -> SmallVec<[BufferId; 8]> {
        let mut buffers: SmallVec<[BufferId; 8]> = SmallVec::new();
        for_each_place(stmts, &mut |place| {
            if !buffers.contains(&place.buffer) {
                buffers.push(place.buffer);
            }
        });
        buffers
    }

    /// Brings a variable into scope; the pointers that depend on it and are needed in `stmts`,
    /// with its coefficient. The caller defines each of them.
    pub(super) fn enter<S: Borrow<Stmt>>(
        &mut self,
        var: Var,
        stmts: &[S],
    ) -> SmallVec<[(Key, i64); 8]> {
        self.scope.push(var);
        let mut keys: SmallVec<[(Key, i64); 8]> = SmallVec::new();
        for_each_place(stmts, &mut |place| {
            let coeff = place.addr.coeff(var);
            if coeff != 0 {
                let key = self.key(place);
                if !keys.iter().any(|(other, _)| *other == key) {
                    keys.push((key, coeff));
                }
            }
        });
        keys
    }

    pub(super) fn define(&mut self, key: Key, value: Value) {
        self.live.push((key, value));
    }

    pub(super) fn get(&self, key: &Key) -> Result<Value, JitError> {
        self.live
            .iter()
            .rev()
            .find(|(other, _)| other == key)
            .map(|(_, value)| *value)
            .ok_or_else(|| JitError::Internal(format!("no pointer for {key:?}")))
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            scope: self.scope.len(),
            live: self.live.len(),
        }
    }

    pub(super) fn reset(&mut self, mark: Mark) {
        self.scope.truncate(mark.scope);
        self.live.truncate(mark.live);
    }
}

/// Every place that statements and those inside them mention.
fn for_each_place<S: Borrow<Stmt>>(stmts: &[S], f: &mut dyn FnMut(&Place)) {
    for stmt in stmts {
        match stmt.borrow() {
            Stmt::For { body, .. } => for_each_place(body, f),
            Stmt::Check { index, .. } => f(index),
            Stmt::Index { place, .. } => f(place),
            Stmt::Move(m) => {
                f(&m.dst);
                f(&m.src);
            }
            Stmt::Gather(g) => {
                f(&g.index);
                f(&g.dst);
                f(&g.src);
            }
            Stmt::Fill { dst, .. } => f(dst),
        }
    }
}
