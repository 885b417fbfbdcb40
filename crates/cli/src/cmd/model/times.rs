//! How long the groups take here: as one program each, node by node, and beside a memcpy.

use std::convert::Infallible;
use std::hint::black_box;
use std::time::Duration;

use restride_graph::{Graph, ViewPolicy};

use super::survey::{GroupTimes, Survey};
use crate::data::inputs::{counting, make};
use crate::execute::{bind, input_buffers};
use crate::say::Progress;
use crate::signature::Signature;
use crate::stages::AnyProgram;
use restride_bench::clock;

/// How long one program is timed.
const TURN: Duration = Duration::from_millis(4);

/// Times every kind of group once. What cannot run here has no time.
pub(super) fn measure(survey: &mut Survey) {
    let mut progress = Progress::begin();
    let count = survey.kinds.len();
    let views = survey.views;
    for (at, kind) in survey.kinds.iter_mut().enumerate() {
        progress.at("timing group", at + 1, count);
        let together = call(&kind.first().program.graph, views);
        let mut copies = kind.alone.copies.iter();
        let alone = copies.try_fold(0.0, |sum, copy| {
            Some(sum + call(&copy.graph, ViewPolicy::Copy)?)
        });
        let written = kind.traffic().written;
        kind.times = match (together, alone) {
            (Some(together), Some(alone)) => Some(GroupTimes {
                together,
                alone,
                memcpy: memcpy(usize::try_from(written).unwrap_or(0)),
            }),
            _ => None,
        };
    }
}

/// Nanoseconds of one call; none if it cannot be made.
fn call(graph: &Graph, views: ViewPolicy) -> Option<f64> {
    let program = AnyProgram::Graph(graph.clone());
    let (kernel, _) = program.kernel(views).ok()?;
    if kernel.buffers.is_empty() {
        return Some(0.0);
    }
    let signature = Signature::of(&program).ok()?;
    let inputs = signature.inputs.iter();
    let inputs = inputs.map(|slot| make(&counting(slot), slot));
    let inputs: Vec<_> = inputs.collect::<Result<_, _>>().ok()?;
    let buffers = input_buffers(&signature, &inputs).ok()?;
    let mut bound = bind(&kernel, &signature, buffers).ok()?;
    let times = clock::measure(TURN, |times| (0..times).try_for_each(|_| bound.run()));
    times.ok().map(|times| times.median)
}

fn memcpy(bytes: usize) -> f64 {
    if bytes == 0 {
        return 0.0;
    }
    let from = vec![1u8; bytes];
    let mut to = vec![2u8; bytes];
    let times = clock::measure(TURN, |times| {
        for _ in 0..times {
            black_box(&mut *to).copy_from_slice(black_box(&from));
        }
        Ok::<(), Infallible>(())
    });
    let Ok(times) = times;
    times.median
}
