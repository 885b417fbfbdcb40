//! An independent checker of machine code, installed or in an object file.
//!
//! [`check`] is given the bytes that execute, how they are called, the kernel they were made from and the contracts
//! of the functions they call. It shares nothing with the code generator: it decodes the bytes, runs
//! them on values that know where they come from (a buffer and an offset, a byte of an input, an
//! index), and walks the kernel's statements by itself to know what must come out.
//!
//! # What is shown
//!
//! For every run (see below):
//! * every access lies inside its buffer, the code's own constants, the frame or the tables of
//!   buffers; only outputs and scratch are written, only inputs, constants and scratch read;
//! * every byte stored to an output is the byte that belongs there, at once and not only in the
//!   end, and no byte is missing;
//! * an address that depends on an index is inside for **every** value the index can have on the
//!   path taken, not just for the one at hand: a loaded index is an interval, which compares and
//!   branches narrow. A second load is another interval, so the register that was compared must be
//!   the one that is used;
//! * calls go to known functions with their own parameters, and their whole boxes lie inside;
//! * callee-saved registers, the stack and the result are as the caller expects them.
//!
//! Addresses depend on nothing but constants, the chunk and indices, so one run speaks for all
//! contents of the data. Kernels with indices are run with tensors of ordinary and adversarial
//! ones; kernels with a parallel loop in several numbers of chunks.
//!
//! # Wrong, or not understood
//!
//! [`Unproved::Wrong`] says that the code does wrong: there is a run that shows it, or an index that
//! the path taken allows for. Where the checker has no model of an instruction, or lost sight of
//! what a branch says about an index, it says [`Unproved::NotUnderstood`], unless another run shows
//! the code to be wrong all the same. Nothing is wrong for being new.
//!
//! # What is not
//!
//! Chunk numbers other than those tried, the bodies of called functions, and what the processor
//! makes of the bytes. Which row an index names is compared for the indices tried, which are the ends of
//! all ranges and what is next to them; for all others an access is shown to lie inside. A number that is
//! computed from an index and stored as an element is not understood, since data are not followed so far.
//! Calls follow the System V convention on x86-64, and that of Arm (AAPCS64) on its 64-bit processors.

#![forbid(unsafe_code)]

mod call;
mod form;
mod index;
mod label;
mod machine;
mod meaning;
mod memory;
mod run;
mod symbol;
mod value;
mod violation;

pub use form::CallForm;
pub use machine::Processor;
pub use restride_leaves::{Callee, Contract};
pub use run::{CodeSubject, Limits, Report, check};
pub use violation::{Kind, Limit, Site, Unproved, Violation};
