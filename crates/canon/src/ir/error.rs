//! What a constructor of the canonical IR refuses.

use super::NodeId;
use restride_graph::ElementType;
use restride_layout::Break;

/// Why a node cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum IrError {
    #[error("{node}: no such node before this place")]
    NoSuchNode { node: NodeId },
    #[error("{op}: rank {rank} exceeds the limit of {limit}")]
    Rank {
        op: &'static str,
        rank: usize,
        limit: usize,
    },
    #[error("{op}: axis {axis} has size {size}; sizes are at least 0")]
    NegativeSize {
        op: &'static str,
        axis: usize,
        size: i64,
    },
    #[error("{op}: the tensor has more bytes than memory can be addressed with")]
    TooLarge { op: &'static str },
    #[error("{op}: {found} entries where the operand has rank {rank}")]
    Count {
        op: &'static str,
        found: usize,
        rank: usize,
    },
    #[error("{op}: {why}")]
    View { op: &'static str, why: Break },
    #[error("gather: axis {axis} of the data names output axis {output}: {why}")]
    GatherAxis {
        axis: usize,
        output: u8,
        why: &'static str,
    },
    #[error("gather: output axis {output} has size {expected} and size {found}")]
    GatherSize {
        output: u8,
        expected: i64,
        found: i64,
    },
    #[error("gather: no coordinate uses output axis {output}")]
    GatherUnused { output: usize },
    #[error("gather: the index of axis {axis} has rank {rank} but {found} output axes")]
    GatherIndexRank {
        axis: usize,
        rank: usize,
        found: usize,
    },
    #[error("gather: axis {axis} of the data is empty, so no index can choose from it")]
    GatherEmptyAxis { axis: usize },
    #[error("gather: no coordinate is an index")]
    GatherWithoutIndex,
    #[error("{op}: {element:?} is no index type")]
    IndexType {
        op: &'static str,
        element: ElementType,
    },
    #[error("concat: no parts")]
    NoParts,
    #[error("concat: axis {axis} is outside the rank {rank}")]
    ConcatAxis { axis: u8, rank: usize },
    #[error("concat: part {part} differs in element type or in an axis other than {axis}")]
    ConcatPart { part: usize, axis: u8 },
    #[error("constant: {found} bytes where the type takes {expected}")]
    ConstantBytes { found: usize, expected: i64 },
    #[error("fill: the bits {bits:#x} do not fit {width} bytes")]
    FillBits { bits: u128, width: usize },
    #[error("check: limit {limit} is negative")]
    CheckLimit { limit: i64 },
    #[error("check: column {column} of {columns}")]
    CheckColumn { column: u32, columns: u32 },
    #[error("layout: {found} strides where the value has rank {rank}")]
    LayoutRank { found: usize, rank: usize },
    #[error("more than {limit} nodes")]
    TooMany { limit: usize },
}
