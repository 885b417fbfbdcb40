//! Operators with shapes of their own.

use restride_graph::ElementType;

use super::{Ask, Rules, Types, Why, axis, dense, element_of, one};
use crate::spell::Attribute;

pub(super) const RULES: Rules = &[
    ("Resize Upsample", resize),
    ("Interpolate", interpolate),
    ("LSTM GRU RNN DynamicQuantizeLSTM", recurrent),
    ("LSTMSequence GRUSequence", sequence),
    ("TopK", top_k),
    ("OneHot", one_hot),
    ("EyeLike", eye_like),
    ("RandomNormal RandomUniform", random),
    ("RandomNormalLike RandomUniformLike", random_like),
    ("Range", range),
    ("SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss", loss),
    ("Det", |ask| {
        let x = ask.input(0)?;
        let rank = x.rank().checked_sub(2).ok_or("it is no matrix")?;
        one(dense(x.element(), &x.shape()[..rank])?)
    }),
    ("CausalConvWithState", causal),
    ("EmbedLayerNormalization", embedded),
    ("Shape ShapeOf Size", unknown_shape),
    ("ConstantOfShape", |ask| {
        ask.numbers(0)?;
        Err("its shape is no list of sizes".into())
    }),
    ("NonZero", |_| {
        Err("how many elements are not 0 is known only when it runs".into())
    }),
    ("NonMaxSuppression", |_| {
        Err("how many boxes are left is known only when it runs".into())
    }),
    ("Unique", |_| {
        Err("how many differ is known only when it runs".into())
    }),
];

/// Sizes, or scales to multiply the sizes with; the inputs moved between the versions.
fn resize(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let rank = x.rank();
    let axes: Vec<usize> = match ask.ints("axes") {
        Some(axes) => axes
            .into_iter()
            .map(|a| axis(a, rank))
            .collect::<Result<_, _>>()?,
        None => (0..rank).collect(),
    };
    let mut shape = x.shape().to_vec();
    let given = |at: usize| {
        ask.tensor(at)
            .filter(|t| t.ty.as_ref().is_ok_and(|ty| ty.numel() > 0))
    };
    if given(3).is_some() {
        let sizes = ask.numbers(3)?;
        if sizes.len() != axes.len() {
            return Err(Why::Here(format!(
                "{} sizes for {} axes",
                sizes.len(),
                axes.len()
            )));
        }
        let scale = |(&a, &size): (&usize, &i64)| size as f64 / x.shape()[a].max(1) as f64;
        let scales = axes.iter().zip(&sizes).map(scale);
        match ask.word("keep_aspect_ratio_policy").unwrap_or("stretch") {
            "stretch" => axes
                .iter()
                .zip(&sizes)
                .for_each(|(&a, &size)| shape[a] = size),
            policy => {
                let scale = match policy {
                    "not_larger" => scales.fold(f64::INFINITY, f64::min),
                    _ => scales.fold(0.0, f64::max),
                };
                for &a in &axes {
                    shape[a] = (scale * x.shape()[a] as f64).round() as i64;
                }
            }
        }
        return one(dense(x.element(), shape)?);
    }
    let at = if given(2).is_some() { 2 } else { 1 };
    let scales = match (ask.attributes.get("scales"), ask.tensor(at)) {
        (Some(Attribute::Floats(scales)), _) => scales.clone(),
        (_, Some(_)) => reals(ask, at)?,
        _ => return Err("it has neither sizes nor scales".into()),
    };
    if scales.len() != axes.len() {
        return Err(Why::Here(format!(
            "{} scales for {} axes",
            scales.len(),
            axes.len()
        )));
    }
    for (&a, scale) in axes.iter().zip(scales) {
        shape[a] = (x.shape()[a] as f64 * scale).floor() as i64;
    }
    one(dense(x.element(), shape)?)
}

/// The floats of an input that has to be known by now.
fn reals(ask: &Ask<'_>, at: usize) -> Result<Vec<f64>, Why> {
    ask.input(at)?;
    let value = ask.tensor(at).and_then(|tensor| tensor.value.as_ref());
    let value = value.ok_or("its scales are known only when it runs")?;
    let element = value.ty().element();
    let number = |at| crate::number::decode(element, value.bits(at)?);
    let numbers: Option<Vec<f64>> = (0..value.ty().numel()).map(number).collect();
    Ok(numbers.ok_or("scales that are no floats")?)
}

/// OpenVINO: sizes, or scales, for the axes of the last input.
fn interpolate(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let by_scales = ask.word("shape_calculation_mode") == Some("scales");
    let (scales, last) = if ask.version >= 11 { (1, 2) } else { (2, 3) };
    let axes = match (ask.tensor(last), ask.ints("axes")) {
        (Some(_), _) => ask.numbers(last)?,
        (None, Some(axes)) => axes,
        (None, None) => (0..x.rank() as i64).collect(),
    };
    let pads = |name: &str, axis: usize| {
        let pads = ask.ints(name).unwrap_or_default();
        pads.get(axis).copied().unwrap_or(0)
    };
    let mut shape = x.shape().to_vec();
    for (axis, size) in shape.iter_mut().enumerate() {
        let rim = pads("pads_begin", axis).saturating_add(pads("pads_end", axis));
        *size = size.saturating_add(rim);
    }
    let sizes = match by_scales {
        true => {
            let scales = reals(ask, scales)?;
            let scaled = axes
                .iter()
                .zip(scales)
                .map(|(&a, scale)| Ok((shape[axis(a, x.rank())?] as f64 * scale).floor() as i64));
            scaled.collect::<Result<Vec<i64>, Why>>()?
        }
        false => ask.numbers(1)?,
    };
    for (&a, &size) in axes.iter().zip(&sizes) {
        shape[axis(a, x.rank())?] = size;
    }
    one(dense(x.element(), shape)?)
}

/// `[length, directions, batch, hidden]`, then the last states.
fn recurrent(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let (&[first, second, _], hidden) = (
        <&[i64; 3]>::try_from(x.shape()).map_err(|_| "its input has not three axes")?,
        ask.int("hidden_size", 0),
    );
    let hidden = match hidden {
        0 => ask.input(2)?.shape().last().copied().unwrap_or(0),
        hidden => hidden,
    };
    let directions = match ask.word("direction") {
        Some("bidirectional") => 2,
        _ => 1,
    };
    let e = x.element();
    let (all, last) = match ask.int("layout", 0) {
        0 => (
            dense(e, [first, directions, second, hidden])?,
            dense(e, [directions, second, hidden])?,
        ),
        _ => (
            dense(e, [first, second, directions, hidden])?,
            dense(e, [first, directions, hidden])?,
        ),
    };
    Ok(vec![Some(all), Some(last.clone()), Some(last)])
}

/// OpenVINO: `[batch, directions, length, hidden]`, then the last states.
fn sequence(ask: &Ask<'_>) -> Result<Types, Why> {
    let (x, state) = (ask.input(0)?, ask.input(1)?);
    let (&[batch, length, _], &[_, directions, hidden]) = (
        <&[i64; 3]>::try_from(x.shape()).map_err(|_| "its input has not three axes")?,
        <&[i64; 3]>::try_from(state.shape()).map_err(|_| "its state has not three axes")?,
    );
    let all = dense(x.element(), [batch, directions, length, hidden])?;
    Ok(vec![Some(all), Some(state.clone()), Some(state.clone())])
}

fn top_k(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let count = match ask.attributes.get("k") {
        Some(Attribute::Int(count)) => *count,
        _ => *ask.numbers(1)?.first().ok_or("it says no count")?,
    };
    let mut shape = x.shape().to_vec();
    shape[axis(ask.int("axis", -1), x.rank())?] = count;
    Ok(vec![
        Some(dense(x.element(), &shape)?),
        Some(dense(ElementType::I64, shape)?),
    ])
}

fn one_hot(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?.shape();
    let depth = *ask.numbers(1)?.first().ok_or("it says no depth")?;
    let mut shape = x.to_vec();
    shape.insert(axis(ask.int("axis", -1), x.len() + 1)?, depth);
    one(dense(ask.input(2)?.element(), shape)?)
}

fn eye_like(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    one(dense(element_of(ask).unwrap_or(x.element()), x.shape())?)
}

fn random(ask: &Ask<'_>) -> Result<Types, Why> {
    let shape = ask.ints("shape").ok_or("it says no shape")?;
    one(dense(element_of(ask).unwrap_or(ElementType::F32), shape)?)
}

fn random_like(ask: &Ask<'_>) -> Result<Types, Why> {
    eye_like(ask)
}

/// Nothing is known of a shape only if it is not known of the operand.
fn unknown_shape(ask: &Ask<'_>) -> Result<Types, Why> {
    ask.input(0)?;
    Err("its attributes are not understood".into())
}

/// A range whose length is not known by now; one that is, is a value.
fn range(ask: &Ask<'_>) -> Result<Types, Why> {
    ask.input(0)?;
    Err("its length is known only when it runs".into())
}

/// A number, or one for each label; then the logarithms.
fn loss(ask: &Ask<'_>) -> Result<Types, Why> {
    let (x, labels) = (ask.input(0)?, ask.input(1)?);
    let loss = match ask.word("reduction").unwrap_or("mean") {
        "none" => dense(x.element(), labels.shape())?,
        _ => dense(x.element(), [])?,
    };
    Ok(vec![Some(loss), Some(x.clone())])
}

/// Like the input, and what the window still reaches of it.
fn causal(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let window = ask.input(1)?.shape().last().copied().unwrap_or(1);
    let (Some(&batch), Some(&channels)) = (x.shape().first(), x.shape().get(1)) else {
        return Err("it has no channels".into());
    };
    Ok(vec![
        Some(x.clone()),
        Some(dense(x.element(), [batch, channels, window - 1])?),
    ])
}

/// ONNX Runtime's: rows of a table for numbers of words.
fn embedded(ask: &Ask<'_>) -> Result<Types, Why> {
    let (words, table) = (ask.input(0)?, ask.input(2)?);
    let mut shape = words.shape().to_vec();
    shape.extend(table.shape().last());
    let mut types: Types = vec![Some(dense(table.element(), shape)?)];
    types.resize(ask.outputs.max(1), None);
    Ok(types)
}
