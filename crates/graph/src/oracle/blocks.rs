//! Operators that cut an axis into blocks and deal them out elsewhere.

use crate::{ChannelAxis, DepthOrder};

use super::refusal::{OpError, axis, refused, require};
use super::walk::Rule;

/// Where the depth axis and the spatial axes of an image-like tensor stand.
struct Image {
    depth: usize,
    spatial: std::ops::Range<usize>,
    /// `block` to the number of spatial axes.
    blocks: i64,
}

fn image(
    op: &'static str,
    shape: &[i64],
    block: i64,
    channels: ChannelAxis,
) -> Result<Image, OpError> {
    let rank = shape.len();
    require!(
        op,
        rank >= 3,
        "rank {rank} has no batch, depth and spatial axes"
    );
    require!(op, block >= 1, "block {block} is below 1");
    let (depth, spatial) = match channels {
        ChannelAxis::First => (1, 2..rank),
        ChannelAxis::Last => (rank - 1, 1..rank - 1),
    };
    let blocks = (spatial.clone()).try_fold(1i64, |n, _| n.checked_mul(block));
    match blocks {
        Some(blocks) => Ok(Image {
            depth,
            spatial,
            blocks,
        }),
        None => Err(refused(op, format!("block {block} is too large"))),
    }
}

/// The depth that channel `c` of `channels` and block `b` of `blocks` share.
fn depth(order: DepthOrder, c: i64, channels: i64, b: i64, blocks: i64) -> i64 {
    match order {
        DepthOrder::BlocksFirst => b * channels + c,
        DepthOrder::DepthFirst => c * blocks + b,
    }
}

/// `out[n, c, s_1 B + b_1, ..] = x[n, depth(c, b), s_1, ..]`, `b` the row-major number of `b_1, ..`.
pub(super) fn depth_to_space<'a>(
    shape: &[i64],
    block: i64,
    order: DepthOrder,
    channels: ChannelAxis,
) -> Result<Rule<'a>, OpError> {
    let op = "depth_to_space";
    let image = image(op, shape, block, channels)?;
    let d = shape[image.depth];
    require!(
        op,
        d % image.blocks == 0,
        "depth {d} is not a multiple of {}",
        image.blocks
    );
    let count = d / image.blocks;
    let mut sizes = shape.to_vec();
    sizes[image.depth] = count;
    for s in image.spatial.clone() {
        let size = sizes[s].checked_mul(block);
        sizes[s] = size.ok_or_else(|| refused(op, format!("axis {s} grows too large")))?;
    }
    Ok(Rule::from_x(sizes, move |out| {
        let mut index = out.to_vec();
        let mut b = 0;
        for s in image.spatial.clone() {
            b = b * block + out[s] % block;
            index[s] = out[s] / block;
        }
        index[image.depth] = depth(order, out[image.depth], count, b, image.blocks);
        index
    }))
}

/// `out[n, depth(c, b), s_1, ..] = x[n, c, s_1 B + b_1, ..]`: the inverse.
pub(super) fn space_to_depth<'a>(
    shape: &[i64],
    block: i64,
    order: DepthOrder,
    channels: ChannelAxis,
) -> Result<Rule<'a>, OpError> {
    let op = "space_to_depth";
    let image = image(op, shape, block, channels)?;
    let count = shape[image.depth];
    let mut sizes = shape.to_vec();
    let size = count.checked_mul(image.blocks);
    sizes[image.depth] = size.ok_or_else(|| refused(op, "the depth grows too large".into()))?;
    for s in image.spatial.clone() {
        require!(
            op,
            shape[s] % block == 0,
            "axis {s} has size {}, no multiple of {block}",
            shape[s]
        );
        sizes[s] = shape[s] / block;
    }
    Ok(Rule::from_x(sizes, move |out| {
        let q = out[image.depth];
        let (c, mut b) = match order {
            DepthOrder::BlocksFirst => (q % count, q / count),
            DepthOrder::DepthFirst => (q / image.blocks, q % image.blocks),
        };
        let mut index = out.to_vec();
        for s in image.spatial.clone().rev() {
            index[s] = out[s] * block + b % block;
            b /= block;
        }
        index[image.depth] = c;
        index
    }))
}

/// The lists of a `space_to_batch` or its inverse; how many batches there are to one.
fn batches(
    op: &'static str,
    rank: usize,
    block: &[i64],
    begin: &[i64],
    end: &[i64],
) -> Result<i64, OpError> {
    require!(op, rank >= 2, "rank {rank} has no batch and other axes");
    let lists = [block, begin, end];
    require!(
        op,
        lists.iter().all(|list| list.len() == rank),
        "{lists:?} are not three lists of {rank}"
    );
    require!(
        op,
        lists.map(|list| list[0]) == [1, 0, 0],
        "the batch has a block or a rim"
    );
    require!(
        op,
        block.iter().all(|&by| by >= 1),
        "a block of {block:?} is below 1"
    );
    require!(
        op,
        begin.iter().chain(end).all(|&rim| rim >= 0),
        "a rim of {begin:?} or {end:?} is negative"
    );
    let count = (block.iter()).try_fold(1i64, |n, &by| n.checked_mul(by));
    let cut = block.iter().filter(|&&by| by > 1).count();
    require!(op, rank + cut <= 32, "{cut} axes of {rank} are cut");
    count.ok_or_else(|| refused(op, format!("blocks {block:?} are too large")))
}

/// `out[b N + n, i_1, ..] = x[n, i_1 B_1 + b_1 - begin_1, ..]`, or zero bits where that is outside;
/// `b` is the row-major number of `b_1, ..`.
pub(super) fn space_to_batch<'a>(
    shape: &[i64],
    block: &'a [i64],
    begin: &'a [i64],
    end: &[i64],
) -> Result<Rule<'a>, OpError> {
    let op = "space_to_batch";
    let batches = batches(op, shape.len(), block, begin, end)?;
    let count = shape[0];
    let size = count.checked_mul(batches);
    let mut sizes = vec![size.ok_or_else(|| refused(op, "the batch grows too large".into()))?];
    for k in 1..shape.len() {
        let size = i128::from(shape[k]) + i128::from(begin[k]) + i128::from(end[k]);
        let by = i128::from(block[k]);
        require!(
            op,
            size % by == 0,
            "axis {k} has size {size}, no multiple of {by}"
        );
        require!(op, size <= i64::MAX.into(), "axis {k} grows too large");
        sizes.push((size / by) as i64);
    }
    let shape = shape.to_vec();
    Ok(Rule::from_x_or(sizes, 0, move |out| {
        let mut index = out.to_vec();
        let mut b = out[0] / count;
        index[0] = out[0] % count;
        for k in (1..index.len()).rev() {
            index[k] = out[k] * block[k] + b % block[k] - begin[k];
            b /= block[k];
        }
        let inside = index
            .iter()
            .zip(&shape)
            .all(|(i, size)| (0..*size).contains(i));
        inside.then_some(index)
    }))
}

/// `out[n, j_1, ..] = x[b N + n, i_1, ..]` with `i_1 B_1 + b_1 = j_1 + begin_1`: the inverse.
pub(super) fn batch_to_space<'a>(
    shape: &[i64],
    block: &'a [i64],
    begin: &'a [i64],
    end: &[i64],
) -> Result<Rule<'a>, OpError> {
    let op = "batch_to_space";
    let batches = batches(op, shape.len(), block, begin, end)?;
    require!(
        op,
        shape[0] % batches == 0,
        "a batch of {} is no multiple of {batches}",
        shape[0]
    );
    let count = shape[0] / batches;
    let mut sizes = vec![count];
    for k in 1..shape.len() {
        let size = i128::from(shape[k]) * i128::from(block[k]);
        require!(op, size <= i64::MAX.into(), "axis {k} grows too large");
        let left = size - i128::from(begin[k]) - i128::from(end[k]);
        require!(op, left >= 0, "more is cropped than the {size} of axis {k}");
        sizes.push(left as i64);
    }
    Ok(Rule::from_x(sizes, move |out| {
        let mut index = out.to_vec();
        let mut b = 0;
        for k in 1..index.len() {
            let j = out[k] + begin[k];
            b = b * block[k] + j % block[k];
            index[k] = j / block[k];
        }
        index[0] = b * count + out[0];
        index
    }))
}

/// `out[.., i * groups + g, ..] = x[.., g * (d / groups) + i, ..]`.
pub(super) fn shuffle_channels<'a>(
    shape: &[i64],
    along: i64,
    groups: i64,
) -> Result<Rule<'a>, OpError> {
    let op = "shuffle_channels";
    let along = axis(op, along, shape.len())?;
    let d = shape[along];
    require!(op, groups >= 1, "{groups} groups");
    require!(
        op,
        d % groups == 0,
        "axis {along} has size {d}, no multiple of {groups}"
    );
    Ok(Rule::from_x(shape.to_vec(), move |out| {
        let mut index = out.to_vec();
        let (i, g) = (out[along] / groups, out[along] % groups);
        index[along] = g * (d / groups) + i;
        index
    }))
}
