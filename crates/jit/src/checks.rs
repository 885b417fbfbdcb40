//! Checks of index tensors: the scan that generated code calls, and the one that finds the culprit
//! after a check has failed.

use std::ops::Range;
use std::sync::Arc;

use restride_leaves::{read_index, row_holds};
use restride_loops::{Buffer, BufferId, Kernel, Norm, Place, Role, Stmt, Var};
use restride_moves::Step;
use smallvec::SmallVec;

use crate::error::{BadIndex, RunError};

/// A box of indices, in bytes, and what they must satisfy. Dimensions of stride 0 are left out:
/// they show the same indices again, and the first position of each is the one that counts.
#[derive(Clone, Debug)]
pub(crate) struct CheckBox {
    /// In the order of the statement, which is the order of positions.
    dims: SmallVec<[Dim; 4]>,
    /// The same box with as long rows as possible: extents and strides.
    joined: SmallVec<[(i64, i64); 4]>,
    /// How many positions it has, those of stride 0 among them.
    positions: u64,
    norm: Norm,
}

#[derive(Clone, Copy, Debug)]
struct Dim {
    extent: i64,
    stride: i64,
    /// Positions per step.
    weight: u64,
}

impl CheckBox {
    pub(crate) fn new(dims: &[(i64, i64)], norm: Norm) -> Self {
        let width = norm.ty.width().bytes() as i64;
        let mut positions = 1u64;
        let mut dims: SmallVec<[Dim; 4]> = dims
            .iter()
            .rev()
            .map(|&(extent, stride)| {
                let weight = positions;
                positions = positions.wrapping_mul(extent as u64);
                Dim {
                    extent,
                    stride: stride.wrapping_mul(width),
                    weight,
                }
            })
            .filter(|dim| dim.extent != 1 && dim.stride != 0)
            .collect();
        dims.reverse();
        let mut joined = SmallVec::<[(i64, i64); 4]>::new();
        for &Dim { extent, stride, .. } in &dims {
            match joined.last_mut() {
                Some(last) if extent.checked_mul(stride) == Some(last.1) => {
                    *last = (last.0.saturating_mul(extent), stride);
                }
                _ => joined.push((extent, stride)),
            }
        }
        Self {
            dims,
            joined,
            positions,
            norm,
        }
    }

    /// How many indices it looks at.
    pub(crate) fn looks(&self) -> i64 {
        self.dims
            .iter()
            .fold(1, |n, dim| n.saturating_mul(dim.extent))
    }

    /// The same box as dimensions that are only read, with rows as long as possible.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Step> + '_ {
        self.joined.iter().map(|&(extent, stride)| Step {
            extent: usize::try_from(extent).unwrap_or_default(),
            dst: stride as isize,
            src: 0,
        })
    }

    /// The position and the byte offset of each of them, in order.
    pub(crate) fn places(&self) -> impl Iterator<Item = (u64, i64)> + '_ {
        (0..self.looks()).map(|number| {
            let mut rest = number;
            let start = (0u64, 0i64);
            self.dims
                .iter()
                .rev()
                .fold(start, |(position, offset), dim| {
                    let at = rest % dim.extent;
                    rest /= dim.extent;
                    (
                        position.wrapping_add(dim.weight.wrapping_mul(at as u64)),
                        offset.wrapping_add(dim.stride.wrapping_mul(at)),
                    )
                })
        })
    }

    /// Whether all are in range.
    ///
    /// # Safety
    /// Every index of the box, relative to `first`, can be read.
    unsafe fn holds(&self, first: *const u8) -> bool {
        let (row, outer) = match self.joined.split_last() {
            Some((row, outer)) => (*row, outer),
            None => ((1, 0), &self.joined[..]),
        };
        // SAFETY: the caller vouches for every index of the box, and the walk visits no other.
        unsafe { self.rows_hold(first, outer, row) }
    }

    /// # Safety
    /// As [`CheckBox::holds`].
    unsafe fn rows_hold(&self, at: *const u8, outer: &[(i64, i64)], row: (i64, i64)) -> bool {
        match outer.split_first() {
            None => {
                // SAFETY: the row is part of the box.
                unsafe { row_holds(&self.norm, at, row.0, row.1 as isize) }
            }
            Some((&(extent, stride), inner)) => (0..extent).all(|step| {
                let at = at.wrapping_offset(step.wrapping_mul(stride) as isize);
                // SAFETY: `at` is the first index of a smaller box within this one.
                unsafe { self.rows_hold(at, inner, row) }
            }),
        }
    }

    /// The position and value of the first index that is out of range.
    ///
    /// # Safety
    /// As [`CheckBox::holds`].
    unsafe fn first_bad(&self, first: *const u8) -> Option<(u64, i128)> {
        self.places().find_map(|(position, offset)| {
            let at = first.wrapping_offset(offset as isize);
            // SAFETY: the caller vouches for every index of the box.
            let value = unsafe { read_index(at, self.norm.ty) };
            match self.norm.within(value) {
                Some(_) => None,
                None => Some((position, value)),
            }
        })
    }
}

/// Called by generated code: 0 if every index of the box is in range.
///
/// # Safety
/// `params` points at a [`CheckBox`], and every index of it, relative to `first`, can be read.
pub(crate) unsafe extern "C" fn check_box(first: *const u8, params: *const CheckBox) -> u64 {
    // SAFETY: as promised by the caller.
    unsafe { u64::from(!(*params).holds(first)) }
}

/// The checks of a kernel, kept to find out which index failed.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// In program order; the number of a check is its place, from 1.
    all: Vec<Check>,
    /// Index tensors that belong to the kernel.
    constants: Vec<(BufferId, Arc<[u8]>)>,
}

impl Checks {
    /// About how many bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.all) + size_of_val(&*self.constants)
    }
}

/// One check and the loops around it, outermost first.
#[derive(Debug)]
struct Check {
    code: u32,
    index: Place,
    indices: CheckBox,
    loops: SmallVec<[(Var, i64); 2]>,
    /// The places, among all, of those that are one with it.
    one: Range<usize>,
}

impl Checks {
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let mut all = Vec::new();
        for phase in &kernel.phases {
            collect(phase, &mut SmallVec::new(), &mut all);
        }
        let of_kernel = |(id, buffer): (BufferId, &Buffer)| match &buffer.role {
            Role::Const(bytes) => Some((id, Arc::clone(bytes))),
            Role::In(_) | Role::Out(..) | Role::Scratch => None,
        };
        let mut constants: Vec<_> = kernel.numbered().filter_map(of_kernel).collect();
        constants.retain(|(id, _)| all.iter().any(|check: &Check| check.index.buffer == *id));
        Self { all, constants }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What the failure of the check with some number means: the first index that is out of range
    /// in it or in those that are one with it. No other check is looked at; what it would read may
    /// not have been written yet.
    ///
    /// # Safety
    /// `buffers` is the table the kernel was called with, valid as it was then.
    #[cold]
    pub(crate) unsafe fn explain(&self, number: u64, buffers: *const *mut u8) -> RunError {
        let at = usize::try_from(number.wrapping_sub(1)).unwrap_or(usize::MAX);
        let Some(check) = self.all.get(at) else {
            return RunError::Check {
                code: u32::MAX,
                found: BadIndex::Changed,
            };
        };
        let members = self.all.get(check.one.clone()).unwrap_or_default();
        let found = (0..check.iterations()).find_map(|iteration| {
            let failures = members.iter().zip(0u64..).filter_map(|(member, number)| {
                // SAFETY: the table has an entry for every buffer.
                let base = unsafe { self.base(member.index.buffer, buffers) };
                let first = base.wrapping_offset(member.offset(iteration) as isize);
                // SAFETY: the check itself read these indices, or would have; nothing stands
                // between it and those that are one with it.
                let (at, value) = unsafe { member.indices.first_bad(first) }?;
                let before = iteration.wrapping_mul(member.indices.positions);
                let position = before.wrapping_add(at).wrapping_mul(members.len() as u64);
                Some((position.wrapping_add(number), value))
            });
            let (position, value) = failures.min()?;
            Some(BadIndex::At { position, value })
        });
        RunError::Check {
            code: check.code,
            found: found.unwrap_or(BadIndex::Changed),
        }
    }

    /// # Safety
    /// The table has an entry for every buffer of the kernel.
    unsafe fn base(&self, id: BufferId, buffers: *const *mut u8) -> *const u8 {
        match self.constants.iter().find(|(known, _)| *known == id) {
            Some((_, bytes)) => bytes.as_ptr(),
            // SAFETY: as promised by the caller.
            None => unsafe { *buffers.add(id.0 as usize) },
        }
    }
}

impl Check {
    /// How often it runs.
    fn iterations(&self) -> u64 {
        self.loops
            .iter()
            .fold(1, |n: u64, (_, extent)| n.saturating_mul(*extent as u64))
    }

    /// Where its box begins in some iteration, in bytes.
    fn offset(&self, iteration: u64) -> i64 {
        let mut rest = iteration;
        let addr = &self.index.addr;
        let elements = self
            .loops
            .iter()
            .rev()
            .fold(addr.base, |sum, (var, extent)| {
                let at = (rest % *extent as u64) as i64;
                rest /= *extent as u64;
                sum.wrapping_add(addr.coeff(*var).wrapping_mul(at))
            });
        elements.wrapping_mul(self.indices.norm.ty.width().bytes() as i64)
    }
}

/// All checks of some statements, in program order.
fn collect(stmts: &[Stmt], loops: &mut SmallVec<[(Var, i64); 2]>, all: &mut Vec<Check>) {
    let mut previous: Option<u32> = None;
    for stmt in stmts {
        let before = previous.take();
        match stmt {
            Stmt::For {
                var, extent, body, ..
            } => {
                loops.push((*var, *extent));
                collect(body, loops, all);
                loops.pop();
            }
            Stmt::Check {
                index,
                dims,
                norm,
                code,
            } => {
                let own = all.len();
                let joined = all.last().filter(|_| before == Some(*code));
                let one = joined.map_or(own, |check| check.one.start)..own + 1;
                all[one.start..]
                    .iter_mut()
                    .for_each(|check| check.one = one.clone());
                previous = Some(*code);
                all.push(Check {
                    code: *code,
                    index: index.clone(),
                    indices: CheckBox::new(dims, *norm),
                    loops: loops.clone(),
                    one,
                });
            }
            Stmt::Index { .. } | Stmt::Move(_) | Stmt::Gather(_) | Stmt::Fill { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CheckBox, check_box};
    use restride_loops::{IndexType, Norm, Random};

    /// Every type, both signs of wrapping, rows and columns, against the definition.
    #[test]
    fn the_fast_scan_agrees_with_the_definition() {
        let mut random = Random::new(11);
        for _ in 0..20_000 {
            let ty = random.pick(&IndexType::ALL);
            let norm = Norm {
                ty,
                limit: random.pick(&[0, 1, 5, 128, 255, 256, 1 << 40, i64::MAX]),
                wrap: random.flip(),
                clamp: false,
            };
            let small = !random.one_in(4);
            let bytes: Vec<u8> = (0..96u64)
                .map(|at| {
                    let noise = random.bits();
                    let keep = !small || at % ty.width().bytes() as u64 == 0;
                    if keep {
                        noise as u8 & if small { 3 } else { 0xff }
                    } else {
                        0
                    }
                })
                .collect();
            let boxes = [
                &[(3, 4), (4, 1)][..],
                &[(12, 1)],
                &[(4, 3)],
                &[(1, 9)],
                &[],
                &[(3, 0), (2, 5), (2, 0), (3, 2)],
            ];
            let dims = random.pick(&boxes);
            let checked = CheckBox::new(dims, norm);
            let count: i64 = dims.iter().map(|d| d.0).product();
            let expected = (0..count).find_map(|position| {
                let mut rest = position;
                let at = dims.iter().rev().fold(0, |at, (extent, stride)| {
                    let digit = rest % extent;
                    rest /= extent;
                    at + digit * stride
                });
                let mut stored = [0; 8];
                let width = ty.width().bytes();
                stored[..width].copy_from_slice(&bytes[at as usize * width..][..width]);
                let value = ty.widen(u64::from_le_bytes(stored));
                let bad = norm.within(value).is_none();
                bad.then_some((position as u64, value))
            });
            // SAFETY: the largest box is 12 indices of at most 8 bytes.
            let (bad, first) = unsafe {
                (
                    check_box(bytes.as_ptr(), &raw const checked),
                    checked.first_bad(bytes.as_ptr()),
                )
            };
            assert_eq!(
                (bad == 0, first),
                (expected.is_none(), expected),
                "{checked:?}"
            );
        }
    }
}
