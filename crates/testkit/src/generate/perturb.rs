//! Operators that are nearly right: one number of a valid one changed.

use restride_graph::{BroadcastMode, Ints, Op, PadMode};

use super::Random;

const EXTREMES: [i64; 8] = [
    i64::MIN,
    i64::MIN + 1,
    -1,
    0,
    1,
    i64::MAX - 1,
    i64::MAX,
    1 << 32,
];

fn number(random: &mut Random, number: &mut i64) {
    *number = match random.below(6) {
        0 => number.saturating_add(1),
        1 => number.saturating_sub(1),
        2 => number.checked_neg().unwrap_or(0),
        3 => random.within(-7, 7),
        _ => random.pick(&EXTREMES),
    };
}

fn list(random: &mut Random, list: &mut Ints) {
    match random.below(8) {
        0 => drop(list.pop()),
        1 => list.push(random.within(-3, 5)),
        2 if !list.is_empty() => {
            let entry = random.pick(list);
            list.push(entry);
        }
        _ if !list.is_empty() => {
            let at = random.below(list.len());
            number(random, &mut list[at]);
        }
        _ => {}
    }
}

/// Changes one attribute of an operator a little, or a lot.
pub(super) fn perturb(random: &mut Random, op: &mut Op) {
    match op {
        Op::Input | Op::Constant(_) | Op::Identity { x: _ } => {}
        Op::StridedSlice {
            x: _,
            dialect: _,
            begin,
            end,
            strides,
            begin_mask,
            end_mask,
            ellipsis_mask,
            new_axis_mask,
            shrink_axis_mask,
        } => match random.below(8) {
            0 => list(random, begin),
            1 => list(random, end),
            2 => list(random, strides),
            3 => number(random, begin_mask),
            4 => number(random, end_mask),
            5 => *ellipsis_mask ^= 1 << random.below(8),
            6 => *new_axis_mask ^= 1 << random.below(8),
            _ => *shrink_axis_mask ^= 1 << random.below(8),
        },
        Op::Slice {
            x: _,
            dialect: _,
            start,
            stop,
            step,
            axes,
        } => match (random.below(4), axes) {
            (0, _) => list(random, start),
            (1, _) => list(random, stop),
            (2, Some(axes)) => list(random, axes),
            (2 | 3, _) | (4.., _) => list(random, step),
        },
        Op::Gather {
            x: _,
            indices: _,
            axis,
            batch_dims,
            rule: _,
        } => match random.flip() {
            true => number(random, axis),
            false => number(random, batch_dims),
        },
        Op::GatherElements {
            x: _,
            indices: _,
            axis,
            rule: _,
        } => number(random, axis),
        Op::GatherNd {
            x: _,
            indices: _,
            batch_dims,
            rule: _,
        } => number(random, batch_dims),
        Op::Reshape {
            x: _,
            dialect: _,
            pattern,
        } => list(random, pattern),
        Op::Transpose { x: _, perm } => list(random, perm),
        Op::Squeeze {
            x: _,
            axes: Some(axes),
        }
        | Op::Unsqueeze { x: _, axes }
        | Op::Reverse { x: _, axes } => {
            list(random, axes);
        }
        Op::Squeeze { x: _, axes } => *axes = Some(Ints::from_slice(&[random.within(-3, 3)])),
        Op::Flatten { x: _, axis } => number(random, axis),
        Op::Broadcast { x: _, shape, mode } => match mode {
            BroadcastMode::Explicit(axes) if random.flip() => list(random, axes),
            BroadcastMode::Explicit(_) | BroadcastMode::Numpy | BroadcastMode::Bidirectional => {
                list(random, shape);
            }
        },
        Op::Roll { x: _, shift, axes } => match random.flip() {
            true => list(random, shift),
            false => list(random, axes),
        },
        Op::Split {
            x: _,
            axis,
            lengths,
            part,
        } => match random.below(3) {
            0 => number(random, axis),
            1 => *part = part.wrapping_add_signed(random.pick(&[-1, 1])),
            _ => {
                let mut changed: Ints = lengths.iter().copied().collect();
                list(random, &mut changed);
                *lengths = changed.as_slice().into();
            }
        },
        Op::Concat { parts: _, axis } => number(random, axis),
        Op::Tile { x: _, repeats } => list(random, repeats),
        Op::Pad {
            x: _,
            low,
            high,
            mode,
        } => match random.below(3) {
            0 => list(random, low),
            1 => list(random, high),
            _ => {
                let bits = 1 << random.below(128);
                *mode = random.pick(&[
                    PadMode::Constant(bits),
                    PadMode::Edge,
                    PadMode::Reflect,
                    PadMode::Symmetric,
                    PadMode::Wrap,
                ]);
            }
        },
        Op::DepthToSpace {
            x: _,
            block,
            order: _,
            channels: _,
        }
        | Op::SpaceToDepth {
            x: _,
            block,
            order: _,
            channels: _,
        } => number(random, block),
        Op::ShuffleChannels { x: _, axis, groups } => match random.flip() {
            true => number(random, axis),
            false => number(random, groups),
        },
        Op::CenterCropPad { x: _, shape, axes } => match axes {
            Some(axes) if random.flip() => list(random, axes),
            Some(_) | None => list(random, shape),
        },
        Op::ReverseSequence {
            x: _,
            lengths,
            batch_axis,
            seq_axis,
        } => match random.below(3) {
            0 => list(random, lengths),
            1 => number(random, batch_axis),
            _ => number(random, seq_axis),
        },
    }
}
