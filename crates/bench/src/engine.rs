//! The compiler as a subject.

#![allow(
    unsafe_code,
    reason = "chunks of a call carry a promise about their order"
)]

use super::subject::{Bound, Facts, Prepared, Subject};
use restride::{
    Budget, Call, Code, Config, Engine, Output, Program, Target, TensorMut, TensorRef, ViewPolicy,
};
use restride_moves::Manner;
use restride_testkit::workloads::Workload;
use std::time::{Duration, Instant};

/// The compiler with its default settings but for how code is made and for which machine.
pub fn subject(code: Code, budget: Budget, target: &Target) -> Box<dyn Subject> {
    Box::new(Compiler::new(code, budget, target, None))
}

/// The compiler with every box moved in this manner that can be.
pub fn held_to(manner: Manner, budget: Budget, target: &Target) -> Box<dyn Subject> {
    Box::new(Compiler::new(Code::Native, budget, target, Some(manner)))
}

/// One engine for all workloads, as a host has it. A program lives no longer than its trial, so
/// that every workload is compiled anew.
struct Compiler {
    copying: Engine,
    viewing: Engine,
}

impl Compiler {
    fn new(code: Code, budget: Budget, target: &Target, held_to: Option<Manner>) -> Self {
        let engine = |views| {
            Engine::new(Config {
                views,
                code,
                held_to,
                budget,
                target: target.clone(),
                ..Config::default()
            })
        };
        Self {
            copying: engine(ViewPolicy::Copy),
            viewing: engine(ViewPolicy::Any),
        }
    }
}

/// What a program says about itself; `view` is its first output, if that is one.
pub fn facts(program: &Program, compiled: Duration) -> Facts {
    let summary = program.summary();
    let view = match program.outputs().first() {
        Some(Output::View { input, layout, .. }) => Some((*input, layout.clone())),
        Some(Output::Computed { .. }) | None => None,
    };
    Facts {
        view,
        compile_ns: u64::try_from(compiled.as_nanos()).unwrap_or(u64::MAX),
        stages: summary.stages,
        forms: summary
            .forms
            .iter()
            .map(|form| (*form).to_owned())
            .collect(),
        code_bytes: summary.code_bytes,
        scratch_bytes: summary.scratch_bytes,
    }
}

/// A call of a program with these arguments.
pub fn bound<'a>(
    program: &'a Program,
    inputs: &[TensorRef<'a>],
    outputs: Vec<TensorMut<'a>>,
    scratch: &'a mut [u8],
) -> Result<Box<dyn Bound + 'a>, String> {
    let call = program.bind_in(inputs, outputs, scratch);
    Ok(Box::new(Prearranged {
        call: call.map_err(|e| e.to_string())?,
        is_shared: program.kernel().is_parallel(),
    }))
}

struct Compiled {
    program: Program,
    facts: Facts,
}

impl Subject for Compiler {
    fn prepare(&self, workload: &Workload, allow_view: bool) -> Result<Box<dyn Prepared>, String> {
        let engine = match allow_view {
            true => &self.viewing,
            false => &self.copying,
        };
        // Or it would be looked up.
        engine.clear();
        let start = Instant::now();
        let program = engine.compile(&workload.graph).map_err(|e| e.to_string())?;
        let compiled = start.elapsed();
        let facts = facts(&program, compiled);
        Ok(Box::new(Compiled { program, facts }))
    }
}

impl Prepared for Compiled {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn bind<'a>(
        &'a self,
        inputs: &'a [&'a [u8]],
        output: &'a mut [u8],
        scratch: &'a mut [u8],
    ) -> Result<Box<dyn Bound + 'a>, String> {
        let inputs: Vec<_> = inputs
            .iter()
            .map(|bytes| TensorRef::from_bytes(bytes))
            .collect();
        let mut outputs = Vec::new();
        if self.facts.view.is_none() {
            outputs.push(TensorMut::from_bytes(output));
        }
        bound(&self.program, &inputs, outputs, scratch)
    }
}

struct Prearranged<'a> {
    call: Call<'a>,
    is_shared: bool,
}

// SAFETY: shared access reads the number of phases or runs chunks, whose callers promise what
// `Call::chunk` asks of several threads.
unsafe impl Sync for Prearranged<'_> {}

impl Bound for Prearranged<'_> {
    fn repeat(&mut self, times: u64) -> Result<(), String> {
        for _ in 0..times {
            self.call.run().map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn is_shared(&self) -> bool {
        self.is_shared
    }

    fn phases(&self) -> usize {
        self.call.phases()
    }

    unsafe fn chunk(&self, phase: usize, chunk: usize, of: usize) -> Result<(), String> {
        let number = |n: usize| u32::try_from(n).map_err(|e| e.to_string());
        // SAFETY: the caller's promise is the same.
        let done = unsafe { self.call.chunk(phase, number(chunk)?, number(of)?) };
        done.map_err(|e| e.to_string())
    }
}
