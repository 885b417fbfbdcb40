//! Random graphs of the whole family, valid by construction, with inputs to run them on.
//!
//! A case is named by a seed, a number and a [`Kind`]; the same name is the same case on every
//! machine. Operators are drawn from what they mean (a range, a new shape, an order of axes) and
//! then spelled in one of the ways that mean it: from either end, by masks, by sentinels, by -1.
//! Index tensors hold values that suit the gather that reads them, or values at and beyond the
//! borders, as the gather's policy allows; a few of those that may fail do.

mod data;
mod edit;
mod gathers;
mod pads;
mod perturb;
mod shapes;
mod slices;
mod views;

pub use data::buffer;
pub use edit::{inputs_first, renamed};
pub use restride_loops::Random;

use restride_graph::oracle::{Tensor, TensorError};
use restride_graph::{Graph, Op, PadMode, Sample, TensorType, ValueId, ViewPolicy};

/// What sort of graph a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Any operators, several inputs and outputs.
    Family,
    /// One input, views only, one after the other.
    Views,
    /// A chain of views with one gather in it.
    OneGather,
    /// As [`Kind::Family`], where some operators are nearly right: what inference refuses the
    /// definition must refuse, and what it accepts must run.
    Nearly,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] = [Kind::Family, Kind::Views, Kind::OneGather, Kind::Nearly];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Family => "family",
            Kind::Views => "views",
            Kind::OneGather => "one-gather",
            Kind::Nearly => "nearly",
        }
    }

    /// The kind of the n-th case of a mixed run.
    #[must_use]
    pub fn of_number(number: u64) -> Kind {
        match number % 10 {
            0..6 => Kind::Family,
            6 | 7 => Kind::Views,
            8 => Kind::OneGather,
            _ => Kind::Nearly,
        }
    }
}

/// A graph and what its inputs hold.
#[derive(Clone, Debug)]
pub struct Case {
    /// The graph.
    pub graph: Graph,
    /// One sample per input.
    pub inputs: Vec<Sample>,
    /// Operators on values of the graph that its inference has refused.
    pub refused: Vec<Op>,
}

impl Case {
    /// The buffers of the inputs.
    #[must_use]
    pub fn buffers(&self) -> Vec<Vec<u8>> {
        let inputs = self.graph.inputs().iter().zip(&self.inputs);
        inputs
            .map(|(&input, sample)| buffer(sample, self.graph.ty(input)))
            .collect()
    }

    /// The inputs, dense.
    pub fn tensors(&self) -> Result<Vec<Tensor>, TensorError> {
        let buffers = self.buffers();
        let inputs = self.graph.inputs().iter().zip(&buffers);
        inputs
            .map(|(&input, buffer)| Tensor::read(self.graph.ty(input), buffer))
            .collect()
    }
}

/// Draws a case.
#[must_use]
pub fn case(seed: u64, number: u64, kind: Kind, max_ops: usize) -> Case {
    let mut draw = Draw::new(Random::of_case(seed, number));
    match kind {
        Kind::Family => draw.family(max_ops, false),
        Kind::Nearly => draw.family(max_ops, true),
        Kind::Views => draw.chain(max_ops, None),
        Kind::OneGather => {
            let gather_at = draw.random.below(max_ops.max(1));
            draw.chain(max_ops, Some(gather_at));
        }
    }
    draw.finish()
}

/// What is known of the numbers in a value: each is in `0..limit`, or in `-limit..limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IndexBound {
    limit: i64,
    negative: bool,
}

/// A value that operators may go on from.
#[derive(Clone, Copy)]
struct KnownValue {
    value: ValueId,
    bound: Option<IndexBound>,
}

/// A case in the making.
struct Draw {
    random: Random,
    graph: Graph,
    samples: Vec<Sample>,
    pool: Vec<KnownValue>,
    refused: Vec<Op>,
}

impl Draw {
    fn new(random: Random) -> Draw {
        Draw {
            random,
            graph: Graph::new("case"),
            samples: Vec::new(),
            pool: Vec::new(),
            refused: Vec::new(),
        }
    }

    fn shape(&self, value: ValueId) -> Vec<i64> {
        self.graph.ty(value).shape().to_vec()
    }

    fn push(&mut self, op: Op) -> Option<ValueId> {
        self.graph.push(op).ok()
    }

    fn input(&mut self, letter: &str, ty: TensorType, sample: Sample) -> Option<ValueId> {
        let name = format!("{letter}{}", self.samples.len());
        let value = self.graph.typed_input(&name, ty).ok()?;
        self.samples.push(sample);
        Some(value)
    }

    /// Puts a value among those that operators go on from, unless it is too big.
    fn know(&mut self, value: ValueId, bound: Option<IndexBound>) {
        if self.is_small(value) {
            self.pool.push(KnownValue { value, bound });
        }
    }

    /// Whether operators may go on from a value. One without elements may still have a huge axis,
    /// which a batched gather would take over.
    fn is_small(&self, value: ValueId) -> bool {
        let ty = self.graph.ty(value);
        let elements = |size: &i64| i128::from(*size).max(1);
        ty.rank() <= shapes::MAX_RANK
            && ty.shape().iter().map(elements).product::<i128>() <= i128::from(shapes::MAX_ELEMENTS)
    }

    /// What is known of an operator's result.
    fn bound(&self, op: &Op) -> Option<IndexBound> {
        if matches!(
            op,
            Op::Pad {
                mode: PadMode::Constant(1..),
                ..
            }
        ) {
            return None;
        }
        let of = |value: &ValueId| self.pool.iter().find(|known| known.value == *value)?.bound;
        let operands = op.operands();
        let data = match op {
            Op::Concat { .. } => operands.as_slice(),
            Op::DynamicUpdateSlice { .. } => operands.get(..2)?,
            _ => operands.get(..1)?,
        };
        let first = of(data.first()?)?;
        data.iter()
            .all(|value| of(value) == Some(first))
            .then_some(first)
    }

    fn family(&mut self, max_ops: usize, nearly: bool) {
        let inputs = self.random.pick(&[1, 1, 1, 2, 2, 3]);
        let mut previous: Option<TensorType> = None;
        for k in 0..inputs {
            let random = &mut self.random;
            // Now and then alike, so that they can be joined.
            let ty = match previous {
                Some(ty) if random.percent(50) => ty,
                _ => {
                    let element = shapes::element(random);
                    let shape = shapes::shape(random, 400);
                    TensorType::dense(element, shape).unwrap_or_else(|_| unreachable_type())
                }
            };
            previous = Some(ty.clone());
            let ty = shapes::input_layout(&mut self.random, ty);
            if let Some(value) = self.input("x", ty, Sample::Labels(k)) {
                self.know(value, None);
            }
        }
        let ops = 1 + self.random.below(max_ops.max(1));
        for _ in 0..ops {
            self.grow(nearly);
        }
        self.hand_out();
    }

    /// Adds one operator, or gives up after a few refusals.
    fn grow(&mut self, nearly: bool) {
        for _ in 0..6 {
            let Some(x) = self.operand() else { return };
            let Some(mut op) = self.any_op(x) else {
                continue;
            };
            let perturbed = nearly && self.random.percent(40);
            if perturbed {
                perturb::perturb(&mut self.random, &mut op);
            }
            let bound = if perturbed { None } else { self.bound(&op) };
            match self.graph.push(op.clone()) {
                Ok(value) => {
                    // Far too big to run: leave it dead.
                    self.know(value, bound);
                    return;
                }
                Err(_) => self.refused.push(op),
            }
        }
    }

    /// A value to go on from: the last ones more often.
    fn operand(&mut self) -> Option<ValueId> {
        let count = self.pool.len();
        if count == 0 {
            return None;
        }
        let at = match self.random.percent(60) {
            true => count - 1,
            false => self.random.below(count),
        };
        Some(self.pool[at].value)
    }

    fn any_op(&mut self, x: ValueId) -> Option<Op> {
        let shape = self.shape(x);
        let element = self.graph.ty(x).element();
        match self.random.below(100) {
            0..45 => self.view(x),
            45..62 if !shape.is_empty() => self.indexed(x),
            62..72 => self.concat(x),
            _ => match pads::any(&mut self.random, x, &shape, element) {
                Some(op) => Some(op),
                None => self.view(x),
            },
        }
    }

    /// An operator that only renames places.
    fn view(&mut self, x: ValueId) -> Option<Op> {
        let shape = self.shape(x);
        let rank = shape.len();
        let small = shape.iter().product::<i64>() <= 400;
        let random = &mut self.random;
        Some(match random.below(100) {
            0..20 => slices::strided_slice(random, x, &shape, true),
            20..30 if rank > 0 => slices::slice(random, x, &shape),
            30..52 => views::reshape(random, x, &shape),
            52..68 => views::transpose(random, x, rank),
            68..72 => views::squeeze(random, x, &shape),
            72..76 => views::unsqueeze(random, x, rank),
            76..79 => views::flatten(random, x, rank),
            79..86 if small => views::broadcast(random, x, &shape),
            86..91 => views::reverse(random, x, rank),
            91..94 if rank > 0 => slices::split(random, x, &shape),
            94..98 if rank > 0 => views::blocks(random, x, &shape),
            98 => Op::Identity { x },
            _ => views::transpose(random, x, rank),
        })
    }

    /// The operand beside others of the same element and sizes, made to fit if need be.
    fn concat(&mut self, x: ValueId) -> Option<Op> {
        let ty = self.graph.ty(x).clone().without_layout();
        let rank = ty.rank();
        if rank == 0 || ty.numel() > 500 {
            return None;
        }
        let axis = self.random.below(rank);
        let like = |known: &&KnownValue| {
            let other = self.graph.ty(known.value);
            other.element() == ty.element()
                && other.rank() == rank
                && (0..rank).all(|k| k == axis || other.shape()[k] == ty.shape()[k])
        };
        let alike: Vec<ValueId> = self
            .pool
            .iter()
            .filter(like)
            .map(|known| known.value)
            .collect();
        let mut parts = restride_graph::Operands::new();
        let count = self.random.pick(&[1, 2, 2, 2, 3, 3, 4]);
        for _ in 0..count {
            parts.push(if alike.is_empty() {
                x
            } else {
                self.random.pick(&alike)
            });
        }
        let at = self.random.below(parts.len());
        parts[at] = x;
        let axis = self.random.spelled_axis(axis, rank);
        Some(Op::Concat { parts, axis })
    }

    /// One input and views of views; with a gather at one place if asked.
    fn chain(&mut self, max_ops: usize, gather_at: Option<usize>) {
        let element = shapes::element(&mut self.random);
        let shape = shapes::solid_shape(&mut self.random, 800);
        let Ok(ty) = TensorType::dense(element, shape) else {
            return;
        };
        let Some(mut x) = self.input("x", ty, Sample::Labels(0)) else {
            return;
        };
        self.know(x, None);
        let ops = 1 + self.random.below(max_ops.max(1));
        let gather_at = gather_at.map(|at| at % ops);
        for at in 0..ops {
            for _ in 0..8 {
                let op = match gather_at == Some(at) {
                    true if !self.shape(x).is_empty() => self.gather(x),
                    true => Some(views::unsqueeze(&mut self.random, x, 0)),
                    false => self.view(x),
                };
                let Some(op) = op else { continue };
                let gathered = matches!(op, Op::Gather { .. });
                match self.graph.push(op) {
                    Ok(value) if self.fits(value) => {
                        x = value;
                        if gathered || gather_at != Some(at) {
                            break;
                        }
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        }
        let _ = self.graph.output(x);
    }

    /// Whether a chain may go on from here: neither huge nor without elements, mostly.
    fn fits(&mut self, value: ValueId) -> bool {
        let empty = self.graph.ty(value).numel() == 0;
        self.is_small(value) && (!empty || self.random.percent(3))
    }

    /// Chooses what goes out, and how it is to lie.
    fn hand_out(&mut self) {
        let outputs = self.random.pick(&[1, 1, 1, 2, 2, 3, 4]);
        for k in 0..outputs {
            let value = match (k, self.pool.last()) {
                (0, Some(last)) if self.random.percent(85) => last.value,
                _ => match self.operand() {
                    Some(value) => value,
                    None => return,
                },
            };
            let ty = self.graph.ty(value).clone().without_layout();
            let strided = self.random.percent(25) && ty.numel() > 0 && {
                let layout = shapes::output_layout(&mut self.random, &ty);
                self.graph.strided_output(value, layout).is_ok()
            };
            if !strided {
                let views = match self.random.percent(80) {
                    true => ViewPolicy::Any,
                    false => self.random.pick(&ViewPolicy::ALL),
                };
                let _ = self.graph.output_as(value, views);
            }
        }
    }

    fn finish(self) -> Case {
        // Every value was accepted once and is again, in an order that keeps operands before users.
        let (graph, names) = inputs_first(&self.graph).unwrap_or_else(|_| {
            let names = self.graph.values().collect();
            (self.graph.clone(), names)
        });
        let refused = self.refused.iter();
        Case {
            refused: refused
                .map(|op| renamed(op, |value| names[value.index()]))
                .collect(),
            graph,
            inputs: self.samples,
        }
    }
}

/// A type that needs no checks; drawn shapes are always small enough.
fn unreachable_type() -> TensorType {
    match TensorType::dense(restride_graph::ElementType::U8, []) {
        Ok(ty) => ty,
        Err(_) => unreachable!("a scalar is a type"),
    }
}
