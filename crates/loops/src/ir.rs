//! The loop IR itself: buffers, addresses, statements.
//!
//! It knows no tensor and no element type, only widths. Addresses are counted in elements of the
//! buffer they point into. A [`Move`] means exactly its box, whatever its [`Form`].

use smallvec::SmallVec;
use std::borrow::Cow;

/// What is kept for long lies in blocks of so many bytes or more. Where tensors are aligned, the allocators of C libraries leave
/// gaps of up to a hundred bytes between them, and put small blocks there; then memory that is freed on both sides does not
/// join for the next tensor, which is larger where lengths grow from call to call.
pub const LEAST_BLOCK: usize = 128;

/// Bytes per element of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Width {
    W1,
    W2,
    W4,
    W8,
    W16,
}

/// A buffer of the kernel, printed `b0`, `b1`, ... in declaration order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// A loop variable or a loaded index, printed `v0`, `v1`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// What a buffer is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The n-th input of the call; read only.
    In(u32),
    /// The n-th output of the call; every element of its image is written exactly once.
    Out(u32, Image),
    /// Memory of the kernel's own, uninitialised at entry.
    Scratch,
    /// Bytes that belong to the kernel, such as a folded index table.
    Const(std::sync::Arc<[u8]>),
}

/// The addresses of an output that must be written: `offset + sum(stride * i)`.
/// A dense buffer has offset 0 and one dimension `(len, 1)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    /// Address of the first element.
    pub offset: i64,
    /// `(extent, stride)`, outermost first.
    pub dims: SmallVec<[(i64, i64); 6]>,
}

/// One buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Buffer {
    /// Its role.
    pub role: Role,
    /// Its element width.
    pub width: Width,
    /// How many elements it has.
    pub len: i64,
}

/// `base + sum(coefficient * variable)`, in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Addr {
    /// The constant part.
    pub base: i64,
    /// Coefficients of variables in scope; each variable at most once, none zero.
    pub terms: SmallVec<[(Var, i64); 3]>,
}

/// A place in a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The buffer.
    pub buffer: BufferId,
    /// The address in it.
    pub addr: Addr,
}

/// One dimension of a move's box: `extent` steps of `dst` and `src` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim {
    /// How many steps, at least 1.
    pub extent: i64,
    /// Destination stride.
    pub dst: i64,
    /// Source stride.
    pub src: i64,
}

/// The integer type of an index buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum IndexType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

/// How a loaded index becomes an address factor in `0..limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Norm {
    /// How the stored integer is widened.
    pub ty: IndexType,
    /// The size of the axis it selects from, at least 1.
    pub limit: i64,
    /// Whether a negative value has `limit` added once.
    pub wrap: bool,
    /// Whether an index still outside is clamped; otherwise the moves that use it write zero bits.
    pub clamp: bool,
}

/// How a box is to be moved. It changes speed, never meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Element by element; always allowed.
    Elements,
    /// The innermost dimension has stride 1 on both sides: rows of a contiguous run.
    Rows,
    /// As `Rows`, `Strided`, `Transpose` or `Lines`, of more than the last cache keeps: stores bypass the caches, or lines are
    /// asked for ahead.
    Stream,
    /// Innermost destination stride 1, source stride other than 1 (2, 3, 7, -1, -2, ...).
    Strided,
    /// The two innermost dimensions are transposed: one has destination stride 1, the other
    /// source stride 1. Register tiles.
    Transpose,
    /// As `Transpose`, through a padded tile in the kernel's stack.
    Staged,
    /// The innermost destination stride is 1; each destination line is a fixed permutation of a
    /// few source lines.
    Lines,
}

/// A box of elements from one place to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Where to.
    pub dst: Place,
    /// Where from. When an index variable in it was out of range, zero bits are written instead.
    pub src: Place,
    /// The box, outermost first; empty means one element.
    pub dims: SmallVec<[Dim; 4]>,
    /// How.
    pub form: Form,
}

/// Rows named by an index tensor: for `i` in `0..extent`, `x = norm(index[i])` and a box at
/// `src + coeff * x` goes to `dst + dst_stride * i`. It equals a `for` around an `Index` and a
/// `Move`, and is one statement so that rows ahead are known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gather {
    /// How many indices.
    pub extent: i64,
    /// Where the first index lies.
    pub index: Place,
    /// Stride between indices.
    pub index_stride: i64,
    /// What an index means.
    pub norm: Norm,
    /// Destination of the first row.
    pub dst: Place,
    /// Stride between rows of the destination.
    pub dst_stride: i64,
    /// Source of row 0.
    pub src: Place,
    /// Source stride per unit of index.
    pub coeff: i64,
    /// The box of one row, outermost first; empty means one element.
    pub dims: SmallVec<[Dim; 4]>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stmt {
    /// A counted loop.
    For {
        /// Its variable, from 0.
        var: Var,
        /// Its trip count, at least 1.
        extent: i64,
        /// Whether its iterations are independent and worth sharing out; only at the top level.
        parallel: bool,
        /// Its body.
        body: Vec<Stmt>,
    },
    /// Every index of a box must lie in `-limit..limit` (with `wrap`) or `0..limit`, or the run
    /// ends with this check's number before any output is written. It comes before the first
    /// write of an output, in no loop that writes one or is parallel. It may check what an earlier
    /// phase put into scratch, so it may stand in any phase; but chunks of one phase run at the
    /// same time, so no parallel loop of its phase writes an output.
    ///
    /// Neighbours with the same number are one check, their boxes side by side: of `n` of them,
    /// index `i` of the `k`-th has position `i * n + k`. The least position that fails is the one
    /// that is reported.
    Check {
        /// The first index.
        index: Place,
        /// `(extent, stride)` of the box, outermost first.
        dims: SmallVec<[(i64, i64); 6]>,
        /// Widening, limit and wrap; `clamp` has no meaning here. The limit may be 0: then every
        /// index fails.
        norm: Norm,
        /// Reported to the caller, who knows which gather it stands for.
        code: u32,
    },
    /// Loads one index into a variable.
    Index {
        /// The variable it defines, in scope for the rest of the block.
        var: Var,
        /// Where from.
        place: Place,
        /// What it means.
        norm: Norm,
    },
    /// A box.
    Move(Move),
    /// Rows by index. Elsewhere, since it is twice as large as the others.
    Gather(Box<Gather>),
    /// A box of the same bits (the low `width` bytes).
    Fill {
        /// Where to.
        dst: Place,
        /// `(extent, stride)` of the box, outermost first.
        dims: SmallVec<[(i64, i64); 6]>,
        /// What.
        bits: u128,
    },
}

/// A kernel: buffers, then phases. Between phases every chunk of the one before has finished.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// A name for listings and profilers.
    pub name: Cow<'static, str>,
    /// The buffers.
    pub buffers: Vec<Buffer>,
    /// Statements in order, in phases.
    pub phases: SmallVec<[Vec<Stmt>; 3]>,
}
