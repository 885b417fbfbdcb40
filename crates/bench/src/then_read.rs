//! What the next reader of the result pays: calls that read all that they have written.

use super::subject::{Bound, Facts, Prepared, Subject};
use restride::read_all;
use restride_testkit::workloads::Workload;

/// Another subject, each of whose calls is followed by a sum over its output. Arguments are bound
/// anew for every call, since the output is read in between: small workloads pay more for that than for the rest.
pub struct ThenRead(pub Box<dyn Subject>);

impl Subject for ThenRead {
    fn prepare(&self, workload: &Workload, allow_view: bool) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(Reading(self.0.prepare(workload, allow_view)?)))
    }

    fn reads_output(&self) -> bool {
        true
    }
}

struct Reading(Box<dyn Prepared>);

impl Prepared for Reading {
    fn facts(&self) -> &Facts {
        self.0.facts()
    }

    fn bind<'a>(
        &'a self,
        inputs: &'a [&'a [u8]],
        output: &'a mut [u8],
        scratch: &'a mut [u8],
    ) -> Result<Box<dyn Bound + 'a>, String> {
        let prepared = &*self.0;
        Ok(Box::new(Call {
            prepared,
            inputs,
            output,
            scratch,
        }))
    }
}

struct Call<'a> {
    prepared: &'a dyn Prepared,
    inputs: &'a [&'a [u8]],
    output: &'a mut [u8],
    scratch: &'a mut [u8],
}

impl Bound for Call<'_> {
    fn repeat(&mut self, times: u64) -> Result<(), String> {
        for _ in 0..times {
            let prepared = self.prepared;
            let mut bound = prepared.bind(self.inputs, self.output, self.scratch)?;
            bound.repeat(1)?;
            drop(bound);
            read_all(self.output);
        }
        Ok(())
    }
}
