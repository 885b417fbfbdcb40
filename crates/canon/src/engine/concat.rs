//! Making a concat: its rules, then its node.

use super::{Engine, Result, Value};
use crate::rules;
use smallvec::SmallVec;

/// How often parts are joined and rewritten again.
const ROUNDS: usize = 4;

/// Parts of a concat that has not been made yet.
pub(crate) type Parts = SmallVec<[Value; 4]>;

impl Engine<'_> {
    /// Parts side by side along `axis`. They agree in element type and in all other sizes.
    pub(crate) fn concat(&mut self, parts: Parts, axis: usize) -> Result<Value> {
        let mut parts = rules::concat_empty::drop_empty(self, parts, axis)?;
        // Parts that were joined may be rewritten, and then continue others.
        for _ in 0..ROUNDS {
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
        let mut nodes: SmallVec<[_; 4]> = SmallVec::new();
        for part in &parts {
            nodes.push(self.settle(part)?);
        }
        // An axis of a tensor: below 32.
        let node = self.cons(|builder| builder.concat(&nodes, axis as u8))?;
        self.whole(node)
    }
}
