//! Calls that are prepared once and found again: by what is done, and by sizes, strides and dtypes.
//!
//! Looking one up takes some nanoseconds, for every thread has a small table of its own. What falls out
//! of it is found in the engine, which all threads share.

use crate::array::{Array, Order};
use crate::failure::{Failure, IntoPy as _};
use crate::layout::{Layout, overlaps, unit_bytes, widest};
use crate::steps::Steps;
use crate::threads::Pool;
use pyo3::prelude::*;
use restride::{
    Buffer, Config, ElementType, Engine, Graph, Output, Program, RunError, TensorMut, TensorRef,
    ValueId,
};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ptr::null_mut;
use std::rc::Rc;
use std::sync::OnceLock;

/// From how many bytes on other threads may run Python meanwhile.
const LET_GO_FROM: usize = 32 << 10;

/// How many calls a thread remembers.
const REMEMBERED: usize = 1024;

/// What is done, as the first number of a key. Those of one function differ by the numbers that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub(crate) enum Action {
    Copy,
    Take,
    TakeAlongAxis,
    Concatenate,
    Tile,
    Repeat,
    Roll,
    Pad,
    Reshape,
    Rearrange,
    Evaluate,
}

/// The numbers that name a call.
pub(crate) type Key = SmallVec<[i64; 64]>;

/// Where a tensor's bytes are, relative to the first element of an array.
struct Region {
    unit: ElementType,
    below: usize,
    span: usize,
}

impl Region {
    fn of(layout: &Layout) -> Self {
        Self {
            unit: layout.unit,
            below: layout.below(),
            span: layout.span,
        }
    }
}

/// What a call gives.
enum Answer {
    /// What is written.
    Written(Region),
    /// A view of an input: bytes from its first element to that of the view, and strides in bytes.
    View {
        input: usize,
        offset: isize,
        strides: SmallVec<[isize; 6]>,
    },
}

/// A program with what has to be known to run it on arrays.
struct Call {
    key: Box<[i64]>,
    program: Program,
    inputs: SmallVec<[Region; 2]>,
    answer: Answer,
    shape: SmallVec<[isize; 6]>,
    /// The bytes that are written or read, whichever are more.
    moved: usize,
    /// What the program's buffers are, if it can be called with their addresses alone.
    buffers: Option<SmallVec<[Address; 4]>>,
}

/// What is at an address that a program is called with.
#[derive(Clone, Copy)]
enum Address {
    /// The lowest byte of an array that is read, so many below its first element.
    Read { array: usize, below: usize },
    /// The first byte of the array that is made.
    Made,
    /// Nothing of the caller's.
    Constant,
}

/// What a program's buffers are, if it needs no scratch and every array has what it reads and writes.
fn addresses(
    program: &Program,
    inputs: &[Region],
    written: &Region,
) -> Option<SmallVec<[Address; 4]>> {
    let address = |buffer| match buffer {
        Buffer::Input { input, bytes } => {
            let region = inputs.get(input).filter(|region| bytes <= region.span)?;
            let (array, below) = (input, region.below);
            Some(Address::Read { array, below })
        }
        Buffer::Output { output: 0, bytes } => (bytes <= written.span).then_some(Address::Made),
        Buffer::Constant => Some(Address::Constant),
        _ => None,
    };
    program.buffers().map(address).collect()
}

/// The engine of the process.
pub(crate) fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(Config::default()))
}

thread_local! {
    static KNOWN: RefCell<Vec<Option<Rc<Call>>>> = const { RefCell::new(Vec::new()) };
}

fn place(key: &[i64]) -> usize {
    // Of the golden ratio, so that all numbers reach the high bits.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    // Four sums side by side, since each product waits for the one before.
    let mut sums = [key.len() as u64; 4];
    let (fours, rest) = key.as_chunks::<4>();
    let mut add = |numbers: &[i64]| {
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum = sum.wrapping_add(*number as u64).wrapping_mul(FACTOR);
        }
    };
    fours.iter().for_each(|four| add(four));
    add(rest);
    let sum = (sums.iter()).fold(0u64, |all, sum| {
        (all.rotate_left(5) ^ sum).wrapping_mul(FACTOR)
    });
    (sum >> 40) as usize % REMEMBERED
}

fn known(key: &[i64], at: usize) -> Option<Rc<Call>> {
    KNOWN.with_borrow(|known| {
        let call = known.get(at)?.as_ref()?;
        (*call.key == *key).then(|| Rc::clone(call))
    })
}

fn remember(call: &Rc<Call>, at: usize) {
    let before = KNOWN.with_borrow_mut(|known| {
        if known.is_empty() {
            known.resize(REMEMBERED, None);
        }
        known[at].replace(Rc::clone(call))
    });
    drop(before);
}

/// What is to be done, and to which arrays.
pub(crate) struct Task<'a, 'py> {
    pub(crate) action: Action,
    /// What tells it apart from others of the action, but for the arrays.
    pub(crate) numbers: &'a [i64],
    /// Arrays whose elements are moved; they are all of one dtype.
    pub(crate) inputs: &'a [Array<'py>],
    /// Arrays whose elements say what is moved.
    pub(crate) indices: &'a [Array<'py>],
    /// What is written; a new array if there is none.
    pub(crate) out: Option<&'a Array<'py>>,
    /// Whether a view will do where one is possible.
    pub(crate) views: bool,
    pub(crate) threads: usize,
}

impl<'a, 'py> Task<'a, 'py> {
    /// Makes a new array of the elements of others, which nothing else says.
    pub(crate) fn new(
        action: Action,
        numbers: &'a [i64],
        inputs: &'a [Array<'py>],
        threads: usize,
    ) -> Self {
        Task {
            action,
            numbers,
            inputs,
            indices: &[],
            out: None,
            views: false,
            threads,
        }
    }
}

/// Adds what an array is to a key.
fn describe(key: &mut Key, array: &Array<'_>) {
    key.push(array.rank() as i64 | (array.itemsize() as i64) << 8);
    for (size, stride) in array.shape().iter().zip(array.strides()) {
        key.push(*size as i64);
        key.push(*stride as i64);
    }
}

/// The type of indices: native integers.
fn index_type(array: &Array<'_>) -> Option<ElementType> {
    let signed = match array.kind() {
        _ if !array.is_native() => return None,
        b'i' => true,
        b'u' => false,
        _ => return None,
    };
    Some(match (array.itemsize(), signed) {
        (1, true) => ElementType::I8,
        (2, true) => ElementType::I16,
        (4, true) => ElementType::I32,
        (8, true) => ElementType::I64,
        (1, false) => ElementType::U8,
        (2, false) => ElementType::U16,
        (4, false) => ElementType::U32,
        _ => return None,
    })
}

/// The graph of a task, with what has to be known of its tensors.
struct Drawn {
    steps: Steps,
    y: ValueId,
    shape: SmallVec<[isize; 6]>,
    regions: SmallVec<[Region; 2]>,
    into: Option<Layout>,
    /// How many bytes a unit has.
    bytes: i64,
}

/// What makes the graph of a task: the value that is written, of its inputs and then the indices.
pub(crate) type Making<'a> = &'a dyn Fn(&mut Steps, &[ValueId]) -> Result<ValueId, Failure>;

impl<'py> Task<'_, 'py> {
    /// Does it. The array that was written.
    #[inline]
    pub(crate) fn run(&self, py: Python<'py>, making: Making<'_>) -> PyResult<Array<'py>> {
        let mut key = Key::new();
        key.push(
            self.action as i64 | i64::from(self.views) << 8 | (self.numbers.len() as i64) << 9,
        );
        key.extend_from_slice(self.numbers);
        for input in self.inputs {
            describe(&mut key, input);
        }
        for indices in self.indices {
            key.push(index_type(indices).map_or(0, |ty| ty as i64));
            describe(&mut key, indices);
        }
        match self.out {
            None => key.push(0),
            Some(out) => describe(&mut key, out),
        }
        let at = place(&key);
        let call = match known(&key, at) {
            Some(call) => call,
            None => self.prepare(key, at, making).into_py()?,
        };
        let made = match (&call.answer, self.out) {
            (
                Answer::View {
                    input,
                    offset,
                    strides,
                },
                _,
            ) => {
                if !call.program.is_view() {
                    // Indices of which none is looked at have to be right all the same.
                    self.call(py, &call, None)?;
                }
                // SAFETY: the program says that these are elements of the input.
                return unsafe { self.inputs[*input].view(&call.shape, strides, *offset) };
            }
            (Answer::Written(_), Some(out)) => out.clone(),
            (Answer::Written(_), None) => self.inputs[0].new_like(&call.shape, Order::C)?,
        };
        self.call(py, &call, Some(&made))?;
        Ok(made)
    }

    /// The graph of the task.
    pub(crate) fn graph(&self, making: Making<'_>) -> Result<Graph, Failure> {
        Ok(self.drawn(making)?.steps.graph)
    }

    fn drawn(&self, making: Making<'_>) -> Result<Drawn, Failure> {
        let arrays = || self.inputs.iter().chain(self.out);
        let first = &self.inputs[0];
        // One unit for all, so that what is moved from one to another is the same thing.
        let bytes = arrays().fold(16, |most, array| {
            widest(
                most,
                unit_bytes(array.shape(), array.strides(), array.itemsize()),
            )
        });
        let layout = |array: &Array<'_>, bytes: i64| {
            Layout::of(array.shape(), array.strides(), array.itemsize(), bytes)
                .ok_or(Failure::TooLarge)
        };
        let mut steps = Steps::new(self.action.name(), first.itemsize() as i64 / bytes);
        let (mut regions, mut values) = (
            SmallVec::<[Region; 2]>::new(),
            SmallVec::<[ValueId; 4]>::new(),
        );
        for input in self.inputs {
            let layout = layout(input, bytes)?;
            regions.push(Region::of(&layout));
            values.push(steps.input("", &layout)?);
        }
        for indices in self.indices {
            let ty = index_type(indices).ok_or(Failure::NoIndices)?;
            let mut layout = layout(indices, ty.width() as i64)?;
            layout.unit = ty;
            regions.push(Region::of(&layout));
            values.push(steps.input("", &layout)?);
        }
        let y = making(&mut steps, &values)?;
        let shape: SmallVec<[isize; 6]> = steps.shape(y).iter().map(|n| *n as isize).collect();
        let into = match self.out {
            Some(out) if out.shape() != &shape[..] => {
                return Err(Failure::Shape(shape.to_vec(), out.shape().to_vec()));
            }
            Some(out) => Some(layout(out, bytes)?),
            None => None,
        };
        steps.output(y, into.as_ref(), self.views)?;
        Ok(Drawn {
            steps,
            y,
            shape,
            regions,
            into,
            bytes,
        })
    }

    #[cold]
    fn prepare(&self, key: Key, at: usize, making: Making<'_>) -> Result<Rc<Call>, Failure> {
        let Drawn {
            steps,
            y,
            shape,
            regions,
            into,
            bytes,
        } = self.drawn(making)?;
        let first = &self.inputs[0];
        let program = engine().compile_in_tiers(&steps.graph)?;
        let answer = match (program.outputs().first(), into) {
            (Some(Output::View { input, layout, .. }), _) => {
                let width = bytes as isize;
                Answer::View {
                    input: *input,
                    offset: layout.offset as isize * width - regions[*input].below as isize,
                    // The axis of units within an element is nobody's to step along.
                    strides: (layout.strides.iter().take(shape.len()))
                        .map(|stride| *stride as isize * width)
                        .collect(),
                }
            }
            (_, Some(layout)) => Answer::Written(Region::of(&layout)),
            (_, None) => {
                let size = shape
                    .iter()
                    .try_fold(first.itemsize(), |a, b| a.checked_mul(*b));
                Answer::Written(Region {
                    unit: steps.graph.ty(y).element(),
                    below: 0,
                    span: size.ok_or(Failure::TooLarge)? as usize,
                })
            }
        };
        let written = match &answer {
            Answer::Written(region) => region.span,
            Answer::View { .. } => 0,
        };
        let read = regions.iter().map(|region| region.span);
        let moved = read.sum::<usize>().max(written);
        let buffers = match &answer {
            // What is new overlaps nothing.
            Answer::Written(region) if self.out.is_none() && moved < LET_GO_FROM => {
                addresses(&program, &regions, region)
            }
            Answer::Written(_) | Answer::View { .. } => None,
        };
        let call = Rc::new(Call {
            moved,
            buffers,
            key: key.as_slice().into(),
            program,
            inputs: regions,
            answer,
            shape,
        });
        remember(&call, at);
        Ok(call)
    }

    #[inline]
    fn call(&self, py: Python<'py>, call: &Call, made: Option<&Array<'py>>) -> PyResult<()> {
        engine().count_call(&call.program);
        if let (Some(buffers), Some(made)) = (&call.buffers, made) {
            let address = |buffer: &Address| match *buffer {
                Address::Read { array, below } => {
                    let others = array.wrapping_sub(self.inputs.len());
                    let array = self.inputs.get(array).or_else(|| self.indices.get(others));
                    array.map_or(null_mut(), |array| array.data().wrapping_sub(below))
                }
                Address::Made => made.data(),
                Address::Constant => null_mut(),
            };
            let table: SmallVec<[*mut u8; 4]> = buffers.iter().map(address).collect();
            // SAFETY: when the call was prepared each buffer was found to have the bytes that the
            // program asks for. The arrays are held meanwhile; what is written is new, and nobody else's.
            let done = unsafe { call.program.run_raw(&table) };
            return done.map_err(|error| self.raised(error));
        }
        let arrays = self.inputs.iter().chain(self.indices);
        let inputs: SmallVec<[TensorRef<'_>; 2]> = (arrays.zip(&call.inputs))
            .map(|(array, region)| {
                let start = array.data().wrapping_sub(region.below);
                // SAFETY: the array has these bytes, and is held for as long as the call lasts.
                unsafe { TensorRef::from_raw(region.unit, start, region.span) }
            })
            .collect();
        let mut outputs = SmallVec::<[TensorMut<'_>; 1]>::new();
        if let (Answer::Written(output), Some(made)) = (&call.answer, made) {
            let start = made.data().wrapping_sub(output.below);
            // SAFETY: the array has these bytes. It is new, or the caller said that it may be written.
            outputs.push(unsafe { TensorMut::from_raw(output.unit, start, output.span) });
        }
        let (program, threads) = (&call.program, self.threads);
        let run = |outputs: &mut [TensorMut<'_>]| match threads {
            0 | 1 => program.run(&inputs, outputs),
            threads => program.run_on(&Pool(threads), &inputs, outputs),
        };
        if call.moved < LET_GO_FROM {
            return run(&mut outputs).map_err(|error| self.raised(error));
        }
        let done = py.detach(|| run(&mut outputs));
        done.map_err(|error| self.raised(error))?;
        py.check_signals()
    }

    #[cold]
    fn raised(&self, error: RunError) -> PyErr {
        let axis = match self.action {
            Action::Take | Action::TakeAlongAxis => self.numbers.first().copied(),
            _ => None,
        };
        Failure::Run(error, axis).raised()
    }

    /// Whether the array that is to be written shares memory with one that is read, or with itself.
    pub(crate) fn needs_another_place(&self) -> bool {
        let Some(out) = self.out else {
            return false;
        };
        let whole = |array: &Array<'_>| {
            let layout = Layout::of(array.shape(), array.strides(), array.itemsize(), 1)?;
            let start = (array.data() as usize).wrapping_sub(layout.below());
            Some((layout.is_injective(), (start, layout.span)))
        };
        let Some((true, written)) = whole(out) else {
            return true;
        };
        let mut read = self.inputs.iter().chain(self.indices);
        read.any(|array| whole(array).is_none_or(|(_, read)| overlaps(read, written)))
    }
}

impl Action {
    fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Take => "take",
            Self::TakeAlongAxis => "take_along_axis",
            Self::Concatenate => "concatenate",
            Self::Tile => "tile",
            Self::Repeat => "repeat",
            Self::Roll => "roll",
            Self::Pad => "pad",
            Self::Reshape => "reshape",
            Self::Rearrange => "rearrange",
            Self::Evaluate => "evaluate",
        }
    }
}
