//! The walk over nodes. The only unsafe code here, since leaves take raw addresses.

use std::ops::Range;

use restride_leaves::{Weave, read_index, row_holds};
use restride_loops::{Buffer, Norm, Role, chunk_range};
use smallvec::SmallVec;

use crate::error::CheckFailure;
use crate::frame::{Address, Frame, OUTSIDE};
use crate::node::{CheckDim, GatherNode, PreparedCheck, PreparedStmt};

/// Where the buffers of a call are. A call allocates nothing, so the kernel's constants are looked
/// up here instead of being entered into a table of the call's own.
#[derive(Clone, Copy)]
pub(crate) struct Buffers<'a> {
    pub(crate) addresses: &'a [*mut u8],
    pub(crate) declared: &'a [Buffer],
}

impl Buffers<'_> {
    #[inline]
    fn at(&self, address: &Address, frame: &Frame) -> *mut u8 {
        let start = match &self.declared[address.buffer as usize].role {
            Role::Const(bytes) => bytes.as_ptr().cast_mut(),
            Role::In(_) | Role::Out(..) | Role::Scratch => self.addresses[address.buffer as usize],
        };
        start.wrapping_offset(address.offset(frame))
    }
}

/// Runs one chunk of a phase.
///
/// # Safety
/// The nodes are of a verified kernel, whose buffers lie, with the lengths it declares, at these
/// addresses; outputs and scratch overlap nothing and nobody else uses them, except for other
/// chunks of the same phase; earlier phases have ended.
pub(crate) unsafe fn chunk(
    phase: &[PreparedStmt],
    buffers: Buffers<'_>,
    frame: &mut Frame,
    chunk: u32,
    chunks: u32,
) -> Result<(), CheckFailure> {
    for (at, node) in phase.iter().enumerate() {
        // SAFETY: the caller's.
        unsafe {
            match node {
                PreparedStmt::Loop {
                    slot,
                    extent,
                    parallel: true,
                    body,
                    whole,
                } => match whole {
                    Some(leaf) if chunks == 1 => one(leaf, buffers, frame)?,
                    _ => {
                        let share = chunk_range(*extent, chunk, chunks);
                        iterate(*slot, share, body, buffers, frame)?;
                    }
                },
                PreparedStmt::Loop { .. }
                | PreparedStmt::Index { .. }
                | PreparedStmt::Check(_)
                | PreparedStmt::Move { .. }
                | PreparedStmt::Gather(_)
                | PreparedStmt::Woven(_)
                | PreparedStmt::Fill { .. } => {
                    if chunk == 0 {
                        one_of(phase, at, buffers, frame)?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// The iterations of a loop. Around a single move, addresses step along with the variable.
///
/// # Safety
/// As [`chunk`].
unsafe fn iterate(
    slot: usize,
    values: Range<i64>,
    body: &[PreparedStmt],
    buffers: Buffers<'_>,
    frame: &mut Frame,
) -> Result<(), CheckFailure> {
    if let [
        PreparedStmt::Move {
            leaf,
            zero: None,
            dst,
            src,
        },
    ] = body
    {
        frame[slot] = values.start;
        let (mut to, mut from) = (buffers.at(dst, frame), buffers.at(src, frame));
        let (to_step, from_step) = (dst.step(slot), src.step(slot));
        for _ in values {
            // SAFETY: the caller's.
            unsafe { leaf.call(to, from) };
            to = to.wrapping_offset(to_step);
            from = from.wrapping_offset(from_step);
        }
        return Ok(());
    }
    for value in values {
        frame[slot] = value;
        for at in 0..body.len() {
            // SAFETY: the caller's.
            unsafe { one_of(body, at, buffers, frame)? }
        }
    }
    Ok(())
}

/// # Safety
/// As [`chunk`].
#[inline]
unsafe fn one_of(
    block: &[PreparedStmt],
    at: usize,
    buffers: Buffers<'_>,
    frame: &mut Frame,
) -> Result<(), CheckFailure> {
    // SAFETY: the caller's.
    match (unsafe { one(&block[at], buffers, frame) }, &block[at]) {
        (Err(failure), PreparedStmt::Check(_)) => {
            // SAFETY: the caller's; no statement stands between checks that are one.
            Err(unsafe { first(failure, block, at, buffers, frame) })
        }
        (done, _) => done,
    }
}

/// The first failure of the checks that are one with a check that has failed.
///
/// # Safety
/// As [`chunk`].
#[cold]
unsafe fn first(
    mut failure: CheckFailure,
    block: &[PreparedStmt],
    at: usize,
    buffers: Buffers<'_>,
    frame: &Frame,
) -> CheckFailure {
    let own = |node: &&PreparedStmt| matches!(node, PreparedStmt::Check(check) if check.code == failure.code);
    let before = block[..at].iter().rev().take_while(own).count();
    let after = block[at + 1..].iter().take_while(own).count();
    let members = (before + 1 + after) as u64;
    let side_by_side = |position: u64, member: usize| {
        let position = position.wrapping_mul(members);
        position.wrapping_add((before + member) as u64)
    };
    failure.position = side_by_side(failure.position, 0);
    // Those before it have held.
    for (node, member) in block[at + 1..].iter().zip(1..=after) {
        if let PreparedStmt::Check(other) = node
            // SAFETY: the caller's.
            && let Err(other) = unsafe { check(other, buffers, frame) }
        {
            let position = side_by_side(other.position, member);
            if position < failure.position {
                failure = CheckFailure { position, ..other };
            }
        }
    }
    failure
}

/// # Safety
/// As [`chunk`].
#[inline]
unsafe fn one(
    node: &PreparedStmt,
    buffers: Buffers<'_>,
    frame: &mut Frame,
) -> Result<(), CheckFailure> {
    // SAFETY: the verifier has shown that every box lies in its buffers for all values that
    // variables take, and that no load sees memory that is not written or being written.
    unsafe {
        match node {
            PreparedStmt::Loop {
                slot, extent, body, ..
            } => iterate(*slot, 0..*extent, body, buffers, frame)?,
            PreparedStmt::Index { slot, place, norm } => {
                frame[*slot] = if place.is_outside(frame) {
                    OUTSIDE
                } else {
                    let value = read_index(buffers.at(place, frame), norm.ty);
                    norm.select(value).unwrap_or(OUTSIDE)
                };
            }
            PreparedStmt::Check(c) => check(c, buffers, frame)?,
            PreparedStmt::Move {
                leaf,
                zero,
                dst,
                src,
            } => {
                let to = buffers.at(dst, frame);
                match zero {
                    Some(zero) if src.is_outside(frame) => zero.call(to, to),
                    _ => leaf.call(to, buffers.at(src, frame)),
                }
            }
            PreparedStmt::Gather(g) => gather(g, buffers, frame),
            PreparedStmt::Woven(it) => {
                let to = buffers.at(&it.dst, frame);
                let mut src = [to; Weave::SOURCES];
                for (src, at) in src.iter_mut().zip(&it.src) {
                    *src = buffers.at(at, frame);
                }
                it.leaf.call(to, src.as_ptr().cast());
            }
            PreparedStmt::Fill { leaf, dst } => {
                let to = buffers.at(dst, frame);
                leaf.call(to, to);
            }
        }
    }
    Ok(())
}

/// # Safety
/// As [`chunk`].
unsafe fn gather(g: &GatherNode, buffers: Buffers<'_>, frame: &Frame) {
    let to = buffers.at(&g.dst, frame);
    let outside = g.src.is_outside(frame) || g.index.is_outside(frame);
    // SAFETY: as in `one`.
    unsafe {
        match &g.zero {
            Some(zero) if outside => zero.call(to, to),
            _ => {
                let (src, index) = (buffers.at(&g.src, frame), buffers.at(&g.index, frame));
                g.leaf.call(to, src, index);
            }
        }
    }
}

/// # Safety
/// As [`chunk`].
unsafe fn check(
    c: &PreparedCheck,
    buffers: Buffers<'_>,
    frame: &Frame,
) -> Result<(), CheckFailure> {
    let PreparedCheck {
        dims,
        count,
        norm,
        code,
        ..
    } = c;
    let start = buffers.at(&c.index, frame).cast_const();
    let mut position = c.loops.iter().fold(0u64, |n, &(slot, extent)| {
        n.wrapping_mul(extent as u64)
            .wrapping_add(frame[slot] as u64)
    });
    position = position.wrapping_mul(*count);
    // SAFETY: the box of the check lies in its buffer.
    unsafe { check_box(start, dims, norm, &mut position) }.map_err(|value| CheckFailure {
        code: *code,
        position,
        value,
    })
}

/// Checks a box row by row, counting `position` on; the first value that is refused. A row in which
/// nothing is found on the second look has been changed by somebody, and is in range now.
///
/// # Safety
/// The box is readable.
unsafe fn check_box(
    start: *const u8,
    dims: &[CheckDim],
    norm: &Norm,
    position: &mut u64,
) -> Result<(), i128> {
    const POINT: CheckDim = CheckDim {
        extent: 1,
        stride: 0,
        weight: 0,
    };
    let (row, outer) = dims.split_last().unwrap_or((&POINT, &[]));
    // A verified box has no more dimensions.
    let mut counts: SmallVec<[i64; 32]> = SmallVec::from_elem(0, outer.len());
    let mut at = start;
    loop {
        // SAFETY: the row is part of the box.
        unsafe {
            if !row_holds(norm, at, row.extent, row.stride) {
                for number in 0..row.extent {
                    let value =
                        read_index(at.wrapping_offset(row.stride * number as isize), norm.ty);
                    if norm.within(value).is_none() {
                        *position = position.wrapping_add(row.weight.wrapping_mul(number as u64));
                        return Err(value);
                    }
                }
            }
        }
        let mut dim = outer.len();
        loop {
            if dim == 0 {
                return Ok(());
            }
            dim -= 1;
            let CheckDim {
                extent,
                stride,
                weight,
            } = outer[dim];
            counts[dim] += 1;
            if counts[dim] < extent {
                at = at.wrapping_offset(stride);
                *position = position.wrapping_add(weight);
                break;
            }
            counts[dim] = 0;
            at = at.wrapping_offset(stride.wrapping_mul(1 - extent as isize));
            *position = position.wrapping_sub(weight.wrapping_mul(extent as u64 - 1));
        }
    }
}
