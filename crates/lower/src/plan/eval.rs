//! Plans run element by element: the `plan` rung of the ladder.
//!
//! Slow and plain on purpose: an odometer over the digits of each piece, one element at a time,
//! every address checked.

use super::{Answer, Body, Destination, IndexColumn, Piece, Plan, Source};
use restride_graph::{ElementType, Strided};

/// Why a run gave no outputs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// An obligation does not hold.
    #[error("op {op}: index {value} at position {position} is outside an axis of size {limit}")]
    OutOfRange {
        /// The gather of the spelled graph.
        op: u32,
        /// Flat position in its index tensor.
        position: i64,
        /// The index found there.
        value: i128,
        /// Size of the axis.
        limit: i64,
    },
    /// Not one buffer per input, or one that is too short.
    #[error("input {0} is missing or too short")]
    Input(usize),
    /// An address outside its buffer: the plan is wrong.
    #[error("address {0} is outside its buffer")]
    Address(i64),
    /// The plan reads a stage that has not run, or a constant it does not have.
    #[error("{0:?} is not there")]
    Dangling(Source),
    /// Buffers that this machine cannot hold.
    #[error("{0} elements cannot be held")]
    Memory(i64),
}

/// Runs a plan. Inputs are the callers' buffers, read through their layouts; outputs come back
/// dense and row-major, views included.
pub fn eval(plan: &Plan, inputs: &[&[u8]]) -> Result<Vec<Vec<u8>>, EvalError> {
    for (n, (element, needed)) in plan.inputs.iter().enumerate() {
        let held = inputs
            .get(n)
            .map_or(-1, |b| (b.len() / element.width()) as i64);
        if held < *needed {
            return Err(EvalError::Input(n));
        }
    }
    let mut run = Run {
        plan,
        inputs,
        stages: Vec::new(),
    };
    for stage in &plan.stages {
        let elements = match stage.destination {
            Destination::Scratch => stage.count,
            Destination::Output(n) => {
                let (_, shape, layout) = &plan.outputs[n as usize];
                extent(shape, layout.as_ref())
            }
        };
        let mut out = buffer(elements, stage.element.width())?;
        for piece in &stage.pieces {
            run.piece(piece, &mut out, stage.element.width())?;
        }
        run.stages.push(out);
    }
    run.checks()?;
    let answers = plan.answers.iter().zip(&plan.outputs);
    answers
        .map(|(answer, (element, shape, layout))| {
            let (bytes, layout) = match answer {
                Answer::View { input, layout } => (inputs[*input as usize], Some(layout)),
                Answer::Computed { stage, .. } => {
                    (&run.stages[*stage as usize][..], layout.as_ref())
                }
            };
            dense(bytes, element.width(), shape, layout)
        })
        .collect()
}

struct Run<'r> {
    plan: &'r Plan,
    inputs: &'r [&'r [u8]],
    stages: Vec<Vec<u8>>,
}

impl Run<'_> {
    fn bytes(&self, source: Source) -> Result<&[u8], EvalError> {
        match source {
            Source::Input(n) => self.inputs.get(n as usize).copied(),
            Source::Constant(n) => self.plan.constants.get(n as usize).map(|c| &c.bytes[..]),
            Source::Stage(n) => self.stages.get(n as usize).map(|s| &s[..]),
        }
        .ok_or(EvalError::Dangling(source))
    }

    fn piece(&self, piece: &Piece, out: &mut [u8], width: usize) -> Result<(), EvalError> {
        let extents: Vec<i64> = piece.digits.iter().map(|d| d.extent).collect();
        each(&extents, |values| {
            let at = |start: i64, stride: &dyn Fn(usize) -> i64| {
                let moved = values.iter().enumerate().map(|(d, v)| v * stride(d));
                start + moved.sum::<i64>()
            };
            let dst = at(piece.dst, &|d| piece.digits[d].dst);
            let range = range(dst, width, out.len())?;
            match &piece.body {
                Body::Fill(bits) => out[range].copy_from_slice(&bits.to_le_bytes()[..width]),
                Body::Copy {
                    source,
                    offset,
                    indices,
                } => {
                    let mut src = Some(at(*offset, &|d| piece.digits[d].src));
                    let mut values: Vec<Option<i64>> = Vec::new();
                    for (k, index) in indices.iter().enumerate() {
                        let place = at(index.offset, &|d| piece.digits[d].indices[k]);
                        let mut through = index.through.iter();
                        let place = through.try_fold(place, |sum, &(earlier, stride)| {
                            let x = values.get(earlier as usize).copied().flatten();
                            x.map(|x| sum + x * stride)
                        });
                        let value = match place {
                            None => None,
                            Some(place) => {
                                let from = self.bytes(index.source)?;
                                chosen(index, read(from, place, index.element)?)
                            }
                        };
                        values.push(value);
                        if index.coeff != 0 {
                            src = src.zip(value).map(|(s, x)| s + x * index.coeff);
                        }
                    }
                    match src {
                        None => out[range].fill(0),
                        Some(src) => {
                            let from = self.bytes(*source)?;
                            let element = from[self::range(src, width, from.len())?].to_vec();
                            out[range].copy_from_slice(&element);
                        }
                    }
                }
            }
            Ok(())
        })
    }

    /// The obligations in order; those of one operator together, so that its first position
    /// counts.
    fn checks(&self) -> Result<(), EvalError> {
        for of_one in self.plan.checks.chunk_by(|a, b| a.op == b.op) {
            let mut first: Option<(i64, EvalError)> = None;
            for check in of_one {
                let extents: Vec<i64> = check.dims.iter().map(|d| d.0).collect();
                let mut i = 0;
                each(&extents, |values| {
                    let moved = values.iter().zip(&check.dims).map(|(v, d)| v * d.1);
                    let place = check.offset + moved.sum::<i64>();
                    let value = read(self.bytes(check.source)?, place, check.element)?;
                    let low = if check.wrap {
                        -i128::from(check.limit)
                    } else {
                        0
                    };
                    let position = i * i64::from(check.columns) + i64::from(check.column);
                    i += 1;
                    if !(low..i128::from(check.limit)).contains(&value)
                        && first.as_ref().is_none_or(|(p, _)| position < *p)
                    {
                        let error = EvalError::OutOfRange {
                            op: check.op,
                            position,
                            value,
                            limit: check.limit,
                        };
                        first = Some((position, error));
                    }
                    Ok(())
                })?;
            }
            if let Some((_, error)) = first {
                return Err(error);
            }
        }
        Ok(())
    }
}

/// The coordinate that an index chooses; `None` for zero bits.
fn chosen(index: &IndexColumn, value: i128) -> Option<i64> {
    let limit = i128::from(index.limit);
    let value = match index.wrap && value < 0 {
        true => value + limit,
        false => value,
    };
    match index.clamp {
        true => Some(value.clamp(0, limit - 1) as i64),
        false => (0..limit).contains(&value).then_some(value as i64),
    }
}

/// Calls `see` with all digit values, outermost slowest.
pub(super) fn each<E>(
    extents: &[i64],
    mut see: impl FnMut(&[i64]) -> Result<(), E>,
) -> Result<(), E> {
    if extents.contains(&0) {
        return Ok(());
    }
    let mut values = vec![0; extents.len()];
    loop {
        see(&values)?;
        let next = (0..values.len())
            .rev()
            .find(|&d| values[d] + 1 < extents[d]);
        let Some(d) = next else { return Ok(()) };
        values[d] += 1;
        values[d + 1..].fill(0);
    }
}

/// How many elements a buffer of this shape and layout has at least.
pub(super) fn extent(shape: &[i64], layout: Option<&Strided>) -> i64 {
    match layout {
        _ if shape.contains(&0) => 0,
        None => shape.iter().product(),
        Some(layout) => {
            let reach = shape.iter().zip(&layout.strides);
            layout.offset + 1 + reach.map(|(n, s)| (n - 1) * (*s).max(0)).sum::<i64>()
        }
    }
}

fn buffer(elements: i64, width: usize) -> Result<Vec<u8>, EvalError> {
    let memory = EvalError::Memory(elements);
    let bytes = usize::try_from(elements)
        .ok()
        .and_then(|n| n.checked_mul(width));
    let bytes = bytes.ok_or(memory.clone())?;
    let mut out = Vec::new();
    out.try_reserve_exact(bytes).map_err(|_| memory)?;
    out.resize(bytes, 0);
    Ok(out)
}

fn range(at: i64, width: usize, held: usize) -> Result<std::ops::Range<usize>, EvalError> {
    let start = usize::try_from(at).ok().and_then(|a| a.checked_mul(width));
    match start {
        Some(start) if start < held && width <= held - start => Ok(start..start + width),
        Some(_) | None => Err(EvalError::Address(at)),
    }
}

fn read(bytes: &[u8], at: i64, element: ElementType) -> Result<i128, EvalError> {
    let width = element.width();
    let stored = &bytes[range(at, width, bytes.len())?];
    let negative = element.is_signed_integer() && stored[width - 1] >= 0x80;
    let mut wide = [if negative { 0xff } else { 0 }; 16];
    wide[..width].copy_from_slice(stored);
    Ok(i128::from_le_bytes(wide))
}

fn dense(
    bytes: &[u8],
    width: usize,
    shape: &[i64],
    layout: Option<&Strided>,
) -> Result<Vec<u8>, EvalError> {
    let Some(layout) = layout else {
        return Ok(bytes.to_vec());
    };
    let mut out = Vec::new();
    each(shape, |point| {
        let moved = point.iter().zip(&layout.strides).map(|(x, s)| x * s);
        let at = layout.offset + moved.sum::<i64>();
        out.extend_from_slice(&bytes[range(at, width, bytes.len())?]);
        Ok(())
    })?;
    Ok(out)
}
