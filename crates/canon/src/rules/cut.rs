//! A chain that is no single layout is cut in two.

use crate::engine::{Engine, Result, Value, ValueSource, flat};
use crate::trace::Rule;
use restride_layout::{Break, Layout, View};

pub(crate) const RULE: Rule = Rule {
    name: "cut",
    equation: "v(w(x)) = v(r(y)), y = w'(x)",
    condition: "v . w has no layout over x; y holds the elements of w(x) with one axis for each \
                digit, and r only joins axes, so the place of the cut depends on w alone",
    measure: "views of the chain that are not printed yet",
};

/// What `step` makes of `x`, by way of a value between them.
pub(crate) fn cut(engine: &mut Engine<'_>, x: &Value, step: &View, why: Break) -> Result<Value> {
    let shape = step.shape(x.shape())?;
    if shape.contains(&0) {
        return Ok(Value::fill(x.element, &shape, 0));
    }
    // A rule may give it another base, over which the step does not break.
    if let Some(other) = engine.rewrite(x)? {
        if let ValueSource::View { base, layout } = &other.source
            && let Ok(layout) = engine.compose(*base, layout, step)
        {
            return Ok(Value::view(x.element, *base, layout));
        }
        if let ValueSource::Fill(fill) = other.source {
            return Ok(Value::fill(x.element, &shape, fill.bits));
        }
        return materialise(engine, &other, step, why);
    }
    materialise(engine, x, step, why)
}

fn materialise(engine: &mut Engine<'_>, x: &Value, step: &View, why: Break) -> Result<Value> {
    let ValueSource::View { base, layout } = &x.source else {
        return engine.view(x, step);
    };
    let Some(between) = flattened(engine, x)? else {
        return Err(why.into());
    };
    if let ValueSource::Fill(fill) = between.source {
        return Ok(Value::fill(x.element, &step.shape(x.shape())?, fill.bits));
    }
    engine.has_cut();
    if engine.traces() {
        let over = engine.base(*base).to_string();
        engine.note(RULE.name, || {
            format!("{layout} over {over} is a value between: {why}")
        });
    }
    let dense = Layout::dense(between.shape())?;
    let ValueSource::View { base, .. } = engine.settled(&between)?.source else {
        return Err(why.into());
    };
    let layout = engine.compose(base, &dense.reshape(x.shape())?, step)?;
    Ok(Value::view(x.element, base, layout))
}

/// The elements of a value over the base that rules leave it, with one axis for each digit.
pub(super) fn flattened(engine: &mut Engine<'_>, x: &Value) -> Result<Option<Value>> {
    let mut value = x.clone();
    loop {
        let ValueSource::View { base, layout } = &value.source else {
            return Ok(Some(value));
        };
        let Some(layout) = flat(layout)? else {
            return Ok(None);
        };
        value = Value::view(x.element, *base, layout);
        // Over another base it may have other digits.
        match engine.rewrite(&value)? {
            Some(rewritten) => value = rewritten,
            None => return Ok(Some(value)),
        }
    }
}
