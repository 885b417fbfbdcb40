//! How fast machine code is beside a memcpy of as many bytes, in one run.

use std::convert::Infallible;
use std::hint::black_box;
use std::time::Duration;

use crate::native::BoundKernel;
use restride_bench::clock::{measure, median};

/// Rounds; kernel and memcpy take turns.
const ROUNDS: usize = 9;

/// How long each turn takes.
const TURN: Duration = Duration::from_millis(8);

/// Medians over the rounds.
pub(super) struct Timing {
    /// Nanoseconds per call.
    pub(super) kernel: f64,
    /// Nanoseconds per memcpy of the outputs' bytes.
    pub(super) memcpy: f64,
    /// Speed relative to memcpy.
    pub(super) ratio: f64,
}

/// Times a call; nothing if it fails.
pub(super) fn time(bound: &mut BoundKernel) -> Option<Timing> {
    let bytes = bound.outputs().iter().map(Vec::len).sum();
    let from = vec![1u8; bytes];
    let mut to = vec![2u8; bytes];
    let (mut kernels, mut copies, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let copy = measure(TURN, |times| {
            for _ in 0..times {
                black_box(&mut *to).copy_from_slice(black_box(&from));
            }
            Ok::<(), Infallible>(())
        });
        let Ok(copy) = copy;
        let kernel = measure(TURN, |times| (0..times).try_for_each(|_| bound.run())).ok()?;
        kernels.push(kernel.median);
        copies.push(copy.median);
        ratios.push(copy.median / kernel.median);
    }
    Some(Timing {
        kernel: median(kernels)?,
        memcpy: median(copies)?,
        ratio: median(ratios)?,
    })
}
