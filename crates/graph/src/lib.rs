//! The tensor IR: operators as their frameworks spell them, type rules, text form and the oracle.
#![forbid(unsafe_code)]

mod constant;
mod element;
mod error;
mod graph;
mod infer;
mod op;
pub mod oracle;
pub mod resolve;
mod text;
mod types;
mod value;

pub use constant::{Constant, ConstantError};
pub use element::{ElementType, UnknownElement};
pub use error::{Count, GraphError, Place, Problem, Refusal};
pub use graph::{Graph, MAX_VALUES, Output};
pub use op::{
    BroadcastMode, ChannelAxis, DepthOrder, IndexRule, Ints, Op, Operands, OutOfRange, PadMode,
    ReshapeDialect, SliceDialect, StridedSliceDialect, StridedSliceSpec,
};
pub use types::{MAX_RANK, Shape, Strided, TensorType, TypeError};
pub use value::ValueId;
