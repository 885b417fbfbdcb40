//! Threads that share the work of a call: as many as the caller asks for, and none otherwise.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use restride::ParallelFor;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many threads, the calling one among them, which live as long as the loop.
pub(crate) struct Pool(pub(crate) usize);

impl ParallelFor for Pool {
    fn width(&self) -> usize {
        self.0
    }

    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for n in 1..count {
                let thread = std::thread::Builder::new();
                // One that cannot be had is no loss: its part is done by the thread that asked.
                let _ = thread.spawn_scoped(scope, move || body(n));
            }
            body(0);
        });
    }
}

/// How many threads a call has that does not say.
static USUAL: AtomicUsize = AtomicUsize::new(1);

/// More than anybody has.
const MOST: usize = 1024;

/// How many threads a call is to have.
#[inline]
pub(crate) fn wanted(threads: Option<usize>) -> PyResult<usize> {
    match threads {
        None => Ok(USUAL.load(Ordering::Relaxed)),
        Some(count @ 1..=MOST) => Ok(count),
        Some(_) => Err(refused()),
    }
}

#[cold]
fn refused() -> PyErr {
    PyValueError::new_err(format!("threads must be from 1 to {MOST}"))
}

/// Lets calls that do not say have so many threads, the calling one among them. It is 1 at first.
///
/// Threads live as long as a call, so that nothing is left when a process forks or ends. What moves
/// less than 128 KiB is done by the calling thread alone.
///
/// >>> import restride
/// >>> restride.set_num_threads(2)
/// >>> restride.get_num_threads()
/// 2
/// >>> restride.set_num_threads(1)
#[pyfunction]
pub(crate) fn set_num_threads(threads: usize) -> PyResult<()> {
    USUAL.store(wanted(Some(threads))?, Ordering::Relaxed);
    Ok(())
}

/// How many threads calls have that do not say: see `set_num_threads`.
#[pyfunction]
pub(crate) fn get_num_threads() -> usize {
    USUAL.load(Ordering::Relaxed)
}
