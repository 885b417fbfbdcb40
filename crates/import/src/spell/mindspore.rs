//! MindSpore's `ops`, where the parameters are lists of whole numbers.

use restride_graph::{IndexRule, Op, OutOfRange, ReshapeDialect, StridedSliceDialect};

use super::call::{Allowed, ListForm, SpelledCall};
use super::tensorflow::index_element;
use super::{SpellError, require};

const ANY: Allowed = Allowed::AnyInteger;

pub(super) fn spell(call: &mut SpelledCall<'_>) -> Result<(), SpellError> {
    match call.spelling.op {
        "StridedSlice" => strided_slice(call),
        "Gather" => gather(call),
        "Reshape" => reshape(call),
        _ => Err(call.unknown()),
    }
}

fn strided_slice(call: &mut SpelledCall<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "begin", "end", "strides"])?;
    let op = Op::StridedSlice {
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
    };
    call.result(op)
}

fn gather(call: &mut SpelledCall<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "indices", "axis"])?;
    index_element(call)?;
    let batch_dims = call.attr_int("batch_dims", Some(0))?;
    let rank = call.rank("data")?;
    require!(
        -rank <= batch_dims && batch_dims < rank,
        "batch_dims {batch_dims} is not in {}..{rank}",
        -rank
    );
    let op = Op::Gather {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        axis: call.int("axis", ListForm::OneElement, ANY)?,
        batch_dims,
        rule: IndexRule {
            out_of_range: OutOfRange::Error,
            wrap: true,
        },
    };
    call.result(op)
}

fn reshape(call: &mut SpelledCall<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "shape"])?;
    let op = Op::Reshape {
        x: call.operand("data")?,
        dialect: ReshapeDialect::MindSpore,
        pattern: call.ints("shape", ListForm::Vector, ANY)?,
    };
    call.result(op)
}
