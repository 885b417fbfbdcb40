//! Type rules of the five operators.

use super::{Step, Tensor};

/// Why an operator does not fit its operands. `at` names the attribute or operand.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {problem}")]
pub struct ShapeError {
    /// Which operand, attribute or axis.
    pub at: String,
    /// What is wrong with it, with the value and what it may be.
    pub problem: String,
}

fn wrong<T>(at: impl Into<String>, problem: impl Into<String>) -> Result<T, ShapeError> {
    Err(ShapeError {
        at: at.into(),
        problem: problem.into(),
    })
}

/// The type of what `step` makes from `tensors`, the values before it.
pub fn infer(step: &Step, tensors: &[Tensor]) -> Result<Tensor, ShapeError> {
    let of = |value: usize| match tensors.get(value) {
        Some(tensor) => Ok(tensor),
        None => wrong("in", format!("no value {value} before this operator")),
    };
    let made = match step {
        Step::StridedSlice {
            x,
            start,
            size,
            step,
        } => strided_slice(of(*x)?, start, size, step)?,
        Step::Reshape { x, shape } => reshape(of(*x)?, shape)?,
        Step::Transpose { x, perm } => transpose(of(*x)?, perm)?,
        Step::Gather {
            x,
            indices,
            axis,
            batch_dims,
        } => gather(of(*x)?, of(*indices)?, *axis, *batch_dims)?,
        Step::Concat { parts, axis } => {
            let parts = parts
                .iter()
                .map(|&part| of(part))
                .collect::<Result<Vec<_>, _>>()?;
            concat(&parts, *axis)?
        }
    };
    match made.bytes() {
        Some(_) => Ok(made),
        None => wrong("out", format!("shape {:?} has too many bytes", made.shape)),
    }
}

fn strided_slice(
    x: &Tensor,
    start: &[i64],
    size: &[i64],
    step: &[i64],
) -> Result<Tensor, ShapeError> {
    let rank = x.shape.len();
    for (name, list) in [("start", start), ("size", size), ("step", step)] {
        if list.len() != rank {
            return wrong(name, format!("{} entries for rank {rank}", list.len()));
        }
    }
    for axis in 0..rank {
        let (start, size, step, extent) = (start[axis], size[axis], step[axis], x.shape[axis]);
        if step == 0 {
            return wrong(format!("step, axis {axis}"), "0; anything else will do");
        }
        if size < 0 {
            return wrong(format!("size, axis {axis}"), format!("{size} is negative"));
        }
        if size == 0 {
            continue;
        }
        let last = i128::from(start) + (i128::from(size) - 1) * i128::from(step);
        let axis_range = 0..i128::from(extent);
        if !axis_range.contains(&i128::from(start)) || !axis_range.contains(&last) {
            return wrong(
                format!("start, axis {axis}"),
                format!("elements {start} to {last} of an axis of size {extent}"),
            );
        }
    }
    Ok(Tensor {
        dtype: x.dtype,
        shape: size.to_vec(),
    })
}

fn reshape(x: &Tensor, shape: &[i64]) -> Result<Tensor, ShapeError> {
    if let Some(axis) = shape.iter().position(|&size| size < 0) {
        return wrong(
            format!("shape, axis {axis}"),
            format!("{} is negative", shape[axis]),
        );
    }
    let made = Tensor {
        dtype: x.dtype,
        shape: shape.to_vec(),
    };
    if made.bytes() != x.bytes() {
        return wrong(
            "shape",
            format!("{shape:?} has not as many elements as {:?}", x.shape),
        );
    }
    Ok(made)
}

fn transpose(x: &Tensor, perm: &[usize]) -> Result<Tensor, ShapeError> {
    let rank = x.shape.len();
    let mut seen = vec![false; rank];
    for &axis in perm {
        match seen.get_mut(axis) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => return wrong("perm", format!("axis {axis} twice")),
            None => return wrong("perm", format!("axis {axis}; the rank is {rank}")),
        }
    }
    if perm.len() != rank {
        return wrong("perm", format!("{} axes for rank {rank}", perm.len()));
    }
    Ok(Tensor {
        dtype: x.dtype,
        shape: perm.iter().map(|&axis| x.shape[axis]).collect(),
    })
}

fn gather(
    x: &Tensor,
    indices: &Tensor,
    axis: usize,
    batch_dims: usize,
) -> Result<Tensor, ShapeError> {
    if !indices.dtype.is_integer() {
        return wrong("indices", format!("{} cannot index", indices.dtype.name()));
    }
    if axis >= x.shape.len() {
        return wrong("axis", format!("{axis}; the rank is {}", x.shape.len()));
    }
    if batch_dims > axis || batch_dims > indices.shape.len() {
        return wrong(
            "batch_dims",
            format!(
                "{batch_dims}; at most the axis {axis} and the rank {} of the indices",
                indices.shape.len()
            ),
        );
    }
    if x.shape[..batch_dims] != indices.shape[..batch_dims] {
        return wrong(
            "batch_dims",
            format!(
                "{:?} and {:?} differ",
                &x.shape[..batch_dims],
                &indices.shape[..batch_dims]
            ),
        );
    }
    let shape = [
        &x.shape[..axis],
        &indices.shape[batch_dims..],
        &x.shape[axis + 1..],
    ]
    .concat();
    Ok(Tensor {
        dtype: x.dtype,
        shape,
    })
}

fn concat(parts: &[&Tensor], axis: usize) -> Result<Tensor, ShapeError> {
    let Some(first) = parts.first() else {
        return wrong("in", "nothing to join");
    };
    if axis >= first.shape.len() {
        return wrong("axis", format!("{axis}; the rank is {}", first.shape.len()));
    }
    let mut shape = first.shape.clone();
    for (number, part) in parts.iter().enumerate().skip(1) {
        let at = || format!("in[{number}]");
        if part.dtype != first.dtype {
            return wrong(
                at(),
                format!("{} beside {}", part.dtype.name(), first.dtype.name()),
            );
        }
        let fits = part.shape.len() == shape.len()
            && (0..shape.len()).all(|a| a == axis || part.shape[a] == shape[a]);
        if !fits {
            return wrong(at(), format!("{:?} beside {:?}", part.shape, first.shape));
        }
        shape[axis] = match shape[axis].checked_add(part.shape[axis]) {
            Some(sum) => sum,
            None => return wrong(at(), format!("the sizes of axis {axis} overflow")),
        };
    }
    Ok(Tensor {
        dtype: first.dtype,
        shape,
    })
}
