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
