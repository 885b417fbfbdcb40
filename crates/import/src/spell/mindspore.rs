//! MindSpore's `ops`, where the parameters are lists of whole numbers.

use restride_graph::{IndexRule, Op, OutOfRange, ReshapeDialect, StridedSliceDialect};

use super::call::Speller::One;
use super::call::{Allowed, ListForm, Row, SpelledCall};
use super::tensorflow::index_element;
use super::{SpellError, require};

const ANY: Allowed = Allowed::AnyInteger;

pub(super) const OPERATORS: &[Row] = &[
    ("StridedSlice", "data begin end strides", One(strided_slice)),
    ("Gather", "data indices axis", One(gather)),
    ("Reshape", "data shape", One(reshape)),
];

fn strided_slice(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::StridedSlice {
        x: call.operand("data")?,
        dialect: StridedSliceDialect::MindSpore,
        begin: call.ints("begin", ListForm::Vector, ANY)?,
        end: call.ints("end", ListForm::Vector, ANY)?,
        strides: call.ints("strides", ListForm::Vector, ANY)?,
        begin_mask: call.attr_int("begin_mask", Some(0))?,
        end_mask: call.attr_int("end_mask", Some(0))?,
        ellipsis_mask: call.attr_int("ellipsis_mask", Some(0))?,
        new_axis_mask: call.attr_int("new_axis_mask", Some(0))?,
        shrink_axis_mask: call.attr_int("shrink_axis_mask", Some(0))?,
    })
}

fn gather(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    index_element(call)?;
    let batch_dims = call.attr_int("batch_dims", Some(0))?;
    let rank = call.rank("data")?;
    require!(
        -rank <= batch_dims && batch_dims < rank,
        "batch_dims {batch_dims} is not in {}..{rank}",
        -rank
    );
    Ok(Op::Gather {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        axis: call.int("axis", ListForm::OneElement, ANY)?,
        batch_dims,
        rule: IndexRule {
            out_of_range: OutOfRange::Error,
            wrap: true,
        },
    })
}

fn reshape(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::Reshape {
        x: call.operand("data")?,
        dialect: ReshapeDialect::MindSpore,
        pattern: call.ints("shape", ListForm::Vector, ANY)?,
    })
}
