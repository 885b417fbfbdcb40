//! One operator for a value, whatever the numbers: attributes are made to suit its shape.

use restride_graph::{
    BroadcastMode, ChannelAxis, Constant, DepthOrder, ElementType, Graph, IndexRule, Ints, Op,
    OutOfRange, PadMode, ReshapeDialect, SliceDialect, StridedSliceDialect, TensorType, ValueId,
};

/// How many kinds of statements there are.
pub(crate) const KINDS: u8 = 32;

/// The largest list that a statement may have.
const LIST: usize = 1024;

/// Numbers that a statement is made of.
pub(crate) type Numbers = [u32; 4];

/// A graph in the making.
pub(crate) struct Made {
    pub(crate) graph: Graph,
    /// What statements may go on from.
    pub(crate) values: Vec<ValueId>,
    /// Roughly how long its text is.
    pub(crate) length: usize,
}

/// Bit `at` of a number, for sets of axes.
fn has(set: u32, at: usize) -> bool {
    set >> (at % 32) & 1 == 1
}

fn axes(set: u32, rank: usize) -> Ints {
    (0..rank)
        .filter(|&axis| has(set, axis))
        .map(|a| a as i64)
        .collect()
}

/// A number that is often small and sometimes at the end of what there is.
fn small(number: u32, most: i64) -> i64 {
    let most = most.max(1);
    match number % 4 {
        0 => 1.min(most),
        1 => i64::from(number / 4) % most.min(8) + 1,
        2 => most,
        _ => i64::from(number / 4) % most + 1,
    }
    .min(most)
}

impl Made {
    fn shape(&self, x: ValueId) -> Vec<i64> {
        self.graph.ty(x).shape().to_vec()
    }

    /// Adds an operator; nothing if it does not suit.
    fn push(&mut self, op: Op) -> Option<ValueId> {
        let text = 16
            + match &op {
                Op::Constant(constant) => 24 + 3 * constant.ty().numel(),
                Op::Concat { parts, .. } => 8 + 5 * parts.len(),
                Op::Split { part, lengths, .. } if *part == 0 => 16 + 3 * lengths.len(),
                Op::ReverseSequence { lengths, .. } => 48 + 4 * lengths.len(),
                _ => 40,
            };
        let value = self.graph.push(op).ok()?;
        self.length += text;
        self.values.push(value);
        Some(value)
    }

    fn rule(number: u32) -> IndexRule {
        IndexRule {
            out_of_range: [OutOfRange::Zero, OutOfRange::Clamp, OutOfRange::Error]
                [number as usize % 3],
            wrap: has(number, 5),
        }
    }

    /// Indices of a shape below a limit: an input, or a constant.
    fn indices(&mut self, shape: &[i64], limit: i64, number: u32) -> Option<ValueId> {
        let count = shape
            .iter()
            .try_fold(1i64, |all, size| all.checked_mul(*size))?;
        if has(number, 0) && count <= LIST as i64 {
            let limit = i128::from(limit.clamp(1, 100));
            let seed = i128::from(number >> 1);
            let values: Vec<i128> = (0..i128::from(count))
                .map(|k| match seed % 3 {
                    0 => (limit - 1 - k).rem_euclid(limit),
                    1 => (k * (seed | 1)) % limit,
                    _ => (k * k + seed) % limit,
                })
                .collect();
            let constant = Constant::from_integers(ElementType::I8, shape, &values).ok()?;
            let made = self.push(Op::Constant(constant));
            self.values.pop();
            return made;
        }
        let ty = TensorType::dense(ElementType::I32, shape).ok()?;
        // The same indices for several gathers, where there are some.
        let known = (self.graph.inputs().iter()).find(|&&input| *self.graph.ty(input) == ty);
        if let Some(&known) = known.filter(|_| has(number, 1)) {
            return Some(known);
        }
        self.length += 24;
        let name = format!("i{}", self.graph.len());
        self.graph.typed_input(&name, ty).ok()
    }

    /// Adds a statement of some kind that reads `x`; its (last) result.
    pub(crate) fn add(&mut self, kind: u8, x: ValueId, n: Numbers) -> Option<ValueId> {
        let shape = self.shape(x);
        let rank = shape.len();
        let axis = n[0] as usize % rank.max(1);
        let size = *shape.get(axis).unwrap_or(&1);
        let all = |f: &mut dyn FnMut(usize, i64) -> i64| -> Ints {
            shape.iter().enumerate().map(|(k, s)| f(k, *s)).collect()
        };
        let op = match kind % KINDS {
            0 => Op::Slice {
                x,
                dialect: SliceDialect::Onnx,
                start: all(&mut |k, s| if has(n[1], k) { small(n[2], s) - 1 } else { 0 }),
                stop: all(&mut |_, _| i64::MAX),
                step: all(&mut |k, s| if has(n[0], k) { small(n[3], s) } else { 1 }),
                axes: None,
            },
            1 => Op::Reverse {
                x,
                axes: axes(n[0], rank),
            },
            2 => {
                let list = axes(n[0] | 1, rank);
                let shift = list.iter().map(|_| small(n[1], 1 << 20)).collect();
                Op::Roll {
                    x,
                    shift,
                    axes: list,
                }
            }
            3 => {
                let mut perm: Vec<i64> = (0..rank as i64).collect();
                match n[0] % 3 {
                    0 => perm.reverse(),
                    1 if rank > 0 => perm.rotate_left(n[1] as usize % rank),
                    _ if rank > 0 => perm.swap(n[1] as usize % rank, n[2] as usize % rank),
                    _ => {}
                }
                Op::Transpose {
                    x,
                    perm: perm.into_iter().collect(),
                }
            }
            4 => {
                // An axis into two.
                let by = (1..=small(n[1], size).max(1))
                    .rev()
                    .find(|by| size % by == 0)?;
                let mut pattern: Ints = shape.iter().copied().collect();
                if rank > 0 {
                    pattern[axis] = size / by;
                    pattern.insert(axis, by);
                }
                self.reshape(x, pattern)
            }
            5 => {
                // Two axes into one, or all.
                let mut pattern: Ints = shape.iter().copied().collect();
                if n[1].is_multiple_of(4) {
                    pattern = [shape.iter().product()].into_iter().collect();
                } else if axis + 1 < rank {
                    let next = pattern.remove(axis + 1);
                    pattern[axis] = size.checked_mul(next)?;
                }
                self.reshape(x, pattern)
            }
            6 => return self.split(x, axis, size, n),
            7 => return self.concat(x, axis, n),
            8 => Op::Tile {
                x,
                repeats: all(&mut |k, _| if has(n[0], k) { small(n[1], 64) } else { 1 }),
            },
            9 | 10 => {
                let mode = [
                    PadMode::Constant(u128::from(n[3] & 1)),
                    PadMode::Edge,
                    PadMode::Reflect,
                    PadMode::Symmetric,
                    PadMode::Wrap,
                ][n[2] as usize % 5];
                let most = |size: i64| match mode {
                    PadMode::Reflect => size - 1,
                    PadMode::Symmetric => size,
                    _ => 64,
                };
                let amount = |number: u32, size: i64| match most(size) {
                    0 => 0,
                    most => small(number, most),
                };
                Op::Pad {
                    x,
                    low: all(&mut |k, s| if has(n[0], k) { amount(n[1], s) } else { 0 }),
                    high: all(&mut |k, s| if has(n[3], k) { amount(n[1], s) } else { 0 }),
                    mode,
                }
            }
            11 | 12 => {
                let batch_dims = if n[2].is_multiple_of(5) { axis } else { 0 };
                let mut at = shape.get(..batch_dims)?.to_vec();
                at.push(small(n[1], 64));
                let indices = self.indices(&at, size, n[3])?;
                Op::Gather {
                    x,
                    indices,
                    axis: axis as i64,
                    batch_dims: batch_dims as i64,
                    rule: Self::rule(n[2]),
                }
            }
            13 => {
                let indices = self.indices(&shape, size, n[3])?;
                Op::GatherElements {
                    x,
                    indices,
                    axis: axis as i64,
                    rule: Self::rule(n[2]),
                }
            }
            14 => {
                let depth = (n[0] as usize % rank.max(1)) as i64 + 1;
                let limit = shape.iter().take(depth as usize).copied().min()?;
                let indices = self.indices(&[small(n[1], 32), depth], limit, n[3])?;
                Op::GatherNd {
                    x,
                    indices,
                    batch_dims: 0,
                    rule: Self::rule(n[2]),
                }
            }
            15 => {
                let batch_axis = n[1] as usize % rank.max(1);
                let count = *shape.get(batch_axis)?;
                if count > LIST as i64 {
                    return None;
                }
                Op::ReverseSequence {
                    x,
                    lengths: (0..count)
                        .map(|k| {
                            (k.wrapping_mul(i64::from(n[2])) + i64::from(n[3])).rem_euclid(size + 1)
                        })
                        .collect(),
                    batch_axis: batch_axis as i64,
                    seq_axis: axis as i64,
                }
            }
            16 => {
                let mut to: Ints = shape
                    .iter()
                    .map(|&s| if s == 1 { small(n[0], 1 << 20) } else { s })
                    .collect();
                if has(n[1], 0) {
                    to.insert(0, small(n[2], 1 << 20));
                }
                Op::Broadcast {
                    x,
                    shape: to,
                    mode: BroadcastMode::Numpy,
                }
            }
            17 => Op::Squeeze { x, axes: None },
            18 => Op::Unsqueeze {
                x,
                axes: [axis as i64].into_iter().collect(),
            },
            19 => Op::Flatten {
                x,
                axis: axis as i64,
            },
            20 | 21 => {
                let block = small(n[0], 4);
                let order = [DepthOrder::BlocksFirst, DepthOrder::DepthFirst][n[1] as usize % 2];
                let channels = [ChannelAxis::First, ChannelAxis::Last][n[2] as usize % 2];
                if kind % KINDS == 20 {
                    Op::DepthToSpace {
                        x,
                        block,
                        order,
                        channels,
                    }
                } else {
                    Op::SpaceToDepth {
                        x,
                        block,
                        order,
                        channels,
                    }
                }
            }
            22 => Op::ShuffleChannels {
                x,
                axis: axis as i64,
                groups: (1..=small(n[1], size).max(1))
                    .rev()
                    .find(|by| size % by == 0)?,
            },
            23 => Op::StridedSlice {
                x,
                dialect: StridedSliceDialect::ALL[n[1] as usize % StridedSliceDialect::ALL.len()],
                begin: all(&mut |k, s| if has(n[1], k) { small(n[2], s) - 1 } else { 0 }),
                end: all(&mut |_, s| s),
                strides: all(&mut |k, s| if has(n[0], k) { small(n[3], s) } else { 1 }),
                begin_mask: 0,
                end_mask: 0,
                ellipsis_mask: 0,
                new_axis_mask: 0,
                shrink_axis_mask: i64::from(n[3] & n[1] & 0xff),
            },
            24 => Op::Identity { x },
            28..32 => {
                let axes = axes(n[0] | 1, rank);
                let limit = small(n[1], 64);
                let sizes = axes
                    .iter()
                    .map(|&k| (shape[k as usize] - limit).max(0))
                    .collect();
                let starts = self.indices(&[axes.len() as i64], limit, n[3])?;
                if kind % KINDS >= 30 {
                    let sizes: Ints = sizes;
                    let mut region = shape.clone();
                    axes.iter()
                        .zip(&sizes)
                        .for_each(|(&k, &size)| region[k as usize] = size);
                    let ty = TensorType::dense(self.graph.ty(x).element(), region).ok()?;
                    let suits = |&&value: &&ValueId| *self.graph.ty(value) == ty;
                    let known = self.values.iter().find(suits).copied();
                    let update = match known {
                        Some(update) => update,
                        None => {
                            self.length += 40;
                            let name = format!("u{}", self.graph.len());
                            self.graph.typed_input(&name, ty.clone()).ok()?
                        }
                    };
                    return self.push(Op::DynamicUpdateSlice {
                        x,
                        update,
                        starts,
                        axes: Some(axes),
                        out_of_range: Self::rule(n[2]).out_of_range,
                    });
                }
                Op::DynamicSlice {
                    x,
                    starts,
                    sizes,
                    axes: Some(axes),
                    out_of_range: Self::rule(n[2]).out_of_range,
                }
            }
            26 | 27 => {
                let by = small(n[1], 64);
                let is_cut = |k: usize| k > 0 && has(n[0], k);
                let block = all(&mut |k, _| if is_cut(k) { by } else { 1 });
                let begin = all(&mut |k, _| if is_cut(k) { small(n[2], by) - 1 } else { 0 });
                if kind % KINDS == 26 {
                    Op::SpaceToBatch {
                        x,
                        pads_end: all(&mut |k, s| (-s - begin[k]).rem_euclid(block[k])),
                        pads_begin: begin,
                        block,
                    }
                } else {
                    Op::BatchToSpace {
                        x,
                        block,
                        crops_end: all(&mut |_, _| 0),
                        crops_begin: begin,
                    }
                }
            }
            _ => Op::CenterCropPad {
                x,
                shape: all(&mut |k, s| {
                    let by = if has(n[0], k) { small(n[1], 9) } else { 0 };
                    if has(n[2], k) {
                        s + by
                    } else {
                        (s - by).max(0)
                    }
                }),
                axes: None,
            },
        };
        self.push(op)
    }

    fn reshape(&self, x: ValueId, pattern: Ints) -> Op {
        let dialect = ReshapeDialect::Plain;
        Op::Reshape {
            x,
            dialect,
            pattern,
        }
    }

    /// All parts of a split, so that they can be joined again.
    fn split(&mut self, x: ValueId, axis: usize, size: i64, n: Numbers) -> Option<ValueId> {
        let count = small(n[1], size.min(64));
        let each = (size / count.max(1)).max(1);
        let lengths: Vec<i64> = (0..count)
            .map(|k| if k + 1 < count { each } else { -1 })
            .collect();
        let lengths: std::sync::Arc<[i64]> = lengths.into();
        let mut last = None;
        for part in 0..count as u32 {
            last = Some(self.push(Op::Split {
                x,
                axis: axis as i64,
                lengths: lengths.clone(),
                part,
            })?);
        }
        last
    }

    /// A value beside others that suit it, or itself.
    fn concat(&mut self, x: ValueId, axis: usize, n: Numbers) -> Option<ValueId> {
        let count = small(n[1], 256) as usize + 1;
        let shape = self.shape(x);
        let ty = self.graph.ty(x).element();
        let suits = |&&value: &&ValueId| {
            let other = self.graph.ty(value);
            let sizes = other.shape().iter().zip(&shape).enumerate();
            let mut same = sizes.map(|(k, (a, b))| k == axis || a == b);
            other.element() == ty && other.rank() == shape.len() && same.all(|same| same)
        };
        let others: Vec<ValueId> = match n[2] % 3 {
            0 => vec![x],
            // The newest last, as they were made.
            1 => self.values.iter().filter(suits).copied().collect(),
            _ => self.values.iter().rev().filter(suits).copied().collect(),
        };
        let step = small(n[3], others.len() as i64) as usize;
        let parts = others.iter().cycle().step_by(step.max(1)).take(count);
        self.push(Op::Concat {
            parts: parts.copied().collect(),
            axis: axis as i64,
        })
    }
}
