//! A program of one's own: held against the oracle, then timed beside a memcpy of its outputs.

use std::io::Write;
use std::time::{Duration, Instant};

use restride::{Code, Config, Engine, Output, Program, Target, TensorMut, TensorRef, ViewPolicy};
use restride_bench::engine::{bound, facts};
use restride_bench::memory::{GAP, Region};
use restride_bench::outcome::{Effort, Outcome};
use restride_bench::subject::Bound;
use restride_bench::table::{self, Moved};
use restride_bench::trial::{Trial, UNWRITTEN, chunk_by_chunk};
use restride_graph::oracle::{self, OracleError, Tensor};
use restride_lower::{Lines, Traffic};
use restride_testkit::workloads::{Values, Workload};

use crate::data::inputs::inputs;
use crate::data::recipe::Recipe;
use crate::execute::input_buffers;
use crate::failure::Failure;
use crate::signature::{Signature, Slot};
use crate::source::Input;
use crate::stages::{self, lower};
use crate::views::notes;

/// How the program is run.
pub(super) struct ProgramOptions<'a> {
    /// Where inputs come from.
    pub(super) sources: &'a [String],
    /// Whether what could be a view is written.
    pub(super) views: ViewPolicy,
    /// How code is made,
    pub(super) code: Code,
    /// and for which machine.
    pub(super) target: Target,
}

/// Checks, times and prints a program, and gives what `--save` writes.
pub(super) fn run(
    input: &Input,
    options: &ProgramOptions<'_>,
    effort: &Effort,
    out: &mut dyn Write,
) -> Result<String, Failure> {
    let program = stages::AnyProgram::parse(input)?;
    let stages::AnyProgram::Graph(graph) = &program else {
        let message = format!(
            "a graph is timed, since it can be checked; this is a {}",
            program.stage()
        );
        return Err(Failure::Usage(message));
    };
    let signature = Signature::of(&program)?;
    let tensors = inputs(&signature, options.sources, |_, slot| made_up(slot))?;
    let expected = oracle::eval(graph, &tensors).map_err(|error| match error {
        OracleError::Op { value, error } => {
            Failure::Input(format!("{}: {error}", graph.label(value)))
        }
        other => Failure::Internal(format!("oracle: {other}")),
    })?;
    let Some((canonical, _)) = program.canonical()? else {
        return Err(Failure::Internal("a graph has no canonical form".into()));
    };
    let lowered = lower(&canonical, options.views)?;
    let traffic = Traffic::of(&lowered.plan, Lines::of(&lowered.decisions));
    let views = notes(&lowered.plan, &program, "times");
    let engine = Engine::new(Config {
        views: options.views,
        code: options.code,
        budget: crate::budget::chosen(),
        target: options.target.clone(),
        ..Config::default()
    });
    let outcome = measure(
        &engine,
        graph,
        &input_buffers(&signature, &tensors)?,
        &expected,
        effort,
    )?;

    // Of what is written; of views, if nothing is.
    let bytes = match traffic.least_written {
        0 => signature
            .outputs
            .iter()
            .map(|output| output.ty.byte_size())
            .sum(),
        written => usize::try_from(written).unwrap_or(usize::MAX),
    };
    let lines = (traffic.least_lines, traffic.least_lines_written);
    let moved = Moved {
        id: graph.name(),
        bytes,
        useful: u64::try_from(traffic.least()).unwrap_or(u64::MAX),
        limit: match lines {
            (0, _) | (_, 0) => None,
            (all, written) => Some(2.0 * written as f64 / all as f64),
        },
    };
    for note in views {
        writeln!(out, "{note}")?;
    }
    writeln!(out, "{}", table::heading())?;
    writeln!(out, "{}", table::line(&moved, &outcome))?;
    Ok(format!("{}\n", outcome.to_json(graph.name())))
}

/// A graph with one output as a workload, which is what is held against other ways.
pub(super) fn workload(input: &Input) -> Result<Workload, Failure> {
    let program = stages::AnyProgram::parse(input)?;
    let signature = Signature::of(&program)?;
    let (stages::AnyProgram::Graph(graph), [_]) = (program, &signature.outputs[..]) else {
        let message = "--candidates is for graphs with one output";
        return Err(Failure::Usage(message.into()));
    };
    let values = signature.inputs.iter().map(|slot| match slot.limit {
        Some(limit) => Values::IndexHash(u32::try_from(limit.max(1)).unwrap_or(u32::MAX)),
        None => Values::Data,
    });
    let (name, values) = (graph.name().to_owned(), values.collect());
    Workload::of(name, graph, values).map_err(Failure::Input)
}

/// Indices in no order within their axis, all else bits in no order.
pub(super) fn made_up(slot: &Slot) -> Recipe {
    match slot.limit {
        Some(limit) if limit > 0 => Recipe::HashModulo(limit.unsigned_abs()),
        Some(_) => Recipe::Zeros,
        None => Recipe::Hash,
    }
}

fn measure(
    engine: &Engine,
    graph: &restride_graph::Graph,
    buffers: &[Vec<u8>],
    expected: &[Tensor],
    effort: &Effort,
) -> Result<Outcome, Failure> {
    let start = Instant::now();
    let program = engine.compile(graph).map_err(internal)?;
    let build = start.elapsed();
    let mut facts = facts(&program, build);
    if program.computed() > 0 {
        facts.view = None;
    }

    let mut sizes: Vec<usize> = buffers.iter().map(Vec::len).collect();
    let computed = computed(&program);
    sizes.extend(computed.iter().map(|(_, bytes)| bytes));
    let copied: usize = computed.iter().map(|(_, bytes)| bytes).sum();
    sizes.extend([copied, copied]);
    let mut region = Region::new(&sizes, GAP).map_err(Failure::Input)?;
    let mut parts = region.parts();
    let (Some(copy_to), Some(copy_from)) = (parts.pop(), parts.pop()) else {
        return Err(Failure::Internal("the region lacks parts".into()));
    };
    copy_from.fill(1);
    let mut outputs = parts.split_off(buffers.len());
    for (part, buffer) in parts.iter_mut().zip(buffers) {
        part.copy_from_slice(buffer);
    }
    let inputs: Vec<&[u8]> = parts.iter().map(|part| &**part).collect();
    let mut scratch = vec![0; facts.scratch_bytes];

    let mut first = Duration::ZERO;
    for threads in [1, effort.threads] {
        for output in &mut outputs {
            output.fill(UNWRITTEN);
        }
        let mut call = bind(&program, &inputs, &mut outputs, &mut scratch)?;
        let start = Instant::now();
        let done = match threads {
            1 => call.repeat(1),
            _ => chunk_by_chunk(&mut *call, threads),
        };
        done.map_err(Failure::Input)?;
        if threads == 1 {
            first = start.elapsed();
        }
        drop(call);
        check(&program, &inputs, &outputs, expected)?;
    }

    let mut call = bind(&program, &inputs, &mut outputs, &mut scratch)?;
    let trial = Trial::new(
        &facts,
        (build, first),
        &mut *call,
        effort.threads,
        (copy_to, copy_from),
    );
    let mut outcome = Outcome::of_trial(&mut { trial }, effort).map_err(Failure::Internal)?;
    drop(call);
    drop(program);
    for _ in 1..effort.compilations {
        // Or it would be looked up.
        engine.clear();
        let start = Instant::now();
        drop(engine.compile(graph).map_err(internal)?);
        let took = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        outcome.facts.compile_ns = outcome.facts.compile_ns.min(took);
    }
    Ok(outcome)
}

fn internal(error: impl std::fmt::Display) -> Failure {
    Failure::Internal(error.to_string())
}

/// The outputs that a run writes: their numbers and bytes.
pub(super) fn computed(program: &Program) -> Vec<(usize, usize)> {
    let outputs = program.outputs().iter().enumerate();
    outputs
        .filter_map(|(at, output)| match output {
            Output::Computed { ty, .. } => {
                Some((at, ty.required_elements() * ty.element().width()))
            }
            Output::View { .. } => None,
        })
        .collect()
}

fn bind<'a>(
    program: &'a Program,
    inputs: &'a [&'a [u8]],
    outputs: &'a mut [&mut [u8]],
    scratch: &'a mut [u8],
) -> Result<Box<dyn Bound + 'a>, Failure> {
    let inputs: Vec<_> = inputs.iter().map(|b| TensorRef::from_bytes(b)).collect();
    let outputs = outputs.iter_mut().map(|b| TensorMut::from_bytes(b));
    bound(program, &inputs, outputs.collect(), scratch).map_err(Failure::Internal)
}

/// Whether every output is what the operators' definitions give.
fn check(
    program: &Program,
    inputs: &[&[u8]],
    outputs: &[&mut [u8]],
    expected: &[Tensor],
) -> Result<(), Failure> {
    let mut written = outputs.iter();
    for (at, (output, expected)) in program.outputs().iter().zip(expected).enumerate() {
        let found = match output {
            Output::Computed { ty, .. } => {
                Tensor::read(ty, written.next().map_or(&[][..], |bytes| bytes))
            }
            Output::View { input, layout, ty } => {
                let ty = ty.clone().without_layout().with_layout(layout.clone());
                let bytes = inputs.get(*input).copied().unwrap_or_default();
                Tensor::read(&ty.map_err(internal)?, bytes)
            }
        };
        if found.map_err(internal)? != *expected {
            let message =
                format!("output {at} is wrong; `restride bisect` says where it becomes so");
            return Err(Failure::Internal(message));
        }
    }
    Ok(())
}
