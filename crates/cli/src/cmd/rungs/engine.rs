//! The engine with machine code: once as it comes, and once for a machine with tiny caches, where
//! small graphs have parallel loops and tiles as well, with the work shared out. And both of it again with
//! code that calls nothing.

use std::sync::LazyLock;

use restride::{
    Code, Config, Engine, OffendingIndex, Output, ParallelFor, Program, RunError, Target,
    TensorMut, TensorRef, ViewPolicy,
};
use restride_graph::TensorType;
use restride_graph::oracle::Tensor;
use restride_testkit::rungs::{BadIndex, Outcome, Rung, RungError, Subject};

/// Machine code as it comes.
pub(super) struct Native;

/// Machine code that calls nothing.
pub(super) struct SelfContained;

static NATIVE: LazyLock<[Engine; 2]> = LazyLock::new(|| engines(Code::Native));
static SELF_CONTAINED: LazyLock<[Engine; 2]> = LazyLock::new(|| engines(Code::SelfContained));

/// For a usual machine, and for a cramped one.
fn engines(code: Code) -> [Engine; 2] {
    let cramped = Config {
        code,
        target: Target::cramped(),
        views: ViewPolicy::Copy,
        ..config()
    };
    [Config { code, ..config() }, cramped].map(Engine::new)
}

/// Programs are used once, so there is no need to keep many.
fn config() -> Config {
    Config {
        budget: crate::budget::chosen(),
        cache_entries: 64,
        ..Config::default()
    }
}

impl Rung for Native {
    fn name(&self) -> &'static str {
        "jit"
    }

    fn run(&self, subject: &Subject<'_>) -> Outcome {
        on_both(subject, &NATIVE)
    }
}

impl Rung for SelfContained {
    fn name(&self) -> &'static str {
        "self-contained"
    }

    fn run(&self, subject: &Subject<'_>) -> Outcome {
        on_both(subject, &SELF_CONTAINED)
    }
}

fn on_both(subject: &Subject<'_>, [usual, cramped]: &[Engine; 2]) -> Outcome {
    let usual = run(subject, usual, &restride::Sequential)?;
    match run(subject, cramped, &Backwards) {
        Ok(shared) if shared == usual => Ok(usual),
        Ok(_) => Err(broken("chunks for a cramped machine differ from the whole")),
        Err(error) => Err(broken(format!("for a cramped machine only: {error}"))),
    }
}

/// Three chunks, last first, on this thread.
struct Backwards;

impl ParallelFor for Backwards {
    fn width(&self) -> usize {
        3
    }

    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
        (0..count).rev().for_each(body);
    }
}

fn broken(message: impl std::fmt::Display) -> RungError {
    RungError::Broken(message.to_string())
}

fn run(subject: &Subject<'_>, engine: &Engine, pool: &dyn ParallelFor) -> Outcome {
    let program = engine.compile(subject.graph()).map_err(broken)?;
    let types = types(subject);
    // A program that writes no element needs no code.
    let mut outputs = program.outputs().iter().zip(&types);
    let writes =
        outputs.any(|(output, ty)| matches!(output, Output::Computed { .. }) && ty.numel() > 0);
    if program.disassembly().is_none() && writes {
        return Err(broken("there is no machine code"));
    }
    let buffers = subject.buffers();
    let inputs: Vec<TensorRef<'_>> = (program.inputs().iter().zip(&buffers))
        .map(|(ty, buffer)| TensorRef::of(ty.element(), buffer))
        .collect();
    // A buffer per output; those of views stay as they are.
    let mut written = subject.output_buffers();
    let result = {
        let computed = program
            .outputs()
            .iter()
            .map(|output| matches!(output, Output::Computed { .. }));
        let outputs = types.iter().zip(&mut written).zip(computed);
        let mut outputs: Vec<TensorMut<'_>> = outputs
            .filter(|(_, computed)| *computed)
            .map(|((ty, buffer), _)| TensorMut::of(ty.element(), buffer))
            .collect();
        program.run_on(pool, &inputs, &mut outputs)
    };
    match result {
        Ok(()) => collect(&program, &types, &buffers, &written, subject),
        Err(RunError::Index {
            node,
            position,
            value,
            ..
        }) => {
            if !subject.untouched(&written) {
                return Err(broken("outputs are written although the run is refused"));
            }
            let OffendingIndex::Value(value) = value else {
                return Err(broken("an index changed while nobody wrote it"));
            };
            Err(RungError::OutOfRange(BadIndex {
                op: node.index() as u32,
                position,
                value,
            }))
        }
        Err(error) => Err(broken(error)),
    }
}

fn types(subject: &Subject<'_>) -> Vec<TensorType> {
    let graph = subject.graph();
    graph
        .outputs()
        .iter()
        .map(|output| graph.output_type(output))
        .collect()
}

fn collect(
    program: &Program,
    types: &[TensorType],
    inputs: &[&[u8]],
    written: &[Vec<u8>],
    subject: &Subject<'_>,
) -> Outcome {
    let fresh = subject.output_buffers();
    let outputs = program
        .outputs()
        .iter()
        .zip(types)
        .zip(written.iter().zip(fresh));
    outputs
        .map(|((output, ty), (written, mut alone))| match output {
            Output::View { input, layout, .. } => {
                let ty = ty.clone().without_layout().with_layout(layout.clone());
                let buffer = inputs
                    .get(*input)
                    .ok_or_else(|| broken("a view of no input"))?;
                Tensor::read(&ty.map_err(broken)?, buffer).map_err(broken)
            }
            Output::Computed { .. } => {
                let tensor = Tensor::read(ty, written).map_err(broken)?;
                tensor.write_into(ty, &mut alone).map_err(broken)?;
                if alone != *written {
                    return Err(broken(
                        "bytes between the elements of an output are written",
                    ));
                }
                Ok(tensor)
            }
        })
        .collect()
}
