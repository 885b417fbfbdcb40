//! The program of a template for each of its values, with what its inputs hold.

use restride::InputShape;
use restride_graph::{Graph, TensorType};

use super::super::program::made_up;
use super::templates::Varied;
use crate::data::inputs::make;
use crate::failure::Failure;
use crate::signature::Signature;
use crate::source::Input;
use crate::stages::AnyProgram;

/// A program with sizes.
pub(super) struct Sample {
    pub(super) graph: Graph,
    inputs: Vec<SampleInput>,
}

struct SampleInput {
    ty: TensorType,
    /// What it holds, if it indexes; others may hold anything.
    indices: Option<Vec<u8>>,
}

impl SampleInput {
    fn bytes(&self) -> usize {
        self.ty.required_elements() * self.ty.element().width()
    }
}

impl Sample {
    fn of(input: &Input) -> Result<Self, Failure> {
        let program = AnyProgram::parse(input)?;
        let signature = Signature::of(&program)?;
        let AnyProgram::Graph(graph) = program else {
            let message = format!("templates are graphs; this is a {}", program.stage());
            return Err(Failure::Usage(message));
        };
        let inputs = signature.inputs.into_iter().map(|slot| {
            let indices = match slot.limit {
                Some(_) => Some(make(&made_up(&slot), &slot)?.into_bytes()),
                None => None,
            };
            let ty = slot.ty;
            Ok(SampleInput { ty, indices })
        });
        Ok(Self {
            inputs: inputs.collect::<Result<_, Failure>>()?,
            graph,
        })
    }

    /// The shapes of its inputs.
    pub(super) fn shapes(&self) -> Vec<InputShape<'_>> {
        let types = self.inputs.iter().map(|it| &it.ty);
        types.map(InputShape::of_type).collect()
    }

    /// The bytes of its largest input.
    pub(super) fn largest_input(&self) -> usize {
        let sizes = self.inputs.iter().map(SampleInput::bytes);
        sizes.max().unwrap_or(0)
    }

    /// The bytes of its inputs; `data` serves all that may hold anything.
    pub(super) fn inputs<'a>(&'a self, data: &'a [u8]) -> Vec<&'a [u8]> {
        let bytes = |it: &'a SampleInput| match &it.indices {
            Some(indices) => indices.as_slice(),
            None => &data[..it.bytes()],
        };
        self.inputs.iter().map(bytes).collect()
    }
}

/// All of a template, in order.
pub(super) fn samples(varied: &Varied) -> Result<Vec<Sample>, Failure> {
    let text = |n| Input::named(&varied.name, varied.at(n));
    (0..varied.count()).map(|n| Sample::of(&text(n))).collect()
}
