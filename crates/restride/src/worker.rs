//! A thread that does jobs by and by, started with the first of them.

use crate::sync::{Builder, JoinHandle, Mutex, PoisonError, Sender, channel, current};

/// Does jobs of one kind, one after the other, in the order in which they come.
pub(crate) struct Worker<J> {
    running: Mutex<Option<Running<J>>>,
}

struct Running<J> {
    queue: Sender<J>,
    thread: JoinHandle<()>,
}

impl<J: Send + 'static> Worker<J> {
    pub(crate) fn new() -> Self {
        Self {
            running: Mutex::new(None),
        }
    }

    /// Leaves a job to the thread, which is started with `work` if there is none. Without a
    /// thread the job is dropped.
    pub(crate) fn push(&self, job: J, mut work: impl FnMut(J) + Send + 'static) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_none() {
            let (queue, jobs) = channel();
            let serve = move || {
                while let Ok(job) = jobs.recv() {
                    work(job);
                }
            };
            let name = "restride-compile".to_owned();
            let spawned = Builder::new().name(name).spawn(serve);
            *running = spawned.ok().map(|thread| Running { queue, thread });
        }
        if let Some(running) = &*running {
            let _ = running.queue.send(job);
        }
    }

    /// Ends the thread, if there is one, after the jobs that it has.
    pub(crate) fn stop(&self) {
        let running = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(Running { queue, thread }) = running {
            drop(queue);
            if thread.thread().id() != current().id() {
                let _ = thread.join();
            }
        }
    }
}
