//! Why the oracle gives no answer.

/// Why one operator has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpError {
    /// The operands and attributes have no meaning.
    #[error("{op}: {reason}")]
    Refused {
        /// The operator.
        op: &'static str,
        /// What is wrong, with the values.
        reason: String,
    },
    /// An index lies outside its axis, and the gather's policy makes that an error.
    #[error("{op}: the index at {position:?} is {value}, outside {low}..{limit} of axis {axis}")]
    OutOfRange {
        /// The operator.
        op: &'static str,
        /// Where in the index tensor: the first such position in row-major order.
        position: Vec<i64>,
        /// The index as stored.
        value: i128,
        /// The axis of the data.
        axis: usize,
        /// The lowest index allowed.
        low: i128,
        /// The size of that axis.
        limit: i64,
    },
}

pub(super) fn refused(op: &'static str, reason: String) -> OpError {
    OpError::Refused { op, reason }
}

/// Leaves with a refusal unless the condition holds.
macro_rules! require {
    ($op:expr, $condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err($crate::oracle::refusal::refused($op, format!($($reason)+)));
        }
    };
}
pub(super) use require;

/// The axis that `axis` names in a tensor of this rank: `-rank..rank`.
pub(super) fn axis(op: &'static str, axis: i64, rank: usize) -> Result<usize, OpError> {
    let r = rank as i64;
    require!(
        op,
        -r <= axis && axis < r,
        "axis {axis} is not in {}..{r}",
        -r
    );
    Ok(if axis < 0 { axis + r } else { axis } as usize)
}

/// The axes that `axes` name, none of them twice.
pub(super) fn axes(op: &'static str, axes: &[i64], rank: usize) -> Result<Vec<usize>, OpError> {
    let mut named = Vec::new();
    for &a in axes {
        let a = axis(op, a, rank)?;
        require!(op, !named.contains(&a), "axis {a} is named twice");
        named.push(a);
    }
    Ok(named)
}
