//! Reductions.

use restride_graph::ElementType;

use super::{Ask, Rules, Types, Why, axis, dense, one};

pub(super) const RULES: Rules = &[("ArgMax ArgMin", arg), ("Reduce*", reduce)];

/// The shape that is left, and which axes go; nothing if the axes are not known.
pub(crate) fn reduced(ask: &Ask<'_>, shape: &[i64]) -> Option<(Vec<i64>, Vec<bool>)> {
    let axes = match (ask.tensor(1), ask.ints("axes")) {
        (Some(_), _) => Some(ask.numbers(1).ok()?),
        (None, axes) => axes,
    };
    let mut gone = vec![false; shape.len()];
    match axes.filter(|axes| !axes.is_empty()) {
        Some(axes) => {
            for &a in &axes {
                gone[axis(a, shape.len()).ok()?] = true;
            }
        }
        None if ask.int("noop_with_empty_axes", 0) != 0 => {}
        None => gone.fill(true),
    }
    // ONNX keeps the axes unless told otherwise, OpenVINO the other way round.
    let keep = ask.int(
        "keepdims",
        ask.int(
            "keep_dims",
            i64::from(ask.framework != crate::spell::Framework::OpenVino),
        ),
    ) != 0;
    let sizes = shape.iter().zip(&gone);
    let left = sizes.filter_map(|(&size, &gone)| match (gone, keep) {
        (false, _) => Some(size),
        (true, true) => Some(1),
        (true, false) => None,
    });
    Some((left.collect(), gone))
}

fn reduce(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let (shape, _) = reduced(ask, x.shape()).ok_or("its axes are not known")?;
    one(dense(x.element(), shape)?)
}

fn arg(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?.shape();
    let at = axis(ask.int("axis", 0), x.len())?;
    let mut shape = x.to_vec();
    match ask.int("keepdims", 1) {
        0 => drop(shape.remove(at)),
        _ => shape[at] = 1,
    }
    one(dense(ElementType::I64, shape)?)
}
