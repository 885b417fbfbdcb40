//! The types of what compute operators make: just what somebody needs who wants to know how large
//! the tensors between them are. What is not known here is taken from the types that a file
//! records, or stays unknown.

mod attention;
mod elementwise;
mod linear;
mod others;
mod reduce;
mod signal;
mod windows;

use restride_graph::{ElementType, TensorType};

pub(crate) use elementwise::broadcast;
pub(crate) use reduce::reduced;

use crate::model::{Tensor, Unknown};
use crate::spell::{Attribute, Attributes, Framework};

/// A call whose types are asked for.
pub(crate) struct Ask<'a> {
    pub(crate) framework: Framework,
    pub(crate) op: &'a str,
    /// Whether it is one of the framework's own operators.
    pub(crate) own: bool,
    pub(crate) version: i64,
    pub(crate) attributes: &'a Attributes,
    pub(crate) inputs: &'a [Option<&'a Tensor>],
    pub(crate) outputs: usize,
}

/// Why there is no type.
pub(crate) enum Why {
    /// That of an input is not known.
    Input(Unknown),
    /// Something about the call.
    Here(String),
}

impl From<&str> for Why {
    fn from(why: &str) -> Why {
        Why::Here(why.to_owned())
    }
}

/// One type an output; none where it is not told.
type Types = Vec<Option<TensorType>>;

/// A rule for some operators.
/// Names of operators, `*` for any end of one, and what says the types that these make.
type Rules = &'static [(&'static str, fn(&Ask<'_>) -> Result<Types, Why>)];

const RULES: [Rules; 7] = [
    attention::RULES,
    elementwise::RULES,
    signal::RULES,
    windows::RULES,
    linear::RULES,
    reduce::RULES,
    others::RULES,
];

/// Whether an operator makes something else each time.
pub(crate) fn is_random(op: &str) -> bool {
    op.starts_with("Random") || matches!(op, "Multinomial" | "Bernoulli")
}

/// The types of the outputs.
pub(crate) fn infer(ask: &Ask<'_>) -> Result<Types, Why> {
    let is_meant = |name: &str| match name.strip_suffix('*') {
        Some(start) => ask.op.starts_with(start),
        None => ask.op == name,
    };
    let mut rules = RULES.into_iter().flatten();
    match rules.find(|(names, _)| names.split(' ').any(is_meant)) {
        Some((_, rule)) => rule(ask),
        None => {
            // What is said of its inputs is of more use than that it is a stranger.
            for at in (0..ask.inputs.len()).filter(|&at| ask.inputs[at].is_some()) {
                ask.input(at)?;
            }
            Err("it is not known here".into())
        }
    }
}

impl<'a> Ask<'a> {
    /// The type of an input, if it is there and known.
    pub(crate) fn ty(&self, at: usize) -> Option<&'a TensorType> {
        self.tensor(at)?.ty.as_ref().ok()
    }

    /// An input, if it is there.
    pub(crate) fn tensor(&self, at: usize) -> Option<&'a Tensor> {
        *self.inputs.get(at)?
    }

    /// The type of an input that has to be there.
    fn input(&self, at: usize) -> Result<&'a TensorType, Why> {
        match self.tensor(at).map(|tensor| &tensor.ty) {
            Some(Ok(ty)) => Ok(ty),
            Some(Err(why)) => Err(Why::Input(why.clone())),
            None => Err(Why::Here(format!("input {at} is missing"))),
        }
    }

    /// The numbers of an input that has to be known by now.
    fn numbers(&self, at: usize) -> Result<Vec<i64>, Why> {
        let Some(tensor) = self.tensor(at) else {
            return Err(Why::Here(format!("input {at} is missing")));
        };
        if let Err(why) = &tensor.ty {
            return Err(Why::Input(why.clone()));
        }
        let numbers = tensor.value.as_ref().and_then(crate::spell::integers);
        numbers.ok_or_else(|| {
            Why::Here(format!(
                "what its input {at} holds is known only when it runs"
            ))
        })
    }

    /// A whole-number attribute.
    pub(crate) fn int(&self, name: &str, default: i64) -> i64 {
        match self.attributes.get(name) {
            Some(Attribute::Int(value)) => *value,
            _ => default,
        }
    }

    /// A list attribute.
    pub(crate) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        match self.attributes.get(name)? {
            Attribute::Ints(list) => Some(list.clone()),
            Attribute::Int(one) => Some(vec![*one]),
            _ => None,
        }
    }

    /// A word attribute.
    pub(crate) fn word(&self, name: &str) -> Option<&'a str> {
        match self.attributes.get(name)? {
            Attribute::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// A type, checked.
fn dense(element: ElementType, shape: impl AsRef<[i64]>) -> Result<TensorType, Why> {
    TensorType::dense(element, shape).map_err(|error| Why::Here(error.to_string()))
}

/// One output of this type.
fn one(ty: TensorType) -> Result<Types, Why> {
    Ok(vec![Some(ty)])
}

/// An axis as a position.
fn axis(axis: i64, rank: usize) -> Result<usize, Why> {
    let rank = rank as i64;
    match axis {
        axis if (0..rank).contains(&axis) => Ok(axis as usize),
        axis if (-rank..0).contains(&axis) => Ok((axis + rank) as usize),
        axis => Err(Why::Here(format!("{axis} is no axis of rank {rank}"))),
    }
}

/// The element that an attribute of a cast names: by ONNX's number or by OpenVINO's word.
pub(crate) fn element_of(ask: &Ask<'_>) -> Option<ElementType> {
    let named = |name: &str| ask.attributes.get(name);
    let found = [
        "to",
        "dtype",
        "destination_type",
        "output_dtype",
        "output_type",
    ]
    .into_iter()
    .find_map(named)?;
    match found {
        Attribute::Int(number) => crate::onnx::element(*number).ok(),
        Attribute::Word(word) => crate::openvino::element(word).ok(),
        _ => None,
    }
}
