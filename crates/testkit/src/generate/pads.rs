//! Operators that add, crop, repeat and turn: pad, crop, roll, tile, reverse_sequence.

use restride_graph::{ElementType, Ints, Op, PadMode, ValueId};

use super::Random;
use super::views::some_axes;

/// One of these operators, if a value of this shape may have one.
pub(super) fn any(
    random: &mut Random,
    x: ValueId,
    shape: &[i64],
    element: ElementType,
) -> Option<Op> {
    let rank = shape.len();
    let small = shape.iter().product::<i64>() <= 400;
    match random.below(28) {
        0..8 if small => Some(pad(random, x, shape, element)),
        8..11 if small => Some(center_crop_pad(random, x, shape)),
        11..18 if rank > 0 => Some(roll(random, x, rank)),
        18..23 if small => Some(tile(random, x, rank)),
        23..26 if rank >= 2 => Some(reverse_sequence(random, x, shape)),
        26 if small && rank >= 2 => Some(space_to_batch(random, x, shape)),
        27 if rank >= 2 => Some(batch_to_space(random, x, shape)),
        _ => None,
    }
}

fn space_to_batch(random: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let (mut block, mut pads_begin, mut pads_end) = (Ints::new(), Ints::new(), Ints::new());
    for (axis, &size) in shape.iter().enumerate() {
        let by = if axis == 0 {
            1
        } else {
            random.pick(&[1, 2, 2, 3])
        };
        let low = if by == 1 { 0 } else { random.within(0, 2) };
        block.push(by);
        pads_begin.push(low);
        // Up to a multiple, or to the next.
        pads_end.push(-(size + low) % by + by * i64::from(by > 1 && (size + low) % by > 0));
    }
    Op::SpaceToBatch {
        x,
        block,
        pads_begin,
        pads_end,
    }
}

fn batch_to_space(random: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let (mut block, mut crops_begin, mut crops_end) = (Ints::new(), Ints::new(), Ints::new());
    let mut batch = shape[0];
    for (axis, &size) in shape.iter().enumerate() {
        let by = if axis == 0 {
            1
        } else {
            random.pick(&[1, 2, 3, 4])
        };
        let by = if batch % by == 0 { by } else { 1 };
        batch /= by;
        let most = if axis == 0 { 0 } else { (size * by).min(2) };
        let low = random.within(0, most);
        block.push(by);
        crops_begin.push(low);
        crops_end.push(random.within(0, most - low));
    }
    Op::BatchToSpace {
        x,
        block,
        crops_begin,
        crops_end,
    }
}

fn pad(random: &mut Random, x: ValueId, shape: &[i64], element: ElementType) -> Op {
    let bits = u128::from(random.bits()) << 64 | u128::from(random.bits());
    let mode = random.pick(&[
        PadMode::Constant(bits & element.bit_mask()),
        PadMode::Constant(0),
        PadMode::Edge,
        PadMode::Reflect,
        PadMode::Symmetric,
        PadMode::Wrap,
    ]);
    let (mut low, mut high) = (Ints::new(), Ints::new());
    for &size in shape {
        if random.percent(45) {
            low.push(0);
            high.push(0);
            continue;
        }
        let most = match mode {
            PadMode::Constant(_) => 3,
            PadMode::Edge => {
                if size > 0 {
                    3
                } else {
                    0
                }
            }
            PadMode::Wrap => {
                if size > 0 {
                    size + 2
                } else {
                    0
                }
            }
            PadMode::Reflect => (size - 1).clamp(0, 3),
            PadMode::Symmetric => size.min(3),
        };
        let mut amount = |left: i64| match random.below(10) {
            0 | 1 => -random.within(0, left.clamp(0, 2)),
            2..4 => 0,
            _ => random.within(0, most),
        };
        let first = amount(size);
        let second = amount(size + first.min(0));
        low.push(first);
        high.push(second);
    }
    Op::Pad { x, low, high, mode }
}

fn center_crop_pad(random: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let near = |random: &mut Random, size: i64| (size + random.within(-3, 3)).max(0);
    if random.percent(40) {
        let shape = shape.iter().map(|&size| near(random, size)).collect();
        return Op::CenterCropPad {
            x,
            shape,
            axes: None,
        };
    }
    let (axes, spelled) = some_axes(random, shape.len());
    let target = axes.iter().map(|&axis| near(random, shape[axis])).collect();
    Op::CenterCropPad {
        x,
        shape: target,
        axes: Some(spelled),
    }
}

fn roll(random: &mut Random, x: ValueId, rank: usize) -> Op {
    let (_, mut axes) = some_axes(random, rank);
    if !axes.is_empty() && random.percent(15) {
        // Shifts of an axis named twice add up.
        axes.push(axes[0]);
    }
    let shift = axes
        .iter()
        .map(|_| match random.below(12) {
            0 => random.pick(&[i64::MIN, i64::MAX, -100, 100]),
            _ => random.within(-5, 5),
        })
        .collect();
    Op::Roll { x, shift, axes }
}

fn tile(random: &mut Random, x: ValueId, rank: usize) -> Op {
    let count = match random.below(10) {
        0 => random.below(rank + 1),
        1 => rank + usize::from(rank < 5),
        _ => rank,
    };
    let repeats = (0..count)
        .map(|_| match random.below(30) {
            0 => 0,
            1..17 => 1,
            17..27 => 2,
            _ => 3,
        })
        .collect();
    Op::Tile { x, repeats }
}

fn reverse_sequence(random: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let axes = random.permutation(shape.len());
    let (batch, seq) = (axes[0], axes[1]);
    let lengths = (0..shape[batch])
        .map(|_| random.within(0, shape[seq]))
        .collect();
    Op::ReverseSequence {
        x,
        lengths,
        batch_axis: random.spelled_axis(batch, shape.len()),
        seq_axis: random.spelled_axis(seq, shape.len()),
    }
}
