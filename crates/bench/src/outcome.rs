//! What came of one workload, and its form on disk.
//!
//! `--save` writes one object a line, of the form in which the peers' results are stored, so that
//! both can be merged.

use super::clock::median;
use super::subject::Facts;
use super::subject::Subject;
use super::trial::{Slice, Trial, with_trial};
use restride_testkit::workloads::Workload;
use serde_json::{Value, json};
use std::time::Duration;

/// How thoroughly to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Slices per workload.
    pub rounds: usize,
    /// How long a slice lasts.
    pub budget: Duration,
    /// How many threads share a call.
    pub threads: usize,
    /// Compilations, of which the fastest counts.
    pub compilations: usize,
    /// Bytes between tensors.
    pub gap: usize,
}

/// The measurements of one workload.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What the compiler said; `compile_ns` is that of the fastest compilation.
    pub facts: Facts,
    /// Preparing the first time, as a whole.
    pub build: Duration,
    /// The first call.
    pub first: Duration,
    /// One per round.
    pub slices: Vec<Slice>,
    /// How many threads shared a call.
    pub threads: usize,
}

impl Outcome {
    /// Measures a workload. A wrong result is an error and is not timed.
    pub fn measure(
        subject: &dyn Subject,
        workload: &Workload,
        effort: &Effort,
    ) -> Result<Self, String> {
        let mut outcome = with_trial(subject, workload, (effort.threads, effort.gap), |trial| {
            Self::of_trial(trial, effort)
        })??;
        for _ in 1..effort.compilations {
            let again = subject.prepare(workload, workload.is_view())?;
            outcome.facts.compile_ns = outcome.facts.compile_ns.min(again.facts().compile_ns);
        }
        Ok(outcome)
    }

    /// Times what was found to be right.
    pub fn of_trial(trial: &mut Trial<'_>, effort: &Effort) -> Result<Self, String> {
        if !trial.correct {
            return Err("wrong result".into());
        }
        let slices = (0..effort.rounds).map(|_| trial.slice(effort.budget));
        Ok(Self {
            slices: slices.collect::<Result<_, _>>()?,
            facts: trial.facts.clone(),
            build: trial.build,
            first: trial.first,
            threads: effort.threads,
        })
    }

    /// Nanoseconds per call, at best.
    pub fn time(&self) -> f64 {
        smallest(self.slices.iter().map(|slice| slice.time.min))
    }

    /// Nanoseconds per memcpy of the output's bytes, at best.
    pub fn memcpy(&self) -> f64 {
        smallest(self.slices.iter().map(|slice| slice.memcpy.min))
    }

    /// Speed relative to memcpy: 1 is as fast, 2 twice as fast.
    pub fn ratio(&self) -> f64 {
        self.memcpy() / self.time()
    }

    /// The same by the medians of each slice: what is usual, not what is best.
    pub fn usual_ratio(&self) -> f64 {
        let ratios = self.slices.iter().map(|s| s.memcpy.median / s.time.median);
        median(ratios).unwrap_or(0.0)
    }

    /// One line of a results file.
    pub fn to_json(&self, id: &str) -> Value {
        let pair = |times: super::clock::Times| json!([times.min, times.median]);
        json!({
            "peer": "restride",
            "id": id,
            "threads": self.threads,
            "prep": {
                "ok": true,
                "crc_ok": true,
                "build_s": self.build.as_secs_f64(),
                "first_s": self.first.as_secs_f64(),
                "view": self.facts.view.is_some(),
                "note": note(&self.facts),
            },
            "t": self.slices.iter().map(|s| pair(s.time)).collect::<Vec<_>>(),
            "m": self.slices.iter().map(|s| pair(s.memcpy)).collect::<Vec<_>>(),
            "compile_ns": self.facts.compile_ns,
            "stages": self.facts.stages,
            "forms": self.facts.forms,
            "code_bytes": self.facts.code_bytes,
        })
    }
}

/// What the compiler said, in a line; `compile_s` stands where peers put theirs.
pub fn note(facts: &Facts) -> String {
    format!(
        "compile_s={:.9} stages={} forms={} code_bytes={}",
        facts.compile_ns as f64 * 1e-9,
        facts.stages,
        facts.forms.join("+"),
        facts.code_bytes
    )
}

fn smallest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}
