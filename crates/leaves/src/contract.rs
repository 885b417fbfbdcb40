//! What a precompiled function promises to the code that calls it, for whoever checks that code.

use restride_loops::{Dim, Gather, Norm};
use smallvec::SmallVec;

/// The whole effect of one call, relative to the addresses that it is called with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contract {
    /// `(dst, src, params)`: moves a box, outermost first, in elements of `width` bytes.
    Move {
        /// The box.
        dims: SmallVec<[Dim; 4]>,
        /// Bytes per element.
        width: usize,
    },
    /// `(dst, sources, params)`: moves a box from each of the addresses that lie at `sources`.
    Weave {
        /// The boxes, as above, each so many elements behind `dst`.
        parts: SmallVec<[(SmallVec<[Dim; 4]>, i64); 2]>,
        /// Bytes per element.
        width: usize,
    },
    /// `(dst, any, params)`: writes the low `width` bytes of `bits` to every element of a box.
    Fill {
        /// `(extent, stride)`, outermost first.
        dims: SmallVec<[(i64, i64); 6]>,
        /// Bytes per element.
        width: usize,
        /// What is written.
        bits: u128,
    },
    /// `(dst, src, index, params)`: rows by index; the places in it play no part. Every index is
    /// loaded once, and what is compared is what is used.
    Gather {
        /// What is gathered.
        gather: Box<Gather>,
        /// Bytes per element of the data.
        width: usize,
    },
    /// `(index, params) -> 0 or 1`: 1 if an index of the box is out of range. Nothing is written.
    Check {
        /// `(extent, stride)` in indices, outermost first.
        dims: SmallVec<[(i64, i64); 6]>,
        /// What an index must satisfy.
        norm: Norm,
    },
}

/// A function that generated code may call, and only with these parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callee {
    /// Its address.
    pub entry: usize,
    /// The address it is given as its last argument.
    pub params: usize,
    /// What it does.
    pub contract: Contract,
}
