//! The definition of the workloads' operators as a subject: it answers for a file, and for the
//! harness, without the compiler.

#![allow(
    unsafe_code,
    reason = "chunks of a call carry a promise, which is not needed here"
)]

use super::subject::{Bound, Facts, Prepared, Subject};
use restride_testkit::workloads::{Workload, evaluate, fill};
use std::sync::Mutex;

/// Runs workloads element by element.
pub(crate) struct Reference;

struct Defined {
    workload: Workload,
    facts: Facts,
}

struct Call<'a> {
    workload: &'a Workload,
    inputs: Vec<Vec<u8>>,
    output: Mutex<&'a mut [u8]>,
}

impl Subject for Reference {
    fn prepare(&self, workload: &Workload, _: bool) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(Defined {
            workload: workload.clone(),
            facts: Facts {
                stages: workload.steps.len(),
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
        let mut given = inputs.iter();
        let mut all = Vec::new();
        for input in &self.workload.inputs {
            if input.constant {
                let size = input.tensor.bytes().ok_or("a constant is too big")?;
                let mut bytes = vec![0; size];
                fill(input, &mut bytes);
                all.push(bytes);
            } else {
                all.push(given.next().ok_or("an input is missing")?.to_vec());
            }
        }
        Ok(Box::new(Call {
            workload: &self.workload,
            inputs: all,
            output: Mutex::new(output),
        }))
    }
}

impl Call<'_> {
    fn once(&self) -> Result<(), String> {
        let inputs: Vec<&[u8]> = self.inputs.iter().map(Vec::as_slice).collect();
        let bytes = evaluate(self.workload, &inputs).map_err(|e| e.to_string())?;
        let mut output = self.output.lock().map_err(|e| e.to_string())?;
        output.copy_from_slice(&bytes);
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

    fn phases(&self) -> usize {
        1
    }

    unsafe fn chunk(&self, _: usize, chunk: usize, _: usize) -> Result<(), String> {
        if chunk == 0 { self.once() } else { Ok(()) }
    }
}
