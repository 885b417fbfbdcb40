//! Values in normal form: the rules that see their base, and the one chain of their layout.

use super::{Base, BaseId, Engine, Result, Source, Value};
use crate::ir::MAX_AXES;
use crate::rules;
use restride_graph::MAX_RANK;
use restride_layout::{Axes, Break, Chain, Layout, Piece, View};

impl Engine<'_> {
    /// The same value after every rule that looks below its layout, if one fires.
    pub(crate) fn rewrite(&mut self, value: &Value) -> Result<Option<Value>> {
        let mut rewritten: Option<Value> = None;
        while self.may_rewrite() {
            let now = rewritten.as_ref().unwrap_or(value);
            let Source::View { base, .. } = &now.source else {
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
            Source::Fill(_) => Ok(Chain::new()),
            Source::View { base, layout } => Ok(self.chain_of(layout, &self.ty(*base).shape)?),
        }
    }

    /// As [`chain_of`], counted.
    pub(crate) fn chain_of(
        &self,
        layout: &Layout,
        source: &[i64],
    ) -> std::result::Result<Chain, Break> {
        let digits = layout.piece().map_or(0, |piece| piece.digits().len());
        self.meter.work(200 + 100 * (digits + source.len()) as u64);
        chain_of(layout, source)
    }

    /// A base whose elements are those of this value.
    pub(crate) fn between(&mut self, value: &Value) -> Result<Value> {
        let value = self.normal(value.clone())?;
        self.settled(&value)
    }

    /// A base whose elements are those of this value, to which no rule applies.
    pub(crate) fn settled(&mut self, value: &Value) -> Result<Value> {
        if let Source::View { base, layout } = &value.source
            && !layout.is_dense_over(&self.ty(*base).shape)
        {
            let shape = restride_graph::Shape::from_slice(value.shape());
            let base = self.made(Base::Cut(value.clone()), value.element, shape);
            return self.whole(base);
        }
        Ok(value.clone())
    }
}

/// The one chain of views that gives a layout over a dense source of this shape.
///
/// Where the axes of the source stand in the way, or cut it into more axes than a value may have, they
/// are joined first.
fn chain_of(layout: &Layout, source: &[i64]) -> std::result::Result<Chain, Break> {
    let direct = layout.reify(source);
    match direct {
        Ok(chain) if fits(&chain, layout) => Ok(chain),
        Ok(_) | Err(_) if source.len() > 1 => {
            let groups = Axes::from_slice(&[source.len()]);
            let mut chain = Chain::new();
            chain.push(View::Collapse { groups });
            chain.extend(layout.reify(&[source.iter().product()])?);
            match fits(&chain, layout) {
                true => Ok(chain),
                false => Err(Break::NoChain),
            }
        }
        Ok(_) => Err(Break::NoChain),
        Err(why) => Err(why),
    }
}

/// Whether a chain of views of so few digits has no step with more axes than a value may have:
/// every digit, and what lies between two of them, may need an axis, and so do the axes of size 1
/// of both ends.
pub(crate) fn is_short(piece: &Piece) -> bool {
    3 * piece.digits().len() <= MAX_AXES - 2 * MAX_RANK
}

/// Whether no step has more axes than a value may have.
fn fits(chain: &Chain, layout: &Layout) -> bool {
    let axes = |step: &View| match step {
        View::Slice(spans) => spans.len(),
        View::Permute(perm) => perm.len(),
        View::Collapse { groups } => groups.len(),
        View::Expand { sizes, .. } | View::Broadcast { sizes } => sizes.len(),
    };
    layout.piece().is_none_or(is_short) || chain.iter().all(|step| axes(step) <= MAX_AXES)
}
