//! All runs of a kernel, and what they show together.

use std::collections::BTreeSet;

use restride_leaves::Callee;
use restride_loops::{Kernel, Role, Stmt, Verified};

use crate::index;
use crate::label::Sources;
use crate::machine::{Machine, Processor, Program};
use crate::meaning::{Meaning, meaning, numeric};
use crate::memory::Memory;
use crate::value::Region;
use crate::violation::{Kind, Limit, Unproved};

/// What is checked.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What executes it.
    pub processor: Processor,
    /// The machine code, where it executes: functions `(buffers, chunk, chunks) -> status`.
    pub code: &'a [u8],
    /// Where the function of each phase begins.
    pub phases: &'a [usize],
    /// What it was made from; its constants are where the code expects them.
    pub kernel: &'a Verified,
    /// What it may call.
    pub callees: &'a [Callee],
}

/// How far code is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Instructions and elements moved by calls, over all runs.
    pub steps: u64,
    /// Bytes of all buffers.
    pub bytes: u64,
    /// A buffer, by its number, that has so many bytes only. A test of the checker.
    pub short: Option<(usize, i64)>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 1 << 24,
            bytes: 1 << 23,
            short: None,
        }
    }
}

/// What was shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// How often the kernel was run: index tensors and numbers of chunks.
    pub runs: u64,
    /// Instructions and elements moved by calls.
    pub steps: u64,
    /// Accesses of memory by the code itself.
    pub accesses: u64,
    /// Bytes of outputs that were shown to be the right ones, over all runs.
    pub bytes: u64,
    /// Calls taken at their word.
    pub calls: u64,
    /// Where the instructions begin that were executed.
    pub executed: Vec<usize>,
}

/// Follows the code of a kernel and compares what it does with what the kernel means.
pub fn check(subject: &Subject<'_>, limits: &Limits) -> Result<Report, Unproved> {
    let kernel: &Kernel = subject.kernel;
    if subject.phases.len() != kernel.phases.len() {
        return Err(Unproved::from(Kind::Phases {
            code: subject.phases.len(),
            kernel: kernel.phases.len(),
        }));
    }
    let bytes = kernel.buffers.iter().fold(0u64, |sum, buffer| {
        sum.saturating_add(buffer.bytes().map_or(u64::MAX, |bytes| bytes as u64))
    });
    if bytes > limits.bytes {
        let limit = limits.bytes;
        return Err(Limit::Bytes { bytes, limit }.into());
    }
    let constants: Vec<(u64, Region)> = kernel
        .numbered()
        .filter_map(|(id, buffer)| match &buffer.role {
            Role::Const(bytes) if !bytes.is_empty() => {
                Some((bytes.as_ptr().addr() as u64, Region::Buffer(id.0)))
            }
            Role::In(_) | Role::Out(..) | Role::Scratch | Role::Const(_) => None,
        })
        .collect();
    Program::new(subject.processor, subject.code, subject.phases).survey(subject.phases)?;
    let mut runs = Runs {
        subject,
        limits,
        constants,
        program: Program::new(subject.processor, subject.code, subject.phases),
        report: Report::default(),
    };
    runs.all()?;
    let executed: BTreeSet<usize> = runs.program.decoded().into_iter().collect();
    runs.report.executed = executed.into_iter().collect();
    Ok(runs.report)
}

struct Runs<'a> {
    subject: &'a Subject<'a>,
    limits: &'a Limits,
    constants: Vec<(u64, Region)>,
    program: Program<'a>,
    report: Report,
}

impl Runs<'_> {
    fn all(&mut self) -> Result<(), Unproved> {
        let kernel: &Kernel = self.subject.kernel;
        let numeric = numeric(kernel);
        let mut sources = Sources::new(kernel, &numeric)?;
        let counts = chunks(kernel);
        let mut shared = false;
        // One run that could not be followed does not hide what the others show.
        let mut not_understood = None;
        let mut see = |outcome: Result<(), Unproved>| match outcome {
            Err(unproved @ Unproved::NotUnderstood { .. }) => {
                not_understood.get_or_insert(unproved);
                Ok(())
            }
            other => other,
        };
        // What checks look at is known from a run that passes them.
        let all = index::variants(kernel, &numeric, &|_, _| true);
        for (buffer, bytes) in all.first().into_iter().flatten() {
            sources.set(*buffer, bytes);
        }
        let checked = meaning(kernel, &sources, self.limits.steps.max(1))?.checked;
        let all = index::variants(kernel, &numeric, &|buffer, byte| {
            let first = sources.first(buffer);
            first.is_none_or(|first| checked.contains(&first.plus(byte)))
        });
        for (number, contents) in all.iter().enumerate() {
            for (buffer, bytes) in contents {
                sources.set(*buffer, bytes);
            }
            let left = self.limits.steps.saturating_sub(self.report.steps);
            let meaning = meaning(kernel, &sources, left.max(1))?;
            if shared {
                see(self.run(&sources, &meaning, counts[number % counts.len()]))?;
                continue;
            }
            for count in counts.iter().copied() {
                see(self.run(&sources, &meaning, count))?;
            }
            // Once every number of chunks has been seen to its end, one at a time will do.
            shared = meaning.failure.is_none();
        }
        match (not_understood, self.program.astray()) {
            (None, _) => Ok(()),
            (Some(_), Some(offset)) => Err(Kind::NoCode { offset }.into()),
            (Some(unproved), None) => Err(unproved),
        }
    }

    fn run(&mut self, sources: &Sources, meaning: &Meaning, chunks: u64) -> Result<(), Unproved> {
        let subject = self.subject;
        let kernel: &Kernel = subject.kernel;
        let lent: Vec<i64> = kernel
            .buffers
            .iter()
            .enumerate()
            .map(|(at, buffer)| match self.limits.short {
                Some((short, bytes)) if short == at => bytes,
                _ => buffer.bytes().map_or(0, |bytes| bytes as i64),
            })
            .collect();
        // After a failed check nothing may have been written.
        let expected = match meaning.failure {
            None => meaning.outputs.clone(),
            Some(_) => meaning
                .outputs
                .iter()
                .map(|output| {
                    let labels = output.as_ref()?;
                    Some(vec![crate::label::Label::NOTHING; labels.len()])
                })
                .collect(),
        };
        let memory = Memory::new(kernel, sources, subject.code, &lent, expected);
        let left = self.limits.steps.saturating_sub(self.report.steps);
        let mut machine = Machine::new(
            subject.processor,
            memory,
            subject.callees,
            &self.constants,
            left,
        );
        let mut outcome = Ok(());
        'phases: for (phase, entry) in subject.phases.iter().enumerate() {
            // A phase without a parallel loop is the first chunk's alone.
            let shared = kernel
                .phases
                .get(phase)
                .is_some_and(|stmts| is_shared(stmts));
            for chunk in (0..if shared { chunks } else { 1 }).rev() {
                let failing = meaning
                    .failure
                    .filter(|(failing, _)| *failing == phase && chunk == 0);
                let wanted = failing.map_or(0, |(_, check)| check);
                match machine.call(&mut self.program, *entry, chunk, chunks) {
                    Ok(status) if status == wanted => {}
                    Ok(status) => {
                        outcome = Err(Unproved::from(Kind::Status {
                            found: status.to_string(),
                            expected: wanted,
                        }));
                        break 'phases;
                    }
                    Err(unproved) => {
                        outcome = Err(unproved);
                        break 'phases;
                    }
                }
                if failing.is_some() {
                    break 'phases;
                }
            }
        }
        self.report.runs += 1;
        self.report.steps = self.report.steps.saturating_add(machine.steps);
        self.report.accesses += machine.memory.accesses;
        self.report.calls += machine.calls;
        outcome?;
        self.report.bytes += machine.memory.complete()?;
        Ok(())
    }
}

/// Numbers of chunks worth trying: one, a few, and more than there are iterations.
fn chunks(kernel: &Kernel) -> Vec<u64> {
    let extent = kernel.phases.iter().flatten().filter_map(parallel).max();
    match extent {
        None => vec![1],
        Some(extent) => vec![1, 2, 3, extent.clamp(0, 64) as u64 + 5],
    }
}

/// The trip count of a parallel loop.
fn parallel(stmt: &Stmt) -> Option<i64> {
    match stmt {
        Stmt::For {
            extent,
            parallel: true,
            ..
        } => Some(*extent),
        Stmt::For { .. }
        | Stmt::Check { .. }
        | Stmt::Index { .. }
        | Stmt::Move(_)
        | Stmt::Gather(_)
        | Stmt::Fill { .. } => None,
    }
}

/// Whether a phase is shared out among chunks.
fn is_shared(phase: &[Stmt]) -> bool {
    phase.iter().any(|stmt| parallel(stmt).is_some())
}
