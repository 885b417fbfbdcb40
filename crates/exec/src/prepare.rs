//! Kernels to nodes.

use restride_leaves::{GatherLeaf, Leaf, MovePlan, Planner, PrepareError, Weave};
use restride_loops::{Addr, Dim, Gather, Kernel, Move, Norm, Place, Stmt, Var};
use smallvec::SmallVec;

use crate::frame::Address;
use crate::node::{CheckDim, GatherNode, Phases, PreparedCheck, PreparedStmt, WovenNode};
use crate::pace::{Loops, is_long};
use crate::slots::{Loaded, Slots};

/// The phases of a kernel, how many slots a frame of it needs, and after how many runs machine code would pay.
pub(crate) fn prepare(
    kernel: &Kernel,
    planner: &Planner,
) -> Result<(Phases, usize, Option<u32>), PrepareError> {
    let mut preparer = Preparer {
        kernel,
        planner,
        slots: Slots::new(kernel),
        last: None,
        times: 1,
        loops: Loops::of(kernel),
    };
    let phases = kernel
        .phases
        .iter()
        .map(|phase| preparer.block(phase))
        .collect::<Result<_, _>>()?;
    let pays_after = preparer.loops.and_then(|loops| loops.pay_after());
    Ok((phases, preparer.slots.count(), pays_after))
}

struct Preparer<'k> {
    kernel: &'k Kernel,
    planner: &'k Planner,
    slots: Slots,
    /// The last move.
    last: Option<MovePlan>,
    /// How often a statement is run.
    times: u64,
    /// What machine code gains where nothing but its moves may be faster.
    loops: Option<Loops>,
}

impl Preparer<'_> {
    fn block(&mut self, stmts: &[Stmt]) -> Result<Vec<PreparedStmt>, PrepareError> {
        let mut loaded = Loaded::default();
        // As many as there are, and no more: these are kept.
        let mut nodes = Vec::with_capacity(stmts.len());
        let mut left = stmts;
        while let Some((stmt, rest)) = left.split_first() {
            if let Some((woven, moves)) = self.woven(left)? {
                nodes.push(woven);
                let (moves, rest) = left.split_at(moves);
                self.slots.skip(moves);
                self.slots.give_up(&mut loaded);
                left = rest;
                continue;
            }
            self.slots.step();
            nodes.push(self.stmt(stmt, &mut loaded)?);
            self.slots.give_up(&mut loaded);
            left = rest;
        }
        Ok(nodes)
    }

    /// Several moves as one statement, and how many.
    fn woven(&self, stmts: &[Stmt]) -> Result<Option<(PreparedStmt, usize)>, PrepareError> {
        let is_index = |var: &Var| self.slots.find(*var).is_none_or(|slot| slot.is_index);
        let steady = |it: &Move| !it.src.addr.terms.iter().any(|(var, _)| is_index(var));
        let Some(Weave { moves, leaf, .. }) = Weave::of(stmts, steady, self.kernel, self.planner)
        else {
            return Ok(None);
        };
        let sources = moves.iter().map(|it| self.address(&it.src));
        let woven = WovenNode {
            leaf,
            dst: self.address(&moves[0].dst)?,
            src: sources.collect::<Result<_, _>>()?,
        };
        Ok(Some((PreparedStmt::Woven(Box::new(woven)), moves.len())))
    }

    fn stmt(&mut self, stmt: &Stmt, loaded: &mut Loaded) -> Result<PreparedStmt, PrepareError> {
        match stmt {
            Stmt::For {
                var,
                extent,
                parallel,
                body,
            } => {
                let before = self.loops;
                let whole = match folded(stmt) {
                    Some(leaf) if !is_long(self.kernel, body) => Some(self.leaf(&leaf)?),
                    Some(_) | None => None,
                };
                match whole {
                    Some(leaf) if !parallel => {
                        self.slots.skip(body);
                        Ok(leaf)
                    }
                    whole => {
                        let slot = self.slots.enter(*var, *extent);
                        let outside = self.times;
                        // Machine code has the loop.
                        self.loops = before;
                        self.times = outside.saturating_mul(extent.unsigned_abs());
                        let body = self.block(body)?;
                        self.times = outside;
                        self.slots.leave();
                        Ok(PreparedStmt::Loop {
                            slot,
                            extent: *extent,
                            parallel: *parallel,
                            body,
                            whole: whole.map(Box::new),
                        })
                    }
                }
            }
            Stmt::Index { var, place, norm } => {
                let place = self.address(place)?;
                Ok(PreparedStmt::Index {
                    slot: self.slots.load(*var, loaded),
                    place,
                    norm: *norm,
                })
            }
            Stmt::Check {
                index,
                dims,
                norm,
                code,
            } => self.check(index, dims, norm, *code),
            Stmt::Move(m) => self.leaf_move(m),
            Stmt::Gather(g) => self.leaf_gather(g),
            Stmt::Fill { dst, dims, bits } => self.leaf_fill(dst, dims, *bits),
        }
    }

    fn leaf(&mut self, leaf: &Leaflike) -> Result<PreparedStmt, PrepareError> {
        match leaf {
            Leaflike::Move(m) => self.leaf_move(m),
            Leaflike::Gather(g) => self.leaf_gather(g),
            Leaflike::Fill { dst, dims, bits } => self.leaf_fill(dst, dims, *bits),
        }
    }

    fn check(
        &self,
        index: &Place,
        dims: &[(i64, i64)],
        norm: &Norm,
        code: u32,
    ) -> Result<PreparedStmt, PrepareError> {
        let width = self.width(index)?;
        let mut count = 1u64;
        let mut dims: SmallVec<[CheckDim; 6]> = dims
            .iter()
            .rev()
            .map(|&(extent, stride)| {
                let weight = count;
                count = count.wrapping_mul(extent as u64);
                CheckDim {
                    extent,
                    stride: (stride as isize).wrapping_mul(width as isize),
                    weight,
                }
            })
            .filter(|dim| dim.stride != 0)
            .collect();
        dims.reverse();
        Ok(PreparedStmt::Check(Box::new(PreparedCheck {
            index: self.address(index)?,
            dims,
            count,
            norm: *norm,
            code,
            loops: self.slots.loops().collect(),
        })))
    }

    fn leaf_move(&mut self, m: &Move) -> Result<PreparedStmt, PrepareError> {
        let width = self.width(&m.dst)?;
        let src = self.address(&m.src)?;
        let zeros = || m.dims.iter().map(|dim| (dim.extent, dim.dst)).collect();
        let leaf = Leaf::prepare_after(&mut self.last, &m.dims, width, m.form, self.planner)?;
        if let (Some(loops), Some(plan)) = (&mut self.loops, &self.last)
            && let Some(saved) = self.planner.saved_by_loops(plan, m.form)
        {
            loops.save(saved, self.times);
        }
        Ok(PreparedStmt::Move {
            leaf,
            zero: self.zero(src.is_indexed(), zeros, width)?.map(Box::new),
            dst: self.address(&m.dst)?,
            src,
        })
    }

    fn leaf_gather(&self, g: &Gather) -> Result<PreparedStmt, PrepareError> {
        let width = self.width(&g.dst)?;
        let (src, index) = (self.address(&g.src)?, self.address(&g.index)?);
        let named = self.kernel.named_rows(g);
        let zeros = || {
            let rows = std::iter::once((g.extent, g.dst_stride));
            rows.chain(g.dims.iter().map(|dim| (dim.extent, dim.dst)))
                .collect()
        };
        Ok(PreparedStmt::Gather(Box::new(GatherNode {
            leaf: GatherLeaf::prepare(g, width, named, self.planner)?,
            zero: self.zero(src.is_indexed() || index.is_indexed(), zeros, width)?,
            dst: self.address(&g.dst)?,
            src,
            index,
        })))
    }

    fn leaf_fill(
        &self,
        dst: &Place,
        dims: &[(i64, i64)],
        bits: u128,
    ) -> Result<PreparedStmt, PrepareError> {
        Ok(PreparedStmt::Fill {
            leaf: Leaf::prepare_fill(dims, self.width(dst)?, bits, self.planner)?,
            dst: self.address(dst)?,
        })
    }

    fn zero(
        &self,
        needed: bool,
        dims: impl FnOnce() -> Vec<(i64, i64)>,
        width: usize,
    ) -> Result<Option<Leaf>, PrepareError> {
        match needed {
            true => Leaf::prepare_fill(&dims(), width, 0, self.planner).map(Some),
            false => Ok(None),
        }
    }

    /// The element width of a place's buffer, which a verified kernel has.
    fn width(&self, place: &Place) -> Result<usize, PrepareError> {
        match self.kernel.buffer(place.buffer) {
            Some(buffer) => Ok(buffer.width.bytes()),
            None => Err(PrepareError::Unknown),
        }
    }

    /// An address in bytes. The products wrap like the sums; see [`Address::offset`].
    fn address(&self, place: &Place) -> Result<Address, PrepareError> {
        let width = self.width(place)? as isize;
        let in_bytes = |elements: i64| (elements as isize).wrapping_mul(width);
        let mut address = Address::new(place.buffer.0, in_bytes(place.addr.base));
        for &(var, coeff) in &place.addr.terms {
            let slot = self.slots.find(var).ok_or(PrepareError::Unknown)?;
            address.grow(&slot, in_bytes(coeff));
        }
        Ok(address)
    }
}

/// Statements that are one leaf.
enum Leaflike {
    Move(Move),
    Gather(Gather),
    Fill {
        dst: Place,
        dims: SmallVec<[(i64, i64); 6]>,
        bits: u128,
    },
}

/// A statement as one leaf, with the loops around it as dimensions, if that can be.
fn folded(stmt: &Stmt) -> Option<Leaflike> {
    let (var, extent, body) = match stmt {
        Stmt::For {
            var, extent, body, ..
        } => (*var, *extent, body.as_slice()),
        Stmt::Move(m) => return Some(Leaflike::Move(m.clone())),
        Stmt::Gather(g) => return Some(Leaflike::Gather((**g).clone())),
        Stmt::Fill { dst, dims, bits } => {
            return Some(Leaflike::Fill {
                dst: dst.clone(),
                dims: dims.clone(),
                bits: *bits,
            });
        }
        Stmt::Check { .. } | Stmt::Index { .. } => return None,
    };
    if let [
        Stmt::Index {
            var: index,
            place,
            norm,
        },
        Stmt::Move(m),
    ] = body
    {
        return gathered(var, extent, *index, place, *norm, m).map(Leaflike::Gather);
    }
    let [inner] = body else { return None };
    match folded(inner)? {
        Leaflike::Move(mut m) => {
            let (dst, src) = (take(&mut m.dst.addr, var), take(&mut m.src.addr, var));
            m.dims.insert(0, Dim { extent, dst, src });
            Some(Leaflike::Move(m))
        }
        Leaflike::Fill {
            mut dst,
            mut dims,
            bits,
        } => {
            dims.insert(0, (extent, take(&mut dst.addr, var)));
            Some(Leaflike::Fill { dst, dims, bits })
        }
        // Gathers have one dimension of indices, which serve all of a box.
        Leaflike::Gather(mut g) if g.index.addr.coeff(var) == 0 => {
            let (dst, src) = (take(&mut g.dst.addr, var), take(&mut g.src.addr, var));
            g.dims.insert(0, Dim { extent, dst, src });
            Some(Leaflike::Gather(g))
        }
        Leaflike::Gather(_) => None,
    }
}

/// A loop around an index and a move of the rows it names.
fn gathered(
    var: Var,
    extent: i64,
    index: Var,
    place: &Place,
    norm: Norm,
    m: &Move,
) -> Option<Gather> {
    let mut m = m.clone();
    let mut place = place.clone();
    let coeff = take(&mut m.src.addr, index);
    // A row must be named by the index alone.
    if coeff == 0 || m.src.addr.coeff(var) != 0 {
        return None;
    }
    let index_stride = take(&mut place.addr, var);
    let dst_stride = take(&mut m.dst.addr, var);
    Some(Gather {
        extent,
        index: place,
        index_stride,
        norm,
        dst: m.dst,
        dst_stride,
        src: m.src,
        coeff,
        dims: m.dims,
    })
}

/// Removes a variable from an address; its coefficient, 0 when it was not there.
fn take(addr: &mut Addr, var: Var) -> i64 {
    match addr.terms.iter().position(|&(v, _)| v == var) {
        Some(at) => addr.terms.remove(at).1,
        None => 0,
    }
}
