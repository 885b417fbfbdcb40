//! What a kernel means: where each byte of its outputs comes from.
//!
//! This walks the statements and nothing else; it knows neither forms nor code.

use std::collections::HashSet;

use restride_loops::{Addr, BufferId, Gather, Kernel, Norm, Place, Role, Stmt, Var};

use crate::call::columns;
use crate::label::{Label, Sources};
use crate::violation::{Kind, Limit, Stop};

/// The outcome of a run.
pub(crate) struct Meaning {
    /// By buffer: for outputs, what every byte becomes, or nothing where it is left alone.
    pub(crate) outputs: Vec<Option<Vec<Label>>>,
    /// The check that fails, if one does.
    pub(crate) failure: Option<FailedCheck>,
    /// The first bytes of the indices that checks looked at.
    pub(crate) checked: HashSet<Label>,
}

/// A check that fails.
pub(crate) struct FailedCheck {
    pub(crate) phase: usize,
    /// The number of the check in the kernel, from 1.
    pub(crate) check: u64,
    /// The code that the kernel gives it.
    pub(crate) code: u32,
}

/// What ends a run of a kernel before its end.
enum End {
    /// The number of a check, and its code.
    Check(u64, u32),
    Stop(Stop),
}

/// What is done at a point of a box, given its place in each column.
type Visit<'f, S, const N: usize> = dyn FnMut(&mut S, [i64; N]) -> Result<(), End> + 'f;

impl<S: Into<Stop>> From<S> for End {
    fn from(stop: S) -> Self {
        Self::Stop(stop.into())
    }
}

const IMPOSSIBLE: Kind = Kind::Kernel {
    what: "an address outside of its buffer",
};

/// Runs a kernel on labels.
pub(crate) fn meaning(kernel: &Kernel, sources: &Sources, limit: u64) -> Result<Meaning, Stop> {
    let stores = kernel
        .buffers
        .iter()
        .map(|buffer| match &buffer.role {
            Role::In(_) | Role::Const(_) => Vec::new(),
            Role::Out(..) | Role::Scratch => vec![Label::NOTHING; buffer.bytes().unwrap_or(0)],
        })
        .collect();
    let mut walk = KernelWalk {
        kernel,
        sources,
        stores,
        scope: Vec::new(),
        checked: HashSet::new(),
        steps: 0,
        limit,
    };
    let mut failure = None;
    let mut checks = 1;
    for (number, phase) in kernel.phases.iter().enumerate() {
        match walk.block(phase, checks) {
            Ok(()) => {}
            Err(End::Check(check, code)) => {
                let phase = number;
                failure = Some(FailedCheck { phase, check, code });
                break;
            }
            Err(End::Stop(stop)) => return Err(stop),
        }
        walk.scope.clear();
        checks += phase.iter().map(checks_in).sum::<u64>();
    }
    let checked = std::mem::take(&mut walk.checked);
    let outputs = kernel
        .buffers
        .iter()
        .zip(walk.stores)
        .map(|(buffer, labels)| match &buffer.role {
            Role::Out(..) => Some(labels),
            Role::In(_) | Role::Const(_) | Role::Scratch => None,
        })
        .collect();
    Ok(Meaning {
        outputs,
        failure,
        checked,
    })
}

/// How many checks a statement contains.
fn checks_in(stmt: &Stmt) -> u64 {
    match stmt {
        Stmt::For { body, .. } => body.iter().map(checks_in).sum(),
        Stmt::Check { .. } => 1,
        Stmt::Index { .. } | Stmt::Move(_) | Stmt::Gather(_) | Stmt::Fill { .. } => 0,
    }
}

struct KernelWalk<'a> {
    kernel: &'a Kernel,
    sources: &'a Sources,
    stores: Vec<Vec<Label>>,
    /// Loop variables and indices; nothing for one out of range.
    scope: Vec<(Var, Option<i64>)>,
    checked: HashSet<Label>,
    steps: u64,
    limit: u64,
}

impl KernelWalk<'_> {
    /// Statements whose first check has the number `check`.
    fn block(&mut self, stmts: &[Stmt], mut check: u64) -> Result<(), End> {
        for stmt in stmts {
            self.stmt(stmt, check)?;
            check += checks_in(stmt);
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt, check: u64) -> Result<(), End> {
        match stmt {
            Stmt::For {
                var, extent, body, ..
            } => {
                let outside = self.scope.len();
                for at in 0..*extent {
                    self.step()?;
                    self.scope.push((*var, Some(at)));
                    self.block(body, check)?;
                    self.scope.truncate(outside);
                }
            }
            Stmt::Check {
                index,
                dims,
                norm,
                code,
            } => {
                let first = self.address(&index.addr).ok_or(IMPOSSIBLE)?;
                // A step of stride 0 looks at the same indices again.
                let apart = dims.iter().filter(|d| d.1 != 0);
                let dims: Vec<(i64, [i64; 1])> = apart.map(|d| (d.0, [d.1])).collect();
                self.each(&dims, [first], &mut |walk, [at]| {
                    let [first, ..] = walk.read(index.buffer, at)?;
                    walk.checked.insert(first);
                    let value = walk.integer(index.buffer, at, norm)?;
                    match norm.within(value) {
                        Some(_) => Ok(()),
                        None => Err(End::Check(check, *code)),
                    }
                })?;
            }
            Stmt::Index { var, place, norm } => {
                let value = match self.address(&place.addr) {
                    Some(at) => norm.select(self.integer(place.buffer, at, norm)?),
                    None => None,
                };
                self.scope.push((*var, value));
            }
            Stmt::Move(m) => {
                let dst = self.address(&m.dst.addr).ok_or(IMPOSSIBLE)?;
                let src = self.address(&m.src.addr);
                self.copy(&m.dims, (m.dst.buffer, dst), (m.src.buffer, src))?;
            }
            Stmt::Gather(g) => self.gather(g)?,
            Stmt::Fill { dst, dims, bits } => {
                let first = self.address(&dst.addr).ok_or(IMPOSSIBLE)?;
                let element = bits.to_le_bytes().map(Label::literal);
                let dims: Vec<(i64, [i64; 1])> = dims.iter().map(|d| (d.0, [d.1])).collect();
                self.each(&dims, [first], &mut |walk, [at]| {
                    walk.write(dst.buffer, at, &element)
                })?;
            }
        }
        Ok(())
    }

    fn gather(&mut self, g: &Gather) -> Result<(), End> {
        let dst = self.address(&g.dst.addr).ok_or(IMPOSSIBLE)?;
        let (src, index) = (self.address(&g.src.addr), self.address(&g.index.addr));
        for row in 0..g.extent {
            let named = match index {
                Some(first) => {
                    let at = first + row * g.index_stride;
                    g.norm.select(self.integer(g.index.buffer, at, &g.norm)?)
                }
                None => None,
            };
            let from = src.zip(named).map(|(src, named)| src + named * g.coeff);
            let to = dst + row * g.dst_stride;
            self.copy(&g.dims, (g.dst.buffer, to), (g.src.buffer, from))?;
        }
        Ok(())
    }

    fn copy(
        &mut self,
        dims: &[restride_loops::Dim],
        dst: (BufferId, i64),
        src: (BufferId, Option<i64>),
    ) -> Result<(), End> {
        let dims = columns(dims);
        let start = [dst.1, src.1.unwrap_or(0)];
        self.each(&dims, start, &mut |walk, [to, from]| {
            let element = match src.1 {
                Some(_) => walk.read(src.0, from)?,
                None => [Label::ZERO; 16],
            };
            walk.write(dst.0, to, &element)
        })
    }

    /// Every point of a box.
    fn each<const N: usize>(
        &mut self,
        dims: &[(i64, [i64; N])],
        start: [i64; N],
        f: &mut Visit<'_, Self, N>,
    ) -> Result<(), End> {
        let Some(((extent, strides), inner)) = dims.split_first() else {
            self.step()?;
            return f(self, start);
        };
        for step in 0..*extent {
            let at = std::array::from_fn(|column| start[column] + step * strides[column]);
            self.each(inner, at, f)?;
        }
        Ok(())
    }

    fn width(&self, buffer: BufferId) -> usize {
        self.kernel.buffer(buffer).map_or(1, |b| b.width.bytes())
    }

    fn span(&self, buffer: BufferId, at: i64) -> Result<std::ops::Range<usize>, End> {
        let bytes = self.kernel.buffer(buffer).and_then(|b| b.bytes());
        let width = self.width(buffer);
        let start = usize::try_from(at)
            .ok()
            .and_then(|at| at.checked_mul(width));
        match (start, bytes) {
            (Some(start), Some(bytes)) if start < bytes => Ok(start..start + width),
            _ => Err(IMPOSSIBLE.into()),
        }
    }

    fn read(&self, buffer: BufferId, at: i64) -> Result<[Label; 16], End> {
        let span = self.span(buffer, at)?;
        let mut element = [Label::ZERO; 16];
        match self.sources.first(buffer.0 as usize) {
            Some(first) => {
                for (lane, byte) in element.iter_mut().zip(span) {
                    *lane = first.plus(byte);
                }
            }
            None => {
                let store = self.stores.get(buffer.0 as usize);
                let from = store.and_then(|store| store.get(span)).ok_or(IMPOSSIBLE)?;
                element[..from.len()].copy_from_slice(from);
            }
        }
        Ok(element)
    }

    fn write(&mut self, buffer: BufferId, at: i64, element: &[Label; 16]) -> Result<(), End> {
        let span = self.span(buffer, at)?;
        let store = self.stores.get_mut(buffer.0 as usize);
        let to = store
            .and_then(|store| store.get_mut(span))
            .ok_or(IMPOSSIBLE)?;
        let width = to.len();
        to.copy_from_slice(&element[..width]);
        Ok(())
    }

    fn integer(&self, buffer: BufferId, at: i64, norm: &Norm) -> Result<i128, End> {
        let element = self.read(buffer, at)?;
        let bits = self.sources.number(&element[..self.width(buffer).min(8)]);
        let bits = bits.ok_or(Kind::Kernel {
            what: "an index that is not a number",
        })?;
        Ok(norm.ty.widen(bits))
    }

    /// An address; nothing when it depends on an index out of range.
    fn address(&self, addr: &Addr) -> Option<i64> {
        addr.terms.iter().try_fold(addr.base, |sum, (var, coeff)| {
            let (_, value) = self.scope.iter().rev().find(|(known, _)| known == var)?;
            Some(sum.wrapping_add((*value)?.wrapping_mul(*coeff)))
        })
    }

    fn step(&mut self) -> Result<(), End> {
        self.steps += 1;
        if self.steps > self.limit {
            return Err(Limit::Steps { limit: self.limit }.into());
        }
        Ok(())
    }
}

/// Visits what is copied: from which buffer each statement moves data to which, destination first.
pub(crate) fn copies(kernel: &Kernel, mut each: impl FnMut(usize, usize)) {
    kernel.visit(|stmt| {
        let (dst, src) = match stmt {
            Stmt::Move(m) => (&m.dst, &m.src),
            Stmt::Gather(g) => (&g.dst, &g.src),
            Stmt::For { .. } | Stmt::Check { .. } | Stmt::Index { .. } | Stmt::Fill { .. } => {
                return;
            }
        };
        each(dst.buffer.0 as usize, src.buffer.0 as usize);
    });
}

/// The buffers that hold indices, themselves or by way of others.
pub(crate) fn numeric(kernel: &Kernel) -> Vec<bool> {
    let mut numeric = vec![false; kernel.buffers.len()];
    let mut mark = |place: &Place| {
        if let Some(slot) = numeric.get_mut(place.buffer.0 as usize) {
            *slot = true;
        }
    };
    kernel.visit(|stmt| match stmt {
        Stmt::Check { index, .. } => mark(index),
        Stmt::Index { place, .. } => mark(place),
        Stmt::Gather(g) => mark(&g.index),
        Stmt::For { .. } | Stmt::Move(_) | Stmt::Fill { .. } => {}
    });
    for _ in 0..kernel.buffers.len() {
        let before = numeric.clone();
        copies(kernel, |dst, src| {
            if numeric.get(dst) == Some(&true)
                && let Some(slot) = numeric.get_mut(src)
            {
                *slot = true;
            }
        });
        if numeric == before {
            break;
        }
    }
    numeric
}
