//! What goes wrong, as the exceptions that numpy raises.

use pyo3::exceptions::{PyIndexError, PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use restride::{CompileError, GraphError, OffendingIndex, RunError, TypeError};

/// Why a call could not be made, or failed.
pub(crate) enum Failure {
    /// An array reaches further than an address can.
    TooLarge,
    /// An array of indices has no integers.
    NoIndices,
    /// An array that is to be written has another shape: what it is, and what was given.
    Shape(Vec<isize>, Vec<isize>),
    /// Sizes and strides that no tensor has.
    Type(TypeError),
    /// An exception as it is to be raised.
    Raised(PyErr),
    Graph(GraphError),
    Compile(CompileError),
    /// A call failed; if an index did, along this axis, if that is known.
    Run(RunError, Option<i64>),
}

impl From<GraphError> for Failure {
    fn from(error: GraphError) -> Self {
        Self::Graph(error)
    }
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Self {
        Self::Compile(error)
    }
}

/// Sizes as Python prints a tuple of them.
pub(crate) fn tuple<T: ToString>(sizes: &[T]) -> String {
    match sizes {
        [one] => format!("({},)", one.to_string()),
        _ => {
            let sizes: Vec<String> = sizes.iter().map(T::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    }
}

impl Failure {
    /// As numpy raises it.
    #[cold]
    pub(crate) fn raised(self) -> PyErr {
        match self {
            Self::TooLarge => PyValueError::new_err("array is too big"),
            Self::NoIndices => PyTypeError::new_err("indices must be integers"),
            Self::Shape(is, given) => PyValueError::new_err(format!(
                "output array does not match result: it has shape {}, the result {}",
                tuple(&given),
                tuple(&is)
            )),
            Self::Type(error) => PyValueError::new_err(error.to_string()),
            Self::Raised(error) => error,
            Self::Graph(error) => PyValueError::new_err(error.to_string()),
            Self::Compile(CompileError::Graph(error)) => PyValueError::new_err(error.to_string()),
            Self::Compile(error) => PyRuntimeError::new_err(error.to_string()),
            Self::Run(RunError::Index { value, limit, .. }, axis) => {
                let index = match value {
                    OffendingIndex::Value(index) => index.to_string(),
                    OffendingIndex::Changed => "(changed meanwhile)".to_owned(),
                };
                let axis = axis.map_or("an axis".to_owned(), |axis| format!("axis {axis}"));
                PyIndexError::new_err(format!(
                    "index {index} is out of bounds for {axis} with size {limit}"
                ))
            }
            Self::Run(error @ RunError::OutOfMemory { .. }, _) => {
                PyMemoryError::new_err(error.to_string())
            }
            Self::Run(error, _) => PyRuntimeError::new_err(error.to_string()),
        }
    }
}

/// Results that Python is given.
pub(crate) trait IntoPy<T> {
    fn into_py(self) -> PyResult<T>;
}

impl<T, F: Into<Failure>> IntoPy<T> for Result<T, F> {
    #[inline]
    fn into_py(self) -> PyResult<T> {
        self.map_err(|error| error.into().raised())
    }
}
