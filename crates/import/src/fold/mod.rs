//! Arithmetic on values that are known: that of shapes, mostly.
//!
//! What is worked out here is small: a value of more elements than the builder keeps is not a value.

mod numbers;
mod operators;

use restride_graph::{ElementType, TensorType};

use crate::builder::{Fact, MAX_VALUE};
use crate::rules::Ask;
use crate::spell::Attribute;
use numbers::Numbers;

/// What a node makes, if that follows from sizes and known values; or why it cannot be.
pub(crate) fn fold(ask: &Ask<'_>) -> Option<Result<Fact, String>> {
    if !ask.own {
        return None;
    }
    match ask.op {
        "Shape" | "ShapeOf" => shape(ask),
        "Size" => {
            let count = ask.ty(0)?.numel() as i64;
            Some(fact(
                Numbers::ints(ElementType::I64, &[], vec![count]),
                true,
            ))
        }
        "ConstantOfShape" => constant_of_shape(ask),
        _ => {
            let fixed = ask.inputs.iter().flatten().all(|tensor| tensor.fixed);
            let inputs = ask.inputs.iter().map(|tensor| match tensor {
                None => Some(None),
                Some(tensor) => Numbers::of(tensor.value.as_ref()?).map(Some),
            });
            let inputs: Vec<Option<Numbers>> = inputs.collect::<Option<_>>()?;
            if inputs.is_empty() || ask.outputs != 1 {
                return None;
            }
            let done = operators::apply(ask, &inputs)?;
            Some(fact(done, fixed))
        }
    }
}

/// A value as a fact.
fn fact(numbers: Numbers, fixed: bool) -> Result<Fact, String> {
    let value = numbers.constant()?;
    Ok(Fact {
        ty: Ok(value.ty().clone()),
        value: Some(value),
        fixed,
    })
}

/// The sizes of the operand, or from version 15 on a part of them.
fn shape(ask: &Ask<'_>) -> Option<Result<Fact, String>> {
    let sizes = ask.ty(0)?.shape();
    let rank = sizes.len() as i64;
    let bound = |name: &str, default: i64| {
        let bound = ask
            .attributes
            .get(name)
            .map_or(Some(default), |value| match value {
                Attribute::Int(bound) => Some(*bound),
                _ => None,
            })?;
        let bound = if bound < 0 {
            bound.saturating_add(rank)
        } else {
            bound
        };
        Some(bound.clamp(0, rank) as usize)
    };
    let (start, end) = (bound("start", 0)?, bound("end", rank)?);
    let part = sizes.get(start..end.max(start))?.to_vec();
    let element = match ask.attributes.get("output_type") {
        Some(Attribute::Word(word)) if word == "i32" => ElementType::I32,
        _ => ElementType::I64,
    };
    let count = part.len() as i64;
    Some(fact(Numbers::ints(element, &[count], part), true))
}

/// One number everywhere. The type is known although the value may be too large to keep.
fn constant_of_shape(ask: &Ask<'_>) -> Option<Result<Fact, String>> {
    let sizes = crate::spell::integers(ask.inputs.first()?.as_ref()?.value.as_ref()?)?;
    let (element, bits) = match ask.attributes.get("value") {
        Some(Attribute::Tensor(value)) => (value.ty().element(), value.bits(0)?),
        _ => (ElementType::F32, 0),
    };
    let ty = match TensorType::dense(element, &sizes) {
        Ok(ty) => ty,
        Err(error) => return Some(Err(error.to_string())),
    };
    let fixed = ask.inputs.iter().flatten().all(|tensor| tensor.fixed);
    let mut value = None;
    if ty.numel() <= MAX_VALUE {
        let one = bits.to_le_bytes();
        let bytes = one[..element.width()].repeat(ty.numel());
        value = restride_graph::Constant::new(ty.clone(), bytes).ok();
    }
    Some(Ok(Fact {
        ty: Ok(ty),
        value,
        fixed,
    }))
}
