//! Calls of machine code: buffers are made here, so every promise can be kept here.

#![allow(unsafe_code, reason = "machine code is called with raw addresses")]

use restride_jit::{NativeKernel, RunError};
use restride_loops::{Role, Verified};

/// A native kernel with memory for a call of it.
pub(crate) struct BoundKernel {
    native: NativeKernel,
    /// Owners of what `table` points into.
    _inputs: Vec<Vec<u8>>,
    outputs: Vec<Vec<u8>>,
    _scratch: Vec<Vec<u8>>,
    table: Vec<*mut u8>,
}

impl BoundKernel {
    /// Binds machine code to the kernel it was made from, with inputs and outputs by number.
    /// Nothing if one is missing or too short.
    pub(crate) fn new(
        kernel: &Verified,
        native: NativeKernel,
        mut inputs: Vec<Vec<u8>>,
        mut outputs: Vec<Vec<u8>>,
    ) -> Option<Self> {
        if native.buffers() != kernel.buffers.len() {
            return None;
        }
        let mut scratch = Vec::new();
        let mut table = Vec::new();
        for buffer in &kernel.buffers {
            let bytes = buffer.bytes()?;
            let long_enough = |memory: &&mut Vec<u8>| memory.len() >= bytes;
            table.push(match &buffer.role {
                Role::In(n) => inputs
                    .get_mut(*n as usize)
                    .filter(long_enough)?
                    .as_mut_ptr(),
                Role::Out(n, _) => outputs
                    .get_mut(*n as usize)
                    .filter(long_enough)?
                    .as_mut_ptr(),
                Role::Const(_) => std::ptr::null_mut(),
                Role::Scratch => {
                    let mut memory = vec![0u8; bytes];
                    let start = memory.as_mut_ptr();
                    scratch.push(memory);
                    start
                }
            });
        }
        Some(Self {
            native,
            _inputs: inputs,
            outputs,
            _scratch: scratch,
            table,
        })
    }

    /// Runs it once.
    pub(crate) fn run(&mut self) -> Result<(), RunError> {
        // SAFETY: the table has an entry for every buffer of the kernel that the code was made
        // from, each at least as long as declared, in vectors of their own that `self` keeps and
        // nobody else can reach; the verifier lets no two buffers be one output.
        unsafe { self.native.call_raw(self.table.as_ptr()) }
    }

    /// The machine code.
    pub(crate) fn code(&self) -> &NativeKernel {
        &self.native
    }

    /// The outputs, by number.
    pub(crate) fn outputs(&self) -> &[Vec<u8>] {
        &self.outputs
    }
}
