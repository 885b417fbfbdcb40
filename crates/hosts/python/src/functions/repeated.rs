//! Functions under `restride.jit` that are called again, with arrays of shapes and dtypes that were met before.
//!
//! They are looked up here rather than in Python, where that takes longer than a small array's whole call.

use super::evaluate::evaluated;
use crate::array::Array;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;
use std::sync::{Arc, Mutex};

/// How many combinations of shapes and dtypes are remembered.
const REMEMBERED: usize = 16;

/// An argument as it was.
struct Like {
    dtype: Py<PyAny>,
    shape: SmallVec<[isize; 4]>,
}

/// What a function does to arrays like these: which arguments it moves, by which it indexes, and how.
struct Known {
    like: Vec<Like>,
    moved: Vec<usize>,
    indices: Vec<usize>,
    numbers: Vec<i64>,
}

/// What one function does to arrays of some shapes. For the package's own use.
#[pyclass(frozen)]
pub(crate) struct Repeated {
    views: bool,
    threads: Option<usize>,
    known: Mutex<Vec<Arc<Known>>>,
}

impl Repeated {
    fn find(&self, arguments: &[Array<'_>]) -> Option<Arc<Known>> {
        let fits = |(array, like): (&Array<'_>, &Like)| {
            array.has_descriptor(&like.dtype) && *array.shape() == *like.shape
        };
        let known = self.known.lock().ok()?;
        let mut all = known.iter();
        let found = all.find(|known| {
            known.like.len() == arguments.len() && arguments.iter().zip(&known.like).all(fits)
        });
        found.cloned()
    }
}

/// The arguments, if they are arrays and nothing else.
fn arrays<'py>(arguments: &Bound<'py, PyTuple>) -> Option<SmallVec<[Array<'py>; 4]>> {
    let array = |argument| {
        Array::exactly(&argument).filter(|array| array.is_base_class() && array.is_plain())
    };
    arguments.iter().map(array).collect()
}

#[pymethods]
impl Repeated {
    #[new]
    fn new(views: bool, threads: Option<usize>) -> Self {
        let known = Mutex::default();
        Self {
            views,
            threads,
            known,
        }
    }

    /// Remembers what is done to arguments like these.
    fn remember(
        &self,
        arguments: &Bound<'_, PyTuple>,
        moved: Vec<usize>,
        indices: Vec<usize>,
        numbers: Vec<i64>,
    ) -> PyResult<()> {
        let Some(arrays) = arrays(arguments) else {
            return Ok(());
        };
        let mut like = Vec::new();
        for array in &arrays {
            like.push(Like {
                dtype: array.object().getattr("dtype")?.unbind(),
                shape: array.shape().into(),
            });
        }
        let new = Arc::new(Known {
            like,
            moved,
            indices,
            numbers,
        });
        // What is dropped holds objects, whose end may run Python: not while others wait.
        let mut dropped = None;
        if let Ok(mut known) = self.known.lock() {
            if known.len() >= REMEMBERED {
                dropped = Some(known.remove(0));
            }
            known.push(new);
        }
        drop(dropped);
        Ok(())
    }

    /// The answer; `None` if arguments like these were not met.
    fn __call__<'py>(
        &self,
        arguments: &Bound<'py, PyTuple>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(arrays) = arrays(arguments) else {
            return Ok(None);
        };
        let Some(known) = self.find(&arrays) else {
            return Ok(None);
        };
        let some = |places: &[usize]| -> Option<SmallVec<[Array<'py>; 4]>> {
            places.iter().map(|at| arrays.get(*at).cloned()).collect()
        };
        let (Some(moved), Some(indices)) = (some(&known.moved), some(&known.indices)) else {
            return Ok(None);
        };
        let all = (moved, indices);
        evaluated(
            arguments.py(),
            &all,
            &known.numbers,
            self.views,
            None,
            self.threads,
        )
        .map(Some)
    }
}
