//! The loop IR: text form, verifier and checking interpreter.

#![forbid(unsafe_code)]

mod access;
mod chunk;
#[doc(hidden)]
pub mod generate;
mod interpret;
pub mod ir;
mod random;
mod text;
mod verify;

pub use chunk::chunk_range;
pub use interpret::{Fault, Order, interpret, interpret_chunked};
pub use ir::{
    Addr, Buffer, BufferId, Dim, Form, Gather, Image, IndexType, Kernel, Move, Norm, Place, Role,
    Stmt, Var, Width,
};
pub use verify::{Location, Reason, Rejected, Verified, verify};
