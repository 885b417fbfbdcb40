//! The algebra of digits and strides: pure arithmetic, no tensors.
//!
//! Moving tensor data is choosing, for each point of an index space, an address. Slices,
//! transposes, reshapes and broadcasts choose addresses that are linear in a *mixed radix* of the
//! coordinates: an axis owns a list of digits, each with an extent and a stride. This crate has
//! that object in two forms:
//!
//! * a [`Layout`] gives every point an address. Its normal form is unique, so `==` and `Hash` are
//!   equality of functions, and [`Layout::reify`] prints it as one chain of view steps;
//! * a [`Piece`] gives addresses to some points only, and several of them make a [`Cover`]. What
//!   does not divide is split into a few pieces instead of being masked.
//!
//! There is no division, remainder or condition in either: those would have to be simplified
//! again by whoever composes two of them, and no simplifier is complete.
//!
//! ```
//! use restride_layout::{Layout, Span, View};
//!
//! // Rows 1, 3, 5 of a 6x4 matrix, transposed and flattened: two digits, one pass.
//! let chain = [
//!     View::Slice([Span { start: 1, len: 3, step: 2 }, Span::whole(4)].into_iter().collect()),
//!     View::Permute([1, 0].into_iter().collect()),
//!     View::Collapse { groups: [2].into_iter().collect() },
//! ];
//! let mut layout = Layout::dense(&[6, 4])?;
//! for view in &chain {
//!     layout = layout.view(view)?;
//! }
//! assert_eq!(layout.to_string(), "4 + [12](4:1 3:8)");
//! assert_eq!(layout.reify(&[6, 4])?.to_vec(), chain);
//! # Ok::<(), restride_layout::Break>(())
//! ```

#![forbid(unsafe_code)]

mod cover;
mod error;
mod layout;
mod math;
mod piece;
mod radix;
mod reify;
mod view;

pub use cover::Cover;
pub use error::Break;
pub use layout::Layout;
pub use piece::{AxisView, Digit, MAX_PIECES, Nested, Operand, Piece, Pieces, join};
pub use radix::{RadixDigits, radix, radix_of_box};
pub use reify::Chain;
pub use view::{Axes, Sizes, Span, View};
