//! ONNX operators, for ONNX Runtime's cases and ONNX's own node tests. Parameters that older
//! versions spell as attributes are taken from there when the input is absent.

use restride_graph::{
    BroadcastMode, ChannelAxis, Constant, DepthOrder, ElementType, IndexRule, Ints, Op, OutOfRange,
    PadMode, ReshapeDialect, SliceDialect,
};

use super::call::Speller::{One, Several};
use super::call::{Allowed, ListForm, Row, SpelledCall};
use super::{Attribute, SpellError, blocks, require};
use crate::number::encode;

const INDEX: Allowed = Allowed::Only(&[ElementType::I32, ElementType::I64]);
const SHAPE: Allowed = Allowed::Only(&[ElementType::I64]);
const RULE: IndexRule = IndexRule {
    out_of_range: OutOfRange::Error,
    wrap: true,
};

/// The operators that only move data.
pub(super) const OPERATORS: &[Row] = &[
    ("Slice", "data starts ends axes steps", One(slice)),
    ("Gather", "data indices", One(gather)),
    ("GatherElements", "data indices", One(gather_elements)),
    ("GatherND", "data indices", One(gather_nd)),
    ("Reshape", "data shape", One(reshape)),
    ("Transpose", "data", One(transpose)),
    ("Squeeze", "data axes", One(squeeze)),
    ("Unsqueeze", "data axes", One(unsqueeze)),
    ("Flatten", "data", One(flatten)),
    ("Expand", "data shape", One(expand)),
    ("Tile", "data repeats", One(tile)),
    ("Concat", "*", Several(concat)),
    ("Split", "data split", Several(split)),
    ("Pad", "data pads value axes", One(pad)),
    ("CenterCropPad", "data shape", One(center_crop_pad)),
    ("DepthToSpace", "data", One(depth_to_space)),
    ("SpaceToDepth", "data", One(space_to_depth)),
    (
        "ReverseSequence",
        "data sequence_lens",
        One(reverse_sequence),
    ),
    ("Identity", "data", One(identity)),
    ("Dropout", "data ratio training_mode", Several(dropout)),
    ("Compress", "data condition", One(compress)),
    (
        "TensorScatter",
        "data update write_indices",
        One(tensor_scatter),
    ),
    ("ReorderInput", "data", Several(blocks::input)),
    ("ReorderOutput", "data", One(blocks::output)),
];

/// A parameter that is an input, or in older versions an attribute of the same name.
fn given(
    call: &SpelledCall<'_>,
    name: &'static str,
    allowed: Allowed,
) -> Result<Option<Ints>, SpellError> {
    match call.given_ints(name, ListForm::Vector, allowed)? {
        Some(ints) => Ok(Some(ints)),
        None => call.given_attr_ints(name),
    }
}

fn required(
    call: &SpelledCall<'_>,
    name: &'static str,
    allowed: Allowed,
) -> Result<Ints, SpellError> {
    given(call, name, allowed)?
        .ok_or_else(|| SpellError::Unreadable(format!("input `{name}` is missing")))
}

fn slice(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
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
    Ok(Op::Slice {
        x: call.operand("data")?,
        dialect: SliceDialect::Onnx,
        stop: required(call, "ends", INDEX)?,
        step: given(call, "steps", INDEX)?.unwrap_or_else(|| Ints::from_elem(1, start.len())),
        axes: given(call, "axes", INDEX)?,
        start,
    })
}

fn index_element(call: &SpelledCall<'_>) -> Result<(), SpellError> {
    let element = call.element("indices")?;
    let fits = matches!(element, ElementType::I32 | ElementType::I64);
    require!(
        fits,
        "indices are {element}; {} takes i32 and i64",
        call.named()
    );
    Ok(())
}

fn gather(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    index_element(call)?;
    Ok(Op::Gather {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        axis: call.attr_int("axis", Some(0))?,
        batch_dims: 0,
        rule: RULE,
    })
}

fn gather_elements(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    index_element(call)?;
    Ok(Op::GatherElements {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        axis: call.attr_int("axis", Some(0))?,
        rule: RULE,
    })
}

fn gather_nd(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let element = call.element("indices")?;
    require!(
        element == ElementType::I64,
        "indices are {element}; GatherND takes i64"
    );
    require!(call.rank("data")? > 0, "the data have no axis");
    Ok(Op::GatherNd {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        batch_dims: call.attr_int("batch_dims", Some(0))?,
        rule: RULE,
    })
}

fn reshape(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let allow_zero = call.attr_int("allowzero", Some(0))? != 0;
    Ok(Op::Reshape {
        x: call.operand("data")?,
        dialect: ReshapeDialect::Onnx { allow_zero },
        pattern: required(call, "shape", SHAPE)?,
    })
}

fn transpose(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::Transpose {
        x: call.operand("data")?,
        perm: call.given_attr_ints("perm")?.unwrap_or_default(),
    })
}

fn squeeze(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::Squeeze {
        x: call.operand("data")?,
        axes: given(call, "axes", SHAPE)?,
    })
}

fn unsqueeze(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    // A single axis may stand without brackets: models of the ONNX project itself have it so.
    let axes = call.given_ints("axes", ListForm::ScalarOrVector, SHAPE)?;
    Ok(Op::Unsqueeze {
        x: call.operand("data")?,
        axes: match axes {
            Some(axes) => axes,
            None => required(call, "axes", SHAPE)?,
        },
    })
}

fn flatten(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::Flatten {
        x: call.operand("data")?,
        axis: call.attr_int("axis", Some(1))?,
    })
}

fn expand(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::Broadcast {
        x: call.operand("data")?,
        shape: required(call, "shape", SHAPE)?,
        mode: BroadcastMode::Bidirectional,
    })
}

fn tile(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let repeats = required(call, "repeats", SHAPE)?;
    let rank = call.rank("data")?;
    require!(
        repeats.len() as i64 == rank,
        "{} repeats for rank {rank}",
        repeats.len()
    );
    Ok(Op::Tile {
        x: call.operand("data")?,
        repeats,
    })
}

/// Without lengths, all parts but the last have the size rounded up. How many there are is an
/// attribute or, before version 18, as many as the node has outputs.
fn split(call: &mut SpelledCall<'_>) -> Result<(), SpellError> {
    let axis = call.attr_int("axis", Some(0))?;
    let x = call.operand("data")?;
    if let Some(lengths) = given(call, "split", SHAPE)? {
        let negative = lengths.iter().find(|&&length| length < 0);
        require!(negative.is_none(), "split length {negative:?} is negative");
        return call.split(x, axis, lengths);
    }
    let size = call.split_size(x, axis)?;
    let outputs = call.spelling.outputs.max(1) as i64;
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

fn pad(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
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
    Ok(Op::Pad { x, low, high, mode })
}

/// The bits of a fill value: an input of the data's type with one element, an attribute in older
/// versions, zero when it is absent.
pub(super) fn fill(call: &SpelledCall<'_>, slot: &'static str) -> Result<u128, SpellError> {
    let data = call.element("data")?;
    if call.given(slot).is_none() {
        let number = match call.attr(slot) {
            None => return Ok(0),
            Some(Attribute::Int(number)) => encode(data, *number as f64, Some(*number)),
            Some(Attribute::Float(number)) => encode(data, *number, None),
            Some(_) => None,
        };
        return number.ok_or_else(|| {
            SpellError::Unreadable(format!("attribute `{slot}` is no number of {data}"))
        });
    }
    let value = call.value(slot)?;
    let ty = value.ty();
    require!(
        ty.element() == data,
        "{slot} is {}, the data {data}",
        ty.element()
    );
    let one = ty.rank() <= 1 && ty.numel() == 1;
    require!(one, "{slot} has shape {:?}", ty.shape());
    Ok(value.bits(0).unwrap_or_default())
}

fn center_crop_pad(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::CenterCropPad {
        x: call.operand("data")?,
        shape: required(call, "shape", INDEX)?,
        axes: call.given_attr_ints("axes")?,
    })
}

fn depth_order(call: &SpelledCall<'_>) -> Result<DepthOrder, SpellError> {
    match call.attr_word("mode", "DCR")? {
        "DCR" => Ok(DepthOrder::BlocksFirst),
        "CRD" => Ok(DepthOrder::DepthFirst),
        other => Err(SpellError::Refused(format!("mode `{other}`"))),
    }
}

fn depth_to_space(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::DepthToSpace {
        x: call.operand("data")?,
        block: call.attr_int("blocksize", None)?,
        order: depth_order(call)?,
        channels: ChannelAxis::First,
    })
}

fn space_to_depth(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::SpaceToDepth {
        x: call.operand("data")?,
        block: call.attr_int("blocksize", None)?,
        order: depth_order(call)?,
        channels: ChannelAxis::First,
    })
}

fn reverse_sequence(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::ReverseSequence {
        x: call.operand("data")?,
        lengths: required(call, "sequence_lens", SHAPE)?,
        batch_axis: call.attr_int("batch_axis", Some(1))?,
        seq_axis: call.attr_int("time_axis", Some(0))?,
    })
}

fn identity(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let x = call.operand("data")?;
    Ok(Op::Identity { x })
}

/// At inference nothing is dropped, and the mask is true everywhere. Before version 10, where it has
/// the data's element, nobody says what it holds.
fn dropout(call: &mut SpelledCall<'_>) -> Result<(), SpellError> {
    if call.given("training_mode").is_some() {
        let training = call.value("training_mode")?.bits(0) != Some(0);
        require!(!training, "it is in training mode");
    }
    let x = call.operand("data")?;
    call.result(Op::Identity { x })?;
    if call.spelling.outputs > 1 {
        let element = match call.spelling.version {
            ..10 => call.element("data")?,
            _ => ElementType::Bool,
        };
        let one = Constant::from_integers(element, [], &[1]);
        let one = one.map_err(|error| SpellError::Refused(error.to_string()))?;
        let shape = Ints::from_slice(call.shape(x));
        let x = call.push(Op::Constant(one))?;
        call.result(Op::Broadcast {
            x,
            shape,
            mode: BroadcastMode::Numpy,
        })?;
    }
    Ok(())
}

/// Version 1 has an axis unless it says otherwise, later ones always say it.
fn concat(call: &mut SpelledCall<'_>) -> Result<(), SpellError> {
    call.concat((call.spelling.version == 1).then_some(1))
}

/// The places whose condition holds, which has to be known; of the flattened data without an axis.
fn compress(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let condition = call.value("condition")?;
    require!(
        condition.ty().element() == ElementType::Bool && condition.ty().rank() == 1,
        "the condition is {}",
        condition.ty()
    );
    let kept = (0..condition.ty().numel()).filter(|&at| condition.bits(at) != Some(0));
    let kept: Vec<i64> = kept.map(|at| at as i64).collect();
    let length = condition.ty().numel();
    let mut x = call.operand("data")?;
    let axis = match call.given_attr_int("axis")? {
        Some(axis) => axis,
        None => {
            x = call.push(Op::Reshape {
                x,
                dialect: ReshapeDialect::Onnx { allow_zero: false },
                pattern: Ints::from_slice(&[-1]),
            })?;
            0
        }
    };
    let size = call.split_size(x, axis)?;
    require!(
        length as i64 <= size,
        "{length} conditions for an axis of {size}"
    );
    let indices = call.table(&[kept.len() as i64], &kept)?;
    Ok(Op::Gather {
        x,
        indices,
        axis,
        batch_dims: 0,
        rule: RULE,
    })
}

/// A cache with rows of an update written into it at places that have to be known.
fn tensor_scatter(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let data = call.operand("data")?;
    let update = call.operand("update")?;
    let rank = call.shape(data).len();
    require!(
        rank >= 2 && call.shape(update).len() == rank,
        "ranks {rank} and {}",
        call.shape(update).len()
    );
    let axis = call.axis(call.attr_int("axis", Some(-2))?, rank)?;
    require!(axis > 0, "axis 0 is the batch");
    let (batch, size) = (call.shape(data)[0], call.shape(data)[axis]);
    let rows = call.shape(update)[axis];
    let starts = match given(call, "write_indices", INDEX)? {
        Some(starts) => starts,
        None => Ints::from_elem(0, usize::try_from(batch).unwrap_or_default()),
    };
    let circular = match call.attr_word("mode", "linear")? {
        "linear" => false,
        "circular" => true,
        other => return Err(SpellError::Refused(format!("mode `{other}`"))),
    };
    require!(
        starts.len() as i64 == batch,
        "{} places for a batch of {batch}",
        starts.len()
    );
    require!(rows <= size, "{rows} rows for a cache of {size}");
    require!(
        batch.saturating_mul(size) <= 1 << 20,
        "the places of {batch} x {size} rows are too many to name"
    );
    // Row i of the result is row i of the cache, or row `size + k` of cache and update together.
    let mut table = Vec::new();
    for &start in &starts {
        let fits = (0..size.max(1)).contains(&start) && (circular || start + rows <= size);
        require!(fits, "{rows} rows at {start} for a cache of {size}");
        let row = |at: i64| {
            let into = if at >= start {
                at - start
            } else {
                at - start + size
            };
            let written = into < rows && (circular || at >= start);
            if written { size + into } else { at }
        };
        table.extend((0..size).map(row));
    }
    let both = call.push(Op::Concat {
        parts: [data, update].into_iter().collect(),
        axis: axis as i64,
    })?;
    // Batches and rows first, for the gather; then back.
    let mut perm: Ints = (0..rank as i64).filter(|&k| k != axis as i64).collect();
    perm.insert(1, axis as i64);
    let turned = call.push(Op::Transpose {
        x: both,
        perm: perm.clone(),
    })?;
    let indices = call.table(&[batch, size], &table)?;
    let picked = call.push(Op::Gather {
        x: turned,
        indices,
        axis: 1,
        batch_dims: 1,
        rule: RULE,
    })?;
    let mut back = Ints::from_elem(0, rank);
    for (to, &from) in perm.iter().enumerate() {
        back[from as usize] = to as i64;
    }
    Ok(Op::Transpose {
        x: picked,
        perm: back,
    })
}
