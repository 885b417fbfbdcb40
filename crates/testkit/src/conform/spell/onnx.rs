//! ONNX operators, for ONNX Runtime's cases and ONNX's own node tests. Parameters that older
//! versions spell as attributes are taken from there when the input is absent.

use restride_graph::{
    BroadcastMode, ChannelAxis, DepthOrder, ElementType, IndexRule, Ints, Op, OutOfRange, PadMode,
    ReshapeDialect, SliceDialect,
};

use super::call::{Allowed, Call, Form};
use super::{SpellError, require};
use crate::conform::values;

const INDEX: Allowed = Allowed::Only(&[ElementType::I32, ElementType::I64]);
const SHAPE: Allowed = Allowed::Only(&[ElementType::I64]);
const RULE: IndexRule = IndexRule {
    out_of_range: OutOfRange::Error,
    wrap: true,
};

pub(super) fn spell(call: &mut Call<'_>) -> Result<(), SpellError> {
    match call.case.op.as_str() {
        "Slice" => slice(call),
        "Gather" => gather(call),
        "GatherElements" => gather_elements(call),
        "GatherND" => gather_nd(call),
        "Reshape" => reshape(call),
        "Transpose" => transpose(call),
        "Squeeze" => squeeze(call),
        "Unsqueeze" => unsqueeze(call),
        "Flatten" => flatten(call),
        "Expand" => expand(call),
        "Tile" => tile(call),
        "Concat" => call.concat(),
        "Split" => split(call),
        "Pad" => pad(call),
        "CenterCropPad" => center_crop_pad(call),
        "DepthToSpace" => depth_to_space(call),
        "SpaceToDepth" => space_to_depth(call),
        "ReverseSequence" => reverse_sequence(call),
        "Identity" => identity(call),
        _ => Err(call.unknown()),
    }
}

/// A parameter that is an input, or in older versions an attribute of the same name.
fn given(call: &Call<'_>, name: &str, allowed: Allowed) -> Result<Option<Ints>, SpellError> {
    match call.given_ints(name, Form::Vector, allowed)? {
        Some(ints) => Ok(Some(ints)),
        None => call.given_attr_ints(name),
    }
}

fn required(call: &Call<'_>, name: &str, allowed: Allowed) -> Result<Ints, SpellError> {
    given(call, name, allowed)?
        .ok_or_else(|| SpellError::Unreadable(format!("input `{name}` is missing")))
}

fn slice(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "starts", "ends", "axes", "steps"])?;
    let mut elements = Vec::new();
    for slot in ["starts", "ends", "axes", "steps"] {
        if call.given(slot).is_some() {
            elements.push(call.element(slot)?);
        }
    }
    require!(
        elements.windows(2).all(|pair| pair[0] == pair[1]),
        "starts, ends, axes and steps have several types: {elements:?}"
    );
    let start = required(call, "starts", INDEX)?;
    let op = Op::Slice {
        x: call.operand("data")?,
        dialect: SliceDialect::Onnx,
        stop: required(call, "ends", INDEX)?,
        step: given(call, "steps", INDEX)?.unwrap_or_else(|| Ints::from_elem(1, start.len())),
        axes: given(call, "axes", INDEX)?,
        start,
    };
    call.result(op)
}

fn index_element(call: &Call<'_>) -> Result<(), SpellError> {
    let element = call.element("indices")?;
    let fits = matches!(element, ElementType::I32 | ElementType::I64);
    require!(
        fits,
        "indices are {element}; {} takes i32 and i64",
        call.case.opset
    );
    Ok(())
}

fn gather(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "indices"])?;
    index_element(call)?;
    let op = Op::Gather {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        axis: call.attr_int("axis", Some(0))?,
        batch_dims: 0,
        rule: RULE,
    };
    call.result(op)
}

fn gather_elements(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "indices"])?;
    index_element(call)?;
    let op = Op::GatherElements {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        axis: call.attr_int("axis", Some(0))?,
        rule: RULE,
    };
    call.result(op)
}

fn gather_nd(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "indices"])?;
    let element = call.element("indices")?;
    require!(
        element == ElementType::I64,
        "indices are {element}; GatherND takes i64"
    );
    require!(call.rank("data")? > 0, "the data have no axis");
    let op = Op::GatherNd {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        batch_dims: call.attr_int("batch_dims", Some(0))?,
        rule: RULE,
    };
    call.result(op)
}

fn reshape(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "shape"])?;
    let allow_zero = call.attr_int("allowzero", Some(0))? != 0;
    let op = Op::Reshape {
        x: call.operand("data")?,
        dialect: ReshapeDialect::Onnx { allow_zero },
        pattern: required(call, "shape", SHAPE)?,
    };
    call.result(op)
}

fn transpose(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data"])?;
    let op = Op::Transpose {
        x: call.operand("data")?,
        perm: call.given_attr_ints("perm")?.unwrap_or_default(),
    };
    call.result(op)
}

fn squeeze(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "axes"])?;
    let op = Op::Squeeze {
        x: call.operand("data")?,
        axes: given(call, "axes", SHAPE)?,
    };
    call.result(op)
}

fn unsqueeze(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "axes"])?;
    let op = Op::Unsqueeze {
        x: call.operand("data")?,
        axes: required(call, "axes", SHAPE)?,
    };
    call.result(op)
}

fn flatten(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data"])?;
    let op = Op::Flatten {
        x: call.operand("data")?,
        axis: call.attr_int("axis", Some(1))?,
    };
    call.result(op)
}

fn expand(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "shape"])?;
    let op = Op::Broadcast {
        x: call.operand("data")?,
        shape: required(call, "shape", SHAPE)?,
        mode: BroadcastMode::Bidirectional,
    };
    call.result(op)
}

fn tile(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "repeats"])?;
    let repeats = required(call, "repeats", SHAPE)?;
    let rank = call.rank("data")?;
    require!(
        repeats.len() as i64 == rank,
        "{} repeats for rank {rank}",
        repeats.len()
    );
    let op = Op::Tile {
        x: call.operand("data")?,
        repeats,
    };
    call.result(op)
}

/// Without lengths, all parts but the last have the size rounded up. How many there are is an
/// attribute or, before version 18, as many as the node has outputs.
fn split(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "split"])?;
    let axis = call.attr_int("axis", Some(0))?;
    let x = call.operand("data")?;
    if let Some(lengths) = given(call, "split", SHAPE)? {
        let negative = lengths.iter().find(|&&length| length < 0);
        require!(negative.is_none(), "split length {negative:?} is negative");
        return call.split(x, axis, lengths);
    }
    let size = call.split_size(x, axis)?;
    let outputs = call.case.expect.outputs().map_or(1, <[_]>::len) as i64;
    let named = call.given_attr_int("num_outputs")?;
    let count = named.unwrap_or(outputs);
    require!((1..=1 << 16).contains(&count), "{count} parts");
    require!(
        named.is_some() || size % count == 0,
        "size {size} has no {count} equal parts"
    );
    let part = (size + count - 1) / count;
    let last = size - part * (count - 1);
    require!(last >= 0, "size {size} does not fill {count} parts");
    let mut lengths = Ints::from_elem(part, count as usize);
    lengths[count as usize - 1] = last;
    call.split(x, axis, lengths)
}

fn pad(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "pads", "value", "axes"])?;
    let x = call.operand("data")?;
    let rank = call.shape(x).len();
    let pads = required(call, "pads", SHAPE)?;
    let axes = match given(call, "axes", INDEX)? {
        Some(axes) => axes,
        None => (0..rank as i64).collect(),
    };
    require!(
        pads.len() == 2 * axes.len(),
        "{} pads for {} axes",
        pads.len(),
        axes.len()
    );
    let (mut low, mut high) = (Ints::from_elem(0, rank), Ints::from_elem(0, rank));
    let mut seen = vec![false; rank];
    for (k, &axis) in axes.iter().enumerate() {
        let at = if axis < 0 { axis + rank as i64 } else { axis };
        require!(
            (0..rank as i64).contains(&at),
            "axis {axis} is not in -{rank}..{rank}"
        );
        let at = at as usize;
        require!(
            !std::mem::replace(&mut seen[at], true),
            "axis {at} is named twice"
        );
        (low[at], high[at]) = (pads[k], pads[axes.len() + k]);
    }
    let mode = match call.attr_word("mode", "constant")? {
        "constant" => PadMode::Constant(fill(call, "value")?),
        "edge" => PadMode::Edge,
        "reflect" => PadMode::Reflect,
        "wrap" => PadMode::Wrap,
        other => return Err(SpellError::Refused(format!("pad mode `{other}`"))),
    };
    call.result(Op::Pad { x, low, high, mode })
}

/// The bits of a fill value: an input of the data's type with one element, an attribute in older
/// versions, zero when it is absent.
pub(super) fn fill(call: &Call<'_>, slot: &str) -> Result<u128, SpellError> {
    let data = call.element("data")?;
    let Some(array) = call.given(slot) else {
        return match call.attr(slot) {
            None => Ok(0),
            Some(serde_json::Value::Number(number)) => {
                values::encode(data, number).map_err(SpellError::Unreadable)
            }
            Some(other) => Err(SpellError::Unreadable(format!(
                "attribute `{slot}` is {other}"
            ))),
        };
    };
    let tensor = values::tensor(array).map_err(SpellError::Unreadable)?;
    require!(
        tensor.element() == data,
        "{slot} is {}, the data {data}",
        tensor.element()
    );
    let one = tensor.rank() <= 1 && tensor.ty().numel() == 1;
    require!(one, "{slot} has shape {:?}", tensor.shape());
    Ok(tensor.bits(&vec![0; tensor.rank()]))
}

fn center_crop_pad(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "shape"])?;
    let op = Op::CenterCropPad {
        x: call.operand("data")?,
        shape: required(call, "shape", INDEX)?,
        axes: call.given_attr_ints("axes")?,
    };
    call.result(op)
}

fn depth_order(call: &Call<'_>) -> Result<DepthOrder, SpellError> {
    match call.attr_word("mode", "DCR")? {
        "DCR" => Ok(DepthOrder::BlocksFirst),
        "CRD" => Ok(DepthOrder::DepthFirst),
        other => Err(SpellError::Refused(format!("mode `{other}`"))),
    }
}

fn depth_to_space(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data"])?;
    let op = Op::DepthToSpace {
        x: call.operand("data")?,
        block: call.attr_int("blocksize", None)?,
        order: depth_order(call)?,
        channels: ChannelAxis::First,
    };
    call.result(op)
}

fn space_to_depth(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data"])?;
    let op = Op::SpaceToDepth {
        x: call.operand("data")?,
        block: call.attr_int("blocksize", None)?,
        order: depth_order(call)?,
        channels: ChannelAxis::First,
    };
    call.result(op)
}

fn reverse_sequence(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "sequence_lens"])?;
    let op = Op::ReverseSequence {
        x: call.operand("data")?,
        lengths: required(call, "sequence_lens", SHAPE)?,
        batch_axis: call.attr_int("batch_axis", Some(1))?,
        seq_axis: call.attr_int("time_axis", Some(0))?,
    };
    call.result(op)
}

fn identity(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data"])?;
    let x = call.operand("data")?;
    call.result(Op::Identity { x })
}
