//! The operators, spelled as the frameworks spell them.
//!
//! No meaning is lost here: masks stay masks, negative indices stay negative, and where two
//! frameworks disagree the operator carries a dialect or a policy that says whose rule holds.
//! The canonicaliser is the only place where spelling goes away.

use std::sync::Arc;

use crate::{Constant, ValueId};

/// The values an operator reads.
pub type Operands = smallvec::SmallVec<[ValueId; 4]>;

/// A short list of integers as the user wrote them: begins, axes, patterns.
pub type Ints = smallvec::SmallVec<[i64; 6]>;

/// Whose `strided_slice` rules hold (they differ in the corners).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StridedSliceDialect {
    /// TensorFlow's kernel.
    TensorFlow,
    /// OpenVINO StridedSlice-1: a backward begin clamps at 0, a shrink ignores its stride.
    OpenVino,
    /// MindSpore: stride 0 is an error anywhere, specs longer than the rank are refused.
    MindSpore,
}

/// Whose `slice` rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SliceDialect {
    /// OpenVINO Slice-8.
    OpenVino,
    /// ONNX Slice-13: the same rule, spelled `starts ends axes steps`.
    Onnx,
}

/// Whose `reshape` rules hold for 0 and -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReshapeDialect {
    /// Explicit sizes only, no -1.
    Plain,
    /// OpenVINO Reshape-1; with `special_zero` a 0 copies the input's size.
    OpenVino {
        /// Whether 0 means "copy".
        special_zero: bool,
    },
    /// ONNX Reshape-14; unless `allow_zero`, a 0 copies the input's size.
    Onnx {
        /// Whether 0 means an empty axis.
        allow_zero: bool,
    },
    /// `tf.reshape`.
    TensorFlow,
    /// MindSpore `ops.reshape`.
    MindSpore,
}

/// What a gather does with an index outside its axis. Never guessed: always spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutOfRange {
    /// The element is zero bits (OpenVINO Gather-8).
    Zero,
    /// The index is clamped into the axis (XLA). On an empty axis the element is zero bits.
    Clamp,
    /// The run fails before anything is written (ONNX, TensorFlow).
    Error,
}

/// How a gather reads its indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IndexRule {
    /// What happens outside the axis.
    pub out_of_range: OutOfRange,
    /// Whether a negative index counts from the end (once) before the range test.
    pub wrap: bool,
}

/// How `broadcast` lines its target up with its operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BroadcastMode {
    /// Right-aligned; every axis of the operand is 1 or the target's size.
    Numpy,
    /// Right-aligned both ways: where the target says 1, the operand's size stays (ONNX Expand).
    Bidirectional,
    /// `axes[k]` is the output axis of the operand's axis `k`.
    Explicit(Ints),
}

/// What fills the rim of a `pad`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PadMode {
    /// These bits (the low `width` bytes).
    Constant(u128),
    /// The nearest edge element.
    Edge,
    /// Mirrored without the edge.
    Reflect,
    /// Mirrored with the edge.
    Symmetric,
    /// Continued from the other side.
    Wrap,
}

/// The order in which `depth_to_space` and `space_to_depth` see the depth axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DepthOrder {
    /// Blocks first, then channels (ONNX DCR).
    BlocksFirst,
    /// Channels first, then blocks (ONNX CRD).
    DepthFirst,
}

/// Where the channel axis of an image-like tensor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelAxis {
    /// `[N, C, spatial..]`.
    First,
    /// `[N, spatial.., C]` (TensorFlow's NHWC).
    Last,
}

/// One operator with its attributes. Operands come first in each variant.
#[allow(missing_docs, reason = "the fields carry the frameworks' own names")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A graph input; its type stands with its value.
    Input,
    /// A dense constant, such as an index table.
    Constant(Constant),
    /// The operand itself.
    Identity { x: ValueId },
    /// `strided_slice` with begin, end, strides and the five masks (bit i = position i).
    StridedSlice {
        x: ValueId,
        dialect: StridedSliceDialect,
        begin: Ints,
        end: Ints,
        strides: Ints,
        begin_mask: i64,
        end_mask: i64,
        ellipsis_mask: i64,
        new_axis_mask: i64,
        shrink_axis_mask: i64,
    },
    /// OpenVINO Slice-8 or ONNX Slice; without `axes` the first `start.len()` axes.
    Slice {
        x: ValueId,
        dialect: SliceDialect,
        start: Ints,
        stop: Ints,
        step: Ints,
        axes: Option<Ints>,
    },
    /// Rows of `x` along `axis`, named by `indices`, after `batch_dims` shared leading axes.
    Gather {
        x: ValueId,
        indices: ValueId,
        axis: i64,
        batch_dims: i64,
        rule: IndexRule,
    },
    /// `out[i] = x[i with i[axis] := indices[i]]`.
    GatherElements {
        x: ValueId,
        indices: ValueId,
        axis: i64,
        rule: IndexRule,
    },
    /// The last axis of `indices` addresses the axes of `x` after `batch_dims`.
    GatherNd {
        x: ValueId,
        indices: ValueId,
        batch_dims: i64,
        rule: IndexRule,
    },
    /// Same row-major order, new sizes.
    Reshape {
        x: ValueId,
        dialect: ReshapeDialect,
        pattern: Ints,
    },
    /// `out.shape[k] = x.shape[perm[k]]`; an empty `perm` reverses the axes.
    Transpose { x: ValueId, perm: Ints },
    /// Drops axes of size 1: those named, or all when `axes` is absent.
    Squeeze { x: ValueId, axes: Option<Ints> },
    /// Inserts axes of size 1; `axes` count in the output's rank.
    Unsqueeze { x: ValueId, axes: Ints },
    /// ONNX Flatten: `[product before axis, product from axis]`.
    Flatten { x: ValueId, axis: i64 },
    /// Repeats axes of size 1 up to `shape`.
    Broadcast {
        x: ValueId,
        shape: Ints,
        mode: BroadcastMode,
    },
    /// Turns whole axes round.
    Reverse { x: ValueId, axes: Ints },
    /// `out[i] = x[(i - shift) mod d]`; repeated axes add up.
    Roll { x: ValueId, shift: Ints, axes: Ints },
    /// One part of a split: consecutive spans of `lengths` along `axis`; `part` says which.
    /// A length of -1 takes the rest. The text form groups the parts of one split.
    Split {
        x: ValueId,
        axis: i64,
        lengths: Arc<[i64]>,
        part: u32,
    },
    /// Operands side by side along `axis`.
    Concat { parts: Operands, axis: i64 },
    /// `out[i] = x[i mod d]` per axis; shape and repeats are padded with 1 on the left.
    Tile { x: ValueId, repeats: Ints },
    /// Adds a rim; negative amounts crop.
    Pad {
        x: ValueId,
        low: Ints,
        high: Ints,
        mode: PadMode,
    },
    /// Moves blocks of depth into space.
    DepthToSpace {
        x: ValueId,
        block: i64,
        order: DepthOrder,
        channels: ChannelAxis,
    },
    /// Moves blocks of space into depth.
    SpaceToDepth {
        x: ValueId,
        block: i64,
        order: DepthOrder,
        channels: ChannelAxis,
    },
    /// Splits `axis` into `groups`, swaps the two halves of it, joins it again.
    ShuffleChannels { x: ValueId, axis: i64, groups: i64 },
    /// ONNX CenterCropPad: each named axis is cropped or zero-padded about its centre.
    CenterCropPad {
        x: ValueId,
        shape: Ints,
        axes: Option<Ints>,
    },
    /// Per batch entry, turns round the first `lengths[b]` elements of `seq_axis`.
    ReverseSequence {
        x: ValueId,
        lengths: Ints,
        batch_axis: i64,
        seq_axis: i64,
    },
}

/// The attributes of a `strided_slice`, borrowed: what [`resolve::strided_slice`] works on.
///
/// [`resolve::strided_slice`]: crate::resolve::strided_slice
#[derive(Clone, Copy, Debug)]
pub struct StridedSliceSpec<'a> {
    /// Whose rules hold.
    pub dialect: StridedSliceDialect,
    /// First index per position.
    pub begin: &'a [i64],
    /// End (not included) per position.
    pub end: &'a [i64],
    /// Step per position.
    pub strides: &'a [i64],
    /// Positions whose begin is ignored.
    pub begin_mask: i64,
    /// Positions whose end is ignored.
    pub end_mask: i64,
    /// The position, if any, that stands for all axes not named.
    pub ellipsis_mask: i64,
    /// Positions that insert an axis of size 1.
    pub new_axis_mask: i64,
    /// Positions that pick one index and drop the axis.
    pub shrink_axis_mask: i64,
}

impl PadMode {
    /// The name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            PadMode::Constant(_) => "constant",
            PadMode::Edge => "edge",
            PadMode::Reflect => "reflect",
            PadMode::Symmetric => "symmetric",
            PadMode::Wrap => "wrap",
        }
    }
}

impl Op {
    /// The name of the operator in the text form.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Input => "input",
            Op::Constant(_) => "constant",
            Op::Identity { .. } => "identity",
            Op::StridedSlice { .. } => "strided_slice",
            Op::Slice { .. } => "slice",
            Op::Gather { .. } => "gather",
            Op::GatherElements { .. } => "gather_elements",
            Op::GatherNd { .. } => "gather_nd",
            Op::Reshape { .. } => "reshape",
            Op::Transpose { .. } => "transpose",
            Op::Squeeze { .. } => "squeeze",
            Op::Unsqueeze { .. } => "unsqueeze",
            Op::Flatten { .. } => "flatten",
            Op::Broadcast { .. } => "broadcast",
            Op::Reverse { .. } => "reverse",
            Op::Roll { .. } => "roll",
            Op::Split { .. } => "split",
            Op::Concat { .. } => "concat",
            Op::Tile { .. } => "tile",
            Op::Pad { .. } => "pad",
            Op::DepthToSpace { .. } => "depth_to_space",
            Op::SpaceToDepth { .. } => "space_to_depth",
            Op::ShuffleChannels { .. } => "shuffle_channels",
            Op::CenterCropPad { .. } => "center_crop_pad",
            Op::ReverseSequence { .. } => "reverse_sequence",
        }
    }

    /// The values it reads, in order.
    pub fn operands(&self) -> Operands {
        match self {
            Op::Input | Op::Constant(_) => Operands::new(),
            Op::Identity { x }
            | Op::StridedSlice { x, .. }
            | Op::Slice { x, .. }
            | Op::Reshape { x, .. }
            | Op::Transpose { x, .. }
            | Op::Squeeze { x, .. }
            | Op::Unsqueeze { x, .. }
            | Op::Flatten { x, .. }
            | Op::Broadcast { x, .. }
            | Op::Reverse { x, .. }
            | Op::Roll { x, .. }
            | Op::Split { x, .. }
            | Op::Tile { x, .. }
            | Op::Pad { x, .. }
            | Op::DepthToSpace { x, .. }
            | Op::SpaceToDepth { x, .. }
            | Op::ShuffleChannels { x, .. }
            | Op::CenterCropPad { x, .. }
            | Op::ReverseSequence { x, .. } => smallvec::smallvec![*x],
            Op::Gather { x, indices, .. }
            | Op::GatherElements { x, indices, .. }
            | Op::GatherNd { x, indices, .. } => smallvec::smallvec![*x, *indices],
            Op::Concat { parts, .. } => parts.clone(),
        }
    }

    /// The same operator of other values.
    #[must_use]
    pub fn map_operands(mut self, mut of: impl FnMut(ValueId) -> ValueId) -> Op {
        match &mut self {
            Op::Input | Op::Constant(_) => {}
            Op::Identity { x }
            | Op::StridedSlice { x, .. }
            | Op::Slice { x, .. }
            | Op::Reshape { x, .. }
            | Op::Transpose { x, .. }
            | Op::Squeeze { x, .. }
            | Op::Unsqueeze { x, .. }
            | Op::Flatten { x, .. }
            | Op::Broadcast { x, .. }
            | Op::Reverse { x, .. }
            | Op::Roll { x, .. }
            | Op::Split { x, .. }
            | Op::Tile { x, .. }
            | Op::Pad { x, .. }
            | Op::DepthToSpace { x, .. }
            | Op::SpaceToDepth { x, .. }
            | Op::ShuffleChannels { x, .. }
            | Op::CenterCropPad { x, .. }
            | Op::ReverseSequence { x, .. } => *x = of(*x),
            Op::Gather { x, indices, .. }
            | Op::GatherElements { x, indices, .. }
            | Op::GatherNd { x, indices, .. } => {
                *x = of(*x);
                *indices = of(*indices);
            }
            Op::Concat { parts, .. } => parts.iter_mut().for_each(|part| *part = of(*part)),
        }
        self
    }

    /// The masks and vectors of a `strided_slice`; `None` for every other operator.
    pub fn strided_slice_spec(&self) -> Option<StridedSliceSpec<'_>> {
        let Op::StridedSlice {
            x: _,
            dialect,
            begin,
            end,
            strides,
            begin_mask,
            end_mask,
            ellipsis_mask,
            new_axis_mask,
            shrink_axis_mask,
        } = self
        else {
            return None;
        };
        Some(StridedSliceSpec {
            dialect: *dialect,
            begin,
            end,
            strides,
            begin_mask: *begin_mask,
            end_mask: *end_mask,
            ellipsis_mask: *ellipsis_mask,
            new_axis_mask: *new_axis_mask,
            shrink_axis_mask: *shrink_axis_mask,
        })
    }
}
