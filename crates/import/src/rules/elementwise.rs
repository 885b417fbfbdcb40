//! Operators that work element by element, and others whose result has the type of an operand.

use restride_graph::ElementType;

use super::{Ask, Rules, Types, Why, axis, dense, element_of, one};

/// The shape that two broadcast to.
pub(crate) fn broadcast(x: &[i64], y: &[i64]) -> Option<Vec<i64>> {
    let rank = x.len().max(y.len());
    let size = |shape: &[i64], axis: usize| match (axis + shape.len()).checked_sub(rank) {
        Some(at) => shape[at],
        None => 1,
    };
    (0..rank)
        .map(|axis| match (size(x, axis), size(y, axis)) {
            (a, b) if a == b => Some(a),
            (1, b) => Some(b),
            (a, 1) => Some(a),
            _ => None,
        })
        .collect()
}

pub(super) const RULES: Rules = &[
    (
        "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Ceiling Celu Clip Clamp Cos \
         Cosh CumSum CumProd Elu Erf Exp Floor Gelu FastGelu QuickGelu BiasGelu HSigmoid \
         HSwish HardSigmoid HardSwish Hardmax LRN LeakyRelu Log LogSoftmax LpNormalization \
         MVN MeanVarianceNormalization Mish Neg Negative NormalizeL2 PRelu PReLU ReLU \
         RMSNormalization RMS Reciprocal Relu RotaryEmbedding Round ScatterElements ScatterND \
         Scatter ScatterElementsUpdate ScatterNDUpdate ScatterUpdate Selu Shrink Sigmoid Sign \
         Sin Sinh SoftMax SoftPlus Softmax Softplus SoftSign Softsign Sqrt Swish Tan Tanh \
         TensorScatter ThresholdedRelu Trilu InstanceNormalization GroupNormalization \
         FakeQuantize SwiGLU QLinearSigmoid QLinearLeakyRelu QLinearSoftmax ReverseSequence \
         Identity",
        same,
    ),
    ("BatchNormalization", batch_normalised),
    ("LayerNormalization", layer_normalised),
    (
        "SimplifiedLayerNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization",
        normalised,
    ),
    ("Dropout", dropout),
    (
        "Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Divide FloorMod LogicalAnd \
         LogicalOr LogicalXor Max Maximum Mean Min Minimum Mod Mul Multiply Or Pow Power \
         SquaredDifference Sub Subtract Sum Xor",
        together,
    ),
    (
        "Equal NotEqual Less LessEqual LessOrEqual Greater GreaterEqual GreaterOrEqual",
        compared,
    ),
    ("IsNaN IsInf Not LogicalNot", flags),
    ("Where Select", chosen),
    ("Cast Convert BitCast", cast),
    ("Bernoulli", |ask| {
        let x = ask.input(0)?;
        one(dense(element_of(ask).unwrap_or(x.element()), x.shape())?)
    }),
    ("QLinearAdd QLinearMul", |ask| {
        let (x, y) = (ask.input(0)?, ask.input(3)?);
        let shape = broadcast(x.shape(), y.shape()).ok_or("its operands do not broadcast")?;
        one(dense(x.element(), shape)?)
    }),
    ("CastLike ConvertLike", cast_like),
    ("QuantizeLinear", quantized),
    ("DequantizeLinear", dequantized),
    ("DynamicQuantizeLinear", dynamically_quantized),
];

fn same(ask: &Ask<'_>) -> Result<Types, Why> {
    one(ask.input(0)?.clone())
}

/// The first output is like the input; mean and deviation, where they are asked for, are not told.
fn normalised(ask: &Ask<'_>) -> Result<Types, Why> {
    let mut types: Types = vec![Some(ask.input(0)?.clone())];
    types.resize(ask.outputs.max(1), None);
    Ok(types)
}

/// The input normalised, then means and variances, which have the type of those that come in.
fn batch_normalised(ask: &Ask<'_>) -> Result<Types, Why> {
    let mut types: Types = vec![Some(ask.input(0)?.clone())];
    for at in 1..ask.outputs {
        types.push(Some(ask.input(if at % 2 == 1 { 3 } else { 4 })?.clone()));
    }
    Ok(types)
}

/// The input normalised, then mean and deviation of what is normalised together.
fn layer_normalised(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let from = axis(ask.int("axis", -1), x.rank())?;
    let mut shape = x.shape().to_vec();
    shape[from..].fill(1);
    let element = crate::onnx::element(ask.int("stash_type", 1)).map_err(Why::Here)?;
    let rest = dense(element, shape)?;
    Ok(vec![Some(x.clone()), Some(rest.clone()), Some(rest)])
}

fn dropout(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let mask = match ask.version {
        ..10 => x.element(),
        _ => ElementType::Bool,
    };
    Ok(vec![Some(x.clone()), Some(dense(mask, x.shape())?)])
}

/// The shape that all operands broadcast to; before version 7 it is that of the first.
fn shape(ask: &Ask<'_>) -> Result<Vec<i64>, Why> {
    let mut shape = ask.input(0)?.shape().to_vec();
    if ask.attributes.get("broadcast").is_some() {
        return Ok(shape);
    }
    for at in 1..ask.inputs.len() {
        let other = ask.input(at)?.shape();
        shape = broadcast(&shape, other)
            .ok_or_else(|| Why::Here(format!("{shape:?} and {other:?} do not broadcast")))?;
    }
    Ok(shape)
}

fn together(ask: &Ask<'_>) -> Result<Types, Why> {
    one(dense(ask.input(0)?.element(), shape(ask)?)?)
}

fn compared(ask: &Ask<'_>) -> Result<Types, Why> {
    one(dense(ElementType::Bool, shape(ask)?)?)
}

fn flags(ask: &Ask<'_>) -> Result<Types, Why> {
    one(dense(ElementType::Bool, ask.input(0)?.shape())?)
}

fn chosen(ask: &Ask<'_>) -> Result<Types, Why> {
    one(dense(ask.input(1)?.element(), shape(ask)?)?)
}

fn cast(ask: &Ask<'_>) -> Result<Types, Why> {
    let element = element_of(ask).ok_or("it casts to an element that is not known here")?;
    one(dense(element, ask.input(0)?.shape())?)
}

fn cast_like(ask: &Ask<'_>) -> Result<Types, Why> {
    one(dense(ask.input(1)?.element(), ask.input(0)?.shape())?)
}

fn quantized(ask: &Ask<'_>) -> Result<Types, Why> {
    let element = match (ask.ty(2), element_of(ask)) {
        (Some(zero), _) => zero.element(),
        (None, Some(element)) => element,
        (None, None) => ElementType::U8,
    };
    one(dense(element, ask.input(0)?.shape())?)
}

fn dequantized(ask: &Ask<'_>) -> Result<Types, Why> {
    let element = element_of(ask).unwrap_or(ask.input(1)?.element());
    one(dense(element, ask.input(0)?.shape())?)
}

fn dynamically_quantized(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    Ok(vec![
        Some(dense(ElementType::U8, x.shape())?),
        Some(dense(x.element(), [])?),
        Some(dense(ElementType::U8, [])?),
    ])
}
