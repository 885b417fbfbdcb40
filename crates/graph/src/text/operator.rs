//! From the attributes of a statement to its operator.

use std::sync::Arc;

use restride_text::Diagnostic;

use super::attributes::Attributes;
use super::signature::{ORDERS, POLICIES};
use crate::{
    BroadcastMode, ChannelAxis, DepthOrder, IndexRule, Ints, Op, Operands, OutOfRange, PadMode,
    ReshapeDialect, SliceDialect, StridedSliceDialect, ValueId,
};

/// The operator of a statement whose operands have been counted. `None` for `split`, which may
/// make several values, and for names that have no operator.
pub(super) fn operator(attributes: &Attributes<'_>, operands: &Operands) -> Result<Op, Diagnostic> {
    let a = attributes;
    let (x, indices) = match operands[..] {
        [x, indices, ..] => (x, indices),
        [x] => (x, x),
        [] => return Err(unread(a)),
    };
    Ok(match a.op.text {
        "identity" => Op::Identity { x },
        "strided_slice" => strided_slice(a, x)?,
        "slice" => slice(a, x)?,
        "gather" => Op::Gather {
            x,
            indices,
            axis: a.int("axis")?,
            batch_dims: a.int_if("batch_dims").unwrap_or(0),
            rule: index_rule(a)?,
        },
        "gather_elements" => Op::GatherElements {
            x,
            indices,
            axis: a.int("axis")?,
            rule: index_rule(a)?,
        },
        "gather_nd" => Op::GatherNd {
            x,
            indices,
            batch_dims: a.int_if("batch_dims").unwrap_or(0),
            rule: index_rule(a)?,
        },
        "reshape" => Op::Reshape {
            x,
            dialect: reshape_dialect(a)?,
            pattern: a.ints("shape")?,
        },
        "transpose" => Op::Transpose {
            x,
            perm: a.ints("perm")?,
        },
        "squeeze" => Op::Squeeze {
            x,
            axes: a.ints_if("axes"),
        },
        "unsqueeze" => Op::Unsqueeze {
            x,
            axes: a.ints("axes")?,
        },
        "flatten" => Op::Flatten {
            x,
            axis: a.int("axis")?,
        },
        "broadcast" => Op::Broadcast {
            x,
            shape: a.ints("shape")?,
            mode: broadcast_mode(a)?,
        },
        "reverse" => Op::Reverse {
            x,
            axes: a.ints("axes")?,
        },
        "roll" => Op::Roll {
            x,
            shift: a.ints("shift")?,
            axes: a.ints("axes")?,
        },
        "concat" => Op::Concat {
            parts: operands.clone(),
            axis: a.int("axis")?,
        },
        "tile" => Op::Tile {
            x,
            repeats: a.ints("repeats")?,
        },
        "pad" => Op::Pad {
            x,
            low: a.ints("low")?,
            high: a.ints("high")?,
            mode: pad_mode(a)?,
        },
        "depth_to_space" => Op::DepthToSpace {
            x,
            block: a.int("block")?,
            order: order(a)?,
            channels: channels(a),
        },
        "space_to_depth" => Op::SpaceToDepth {
            x,
            block: a.int("block")?,
            order: order(a)?,
            channels: channels(a),
        },
        "shuffle_channels" => Op::ShuffleChannels {
            x,
            axis: a.int("axis")?,
            groups: a.int("groups")?,
        },
        "center_crop_pad" => Op::CenterCropPad {
            x,
            shape: a.ints("shape")?,
            axes: a.ints_if("axes"),
        },
        "reverse_sequence" => Op::ReverseSequence {
            x,
            lengths: a.ints("lengths")?,
            batch_axis: a.int("batch_axis")?,
            seq_axis: a.int("seq_axis")?,
        },
        _ => return Err(unread(a)),
    })
}

/// A statement that has a signature, and nothing here that reads it.
fn unread(a: &Attributes<'_>) -> Diagnostic {
    let message = format!("{} has a signature, and nothing reads it", a.op.text);
    Diagnostic::new(a.op.span, message)
}

/// One part of a `split`.
pub(super) fn split_part(x: ValueId, axis: i64, lengths: &Arc<[i64]>, part: u32) -> Op {
    Op::Split {
        x,
        axis,
        lengths: Arc::clone(lengths),
        part,
    }
}

fn strided_slice(a: &Attributes<'_>, x: ValueId) -> Result<Op, Diagnostic> {
    let mask = |name| a.int_if(name).unwrap_or(0);
    Ok(Op::StridedSlice {
        x,
        dialect: match a.word_if("dialect") {
            Some("openvino") => StridedSliceDialect::OpenVino,
            Some("mindspore") => StridedSliceDialect::MindSpore,
            Some(_) | None => StridedSliceDialect::TensorFlow,
        },
        begin: a.ints("begin")?,
        end: a.ints("end")?,
        strides: a.ints("strides")?,
        begin_mask: mask("begin_mask"),
        end_mask: mask("end_mask"),
        ellipsis_mask: mask("ellipsis_mask"),
        new_axis_mask: mask("new_axis_mask"),
        shrink_axis_mask: mask("shrink_axis_mask"),
    })
}

/// The words tell the dialect: `start stop step` is OpenVINO's, `starts ends steps` is ONNX's.
fn slice(a: &Attributes<'_>, x: ValueId) -> Result<Op, Diagnostic> {
    let (dialect, others) = if a.has("starts") {
        (SliceDialect::Onnx, SliceDialect::OpenVino)
    } else {
        (SliceDialect::OpenVino, SliceDialect::Onnx)
    };
    let [start, stop, step] = dialect.words();
    a.refuse(&others.words(), &format!("beside `{start}`"))?;
    let start = a.ints(start)?;
    let step = match (dialect, a.ints_if(step)) {
        (_, Some(steps)) => steps,
        (SliceDialect::Onnx, None) => Ints::from_elem(1, start.len()),
        (SliceDialect::OpenVino, None) => a.ints(step)?,
    };
    Ok(Op::Slice {
        x,
        dialect,
        start,
        stop: a.ints(stop)?,
        step,
        axes: a.ints_if("axes"),
    })
}

fn index_rule(a: &Attributes<'_>) -> Result<IndexRule, Diagnostic> {
    Ok(IndexRule {
        out_of_range: match a.word("out_of_range", POLICIES)? {
            "zero" => OutOfRange::Zero,
            "clamp" => OutOfRange::Clamp,
            _ => OutOfRange::Error,
        },
        wrap: a.has("wrap"),
    })
}

fn reshape_dialect(a: &Attributes<'_>) -> Result<ReshapeDialect, Diagnostic> {
    let (special, allow) = ("special_zero", "allow_zero");
    let word = a.word_if("dialect").unwrap_or("plain");
    if word != "openvino" {
        a.refuse(&[special], "without `dialect openvino`")?;
    }
    if word != "onnx" {
        a.refuse(&[allow], "without `dialect onnx`")?;
    }
    Ok(match word {
        "openvino" => ReshapeDialect::OpenVino {
            special_zero: a.has(special),
        },
        "onnx" => ReshapeDialect::Onnx {
            allow_zero: a.has(allow),
        },
        "tensorflow" => ReshapeDialect::TensorFlow,
        "mindspore" => ReshapeDialect::MindSpore,
        _ => ReshapeDialect::Plain,
    })
}

fn broadcast_mode(a: &Attributes<'_>) -> Result<BroadcastMode, Diagnostic> {
    let word = a.word_if("mode").unwrap_or("numpy");
    if word != "explicit" {
        a.refuse(&["axes"], "without `mode explicit`")?;
    }
    Ok(match word {
        "bidirectional" => BroadcastMode::Bidirectional,
        "explicit" => BroadcastMode::Explicit(a.ints("axes")?),
        _ => BroadcastMode::Numpy,
    })
}

fn pad_mode(a: &Attributes<'_>) -> Result<PadMode, Diagnostic> {
    let Some(word) = a.word_if("mode") else {
        return Ok(PadMode::Constant(a.bits_if("constant").unwrap_or(0)));
    };
    a.refuse(&["constant"], "beside `mode`")?;
    Ok(match word {
        "edge" => PadMode::Edge,
        "reflect" => PadMode::Reflect,
        "symmetric" => PadMode::Symmetric,
        _ => PadMode::Wrap,
    })
}

fn order(a: &Attributes<'_>) -> Result<DepthOrder, Diagnostic> {
    Ok(match a.word("order", ORDERS)? {
        "blocks_first" => DepthOrder::BlocksFirst,
        _ => DepthOrder::DepthFirst,
    })
}

fn channels(a: &Attributes<'_>) -> ChannelAxis {
    match a.word_if("channels") {
        Some("last") => ChannelAxis::Last,
        Some(_) | None => ChannelAxis::First,
    }
}
