//! Random graphs over the whole family, and inputs for them.
#![allow(dead_code, reason = "each test binary uses its own part")]

use restride_graph::oracle::Tensor;
use restride_graph::{
    BroadcastMode, ChannelAxis, Constant, DepthOrder, ElementType, Graph, IndexRule, Ints, Op,
    OutOfRange, PadMode, ReshapeDialect, SliceDialect, StridedSliceDialect, TensorType, ValueId,
};

/// splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In `low..=high`.
    pub(crate) fn range(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    pub(crate) fn chance(&mut self, one_in: u64) -> bool {
        self.next().is_multiple_of(one_in)
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.range(0, from.len() as i64 - 1) as usize].clone()
    }
}

const DATA: [ElementType; 5] = [
    ElementType::U8,
    ElementType::F16,
    ElementType::F32,
    ElementType::F64,
    ElementType::C128,
];
const INDEX: [ElementType; 5] = [
    ElementType::I8,
    ElementType::I32,
    ElementType::I64,
    ElementType::U8,
    ElementType::U64,
];

/// The most elements of a value.
const LIMIT: usize = 3000;

/// What the next graph is made of.
#[derive(Clone, Copy)]
pub(crate) struct Config {
    pub(crate) ops: i64,
    /// Views of one input only.
    pub(crate) views: bool,
    /// Whether gathers may fail.
    pub(crate) errors: bool,
}

pub(crate) fn graph(r: &mut Random, config: Config) -> Graph {
    let mut g = Graph::new("random");
    let mut data: Vec<ValueId> = vec![];
    let element = r.pick(&DATA);
    let inputs = if config.views { 1 } else { r.range(1, 2) };
    for k in 0..inputs {
        let shape = shape(r);
        data.push(g.input(&format!("x{k}"), element, &shape).unwrap());
    }
    let wanted = r.range(1, config.ops);
    let (mut made, mut tries) = (0, 0);
    while made < wanted && tries < 200 {
        tries += 1;
        // Chains mostly.
        let x = match r.chance(3) {
            true => r.pick(&data),
            false => *data.last().unwrap(),
        };
        if let Some(value) = op(r, &mut g, x, &data, config)
            && g.ty(value).numel() <= LIMIT
        {
            data.push(value);
            made += 1;
        }
    }
    g.output(*data.last().unwrap()).unwrap();
    if !config.views && r.chance(3) {
        let other = r.pick(&data);
        g.output(other).unwrap();
    }
    g
}

fn shape(r: &mut Random) -> Vec<i64> {
    let rank = r.range(0, 4);
    let sizes = [1, 1, 2, 2, 3, 4, 4, 5, 6, 8, 9];
    (0..rank)
        .map(|_| if r.chance(40) { 0 } else { r.pick(&sizes) })
        .collect()
}

fn ints(values: impl IntoIterator<Item = i64>) -> Ints {
    values.into_iter().collect()
}

fn rule(r: &mut Random, config: Config) -> IndexRule {
    let policies = [OutOfRange::Zero, OutOfRange::Clamp, OutOfRange::Error];
    let count = if config.errors { 2 } else { 1 };
    IndexRule {
        out_of_range: policies[r.range(0, count) as usize],
        wrap: r.chance(2),
    }
}

/// A tensor of indices: an input, or a constant, perhaps seen through a view.
fn indices(r: &mut Random, g: &mut Graph, shape: &[i64], limit: i64) -> Option<ValueId> {
    let element = r.pick(&INDEX);
    let signed = element.is_signed_integer();
    if r.chance(2) {
        let name = format!("i{}", g.len());
        return g.input(&name, element, shape).ok();
    }
    let count: i64 = shape.iter().product();
    let low = if signed { -limit - 1 } else { 0 };
    let start = r.range(0, limit.max(1) - 1);
    let linear = r.chance(2);
    let step = r.range(-1, 1);
    let values: Vec<i128> = (0..count)
        .map(|k| match linear {
            true => (start + k * step).clamp(0, 100),
            false => r.range(low, limit).clamp(-100, 100),
        })
        .map(i128::from)
        .collect();
    let constant = Constant::from_integers(element, shape, &values).ok()?;
    g.push(Op::Constant(constant)).ok()
}

fn op(
    r: &mut Random,
    g: &mut Graph,
    x: ValueId,
    data: &[ValueId],
    config: Config,
) -> Option<ValueId> {
    let shape: Vec<i64> = g.ty(x).shape().to_vec();
    let rank = shape.len() as i64;
    let any_axis = |r: &mut Random| r.range(-rank, (rank - 1).max(0));
    let kinds = if config.views { 12 } else { 22 };
    let op = match r.range(0, kinds) {
        0 | 1 => slice(r, x, &shape),
        2 => strided_slice(r, x, &shape),
        3 | 4 => Op::Reshape {
            x,
            dialect: ReshapeDialect::Plain,
            pattern: reshaped(r, &shape),
        },
        5 | 6 => {
            let mut perm: Vec<i64> = (0..rank).collect();
            for k in (1..perm.len()).rev() {
                perm.swap(k, r.range(0, k as i64) as usize);
            }
            Op::Transpose {
                x,
                perm: ints(perm),
            }
        }
        7 => Op::Unsqueeze {
            x,
            axes: ints([r.range(0, rank)]),
        },
        8 => Op::Squeeze { x, axes: None },
        9 => Op::Reverse {
            x,
            axes: ints((0..rank).filter(|_| r.chance(2))),
        },
        10 => {
            let mut target = shape.clone();
            for size in target.iter_mut().filter(|n| **n == 1) {
                *size = r.range(1, 3);
            }
            if r.chance(3) {
                target.insert(0, r.range(1, 3));
            }
            Op::Broadcast {
                x,
                shape: ints(target),
                mode: BroadcastMode::Numpy,
            }
        }
        11 => Op::Flatten {
            x,
            axis: r.range(0, rank),
        },
        12 => {
            let axis = any_axis(r);
            let size = *shape.get(axis.rem_euclid(rank.max(1)) as usize)?;
            let first = r.range(0, size);
            Op::Split {
                x,
                axis,
                lengths: vec![first, -1].into(),
                part: r.range(0, 1) as u32,
            }
        }
        13 => Op::Roll {
            x,
            shift: ints([r.range(-9, 9), r.range(-9, 9)]),
            axes: ints([any_axis(r), any_axis(r)]),
        },
        14 => Op::Tile {
            x,
            repeats: ints((0..rank + r.range(0, 1)).map(|_| r.range(1, 2))),
        },
        15 | 16 => {
            let modes = [
                PadMode::Constant(7),
                PadMode::Constant(0),
                PadMode::Edge,
                PadMode::Reflect,
                PadMode::Symmetric,
                PadMode::Wrap,
            ];
            Op::Pad {
                x,
                low: ints((0..rank).map(|_| r.range(-2, 4))),
                high: ints((0..rank).map(|_| r.range(-2, 4))),
                mode: r.pick(&modes),
            }
        }
        17 | 18 => {
            let axis = any_axis(r).rem_euclid(rank.max(1)) as usize;
            let other = r.pick(data);
            let parts: Vec<ValueId> = match g.ty(other).shape() == shape {
                true => vec![x, other, x],
                false => vec![x, x],
            };
            Op::Concat {
                parts: parts.into_iter().collect(),
                axis: axis as i64,
            }
        }
        19 | 20 => {
            let axis = any_axis(r).rem_euclid(rank.max(1)) as usize;
            let batch = r.range(0, axis as i64) as usize;
            let batch = if r.chance(2) { 0 } else { batch };
            let limit = *shape.get(axis)?;
            let mut own = shape[..batch].to_vec();
            own.extend((0..r.range(0, 2)).map(|_| r.range(1, 4)));
            let indices = indices(r, g, &own, limit)?;
            Op::Gather {
                x,
                indices,
                axis: axis as i64,
                batch_dims: batch as i64,
                rule: rule(r, config),
            }
        }
        21 => {
            let axis = any_axis(r).rem_euclid(rank.max(1)) as usize;
            let limit = *shape.get(axis)?;
            let mut own = shape.clone();
            own[axis] = r.range(1, 4);
            let indices = indices(r, g, &own, limit)?;
            Op::GatherElements {
                x,
                indices,
                axis: axis as i64,
                rule: rule(r, config),
            }
        }
        22 => match r.range(0, 4) {
            0 => Op::GatherNd {
                x,
                indices: {
                    let batch = i64::from(r.chance(2)).min(rank);
                    let depth = r.range(0, rank - batch);
                    let mut own = shape[..batch as usize].to_vec();
                    own.push(r.range(1, 3));
                    own.push(depth);
                    indices(r, g, &own, 4)?
                },
                batch_dims: r.range(0, 1).min(rank),
                rule: rule(r, config),
            },
            1 => Op::DepthToSpace {
                x,
                block: 2,
                order: r.pick(&[DepthOrder::BlocksFirst, DepthOrder::DepthFirst]),
                channels: r.pick(&[ChannelAxis::First, ChannelAxis::Last]),
            },
            2 => Op::ShuffleChannels {
                x,
                axis: any_axis(r),
                groups: 2,
            },
            3 => Op::CenterCropPad {
                x,
                shape: ints((0..rank).map(|_| r.range(1, 6))),
                axes: None,
            },
            _ => {
                let (batch, seq) = (any_axis(r), any_axis(r));
                let entries = *shape.get(batch.rem_euclid(rank.max(1)) as usize)?;
                let size = *shape.get(seq.rem_euclid(rank.max(1)) as usize)?;
                Op::ReverseSequence {
                    x,
                    lengths: ints((0..entries).map(|_| r.range(0, size))),
                    batch_axis: batch,
                    seq_axis: seq,
                }
            }
        },
        _ => Op::Identity { x },
    };
    g.push(op).ok()
}

fn slice(r: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let bound = |r: &mut Random, n: i64| r.range(-n - 2, n + 2);
    let start = ints(
        shape
            .iter()
            .map(|&n| if r.chance(2) { 0 } else { bound(r, n) }),
    );
    let stop = ints(
        shape
            .iter()
            .map(|&n| if r.chance(2) { n } else { bound(r, n) }),
    );
    let step = ints(shape.iter().map(|_| r.pick(&[1, 1, 1, 2, 3, -1, -2])));
    Op::Slice {
        x,
        dialect: SliceDialect::OpenVino,
        start,
        stop,
        step,
        axes: None,
    }
}

fn strided_slice(r: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let count = r.range(0, shape.len() as i64 + 1);
    let numbers = |r: &mut Random| ints((0..count).map(|_| r.range(-5, 5)));
    Op::StridedSlice {
        x,
        dialect: r.pick(&[
            StridedSliceDialect::TensorFlow,
            StridedSliceDialect::OpenVino,
        ]),
        begin: numbers(r),
        end: numbers(r),
        strides: ints((0..count).map(|_| r.pick(&[1, 1, 2, -1]))),
        begin_mask: r.range(0, 31),
        end_mask: r.range(0, 31),
        ellipsis_mask: r.pick(&[0, 0, 1, 2]),
        new_axis_mask: r.pick(&[0, 0, 1, 2, 4]),
        shrink_axis_mask: r.pick(&[0, 0, 1, 2, 4]),
    }
}

/// A random factorisation of the element count.
fn reshaped(r: &mut Random, shape: &[i64]) -> Ints {
    let mut rest: i64 = shape.iter().product();
    if rest == 0 {
        return ints(shape.iter().rev().copied());
    }
    let mut sizes = Ints::new();
    for divisor in [2, 3, 2, 5, 4, 2, 3] {
        if rest % divisor == 0 && r.chance(2) {
            sizes.push(divisor);
            rest /= divisor;
        }
    }
    let at = r.range(0, sizes.len() as i64) as usize;
    sizes.insert(at, rest);
    if r.chance(5) {
        sizes.push(1);
    }
    sizes
}

/// Inputs with distinct labels; indices are adversarial now and then.
pub(crate) fn inputs(r: &mut Random, g: &Graph) -> Vec<Tensor> {
    let adversarial = r.chance(3);
    g.inputs()
        .iter()
        .enumerate()
        .map(|(k, &id)| {
            let ty: TensorType = g.ty(id).clone().without_layout();
            let element = ty.element();
            let count = ty.numel();
            let bits: Vec<u128> = (0..count)
                .map(|at| {
                    let value = if !element.is_index() || element == ElementType::U8 && k == 0 {
                        // Every byte differs from that of its neighbours.
                        (at as i128 + 1) * 0x0101_0101_0101_0101 + k as i128 * 77
                    } else if adversarial {
                        let edge = i128::from(r.range(-6, 9));
                        r.pick(&[edge, edge, i128::from(i64::MIN), i128::from(u64::MAX)])
                    } else {
                        i128::from(r.range(0, 1))
                    };
                    value as u128 & element.bit_mask()
                })
                .collect();
            Tensor::from_bits(ty, bits).unwrap()
        })
        .collect()
}
