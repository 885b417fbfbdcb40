//! What the parts that share state between threads take from the standard library. The models of
//! `tests/models` compile the same parts with a module of this name that explores every schedule.

#[cfg(feature = "jit")]
pub(crate) use std::sync::Condvar;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
pub(crate) use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
#[cfg(feature = "jit")]
pub(crate) use std::thread::{Builder, JoinHandle, current};
