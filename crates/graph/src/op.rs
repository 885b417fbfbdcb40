//! The operators, spelled as the frameworks spell them: one table.
//!
//! No meaning is lost here: masks stay masks, negative indices stay negative, and where two
//! frameworks disagree the operator carries a dialect or a policy that says whose rule holds.
//! The canonicaliser is the only place where spelling goes away.
//!
//! A row has the operator's name, its operands, and its attributes with how each is spelled. The
//! enum, both ways of the text form, and what visits operands or numbers are made of it. Four facts
//! stand elsewhere, and no `match` on operators compiles without them: the type rule
//! (`infer.rs`), the meaning (`oracle/eval.rs`), the canonical form and the generator.

mod table;
mod words;

pub use table::{Number, Operator};
pub(crate) use words::Spelled;
pub use words::{
    BroadcastMode, ChannelAxis, DepthOrder, IndexRule, OutOfRange, PadMode, ReshapeDialect,
    SliceDialect, StridedSliceDialect,
};

use std::fmt;
use std::sync::Arc;

use crate::resolve::{self, AxisAction, AxisSpan, PerAxis};
use crate::text::{
    BY_THE_WORDS, LENGTHS, LINED_UP, PART, RIM, RULE, ZEROS, int, int_or_zero, ints, ints_if, mask,
    slice_ints, word, word_or_first,
};
use crate::{Constant, ValueId};
use table::{Reads, of, operators};

/// The values an operator reads.
pub type Operands = smallvec::SmallVec<[ValueId; 4]>;

/// A short list of integers as the user wrote them: begins, axes, patterns.
pub type Ints = smallvec::SmallVec<[i64; 6]>;

operators! {
    /// The operand itself.
    Identity "identity" (x: ValueId) {}

    /// `strided_slice` with begin, end, strides and the five masks (bit i = position i).
    StridedSlice "strided_slice" (x: ValueId) {
        begin: Ints = ints("begin"),
        end: Ints = ints("end"),
        strides: Ints = ints("strides"),
        begin_mask: i64 = mask("begin_mask"),
        end_mask: i64 = mask("end_mask"),
        ellipsis_mask: i64 = mask("ellipsis_mask"),
        new_axis_mask: i64 = mask("new_axis_mask"),
        shrink_axis_mask: i64 = mask("shrink_axis_mask"),
        dialect: StridedSliceDialect = word_or_first("dialect"),
    }

    /// OpenVINO Slice-8 or ONNX Slice; without `axes` the first `start.len()` axes.
    Slice "slice" (x: ValueId) {
        dialect: SliceDialect = BY_THE_WORDS,
        start: Ints = slice_ints("start"),
        stop: Ints = slice_ints("stop"),
        step: Ints = slice_ints("step"),
        axes: Option<Ints> = ints_if("axes"),
    }

    /// Rows of `x` along `axis`, named by `indices`, after `batch_dims` shared leading axes.
    Gather "gather" (x: ValueId, indices: ValueId) {
        axis: i64 = int("axis"),
        batch_dims: i64 = int_or_zero("batch_dims"),
        rule: IndexRule = RULE,
    }

    /// `out[i] = x[i with i[axis] := indices[i]]`.
    GatherElements "gather_elements" (x: ValueId, indices: ValueId) {
        axis: i64 = int("axis"),
        rule: IndexRule = RULE,
    }

    /// The last axis of `indices` addresses the axes of `x` after `batch_dims`.
    GatherNd "gather_nd" (x: ValueId, indices: ValueId) {
        batch_dims: i64 = int_or_zero("batch_dims"),
        rule: IndexRule = RULE,
    }

    /// A region of `sizes` whose place is read when it runs: `out[i] = x[i + starts]`, an entry of
    /// `starts` for each of `axes`, or of the first axes where they are absent. A start is an index
    /// of the places where the region fits, `0..=d - size`. With `zero` a region that does not fit is
    /// zero bits all over.
    DynamicSlice "dynamic_slice" (x: ValueId, starts: ValueId) {
        sizes: Ints = ints("sizes"),
        axes: Option<Ints> = ints_if("axes"),
        out_of_range: OutOfRange = word("out_of_range"),
    }

    /// `x` with a region replaced by `update`, at a place as [`Op::DynamicSlice`] has it. With `zero`
    /// a region that does not fit replaces nothing.
    DynamicUpdateSlice "dynamic_update_slice" (x: ValueId, update: ValueId, starts: ValueId) {
        axes: Option<Ints> = ints_if("axes"),
        out_of_range: OutOfRange = word("out_of_range"),
    }

    /// Same row-major order, new sizes.
    Reshape "reshape" (x: ValueId) {
        pattern: Ints = ints("shape"),
        dialect: ReshapeDialect = ZEROS,
    }

    /// `out.shape[k] = x.shape[perm[k]]`; an empty `perm` reverses the axes.
    Transpose "transpose" (x: ValueId) { perm: Ints = ints("perm") }

    /// Drops axes of size 1: those named, or all when `axes` is absent.
    Squeeze "squeeze" (x: ValueId) { axes: Option<Ints> = ints_if("axes") }

    /// Inserts axes of size 1; `axes` count in the output's rank.
    Unsqueeze "unsqueeze" (x: ValueId) { axes: Ints = ints("axes") }

    /// ONNX Flatten: `[product before axis, product from axis]`.
    Flatten "flatten" (x: ValueId) { axis: i64 = int("axis") }

    /// Repeats axes of size 1 up to `shape`.
    Broadcast "broadcast" (x: ValueId) {
        shape: Ints = ints("shape"),
        mode: BroadcastMode = LINED_UP,
    }

    /// Turns whole axes round.
    Reverse "reverse" (x: ValueId) { axes: Ints = ints("axes") }

    /// `out[i] = x[(i - shift) mod d]`; repeated axes add up.
    Roll "roll" (x: ValueId) { shift: Ints = ints("shift"), axes: Ints = ints("axes") }

    /// One part of a split: consecutive spans of `lengths` along `axis`; `part` says which.
    /// A length of -1 takes the rest. The text form groups the parts of one split.
    Split "split" (x: ValueId) {
        axis: i64 = int("axis"),
        lengths: Arc<[i64]> = LENGTHS,
        part: u32 = PART,
    }

    /// Operands side by side along `axis`.
    Concat "concat" (parts: Operands) { axis: i64 = int("axis") }

    /// `out[i] = x[i mod d]` per axis; shape and repeats are padded with 1 on the left.
    Tile "tile" (x: ValueId) { repeats: Ints = ints("repeats") }

    /// Adds a rim; negative amounts crop.
    Pad "pad" (x: ValueId) {
        low: Ints = ints("low"),
        high: Ints = ints("high"),
        mode: PadMode = RIM,
    }

    /// Moves blocks of depth into space.
    DepthToSpace "depth_to_space" (x: ValueId) {
        block: i64 = int("block"),
        order: DepthOrder = word("order"),
        channels: ChannelAxis = word_or_first("channels"),
    }

    /// Moves blocks of space into depth.
    SpaceToDepth "space_to_depth" (x: ValueId) {
        block: i64 = int("block"),
        order: DepthOrder = word("order"),
        channels: ChannelAxis = word_or_first("channels"),
    }

    /// OpenVINO SpaceToBatch-2: a rim of zeros, then blocks of every axis but the first go into the
    /// first. The first entry of each list is for that axis: 1, 0 and 0.
    SpaceToBatch "space_to_batch" (x: ValueId) {
        block: Ints = ints("block"),
        pads_begin: Ints = ints("pads_begin"),
        pads_end: Ints = ints("pads_end"),
    }

    /// OpenVINO BatchToSpace-2: the inverse, with the rim cropped.
    BatchToSpace "batch_to_space" (x: ValueId) {
        block: Ints = ints("block"),
        crops_begin: Ints = ints("crops_begin"),
        crops_end: Ints = ints("crops_end"),
    }

    /// Splits `axis` into `groups`, swaps the two halves of it, joins it again.
    ShuffleChannels "shuffle_channels" (x: ValueId) {
        axis: i64 = int("axis"),
        groups: i64 = int("groups"),
    }

    /// ONNX CenterCropPad: each named axis is cropped or zero-padded about its centre.
    CenterCropPad "center_crop_pad" (x: ValueId) {
        shape: Ints = ints("shape"),
        axes: Option<Ints> = ints_if("axes"),
    }

    /// Per batch entry, turns round the first `lengths[b]` elements of `seq_axis`.
    ReverseSequence "reverse_sequence" (x: ValueId) {
        lengths: Ints = ints("lengths"),
        batch_axis: i64 = int("batch_axis"),
        seq_axis: i64 = int("seq_axis"),
    }
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

impl Op {
    /// The same operator of other values.
    #[must_use]
    pub fn map_operands(mut self, mut of: impl FnMut(ValueId) -> ValueId) -> Op {
        self.change_operands(|operand| *operand = of(*operand));
        self
    }

    /// The operand that holds indices, if it reads any.
    pub fn indices(&self) -> Option<ValueId> {
        let row = OPERATORS.iter().find(|row| row.name == self.name())?;
        let mut names = row.operands.iter();
        let at = names.position(|name| ["indices", "starts"].contains(name))?;
        self.operands().get(at).copied()
    }

    /// The axis of an operand of this rank that a column of its indices chooses along.
    pub fn indexed_axis(&self, rank: usize, column: usize) -> Option<usize> {
        let axis = match self {
            Op::Gather { axis, .. } | Op::GatherElements { axis, .. } => *axis,
            Op::GatherNd { batch_dims, .. } => batch_dims.checked_add_unsigned(column as u64)?,
            Op::DynamicSlice { axes, .. } | Op::DynamicUpdateSlice { axes, .. } => match axes {
                Some(axes) => *axes.get(column)?,
                None => column as i64,
            },
            _ => return None,
        };
        let from_start = if axis < 0 { axis + rank as i64 } else { axis };
        usize::try_from(from_start).ok()
    }

    /// The steps by which it takes elements.
    pub(crate) fn steps(&self) -> &[i64] {
        match self {
            Op::Slice { step, .. } => step,
            op => op.strided_slice_spec().map_or(&[], |spec| spec.strides),
        }
    }

    /// What it takes of each axis of an operand of this shape, if it is one that takes ranges and may.
    #[must_use]
    pub fn spans(&self, shape: &[i64]) -> Option<PerAxis<AxisSpan>> {
        match self {
            Op::StridedSlice { .. } => {
                let actions = resolve::strided_slice(&self.strided_slice_spec()?, shape).ok()?;
                let axis = |action: &AxisAction| match *action {
                    AxisAction::Range(span) => Some(span),
                    AxisAction::Shrink(start) => Some(AxisSpan {
                        start,
                        len: 1,
                        step: 1,
                    }),
                    AxisAction::NewAxis => None,
                };
                Some(actions.iter().filter_map(axis).collect())
            }
            Op::Slice {
                x: _,
                dialect,
                start,
                stop,
                step,
                axes,
            } => resolve::slice(*dialect, shape, start, stop, step, axes.as_deref()).ok(),
            Op::Split {
                x: _,
                axis,
                lengths,
                part,
            } => {
                let (axis, span) = resolve::split(shape, *axis, lengths, *part as usize).ok()?;
                let mut spans: PerAxis<_> = shape.iter().map(|n| AxisSpan::full(*n)).collect();
                spans[axis] = span;
                Some(spans)
            }
            _ => None,
        }
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
