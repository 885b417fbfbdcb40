//! From a value to nodes: the rules that see its base, then the one chain of its layout.

use super::{Engine, Result, Source, Value};
use crate::ir::{Builder, IrError, Node, NodeId, Span};
use crate::rules;
use restride_graph::MAX_RANK;
use restride_layout::{Axes, Break, Chain, Layout, Piece, View};
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

impl Engine<'_> {
    /// The node that holds this value.
    pub(crate) fn settle(&mut self, value: &Value) -> Result<NodeId> {
        let rewritten = self.rewrite(value)?;
        let value = rewritten.as_ref().unwrap_or(value);
        let (base, layout) = match &value.source {
            Source::Fill { shape, bits } => {
                return self.cons(|builder| builder.fill(value.element, shape, *bits));
            }
            Source::View { base, layout } => (*base, layout),
        };
        let mut node = base;
        let chain = chain_of(layout, &self.ty(base).shape)?;
        if !chain.is_empty() {
            self.note(rules::view_chain::RULE.name, || {
                format!("{layout} over {base} is {} views", chain.len())
            });
        }
        for step in chain.iter() {
            node = self.cons(|builder| emit(builder, node, step))?;
        }
        if node != base
            && let Some(end) = self.views.get_mut(node.index())
        {
            end.get_or_insert_with(|| value.clone());
        }
        Ok(node)
    }

    /// The same value after every rule that looks below its layout, if one fires.
    pub(crate) fn rewrite(&mut self, value: &Value) -> Result<Option<Value>> {
        let mut rewritten: Option<Value> = None;
        while self.may_rewrite() {
            let now = rewritten.as_ref().unwrap_or(value);
            let Source::View { base, .. } = &now.source else {
                break;
            };
            let now = now.clone_if(self.has_rules(*base));
            let Some(now) = now else { break };
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

    /// Whether some rule looks below views of this node.
    fn has_rules(&self, base: NodeId) -> bool {
        match self.node(base) {
            Node::Input { .. } => false,
            Node::Constant { .. } | Node::Gather(_) | Node::Concat { .. } | Node::Fill { .. } => {
                true
            }
            Node::Slice { .. }
            | Node::Permute { .. }
            | Node::Collapse { .. }
            | Node::Expand { .. }
            | Node::Broadcast { .. } => true,
        }
    }

    /// The chain of views that a value is, over its base.
    pub(crate) fn chain(&self, value: &Value) -> Result<Chain> {
        match &value.source {
            Source::Fill { .. } => Ok(Chain::new()),
            Source::View { base, layout } => Ok(chain_of(layout, &self.ty(*base).shape)?),
        }
    }

    /// Makes a node, or finds the equal one that exists.
    pub(crate) fn cons(
        &mut self,
        make: impl FnOnce(&mut Builder) -> std::result::Result<NodeId, IrError>,
    ) -> Result<NodeId> {
        let node = make(&mut self.builder)?;
        let graph = self.builder.graph();
        let (kind, ty) = (graph.node(node), graph.ty(node));
        let mut hasher = FxHasher::default();
        (kind, ty).hash(&mut hasher);
        let mut key = hasher.finish();
        while let Some(&known) = self.memo.get(&key) {
            if graph.node(known) == kind && graph.ty(known) == ty {
                self.builder.undo();
                return Ok(known);
            }
            key = key.wrapping_add(1);
        }
        self.memo.insert(key, node);
        self.views.push(None);
        Ok(node)
    }
}

/// The one chain of views that gives a layout over a dense source of this shape.
///
/// Where the axes of the source stand in the way, or cut it into more axes than a tensor has, they
/// are joined first.
pub(crate) fn chain_of(layout: &Layout, source: &[i64]) -> std::result::Result<Chain, Break> {
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

/// Whether no step has more axes than a tensor may have.
fn fits(chain: &Chain, layout: &Layout) -> bool {
    // Every digit, and what lies between two of them, may need an axis.
    let few = |piece: &Piece| piece.digits().len() <= MAX_RANK / 3;
    let axes = |step: &View| match step {
        View::Slice(spans) => spans.len(),
        View::Permute(perm) => perm.len(),
        View::Collapse { groups } => groups.len(),
        View::Expand { sizes, .. } | View::Broadcast { sizes } => sizes.len(),
    };
    layout.piece().is_none_or(few) || chain.iter().all(|step| axes(step) <= MAX_RANK)
}

impl Value {
    fn clone_if(&self, wanted: bool) -> Option<Self> {
        wanted.then(|| self.clone())
    }
}

/// The node of one view step.
fn emit(builder: &mut Builder, x: NodeId, step: &View) -> std::result::Result<NodeId, IrError> {
    // Ranks are at most 32, so axis numbers and counts fit a byte.
    let bytes = |list: &[usize]| -> SmallVec<[u8; 8]> { list.iter().map(|&n| n as u8).collect() };
    match step {
        View::Slice(spans) => {
            let spans: SmallVec<[Span; 6]> = spans.iter().map(|s| one_spelling(*s)).collect();
            builder.slice(x, &spans)
        }
        View::Permute(perm) => builder.permute(x, &bytes(perm)),
        View::Collapse { groups } => builder.collapse(x, &bytes(groups)),
        View::Expand { groups, sizes } => builder.expand(x, &bytes(groups), sizes),
        View::Broadcast { sizes } => builder.broadcast(x, sizes),
    }
}

/// Spans that take nothing or one element have step 1.
fn one_spelling(span: Span) -> Span {
    match span.len {
        0 => Span::whole(0),
        1 => Span { step: 1, ..span },
        _ => span,
    }
}
