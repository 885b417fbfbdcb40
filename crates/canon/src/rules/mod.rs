//! The rewrite rules, one to a file: equation, side condition, the measure it lowers.
//!
//! A rule fires on known facts only, never because another one ran before, and every firing is
//! checked to have lowered its measure.

pub(crate) mod check;
pub(crate) mod concat_empty;
pub(crate) mod concat_flatten;
pub(crate) mod concat_one;
pub(crate) mod concat_rejoin;
mod concat_views;
pub(crate) mod constant_fill;
mod constant_views;
pub(crate) mod cut;
mod cut_views;
pub(crate) mod dead_nodes;
mod gather_clamp_unit;
mod gather_constant;
mod gather_empty;
mod gather_fill;
mod gather_fold;
mod gather_none;
mod gather_permuted;
mod gather_repeats;
mod gather_units;
mod gather_views;
mod table;
pub(crate) mod view_chain;

use crate::engine::{Base, Engine, PendingGather, Result, Value, ValueSource};
use crate::trace::Rule;

/// Every rule, for documentation and for tests.
pub const ALL: &[&Rule] = &[
    &check::RULE,
    &concat_empty::RULE,
    &concat_flatten::RULE,
    &concat_one::RULE,
    &concat_rejoin::RULE,
    &concat_views::RULE,
    &constant_fill::RULE,
    &constant_views::RULE,
    &cut::RULE,
    &cut_views::RULE,
    &dead_nodes::RULE,
    &gather_clamp_unit::RULE,
    &gather_constant::RULE,
    &gather_empty::RULE,
    &gather_fill::RULE,
    &gather_fold::RULE,
    &gather_none::RULE,
    &gather_permuted::RULE,
    &gather_repeats::RULE,
    &gather_units::RULE,
    &gather_views::RULE,
    &view_chain::RULE,
];

/// What a rule did to a gather that is being made.
#[allow(clippy::large_enum_variant, reason = "it lives for one match")]
pub(crate) enum RuleOutcome {
    /// It does not apply.
    Unchanged,
    /// The gather is another one now.
    Changed,
    /// It is no gather after all.
    Done(Value),
}

/// A rule about gathers that are being made.
pub(crate) type GatherRule = fn(&mut Engine<'_>, &mut PendingGather) -> Result<RuleOutcome>;

/// Those without which there is no node.
pub(crate) const NEEDED: [GatherRule; 1] = [gather_empty::apply];

/// They are tried in this order until one applies.
pub(crate) const GATHER: [GatherRule; 9] = [
    gather_empty::apply,
    gather_fill::apply,
    gather_units::apply,
    gather_clamp_unit::apply,
    gather_repeats::apply,
    gather_none::apply,
    gather_fold::apply,
    gather_constant::apply,
    gather_permuted::apply,
];

/// Rules that look below the views of a value.
pub(crate) fn below(engine: &mut Engine<'_>, value: &Value) -> Result<Option<Value>> {
    let ValueSource::View { base, layout } = &value.source else {
        return Ok(None);
    };
    match engine.base(*base) {
        Base::Input(_) => Ok(None),
        Base::Constant(_) => constant_views::fold(engine, value, *base, layout),
        Base::Concat { .. } => concat_views::sink(engine, value, *base),
        Base::Gather(_) => gather_views::absorb(engine, value, *base),
        Base::Cut(_) => cut_views::lower(engine, value, *base),
    }
}
