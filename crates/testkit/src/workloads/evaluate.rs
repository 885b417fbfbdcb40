//! The meaning of a workload, element by element.
//!
//! It shares nothing with the compiler: it counts through the indices of each output and applies
//! the definition of the operator to them. Slow, and right by inspection.

use super::{Step, Tensor, Workload};

/// Why a workload has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// The bytes handed in do not fit an input.
    #[error("input {input}: {got} bytes, expected {expected}")]
    InputBytes {
        /// Which input.
        input: usize,
        /// How many bytes came.
        got: usize,
        /// How many it has.
        expected: usize,
    },
    /// An index is outside the axis that it selects from.
    #[error("op {step}: index {index} outside an axis of size {size}")]
    Index {
        /// Which operator.
        step: usize,
        /// The index.
        index: i64,
        /// The size of the axis.
        size: i64,
    },
}

/// The bytes of the output, given the bytes of each input.
pub fn evaluate(workload: &Workload, inputs: &[&[u8]]) -> Result<Vec<u8>, EvaluateError> {
    let mut values: Vec<Vec<u8>> = Vec::new();
    for (number, tensor) in workload.tensors[..workload.inputs.len()].iter().enumerate() {
        let expected = tensor.bytes().unwrap_or(usize::MAX);
        let bytes = inputs.get(number).copied().unwrap_or_default();
        if bytes.len() != expected {
            return Err(EvaluateError::InputBytes {
                input: number,
                got: bytes.len(),
                expected,
            });
        }
        values.push(bytes.to_vec());
    }
    for (number, step) in workload.steps.iter().enumerate() {
        let out = &workload.tensors[values.len()];
        values.push(run(number, step, out, &workload.tensors, &values)?);
    }
    Ok(values.swap_remove(workload.output))
}

fn run(
    number: usize,
    step: &Step,
    out: &Tensor,
    tensors: &[Tensor],
    values: &[Vec<u8>],
) -> Result<Vec<u8>, EvaluateError> {
    let width = out.dtype.width();
    let mut bytes = Vec::with_capacity(out.bytes().unwrap_or(0));
    let mut at = Vec::new();
    let mut put = |value: usize, at: &[i64]| {
        let from = position(&tensors[value].shape, at) * width;
        bytes.extend_from_slice(&values[value][from..from + width]);
    };
    match step {
        Step::StridedSlice { x, start, step, .. } => each_index(&out.shape, |index| {
            at.clear();
            at.extend((0..index.len()).map(|axis| start[axis] + index[axis] * step[axis]));
            put(*x, &at);
            Ok(())
        })?,
        Step::Reshape { x, .. } => bytes.extend_from_slice(&values[*x]),
        Step::Transpose { x, perm } => each_index(&out.shape, |index| {
            at.clear();
            at.resize(perm.len(), 0);
            for (&axis, &i) in perm.iter().zip(index) {
                at[axis] = i;
            }
            put(*x, &at);
            Ok(())
        })?,
        Step::Gather {
            x,
            indices,
            axis,
            batch_dims,
        } => {
            let named = &tensors[*indices];
            let inner = named.shape.len() - batch_dims;
            let size = tensors[*x].shape[*axis];
            let mut which = Vec::new();
            each_index(&out.shape, |index| {
                which.clear();
                which.extend_from_slice(&index[..*batch_dims]);
                which.extend_from_slice(&index[*axis..*axis + inner]);
                let picked = integer(named, &values[*indices], position(&named.shape, &which));
                if !(0..size).contains(&picked) {
                    return Err(EvaluateError::Index {
                        step: number,
                        index: picked,
                        size,
                    });
                }
                at.clear();
                at.extend_from_slice(&index[..*axis]);
                at.push(picked);
                at.extend_from_slice(&index[*axis + inner..]);
                put(*x, &at);
                Ok(())
            })?;
        }
        Step::Concat { parts, axis } => each_index(&out.shape, |index| {
            at.clear();
            at.extend_from_slice(index);
            for &part in parts {
                let size = tensors[part].shape[*axis];
                if at[*axis] < size {
                    put(part, &at);
                    break;
                }
                at[*axis] -= size;
            }
            Ok(())
        })?,
    }
    Ok(bytes)
}

/// Visits every index of a shape in row-major order.
fn each_index(
    shape: &[i64],
    mut visit: impl FnMut(&[i64]) -> Result<(), EvaluateError>,
) -> Result<(), EvaluateError> {
    if shape.contains(&0) {
        return Ok(());
    }
    let mut index = vec![0; shape.len()];
    loop {
        visit(&index)?;
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return Ok(());
            }
            axis -= 1;
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// The row-major position of an index that lies in the shape.
fn position(shape: &[i64], index: &[i64]) -> usize {
    let position = shape
        .iter()
        .zip(index)
        .fold(0, |sum, (size, i)| sum * size + i);
    position as usize
}

/// The integer at a position of an index tensor.
fn integer(tensor: &Tensor, bytes: &[u8], position: usize) -> i64 {
    let width = tensor.dtype.width();
    let mut wide = [0u8; 8];
    let element = &bytes[position * width..(position + 1) * width];
    wide[..width].copy_from_slice(element);
    let unsigned = i64::from_le_bytes(wide);
    match tensor.dtype {
        super::Dtype::I32 => i64::from(unsigned as i32),
        super::Dtype::U8
        | super::Dtype::U16
        | super::Dtype::F16
        | super::Dtype::F32
        | super::Dtype::I64
        | super::Dtype::C128 => unsigned,
    }
}
