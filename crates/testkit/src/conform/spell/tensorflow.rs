//! TensorFlow's raw operators.

use restride_graph::{ElementType, IndexRule, Op, OutOfRange, ReshapeDialect, StridedSliceDialect};

use super::call::{Allowed, Call, Form};
use super::{SpellError, require};

const INDEX: Allowed = Allowed::Only(&[ElementType::I16, ElementType::I32, ElementType::I64]);
const SHAPE: Allowed = Allowed::Only(&[ElementType::I32, ElementType::I64]);

pub(super) fn spell(call: &mut Call<'_>) -> Result<(), SpellError> {
    match call.case.op.as_str() {
        "StridedSlice" => strided_slice(call),
        "Gather" => gather(call),
        "Reshape" => reshape(call),
        _ => Err(call.unknown()),
    }
}

fn strided_slice(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "begin", "end", "strides"])?;
    let index = call.element("begin")?;
    for slot in ["end", "strides"] {
        let element = call.element(slot)?;
        require!(element == index, "begin is {index}, but {slot} is {element}");
    }
    let op = Op::StridedSlice {
        x: call.operand("data")?,
        dialect: StridedSliceDialect::TensorFlow,
        begin: call.ints("begin", Form::Vector, INDEX)?,
        end: call.ints("end", Form::Vector, INDEX)?,
        strides: call.ints("strides", Form::Vector, INDEX)?,
        begin_mask: call.attr_int("begin_mask", Some(0))?,
        end_mask: call.attr_int("end_mask", Some(0))?,
        ellipsis_mask: call.attr_int("ellipsis_mask", Some(0))?,
        new_axis_mask: call.attr_int("new_axis_mask", Some(0))?,
        shrink_axis_mask: call.attr_int("shrink_axis_mask", Some(0))?,
    };
    call.result(op)
}

fn gather(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "indices", "axis"])?;
    index_element(call)?;
    let axis = match call.given("axis") {
        Some(_) => call.int("axis", Form::Scalar, INDEX)?,
        None => 0,
    };
    let op = Op::Gather {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        axis,
        batch_dims: call.attr_int("batch_dims", Some(0))?,
        rule: IndexRule { out_of_range: OutOfRange::Error, wrap: false },
    };
    call.result(op)
}

/// The indices must be i16, i32 or i64, which MindSpore asks for too.
pub(super) fn index_element(call: &Call<'_>) -> Result<(), SpellError> {
    let element = call.element("indices")?;
    let fits = matches!(element, ElementType::I16 | ElementType::I32 | ElementType::I64);
    require!(fits, "indices are {element}; {} takes i16, i32 and i64", call.case.opset);
    Ok(())
}

fn reshape(call: &mut Call<'_>) -> Result<(), SpellError> {
    call.slots(&["data", "shape"])?;
    let op = Op::Reshape {
        x: call.operand("data")?,
        dialect: ReshapeDialect::TensorFlow,
        // A scalar means a list of one.
        pattern: call.ints("shape", Form::ScalarOrVector, SHAPE)?,
    };
    call.result(op)
}
