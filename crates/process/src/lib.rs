//! Which process this is, and what each process has for itself of what it inherits by a `fork`.
//!
//! ```
//! use restride_process::{Generation, PerProcess, watch_forks};
//! use std::convert::Infallible;
//!
//! watch_forks();
//! let caches: PerProcess<Generation, Vec<u8>> = PerProcess::new();
//! let Ok(cache) = caches.get_or_begin(|| Ok::<_, Infallible>(vec![1])) else { unreachable!() };
//! // A child that was forked from here would find none, and begin one of its own.
//! assert_eq!(caches.get(), Some(cache));
//! ```

mod fork;
mod shares;
mod sync;

#[cfg(target_os = "linux")]
pub use fork::Process;
pub use fork::{Generation, watch_forks};
pub use shares::{Identity, PerProcess};
