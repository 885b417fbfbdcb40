//! The definition of the workloads' operators as a subject: it answers for a file, and for the
//! harness, without the compiler.

#![allow(
    unsafe_code,
    reason = "chunks of a call carry a promise, which is not needed here"
)]

use super::subject::{Bound, Facts, Prepared, Subject};
use restride_graph::Graph;
use restride_graph::oracle::{self, Tensor};
use restride_testkit::workloads::Workload;
use std::sync::Mutex;

/// Runs workloads element by element.
pub struct Reference;

struct Defined {
    workload: Workload,
    facts: Facts,
}

struct Call<'a> {
    graph: &'a Graph,
    inputs: Vec<Tensor>,
    output: Mutex<&'a mut [u8]>,
}

impl Subject for Reference {
    fn prepare(&self, workload: &Workload, _: bool) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(Defined {
            workload: workload.clone(),
            facts: Facts {
                stages: workload.graph.len() - workload.graph.inputs().len(),
                ..Facts::default()
            },
        }))
    }
}

impl Prepared for Defined {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn bind<'a>(
        &'a self,
        inputs: &'a [&'a [u8]],
        output: &'a mut [u8],
        _: &'a mut [u8],
    ) -> Result<Box<dyn Bound + 'a>, String> {
        let types = self.workload.inputs().zip(inputs);
        let tensors = types.map(|((ty, _), bytes)| Tensor::read(ty, bytes));
        let inputs = tensors.collect::<Result<_, _>>();
        Ok(Box::new(Call {
            graph: &self.workload.graph,
            inputs: inputs.map_err(|e| e.to_string())?,
            output: Mutex::new(output),
        }))
    }
}

impl Call<'_> {
    fn once(&self) -> Result<(), String> {
        let outputs = oracle::eval(self.graph, &self.inputs).map_err(|e| e.to_string())?;
        let mut output = self.output.lock().map_err(|e| e.to_string())?;
        let made = outputs.first().map_or(&[][..], Tensor::bytes);
        match output.len() == made.len() {
            true => output.copy_from_slice(made),
            false => return Err(format!("{} bytes", made.len())),
        }
        Ok(())
    }
}

impl Bound for Call<'_> {
    fn repeat(&mut self, times: u64) -> Result<(), String> {
        (0..times).try_for_each(|_| self.once())
    }

    fn is_shared(&self) -> bool {
        true
    }

    unsafe fn chunk(&self, _: usize, chunk: usize, _: usize) -> Result<(), String> {
        if chunk == 0 { self.once() } else { Ok(()) }
    }
}
