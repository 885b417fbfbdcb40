//! How much of its stack a thread has left.
//!
//! A thread that runs off its stack ends the process. What needs much of it asks here first, and
//! does with less or refuses.

/// The bytes of stack that this thread has left, where that can be found out: on Linux, on a stack
/// that the C library knows. It is asked once for each thread.
#[inline]
#[must_use]
pub fn stack_left() -> Option<usize> {
    let mark = 0u8;
    let here = (&raw const mark).addr();
    let (low, high) = bounds()?;
    // A coroutine has a stack of its own, of which nothing is known.
    (low..high).contains(&here).then(|| here.wrapping_sub(low))
}

#[cfg(target_os = "linux")]
#[inline]
fn bounds() -> Option<(usize, usize)> {
    use std::cell::Cell;

    thread_local! {
        /// The stack of this thread; once that was asked.
        static BOUNDS: Cell<Option<Option<(usize, usize)>>> = const { Cell::new(None) };
    }

    match BOUNDS.get() {
        Some(known) => known,
        None => {
            let asked = ask();
            BOUNDS.set(Some(asked));
            asked
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn bounds() -> Option<(usize, usize)> {
    None
}

#[cfg(target_os = "linux")]
#[cold]
fn ask() -> Option<(usize, usize)> {
    use std::mem::MaybeUninit;
    use std::ptr;

    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut start, mut size, mut guard) = (ptr::null_mut(), 0, 0);
    // SAFETY: the attributes are initialised by the first call, if it succeeds, and destroyed by
    // the last; the others write to this function's own variables.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let got = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut start, &raw mut size)
            | libc::pthread_attr_getguardsize(attributes.as_ptr(), &raw mut guard);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        if got != 0 {
            return None;
        }
    }
    // Some C libraries count the guard as a part of the stack.
    let low = start.addr().checked_add(guard)?;
    Some((low, start.addr().checked_add(size)?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::stack_left;

    #[inline(never)]
    fn deeper<const BYTES: usize>() -> usize {
        let room = std::hint::black_box([0u8; BYTES]);
        stack_left().expect("a thread of this process") + usize::from(room[BYTES / 2])
    }

    #[test]
    fn what_is_left_is_what_has_not_been_taken() {
        let thread = std::thread::Builder::new().stack_size(256 << 10);
        let thread = thread.spawn(|| {
            let all = stack_left().expect("a thread of this process");
            assert!((200 << 10..=256 << 10).contains(&all), "{all}");
            let less = deeper::<{ 100 << 10 }>();
            assert!((100 << 10..108 << 10).contains(&(all - less)), "{less}");
            assert_eq!(stack_left(), Some(all));
        });
        thread.expect("a thread").join().expect("no panic");
    }
}
