//! Making a concat: its rules, then its node.

use super::{Base, Engine, Result, Value};
use crate::ir::IrError;
use crate::rules;
use restride_graph::Shape;
use smallvec::SmallVec;

/// How often parts are joined and rewritten again.
const ROUNDS: usize = 4;

/// Parts of a concat that has not been made yet.
pub(crate) type Parts = SmallVec<[Value; 4]>;

impl Engine<'_> {
    /// Parts side by side along `axis`. They agree in element type and in all other sizes.
    pub(crate) fn concat(&mut self, parts: Parts, axis: usize) -> Result<Value> {
        if !self.rules {
            return self.make_concat(parts, axis);
        }
        let mut parts = rules::concat_empty::drop_empty(self, parts, axis)?;
        // Parts that were joined may be rewritten, and then continue others.
        for _ in 0..ROUNDS {
            self.meter.things(parts.len(), 200, 0);
            for part in &mut parts {
                if let Some(rewritten) = self.rewrite(part)? {
                    *part = rewritten;
                }
            }
            parts = rules::concat_flatten::flatten(self, parts, axis)?;
            let before = parts.len();
            parts = rules::concat_rejoin::rejoin(self, parts, axis)?;
            if parts.len() == before || parts.len() == 1 {
                break;
            }
        }
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            self.note(rules::concat_one::RULE.name, || "one part is left".into());
            return Ok(only);
        }
        self.make_concat(parts, axis)
    }

    fn make_concat(&mut self, mut parts: Parts, axis: usize) -> Result<Value> {
        let Some(first) = parts.first() else {
            return Err(IrError::NoParts.into());
        };
        let (element, mut shape) = (first.element, Shape::from_slice(first.shape()));
        self.meter.things(parts.len(), 200, 100);
        let mut lengths = parts.iter().map(|part| part.shape().get(axis));
        let total = lengths.try_fold(0i64, |sum, n| sum.checked_add(*n?));
        match (shape.get_mut(axis), total) {
            (Some(size), Some(total)) => *size = total,
            (Some(_) | None, _) => return Err(IrError::TooLarge { op: "concat" }.into()),
        }
        for part in &mut parts {
            if let Some(rewritten) = self.rewrite(part)? {
                *part = rewritten;
            }
        }
        let base = self.made(Base::Concat { parts, axis }, element, shape);
        self.whole(base)
    }
}
