//! TensorFlow's raw operators.

use restride_graph::{ElementType, IndexRule, Op, OutOfRange, ReshapeDialect, StridedSliceDialect};

use super::call::Speller::One;
use super::call::{Allowed, ListForm, Row, SpelledCall};
use super::{SpellError, require};

const INDEX: Allowed = Allowed::Only(&[ElementType::I16, ElementType::I32, ElementType::I64]);
const SHAPE: Allowed = Allowed::Only(&[ElementType::I32, ElementType::I64]);

pub(super) const OPERATORS: &[Row] = &[
    ("StridedSlice", "data begin end strides", One(strided_slice)),
    ("Gather", "data indices axis", One(gather)),
    ("Reshape", "data shape", One(reshape)),
];

fn strided_slice(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    let index = call.element("begin")?;
    for slot in ["end", "strides"] {
        let element = call.element(slot)?;
        require!(
            element == index,
            "begin is {index}, but {slot} is {element}"
        );
    }
    Ok(Op::StridedSlice {
        x: call.operand("data")?,
        dialect: StridedSliceDialect::TensorFlow,
        begin: call.ints("begin", ListForm::Vector, INDEX)?,
        end: call.ints("end", ListForm::Vector, INDEX)?,
        strides: call.ints("strides", ListForm::Vector, INDEX)?,
        begin_mask: mask(call, "begin_mask")?,
        end_mask: mask(call, "end_mask")?,
        ellipsis_mask: mask(call, "ellipsis_mask")?,
        new_axis_mask: mask(call, "new_axis_mask")?,
        shrink_axis_mask: mask(call, "shrink_axis_mask")?,
    })
}

/// A mask is a 32-bit number; -1 sets all 32 bits.
fn mask(call: &SpelledCall<'_>, name: &str) -> Result<i64, SpellError> {
    let value = call.attr_int(name, Some(0))?;
    match i32::try_from(value) {
        Ok(mask) => Ok(i64::from(mask.cast_unsigned())),
        Err(_) => Err(SpellError::Refused(format!(
            "{name} is {value}, which has more than 32 bits"
        ))),
    }
}

fn gather(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    index_element(call)?;
    let axis = match call.given("axis") {
        Some(_) => call.int("axis", ListForm::Scalar, INDEX)?,
        None => 0,
    };
    Ok(Op::Gather {
        x: call.operand("data")?,
        indices: call.operand("indices")?,
        axis,
        batch_dims: call.attr_int("batch_dims", Some(0))?,
        rule: IndexRule {
            out_of_range: OutOfRange::Error,
            wrap: false,
        },
    })
}

/// The indices must be i16, i32 or i64, which MindSpore asks for too.
pub(super) fn index_element(call: &SpelledCall<'_>) -> Result<(), SpellError> {
    let element = call.element("indices")?;
    let fits = matches!(
        element,
        ElementType::I16 | ElementType::I32 | ElementType::I64
    );
    require!(
        fits,
        "indices are {element}; {} takes i16, i32 and i64",
        call.named()
    );
    Ok(())
}

fn reshape(call: &mut SpelledCall<'_>) -> Result<Op, SpellError> {
    Ok(Op::Reshape {
        x: call.operand("data")?,
        dialect: ReshapeDialect::TensorFlow,
        // A scalar means a list of one.
        pattern: call.ints("shape", ListForm::ScalarOrVector, SHAPE)?,
    })
}
