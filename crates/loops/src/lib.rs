//! The loop IR: text form, verifier and checking interpreter.

#![forbid(unsafe_code)]

mod access;
mod chunk;
pub mod ir;
mod verify;

pub use chunk::chunk_range;
pub use ir::{
    Addr, Buffer, BufferId, Dim, Form, Gather, Image, IndexType, Kernel, Move, Norm, Place, Role,
    Stmt, Var, Width,
};
pub use verify::{Rejected, Verified, verify};
