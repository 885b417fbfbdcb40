//! What the plans of a template have in common: once some sizes of its inputs have been planned from the
//! graph, others get their plan from these by substitution.
//!
//! Sizes in which three calls in a row differ are *open*. The graph is planned for two sets of large primes in
//! their place: if operators do the same whatever these are, as long as they are large enough, and each number of
//! both plans is a sum of products of open sizes and constants, that is what it is for any sizes, and a new plan is
//! a few multiplications. Where that is not so, it may be for sizes that differ by multiples, as those of images
//! that are cut into squares. Otherwise each shape is planned from the graph, as it is where anything else than an
//! open size is new.

use crate::meta::Meta;
use crate::pipeline::{Options, planned};
use crate::sync::Mutex;
use crate::template::{Key, TemplateInner, shapes};
use crate::{CompileError, ViewPolicy};
use restride_graph::Graph;
use restride_lower::plan::{Plan, PlanFamily};
use smallvec::SmallVec;
use std::sync::Arc;

/// Pairs of primes: how many open sizes there may be, the fewer the larger they are. Those of a pair are far from
/// each other and leave no equal rest with any small number; of two sizes the second is larger than what multiplies
/// the first.
const PRIMES: [&[[i64; 2]]; 4] = [
    &[[1_048_573, 929_891]],
    &[[32_749, 28_751], [1_073_741_789, 949_999_783]],
    &[[8191, 8117], [8179, 8093], [8171, 8089]],
    &[[2039, 1993], [2029, 1907], [2027, 1933], [2017, 1979]],
];

/// A number for each size that is open.
type OpenSizes = [i64; PRIMES.len()];

/// How often a template is planned for primes before it is left alone.
const MOST_TRIES: u8 = 8;

/// So many plans are kept: where every second element is taken, odd sizes have one and even ones another.
const MOST_COMMON: usize = 4;

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
    /// The latest first.
    common: SmallVec<[Arc<CommonPlan>; 1]>,
}

/// The plans of a template for all sizes of some axes.
struct CommonPlan {
    /// A key of these plans.
    key: Key,
    /// The words of keys that are open, and which size stands there.
    open: OpenWords,
    /// In the order of sizes.
    steps: Steps,
    /// The largest number for which it is known to hold.
    most: i64,
    /// Which views may answer its outputs.
    views: ViewPolicy,
    plans: PlanFamily,
}

/// The words of keys that are open, and the number of the size that stands there.
type OpenWords = SmallVec<[(usize, usize); 4]>;

/// What of each size is open.
type Steps = SmallVec<[Step; 4]>;

/// Sizes that are the multiples of a step, and a rest more.
#[derive(Clone, Copy, PartialEq)]
struct Step {
    step: i64,
    rest: i64,
}

impl Step {
    /// All sizes.
    const ONE: Self = Self { step: 1, rest: 0 };

    /// The largest step with which three sizes can be had.
    fn of(sizes: [i64; 3]) -> Self {
        let [first, second, third] = sizes;
        let (mut step, mut rest) = (second.abs_diff(first), third.abs_diff(first));
        while rest != 0 {
            (step, rest) = (rest, step % rest);
        }
        // They differ.
        Self::to(first, i64::try_from(step).unwrap_or(1).max(1))
    }

    /// The sizes of which this is one.
    fn to(size: i64, step: i64) -> Self {
        Self {
            step,
            rest: size.rem_euclid(step),
        }
    }

    fn size(self, times: i64) -> Option<i64> {
        times.checked_mul(self.step)?.checked_add(self.rest)
    }

    fn times(self, size: i64) -> Option<i64> {
        let all = size.checked_sub(self.rest)?;
        (all % self.step == 0).then_some(all / self.step)
    }
}

/// What keys have in common.
enum InCommon {
    Common(Arc<CommonPlan>),
    /// The last of them is no such key itself: it is too small, or something of it is the same by chance.
    ForOthers,
    Nothing,
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
        let known = self.0.try_lock().ok()?;
        let (common, sizes) = known.common.iter().find_map(|common| {
            let sizes = common.sizes(key).filter(|_| common.views == views)?;
            Some((Arc::clone(common), sizes))
        })?;
        drop(known);
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
                match common.unwrap_or(InCommon::Nothing) {
                    InCommon::Common(common) => {
                        known.common.truncate(MOST_COMMON - 1);
                        known.common.insert(0, common);
                    }
                    InCommon::ForOthers => {}
                    InCommon::Nothing => known.without = open,
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
    ) -> Result<InCommon, CompileError> {
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
        let open: OpenWords = open.iter().map(size).collect();
        let all: Steps = columns.iter().map(|_| Step::ONE).collect();
        let multiples: Steps = columns.iter().map(|column| Step::of(*column)).collect();
        let step = template.graph.step();
        let stepped: Steps = columns.iter().map(|c| Step::to(c[0], step)).collect();
        let mut tried: SmallVec<[Steps; 3]> = SmallVec::new();
        for steps in [all, multiples, stepped] {
            if !tried.contains(&steps) {
                let found = Self::in_steps(template, (key, &open, &steps), made, options);
                match found {
                    Ok(InCommon::Nothing) | Err(_) => tried.push(steps),
                    found => return found,
                }
            }
        }
        Ok(InCommon::Nothing)
    }

    /// What keys have in common whose open words are these sizes.
    fn in_steps(
        template: &TemplateInner,
        (key, open, steps): (&Key, &OpenWords, &Steps),
        made: &Meta,
        options: &Options,
    ) -> Result<InCommon, CompileError> {
        let Some(primes) = steps.len().checked_sub(1).and_then(|n| PRIMES.get(n)) else {
            return Ok(InCommon::Nothing);
        };
        let on = |times: &[i64]| {
            let mut key = key.clone();
            for &(at, size) in open {
                key[at] = steps[size].size(times[size]).unwrap_or(0);
            }
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
        let Some(uniform) = here.uniform_with(&there) else {
            return Ok(InCommon::Nothing);
        };
        let (here, there) = (planned(&here, options)?, planned(&there, options)?);
        let Some(plans) = PlanFamily::of((here, &sets[0]), (there, &sets[1]), &uniform) else {
            return Ok(InCommon::Nothing);
        };
        let common = Self {
            key: key.clone(),
            open: open.clone(),
            steps: steps.clone(),
            most: sets.iter().flatten().copied().min().unwrap_or(0),
            views: options.views,
            plans,
        };
        // What was just planned shows whether it is as good.
        let again = common.sizes(key).and_then(|it| common.plans.plan(&it));
        Ok(match again.map(|plan| made.is_of(*plan)) {
            Some(true) => InCommon::Common(Arc::new(common)),
            Some(false) => InCommon::Nothing,
            None => InCommon::ForOthers,
        })
    }

    /// What of the sizes of a key is open, if it is one of these.
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
                        let times = self.steps[size].times(word).unwrap_or(0);
                        let before = std::mem::replace(&mut sizes[size], times);
                        (before == 0 || before == times) && (2..=self.most).contains(&times)
                    }
                },
            );
        (same && key.len() == self.key.len()).then_some(sizes)
    }
}
