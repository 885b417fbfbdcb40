//! Values in normal form: the rules that see their base, and the one chain of their layout.

use super::{Base, BaseId, Engine, Result, Value, ValueSource};
use crate::ir::chain_of;
use crate::rules;
use restride_layout::{Break, Chain, Layout};

impl Engine<'_> {
    /// The same value after every rule that looks below its layout, if one fires.
    pub(crate) fn rewrite(&mut self, value: &Value) -> Result<Option<Value>> {
        let mut rewritten: Option<Value> = None;
        while self.may_rewrite() {
            let now = rewritten.as_ref().unwrap_or(value);
            let ValueSource::View { base, .. } = &now.source else {
                break;
            };
            if !self.has_rules(*base) {
                break;
            }
            self.meter.work(1000);
            let now = now.clone();
            self.depth += 1;
            let next = rules::below(self, &now);
            self.depth -= 1;
            match next? {
                Some(next) => rewritten = Some(next),
                None => break,
            }
        }
        Ok(rewritten)
    }

    /// The value, rewritten.
    pub(crate) fn normal(&mut self, value: Value) -> Result<Value> {
        Ok(self.rewrite(&value)?.unwrap_or(value))
    }

    /// Whether some rule looks below views of this base.
    fn has_rules(&self, base: BaseId) -> bool {
        match self.base(base) {
            Base::Input(_) => false,
            Base::Constant(_) | Base::Gather(_) | Base::Concat { .. } | Base::Cut(_) => true,
        }
    }

    /// The chain of views that a value is, over its base.
    pub(crate) fn chain(&self, value: &Value) -> Result<Chain> {
        match &value.source {
            ValueSource::Fill(_) => Ok(Chain::new()),
            ValueSource::View { base, layout } => Ok(self.chain_of(layout, &self.ty(*base).shape)?),
        }
    }

    /// The chain of views that a layout is.
    pub(crate) fn chain_of(
        &self,
        layout: &Layout,
        source: &[i64],
    ) -> std::result::Result<Chain, Break> {
        chain_of(layout, source, self.meter)
    }

    /// A base whose elements are those of this value.
    pub(crate) fn between(&mut self, value: &Value) -> Result<Value> {
        let value = self.normal(value.clone())?;
        self.settled(&value)
    }

    /// A base whose elements are those of this value, to which no rule applies.
    pub(crate) fn settled(&mut self, value: &Value) -> Result<Value> {
        if let ValueSource::View { base, layout } = &value.source
            && !layout.is_dense_over(&self.ty(*base).shape)
        {
            let shape = restride_graph::Shape::from_slice(value.shape());
            let base = self.made(Base::Cut(value.clone()), value.element, shape);
            return self.whole(base);
        }
        Ok(value.clone())
    }
}
