//! `roll x s = concat [x[n-s:n], x[0:n-s]]` on every axis that moves.

use crate::engine::{Engine, Parts, Result, Value};
use crate::ir::Span;

pub(super) fn desugar(engine: &mut Engine<'_>, x: &Value, shifts: &[i64]) -> Result<Value> {
    let mut value = x.clone();
    for (axis, &shift) in shifts.iter().enumerate() {
        if shift == 0 {
            continue;
        }
        let kept = value.shape()[axis] - shift;
        let parts = [(kept, shift), (0, kept)];
        let mut rolled = Parts::new();
        for (start, len) in parts {
            let span = Span {
                start,
                len,
                step: 1,
            };
            rolled.push(engine.slice_axis(&value, axis, span)?);
        }
        value = engine.concat(rolled, axis)?;
    }
    Ok(value)
}
