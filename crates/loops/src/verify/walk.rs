//! One walk over the statements: scopes, then every local property in turn, then a record of
//! what is written and what is read of scratch for the properties that need all statements.

use smallvec::SmallVec;

use super::scope::Scope;
use super::{
    Reason, bounds, checks, forms, scratch::Access, strided::Strided, structure, work_bound,
};
use crate::ir::{Addr, BufferId, Kernel, Place, Role, Stmt, Var};

/// The deepest nest of loops.
pub(super) const MAX_DEPTH: usize = 64;
/// Variables are numbered below this.
const MAX_VARS: u32 = 1 << 20;

/// What is written to a buffer by one statement.
pub(super) struct Write {
    pub(super) buffer: BufferId,
    pub(super) set: Strided,
    /// The number of the statement in program order.
    pub(super) stmt: u32,
}

pub(super) struct Walker<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) scope: Scope,
    pub(super) phase: usize,
    /// The statement of the top level that the walk is in.
    pub(super) outermost: Option<&'k Stmt>,
    pub(super) output_written: bool,
    /// How often checks look at an index that they have looked at.
    pub(super) looks_again: i128,
    pub(super) around: checks::Around,
    pub(super) writes: SmallVec<[Write; 2]>,
    /// Accesses of scratch, in program order.
    pub(super) accesses: Vec<Access>,
    /// Positions in the blocks around, outermost first.
    pub(super) path: SmallVec<[u32; 8]>,
    defined: SmallVec<[u64; 2]>,
    /// The number of the statement in program order.
    pub(super) stmt: u32,
}

impl<'k> Walker<'k> {
    pub(super) fn new(kernel: &'k Kernel) -> Walker<'k> {
        Walker {
            kernel,
            scope: Scope::default(),
            phase: 0,
            outermost: None,
            output_written: false,
            looks_again: 0,
            around: checks::Around::default(),
            writes: SmallVec::new(),
            accesses: Vec::new(),
            path: SmallVec::new(),
            defined: SmallVec::new(),
            stmt: 0,
        }
    }

    /// Walks all statements. After an error, `stmt` is the number of the statement at fault.
    pub(super) fn run(&mut self) -> Result<(), Reason> {
        for (phase, stmts) in self.kernel.phases.iter().enumerate() {
            self.phase = phase;
            self.around.phase = None;
            for (at, stmt) in stmts.iter().enumerate() {
                self.outermost = Some(stmt);
                self.around.outermost = None;
                self.path.push(at as u32);
                self.visit(stmt, 0)?;
                self.path.pop();
            }
            self.scope.hide();
        }
        Ok(())
    }

    fn visit(&mut self, stmt: &'k Stmt, depth: usize) -> Result<(), Reason> {
        structure::stmt(self, stmt, depth)?;
        forms::stmt(stmt)?;
        checks::stmt(self, stmt)?;
        bounds::stmt(self, stmt)?;
        work_bound::stmt(self, stmt)?;
        self.record(stmt);
        match stmt {
            Stmt::For {
                var,
                extent,
                parallel,
                body,
            } => {
                if depth == MAX_DEPTH {
                    return Err(Reason::TooDeep { limit: MAX_DEPTH });
                }
                // Chunks that share out a loop have not run what stands before it.
                let hidden = parallel.then(|| self.scope.hide());
                let outside = self.scope.mark();
                self.define(*var)?;
                self.scope.enter_loop(*var, *extent);
                for (at, inner) in body.iter().enumerate() {
                    self.path.push(at as u32);
                    self.stmt += 1;
                    self.visit(inner, depth + 1)?;
                    self.path.pop();
                }
                self.scope.reset(outside);
                if let Some(hidden) = hidden {
                    self.scope = hidden;
                }
            }
            Stmt::Index { var, norm, .. } => {
                self.define(*var)?;
                self.scope.load(*var, norm.limit);
            }
            Stmt::Check { .. } | Stmt::Move(_) | Stmt::Gather(_) | Stmt::Fill { .. } => {}
        }
        if depth == 0 {
            self.stmt += 1;
        }
        Ok(())
    }

    fn define(&mut self, var: Var) -> Result<(), Reason> {
        if var.0 >= MAX_VARS {
            return Err(Reason::VarNumber {
                var,
                limit: MAX_VARS,
            });
        }
        let (word, bit) = (var.0 as usize / 64, 1 << (var.0 % 64));
        if self.defined.len() <= word {
            self.defined.resize(word + 1, 0);
        }
        if self.defined[word] & bit != 0 {
            return Err(Reason::Redefined { var });
        }
        self.defined[word] |= bit;
        Ok(())
    }

    /// The dimensions that the loops in scope give an address; those it does not mention come
    /// with stride 0.
    pub(super) fn loops(&self, addr: &Addr) -> impl Iterator<Item = (i64, i64)> {
        self.scope.loops().map(|b| (b.extent, addr.coeff(b.var)))
    }

    /// The dimensions that the variables an address mentions give it.
    pub(super) fn mentioned(&self, addr: &Addr) -> impl Iterator<Item = (i64, i64)> {
        addr.terms
            .iter()
            .filter_map(|&(var, coeff)| Some((self.scope.extent(var)?, coeff)))
    }

    fn record(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For { .. } => {}
            Stmt::Check { index, dims, .. } => self.read(index, dims.iter().copied()),
            Stmt::Index { place, .. } => self.read(place, std::iter::empty()),
            Stmt::Move(m) => {
                self.write(&m.dst, m.dims.iter().map(|d| (d.extent, d.dst)));
                self.read(&m.src, m.dims.iter().map(|d| (d.extent, d.src)));
            }
            Stmt::Gather(g) => {
                let rows = g.dims.iter().map(|d| (d.extent, d.dst));
                self.write(&g.dst, rows.chain([(g.extent, g.dst_stride)]));
                let rows = g.dims.iter().map(|d| (d.extent, d.src));
                self.read(&g.src, rows.chain([(g.norm.limit, g.coeff)]));
                self.read(&g.index, std::iter::once((g.extent, g.index_stride)));
            }
            Stmt::Fill { dst, dims, .. } => self.write(dst, dims.iter().copied()),
        }
    }

    fn write(&mut self, dst: &Place, own: impl Iterator<Item = (i64, i64)> + Clone) {
        let set = Strided::new(dst.addr.base, self.loops(&dst.addr).chain(own.clone()));
        self.writes.push(Write {
            buffer: dst.buffer,
            set,
            stmt: self.stmt,
        });
        if self.is_scratch(dst.buffer) {
            let access = Access::new(self, dst, own, true);
            self.accesses.push(access);
        } else {
            self.output_written = true;
        }
    }

    fn read(&mut self, src: &Place, own: impl Iterator<Item = (i64, i64)>) {
        if self.is_scratch(src.buffer) {
            let access = Access::new(self, src, own, false);
            self.accesses.push(access);
        }
    }

    fn is_scratch(&self, id: BufferId) -> bool {
        self.kernel
            .buffer(id)
            .is_some_and(|b| b.role == Role::Scratch)
    }
}
