//! Element types and tensor types.

use smallvec::SmallVec;

/// The largest rank a tensor may have.
pub const MAX_RANK: usize = 32;

/// Sizes of the axes, outermost first. Rank 0 and size 0 are ordinary.
pub type Shape = SmallVec<[i64; 6]>;

/// The name of an element: only its width matters to movement, only integers can index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ElementType {
    Bool,
    I8,
    U8,
    F8E4M3,
    F8E4M3Fnuz,
    F8E5M2,
    F8E5M2Fnuz,
    F8E8M0,
    I16,
    U16,
    F16,
    Bf16,
    I32,
    U32,
    F32,
    I64,
    U64,
    F64,
    C64,
    I128,
    U128,
    C128,
}

/// Where the elements of an input or output lie: `offset + sum(index * stride)`, in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Strided {
    /// Element offset of index 0 from the start of the buffer.
    pub offset: i64,
    /// One stride per axis, in elements; negative and zero ones are fine for inputs.
    pub strides: Shape,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// What an element is.
    pub element: ElementType,
    /// The size of each axis.
    pub shape: Shape,
    /// For inputs and outputs: the layout in the caller's buffer; absent means dense row-major.
    pub layout: Option<Strided>,
}
