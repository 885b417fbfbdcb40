//! What tract's operators mean in restride's words: the part of this crate that knows them one by one.

use restride::{ElementType, Graph, IndexRule, OutOfRange, PadMode, ValueId};
use tract_core::internal::*;
use tract_core::ops::Downsample;
use tract_core::ops::array::{
    self, DynSlice, DynTile, Gather, GatherElements, GatherNd, MultiBroadcastTo, Pad, Slice, Tile,
    TypedConcat,
};

/// How tract reads indices: from the end where they are negative, and never outside.
const INDICES: IndexRule = IndexRule {
    out_of_range: OutOfRange::Error,
    wrap: true,
};

/// The element type of a tensor whose elements are bits.
pub(crate) fn element(dt: DatumType) -> Option<ElementType> {
    Some(match dt {
        DatumType::Bool => ElementType::Bool,
        DatumType::U8 | DatumType::QU8(_) => ElementType::U8,
        DatumType::U16 => ElementType::U16,
        DatumType::U32 => ElementType::U32,
        DatumType::U64 => ElementType::U64,
        DatumType::I8 | DatumType::QI8(_) => ElementType::I8,
        DatumType::I16 => ElementType::I16,
        DatumType::I32 | DatumType::QI32(_) => ElementType::I32,
        DatumType::I64 => ElementType::I64,
        DatumType::F16 => ElementType::F16,
        DatumType::F32 => ElementType::F32,
        DatumType::F64 => ElementType::F64,
        _ => return None,
    })
}

/// What an operator does to its input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Gives it another shape, which costs tract nothing.
    Shape,
    /// Moves its elements.
    Move,
}

/// Whether an operator is one that [`push`] knows.
pub(crate) fn kind(op: &dyn TypedOp) -> Option<Kind> {
    if let Some(op) = op.downcast_ref::<AxisOp>() {
        return Some(match op.canonical().as_ref() {
            AxisOp::Move(..) => Kind::Move,
            AxisOp::Add(_) | AxisOp::Rm(_) | AxisOp::Reshape(..) => Kind::Shape,
        });
    }
    if let Some(op) = op.downcast_ref::<IntoShape>() {
        let natural = op.strides == Tensor::natural_strides(&op.dims);
        return natural.then_some(Kind::Shape);
    }
    let moves = op.is::<Slice>()
        || op.is::<DynSlice>()
        || op.is::<Downsample>()
        || op
            .downcast_ref::<Gather>()
            .is_some_and(|op| op.output_type.is_none())
        || op.is::<GatherElements>()
        || op.is::<GatherNd>()
        || op.is::<TypedConcat>()
        || op.is::<Pad>()
        || op.is::<MultiBroadcastTo>()
        || op.is::<Tile>()
        || op.is::<DynTile>();
    moves.then_some(Kind::Move)
}

/// Which inputs of an operator are numbers that say what it does, from this one on.
pub(crate) fn numbers_from(op: &dyn TypedOp) -> usize {
    match op.is::<DynSlice>() || op.is::<DynTile>() {
        true => 1,
        false => usize::MAX,
    }
}

/// The indices that an operator reads, if they are known beforehand and few enough to be kept in a program.
pub(crate) fn indices(model: &TypedModel, node: &TypedNode) -> TractResult<Option<Arc<Tensor>>> {
    let op = &*node.op;
    if !op.is::<Gather>() && !op.is::<GatherElements>() && !op.is::<GatherNd>() {
        return Ok(None);
    }
    let known = model.outlet_fact(node.inputs[1])?.konst.clone();
    Ok(known.filter(|known| known.datum_type() == i64::datum_type() && known.len() <= 1024))
}

/// The dimensions that an operator has as attributes.
pub(crate) fn dims(op: &dyn TypedOp) -> TVec<TDim> {
    match op.downcast_ref::<AxisOp>() {
        Some(AxisOp::Reshape(_, from, to)) => from.iter().chain(to).cloned().collect(),
        Some(_) => tvec!(),
        None => {
            if let Some(op) = op.downcast_ref::<Slice>() {
                tvec!(op.start.clone(), op.end.clone())
            } else if let Some(op) = op.downcast_ref::<MultiBroadcastTo>() {
                op.shape.to_tvec()
            } else if let Some(op) = op.downcast_ref::<Tile>() {
                op.multipliers.clone()
            } else {
                tvec!()
            }
        }
    }
}

/// Adds what an operator does to values of a graph. `dt` is the type of the first; `number` has the numbers
/// that it reads, input by input.
pub(crate) fn push(
    g: &mut Graph,
    op: &dyn TypedOp,
    dt: DatumType,
    x: &[ValueId],
    number: &[&[i64]],
    symbols: &SymbolValues,
) -> TractResult<ValueId> {
    let first = *x.first().context("an operator without an input")?;
    let shape: TVec<i64> = g.ty(first).shape().iter().copied().collect();
    let size = |dim: &TDim| TractResult::Ok(dim.eval(symbols).to_i64()?);
    let sizes = |dims: &[TDim]| dims.iter().map(size).collect::<TractResult<TVec<i64>>>();
    if let Some(op) = op.downcast_ref::<AxisOp>() {
        return Ok(match op.canonical().as_ref() {
            AxisOp::Add(axis) => g.unsqueeze(first, [*axis as i64])?,
            AxisOp::Rm(axis) => g.squeeze(first, [*axis as i64])?,
            AxisOp::Move(from, to) => {
                let mut axes: TVec<i64> = (0..shape.len() as i64).collect();
                let axis = axes.remove(*from);
                axes.insert(*to, axis);
                g.transpose(first, axes)?
            }
            AxisOp::Reshape(at, from, to) => {
                let (before, rest) = shape.split_at(*at);
                let to = [before, &sizes(to)?, &rest[from.len()..]].concat();
                g.reshape(first, to).finish()?
            }
        });
    }
    let of = |axis: usize| axis as i64;
    let mut slice = |axis: usize, start: i64, end: i64| -> TractResult<ValueId> {
        ensure!(
            0 <= start && start <= end && end <= shape[axis],
            "a slice out of range"
        );
        let part = g.slice(first, [start], [end]).axes([of(axis)]);
        Ok(part.finish()?)
    };
    Ok(if let Some(op) = op.downcast_ref::<IntoShape>() {
        let dims: TVec<i64> = op.dims.iter().map(|dim| *dim as i64).collect();
        g.reshape(first, dims).finish()?
    } else if let Some(op) = op.downcast_ref::<Slice>() {
        slice(op.axis, size(&op.start)?, size(&op.end)?)?
    } else if let Some(op) = op.downcast_ref::<DynSlice>() {
        let bound = |at: usize| number.get(at).and_then(|all| all.first()).copied();
        let (start, end) = bound(1).zip(bound(2)).context("a slice without bounds")?;
        slice(op.axis, start, end)?
    } else if let Some(op) = op.downcast_ref::<Downsample>() {
        let from = match op.stride < 0 {
            true => g.reverse(first, [of(op.axis)])?,
            false => first,
        };
        let start = of(op.modulo).min(shape[op.axis]);
        let steps = g.slice(from, [start], [shape[op.axis]]).axes([of(op.axis)]);
        steps.step([op.stride.unsigned_abs() as i64]).finish()?
    } else if let Some(op) = op.downcast_ref::<Gather>() {
        g.gather(first, x[1], INDICES).axis(of(op.axis)).finish()?
    } else if let Some(op) = op.downcast_ref::<GatherElements>() {
        g.gather_elements(first, x[1], of(op.axis), INDICES)?
    } else if let Some(op) = op.downcast_ref::<GatherNd>() {
        let rule = IndexRule {
            wrap: false,
            ..INDICES
        };
        g.gather_nd(first, x[1], rule)
            .batch_dims(of(op.batch_dims))
            .finish()?
    } else if let Some(op) = op.downcast_ref::<TypedConcat>() {
        g.concat(x, of(op.axis))?
    } else if let Some(op) = op.downcast_ref::<Pad>() {
        let (begin, end): (Vec<i64>, Vec<i64>) =
            op.pads.iter().map(|(a, b)| (*a as i64, *b as i64)).unzip();
        let pad = g.pad(first, begin, end);
        match &op.mode {
            array::PadMode::Reflect => pad.mode(PadMode::Reflect).finish()?,
            array::PadMode::Edge => pad.mode(PadMode::Edge).finish()?,
            array::PadMode::Constant(of) => {
                let of = of.cast_to_dt(dt.unquantized())?;
                let bytes = of.as_bytes().iter().rev();
                pad.constant(bytes.fold(0, |bits, byte| bits << 8 | u128::from(*byte)))
                    .finish()?
            }
        }
    } else if let Some(op) = op.downcast_ref::<MultiBroadcastTo>() {
        g.broadcast(first, sizes(&op.shape.to_tvec())?).finish()?
    } else if let Some(op) = op.downcast_ref::<Tile>() {
        g.tile(first, sizes(&op.multipliers)?)?
    } else if op.is::<DynTile>() {
        g.tile(first, number.get(1).context("a tile without counts")?)?
    } else {
        bail!("{} moves nothing", op.name())
    })
}
