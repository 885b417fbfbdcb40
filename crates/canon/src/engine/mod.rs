//! The machine that canonicalises: values as views of bases, bases as hash-consed nodes.
//!
//! Views never become nodes on the way. A value is a base node and one
//! [layout](restride_layout::Layout) over it; view operations compose into the layout, and only
//! when a value is an operand of a gather or concat, an obligation or an output is the layout
//! printed back as the one chain of nodes that it stands for ([`Engine::settle`]). Before that,
//! the [rules](crate::rules) see it.
//!
//! Everything that can repeat is bounded: rules nest at most [`MAX_DEPTH`] deep and fire at most
//! `fuel` times; what is past the bound stays as it is, correct but not canonical.

mod concat;
mod digits;
mod finish;
mod gather;
mod settle;
mod value;
mod views;

pub(crate) use concat::Parts;
pub(crate) use digits::{AxisDigits, Digits, flat};
pub(crate) use settle::chain_of;
pub(crate) use value::{PendingCoordinate, PendingGather, PendingIndex, Source, Value, count};

use crate::CanonError;
use crate::ir::{Builder, Check, IrError, NodeId, Type};
use crate::trace::{Measure, Rewrite, Rule, Trace};
use restride_graph::{ElementType, Strided, ValueId};
use restride_layout::Layout;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

pub(crate) type Result<T> = std::result::Result<T, CanonError>;

/// How deep rules may nest.
const MAX_DEPTH: u32 = 40;

/// The longest list of parts that flattening and sinking make.
pub(crate) const MAX_PARTS: usize = 64;

/// How many rewrites a graph may have for each of its values.
const FUEL_PER_VALUE: u64 = 256;

/// The state of one canonicalisation.
pub(crate) struct Engine<'t> {
    builder: Builder,
    /// Nodes by the hash of their kind and type.
    memo: FxHashMap<u64, NodeId>,
    /// What is demanded already: index tensor, limit, wrap.
    demanded: FxHashSet<(NodeId, i64, bool)>,
    /// What the node at this place is a view of, if it ends a chain.
    views: Vec<Option<Value>>,
    trace: Option<&'t mut dyn Trace>,
    /// The value of the spelled graph that is being worked on.
    on: ValueId,
    depth: u32,
    fuel: u64,
    /// Whether a chain was cut: then the result is canonicalised once more.
    cuts: bool,
}

impl<'t> Engine<'t> {
    pub(crate) fn new(values: usize, trace: Option<&'t mut dyn Trace>) -> Self {
        Self {
            builder: Builder::new(),
            memo: FxHashMap::default(),
            demanded: FxHashSet::default(),
            views: Vec::with_capacity(8),
            trace,
            on: ValueId::from_u32(0),
            depth: 0,
            cuts: false,
            fuel: FUEL_PER_VALUE * (values as u64 + 16),
        }
    }

    /// Says which value of the spelled graph comes next.
    pub(crate) fn turn_to(&mut self, value: ValueId) {
        self.on = value;
    }

    /// Tells the trace, if there is one.
    pub(crate) fn note(&mut self, rule: &'static str, why: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            let (on, why) = (self.on, why());
            trace.rewrite(Rewrite { rule, on, why });
        }
    }

    /// A rule has fired: it must have lowered its measure.
    pub(crate) fn fired(
        &mut self,
        rule: &'static Rule,
        before: Measure,
        after: Measure,
        why: impl FnOnce() -> String,
    ) -> Result<()> {
        if after >= before {
            return Err(CanonError::NotLowered {
                rule: rule.name,
                before,
                after,
            });
        }
        self.fuel = self.fuel.saturating_sub(1);
        self.note(rule.name, why);
        Ok(())
    }

    /// Whether rules may still fire here.
    pub(crate) fn may_rewrite(&self) -> bool {
        self.fuel > 0 && self.depth < MAX_DEPTH
    }

    /// The type of a base.
    pub(crate) fn ty(&self, node: NodeId) -> &Type {
        self.builder.graph().ty(node)
    }

    /// The node of a base.
    pub(crate) fn node(&self, node: NodeId) -> &crate::ir::Node {
        self.builder.graph().node(node)
    }

    /// The next input.
    pub(crate) fn input(
        &mut self,
        element: ElementType,
        shape: &[i64],
        layout: Option<&Strided>,
    ) -> Result<Value> {
        let node = self.builder.input(element, shape, layout.cloned())?;
        self.views.push(None);
        self.whole(node)
    }

    /// A constant; one element repeated is a fill.
    pub(crate) fn constant(
        &mut self,
        element: ElementType,
        shape: &[i64],
        bytes: &Arc<[u8]>,
    ) -> Result<Value> {
        if let Some(bits) = crate::rules::constant_fill::uniform(element, bytes) {
            let rule = crate::rules::constant_fill::RULE.name;
            self.note(rule, || format!("every element is {bits:#x}"));
            return Ok(Value::fill(element, shape, bits));
        }
        let node = self.cons(|builder| builder.constant(element, shape, Arc::clone(bytes)))?;
        self.whole(node)
    }

    /// All of a node.
    pub(crate) fn whole(&self, node: NodeId) -> Result<Value> {
        let ty = self.ty(node);
        let layout = Layout::dense(&ty.shape)?;
        Ok(Value::view(ty.element, node, layout))
    }

    /// What a node that has been settled stands for.
    pub(crate) fn value_of(&self, node: NodeId) -> Result<Value> {
        if let Some(Some(value)) = self.views.get(node.index()) {
            return Ok(value.clone());
        }
        if let crate::ir::Node::Fill { bits } = self.node(node) {
            let ty = self.ty(node);
            return Ok(Value::fill(ty.element, &ty.shape, *bits));
        }
        self.whole(node)
    }

    /// One more output.
    pub(crate) fn output(&mut self, value: &Value, layout: Option<&Strided>) -> Result<()> {
        let node = self.settle(value)?;
        Ok(self.builder.output(node, layout.cloned())?)
    }

    /// One more obligation, on the indices of this value.
    pub(crate) fn check(&mut self, value: &Value, demand: Demand) -> Result<()> {
        crate::rules::check::demand(self, value, demand)
    }

    /// A chain has been cut.
    pub(crate) fn has_cut(&mut self) {
        self.cuts = true;
    }

    /// Adds an obligation, unless an earlier one says the same.
    pub(crate) fn push_check(&mut self, check: Check) -> std::result::Result<bool, IrError> {
        let new = self.demanded.insert((check.node, check.limit, check.wrap));
        if new {
            self.builder.check(check)?;
        }
        Ok(new)
    }
}

/// What an obligation asks of an index tensor; see [`Check`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    pub(crate) limit: i64,
    pub(crate) wrap: bool,
    pub(crate) op: u32,
    pub(crate) column: u32,
    pub(crate) columns: u32,
}
