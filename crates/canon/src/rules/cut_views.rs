//! Views above a cut move below it as far as they compose there.

use super::cut::flattened;
use crate::engine::{Base, BaseId, Engine, Result, Value, ValueSource, count};
use crate::trace::{Rule, few};
use restride_layout::Layout;

pub(crate) const RULE: Rule = Rule {
    name: "cut_views",
    equation: "u(v(y)), y = w(x)  =  u(r(y')), y' = (v . w)'(x)",
    condition: "y is a value between two parts of a chain and v composes with w",
    measure: "elements between, then views above",
};

/// Replays the chain above a cut over what the cut is a view of, and cuts where it breaks now.
#[inline(never)] // For a frame of its own: `below` is called from within itself.
pub(crate) fn lower(
    engine: &mut Engine<'_>,
    value: &Value,
    between: BaseId,
) -> Result<Option<Value>> {
    let Base::Cut(below) = engine.base(between) else {
        return Ok(None);
    };
    let below = below.clone();
    let ValueSource::View { base, layout } = &below.source else {
        return Ok(None);
    };
    let chain = engine.chain(value)?;
    let mut replayed = Layout::clone(layout);
    let mut taken = 0;
    for step in chain.iter() {
        let Ok(next) = engine.compose(*base, &replayed, step) else {
            break;
        };
        replayed = next;
        taken += 1;
    }
    let before = [count(below.shape()), chain.len() as u64, 0];
    if taken == chain.len() {
        let why = || "the whole chain composes below the cut".to_owned();
        engine.fired(&RULE, before, [0, 0, 0], why)?;
        return Ok(Some(Value::view(value.element, *base, replayed)));
    }
    let shape = replayed.shape();
    let composed = Value::view(value.element, *base, replayed.clone());
    let Some(flat) = flattened(engine, &composed)? else {
        return Ok(None);
    };
    let ValueSource::View { base: node, .. } = engine.settled(&flat)?.source else {
        return Ok(None);
    };
    let mut layout = Layout::dense(flat.shape())?.reshape(shape)?;
    for step in &chain[taken..] {
        let Ok(next) = engine.compose(node, &layout, step) else {
            return Ok(None);
        };
        layout = next;
    }
    let lowered = Value::view(value.element, node, layout);
    let after = [count(shape), engine.chain(&lowered)?.len() as u64, 0];
    if after >= before {
        return Ok(None);
    }
    engine.fired(&RULE, before, after, || {
        let taken = few(taken as u64, "view composes", "views compose");
        format!("{taken} below the value between, which becomes another")
    })?;
    Ok(Some(lowered))
}
