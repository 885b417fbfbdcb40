//! All runs of a kernel, and what they show together.

use std::collections::BTreeSet;
use std::ops::AddAssign;

use restride_leaves::Callee;
use restride_loops::{Kernel, Role, Stmt, Verified};

use crate::form::{CallForm, instructions};
use crate::index;
use crate::label::Sources;
use crate::machine::{CodeRun, Instructions, Processor};
use crate::meaning::{Meaning, meaning, numeric};
use crate::memory::CheckedMemory;
use crate::value::{Area, Value};
use crate::violation::{Kind, Limit, Unproved};

/// What is checked.
#[derive(Clone, Copy, Debug)]
pub struct CodeSubject<'a> {
    /// What executes it.
    pub processor: Processor,
    /// The machine code, where it executes.
    pub code: &'a [u8],
    /// Which functions it consists of.
    pub form: CallForm<'a>,
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

impl AddAssign<&Report> for Report {
    /// Adds what was counted; which instructions were executed is said of one code alone.
    fn add_assign(&mut self, other: &Report) {
        self.runs += other.runs;
        self.steps = self.steps.saturating_add(other.steps);
        self.accesses += other.accesses;
        self.bytes += other.bytes;
        self.calls += other.calls;
    }
}

/// Follows the code of a kernel and compares what it does with what the kernel means.
pub fn check(subject: &CodeSubject<'_>, limits: &Limits) -> Result<Report, Unproved> {
    let kernel: &Kernel = subject.kernel;
    let (code, entries) = match &subject.form {
        CallForm::Phases(entries) => (subject.code, *entries),
        CallForm::Whole(whole) => (instructions(whole, subject)?, &[0][..]),
    };
    if let CallForm::Phases(entries) = subject.form
        && entries.len() != kernel.phases.len()
    {
        return Err(Unproved::from(Kind::Phases {
            code: entries.len(),
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
    let constants: Vec<(u64, Area)> = kernel
        .numbered()
        .filter_map(|(id, buffer)| match &buffer.role {
            Role::Const(bytes) if !bytes.is_empty() => {
                Some((bytes.as_ptr().addr() as u64, Area::Buffer(id.0)))
            }
            Role::In(_) | Role::Out(..) | Role::Scratch | Role::Const(_) => None,
        })
        .collect();
    Instructions::new(subject.processor, code, entries).survey(entries)?;
    let mut runs = Runs {
        subject,
        limits,
        constants,
        code,
        program: Instructions::new(subject.processor, code, entries),
        report: Report::default(),
    };
    runs.all()?;
    let executed: BTreeSet<usize> = runs.program.decoded().into_iter().collect();
    runs.report.executed = executed.into_iter().collect();
    Ok(runs.report)
}

struct Runs<'a> {
    subject: &'a CodeSubject<'a>,
    limits: &'a Limits,
    constants: Vec<(u64, Area)>,
    /// The instructions, and the constants among them.
    code: &'a [u8],
    program: Instructions<'a>,
    report: Report,
}

impl Runs<'_> {
    fn all(&mut self) -> Result<(), Unproved> {
        let kernel: &Kernel = self.subject.kernel;
        let numeric = numeric(kernel);
        let mut sources = Sources::new(kernel, &numeric)?;
        let counts = match self.subject.form {
            CallForm::Phases(_) => chunks(kernel),
            CallForm::Whole(_) => vec![1],
        };
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
        let mut memory = CheckedMemory::new(kernel, sources, self.code, &lent, expected);
        if let CallForm::Whole(whole) = &subject.form {
            memory.whole(kernel, whole)?;
        }
        let left = self.limits.steps.saturating_sub(self.report.steps);
        let mut machine = CodeRun::new(
            subject.processor,
            memory,
            subject.callees,
            &self.constants,
            left,
        );
        let outcome = match subject.form {
            CallForm::Phases(entries) => {
                let program = &mut self.program;
                all_phases(&mut machine, program, kernel, entries, meaning, chunks)
            }
            CallForm::Whole(_) => {
                let wanted = meaning.failure.as_ref();
                let wanted = wanted.map_or(0, |failure| u64::from(failure.code) + 1);
                let arguments = machine.memory.arguments().map(Value::Pointer);
                called(&mut machine, &mut self.program, 0, arguments, wanted)
            }
        };
        self.report.runs += 1;
        self.report.steps = self.report.steps.saturating_add(machine.steps);
        self.report.accesses += machine.memory.accesses;
        self.report.calls += machine.calls;
        outcome?;
        self.report.bytes += machine.memory.complete()?;
        Ok(())
    }
}

/// Calls the functions of all phases, or of those up to one that has to fail.
fn all_phases(
    machine: &mut CodeRun<'_>,
    program: &mut Instructions<'_>,
    kernel: &Kernel,
    entries: &[usize],
    meaning: &Meaning,
    chunks: u64,
) -> Result<(), Unproved> {
    for (phase, entry) in entries.iter().enumerate() {
        // A phase without a parallel loop is the first chunk's alone.
        let stmts = kernel.phases.get(phase);
        let shared = stmts.is_some_and(|stmts| is_shared(stmts));
        for chunk in (0..if shared { chunks } else { 1 }).rev() {
            let failing = meaning.failure.as_ref();
            let failing = failing.filter(|it| it.phase == phase && chunk == 0);
            let wanted = failing.map_or(0, |failure| failure.check);
            let [table, ..] = machine.memory.arguments();
            let arguments = [
                Value::Pointer(table),
                Value::known(chunk),
                Value::known(chunks),
            ];
            called(machine, program, *entry, arguments, wanted)?;
            if failing.is_some() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Calls a function, which has to return so much.
fn called(
    machine: &mut CodeRun<'_>,
    program: &mut Instructions<'_>,
    entry: usize,
    arguments: [Value; 3],
    expected: u64,
) -> Result<(), Unproved> {
    let status = machine.call(program, entry, arguments)?;
    if status == expected {
        return Ok(());
    }
    Err(Unproved::from(Kind::Status {
        found: status.to_string(),
        expected,
    }))
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
