//! What a random case has for an answer, to be held against any program made of it.

use restride::{Output, ParallelFor, Program, RunError, TensorMut, TensorRef};
use restride_graph::oracle::{self, Tensor, TensorError};
use restride_testkit::generate::Case;

/// What outputs hold before a call.
const BEFORE: u8 = 0xa5;

/// The inputs of a case and what the oracle makes of them.
pub struct Answer {
    inputs: Vec<Vec<u8>>,
    /// Nothing where an index is refused.
    outputs: Option<Vec<Tensor>>,
}

impl Answer {
    /// Asks the oracle.
    pub fn of(case: &Case) -> Result<Answer, TensorError> {
        let outputs = oracle::eval(&case.graph, &case.tensors()?).ok();
        Ok(Answer {
            inputs: case.buffers(),
            outputs,
        })
    }

    /// Whether it is an error.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        self.outputs.is_none()
    }

    /// Whether a program of the case, whose views are copied, gives this answer.
    pub fn is_that_of(
        &self,
        program: &Program,
        pool: Option<&dyn ParallelFor>,
    ) -> Result<(), String> {
        let inputs: Vec<_> = (self.inputs.iter())
            .map(|buffer| TensorRef::from_bytes(buffer))
            .collect();
        let types = program.outputs().iter().map(|output| match output {
            Output::Computed { ty, .. } | Output::View { ty, .. } => ty,
        });
        let mut buffers: Vec<Vec<u8>> = types
            .clone()
            .map(|ty| vec![BEFORE; ty.required_elements() * ty.element().width()])
            .collect();
        let mut outputs: Vec<_> = buffers
            .iter_mut()
            .map(|buffer| TensorMut::from_bytes(buffer))
            .collect();
        let done = match pool {
            Some(pool) => program.run_on(pool, &inputs, &mut outputs),
            None => program.run(&inputs, &mut outputs),
        };
        match (&self.outputs, done) {
            (Some(wanted), Ok(())) => {
                for (at, ((wanted, ty), found)) in
                    wanted.iter().zip(types).zip(&buffers).enumerate()
                {
                    let mut buffer = vec![BEFORE; found.len()];
                    wanted
                        .write_into(ty, &mut buffer)
                        .map_err(|error| error.to_string())?;
                    if *found != buffer {
                        return Err(format!("output {at} differs"));
                    }
                }
                Ok(())
            }
            (None, Err(RunError::Index { .. })) => {
                let untouched = buffers.iter().flatten().all(|byte| *byte == BEFORE);
                untouched
                    .then_some(())
                    .ok_or_else(|| "an output was written".to_owned())
            }
            (wanted, done) => Err(format!(
                "{done:?}, the oracle {}",
                if wanted.is_some() {
                    "has an answer"
                } else {
                    "refuses"
                }
            )),
        }
    }
}
