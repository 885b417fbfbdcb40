//! A build without machine code: the names of `jit.rs`, with nothing behind them.

use crate::Config;
use crate::code::{Failed, RunnableKernel};
use crate::engine::Counts;
use crate::guard::{Point, point};
use restride_loops::Verified;
use restride_moves::Planner;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// There is none.
pub(crate) enum NativeKernel {}

impl NativeKernel {
    pub(crate) fn code_bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn code(&self) -> &[u8] {
        match *self {}
    }

    pub(crate) fn disassembly(&self) -> String {
        match *self {}
    }

    pub(crate) fn compile_time(&self) -> Duration {
        match *self {}
    }

    pub(crate) unsafe fn call_raw(&self, _: *const *mut u8) -> Result<(), Failed> {
        match *self {}
    }

    pub(crate) unsafe fn run_chunk(
        &self,
        _: *const *mut u8,
        _: usize,
        _: u32,
        _: u32,
    ) -> Result<(), Failed> {
        match *self {}
    }
}

pub(crate) struct Jit {
    pub(crate) counts: Counts,
}

impl Jit {
    pub(crate) fn new(_: &Config, _: Arc<Planner>) -> Self {
        Self {
            counts: Counts::default(),
        }
    }

    pub(crate) fn compile(&self, kernel: &Verified, _: u64) -> Option<NativeKernel> {
        point(Point::Code(kernel));
        None
    }

    pub(crate) fn improve(&self, kernel: &RunnableKernel) {
        kernel.improve(|| self.compile(kernel.kernel(), 0));
    }

    pub(crate) fn improve_later(&self, _: &Arc<RunnableKernel>) {}

    pub(crate) fn stop(&self) -> Option<JoinHandle<()>> {
        None
    }

    pub(crate) fn code_bytes(&self) -> usize {
        0
    }
}
