//! The definition itself.

use restride_graph::oracle::{self, OpError, OracleError};

use super::{BadIndex, Outcome, Rung, RungError, Subject};

pub(super) struct Oracle;

impl Rung for Oracle {
    fn name(&self) -> &'static str {
        "oracle"
    }

    fn run(&self, subject: &Subject<'_>) -> Outcome {
        oracle::eval(subject.graph(), subject.inputs()).map_err(|error| match error {
            OracleError::Op {
                value,
                error:
                    OpError::OutOfRange {
                        position,
                        value: index,
                        ..
                    },
            } => {
                let op = subject.graph().op(value);
                let Some(indices) = op.indices() else {
                    return RungError::Broken(format!("{} has no indices", op.name()));
                };
                let shape = subject.graph().ty(indices).shape();
                let flat = (position.iter().zip(shape))
                    .fold(0u64, |at, (&i, &size)| at * size as u64 + i as u64);
                RungError::OutOfRange(BadIndex {
                    op: value.index() as u32,
                    position: flat,
                    value: index,
                })
            }
            OracleError::Op { .. } => RungError::Refused(error.to_string()),
            other => RungError::broken(other),
        })
    }
}
