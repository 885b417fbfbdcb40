//! View operations on values: they compose into the layout, or cut the chain where it breaks.

use super::{BaseId, Engine, Result, Value, ValueSource};
use crate::ir::chain::composed;
use crate::rules;
use restride_layout::{Axes, Break, Layout, Sizes, Span, View};
use smallvec::SmallVec;
use std::sync::Arc;

impl Engine<'_> {
    /// One view step.
    pub(crate) fn view(&mut self, x: &Value, step: &View) -> Result<Value> {
        let rank = x.shape().len() as u64;
        self.meter.things(1, 250 + 40 * rank, 250 + 40 * rank);
        match &x.source {
            ValueSource::Fill(fill) => {
                let shape = step.shape(&fill.shape)?;
                Ok(Value::fill(x.element, &shape, fill.bits))
            }
            ValueSource::View { base, layout } => match self.compose(*base, layout, step) {
                Ok(layout) if self.rules => Ok(Value::view(x.element, *base, layout)),
                Ok(layout) => self.between(&Value::view(x.element, *base, layout)),
                Err(why) => rules::cut::cut(self, x, step, why),
            },
        }
    }

    /// The layout over `base` that a step makes of another.
    pub(crate) fn compose(
        &self,
        base: BaseId,
        layout: &Layout,
        step: &View,
    ) -> std::result::Result<Layout, Break> {
        composed(layout, &self.ty(base).shape, step, self.meter)
    }

    /// What a layout shows of a value.
    pub(crate) fn through(&mut self, x: &Value, layout: &Arc<Layout>) -> Result<Value> {
        let mut value = x.clone();
        match &mut value.source {
            ValueSource::Fill(fill) => {
                let (shape, bits) = (layout.shape(), fill.bits);
                return Ok(Value::fill(x.element, shape, bits));
            }
            ValueSource::View { base, layout: of } if of.is_dense_over(&self.ty(*base).shape) => {
                *of = Arc::clone(layout);
            }
            ValueSource::View { .. } => {
                for step in self.chain_of(layout, x.shape())? {
                    value = self.view(&value, &step)?;
                }
            }
        }
        Ok(value)
    }

    /// `out[i] = x[start + i * step]`.
    pub(crate) fn slice(&mut self, x: &Value, spans: &[Span]) -> Result<Value> {
        let whole = spans.iter().zip(x.shape()).all(|(s, &n)| s.is_whole(n));
        if whole && spans.len() == x.shape().len() {
            return Ok(x.clone());
        }
        self.view(x, &View::Slice(SmallVec::from_slice(spans)))
    }

    /// A slice of one axis.
    pub(crate) fn slice_axis(&mut self, x: &Value, axis: usize, span: Span) -> Result<Value> {
        let mut spans: SmallVec<[Span; 6]> = SmallVec::new();
        for &n in x.shape() {
            spans.push(Span::whole(n));
        }
        match spans.get_mut(axis) {
            Some(at) => *at = span,
            None => return Ok(x.clone()),
        }
        self.slice(x, &spans)
    }

    /// `out.shape[k] = x.shape[perm[k]]`.
    pub(crate) fn permute(&mut self, x: &Value, perm: &[usize]) -> Result<Value> {
        self.view(x, &View::Permute(Axes::from_slice(perm)))
    }

    /// Axes of size 1 up to these sizes.
    pub(crate) fn broadcast(&mut self, x: &Value, sizes: &[i64]) -> Result<Value> {
        if x.shape() == sizes {
            return Ok(x.clone());
        }
        let sizes = Sizes::from_slice(sizes);
        self.view(x, &View::Broadcast { sizes })
    }

    /// Neighbouring axes joined.
    pub(crate) fn collapse(&mut self, x: &Value, groups: &[usize]) -> Result<Value> {
        let groups = Axes::from_slice(groups);
        self.view(x, &View::Collapse { groups })
    }

    /// Axes cut.
    pub(crate) fn expand(&mut self, x: &Value, groups: &[usize], sizes: &[i64]) -> Result<Value> {
        let (groups, sizes) = (Axes::from_slice(groups), Sizes::from_slice(sizes));
        self.view(x, &View::Expand { groups, sizes })
    }

    /// The same row-major order in other sizes: collapse to the finest common refinement, expand.
    ///
    /// The sizes have as many elements as `x`; where an empty value is concerned, any will do.
    pub(crate) fn reshape(&mut self, x: &Value, sizes: &[i64]) -> Result<Value> {
        if x.shape() == sizes {
            return Ok(x.clone());
        }
        if x.is_empty() || sizes.contains(&0) {
            return Ok(Value::fill(x.element, sizes, 0));
        }
        let Some((joined, cut)) = refinement(x.shape(), sizes) else {
            return Err(crate::CanonError::Operator {
                op: "reshape",
                what: "the sizes have another number of elements",
            });
        };
        let mut value = x.clone();
        if joined.len() != x.shape().len() {
            value = self.collapse(&value, &joined)?;
        }
        if cut.len() != sizes.len() {
            value = self.expand(&value, &cut, sizes)?;
        }
        Ok(value)
    }

    /// Drops axes of size 1.
    pub(crate) fn drop_axes(&mut self, x: &Value, drop: impl Fn(usize) -> bool) -> Result<Value> {
        let kept = x.shape().iter().enumerate().filter(|(k, _)| !drop(*k));
        let sizes: Sizes = kept.map(|(_, &n)| n).collect();
        self.reshape(x, &sizes)
    }
}

/// How many axes of each side fall into each group of the finest common refinement.
fn refinement(from: &[i64], to: &[i64]) -> Option<(Axes, Axes)> {
    let (mut joined, mut cut) = (Axes::new(), Axes::new());
    let (mut i, mut j) = (0, 0);
    while i < from.len() && j < to.len() {
        let (first, start) = (i, j);
        let (mut a, mut b) = (from[i], to[j]);
        (i, j) = (i + 1, j + 1);
        while a != b {
            if a < b {
                a = a.checked_mul(*from.get(i)?)?;
                i += 1;
            } else {
                b = b.checked_mul(*to.get(j)?)?;
                j += 1;
            }
        }
        joined.push(i - first);
        cut.push(j - start);
    }
    // What is left over has size 1 and joins the last group.
    if from[i..].iter().chain(&to[j..]).any(|&n| n != 1) {
        return None;
    }
    if let (Some(group), Some(part)) = (joined.last_mut(), cut.last_mut()) {
        *group += from.len() - i;
        *part += to.len() - j;
    }
    Some((joined, cut))
}

#[cfg(test)]
mod tests {
    use super::refinement;

    fn groups(from: &[i64], to: &[i64]) -> Option<(Vec<usize>, Vec<usize>)> {
        refinement(from, to).map(|(a, b)| (a.to_vec(), b.to_vec()))
    }

    #[test]
    fn reshapes_are_cut_into_independent_groups() {
        let some = |a: &[usize], b: &[usize]| Some((a.to_vec(), b.to_vec()));
        assert_eq!(groups(&[2, 3, 4], &[6, 4]), some(&[2, 1], &[1, 1]));
        assert_eq!(groups(&[4, 6], &[8, 3]), some(&[2], &[2]));
        assert_eq!(groups(&[5, 4, 6], &[5, 8, 3]), some(&[1, 2], &[1, 2]));
        assert_eq!(groups(&[1, 1], &[]), some(&[], &[]));
        assert_eq!(groups(&[], &[1]), some(&[], &[]));
        assert_eq!(groups(&[3, 1, 1], &[3]), some(&[3], &[1]));
        assert_eq!(groups(&[3], &[1, 3]), some(&[1], &[2]));
        assert_eq!(groups(&[2, 3], &[7]), None);
        assert_eq!(groups(&[2], &[]), None);
    }
}
