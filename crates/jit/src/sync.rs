//! What the parts that share state between threads take from the standard library. The models of
//! `tests/models` compile the same parts with a module of this name that explores every schedule.

#[cfg(unix)]
pub(crate) use std::sync::atomic::AtomicU64;
pub(crate) use std::sync::atomic::{AtomicPtr, Ordering};
#[cfg(target_os = "linux")]
pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};
