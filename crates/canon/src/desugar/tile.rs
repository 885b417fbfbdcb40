//! `tile x [r] = collapse (broadcast (expand x [1, n]) [r, n]) [r * n]` on every axis.

use crate::engine::{Engine, Result, Value};
use restride_graph::{Shape, resolve};

pub(super) fn desugar(engine: &mut Engine<'_>, x: &Value, tile: &resolve::Tile) -> Result<Value> {
    let (mut units, mut repeated) = (Shape::new(), Shape::new());
    for (&size, &times) in tile.sizes.iter().zip(&tile.repeats) {
        // Only axes that repeat are cut in two, so that the rank grows no more than it must.
        if times != 1 {
            units.push(1);
            repeated.push(times);
        }
        units.push(size);
        repeated.push(size);
    }
    if units.len() > restride_graph::MAX_RANK {
        return one_by_one(engine, x, tile);
    }
    let expanded = engine.reshape(x, &units)?;
    let broadcast = engine.broadcast(&expanded, &repeated)?;
    engine.reshape(&broadcast, &tile.shape)
}

/// The axes one after another, where all at once would have too many.
fn one_by_one(engine: &mut Engine<'_>, x: &Value, tile: &resolve::Tile) -> Result<Value> {
    let mut value = engine.reshape(x, &tile.sizes)?;
    for (axis, &times) in tile.repeats.iter().enumerate() {
        if times == 1 {
            continue;
        }
        let mut joined = Shape::from_slice(value.shape());
        let size = joined[axis];
        // Left of the axis all is repeated already and right of it nothing is: three axes do.
        let before = joined[..axis].iter().product::<i64>();
        let after = joined[axis + 1..].iter().product::<i64>();
        joined[axis] = tile.shape[axis];
        let cut = engine.reshape(&value, &[before, 1, size, after])?;
        let broadcast = engine.broadcast(&cut, &[before, times, size, after])?;
        value = engine.reshape(&broadcast, &joined)?;
    }
    Ok(value)
}
