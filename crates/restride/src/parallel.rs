//! The caller's threads. restride has none of its own.

/// Something that can run a function for several numbers at the same time.
///
/// ```
/// use restride::ParallelFor;
/// struct Scoped(usize);
/// impl ParallelFor for Scoped {
///     fn width(&self) -> usize {
///         self.0
///     }
///     fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
///         std::thread::scope(|scope| {
///             for n in 0..count {
///                 scope.spawn(move || body(n));
///             }
///         });
///     }
/// }
/// ```
pub trait ParallelFor {
    /// How many calls of the body may run at once; the work is cut accordingly.
    fn width(&self) -> usize;

    /// Calls `body(0)`, ..., `body(count - 1)`, in any order and on any threads, and returns when
    /// all have returned. A number that is passed twice does its work once; one that is left out
    /// is done by the thread that asked.
    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync));
}

/// The calling thread alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl ParallelFor for Sequential {
    fn width(&self) -> usize {
        1
    }

    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(body);
    }
}

/// The current rayon pool.
#[cfg(feature = "rayon")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Rayon;

#[cfg(feature = "rayon")]
impl ParallelFor for Rayon {
    fn width(&self) -> usize {
        rayon::current_num_threads()
    }

    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
        use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
        (0..count).into_par_iter().for_each(body);
    }
}
