//! `reverse_sequence x l = concat over batch entries of concat [x[l-1::-1], x[l:]]`, neighbours of
//! one length together; with many different lengths, and not too many elements for each, a gather
//! with a constant table.

use crate::engine::{Engine, Parts, PendingCoordinate, PendingGather, PendingIndex, Result, Value};
use crate::ir::{Axes, Policy, Span};
use crate::scalar;
use restride_graph::resolve::ReverseSequence;
use restride_graph::{ElementType, Shape};
use smallvec::SmallVec;

/// So many runs of equal lengths are written as slices, whatever a table would take.
const FEW_RUNS: usize = 8;

/// So many runs are written as slices where the table would be longer than [`SHORT_TABLE`].
const MANY_RUNS: usize = 64;

/// What a table takes that is never too long, in elements.
const SHORT_TABLE: i64 = 1 << 16;

/// The longest table, in elements.
const MAX_TABLE: i64 = 1 << 24;

pub(super) fn desugar(
    engine: &mut Engine<'_>,
    x: &Value,
    lengths: &[i64],
    axes: ReverseSequence,
) -> Result<Value> {
    if x.is_empty() {
        return Ok(x.clone());
    }
    let runs = lengths.chunk_by(|a, b| a == b).count();
    let sizes = (x.shape()[axes.batch_axis], x.shape()[axes.seq_axis]);
    let table = sizes.0.saturating_mul(sizes.1);
    let longest = if runs <= FEW_RUNS {
        0
    } else if runs <= MANY_RUNS {
        SHORT_TABLE
    } else {
        MAX_TABLE
    };
    if table <= longest {
        return by_table(engine, x, lengths, axes);
    }
    let mut parts = Parts::new();
    let mut start = 0;
    for run in lengths.chunk_by(|a, b| a == b) {
        let len = run.len() as i64;
        let span = Span {
            start,
            len,
            step: 1,
        };
        let entries = engine.slice_axis(x, axes.batch_axis, span)?;
        parts.push(turn(engine, &entries, axes.seq_axis, run[0])?);
        start += len;
    }
    engine.concat(parts, axes.batch_axis)
}

/// The first `length` elements of an axis turned round.
fn turn(engine: &mut Engine<'_>, x: &Value, axis: usize, length: i64) -> Result<Value> {
    let size = x.shape()[axis];
    if length <= 1 {
        return Ok(x.clone());
    }
    let turned = Span {
        start: length - 1,
        len: length,
        step: -1,
    };
    let mut parts = Parts::new();
    parts.push(engine.slice_axis(x, axis, turned)?);
    if length < size {
        let rest = Span {
            start: length,
            len: size - length,
            step: 1,
        };
        parts.push(engine.slice_axis(x, axis, rest)?);
    }
    engine.concat(parts, axis)
}

fn by_table(
    engine: &mut Engine<'_>,
    x: &Value,
    lengths: &[i64],
    axes: ReverseSequence,
) -> Result<Value> {
    let size = x.shape()[axes.seq_axis];
    // Rows of an axis that has a table at all fit 32 bits.
    let element = ElementType::I32;
    let entries = lengths.len() as u64 * size.unsigned_abs();
    engine.meter.table(entries, 2 * element.width() as u64)?;
    let mut bytes = Vec::with_capacity(entries as usize * element.width());
    for &length in lengths {
        for at in 0..size {
            let row = if at < length { length - 1 - at } else { at };
            scalar::push(&mut bytes, element.width(), row as u128);
        }
    }
    let table = engine.constant(element, &[lengths.len() as i64, size], &bytes.into())?;
    let outputs = Axes::from_slice(&[axes.batch_axis as u8, axes.seq_axis as u8]);
    let mut coordinates: SmallVec<[PendingCoordinate; 3]> = (0..x.shape().len())
        .map(|k| PendingCoordinate::Output(k as u8))
        .collect();
    coordinates[axes.seq_axis] = PendingCoordinate::Index(Box::new(PendingIndex {
        value: table,
        outputs,
        wrap: false,
        policy: Policy::Zero,
    }));
    engine.gather(PendingGather {
        data: x.clone(),
        coordinates,
        shape: Shape::from_slice(x.shape()),
        after: Vec::new(),
    })
}
