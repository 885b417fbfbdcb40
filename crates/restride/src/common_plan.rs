//! What the plans of a template have in common: once some sizes of its inputs have been planned from the
//! graph, others get their plan from these by substitution.
//!
//! Sizes in which three calls in a row differ are *open*. The graph is planned for two sets of large primes in
//! their place: if no operator asks how large an open axis is, and each number of both plans is a
//! product of open sizes and a constant, that is what it is for any sizes, and a new plan is a few
//! multiplications. Otherwise each shape is planned from the graph, as it is where anything else than an open size
//! is new.

use crate::meta::Meta;
use crate::pipeline::{Options, planned};
use crate::sync::Mutex;
use crate::template::{Key, TemplateInner, shapes};
use crate::{CompileError, ViewPolicy};
use restride_graph::Graph;
use restride_lower::plan::{Plan, PlanFamily};
use smallvec::SmallVec;
use std::sync::Arc;

/// Pairs of primes: how many open sizes there may be, the fewer the larger they are.
const PRIMES: [&[[i64; 2]]; 4] = [
    &[[1_048_573, 1_048_571]],
    &[[65_521, 65_497], [65_519, 65_479]],
    &[[8191, 8167], [8179, 8161], [8171, 8147]],
    &[[2039, 2011], [2029, 2003], [2027, 1999], [2017, 1997]],
];

/// A number for each size that is open.
type OpenSizes = [i64; PRIMES.len()];

/// How often a template is planned for primes before it is left alone.
const MOST_TRIES: u8 = 8;

/// What has been learnt of the plans of one template.
#[derive(Default)]
pub(crate) struct CommonPlans(Mutex<Learnt>);

#[derive(Default)]
struct Learnt {
    /// The last keys that were planned from the graph, the latest first.
    keys: SmallVec<[Key; 2]>,
    /// The words of keys that differed when there last was nothing in common.
    without: SmallVec<[usize; 4]>,
    tries: u8,
    common: Option<Arc<CommonPlan>>,
}

/// The plans of a template for all sizes of some axes.
struct CommonPlan {
    /// A key of these plans.
    key: Key,
    /// The words of keys that are open, and which size stands there.
    open: SmallVec<[(usize, usize); 4]>,
    /// The largest size for which it is known to hold.
    most: i64,
    /// Which views may answer its outputs.
    views: ViewPolicy,
    plans: PlanFamily,
}

/// Where a plan can be had from again, which is a tenth of its size.
pub(crate) struct Origin {
    common: Arc<CommonPlan>,
    sizes: OpenSizes,
}

impl Origin {
    /// The plan, as it was.
    pub(crate) fn plan(&self) -> Option<Box<Plan>> {
        self.common.plans.plan(&self.sizes)
    }
}

impl CommonPlans {
    /// The plan of a key, if it is known by substitution. Nobody waits for another thread that is
    /// planning for primes.
    pub(crate) fn plan(&self, key: &[i64], views: ViewPolicy) -> Option<(Box<Plan>, Origin)> {
        let common = self.0.try_lock().ok()?.common.clone()?;
        let sizes = common.sizes(key).filter(|_| common.views == views)?;
        let origin = Origin { common, sizes };
        Some((origin.plan()?, origin))
    }

    /// A key has been planned from the graph, which came to this: looks for what it has in common with
    /// those before it.
    pub(crate) fn learn(
        &self,
        template: &TemplateInner,
        key: &Key,
        made: &Meta,
        options: &Options,
    ) {
        let Ok(mut known) = self.0.try_lock() else {
            return;
        };
        if known.tries == MOST_TRIES {
            return;
        }
        if let [last, before] = &*known.keys
            && last.len() == key.len()
            && before.len() == key.len()
        {
            let differ = |at: &usize| key[*at] != last[*at] || key[*at] != before[*at];
            let open: SmallVec<[usize; 4]> = (0..key.len()).filter(differ).collect();
            if open != known.without {
                let all = [key, last, before];
                let common = CommonPlan::of(template, all, made, &open, options);
                known.tries += 1;
                match common.ok().flatten() {
                    Some(common) => known.common = Some(Arc::new(common)),
                    None => known.without = open,
                }
            }
        }
        known.keys.truncate(1);
        known.keys.insert(0, key.clone());
    }
}

impl CommonPlan {
    /// What three keys that differ in these words have in common.
    fn of(
        template: &TemplateInner,
        [key, last, before]: [&Key; 3],
        made: &Meta,
        open: &[usize],
        options: &Options,
    ) -> Result<Option<Self>, CompileError> {
        // Words that were equal in each of the keys are one size.
        let mut columns: SmallVec<[[i64; 3]; 4]> = SmallVec::new();
        let size = |&at: &usize| {
            let column = [key[at], last[at], before[at]];
            let known = columns.iter().position(|known| *known == column);
            let size = known.unwrap_or_else(|| {
                columns.push(column);
                columns.len() - 1
            });
            (at, size)
        };
        let open: SmallVec<[(usize, usize); 4]> = open.iter().map(size).collect();
        let Some(primes) = columns.len().checked_sub(1).and_then(|n| PRIMES.get(n)) else {
            return Ok(None);
        };
        let on = |sizes: &[i64]| {
            let mut key = key.clone();
            open.iter().for_each(|&(at, size)| key[at] = sizes[size]);
            let shapes = shapes(&key).ok_or(CompileError::InputCount {
                expected: template.graph.inputs().len(),
                got: 0,
            })?;
            template.specialised(&shapes)
        };
        let sets = [0, 1].map(|set| {
            primes
                .iter()
                .map(|pair| pair[set])
                .collect::<SmallVec<[i64; 4]>>()
        });
        let [here, there]: [Graph; 2] = [on(&sets[0])?, on(&sets[1])?];
        if !here.is_uniform_with(&there) {
            return Ok(None);
        }
        let plans = [planned(&here, options)?, planned(&there, options)?];
        let [here, there] = plans;
        let Some(plans) = PlanFamily::of((here, &sets[0]), (there, &sets[1])) else {
            return Ok(None);
        };
        let common = Self {
            key: key.clone(),
            open,
            most: sets.iter().flatten().copied().min().unwrap_or(0),
            views: options.views,
            plans,
        };
        // What was just planned shows whether it is as good.
        let again = common.sizes(key).and_then(|it| common.plans.plan(&it));
        Ok(again
            .is_some_and(|plan| made.is_of(*plan))
            .then_some(common))
    }

    /// The open sizes of a key, if it is one of these.
    fn sizes(&self, key: &[i64]) -> Option<OpenSizes> {
        let mut sizes = OpenSizes::default();
        let mut open = self.open.iter().copied().peekable();
        let same = key
            .iter()
            .zip(&self.key)
            .enumerate()
            .all(
                |(at, (&word, &known))| match open.next_if(|(open, _)| *open == at) {
                    None => word == known,
                    Some((_, size)) => {
                        let before = std::mem::replace(&mut sizes[size], word);
                        (before == 0 || before == word) && (2..=self.most).contains(&word)
                    }
                },
            );
        (same && key.len() == self.key.len()).then_some(sizes)
    }
}
