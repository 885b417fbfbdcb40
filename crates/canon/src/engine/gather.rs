//! Making a gather: its rules until none fires, then its node.

use super::{After, Base, Engine, PendingGather, Result, Value};
use crate::rules::{self, RuleOutcome};

impl Engine<'_> {
    /// The value of a gather.
    pub(crate) fn gather(&mut self, mut pending: PendingGather) -> Result<Value> {
        let (mut value, mut after) = loop {
            self.meter.things(1, 1000, 500);
            self.meter.check()?;
            self.rewrite_operands(&mut pending)?;
            match self.first_rule(&mut pending)? {
                RuleOutcome::Unchanged => break self.make_gather(pending)?,
                RuleOutcome::Changed => {}
                RuleOutcome::Done(value) => break (value, pending.after),
            }
        };
        while let Some(step) = after.pop() {
            value = self.view(&value, &step)?;
        }
        Ok(value)
    }

    fn rewrite_operands(&mut self, pending: &mut PendingGather) -> Result<()> {
        if let Some(data) = self.rewrite(&pending.data)? {
            pending.data = data;
        }
        for index in pending.indices_mut() {
            if let Some(value) = self.rewrite(&index.value)? {
                index.value = value;
            }
        }
        Ok(())
    }

    fn first_rule(&mut self, pending: &mut PendingGather) -> Result<RuleOutcome> {
        let rules = match self.rules {
            true => rules::GATHER.as_slice(),
            false => &rules::NEEDED,
        };
        for rule in rules {
            match rule(self, pending)? {
                RuleOutcome::Unchanged => {}
                outcome @ (RuleOutcome::Changed | RuleOutcome::Done(_)) => return Ok(outcome),
            }
        }
        Ok(RuleOutcome::Unchanged)
    }

    fn make_gather(&mut self, mut pending: PendingGather) -> Result<(Value, After)> {
        let after = std::mem::take(&mut pending.after);
        let (element, shape) = (pending.data.element, pending.shape.clone());
        let base = self.made(Base::Gather(Box::new(pending)), element, shape);
        Ok((self.whole(base)?, after))
    }
}
