//! Making a gather: its rules until none fires, then its node.

use super::{Engine, PendingCoordinate, PendingGather, Result, Value};
use crate::ir::{Coordinate, Index};
use crate::rules::{self, Outcome};
use smallvec::SmallVec;

impl Engine<'_> {
    /// The value of a gather.
    pub(crate) fn gather(&mut self, mut pending: PendingGather) -> Result<Value> {
        let mut value = loop {
            self.rewrite_operands(&mut pending)?;
            match self.first_rule(&mut pending)? {
                Outcome::Unchanged => break self.make_gather(&pending)?,
                Outcome::Changed => {}
                Outcome::Done(value) => break value,
            }
        };
        while let Some(step) = pending.after.pop() {
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

    fn first_rule(&mut self, pending: &mut PendingGather) -> Result<Outcome> {
        for rule in rules::GATHER {
            match rule(self, pending)? {
                Outcome::Unchanged => {}
                outcome @ (Outcome::Changed | Outcome::Done(_)) => return Ok(outcome),
            }
        }
        Ok(Outcome::Unchanged)
    }

    fn make_gather(&mut self, pending: &PendingGather) -> Result<Value> {
        let data = self.settle(&pending.data)?;
        let mut coordinates: SmallVec<[Coordinate; 3]> = SmallVec::new();
        for coordinate in &pending.coordinates {
            coordinates.push(match coordinate {
                PendingCoordinate::Output(output) => Coordinate::Output(*output),
                PendingCoordinate::Index(index) => Coordinate::Index(Index {
                    node: self.settle(&index.value)?,
                    outputs: index.outputs.clone(),
                    wrap: index.wrap,
                    policy: index.policy,
                }),
            });
        }
        let node = self.cons(|builder| builder.gather(data, &coordinates))?;
        self.whole(node)
    }
}
