//! The tensor IR: operators as their frameworks spell them, type rules, text form and the oracle.
//!
//! A [`Graph`] is a list of values. A value is made by one operator ([`Op`]) from values before it,
//! and has a [`TensorType`] from the moment it is added. Some values are inputs, some are handed out.
//! Nothing here knows how data will be moved: this is the stage that knows what was *meant*.
//!
//! # A graph three times
//!
//! By the builder:
//!
//! ```
//! # extern crate restride_graph as restride;
//! use restride::{ElementType, Graph, IndexRule};
//!
//! let mut g = Graph::new("attend");
//! let kv = g.input("kv", ElementType::F16, [2, 512, 64])?;
//! let rows = g.input("rows", ElementType::I64, [128])?;
//! let picked = g.gather(kv, rows, IndexRule::OPENVINO).axis(1).finish()?;
//! let turned = g.transpose(picked, [0, 2, 1])?;
//! g.output(turned)?;
//!
//! // As text, which reads back as the same graph:
//! let text = "\
//! func @attend(%kv: f16[2, 512, 64], %rows: i64[128]) {
//!   %2 = gather %kv, %rows axis 1 out_of_range zero wrap : f16[2, 128, 64]
//!   %3 = transpose %2 perm [0, 2, 1] : f16[2, 64, 128]
//!   return %3
//! }
//! ";
//! assert_eq!(g.to_string(), text);
//! assert_eq!(Graph::parse(text).unwrap(), g);
//!
//! // And operator by operator, as a frontend might do it:
//! use restride::Op;
//! let again = g.push(Op::Transpose { x: picked, perm: [0, 2, 1].as_slice().into() })?;
//! assert_eq!(g.ty(again), g.ty(turned));
//! # Ok::<(), restride::GraphError>(())
//! ```
//!
//! # Elements and types
//!
//! An element ([`ElementType`]) is a name and a width of 1, 2, 4, 8 or 16 bytes. Moving data does
//! not look inside; only integers of at most 64 bits can index. A type is an element and the sizes
//! of 0 to 32 axes. Size 0 is ordinary; a negative size, or sizes whose product (zeros left out) is
//! more than `isize::MAX` bytes, cannot be. Inputs and outputs may carry a layout ([`Strided`]): an
//! offset and strides in elements, any for inputs, no two elements in one place for outputs.
//!
//! # Operators
//!
//! Each is a row of [one table](OPERATORS), of which this one is made.
//!
#![doc = include_str!("operators.md")]
//!
//! Where two frameworks disagree the graph says whose rule holds; there is no default that guesses.
//! An index out of range gives zero bits (`zero`), is moved into the axis (`clamp`), or makes the
//! run fail before anything is written (`error`): [`OutOfRange`].
//!
//! # Type rules
//!
//! [`resolve`] turns an operator's attributes, on given shapes, into numbers without rules: ranges
//! inside their axes, axes as positions. Type inference and the canonicaliser both use it. All of
//! its arithmetic is checked: any `i64` anywhere gives an answer or a [`GraphError`], which names
//! the operator, the part of it that is wrong, what it got and what it may have.
//!
//! [`oracle`] is the meaning of a graph, evaluated index by index. It shares no arithmetic with
//! [`resolve`].
//!
//! # Text
//!
//! `tests/files/reference.mv` of this crate is the grammar and an example of every statement, and
//! is read by a test. A text with several mistakes reports all of them, each with its line and a
//! caret ([`Graph::parse`]). A hostile text costs at most a small multiple of its length.
#![forbid(unsafe_code)]

mod builder;
mod constant;
mod element;
mod error;
mod graph;
mod infer;
mod op;
pub mod oracle;
pub mod resolve;
mod sample;
mod text;
mod types;
mod uniform;
mod value;

pub use builder::{
    BlocksBuilder, BroadcastBuilder, CenterCropPadBuilder, GatherBuilder, GatherNdBuilder,
    PadBuilder, ReshapeBuilder, SliceBuilder, SplitBuilder, StridedSliceBuilder,
};
pub use constant::{Constant, ConstantError};
pub use element::{ElementType, UnknownElement};
pub use error::{Count, GraphError, Place, Problem, Refusal};
pub use graph::{Graph, MAX_VALUES, Output, ViewPolicy};
pub use op::{
    BroadcastMode, ChannelAxis, DepthOrder, IndexRule, Ints, Number, OPERATORS, Op, Operands,
    Operator, OutOfRange, PadMode, ReshapeDialect, SliceDialect, StridedSliceDialect,
    StridedSliceSpec,
};
pub use restride_text::{Diagnostics, Source};
pub use sample::Sample;
pub use types::{MAX_RANK, Shape, Strided, TensorType, TypeError};
pub use uniform::Uniform;
pub use value::ValueId;
