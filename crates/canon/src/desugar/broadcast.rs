//! `broadcast x = broadcast (expand x)`: missing axes come in with size 1 and are repeated.

use crate::engine::{Engine, Result, Value};
use restride_graph::{Shape, resolve};

pub(super) fn desugar(
    engine: &mut Engine<'_>,
    x: &Value,
    mapped: &resolve::Broadcast,
) -> Result<Value> {
    let size = |from: &Option<usize>| from.and_then(|axis| x.shape().get(axis)).copied();
    let units: Shape = mapped
        .from
        .iter()
        .map(|from| size(from).unwrap_or(1))
        .collect();
    let expanded = engine.reshape(x, &units)?;
    engine.broadcast(&expanded, &mapped.shape)
}
