//! What is measured, seen from the harness.
//!
//! The harness knows no compiler. A [`Subject`] turns a workload into something [`Prepared`],
//! which binds arguments once and can then be called any number of times.

#![allow(
    unsafe_code,
    reason = "chunks of a call carry a promise about their order"
)]

use restride_graph::Strided;
use restride_testkit::workloads::Workload;

/// A system that runs workloads.
pub trait Subject {
    /// Compiles a workload from scratch. Unless `allow_view`, the output has to be written,
    /// dense, even where a view of an input would do.
    fn prepare(&self, workload: &Workload, allow_view: bool) -> Result<Box<dyn Prepared>, String>;

    /// Whether its calls read their output, as the memcpy beside them then does.
    fn reads_output(&self) -> bool {
        false
    }
}

/// A compiled workload.
pub trait Prepared: Sync {
    /// What the compiler says about it.
    fn facts(&self) -> &Facts;

    /// Fixes the arguments of the calls to come: one slice per input, in the
    /// order of the graph, the output, and scratch, which may hold anything. A view writes nothing
    /// into `output`.
    fn bind<'a>(
        &'a self,
        inputs: &'a [&'a [u8]],
        output: &'a mut [u8],
        scratch: &'a mut [u8],
    ) -> Result<Box<dyn Bound + 'a>, String>;
}

/// A call whose arguments are fixed, to be made again and again.
pub trait Bound: Sync {
    /// Calls it `times` times, whole, on this thread.
    fn repeat(&mut self, times: u64) -> Result<(), String>;

    /// Whether there is work that several threads can share.
    fn is_shared(&self) -> bool {
        false
    }

    /// How many phases a call has; every chunk of one is done before the next begins.
    fn phases(&self) -> usize {
        1
    }

    /// Runs the part `chunk` of `of` of a phase.
    ///
    /// # Safety
    /// Each chunk of a phase runs once per pass, after all chunks of the phases before it, and at
    /// the same time as nothing of this call but other chunks of the same phase.
    unsafe fn chunk(&self, _phase: usize, _chunk: usize, _of: usize) -> Result<(), String> {
        Err("nothing of it is shared".into())
    }
}

/// What the compiler says about a workload.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Set if the output is a view of an input and nothing moves: of which one, and where in it.
    pub view: Option<(usize, Strided)>,
    /// From the workload's graph to something that can be called, in nanoseconds.
    pub compile_ns: u64,
    /// Passes over memory.
    pub stages: usize,
    /// The machine forms of the moves, each once, in order.
    pub forms: Vec<String>,
    /// Bytes of machine code.
    pub code_bytes: usize,
    /// Bytes of scratch that a call needs.
    pub scratch_bytes: usize,
}
