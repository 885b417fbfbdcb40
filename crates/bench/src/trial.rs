//! One workload on one subject: prepare, check, time.

#![allow(
    unsafe_code,
    reason = "chunks of a call carry a promise about their order"
)]

use super::clock::{Times, measure};
use super::crew::with_crew;
use super::memory::Region;
use super::subject::{Bound, Facts, Prepared, Subject};
use restride_graph::oracle::Tensor;
use restride_testkit::workloads::{Checksum, Workload};
use std::hint::black_box;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Written over the output before a call, so that what is not written shows.
pub const UNWRITTEN: u8 = 0xAA;

/// A memcpy of fewer bytes is left to one thread; a kernel that moves so few is not cut either.
const SHARED_FROM: usize = 128 << 10;

/// Of a slice's budget, this goes to the memcpy beside it.
const COPY_SHARE: f64 = 0.3;

/// A workload that is ready to be timed.
pub struct Trial<'a> {
    /// What the compiler said.
    pub facts: &'a Facts,
    /// How long preparing took as a whole.
    pub build: Duration,
    /// How long the first call took.
    pub first: Duration,
    /// Whether the output had the right checksums, by every way of calling that is timed.
    pub correct: bool,
    bound: &'a mut dyn Bound,
    threads: usize,
    copy: Copy<'a>,
}

/// Prepares `workload`, whose tensors lie so many bytes behind each other, checks its result and hands the trial to `body`.
pub fn with_trial<R>(
    subject: &dyn Subject,
    workload: &Workload,
    (threads, gap): (usize, usize),
    body: impl FnOnce(&mut Trial<'_>) -> R,
) -> Result<R, String> {
    let mut sizes = vec![workload.output().byte_size(); 3];
    sizes.extend(workload.inputs().map(|(ty, _)| ty.byte_size()));
    let mut region = Region::new(&sizes, gap)?;
    let mut parts = region.parts().into_iter();
    let (Some(output), Some(copy_to), Some(copy_from)) = (parts.next(), parts.next(), parts.next())
    else {
        return Err("the region lacks parts".into());
    };
    copy_from.fill(1);
    copy_to.fill(2);
    let mut arguments: Vec<&[u8]> = Vec::new();
    for ((ty, values), part) in workload.inputs().zip(parts) {
        values.fill(ty.element(), part);
        arguments.push(part);
    }

    let start = Instant::now();
    let prepared = subject.prepare(workload, workload.is_view())?;
    let build = start.elapsed();
    let mut scratch = Vec::new();
    let wanted = prepared.facts().scratch_bytes;
    let reserved = scratch.try_reserve_exact(wanted);
    reserved.map_err(|_| "the scratch does not fit into memory")?;
    scratch.resize(wanted, UNWRITTEN);
    let mut first = Duration::ZERO;
    let whole = checked(
        &*prepared,
        workload,
        (&arguments, output, &mut scratch),
        |bound| {
            let start = Instant::now();
            let done = bound.repeat(1);
            first = start.elapsed();
            done
        },
    )?;
    let shared = threads == 1
        || checked(
            &*prepared,
            workload,
            (&arguments, output, &mut scratch),
            |bound| chunk_by_chunk(bound, threads),
        )?;

    let mut bound = prepared.bind(&arguments, output, &mut scratch)?;
    let facts = prepared.facts();
    let times = (build, first);
    let mut trial = Trial::new(facts, times, &mut *bound, threads, (copy_to, copy_from));
    trial.correct = whole && shared;
    trial.copy.then_read = subject.reads_output();
    Ok(body(&mut trial))
}

/// One call in the parts that several threads would have, on this one.
pub fn chunk_by_chunk(bound: &mut dyn Bound, threads: usize) -> Result<(), String> {
    if !bound.is_shared() {
        return bound.repeat(1);
    }
    (0..bound.phases()).try_for_each(|phase| {
        // SAFETY: one chunk at a time, phase after phase.
        (0..threads).try_for_each(|share| unsafe { bound.chunk(phase, share, threads) })
    })
}

/// Whether a call leaves the right bytes.
fn checked(
    prepared: &dyn Prepared,
    workload: &Workload,
    (arguments, output, scratch): (&[&[u8]], &mut [u8], &mut [u8]),
    call: impl FnOnce(&mut dyn Bound) -> Result<(), String>,
) -> Result<bool, String> {
    output.fill(UNWRITTEN);
    call(&mut *prepared.bind(arguments, output, scratch)?)?;
    let found = match &prepared.facts().view {
        None => Checksum::of(output),
        Some((input, layout)) => {
            let input = arguments.get(*input).copied().unwrap_or_default();
            let ty = workload.output().without_layout();
            let ty = ty.with_layout(layout.clone()).map_err(|e| e.to_string())?;
            let read = Tensor::read(&ty, input).map_err(|e| e.to_string())?;
            Checksum::of(read.bytes())
        }
    };
    Ok(workload.checksum.accepts(&found))
}

impl<'a> Trial<'a> {
    /// A call that gives the right result, and the two ends of the memcpy beside it.
    pub fn new(
        facts: &'a Facts,
        (build, first): (Duration, Duration),
        bound: &'a mut dyn Bound,
        threads: usize,
        (to, from): (&'a mut [u8], &'a [u8]),
    ) -> Self {
        Self {
            facts,
            build,
            first,
            correct: true,
            bound,
            threads,
            copy: Copy {
                to,
                from,
                then_read: false,
            },
        }
    }

    /// Spends the budget on a memcpy of the output's bytes, then on the workload.
    pub fn slice(&mut self, budget: Duration) -> Result<Slice, String> {
        let memcpy = self.copy.measure(self.threads, budget.mul_f64(COPY_SHARE));
        let budget = budget.mul_f64(1.0 - COPY_SHARE);
        let time = if self.threads == 1 || !self.bound.is_shared() {
            measure(budget, |times| self.bound.repeat(times))?
        } else {
            self.in_chunks(budget)?
        };
        Ok(Slice { time, memcpy })
    }

    fn in_chunks(&self, budget: Duration) -> Result<Times, String> {
        let bound: &dyn Bound = &*self.bound;
        let failed = Mutex::new(None);
        let note = |problem| {
            if let Ok(mut failed) = failed.lock() {
                *failed = Some(problem);
            }
        };
        let job = |phase, share| {
            // SAFETY: the crew does each share of a phase once and ends one phase before the next.
            if let Err(problem) = unsafe { bound.chunk(phase, share, self.threads) } {
                note(problem);
            }
        };
        let phases = bound.phases();
        let times = with_crew(self.threads, &job, |go| {
            measure(budget, |times| {
                (0..times).for_each(|_| (0..phases).for_each(go));
                Ok::<(), String>(())
            })
        })?;
        match failed.into_inner() {
            Ok(None) => Ok(times),
            Ok(Some(problem)) => Err(problem),
            Err(_) => Err("a chunk panicked".into()),
        }
    }
}

/// What one slice of time measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The workload.
    pub time: Times,
    /// A memcpy of as many bytes as the output has.
    pub memcpy: Times,
}

struct Copy<'a> {
    to: &'a mut [u8],
    from: &'a [u8],
    /// Whether what was copied is then read.
    then_read: bool,
}

impl Copy<'_> {
    fn measure(&mut self, threads: usize, budget: Duration) -> Times {
        // What is not worth sharing is not shared: waking threads would take longer than to copy.
        let measured = if threads == 1 || self.to.len() < SHARED_FROM {
            measure(budget, |times| {
                for _ in 0..times {
                    black_box(&mut *self.to).copy_from_slice(black_box(self.from));
                    if self.then_read {
                        restride::read_all(self.to);
                    }
                }
                Ok::<(), std::convert::Infallible>(())
            })
        } else {
            let share = (self.to.len() / threads).next_multiple_of(64);
            let halves = self.to.chunks_mut(share).zip(self.from.chunks(share));
            let halves: Vec<_> = halves.map(Mutex::new).collect();
            let job = |_, share: usize| {
                if let Some(Ok(mut half)) = halves.get(share).map(Mutex::lock) {
                    let (to, from) = &mut *half;
                    black_box(&mut **to).copy_from_slice(black_box(from));
                }
            };
            with_crew(threads, &job, |go| {
                measure(budget, |times| {
                    (0..times).for_each(|_| go(0));
                    Ok(())
                })
            })
        };
        match measured {
            Ok(times) => times,
            Err(never) => match never {},
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::GAP;
    use crate::reference::Reference;
    use crate::then_read::ThenRead;
    use restride_testkit::workloads::read;

    fn stored(id: &str) -> Workload {
        let list = read(crate::STORED).expect("the stored file");
        let mut sound = list.into_iter().filter_map(Result::ok);
        sound
            .find(|workload| workload.id == id)
            .expect("a stored workload")
    }

    #[test]
    fn right_results_are_accepted_and_timed() {
        for (id, threads) in [("tiny_box_swap", 1), ("rope_decode_f32", 2)] {
            let slice = with_trial(&Reference, &stored(id), (threads, GAP), |trial| {
                assert!(trial.correct, "{id}");
                trial.slice(Duration::from_micros(100))
            });
            let slice = slice.expect("prepared").expect("timed");
            assert!(slice.time.min > 0.0 && slice.memcpy.min > 0.0);
        }
    }

    #[test]
    fn calls_that_read_what_they_wrote_are_right_and_timed_beside_copies_that_do() {
        let reading = ThenRead(Box::new(Reference));
        let slice = with_trial(&reading, &stored("rope_decode_f32"), (2, GAP), |trial| {
            assert!(trial.correct && trial.copy.then_read);
            trial.slice(Duration::from_micros(100))
        });
        assert!(slice.expect("prepared").is_ok());
    }

    #[test]
    fn wrong_results_are_noticed() {
        let mut workload = stored("tiny_box_swap");
        workload.checksum.fnv1a64 = Some(0);
        let correct = with_trial(&Reference, &workload, (1, GAP), |trial| trial.correct);
        assert_eq!(correct, Ok(false));
    }
}
