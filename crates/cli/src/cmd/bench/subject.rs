//! What is measured, seen from the harness.
//!
//! The harness knows no compiler. A [`Subject`] turns a workload into something [`Prepared`],
//! which binds arguments once and can then be called any number of times.

#![allow(
    unsafe_code,
    reason = "chunks of a call carry a promise about their order"
)]

use restride_testkit::workloads::Workload;

/// A system that runs workloads.
pub(crate) trait Subject {
    /// Compiles a workload from scratch. Unless `allow_view`, the output has to be written,
    /// dense, even where a view of an input would do.
    fn prepare(&self, workload: &Workload, allow_view: bool) -> Result<Box<dyn Prepared>, String>;
}

/// A compiled workload.
pub(crate) trait Prepared {
    /// What the compiler says about it.
    fn facts(&self) -> &Facts;

    /// Fixes the arguments of the calls to come: one slice per input that is no constant, in the
    /// order of the file, the output, and scratch, which may hold anything. A view writes nothing
    /// into `output`.
    fn bind<'a>(
        &'a self,
        inputs: &'a [&'a [u8]],
        output: &'a mut [u8],
        scratch: &'a mut [u8],
    ) -> Result<Box<dyn Bound + 'a>, String>;
}

/// A call whose arguments are fixed, to be made again and again.
pub(crate) trait Bound: Sync {
    /// Calls it `times` times, whole, on this thread.
    fn repeat(&mut self, times: u64) -> Result<(), String>;

    /// Whether there is work that several threads can share.
    fn is_shared(&self) -> bool;

    /// How many phases a call has; every chunk of one is done before the next begins.
    fn phases(&self) -> usize;

    /// Runs the part `chunk` of `of` of a phase.
    ///
    /// # Safety
    /// Each chunk of a phase runs once per pass, after all chunks of the phases before it, and at
    /// the same time as nothing of this call but other chunks of the same phase.
    unsafe fn chunk(&self, phase: usize, chunk: usize, of: usize) -> Result<(), String>;
}

/// What the compiler says about a workload.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Set if the output is a strided view of an input and nothing moves.
    pub(crate) view: Option<View>,
    /// From the workload's graph to something that can be called, in nanoseconds.
    pub(crate) compile_ns: u64,
    /// Passes over memory.
    pub(crate) stages: usize,
    /// The machine forms of the moves, each once, in order.
    pub(crate) forms: Vec<String>,
    /// Bytes of machine code.
    pub(crate) code_bytes: usize,
    /// Bytes of scratch that a call needs.
    pub(crate) scratch_bytes: usize,
}

/// An output that lies in an input: element `i` at `offset + sum(i * stride)`, in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// Which argument of the call.
    pub(crate) input: usize,
    /// Where index 0 lies.
    pub(crate) offset: i64,
    /// One stride per axis of the output.
    pub(crate) strides: Vec<i64>,
}

impl View {
    /// The bytes of the view in dense order; `None` where it leaves the input.
    pub(crate) fn read(&self, input: &[u8], shape: &[i64], width: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        if shape.contains(&0) {
            return Some(bytes);
        }
        let mut index = vec![0i64; shape.len()];
        loop {
            let steps = index.iter().zip(&self.strides);
            let at = steps.map(|(&i, &stride)| i128::from(i) * i128::from(stride));
            let at = i128::from(self.offset) + at.sum::<i128>();
            let from = usize::try_from(at).ok()?.checked_mul(width)?;
            bytes.extend_from_slice(input.get(from..from.checked_add(width)?)?);
            let Some(axis) = (0..shape.len()).rfind(|&axis| index[axis] + 1 < shape[axis]) else {
                return Some(bytes);
            };
            index[axis] += 1;
            index[axis + 1..].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_read_by_its_strides() {
        let input: Vec<u8> = (0..12).collect();
        let view = View {
            input: 0,
            offset: 2,
            strides: vec![-1, 4],
        };
        assert_eq!(view.read(&input, &[2, 3], 1), Some(vec![2, 6, 10, 1, 5, 9]));
        assert_eq!(view.read(&input, &[3, 4], 1), None);
        assert_eq!(view.read(&input, &[4, 1], 1), None);
        assert_eq!(view.read(&input, &[0, 9], 1), Some(vec![]));
    }
}
