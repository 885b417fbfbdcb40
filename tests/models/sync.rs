//! The primitives of the facade and of code memory, as loom has them. What it lacks is made of what
//! it has.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
pub(crate) use loom::sync::{Arc, Mutex, RwLock};
pub(crate) use loom::thread::{Builder, JoinHandle, current};
pub(crate) use std::sync::PoisonError;

use loom::cell::UnsafeCell;
use loom::sync::Condvar;
use std::collections::VecDeque;

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

struct Queue<T> {
    state: Mutex<(VecDeque<T>, bool)>,
    changed: Condvar,
}

/// The sending end of a queue with one sender.
pub(crate) struct Sender<T>(Arc<Queue<T>>);

/// The receiving end.
pub(crate) struct Receiver<T>(Arc<Queue<T>>);

pub(crate) fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Queue {
        state: Mutex::new((VecDeque::new(), true)),
        changed: Condvar::new(),
    });
    (Sender(queue.clone()), Receiver(queue))
}

impl<T> Sender<T> {
    pub(crate) fn send(&self, item: T) -> Result<(), T> {
        self.0.state.lock().expect("no panic").0.push_back(item);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Ok(mut state) = self.0.state.lock() {
            state.1 = false;
        }
        self.0.changed.notify_one();
    }
}

impl<T> Receiver<T> {
    pub(crate) fn recv(&self) -> Result<T, ()> {
        let mut state = self.0.state.lock().expect("no panic");
        loop {
            if let Some(item) = state.0.pop_front() {
                return Ok(item);
            }
            if !state.1 {
                return Err(());
            }
            state = self.0.changed.wait(state).expect("no panic");
        }
    }
}
