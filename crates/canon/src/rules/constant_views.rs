//! Views of constants are constants.

use crate::engine::{Base, BaseId, Engine, Result, Value, count};
use crate::scalar;
use crate::trace::{Rule, few};
use restride_layout::{Layout, Sizes, Span};
use smallvec::SmallVec;

/// The most bytes that folding makes, unless the constant itself has more.
pub(crate) const FOLD_BYTES: u64 = 1 << 16;

pub(crate) const RULE: Rule = Rule {
    name: "constant_views",
    equation: "v(constant) = broadcast(constant')",
    condition: "constant' is no larger than 64 KiB or than the constant; axes that repeat stay \
                views",
    measure: "views above the constant that are no broadcast",
};

/// Evaluates what does not merely repeat.
#[inline(never)] // For a frame of its own: `below` is called from within itself.
pub(crate) fn fold(
    engine: &mut Engine<'_>,
    value: &Value,
    base: BaseId,
    layout: &Layout,
) -> Result<Option<Value>> {
    let ty = engine.ty(base);
    let spans: SmallVec<[Span; 6]> = layout
        .shape()
        .iter()
        .enumerate()
        .map(|(axis, &size)| match value.repeats_along(axis) {
            true => Span::whole(1),
            false => Span::whole(size),
        })
        .collect();
    let kept = layout.slice(&spans)?;
    if kept.is_dense_over(&ty.shape) {
        return Ok(None);
    }
    let width = value.element.width();
    let bytes = count(kept.shape()).saturating_mul(width as u64);
    let Base::Constant(table) = engine.base(base) else {
        return Ok(None);
    };
    if bytes > FOLD_BYTES.max(table.len() as u64) {
        return Ok(None);
    }
    let folded = evaluate(&kept, table, width);
    let shape = Sizes::from_slice(kept.shape());
    let constant = engine.constant(value.element, &shape, &folded.into())?;
    engine.fired(&RULE, [1, 0, 0], [0, 0, 0], || {
        few(count(&shape), "element is known", "elements are known")
    })?;
    Ok(Some(engine.broadcast(&constant, layout.shape())?))
}

fn evaluate(layout: &Layout, table: &[u8], width: usize) -> Vec<u8> {
    let shape = layout.shape();
    let total = count(shape) as usize;
    let mut out = Vec::with_capacity(total * width);
    let mut point = Sizes::from_elem(0, shape.len());
    for _ in 0..total {
        let address = layout.at(&point).and_then(|at| at.first().copied());
        let bits = address.and_then(|at| scalar::bits(table, usize::try_from(at).ok()?, width));
        scalar::push(&mut out, width, bits.unwrap_or(0));
        for axis in (0..shape.len()).rev() {
            point[axis] += 1;
            if point[axis] < shape[axis] {
                break;
            }
            point[axis] = 0;
        }
    }
    out
}
