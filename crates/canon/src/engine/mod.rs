//! The machine that canonicalises: values as views of bases, bases made once.
//!
//! Nothing becomes a node on the way. A value is a base and one
//! [layout](restride_layout::Layout) over it; view operations compose into the layout. When a
//! value is an operand of a gather or concat, an obligation or an output, the
//! [rules](crate::rules) see it first. At the end ([`Engine::finish`]) what is needed becomes nodes:
//! a base is one, and so is each layout over one.
//!
//! Everything that can repeat is bounded: rules nest at most [`MAX_DEPTH`] deep, fire at most
//! `fuel` times, and spend at most a quarter of what the compile may; what is past the bound stays
//! as it is, correct but not canonical.

mod base;
mod concat;
mod digits;
mod finish;
mod gather;
mod settle;
mod value;
mod views;

pub(crate) use base::{Base, BaseId};
pub(crate) use concat::Parts;
pub(crate) use digits::{AxisDigits, Digits, flat};
pub(crate) use value::{
    After, PendingCoordinate, PendingGather, PendingIndex, Value, ValueSource, count,
};

use crate::CanonError;
use crate::memo::Memo;
use crate::trace::{Measure, Rewrite, Rule, Trace};
use base::Held;
use restride_budget::{Budget, Meter};
use restride_graph::{Strided, ValueId, ViewPolicy};
use smallvec::SmallVec;

pub(crate) type Result<T> = std::result::Result<T, CanonError>;

/// How deep rules may nest. Each takes two to four KiB of stack.
const MAX_DEPTH: u32 = 8;

/// The longest list of parts that flattening and sinking make.
pub(crate) const MAX_PARTS: usize = 64;

/// How many rewrites a graph may have for each of its values.
const FUEL_PER_VALUE: u64 = 256;

/// An output, before it is printed.
struct PendingOutput {
    value: Value,
    layout: Option<Strided>,
    views: ViewPolicy,
    /// The value of the spelled graph that it is.
    on: ValueId,
}

/// The state of one canonicalisation.
pub(crate) struct Engine<'t> {
    bases: Vec<Held>,
    memo: Memo,
    inputs: SmallVec<[(BaseId, Option<Strided>); 1]>,
    checks: Vec<(Value, Demand)>,
    /// What is demanded already: index tensor, limit, wrap.
    demanded: Memo,
    outputs: SmallVec<[PendingOutput; 1]>,
    trace: Option<&'t mut dyn Trace>,
    /// What the compile may spend.
    pub(crate) meter: &'t Meter,
    /// What must be left of it for rules to go on.
    reserve: Budget,
    /// The value of the spelled graph that is being worked on.
    on: ValueId,
    depth: u32,
    fuel: u64,
    /// Whether anything is simplified at all.
    pub(crate) rules: bool,
    /// Whether a chain was cut: then the result is canonicalised once more.
    cuts: bool,
}

impl<'t> Engine<'t> {
    pub(crate) fn new(values: usize, meter: &'t Meter, trace: Option<&'t mut dyn Trace>) -> Self {
        let all = meter.budget();
        Self {
            meter,
            reserve: Budget {
                work: all.work / 4 * 3,
                bytes: all.bytes / 4 * 3,
            },
            bases: Vec::with_capacity(4),
            memo: Memo::default(),
            inputs: SmallVec::new(),
            checks: Vec::new(),
            demanded: Memo::default(),
            outputs: SmallVec::new(),
            trace,
            on: ValueId::from_u32(0),
            depth: 0,
            rules: true,
            cuts: false,
            fuel: FUEL_PER_VALUE * (values as u64 + 16),
        }
    }

    /// One that makes a base of every operator and simplifies nothing.
    pub(crate) fn without_rules(meter: &'t Meter) -> Self {
        Self {
            rules: false,
            ..Self::new(0, meter, None)
        }
    }

    /// Says which value of the spelled graph comes next.
    pub(crate) fn turn_to(&mut self, value: ValueId) {
        self.on = value;
    }

    /// Whether somebody wants to be told.
    pub(crate) fn traces(&self) -> bool {
        self.trace.is_some()
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
        let left = self.meter.left();
        self.rules
            && self.fuel > 0
            && self.depth < MAX_DEPTH
            && left.work >= self.reserve.work
            && left.bytes >= self.reserve.bytes
    }

    /// One more output.
    pub(crate) fn output(
        &mut self,
        value: &Value,
        layout: Option<&Strided>,
        views: ViewPolicy,
    ) -> Result<()> {
        self.meter.things(1, 400, 300);
        let value = self.normal(value.clone())?;
        self.outputs.push(PendingOutput {
            value,
            layout: layout.cloned(),
            views,
            on: self.on,
        });
        Ok(())
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
    pub(crate) fn push_check(&mut self, value: Value, demand: Demand) -> bool {
        let new = self.checks.len() as u32;
        self.checks.push((value, demand));
        let checks = &self.checks;
        let what = |place: u32| {
            let (value, demand) = &checks[place as usize];
            (value, demand.limit, demand.wrap)
        };
        let known = self.demanded.find(new, what).is_some();
        if known {
            self.checks.pop();
        }
        !known
    }
}

/// What an obligation asks of an index tensor; see [`Obligation`](crate::ir::Obligation).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    pub(crate) limit: i64,
    pub(crate) wrap: bool,
    pub(crate) op: u32,
    pub(crate) column: u32,
    pub(crate) columns: u32,
}
