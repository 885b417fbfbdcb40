//! What the statement of every operator may say: one line per operator.

/// How many values an operator reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    Exactly(usize),
    OneOrMore,
}

/// What stands after an attribute's name.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// An integer.
    Int,
    /// A list of integers.
    Ints,
    /// An unsigned bit pattern.
    Bits,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Nothing: the name says it all.
    Flag,
}

/// The statement of an operator.
pub(super) struct Signature {
    pub(super) name: &'static str,
    pub(super) reads: Reads,
    pub(super) attributes: &'static [(&'static str, Kind)],
}

use Kind::{Bits, Flag, Int, Ints, Word};
use Reads::{Exactly, OneOrMore};

pub(super) const STRIDED_SLICE_DIALECTS: &[&str] = &["tensorflow", "openvino", "mindspore"];
pub(super) const RESHAPE_DIALECTS: &[&str] =
    &["plain", "openvino", "onnx", "tensorflow", "mindspore"];
pub(super) const POLICIES: &[&str] = &["zero", "clamp", "error"];
pub(super) const BROADCAST_MODES: &[&str] = &["numpy", "bidirectional", "explicit"];
pub(super) const PAD_MODES: &[&str] = &["edge", "reflect", "symmetric", "wrap"];
pub(super) const ORDERS: &[&str] = &["blocks_first", "depth_first"];
pub(super) const CHANNELS: &[&str] = &["first", "last"];

const fn op(
    name: &'static str,
    reads: Reads,
    attributes: &'static [(&'static str, Kind)],
) -> Signature {
    Signature {
        name,
        reads,
        attributes,
    }
}

/// Every operator with a statement of the common form; `constant` has its own.
#[rustfmt::skip]
pub(super) const SIGNATURES: &[Signature] = &[
    op("identity", Exactly(1), &[]),
    op("strided_slice", Exactly(1), &[
        ("begin", Ints), ("end", Ints), ("strides", Ints),
        ("begin_mask", Int), ("end_mask", Int), ("ellipsis_mask", Int),
        ("new_axis_mask", Int), ("shrink_axis_mask", Int),
        ("dialect", Word(STRIDED_SLICE_DIALECTS)),
    ]),
    op("slice", Exactly(1), &[
        ("start", Ints), ("stop", Ints), ("step", Ints),
        ("starts", Ints), ("ends", Ints), ("steps", Ints), ("axes", Ints),
    ]),
    op("gather", Exactly(2), &[
        ("axis", Int), ("batch_dims", Int), ("out_of_range", Word(POLICIES)), ("wrap", Flag),
    ]),
    op("gather_elements", Exactly(2), &[
        ("axis", Int), ("out_of_range", Word(POLICIES)), ("wrap", Flag),
    ]),
    op("gather_nd", Exactly(2), &[
        ("batch_dims", Int), ("out_of_range", Word(POLICIES)), ("wrap", Flag),
    ]),
    op("reshape", Exactly(1), &[
        ("shape", Ints), ("dialect", Word(RESHAPE_DIALECTS)),
        ("special_zero", Flag), ("allow_zero", Flag),
    ]),
    op("transpose", Exactly(1), &[("perm", Ints)]),
    op("squeeze", Exactly(1), &[("axes", Ints)]),
    op("unsqueeze", Exactly(1), &[("axes", Ints)]),
    op("flatten", Exactly(1), &[("axis", Int)]),
    op("broadcast", Exactly(1), &[
        ("shape", Ints), ("mode", Word(BROADCAST_MODES)), ("axes", Ints),
    ]),
    op("reverse", Exactly(1), &[("axes", Ints)]),
    op("roll", Exactly(1), &[("shift", Ints), ("axes", Ints)]),
    op("split", Exactly(1), &[("axis", Int), ("lengths", Ints), ("part", Int)]),
    op("concat", OneOrMore, &[("axis", Int)]),
    op("tile", Exactly(1), &[("repeats", Ints)]),
    op("pad", Exactly(1), &[
        ("low", Ints), ("high", Ints), ("constant", Bits), ("mode", Word(PAD_MODES)),
    ]),
    op("depth_to_space", Exactly(1), &[
        ("block", Int), ("order", Word(ORDERS)), ("channels", Word(CHANNELS)),
    ]),
    op("space_to_depth", Exactly(1), &[
        ("block", Int), ("order", Word(ORDERS)), ("channels", Word(CHANNELS)),
    ]),
    op("shuffle_channels", Exactly(1), &[("axis", Int), ("groups", Int)]),
    op("center_crop_pad", Exactly(1), &[("shape", Ints), ("axes", Ints)]),
    op("reverse_sequence", Exactly(1), &[
        ("lengths", Ints), ("batch_axis", Int), ("seq_axis", Int),
    ]),
];
