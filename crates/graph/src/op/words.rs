//! Dialects, policies and modes: each a table of the words that stand for it.

use super::Ints;

/// A choice that is spelled by a word.
pub(crate) trait Spelled: Copy + PartialEq + 'static {
    /// All there are, each with its word.
    const ALL: &'static [(&'static str, Self)];
    /// The words alone.
    const WORDS: &'static [&'static str];
}

macro_rules! spelled {
    ($(
        $(#[$about:meta])*
        $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }
    )+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// All there are.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];
        }

        impl Spelled for $name {
            const ALL: &'static [(&'static str, $name)] = &[$(($word, $name::$variant)),+];
            const WORDS: &'static [&'static str] = &[$($word),+];
        }
    )+};
}

spelled! {
    /// Whose `strided_slice` rules hold (they differ in the corners).
    StridedSliceDialect {
        /// TensorFlow's kernel.
        TensorFlow = "tensorflow",
        /// OpenVINO StridedSlice-1: a backward begin clamps at 0, a shrink ignores its stride.
        OpenVino = "openvino",
        /// MindSpore: stride 0 is an error anywhere, specs longer than the rank are refused.
        MindSpore = "mindspore",
    }

    /// What a gather does with an index outside its axis. Never guessed: always spelled.
    OutOfRange {
        /// The element is zero bits (OpenVINO Gather-8).
        Zero = "zero",
        /// The index is clamped into the axis (XLA). On an empty axis the element is zero bits.
        Clamp = "clamp",
        /// The run fails before anything is written (ONNX, TensorFlow).
        Error = "error",
    }

    /// The order in which `depth_to_space` and `space_to_depth` see the depth axis.
    DepthOrder {
        /// Blocks first, then channels (ONNX DCR).
        BlocksFirst = "blocks_first",
        /// Channels first, then blocks (ONNX CRD).
        DepthFirst = "depth_first",
    }

    /// Where the channel axis of an image-like tensor stands.
    ChannelAxis {
        /// `[N, C, spatial..]`.
        First = "first",
        /// `[N, spatial.., C]` (TensorFlow's NHWC).
        Last = "last",
    }
}

/// Whose `slice` rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SliceDialect {
    /// OpenVINO Slice-8.
    OpenVino,
    /// ONNX Slice-13: the same rule, spelled `starts ends axes steps`.
    Onnx,
}

impl SliceDialect {
    /// What the dialect calls the first index, the end and the step.
    pub(crate) const fn words(self) -> [&'static str; 3] {
        match self {
            SliceDialect::OpenVino => ["start", "stop", "step"],
            SliceDialect::Onnx => ["starts", "ends", "steps"],
        }
    }
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

impl ReshapeDialect {
    /// All there are.
    pub const ALL: &'static [ReshapeDialect] = &[
        ReshapeDialect::Plain,
        ReshapeDialect::OpenVino {
            special_zero: false,
        },
        ReshapeDialect::OpenVino { special_zero: true },
        ReshapeDialect::Onnx { allow_zero: false },
        ReshapeDialect::Onnx { allow_zero: true },
        ReshapeDialect::TensorFlow,
        ReshapeDialect::MindSpore,
    ];

    /// Its word, and the flag that it is spelled with.
    pub(crate) const fn words(self) -> (&'static str, Option<&'static str>) {
        match self {
            ReshapeDialect::Plain => ("plain", None),
            ReshapeDialect::OpenVino {
                special_zero: false,
            } => ("openvino", None),
            ReshapeDialect::OpenVino { special_zero: true } => ("openvino", Some("special_zero")),
            ReshapeDialect::Onnx { allow_zero: false } => ("onnx", None),
            ReshapeDialect::Onnx { allow_zero: true } => ("onnx", Some("allow_zero")),
            ReshapeDialect::TensorFlow => ("tensorflow", None),
            ReshapeDialect::MindSpore => ("mindspore", None),
        }
    }
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

impl BroadcastMode {
    /// The words of all there are.
    pub(crate) const WORDS: &'static [&'static str] = &["numpy", "bidirectional", "explicit"];

    /// Its word.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            BroadcastMode::Numpy => "numpy",
            BroadcastMode::Bidirectional => "bidirectional",
            BroadcastMode::Explicit(_) => "explicit",
        }
    }
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

impl PadMode {
    /// All that are a word in the text form: the constant is written as its bits.
    pub const MODES: &'static [PadMode] = &[
        PadMode::Edge,
        PadMode::Reflect,
        PadMode::Symmetric,
        PadMode::Wrap,
    ];
    /// Their words.
    pub(crate) const WORDS: &'static [&'static str] = &["edge", "reflect", "symmetric", "wrap"];

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
