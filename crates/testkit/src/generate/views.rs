//! Operators that only rename places: reshape, transpose and their kin.

use restride_graph::{BroadcastMode, ChannelAxis, DepthOrder, Ints, Op, ReshapeDialect, ValueId};

use super::Random;
use super::shapes::MAX_RANK;

const RESHAPES: [ReshapeDialect; 7] = [
    ReshapeDialect::Plain,
    ReshapeDialect::OpenVino { special_zero: true },
    ReshapeDialect::OpenVino {
        special_zero: false,
    },
    ReshapeDialect::Onnx { allow_zero: true },
    ReshapeDialect::Onnx { allow_zero: false },
    ReshapeDialect::TensorFlow,
    ReshapeDialect::MindSpore,
];

/// Some axes, in some order, each spelled from either end.
pub(super) fn some_axes(random: &mut Random, rank: usize) -> (Vec<usize>, Ints) {
    let mut axes: Vec<usize> = (0..rank).filter(|_| random.percent(45)).collect();
    random.shuffle(&mut axes);
    let spelled = axes
        .iter()
        .map(|&axis| random.spelled_axis(axis, rank))
        .collect();
    (axes, spelled)
}

/// New sizes for as many elements: axes joined and cut at random.
pub(super) fn regrouped(random: &mut Random, shape: &[i64]) -> Vec<i64> {
    let mut out = shape.to_vec();
    for _ in 0..random.within(1, 3) {
        match random.below(4) {
            0 | 1 if out.len() >= 2 => {
                let at = random.below(out.len() - 1);
                let size = out.remove(at + 1);
                out[at] *= size;
            }
            2 | 3 if !out.is_empty() && out.len() < MAX_RANK => {
                let at = random.below(out.len());
                let size = out[at];
                let divisors: Vec<i64> = (2..size).filter(|d| size % d == 0).collect();
                if !divisors.is_empty() {
                    let outer = random.pick(&divisors);
                    out[at] = size / outer;
                    out.insert(at, outer);
                }
            }
            _ if out.len() < MAX_RANK && random.percent(30) => {
                out.insert(random.below(out.len() + 1), 1);
            }
            _ => {}
        }
    }
    if random.percent(8) {
        random.shuffle(&mut out);
    }
    out
}

pub(super) fn reshape(random: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let out = regrouped(random, shape);
    let dialect = random.pick(&RESHAPES);
    let copies = matches!(
        dialect,
        ReshapeDialect::OpenVino { special_zero: true }
            | ReshapeDialect::Onnx { allow_zero: false }
    );
    let mut pattern: Ints = out.iter().copied().collect();
    if copies {
        for (at, entry) in pattern.iter_mut().enumerate() {
            if shape.get(at) == Some(entry) && random.flip() {
                *entry = 0;
            }
        }
    }
    if dialect != ReshapeDialect::Plain && !pattern.is_empty() && random.percent(45) {
        let at = random.below(pattern.len());
        pattern[at] = -1;
    }
    Op::Reshape {
        x,
        dialect,
        pattern,
    }
}

pub(super) fn transpose(random: &mut Random, x: ValueId, rank: usize) -> Op {
    let perm = match random.percent(12) {
        true => Ints::new(),
        false => {
            let order = random.permutation(rank).into_iter();
            order.map(|axis| axis as i64).collect()
        }
    };
    Op::Transpose { x, perm }
}

pub(super) fn squeeze(random: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let axes = random.percent(60).then(|| {
        (0..shape.len())
            .filter(|&axis| shape[axis] == 1)
            .map(|axis| random.spelled_axis(axis, shape.len()))
            .collect()
    });
    Op::Squeeze { x, axes }
}

pub(super) fn unsqueeze(random: &mut Random, x: ValueId, rank: usize) -> Op {
    let count = random
        .pick(&[1, 1, 1, 2])
        .min(MAX_RANK.saturating_sub(rank).max(1));
    let out = rank + count;
    let axes = random.permutation(out).into_iter().take(count);
    let axes: Vec<usize> = axes.collect();
    Op::Unsqueeze {
        x,
        axes: axes
            .into_iter()
            .map(|axis| random.spelled_axis(axis, out))
            .collect(),
    }
}

pub(super) fn flatten(random: &mut Random, x: ValueId, rank: usize) -> Op {
    let rank = rank as i64;
    Op::Flatten {
        x,
        axis: random.within(-rank, rank),
    }
}

pub(super) fn reverse(random: &mut Random, x: ValueId, rank: usize) -> Op {
    Op::Reverse {
        x,
        axes: some_axes(random, rank).1,
    }
}

pub(super) fn broadcast(random: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let mut out: Vec<i64> = shape.to_vec();
    let mut axes: Ints = Ints::new();
    let mode = random.below(3);
    for size in &mut out {
        if *size == 1 && random.percent(70) {
            *size = random.pick(&[2, 3, 4, 1, 0, 5]);
            if *size == 0 && !random.percent(15) {
                *size = 2;
            }
        }
    }
    let mut target: Ints = Ints::new();
    if mode < 2 {
        if out.len() < MAX_RANK && random.percent(60) {
            target.push(random.pick(&[2, 3, 1, 2, 4]));
        }
        target.extend(out.iter().copied());
        if mode == 1 {
            for (at, entry) in target.iter_mut().enumerate() {
                // A 1 keeps what the operand has.
                if random.percent(25) && at > 0 {
                    *entry = 1;
                }
            }
            return Op::Broadcast {
                x,
                shape: target,
                mode: BroadcastMode::Bidirectional,
            };
        }
        return Op::Broadcast {
            x,
            shape: target,
            mode: BroadcastMode::Numpy,
        };
    }
    for &size in &out {
        if target.len() + 1 < MAX_RANK && random.percent(25) {
            target.push(random.pick(&[2, 3, 1]));
        }
        axes.push(target.len() as i64);
        target.push(size);
    }
    if target.len() < MAX_RANK && random.percent(25) {
        target.push(random.pick(&[2, 3, 1]));
    }
    Op::Broadcast {
        x,
        shape: target,
        mode: BroadcastMode::Explicit(axes),
    }
}

/// `depth_to_space`, `space_to_depth` or `shuffle_channels`, with a block that divides if one does.
pub(super) fn blocks(random: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let order = random.pick(&[DepthOrder::BlocksFirst, DepthOrder::DepthFirst]);
    let channels = random.pick(&[ChannelAxis::First, ChannelAxis::Last]);
    let block = random.pick(&[2, 2, 2, 3, 1]);
    match random.below(if shape.len() >= 3 { 3 } else { 1 }) {
        0 => {
            let axis = random.below(shape.len());
            let size = shape[axis];
            let divisors: Vec<i64> = (1..=size.max(1)).filter(|d| size % d == 0).collect();
            Op::ShuffleChannels {
                x,
                axis: random.spelled_axis(axis, shape.len()),
                groups: random.pick(&divisors),
            }
        }
        1 => Op::DepthToSpace {
            x,
            block,
            order,
            channels,
        },
        _ => Op::SpaceToDepth {
            x,
            block,
            order,
            channels,
        },
    }
}
