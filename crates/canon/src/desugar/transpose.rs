//! `transpose x = permute x`.

use crate::engine::{Engine, Result, Value};

pub(super) fn desugar(engine: &mut Engine<'_>, x: &Value, perm: &[usize]) -> Result<Value> {
    engine.permute(x, perm)
}
