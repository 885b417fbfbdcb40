//! Checks of index tensors: the scan that generated code calls, and the one that finds the culprit
//! after a check has failed.

use std::sync::Arc;

use restride_loops::{BufferId, IndexType, Kernel, Norm, Place, Role, Stmt, Var};
use smallvec::SmallVec;

use crate::error::{BadIndex, RunError};

type Dims = SmallVec<[(i64, i64); 4]>;

/// A box of indices, in bytes, and what they must satisfy.
#[derive(Clone, Debug)]
pub(crate) struct CheckBox {
    /// In the order of the statement, which is the order of positions.
    dims: Dims,
    /// The same box with as long rows as possible.
    joined: Dims,
    norm: Norm,
}

impl CheckBox {
    pub(crate) fn new(dims: &[(i64, i64)], norm: Norm) -> Self {
        let width = norm.ty.width().bytes() as i64;
        let dims: Dims = dims
            .iter()
            .filter(|(extent, _)| *extent != 1)
            .map(|(extent, stride)| (*extent, stride.wrapping_mul(width)))
            .collect();
        let mut joined = Dims::new();
        for &(extent, stride) in &dims {
            match joined.last_mut() {
                Some(last) if extent.checked_mul(stride) == Some(last.1) => {
                    *last = (last.0.saturating_mul(extent), stride);
                }
                _ => joined.push((extent, stride)),
            }
        }
        Self { dims, joined, norm }
    }

    /// How many indices it has.
    pub(crate) fn count(&self) -> i64 {
        self.dims
            .iter()
            .fold(1, |n, (extent, _)| n.saturating_mul(*extent))
    }

    /// Byte offsets of all of them, in order.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.count()).map(|position| {
            let mut rest = position;
            self.dims
                .iter()
                .rev()
                .fold(0i64, |offset, (extent, stride)| {
                    let at = rest % extent;
                    rest /= extent;
                    offset.wrapping_add(at.wrapping_mul(*stride))
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
        (0u64..).zip(self.offsets()).find_map(|(position, offset)| {
            let at = first.wrapping_offset(offset as isize);
            // SAFETY: the caller vouches for every index of the box.
            let value = unsafe { read(self.norm.ty, at) };
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

/// One stored integer.
///
/// # Safety
/// `at` can be read.
unsafe fn read(ty: IndexType, at: *const u8) -> i128 {
    let mut bytes = [0; 8];
    // SAFETY: an index is as wide as its type.
    unsafe { std::ptr::copy_nonoverlapping(at, bytes.as_mut_ptr(), ty.width().bytes()) };
    ty.widen(u64::from_le_bytes(bytes))
}

/// Whether a row of `count` indices, `stride` bytes apart, is in range.
///
/// # Safety
/// Every index of the row can be read.
unsafe fn row_holds(norm: &Norm, first: *const u8, count: i64, stride: isize) -> bool {
    let low = if norm.wrap {
        -i128::from(norm.limit)
    } else {
        0
    };
    let high = i128::from(norm.limit) - 1;
    macro_rules! scan {
        ($ty:ty) => {{
            let low = low.max(i128::from(<$ty>::MIN));
            let high = high.min(i128::from(<$ty>::MAX));
            if low > high {
                return false;
            }
            let (low, high) = (low as $ty, high as $ty);
            // SAFETY: the caller vouches for every index of the row.
            let load = |at: i64, stride: isize| unsafe {
                first
                    .wrapping_offset((at as isize).wrapping_mul(stride))
                    .cast::<$ty>()
                    .read_unaligned()
            };
            const WIDTH: isize = size_of::<$ty>() as isize;
            if stride == WIDTH {
                (0..count).fold(true, |all, at| {
                    let value = load(at, WIDTH);
                    all & (value >= low) & (value <= high)
                })
            } else {
                (0..count).all(|at| (low..=high).contains(&load(at, stride)))
            }
        }};
    }
    match norm.ty {
        IndexType::I8 => scan!(i8),
        IndexType::U8 => scan!(u8),
        IndexType::I16 => scan!(i16),
        IndexType::U16 => scan!(u16),
        IndexType::I32 => scan!(i32),
        IndexType::U32 => scan!(u32),
        IndexType::I64 => scan!(i64),
        IndexType::U64 => scan!(u64),
    }
}

/// The checks of a kernel, kept to find out which index failed.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// The checks with the loops around them and nothing else.
    stmts: Vec<Stmt>,
    /// Index tensors that belong to the kernel.
    constants: Vec<(BufferId, Arc<[u8]>)>,
}

impl Checks {
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let stmts = kernel
            .phases
            .first()
            .map_or_else(Vec::new, |p| only_checks(p));
        let constants = if stmts.is_empty() {
            Vec::new()
        } else {
            kernel
                .numbered()
                .filter_map(|(id, buffer)| match &buffer.role {
                    Role::Const(bytes) => Some((id, Arc::clone(bytes))),
                    Role::In(_) | Role::Out(..) | Role::Scratch => None,
                })
                .collect()
        };
        Self { stmts, constants }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stmts.is_empty()
    }

    /// What the failure of the check with number `ordinal` (from 1) means.
    ///
    /// # Safety
    /// `buffers` is the table the kernel was called with, valid as it was then.
    #[cold]
    pub(crate) unsafe fn explain(&self, ordinal: u64, buffers: *const *mut u8) -> RunError {
        // SAFETY: the same checks read the same indices from the same table.
        match unsafe { self.scan(&self.stmts, &mut Vec::new(), 0, buffers) } {
            Some(error) => error,
            None => RunError::Check {
                code: code_of(&self.stmts, &mut ordinal.saturating_sub(1)).unwrap_or(0),
                found: BadIndex::Changed,
            },
        }
    }

    /// # Safety
    /// As [`Checks::explain`].
    unsafe fn scan(
        &self,
        stmts: &[Stmt],
        vars: &mut Vec<(Var, i64)>,
        iteration: u64,
        buffers: *const *mut u8,
    ) -> Option<RunError> {
        stmts.iter().find_map(|stmt| match stmt {
            Stmt::For {
                var, extent, body, ..
            } => (0..*extent).find_map(|at| {
                vars.push((*var, at));
                let inner = iteration
                    .wrapping_mul(*extent as u64)
                    .wrapping_add(at as u64);
                // SAFETY: as for the whole.
                let found = unsafe { self.scan(body, vars, inner, buffers) };
                vars.pop();
                found
            }),
            Stmt::Check {
                index,
                dims,
                norm,
                code,
            } => {
                let checked = CheckBox::new(dims, *norm);
                let offset = offset(index, vars).wrapping_mul(norm.ty.width().bytes() as i64);
                // SAFETY: the table has an entry for every buffer, and the indices are those that
                // the check itself reads.
                let (at, value) = unsafe {
                    let base = self.base(index.buffer, buffers);
                    checked.first_bad(base.wrapping_offset(offset as isize))?
                };
                let before = iteration.wrapping_mul(checked.count() as u64);
                Some(RunError::Check {
                    code: *code,
                    found: BadIndex::At {
                        position: before.wrapping_add(at),
                        value,
                    },
                })
            }
            Stmt::Index { .. } | Stmt::Move(_) | Stmt::Gather(_) | Stmt::Fill { .. } => None,
        })
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

/// The address of a place, in elements.
fn offset(place: &Place, vars: &[(Var, i64)]) -> i64 {
    vars.iter().fold(place.addr.base, |sum, (var, at)| {
        sum.wrapping_add(place.addr.coeff(*var).wrapping_mul(*at))
    })
}

fn only_checks(stmts: &[Stmt]) -> Vec<Stmt> {
    stmts
        .iter()
        .filter_map(|stmt| match stmt {
            Stmt::For {
                var,
                extent,
                parallel,
                body,
            } => {
                let body = only_checks(body);
                (!body.is_empty()).then_some(Stmt::For {
                    var: *var,
                    extent: *extent,
                    parallel: *parallel,
                    body,
                })
            }
            Stmt::Check { .. } => Some(stmt.clone()),
            Stmt::Index { .. } | Stmt::Move(_) | Stmt::Gather(_) | Stmt::Fill { .. } => None,
        })
        .collect()
}

fn code_of(stmts: &[Stmt], skip: &mut u64) -> Option<u32> {
    stmts.iter().find_map(|stmt| match stmt {
        Stmt::For { body, .. } => code_of(body, skip),
        Stmt::Check { code, .. } => match skip.checked_sub(1) {
            None => Some(*code),
            Some(left) => {
                *skip = left;
                None
            }
        },
        Stmt::Index { .. } | Stmt::Move(_) | Stmt::Gather(_) | Stmt::Fill { .. } => None,
    })
}
