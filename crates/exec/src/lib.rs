//! The generic executor: verified kernels run with precompiled leaf moves, no executable memory.
//!
//! It runs when executable memory is denied, while a kernel is still being compiled, and when a
//! kernel would not gain from being compiled ([`keeps_pace`]). [`Executable::new`] turns a kernel into loops around prepared
//! leaves ([`restride_leaves`]); a loop around a short move becomes a dimension of the leaf, a loop
//! around an index and a move becomes a gather. What is left to do at run time per leaf call is to
//! add up three addresses.

mod call;
mod error;
mod frame;
mod node;
mod pace;
mod prepare;
mod run;
mod slots;

pub use call::Executable;
pub use error::{CallError, CheckFailure, RunError};
pub use pace::{code_pays_after, keeps_pace};
pub use restride_leaves::{Planner, PrepareError};
