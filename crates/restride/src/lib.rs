//! A compiler for moving tensor data, to be embedded in inference engines.
//!
//! Inference engines spend much of their time just moving data: slicing, reshaping, transposing,
//! gathering. restride takes such operators as the frameworks spell them, folds the spelling away,
//! fuses whole chains into one pass over memory and compiles that pass for the exact shapes and
//! strides at hand. Where a view will do it answers with a view and moves nothing.
//!
//! # From a graph to bytes
//!
//! ```
//! use restride::{Config, ElementType, Engine, Graph, TensorMut, TensorRef, ViewPolicy};
//!
//! // x[::-1, 1:7:2]
//! let mut g = Graph::new("demo");
//! let x = g.input("x", ElementType::F32, [4, 8])?;
//! let y = g.strided_slice(x).begin([0, 1]).end([0, 7]).strides([-1, 2])
//!     .begin_mask(0b01).end_mask(0b01).finish()?;
//! g.output(y)?;
//!
//! // A slice is a view: asked for copies, the engine writes it all the same.
//! let engine = Engine::new(Config { views: ViewPolicy::Copy, ..Config::default() });
//! let program = engine.compile(&g)?;
//! let x: Vec<f32> = (0..32).map(|n| n as f32).collect();
//! let mut y = [0f32; 12];
//! program.run(&[TensorRef::new(&x)], &mut [TensorMut::new(&mut y)])?;
//! assert_eq!(y[..3], [25.0, 27.0, 29.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Views are part of the answer
//!
//! [`Program::outputs`] says for each output whether it is a [`Output::View`] of an input (where
//! it lies in that input's buffer) or [`Output::Computed`], and then why. Only computed outputs
//! are passed to [`Program::run`]. [`Config::views`], or
//! [`Graph::output_as`] for one of them, asks for copies instead, or for views only where they are
//! a whole input under another shape.
//!
//! ```
//! use restride::{ElementType, Engine, Graph, Output};
//!
//! let mut g = Graph::new("heads");
//! let x = g.input("x", ElementType::F32, [2, 6, 4])?;
//! let turned = g.transpose(x, [1, 0, 2])?;
//! let flat = g.reshape(turned, [6, 8]).finish()?;
//! g.output(turned)?;
//! g.output(flat)?;
//! let program = Engine::default().compile(&g)?;
//! let Output::View { input: 0, layout, .. } = &program.outputs()[0] else { panic!() };
//! assert_eq!((layout.offset, layout.strides.as_slice()), (0, [4, 24, 1].as_slice()));
//! let Output::Computed { why, .. } = &program.outputs()[1] else { panic!() };
//! assert_eq!(why, "axis 1 would need 2 strides");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Inputs may be views themselves, and outputs parts of larger buffers: a type may carry a
//! [`Strided`] layout, so what one program answers is what the next one takes.
//!
//! ```
//! use restride::{ElementType, Engine, Graph, Strided, TensorMut, TensorRef};
//!
//! // One row, appended to a buffer of four at the third place.
//! let mut g = Graph::new("append");
//! let row = g.input("row", ElementType::U8, [1, 3])?;
//! g.strided_output(row, Strided { offset: 6, strides: [3, 1].into_iter().collect() })?;
//! let program = Engine::default().compile(&g)?;
//! let mut buffer = [0u8; 12];
//! program.run(&[TensorRef::new(&[7u8, 8, 9])], &mut [TensorMut::new(&mut buffer)])?;
//! assert_eq!(buffer, [0, 0, 0, 0, 0, 0, 7, 8, 9, 0, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A good guest
//!
//! - **Threads are the caller's.** [`Program::run_on`] takes a [`ParallelFor`]; the engine starts
//!   a thread of its own only under [`Code::Background`].
//! - **Memory is bounded.** The cache keeps to [`Config::cache_entries`] and
//!   [`Config::cache_bytes`]; code is freed with the last program that uses it.
//! - **Nothing is assumed.** Where executable memory is refused, programs run on the generic
//!   executor, and [`Stats::refused`] says so. Buffers may have any alignment; outputs may be
//!   uninitialised ([`TensorMut::uninit`]).
//! - **Errors leave outputs as they were**, unless a pool of threads breaks off in the middle
//!   ([`RunError::ChunksMissing`]). That includes gathers whose indices are out of range.
//!
//! ```
//! use restride::{ElementType, Engine, Graph, IndexRule, TensorMut, TensorRef};
//!
//! let mut g = Graph::new("rows");
//! let x = g.input("x", ElementType::U8, [4, 2])?;
//! let i = g.input("i", ElementType::I64, [2])?;
//! let y = g.gather(x, i, IndexRule::ONNX).axis(0).finish()?;
//! g.output(y)?;
//! let program = Engine::default().compile(&g)?;
//! let x = [0u8, 1, 2, 3, 4, 5, 6, 7];
//! let mut y = [99u8; 4];
//! let mut call = |i: &[i64]| {
//!     program.run(&[TensorRef::new(&x), TensorRef::new(i)], &mut [TensorMut::new(&mut y)])
//! };
//! let error = call(&[0, 4]).unwrap_err();
//! assert_eq!(error.to_string(), "gather %2: index 4 at position 1 is outside axis 0 of size 4");
//! call(&[-1, 0])?;
//! assert_eq!(y, [6, 7, 0, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Shapes that change
//!
//! ```
//! use restride::{ElementType, Engine, Graph, InputShape, Template};
//!
//! let mut g = Graph::new("node");
//! let x = g.input("x", ElementType::F16, [1, 8, 64])?;
//! let y = g.transpose(x, [1, 0, 2])?;
//! g.output(y)?;
//! let node = Template::new(g);
//!
//! let engine = Engine::default();
//! for length in [5, 6, 7, 5, 6, 7] {
//!     let program = engine.specialise(&node, &[InputShape::dense(&[length, 8, 64])])?;
//!     assert_eq!(program.inputs()[0].shape(), [length, 8, 64]);
//! }
//! assert_eq!((engine.stats().hits, engine.stats().misses), (3, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Looking inside
//!
//! [`Program::disassembly`] is the machine code of a program. With the feature `unstable` there are
//! `Stages`, what every stage made of a graph, and `Program::kernel`, the loops that run; each of them
//! prints. They are for tools that are built together with this crate: versions promise nothing about
//! them.

#[cfg(feature = "ndarray")]
mod arrays;
mod cache;
#[cfg(test)]
mod cache_tests;
mod call;
mod code;
mod common_plan;
mod config;
mod dense;
mod engine;
mod error;
mod guard;
#[cfg(feature = "jit")]
mod jit;
#[cfg(not(feature = "jit"))]
#[path = "no_jit.rs"]
mod jit;
mod meta;
#[cfg(feature = "ahead")]
mod object;
mod overlap;
mod parallel;
// What it has is for tools, too.
#[cfg_attr(not(feature = "unstable"), expect(unreachable_pub, dead_code))]
mod pipeline;
mod pool;
#[cfg(test)]
mod pool_tests;
mod program;
mod raw;
mod registry;
mod scratch;
mod stack;
mod sync;
mod template;
mod tensor;
#[cfg(all(test, feature = "jit"))]
mod waiting_tests;
mod words;
#[cfg(feature = "jit")]
mod worker;

#[cfg(feature = "ndarray")]
pub use arrays::{ArrayError, ArrayExt};
pub use call::Call;
pub use config::{Code, Config, Memory};
pub use dense::DenseError;
pub use engine::{Engine, Stats};
pub use error::{Argument, CompileError, OffendingIndex, RunError};
pub use meta::Output;
#[cfg(feature = "ahead")]
pub use object::{Object, ObjectError};
#[cfg(feature = "rayon")]
pub use parallel::Rayon;
pub use parallel::{ParallelFor, Sequential};
#[cfg(feature = "unstable")]
pub use pipeline::{Options, Stages};
pub use program::{Answer, Program, Summary};
pub use raw::Buffer;
#[cfg(feature = "ahead")]
pub use restride_ahead::{BadName, FileError};
pub use restride_budget::{Budget, Stage, TooCostly};
pub use restride_canon::CanonError;
pub use restride_exec::PrepareError;
pub use restride_graph::{
    BlocksBuilder, BroadcastBuilder, BroadcastMode, CenterCropPadBuilder, ChannelAxis, Constant,
    ConstantError, Count, DepthOrder, Diagnostics, ElementType, GatherBuilder, GatherNdBuilder,
    Graph, GraphError, IndexRule, Ints, Op, OutOfRange, PadBuilder, PadMode, Place, Problem,
    ReshapeBuilder, ReshapeDialect, Sample, Shape, SliceBuilder, SliceDialect, Source,
    SplitBuilder, Strided, StridedSliceBuilder, StridedSliceDialect, TensorType, TypeError,
    ValueId, ViewPolicy,
};
#[cfg(feature = "jit")]
pub use restride_jit::JitError;
#[cfg(all(feature = "jit", feature = "unstable"))]
pub use restride_jit::Listing;
pub use restride_leaves::calibrate;
#[cfg(feature = "unstable")]
pub use restride_leaves::read_all;
#[cfg(feature = "unstable")]
pub use restride_loops::{Form, Kernel, Role, Stmt, Verified};
pub use restride_lower::plan::PlanError;
pub use restride_lower::{LowerError, Traffic};
pub use restride_moves::{Core, Features, Processor, Target, TargetError};
#[cfg(feature = "jit")]
pub use stack::CODE_STACK;
pub use stack::{COMPILE_STACK, RUN_STACK};
pub use template::{Family, InputShape, Numbers, Template};
pub use tensor::{Element, OutputBuffer, TensorMut, TensorRef};

/// The Rust of the README and of the guide runs as tests of this crate.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/embedding.md")]
    struct Embedding;
}
