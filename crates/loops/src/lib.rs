//! The loop IR: what a kernel is before it is machine code.
//!
//! A kernel is a list of buffers and a few statements over them. It knows no tensors and no element
//! types: a buffer has a width in bytes and a length, an address is a constant plus strides times
//! variables, every extent is a number. It prints and parses, and what is printed is what runs.
//!
//! - [`verify()`] proves a kernel and makes it [`Verified`]: nothing it does can go wrong, for any
//!   input. The list of what is proved is in the documentation of [`Verified`].
//! - [`interpret()`] is the meaning of a kernel, checked element by element. It runs what is not
//!   verified as well.
//!
//! # The text form
//!
//! All of the grammar; `//` starts a comment, strings stand on one line, `N` is a number that may
//! be negative, `U` one that may not.
//!
//! ```text
//! kernel    = 'kernel' "name" '{' buffer* phase ('barrier' phase)* '}'
//! buffer    = bU '=' 'in' U width '[' N ']'                    // input number, element width, length
//!           | bU '=' 'out' U width '[' N ']' ['image' N box2]  // addresses to write; all if absent
//!           | bU '=' 'scratch' width '[' N ']'
//!           | bU '=' 'const' width '[' N ']' "hex bytes"*
//! width     = 'w1' | 'w2' | 'w4' | 'w8' | 'w16'                // bytes per element
//! phase     = stmt*
//! stmt      = 'for' vU 'in' '0' '..' N ['parallel'] '{' stmt* '}'
//!           | 'check' U ':' place [box2] norm                  // fails with this code
//!           | 'index' vU '=' place norm
//!           | 'move' place '<-' place [box3] ['as' form]
//!           | 'gather' N 'rows' place 'step' N '<-' place 'step' N 'at' place 'step' N norm [box3]
//!           | 'fill' place '<-' U [box2]                       // bits, as 0x...
//! place     = bU '[' address ']'
//! address   = N ('+' term)* | term ('+' term)*
//! term      = [N '*'] vU
//! box2      = 'box' '[' ('(' extent ',' stride ')'),* ']'      // outermost first
//! box3      = 'box' '[' ('(' extent ',' dst stride ',' src stride ')'),* ']'
//! norm      = type 'limit' N ['wrap'] ('clamp' | 'zero')       // an index outside of 0..limit
//! type      = 'i8' | 'u8' | 'i16' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64'
//! form      = 'elements' | 'rows' | 'stream' | 'strided' | 'transpose' | 'staged' | 'lines'
//! ```
//!
//! Buffers are numbered in order. A move without a form is moved by elements. Statements mean:
//!
//! - `for` counts. `parallel`, at the top level only, says that chunks may share the iterations
//!   out; [`chunk_range`] says which chunk has which. What else is at the top level runs in chunk 0.
//! - `barrier` ends a phase: all chunks have finished it before any begins the next.
//! - `index` loads an integer `x`. With `wrap`, `x + limit` if `x < 0`. Then in `0..limit`, or
//!   clamped into it, or out of range. A move whose source mentions an index out of range writes
//!   zero bits; an index at an address that mentions one is out of range itself.
//! - `check` ends the run unless every index of the box is in `0..limit` (with `wrap`: `-limit..limit`).
//! - `move` and `fill` write their whole box. The form changes speed, never meaning.
//! - `gather n rows d step s <- t step c at i step j norm box` is, for `k` in `0..n`, an index
//!   `x` at `i + j*k` and a move of the box to `d + s*k` from `t + c*x`.
//!
//! ```
//! let text = r#"
//! kernel "transpose" {
//!   b0 = in 0 w4 [4096]
//!   b1 = out 0 w4 [4096]
//!   for v0 in 0..4 parallel {
//!     move b1[16*v0] <- b0[1024*v0] box [(16, 1, 64), (64, 64, 1)] as transpose
//!   }
//! }"#;
//! let kernel: restride_loops::Kernel = text.parse().unwrap();
//! assert_eq!(kernel.to_string().parse(), Ok(kernel.clone()));
//! let kernel = restride_loops::verify(kernel).unwrap();
//! let input: Vec<u8> = (0..4096u32).flat_map(u32::to_le_bytes).collect();
//! let outputs = restride_loops::interpret(&kernel, &[input]).unwrap();
//! assert_eq!(outputs[0][4..8], 64u32.to_le_bytes());
//! ```

#![forbid(unsafe_code)]

mod access;
mod chunk;
#[doc(hidden)]
pub mod generate;
mod interpret;
pub mod ir;
mod random;
mod scratch;
mod standalone;
mod text;
mod verify;

pub use access::NamedRows;
pub use chunk::chunk_range;
pub use interpret::{Fault, Order, interpret, interpret_chunked};
pub use ir::{
    Addr, Buffer, BufferId, Dim, Form, Gather, Image, IndexType, Kernel, LEAST_BLOCK, Move, Norm,
    Place, Role, Stmt, Var, Width,
};
pub use random::Random;
pub use scratch::ScratchLayout;
pub use standalone::Standalone;
pub use verify::{Location, Reason, Rejected, Verified, verify};
