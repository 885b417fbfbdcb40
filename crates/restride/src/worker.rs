//! A thread that works on things by and by, started with the first of them.

use crate::sync::{Builder, Condvar, JoinHandle, Mutex, MutexGuard, PoisonError, current};
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// Works on things that somebody still holds, one after the other, in the order in which they come.
/// Nobody waits for it: its lock is held for moments, and who stops it leaves the thread to what it
/// is doing.
pub(crate) struct Worker<T> {
    shared: Arc<Shared<T>>,
}

/// What the thread has of it, which may outlive the rest.
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    queue: VecDeque<Weak<T>>,
    /// The length of the queue at which what nobody holds any more is swept out.
    sweep_at: usize,
    thread: Option<JoinHandle<()>>,
    is_stopped: bool,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next thing, as soon as there is one; nothing once it is stopped.
    fn next(&self) -> Option<Arc<T>> {
        let mut state = self.lock();
        while !state.is_stopped {
            match state.queue.pop_front() {
                Some(next) => match next.upgrade() {
                    Some(next) => return Some(next),
                    None => continue,
                },
                None => {
                    let waited = self.changed.wait(state);
                    state = waited.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
        None
    }
}

impl<T: Send + Sync + 'static> Worker<T> {
    pub(crate) fn new() -> Self {
        let state = State {
            queue: VecDeque::new(),
            sweep_at: 64,
            thread: None,
            is_stopped: false,
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                changed: Condvar::new(),
            }),
        }
    }

    /// Leaves a thing to the thread, which is started with `work` if there is none. Nothing comes
    /// of it where no thread can be started, and once it is stopped.
    pub(crate) fn push(&self, thing: &Arc<T>, mut work: impl FnMut(&Arc<T>) + Send + 'static) {
        let mut state = self.shared.lock();
        if state.is_stopped {
            return;
        }
        if state.thread.is_none() {
            let shared = self.shared.clone();
            let serve = move || {
                while let Some(thing) = shared.next() {
                    work(&thing);
                }
            };
            let name = "restride-compile".to_owned();
            state.thread = Builder::new().name(name).spawn(serve).ok();
        }
        if state.thread.is_some() {
            if state.queue.len() >= state.sweep_at {
                state.queue.retain(|weak| weak.strong_count() > 0);
                state.sweep_at = 2 * state.queue.len() + 64;
            }
            state.queue.push_back(Arc::downgrade(thing));
            drop(state);
            self.shared.changed.notify_one();
        }
    }

    /// Tells the thread to end after what it is doing; what waits is dropped. The thread, for who
    /// wants to wait for it, unless it is the one that asks.
    pub(crate) fn stop(&self) -> Option<JoinHandle<()>> {
        let mut state = self.shared.lock();
        state.is_stopped = true;
        let (thread, queue) = (state.thread.take(), std::mem::take(&mut state.queue));
        drop(state);
        self.shared.changed.notify_one();
        drop(queue);
        thread.filter(|thread| thread.thread().id() != current().id())
    }
}
