//! Which process this is, and what each process has for itself of what it inherits.

mod fork;
#[cfg(unix)]
mod forks;
mod shares;

pub use fork::{Generation, watch_forks};
#[cfg(target_os = "linux")]
pub(crate) use fork::{Process, forks, watch};
#[cfg(target_os = "linux")]
pub(crate) use forks::Era;
pub use shares::{Identity, PerProcess};
