//! What the parts that share state between threads take from the standard library. The models of
//! `tests/models` compile the same parts with a module of this name that explores every schedule.

pub(crate) use std::sync::atomic::{AtomicPtr, Ordering};
