//! The order in which a kernel touches memory, element by element.

use std::collections::BTreeMap;

use restride_graph::Strided;
use restride_loops::{BufferId, Dim, Norm, Place, Role, Stmt, Verified};

/// Statements and elements looked at; what is longer is cut.
const MAX_STEPS: usize = 1 << 21;

/// An element is written, and maybe read from somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) dst: (BufferId, i64),
    pub(super) src: Option<(BufferId, i64)>,
}

/// A walk, and whether it is the whole of it.
pub(super) struct MemoryWalk {
    pub(super) touches: Vec<Touch>,
    pub(super) cut: bool,
}

/// Walks a kernel, boxes in the order of their dimensions. Indices are read from the inputs, by
/// number; those that the kernel computes itself count as 0.
pub(super) fn walk(kernel: &Verified, inputs: &[Vec<u8>]) -> MemoryWalk {
    let mut walker = Walker {
        kernel,
        inputs,
        values: BTreeMap::new(),
        touches: Vec::new(),
        steps: 0,
    };
    for phase in &kernel.phases {
        walker.block(phase);
    }
    MemoryWalk {
        cut: walker.is_full(),
        touches: walker.touches,
    }
}

/// Where the elements of a view lie, in row-major order, as far as is looked at.
pub(super) fn of_view(shape: &[i64], layout: &Strided) -> Vec<i64> {
    let mut places = Vec::new();
    if shape.contains(&0) {
        return places;
    }
    let mut index = vec![0i64; shape.len()];
    while places.len() < MAX_STEPS {
        let steps = index.iter().zip(&layout.strides);
        places.push(steps.fold(layout.offset, |at, (i, stride)| {
            at.wrapping_add(i.wrapping_mul(*stride))
        }));
        let Some(axis) = (0..shape.len()).rfind(|axis| index[*axis] + 1 < shape[*axis]) else {
            break;
        };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
    places
}

struct Walker<'k> {
    kernel: &'k Verified,
    inputs: &'k [Vec<u8>],
    /// Loop variables and indices; an index out of range is `None`.
    values: BTreeMap<u32, Option<i64>>,
    touches: Vec<Touch>,
    steps: usize,
}

impl Walker<'_> {
    fn is_full(&self) -> bool {
        self.steps >= MAX_STEPS
    }

    /// The verifier bounds the depth of loops.
    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if self.is_full() {
                return;
            }
            self.steps += 1;
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::For {
                var, extent, body, ..
            } => {
                for i in 0..*extent {
                    if self.is_full() {
                        return;
                    }
                    self.steps += 1;
                    self.values.insert(var.0, Some(i));
                    self.block(body);
                }
            }
            Stmt::Check { .. } => {}
            Stmt::Index { var, place, norm } => {
                let value = self
                    .address(place)
                    .and_then(|at| self.index(place.buffer, at, norm));
                self.values.insert(var.0, value);
            }
            Stmt::Move(m) => {
                let Some(dst) = self.address(&m.dst) else {
                    return;
                };
                let src = self.address(&m.src);
                self.cells(
                    (m.dst.buffer, dst),
                    src.map(|at| (m.src.buffer, at)),
                    &m.dims,
                );
            }
            Stmt::Gather(g) => {
                let bases = (
                    self.address(&g.dst),
                    self.address(&g.src),
                    self.address(&g.index),
                );
                let (Some(dst), Some(src), Some(index)) = bases else {
                    return;
                };
                for row in 0..g.extent {
                    if self.is_full() {
                        return;
                    }
                    self.steps += 1;
                    let at = index.wrapping_add(row.wrapping_mul(g.index_stride));
                    let x = self.index(g.index.buffer, at, &g.norm);
                    let dst = dst.wrapping_add(row.wrapping_mul(g.dst_stride));
                    let src = x.map(|x| (g.src.buffer, src.wrapping_add(x.wrapping_mul(g.coeff))));
                    self.cells((g.dst.buffer, dst), src, &g.dims);
                }
            }
            Stmt::Fill { dst, dims, .. } => {
                let Some(at) = self.address(dst) else {
                    return;
                };
                let dims = dims.iter().map(|&(extent, dst)| Dim {
                    extent,
                    dst,
                    src: 0,
                });
                let dims: Vec<Dim> = dims.collect();
                self.cells((dst.buffer, at), None, &dims);
            }
        }
    }

    /// Every element of a box.
    fn cells(&mut self, dst: (BufferId, i64), src: Option<(BufferId, i64)>, dims: &[Dim]) {
        let mut digits = vec![0i64; dims.len()];
        loop {
            if self.is_full() {
                return;
            }
            self.steps += 1;
            let offset = |stride: fn(&Dim) -> i64| {
                let terms = digits.iter().zip(dims);
                terms.fold(0i64, |sum, (digit, dim)| {
                    sum.wrapping_add(digit.wrapping_mul(stride(dim)))
                })
            };
            self.touches.push(Touch {
                dst: (dst.0, dst.1.wrapping_add(offset(|dim| dim.dst))),
                src: src.map(|(buffer, at)| (buffer, at.wrapping_add(offset(|dim| dim.src)))),
            });
            let Some(axis) = (0..dims.len())
                .rev()
                .find(|k| digits[*k] + 1 < dims[*k].extent)
            else {
                return;
            };
            digits[axis] += 1;
            digits[axis + 1..].fill(0);
        }
    }

    fn address(&self, place: &Place) -> Option<i64> {
        let mut at = place.addr.base;
        for (var, coeff) in &place.addr.terms {
            let value = self.values.get(&var.0).copied().flatten()?;
            at = at.wrapping_add(value.wrapping_mul(*coeff));
        }
        Some(at)
    }

    fn index(&self, buffer: BufferId, at: i64, norm: &Norm) -> Option<i64> {
        let bytes: &[u8] = match &self.kernel.buffer(buffer)?.role {
            Role::In(n) => self.inputs.get(*n as usize)?,
            Role::Const(bytes) => bytes,
            Role::Scratch | Role::Out(..) => return norm.select(0),
        };
        let width = norm.ty.width().bytes();
        let start = usize::try_from(at).ok()?.checked_mul(width)?;
        let element = bytes.get(start..start.checked_add(width)?)?;
        let bits = element
            .iter()
            .rev()
            .fold(0u64, |n, b| n << 8 | u64::from(*b));
        norm.select(norm.ty.widen(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_loops_boxes_and_indices() {
        let text = r#"
            kernel "k" {
              b0 = in 0 w1 [6]
              b1 = in 1 w1 [2]
              b2 = out 0 w1 [6]
              for v0 in 0..2 { move b2[2*v0] <- b0[3*v0] box [(2, 1, 1)] }
              gather 2 rows b2[4] step 1 <- b0[0] step 1 at b1[0] step 1 u8 limit 6 zero
            }"#;
        let kernel = restride_loops::verify(text.parse().expect("text")).expect("sound");
        let walk = walk(&kernel, &[vec![0; 6], vec![5, 9]]);
        let pairs: Vec<(i64, Option<i64>)> = walk
            .touches
            .iter()
            .map(|touch| (touch.dst.1, touch.src.map(|src| src.1)))
            .collect();
        let expected = [
            (0, Some(0)),
            (1, Some(1)),
            (2, Some(3)),
            (3, Some(4)),
            (4, Some(5)),
            (5, None),
        ];
        assert_eq!(pairs, expected);
        assert!(!walk.cut);
    }
}
