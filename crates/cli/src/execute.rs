//! Runs a program on any rung: the oracle, the loops' interpreter, leaf calls, machine code.

use clap::ValueEnum;
use restride_exec::Executable;
use restride_graph::oracle::{self, OracleError, Tensor};
use restride_graph::{ValueId, ViewPolicy};
use restride_jit::{CompileOptions, Compiler, JitError};
use restride_loops::{Fault, Verified, interpret};
use restride_lower::plan::IndexCheck;
use restride_moves::{Features, Planner, Target};

use crate::failure::Failure;
use crate::native::BoundKernel;
use crate::signature::{Signature, Slot};
use crate::stages::AnyProgram;

/// Ways to run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rung {
    /// The definition of every operator (graphs only).
    Oracle,
    /// The loops, element by element, everything checked.
    #[value(alias = "interpret")]
    Loops,
    /// The loops by precompiled leaf moves; no executable memory.
    Exec,
    /// Machine code.
    Jit,
}

/// The outputs of a program, every one of them written, on dense inputs.
pub(crate) fn execute(
    program: &AnyProgram,
    signature: &Signature,
    inputs: &[Tensor],
    rung: Rung,
) -> Result<Vec<Tensor>, Failure> {
    if rung == Rung::Oracle {
        let AnyProgram::Graph(graph) = program else {
            let message = format!("the oracle runs graphs, this is a {}", program.stage());
            return Err(Failure::Usage(message));
        };
        return oracle::eval(graph, inputs).map_err(|error| match error {
            OracleError::Op { value, error } => {
                Failure::Input(format!("{}: {error}", graph.label(value)))
            }
            other => Failure::Internal(format!("oracle: {other}")),
        });
    }
    let (kernel, plan) = program.kernel(ViewPolicy::Copy)?;
    let checks = plan.map_or_else(Vec::new, |plan| plan.checks);
    let buffers = input_buffers(signature, inputs)?;
    let refused = |code, position, value| refusal(program, &checks, code, position, value);
    let outputs = match rung {
        Rung::Oracle | Rung::Loops => {
            interpret(&kernel, &buffers).map_err(|fault| match fault {
                Fault::CheckFailed {
                    code,
                    position,
                    value,
                } => refused(code, position, Some(value)),
                Fault::TooLarge { .. } | Fault::TooLong { .. } => {
                    Failure::Input(format!("too much for the interpreter: {fault}"))
                }
                other => Failure::Internal(format!("interpreter: {other}")),
            })?
        }
        Rung::Exec => run_exec(&kernel, signature, &buffers, &refused)?,
        Rung::Jit => {
            let mut bound = bind(&kernel, signature, buffers)?;
            bound.run().map_err(|error| match error {
                restride_jit::RunError::Check {
                    code,
                    found: restride_jit::BadIndex::At { position, value },
                } => refused(code, position, Some(value)),
                restride_jit::RunError::Check { code, .. } => refused(code, 0, None),
            })?;
            bound.outputs().to_vec()
        }
    };
    // The interpreter gives only outputs that some buffer is; the others have no elements.
    let numbers: Vec<u32> = numbers_of_outputs(&kernel);
    let compact = outputs.len() == numbers.len() && rung == Rung::Loops;
    let slots = signature.outputs.iter().enumerate();
    slots
        .map(|(at, slot)| {
            let place = match compact {
                true => numbers.iter().position(|n| *n as usize == at),
                false => Some(at),
            };
            let bytes = place.and_then(|place| outputs.get(place));
            let bytes = bytes.map_or(&[][..], Vec::as_slice);
            Tensor::read(&slot.ty, bytes)
                .map_err(|error| Failure::Internal(format!("output {at}: {error}")))
        })
        .collect()
}

fn run_exec(
    kernel: &Verified,
    signature: &Signature,
    buffers: &[Vec<u8>],
    refused: &dyn Fn(u32, u64, Option<i128>) -> Failure,
) -> Result<Vec<Vec<u8>>, Failure> {
    let executable = Executable::new(kernel, &Planner::new(&Target::default()))
        .map_err(|error| Failure::Internal(format!("preparing: {error}")))?;
    let inputs: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
    let mut memory = output_buffers(signature)?;
    let mut outputs: Vec<&mut [u8]> = memory.iter_mut().map(Vec::as_mut_slice).collect();
    match executable.run(&inputs, &mut outputs) {
        Ok(()) => Ok(memory),
        Err(restride_exec::RunError::Check(failed)) => {
            Err(refused(failed.code, failed.position, Some(failed.value)))
        }
        Err(other) => Err(Failure::Internal(format!("executor: {other}"))),
    }
}

/// A compiler whose code says what each of its calls does.
pub(crate) fn compiler(level: Features, self_contained: bool) -> Result<Compiler, Failure> {
    let mut options = CompileOptions::default();
    options.features = level;
    options.contracts = true;
    options.self_contained = self_contained;
    Compiler::new(options).map_err(no_code)
}

pub(crate) fn no_code(error: JitError) -> Failure {
    Failure::Internal(format!("generating code: {error}"))
}

/// Compiles a kernel and gives it memory.
pub(crate) fn bind(
    kernel: &Verified,
    signature: &Signature,
    inputs: Vec<Vec<u8>>,
) -> Result<BoundKernel, Failure> {
    let mut compiler = compiler(Features::detect(), false)?;
    let native = compiler.compile(kernel).map_err(no_code)?;
    let outputs = output_buffers(signature)?;
    BoundKernel::new(kernel, native, inputs, outputs)
        .ok_or_else(|| Failure::Internal("the kernel's buffers are not the program's".into()))
}

fn numbers_of_outputs(kernel: &Verified) -> Vec<u32> {
    let outputs = kernel
        .buffers
        .iter()
        .filter_map(|buffer| buffer.role.output());
    let mut numbers: Vec<u32> = outputs.collect();
    numbers.sort_unstable();
    numbers
}

/// Memory as a slot's layout wants it.
pub(crate) fn memory(slot: &Slot) -> Result<Vec<u8>, Failure> {
    let bytes = slot
        .ty
        .required_elements()
        .checked_mul(slot.ty.element().width());
    let mut memory = Vec::new();
    match bytes {
        Some(bytes) if memory.try_reserve_exact(bytes).is_ok() => {
            memory.extend(std::iter::repeat_n(0, bytes));
            Ok(memory)
        }
        Some(_) | None => Err(Failure::Input(format!("{}: no memory for it", slot.name))),
    }
}

fn output_buffers(signature: &Signature) -> Result<Vec<Vec<u8>>, Failure> {
    signature.outputs.iter().map(memory).collect()
}

/// Dense inputs, laid out as the program wants them.
pub(crate) fn input_buffers(
    signature: &Signature,
    inputs: &[Tensor],
) -> Result<Vec<Vec<u8>>, Failure> {
    let slots = signature.inputs.iter().zip(inputs);
    slots
        .map(|(slot, tensor)| {
            let mut memory = memory(slot)?;
            tensor
                .write_into(&slot.ty, &mut memory)
                .map_err(|error| Failure::Input(format!("{}: {error}", slot.name)))?;
            Ok(memory)
        })
        .collect()
}

/// An index that a check refused, in the words of the operator that demands it.
fn refusal(
    program: &AnyProgram,
    checks: &[IndexCheck],
    code: u32,
    position: u64,
    value: Option<i128>,
) -> Failure {
    let value = value.map_or("an index".into(), |value| format!("index {value}"));
    let Some((at, position)) = IndexCheck::failed(checks, code, position) else {
        return Failure::Input(format!(
            "check {code}: {value} at position {position} is out of range; nothing was written"
        ));
    };
    let check = &checks[at];
    let op = match program {
        AnyProgram::Graph(graph) => {
            let value = ValueId::from_u32(check.op);
            let op = graph.get(value);
            op.map(|(op, _)| format!("{} {}", op.name(), graph.label(value)))
        }
        AnyProgram::Canonical(_) | AnyProgram::Kernel(_) => None,
    };
    let op = op.unwrap_or_else(|| format!("the gather of value {}", check.op));
    let limit = check.limit;
    Failure::Input(format!(
        "{op}: {value} at position {position} is outside its axis of {limit}; nothing was written"
    ))
}
