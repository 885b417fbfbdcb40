//! `concat [a, b] = concat [a, b]`.

use crate::engine::{Engine, Parts, Result, Value};

pub(super) fn desugar(engine: &mut Engine<'_>, parts: Parts, axis: usize) -> Result<Value> {
    engine.concat(parts, axis)
}
