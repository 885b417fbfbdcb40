//! `tile x [r] = collapse (broadcast (expand x [1, n]) [r, n]) [r * n]` on every axis.

use crate::engine::{Engine, Result, Value};
use restride_graph::{Shape, resolve};

pub(super) fn desugar(engine: &mut Engine<'_>, x: &Value, tile: &resolve::Tiling) -> Result<Value> {
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
    let expanded = engine.reshape(x, &units)?;
    let broadcast = engine.broadcast(&expanded, &repeated)?;
    engine.reshape(&broadcast, &tile.shape)
}
