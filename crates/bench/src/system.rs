//! What the system is told so that measurements repeat: where huge pages are wanted, and which
//! processor a thread stays on. Both are wishes; a refusal costs precision only.

#![cfg_attr(target_os = "linux", allow(unsafe_code, reason = "two system calls"))]

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::{MaybeUninit, size_of};

    pub(crate) fn advise_huge(fresh: &mut [MaybeUninit<u8>]) {
        // SAFETY: the range is exclusively borrowed, and the advice changes no contents.
        unsafe {
            libc::madvise(fresh.as_mut_ptr().cast(), fresh.len(), libc::MADV_HUGEPAGE);
        }
    }

    /// How often this thread had to give its processor to another.
    pub fn interruptions() -> i64 {
        // SAFETY: the record is integers, for which zero is a value.
        let mut usage: libc::rusage = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: the record is ours.
        match unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) } {
            0 => usage.ru_nivcsw,
            _ => 0,
        }
    }

    /// A set of processors.
    #[derive(Clone, Copy)]
    pub(crate) struct Processors(libc::cpu_set_t);

    impl Processors {
        /// Those on which this thread may run; `None` if the system does not say.
        pub(crate) fn of_this_thread() -> Option<Self> {
            // SAFETY: a set of processors is an array of integers, for which zero is a value.
            let mut set: libc::cpu_set_t = unsafe { MaybeUninit::zeroed().assume_init() };
            // SAFETY: the set is ours and of the size stated; 0 is this thread.
            let refused = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) };
            (refused == 0).then_some(Self(set))
        }

        /// The set that has only the member of this rank, counted round.
        pub(crate) fn only(&self, rank: usize) -> Option<Self> {
            let count = libc::CPU_SETSIZE as usize;
            // SAFETY: every number below the size of the set may be asked for.
            let has = |cpu: &usize| unsafe { libc::CPU_ISSET(*cpu, &self.0) };
            let members: Vec<usize> = (0..count).filter(has).collect();
            let cpu = *members.get(rank % members.len().max(1))?;
            // SAFETY: as above; and the member is below the size of the set.
            let only = unsafe {
                let mut only: libc::cpu_set_t = MaybeUninit::zeroed().assume_init();
                libc::CPU_SET(cpu, &mut only);
                only
            };
            Some(Self(only))
        }

        /// Keeps this thread on these processors.
        pub(crate) fn keep(&self) {
            // SAFETY: the set is of the size stated; 0 is this thread.
            unsafe {
                libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &self.0);
            }
        }
    }
}

#[cfg(target_os = "linux")]
pub use linux::interruptions;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Processors, advise_huge};

#[cfg(not(target_os = "linux"))]
mod other {
    pub(crate) fn advise_huge(_: &mut [std::mem::MaybeUninit<u8>]) {}

    /// The system is not asked.
    pub fn interruptions() -> i64 {
        0
    }

    /// A set of processors; this system is not asked.
    #[derive(Clone, Copy)]
    pub(crate) struct Processors;

    impl Processors {
        pub(crate) fn of_this_thread() -> Option<Self> {
            None
        }

        pub(crate) fn only(&self, _: usize) -> Option<Self> {
            None
        }

        pub(crate) fn keep(&self) {}
    }
}

#[cfg(not(target_os = "linux"))]
pub use other::interruptions;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Processors, advise_huge};
