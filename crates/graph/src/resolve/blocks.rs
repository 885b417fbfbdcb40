//! Operators that are a reshape, a transpose and a reshape.

use super::{
    AxisSpan, PadAxis, PerAxis, axis, check_length, check_rank, overflow, pad, result_rank,
};
use crate::error::{Place, Problem, Refusal};
use crate::{ChannelAxis, Count, DepthOrder, PadMode, Shape};

/// A rearrangement in three steps: cut the axes into `split`, permute by `perm`, join into `shape`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockAxes {
    /// The sizes after the cut.
    pub split: Shape,
    /// For every axis after the permutation, the axis before it.
    pub perm: PerAxis<usize>,
    /// The sizes after joining: the result's shape.
    pub shape: Shape,
}

/// The axes of an image-like tensor: batch, channels, and at least one spatial axis.
struct ImageAxes {
    channel: usize,
    spatial: PerAxis<usize>,
}

fn image(rank: usize, channels: ChannelAxis) -> Result<ImageAxes, Refusal> {
    check_rank(0, rank, Count::AtLeast(3))?;
    // The cut form has one more axis per spatial axis.
    result_rank(rank + rank - 2)?;
    let channel = match channels {
        ChannelAxis::First => 1,
        ChannelAxis::Last => rank - 1,
    };
    Ok(ImageAxes {
        channel,
        spatial: (1..rank).filter(|&axis| axis != channel).collect(),
    })
}

/// The number of elements in a block.
fn volume(block: i64, spatial: usize) -> Result<i64, Refusal> {
    at_least_one("block", block)?;
    (0..spatial).try_fold(1i64, |volume, _| {
        volume.checked_mul(block).ok_or_else(overflow)
    })
}

fn at_least_one(name: &'static str, got: i64) -> Result<(), Refusal> {
    if got >= 1 {
        return Ok(());
    }
    let (low, high) = (1, i64::MAX);
    Err(Place::Attribute(name).refuse(Problem::OutOfRange { got, low, high }))
}

fn divide(size: i64, axis: usize, by: i64) -> Result<i64, Refusal> {
    match size % by {
        0 => Ok(size / by),
        _ => Err(Place::Operand(0).refuse(Problem::NotDivisible { axis, size, by })),
    }
}

/// `depth_to_space`: moves blocks of the channel axis into the spatial axes.
pub fn depth_to_space(
    shape: &[i64],
    block: i64,
    order: DepthOrder,
    channels: ChannelAxis,
) -> Result<BlockAxes, Refusal> {
    let ImageAxes { channel, spatial } = image(shape.len(), channels)?;
    let count = spatial.len();
    let depth = divide(shape[channel], channel, volume(block, count)?)?;
    // The channel axis becomes blocks and depth, in the given order; all others stay.
    let (blocks_at, depth_at) = match order {
        DepthOrder::BlocksFirst => (channel, channel + count),
        DepthOrder::DepthFirst => (channel + 1, channel),
    };
    let mut split = Shape::from_slice(shape);
    split[channel] = depth;
    split.insert_many(blocks_at, std::iter::repeat_n(block, count));
    let place = |axis: usize| if axis > channel { axis + count } else { axis };
    let mut perm = PerAxis::new();
    let mut out = Shape::new();
    for (axis, &size) in shape.iter().enumerate() {
        if axis == channel {
            perm.push(depth_at);
            out.push(depth);
        } else if let Some(k) = spatial.iter().position(|&other| other == axis) {
            perm.extend([place(axis), blocks_at + k]);
            out.push(size.checked_mul(block).ok_or_else(overflow)?);
        } else {
            perm.push(place(axis));
            out.push(size);
        }
    }
    Ok(BlockAxes {
        split,
        perm,
        shape: out,
    })
}

/// `space_to_depth`: the inverse of [`depth_to_space`].
pub fn space_to_depth(
    shape: &[i64],
    block: i64,
    order: DepthOrder,
    channels: ChannelAxis,
) -> Result<BlockAxes, Refusal> {
    let ImageAxes { channel, spatial } = image(shape.len(), channels)?;
    let volume = volume(block, spatial.len())?;
    // Every spatial axis becomes (size / block, block).
    let mut split = Shape::new();
    let mut place = PerAxis::new();
    let mut out = Shape::new();
    for (axis, &size) in shape.iter().enumerate() {
        place.push(split.len());
        if spatial.contains(&axis) {
            let outer = divide(size, axis, block)?;
            split.extend([outer, block]);
            out.push(outer);
        } else {
            split.push(size);
            let factor = if axis == channel { volume } else { 1 };
            out.push(size.checked_mul(factor).ok_or_else(overflow)?);
        }
    }
    let mut perm = PerAxis::new();
    for (axis, &at) in place.iter().enumerate() {
        let blocks = spatial.iter().map(|&spatial| place[spatial] + 1);
        if axis != channel {
            perm.push(at);
            continue;
        }
        match order {
            DepthOrder::BlocksFirst => perm.extend(blocks.chain([at])),
            DepthOrder::DepthFirst => perm.extend([at].into_iter().chain(blocks)),
        }
    }
    Ok(BlockAxes {
        split,
        perm,
        shape: out,
    })
}

/// `shuffle_channels`: cuts an axis into groups, swaps groups and members, joins them again.
pub fn shuffle_channels(shape: &[i64], axis: i64, groups: i64) -> Result<BlockAxes, Refusal> {
    check_rank(0, shape.len(), Count::AtLeast(1))?;
    let axis = self::axis(Place::Attribute("axis"), axis, shape.len())?;
    at_least_one("groups", groups)?;
    let members = divide(shape[axis], axis, groups)?;
    let mut split = Shape::from_slice(shape);
    split[axis] = groups;
    split.insert(axis + 1, members);
    let mut perm: PerAxis<usize> = (0..split.len()).collect();
    perm.swap(axis, axis + 1);
    Ok(BlockAxes {
        split,
        perm,
        shape: Shape::from_slice(shape),
    })
}

/// How many batches a block makes of one, once the lists of a `space_to_batch` or its inverse are
/// known to fit: an entry for each axis, blocks at least 1, rims at least 0, and nothing for axis 0.
fn batches(rank: usize, block: &[i64], rims: [(&'static str, &[i64]); 2]) -> Result<i64, Refusal> {
    check_rank(0, rank, Count::AtLeast(2))?;
    for (name, list, low) in [
        ("block", block, 1),
        (rims[0].0, rims[0].1, 0),
        (rims[1].0, rims[1].1, 0),
    ] {
        check_length(name, list.len(), Count::Exactly(rank))?;
        for (position, &got) in list.iter().enumerate() {
            let high = if position == 0 { low } else { i64::MAX };
            if got < low || got > high {
                let problem = Problem::OutOfRange { got, low, high };
                return Err(Place::Entry(name, position).refuse(problem));
            }
        }
    }
    let mut volume = 1i64;
    for &by in block {
        volume = volume.checked_mul(by).ok_or_else(overflow)?;
    }
    result_rank(rank + block.iter().filter(|&&by| by > 1).count())?;
    Ok(volume)
}

/// `space_to_batch`: the rim of every axis, then how what has it is rearranged.
pub fn space_to_batch(
    shape: &[i64],
    block: &[i64],
    pads_begin: &[i64],
    pads_end: &[i64],
) -> Result<(PerAxis<PadAxis>, BlockAxes), Refusal> {
    let rims = [("pads_begin", pads_begin), ("pads_end", pads_end)];
    let volume = batches(shape.len(), block, rims)?;
    let padded = pad(shape, pads_begin, pads_end, PadMode::Constant(0))?;
    let (mut split, mut out) = (Shape::new(), Shape::new());
    let (mut outer, mut inner) = (PerAxis::new(), PerAxis::new());
    for (axis, (pad, &by)) in padded.iter().zip(block).enumerate() {
        let size = divide(pad.len, axis, by)?;
        outer.push(split.len());
        split.push(size);
        if by > 1 {
            inner.push(split.len());
            split.push(by);
        }
        out.push(size);
    }
    out[0] = out[0].checked_mul(volume).ok_or_else(overflow)?;
    let perm = inner.into_iter().chain(outer).collect();
    let shape = out;
    Ok((padded, BlockAxes { split, perm, shape }))
}

/// `batch_to_space`: how it is rearranged, then what is kept of every axis of that.
pub fn batch_to_space(
    shape: &[i64],
    block: &[i64],
    crops_begin: &[i64],
    crops_end: &[i64],
) -> Result<(BlockAxes, PerAxis<AxisSpan>), Refusal> {
    let crops = [("crops_begin", crops_begin), ("crops_end", crops_end)];
    let volume = batches(shape.len(), block, crops)?;
    let mut split: Shape = block.iter().copied().filter(|&by| by > 1).collect();
    let (mut outer, mut inner) = (split.len(), 0);
    split.push(divide(shape[0], 0, volume)?);
    split.extend_from_slice(&shape[1..]);
    let (mut perm, mut joined, mut kept) = (PerAxis::new(), Shape::new(), PerAxis::new());
    for (axis, &by) in block.iter().enumerate() {
        let size = split[outer].checked_mul(by).ok_or_else(overflow)?;
        perm.push(outer);
        outer += 1;
        if by > 1 {
            perm.push(inner);
            inner += 1;
        }
        joined.push(size);
        let got = crops_begin[axis].unsigned_abs() as u128 + crops_end[axis].unsigned_abs() as u128;
        if got > size.unsigned_abs() as u128 {
            let problem = Problem::CroppedAway { got, axis, size };
            return Err(Place::Entry("crops_end", axis).refuse(problem));
        }
        kept.push(AxisSpan::between(
            crops_begin[axis],
            size - crops_end[axis],
            1,
        ));
    }
    let shape = joined;
    Ok((BlockAxes { split, perm, shape }, kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_and_space_undo_each_other() {
        for order in [DepthOrder::BlocksFirst, DepthOrder::DepthFirst] {
            for channels in [ChannelAxis::First, ChannelAxis::Last] {
                let deep = match channels {
                    ChannelAxis::First => [2, 12, 3, 5],
                    ChannelAxis::Last => [2, 3, 5, 12],
                };
                let there = depth_to_space(&deep, 2, order, channels).unwrap();
                let back = space_to_depth(&there.shape, 2, order, channels).unwrap();
                assert_eq!(back.shape.as_slice(), deep);
                // Joined and cut at the same places, the permutations are inverses.
                let joined: Vec<i64> = there.perm.iter().map(|&axis| there.split[axis]).collect();
                assert_eq!(joined, back.split.to_vec());
                let both: Vec<usize> = back.perm.iter().map(|&axis| there.perm[axis]).collect();
                assert_eq!(both, (0..joined.len()).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused() {
        let (order, channels) = (DepthOrder::BlocksFirst, ChannelAxis::First);
        assert!(depth_to_space(&[1, 6, 2, 2], 2, order, channels).is_err());
        assert!(depth_to_space(&[1, 4, 2], 0, order, channels).is_err());
        assert!(depth_to_space(&[1, 4], 2, order, channels).is_err());
        assert!(depth_to_space(&[1, 0, 2, 2], i64::MAX, order, channels).is_err());
        assert!(space_to_depth(&[1, 4, 3, 2], 2, order, channels).is_err());
        assert!(shuffle_channels(&[1, 4], 1, 3).is_err());
        assert!(shuffle_channels(&[1, 4], 1, i64::MIN).is_err());
        let shuffled = shuffle_channels(&[1, 4], -1, 2).unwrap();
        assert_eq!(shuffled.perm.as_slice(), [0, 2, 1]);
    }
}
