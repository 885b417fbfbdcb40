//! The primitives of the facade and of code memory, as loom has them. What it lacks is made of what
//! it has.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock};
pub(crate) use loom::thread::{Builder, JoinHandle, current};
pub(crate) use std::sync::PoisonError;

use loom::cell::UnsafeCell;

/// A value that is set once.
pub(crate) struct OnceLock<T> {
    setting: Mutex<()>,
    is_set: AtomicBool,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written once, under the mutex and before `is_set`; it is read after.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}
// SAFETY: it owns its value.
unsafe impl<T: Send> Send for OnceLock<T> {}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self {
            setting: Mutex::new(()),
            is_set: AtomicBool::new(false),
            value: UnsafeCell::new(None),
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if !self.is_set.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: it is set and never written again.
        self.value.with(|value| unsafe { (*value).as_ref() })
    }

    pub(crate) fn set(&self, value: T) -> Result<(), T> {
        let _setting = self.setting.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_set.load(Ordering::Relaxed) {
            return Err(value);
        }
        // SAFETY: nobody reads before `is_set`, nobody else writes under the mutex.
        self.value.with_mut(|held| unsafe { *held = Some(value) });
        self.is_set.store(true, Ordering::Release);
        Ok(())
    }
}
