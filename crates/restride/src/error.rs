//! What can go wrong, when compiling and when running.

use restride_graph::{ElementType, Graph, ValueId};
use std::sync::Arc;
use thiserror::Error;

/// Why a graph could not be compiled. A graph that was built is valid, so except for one that asks
/// for more pieces than its [`Config::budget`](crate::Config::budget) pays for, a size that nothing
/// could address, and for checked indices whose layout shows each of them millions of
/// times, these are defects of the compiler, reported instead of raised.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A template's operators do not accept the given input types.
    #[error(transparent)]
    Graph(#[from] restride_graph::GraphError),
    /// The number of inputs of a template is another.
    #[error("inputs of the template: {expected} expected, {got} given")]
    InputCount {
        /// How many there are.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// An input type of a template is not one.
    #[error("input {input}: {problem}")]
    InputType {
        /// Which input.
        input: usize,
        /// What is wrong with it.
        problem: restride_graph::TypeError,
    },
    /// The compile would take more than [`Config::budget`](crate::Config::budget).
    #[error(transparent)]
    TooCostly(#[from] restride_budget::TooCostly),
    /// The canonicaliser gave up.
    #[error(transparent)]
    Canonicalise(restride_canon::CanonError),
    /// Composition gave up.
    #[error(transparent)]
    Plan(restride_lower::plan::PlanError),
    /// Scheduling gave up.
    #[error(transparent)]
    Schedule(restride_lower::LowerError),
    /// The calling thread has too little stack left to compile on: see [`COMPILE_STACK`].
    ///
    /// [`COMPILE_STACK`]: crate::COMPILE_STACK
    #[error("compiling needs {need} bytes of stack, {left} are left")]
    StackTooSmall {
        /// How many are needed.
        need: usize,
        /// How many there are.
        left: usize,
    },
    /// A stage panicked. Nothing of it is kept.
    #[error("the compiler has a defect: {0}")]
    Panicked(String),
    /// The verifier refused the kernel: nothing unproved ever runs.
    #[error("the kernel was refused: {0}")]
    Refused(String),
    /// Code was asked for as text and cannot be made on this machine.
    #[cfg(feature = "jit")]
    #[error(transparent)]
    Code(#[from] restride_jit::JitError),
    /// Neither native code nor the generic executor could be made.
    #[error("the kernel could not be prepared: {0}")]
    Prepare(#[from] restride_exec::PrepareError),
    /// Any of the others, of a graph whose nodes [`Graph::begin_node`](crate::Graph::begin_node) has named.
    #[error("{problem} (in {nodes})")]
    In {
        /// The host's node, or the first and the last where there are several.
        nodes: Box<str>,
        /// What went wrong.
        problem: Box<CompileError>,
    },
}

impl CompileError {
    /// The same, of the nodes that the host has named in this graph.
    pub(crate) fn in_nodes_of(self, graph: &Graph) -> Self {
        let mut named = graph.values().filter_map(|value| graph.node(value));
        let Some(first) = named.next() else {
            return self;
        };
        let nodes = match named.next_back() {
            Some(last) if last != first => format!("{first} .. {last}").into(),
            _ => first.into(),
        };
        let problem = Box::new(self);
        Self::In { nodes, problem }
    }
}

impl From<restride_canon::CanonError> for CompileError {
    fn from(error: restride_canon::CanonError) -> Self {
        match error {
            restride_canon::CanonError::TooCostly(spent) => Self::TooCostly(spent),
            error => Self::Canonicalise(error),
        }
    }
}

impl From<restride_lower::LowerError> for CompileError {
    fn from(error: restride_lower::LowerError) -> Self {
        match error {
            restride_lower::LowerError::TooCostly(spent) => Self::TooCostly(spent),
            error => Self::Schedule(error),
        }
    }
}

impl From<restride_lower::plan::PlanError> for CompileError {
    fn from(error: restride_lower::plan::PlanError) -> Self {
        match error {
            restride_lower::plan::PlanError::TooCostly(spent) => Self::TooCostly(spent),
            error => Self::Plan(error),
        }
    }
}

/// Which tensor of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Argument {
    /// The n-th input.
    Input(usize),
    /// The n-th computed output.
    Output(usize),
}

impl std::fmt::Display for Argument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Input(n) => write!(f, "input {n}"),
            Self::Output(n) => write!(f, "output {n}"),
        }
    }
}

/// Why a call failed. Outputs are as they were, except after [`RunError::ChunksMissing`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// Another number of inputs than the program has.
    #[error("inputs of the program: {expected} expected, {got} given")]
    InputCount {
        /// How many there are.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// Another number of outputs than the program computes; views are not among them.
    #[error(
        "outputs that the program computes: {expected} expected, {got} given; what `Program::outputs` calls a view of an input is not passed"
    )]
    OutputCount {
        /// How many there are.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// The element type is another.
    #[error("{argument} has elements of {got}, the program was compiled for {expected}")]
    Element {
        /// Which tensor.
        argument: Argument,
        /// What it has.
        got: ElementType,
        /// What it must have.
        expected: ElementType,
    },
    /// A slice of Rust's `bool` would be written from bytes that may be others than 0 and 1. Pass
    /// the input as a slice of `bool`, or the output as bytes: [`TensorMut::of`](crate::TensorMut::of).
    #[error(
        "{output} is a slice of bool, and {input} bytes that may be no bools: pass a slice of bool for it, or bytes for both"
    )]
    NotBool {
        /// The output.
        output: Argument,
        /// An input of bools given as bytes.
        input: Argument,
    },
    /// The buffer is too short for the layout.
    #[error("{argument} has {got} bytes, its layout needs {expected}")]
    TooShort {
        /// Which tensor.
        argument: Argument,
        /// Bytes it has.
        got: usize,
        /// Bytes it needs.
        expected: usize,
    },
    /// Two buffers share bytes, one of which would be written.
    #[error("{first} and {second} overlap in memory")]
    Overlap {
        /// One of them, an output.
        first: Argument,
        /// The other.
        second: Argument,
    },
    /// An index of a gather whose policy is `error` lies outside its axis.
    #[error("{op}: index {value} at position {position} is outside axis {axis} of size {limit}")]
    Index {
        /// The value that was to be gathered, as the builder of the graph gave it: by it a host finds
        /// its own node again.
        node: ValueId,
        /// The gather, as the text form names it, and the node of the host's, if
        /// [`Graph::begin_node`](crate::Graph::begin_node) has named that.
        op: Arc<str>,
        /// The axis of the data that the index is for.
        axis: usize,
        /// The first offending position, row-major in the index tensor; of a `gather_nd` the
        /// first for the first axis that has one.
        position: u64,
        /// The index.
        value: OffendingIndex,
        /// The size of the axis.
        limit: i64,
    },
    /// A check failed that is none of the program's: a defect of the compiler.
    #[error("check {code} failed, which the program does not have")]
    UnknownCheck {
        /// Its number.
        code: u32,
    },
    /// The scratch that the caller lends to a bound call is too short.
    #[error("{got} bytes of scratch were lent, the program needs {expected}")]
    ScratchTooShort {
        /// Bytes it has.
        got: usize,
        /// Bytes it needs: [`Summary::scratch_bytes`](crate::Summary::scratch_bytes).
        expected: usize,
    },
    /// The scratch of all calls of the engine together would exceed
    /// [`Config::scratch_limit`](crate::Config::scratch_limit).
    #[error("{bytes} bytes of scratch are needed, and all calls together may have {limit}")]
    ScratchOverBudget {
        /// How many this call needs.
        bytes: usize,
        /// How many there may be.
        limit: usize,
    },
    /// Memory for intermediate results is not to be had.
    #[error("no memory for {bytes} bytes of scratch")]
    OutOfMemory {
        /// How many were needed.
        bytes: usize,
    },
    /// The caller's `ParallelFor` came back while chunks that it had begun were not at their end, or
    /// ended them by a panic: the only failure after which outputs are written in part. Chunks that
    /// were never begun are no error; they run on the calling thread.
    #[error("the parallel loop ended with {missing} of its chunks begun and not done")]
    ChunksMissing {
        /// How many.
        missing: usize,
    },
}

/// An index as it was found; it may have been changed by another thread since it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffendingIndex {
    /// This value.
    Value(i128),
    /// It was outside when it was tested and is inside now.
    Changed,
}

impl std::fmt::Display for OffendingIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Changed => f.write_str("(changed since)"),
        }
    }
}
