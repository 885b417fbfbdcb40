//! Obligations that are known to hold, or are demanded already, are not demanded.

use crate::engine::{Demand, Engine, Result, Value};
use crate::rules::table;
use crate::scalar;
use crate::trace::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "check",
    equation: "check %i limit n = nothing",
    condition: "%i is empty, or a constant wholly in range, or the same check stands before",
    measure: "obligations",
};

/// Adds the obligation unless it can be dropped.
pub(crate) fn demand(engine: &mut Engine<'_>, value: &Value, demand: Demand) -> Result<()> {
    let Demand { limit, wrap, .. } = demand;
    let dropped = |engine: &mut Engine<'_>, why: &'static str| {
        engine.fired(&RULE, [1, 0, 0], [0, 0, 0], || why.to_owned())
    };
    if value.is_empty() {
        return dropped(engine, "there are no indices");
    }
    if !engine.rules {
        engine.push_check(value.clone(), demand);
        return Ok(());
    }
    let value = engine.normal(value.clone())?;
    let known = table::numbers(engine, &value);
    let holds = |values: Vec<i64>| {
        let mut values = values.into_iter();
        values.all(|v| scalar::normalise(v.into(), limit, wrap).is_some())
    };
    if known.is_some_and(holds) {
        return dropped(engine, "the indices are constant and in range");
    }
    if engine.push_check(value, demand) {
        return Ok(());
    }
    dropped(engine, "an earlier obligation says the same")
}
