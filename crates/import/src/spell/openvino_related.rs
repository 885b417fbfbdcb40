//! The rest of OpenVINO's data movement.

use restride_graph::{BroadcastMode, ChannelAxis, DepthOrder, Ints, Op, PadMode};

use super::call::Speller::{One, Several};
use super::call::{ListForm, Row, SpelledCall};
use super::onnx::fill;
use super::openvino::ANY;
use super::{SpellError, require};

pub(super) const OPERATORS: &[Row] = &[
    ("Transpose", "data order", One(transpose)),
    ("Squeeze", "data axes", One(squeeze)),
    ("Unsqueeze", "data axes", One(unsqueeze)),
    (
        "Broadcast",
        "data target_shape axes_mapping",
        One(broadcast),
    ),
    ("Tile", "data repeats", One(tile)),
    ("Reverse", "data axes", One(reverse)),
    ("Roll", "data shift axes", One(roll)),
    ("Concat", "*", Several(|call| call.concat(None))),
    ("Split", "data axis", Several(split)),
    (
        "VariadicSplit",
        "data axis split_lengths",
        Several(variadic_split),
    ),
    ("Pad", "data pads_begin pads_end pad_value", One(pad)),
    ("DepthToSpace", "data", One(depth_to_space)),
    ("SpaceToDepth", "data", One(space_to_depth)),
    (
        "SpaceToBatch",
        "data block_shape pads_begin pads_end",
        One(space_to_batch),
    ),
    (
        "BatchToSpace",
        "data block_shape crops_begin crops_end",
        One(batch_to_space),
    ),
    ("ShuffleChannels", "data", One(shuffle_channels)),
    ("ReverseSequence", "data seq_lengths", One(reverse_sequence)),
];

fn transpose(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::Transpose {
        x: call.operand("data")?,
        perm: call
            .given_ints("order", ListForm::Vector, ANY)?
            .unwrap_or_default(),
    })
}

/// No axes, or an empty list of them, means all of size 1.
fn squeeze(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let axes = call.given_ints("axes", ListForm::ScalarOrVector, ANY)?;
    Ok(Op::Squeeze {
        x: call.operand("data")?,
        axes: axes.filter(|axes| !axes.is_empty()),
    })
}

fn unsqueeze(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::Unsqueeze {
        x: call.operand("data")?,
        axes: call.ints("axes", ListForm::ScalarOrVector, ANY)?,
    })
}

fn broadcast(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let shape = call.ints("target_shape", ListForm::Vector, ANY)?;
    let default = if call.given("axes_mapping").is_some() {
        "explicit"
    } else {
        "numpy"
    };
    let mode = match call.attr_word("mode", default)? {
        "numpy" => BroadcastMode::Numpy,
        "bidirectional" => BroadcastMode::Bidirectional,
        "explicit" | "none" => {
            BroadcastMode::Explicit(call.ints("axes_mapping", ListForm::Vector, ANY)?)
        }
        other => return Err(SpellError::Refused(format!("mode `{other}`"))),
    };
    Ok(Op::Broadcast {
        x: call.operand("data")?,
        shape,
        mode,
    })
}

fn tile(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::Tile {
        x: call.operand("data")?,
        repeats: call.ints("repeats", ListForm::Vector, ANY)?,
    })
}

/// Axes come as their numbers, or with mode `mask` as one flag per axis.
fn reverse(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let x = call.operand("data")?;
    let axes = match call.attr_word("mode", "index")? {
        "index" => call
            .given_ints("axes", ListForm::Vector, ANY)?
            .unwrap_or_default(),
        "mask" => {
            let flags = super::integers(call.value("axes")?)
                .ok_or_else(|| SpellError::Unreadable("flags that are no integers".into()))?;
            let rank = call.shape(x).len();
            require!(flags.len() == rank, "{} flags for rank {rank}", flags.len());
            (0..rank as i64)
                .filter(|&axis| flags[axis as usize] != 0)
                .collect()
        }
        other => return Err(SpellError::Refused(format!("mode `{other}`"))),
    };
    Ok(Op::Reverse { x, axes })
}

/// One shift may serve several axes.
fn roll(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let mut shift = call.ints("shift", ListForm::ScalarOrVector, ANY)?;
    let axes = call.ints("axes", ListForm::ScalarOrVector, ANY)?;
    if let [one] = shift[..] {
        shift = Ints::from_elem(one, axes.len());
    }
    Ok(Op::Roll {
        x: call.operand("data")?,
        shift,
        axes,
    })
}

fn split(call: &mut SpelledCall<'_>) -> Result<(), SpellError> {
    let axis = call.int("axis", ListForm::OneElement, ANY)?;
    let count = call.attr_int("num_splits", None)?;
    let x = call.operand("data")?;
    let size = call.split_size(x, axis)?;
    require!((1..=1 << 16).contains(&count), "{count} parts");
    require!(size % count == 0, "size {size} has no {count} equal parts");
    call.split(x, axis, Ints::from_elem(size / count, count as usize))
}

fn variadic_split(call: &mut SpelledCall<'_>) -> Result<(), SpellError> {
    let axis = call.int("axis", ListForm::OneElement, ANY)?;
    let lengths = call.ints("split_lengths", ListForm::Vector, ANY)?;
    let x = call.operand("data")?;
    call.split(x, axis, lengths)
}

/// Negative amounts came with version 12.
fn pad(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let low = call.ints("pads_begin", ListForm::Vector, ANY)?;
    let high = call.ints("pads_end", ListForm::Vector, ANY)?;
    let negative = low.iter().chain(&high).find(|&&amount| amount < 0);
    require!(
        call.spelling.version != 1 || negative.is_none(),
        "amount {negative:?} is negative"
    );
    let mode = match call.attr_word("pad_mode", "constant")? {
        "constant" => PadMode::Constant(fill(call, "pad_value")?),
        "edge" => PadMode::Edge,
        "reflect" => PadMode::Reflect,
        "symmetric" => PadMode::Symmetric,
        other => return Err(SpellError::Refused(format!("mode `{other}`"))),
    };
    Ok(Op::Pad {
        x: call.operand("data")?,
        low,
        high,
        mode,
    })
}

fn depth_order(call: &SpelledCall<'_>) -> Result<DepthOrder, SpellError> {
    match call.attr_word("mode", "blocks_first")? {
        "blocks_first" => Ok(DepthOrder::BlocksFirst),
        "depth_first" => Ok(DepthOrder::DepthFirst),
        other => Err(SpellError::Refused(format!("mode `{other}`"))),
    }
}

fn depth_to_space(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::DepthToSpace {
        x: call.operand("data")?,
        block: call.attr_int("block_size", Some(1))?,
        order: depth_order(call)?,
        channels: ChannelAxis::First,
    })
}

fn space_to_depth(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::SpaceToDepth {
        x: call.operand("data")?,
        block: call.attr_int("block_size", Some(1))?,
        order: depth_order(call)?,
        channels: ChannelAxis::First,
    })
}

fn space_to_batch(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::SpaceToBatch {
        x: call.operand("data")?,
        block: call.ints("block_shape", ListForm::Vector, ANY)?,
        pads_begin: call.ints("pads_begin", ListForm::Vector, ANY)?,
        pads_end: call.ints("pads_end", ListForm::Vector, ANY)?,
    })
}

fn batch_to_space(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::BatchToSpace {
        x: call.operand("data")?,
        block: call.ints("block_shape", ListForm::Vector, ANY)?,
        crops_begin: call.ints("crops_begin", ListForm::Vector, ANY)?,
        crops_end: call.ints("crops_end", ListForm::Vector, ANY)?,
    })
}

fn shuffle_channels(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::ShuffleChannels {
        x: call.operand("data")?,
        axis: call.attr_int("axis", Some(1))?,
        groups: call.attr_int("group", Some(1))?,
    })
}

fn reverse_sequence(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::ReverseSequence {
        x: call.operand("data")?,
        lengths: call.ints("seq_lengths", ListForm::Vector, ANY)?,
        batch_axis: call.attr_int("batch_axis", Some(0))?,
        seq_axis: call.attr_int("seq_axis", Some(1))?,
    })
}
