//! Which process this is, and what each process has for itself of what it inherits.

mod fork;
mod shares;

#[cfg(target_os = "linux")]
pub(crate) use fork::Process;
pub use fork::{Generation, watch_forks};
pub use shares::{Identity, PerProcess};
