//! OpenVINO's slices, gathers and reshape; parameters take every integer type.

use restride_graph::{
    IndexRule, Ints, Op, OutOfRange, ReshapeDialect, SliceDialect, StridedSliceDialect,
};

use super::call::Speller::{One, Several};
use super::call::{Allowed, ListForm, Row, SpelledCall};
use super::{Attribute, SpellError, require};

pub(super) const ANY: Allowed = Allowed::AnyInteger;

pub(super) const OPERATORS: &[Row] = &[
    ("StridedSlice", "data begin end strides", One(strided_slice)),
    ("Slice", "data start stop step axes", One(slice)),
    ("Gather", "data indices axis", One(gather)),
    ("GatherElements", "data indices", One(gather_elements)),
    ("GatherND", "data indices", Several(gather_nd)),
    ("Reshape", "data shape", One(reshape)),
];

/// A mask: packed (bit i is element i), or the list of 0 and 1 that OpenVINO has.
fn mask(call: &SpelledCall<'_>, name: &str) -> Result<i64, SpellError> {
    let Some(Attribute::Ints(_)) = call.attr(name) else {
        return call.attr_int(name, Some(0));
    };
    let list = call.given_attr_ints(name)?.unwrap_or_default();
    let odd = list.iter().find(|&&element| element != 0 && element != 1);
    require!(
        odd.is_none(),
        "{name} has an element {odd:?}; it takes 0 and 1"
    );
    require!(list.len() < 64, "{name} has {} elements", list.len());
    Ok(list.iter().enumerate().map(|(i, &bit)| bit << i).sum())
}

fn strided_slice(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let begin = call.ints("begin", ListForm::Vector, ANY)?;
    let strides = match call.given_ints("strides", ListForm::Vector, ANY)? {
        Some(strides) => strides,
        None => Ints::from_elem(1, begin.len()),
    };
    Ok(Op::StridedSlice {
        x: call.operand("data")?,
        dialect: StridedSliceDialect::OpenVino,
        begin,
        end: call.ints("end", ListForm::Vector, ANY)?,
        strides,
        begin_mask: mask(call, "begin_mask")?,
        end_mask: mask(call, "end_mask")?,
        ellipsis_mask: mask(call, "ellipsis_mask")?,
        new_axis_mask: mask(call, "new_axis_mask")?,
        shrink_axis_mask: mask(call, "shrink_axis_mask")?,
    })
}

fn slice(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::Slice {
        x: call.operand("data")?,
        dialect: SliceDialect::OpenVino,
        start: call.ints("start", ListForm::Vector, ANY)?,
        stop: call.ints("stop", ListForm::Vector, ANY)?,
        step: call.ints("step", ListForm::Vector, ANY)?,
        axes: call.given_ints("axes", ListForm::Vector, ANY)?,
    })
}

/// Version 8 counts negative indices from the end; before it they are outside.
fn gather(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let wrap = !matches!(call.spelling.version, 1 | 7);
    Ok(Op::Gather {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        axis: call.int("axis", ListForm::OneElement, ANY)?,
        batch_dims: call.attr_int("batch_dims", Some(0))?,
        rule: IndexRule {
            out_of_range: OutOfRange::Zero,
            wrap,
        },
    })
}

const CHECKED: IndexRule = IndexRule {
    out_of_range: OutOfRange::Error,
    wrap: true,
};

fn gather_elements(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::GatherElements {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        axis: call.attr_int("axis", Some(0))?,
        rule: CHECKED,
    })
}

/// Version 5 gives the batch axes out as one.
fn gather_nd(call: &mut SpelledCall<'_>) -> Result<(), SpellError> {
    require!(call.rank("data")? > 0, "the data have no axis");
    let batch_dims = call.attr_int("batch_dims", Some(0))?;
    let op = Op::GatherNd {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        batch_dims,
        rule: CHECKED,
    };
    let gathered = call.push(op)?;
    if call.spelling.version != 5 || batch_dims <= 1 {
        call.output(gathered);
        return Ok(());
    }
    let (batch, rest) = call.shape(gathered).split_at(batch_dims as usize);
    let mut pattern = Ints::from_slice(&[batch.iter().product()]);
    pattern.extend_from_slice(rest);
    call.result(Op::Reshape {
        x: gathered,
        dialect: ReshapeDialect::Plain,
        pattern,
    })
}

fn reshape(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let special_zero = call.attr_int("special_zero", Some(0))? != 0;
    Ok(Op::Reshape {
        x: call.operand("data")?,
        dialect: ReshapeDialect::OpenVino { special_zero },
        pattern: call.ints("shape", ListForm::Vector, ANY)?,
    })
}
