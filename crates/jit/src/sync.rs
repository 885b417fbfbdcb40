//! What the parts that share state between threads take from the standard library. The models of
//! `tests/models` compile the same parts with a module of this name that explores every schedule.

#[cfg(target_os = "linux")]
pub(crate) use std::sync::Arc;
#[cfg(target_os = "linux")]
pub(crate) use std::sync::atomic::AtomicUsize;
pub(crate) use std::sync::atomic::Ordering;
