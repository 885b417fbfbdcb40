//! The C interface: what `include/restride.h` declares.
//!
//! The header is kept by hand and says what every function does; a test compares it with this code.
//! What holds for all of it:
//!
//! - Nothing unwinds across the border: a panic is `RESTRIDE_PANIC`.
//! - Null where it is not allowed, a structure of a size that is not known and a number that names
//!   nothing are `RESTRIDE_INVALID_ARGUMENT`, and nothing has been done.
//! - What went wrong is kept for each thread until the next failure there: `restride_last_failure`.

#![allow(
    non_camel_case_types,
    reason = "types have the names that they have in C"
)]

mod compile;
mod config;
mod constants;
mod describe;
mod failure;
mod run;

pub use compile::*;
pub use config::*;
pub use constants::*;
pub use describe::*;
pub use failure::*;
pub use run::*;
