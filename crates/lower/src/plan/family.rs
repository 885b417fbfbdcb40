//! The plans of a graph whose inputs come in many sizes, from one of them.
//!
//! Where no operator asks how large an axis is, every number of a plan is a constant times sizes of
//! the inputs. Of two plans for large prime sizes the formulas can be read off, for a number has one
//! factorisation: and a formula that two plans agree on is not a coincidence of the sizes.

use super::finish::DOES_NOT_DIVIDE;
use super::{Answer, Body, Destination, Plan};
use smallvec::SmallVec;

/// Plans that differ in sizes only.
#[derive(Clone, Debug)]
pub struct PlanFamily {
    /// One of them, its offsets as [`lowest`] has them.
    plan: Plan,
    /// For every number that is not the same in all: its place, in the order of [`numbers`].
    formulas: Vec<(usize, Formula)>,
}

/// A factor times some of the sizes.
#[derive(Clone, Debug)]
struct Formula {
    factor: i64,
    sizes: SmallVec<[u8; 8]>,
}

impl PlanFamily {
    /// The family of two plans of one graph, whose open sizes are distinct primes in each, none in both. There is
    /// none if they differ in more than numbers that are products of sizes, or if sizes that divide
    /// where primes do not could have a better plan.
    ///
    /// That numbers follow the formulas on other sizes as well is for the caller to know:
    /// [`Graph::is_uniform_with`](restride_graph::Graph::is_uniform_with).
    #[must_use]
    pub fn of(
        (mut first, sizes): (Plan, &[i64]),
        (mut second, others): (Plan, &[i64]),
    ) -> Option<Self> {
        if depends_on_division(&first) || depends_on_division(&second) {
            return None;
        }
        lowest(&mut first, i64::checked_add)?;
        lowest(&mut second, i64::checked_add)?;
        let mut of_second = Vec::new();
        numbers(&mut second, &mut |n| of_second.push(*n));
        let mut of_first = Vec::new();
        numbers(&mut first, &mut |n| of_first.push(*n));
        if of_first.len() != of_second.len() {
            return None;
        }
        let mut formulas = Vec::new();
        for (place, (&here, &there)) in of_first.iter().zip(&of_second).enumerate() {
            if here != there {
                let formula = Formula::of(here, sizes);
                if formula.at(others) != Some(there) {
                    return None;
                }
                formulas.push((place, formula));
            }
        }
        let mut place = 0..;
        numbers(&mut second, &mut |n| {
            *n = place.next().map_or(0, |at| of_first[at])
        });
        (first == second).then_some(Self {
            plan: first,
            formulas,
        })
    }

    /// The plan for these sizes; nothing if a number does not fit.
    #[must_use]
    pub fn plan(&self, sizes: &[i64]) -> Option<Box<Plan>> {
        let mut plan = Box::new(self.plan.clone());
        let mut formulas = self.formulas.iter();
        let mut next = formulas.next();
        let (mut place, mut fits) = (0, true);
        numbers(&mut plan, &mut |n| {
            if let Some((at, formula)) = next
                && *at == place
            {
                match formula.at(sizes) {
                    Some(number) => *n = number,
                    None => fits = false,
                }
                next = formulas.next();
            }
            place += 1;
        });
        lowest(&mut plan, i64::checked_sub).filter(|()| fits)?;
        Some(plan)
    }

    /// About how many bytes it has, but for constants.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.plan.bytes() + size_of_val(&*self.formulas)
    }
}

/// Whether a plan has temporaries or copies that it might not need if one size divided another.
fn depends_on_division(plan: &Plan) -> bool {
    let mut stages = plan.stages.iter();
    let mut answers = plan.answers.iter();
    stages.any(|stage| stage.destination == Destination::Scratch)
        || answers
            .any(|answer| matches!(answer, Answer::Computed { why, .. } if why == DOES_NOT_DIVIDE))
}

impl Formula {
    /// What a number is a product of.
    fn of(mut number: i64, primes: &[i64]) -> Self {
        let mut sizes = SmallVec::new();
        for (size, prime) in (0..).zip(primes) {
            while number != 0 && number % prime == 0 {
                number /= prime;
                sizes.push(size);
            }
        }
        Self {
            factor: number,
            sizes,
        }
    }

    fn at(&self, sizes: &[i64]) -> Option<i64> {
        let product = |number: i64, size: &u8| number.checked_mul(sizes[usize::from(*size)]);
        self.sizes.iter().try_fold(self.factor, product)
    }
}

/// Moves addresses of the first element to the lowest address that the same digits reach, with
/// `checked_add`, or back with `checked_sub`. Of a tensor that is turned round the first is a sum of
/// products, the lowest is not.
fn lowest(plan: &mut Plan, by: fn(i64, i64) -> Option<i64>) -> Option<()> {
    let down = |sum: i64, extent: i64, stride: i64| match stride < 0 {
        true => sum.checked_add(stride.checked_mul(extent - 1)?),
        false => Some(sum),
    };
    for piece in plan.stages.iter_mut().flat_map(|stage| &mut stage.pieces) {
        if let Body::Copy { offset, .. } = &mut piece.body {
            let mut digits = piece.digits.iter();
            let all = digits.try_fold(0, |sum, digit| down(sum, digit.extent, digit.src))?;
            *offset = by(*offset, all)?;
        }
    }
    for (answer, (_, shape, _)) in plan.answers.iter_mut().zip(&plan.outputs) {
        if let Answer::View { layout, .. } = answer {
            let mut axes = shape.iter().zip(&layout.strides);
            let all = axes.try_fold(0, |sum, (&size, &stride)| down(sum, size, stride))?;
            layout.offset = by(layout.offset, all)?;
        }
    }
    Some(())
}

/// Shows every number of a plan that may depend on sizes, in one order.
fn numbers(plan: &mut Plan, see: &mut impl FnMut(&mut i64)) {
    plan.inputs.iter_mut().for_each(|(_, count)| see(count));
    for (_, shape, layout) in &mut plan.outputs {
        shape.iter_mut().for_each(&mut *see);
        if let Some(layout) = layout {
            see(&mut layout.offset);
            layout.strides.iter_mut().for_each(&mut *see);
        }
    }
    for check in &mut plan.checks {
        see(&mut check.offset);
        see(&mut check.limit);
        for (extent, stride) in &mut check.dims {
            see(extent);
            see(stride);
        }
    }
    for stage in &mut plan.stages {
        see(&mut stage.count);
        for piece in &mut stage.pieces {
            see(&mut piece.dst);
            for digit in &mut piece.digits {
                see(&mut digit.extent);
                see(&mut digit.dst);
                see(&mut digit.src);
                digit.indices.iter_mut().for_each(&mut *see);
            }
            let Body::Copy {
                source: _,
                offset,
                indices,
            } = &mut piece.body
            else {
                continue;
            };
            see(offset);
            for index in indices {
                see(&mut index.offset);
                see(&mut index.coeff);
                see(&mut index.limit);
                let through = index.through.iter_mut();
                through.for_each(|(_, stride)| see(stride));
            }
        }
    }
    for answer in &mut plan.answers {
        if let Answer::View { input: _, layout } = answer {
            see(&mut layout.offset);
            layout.strides.iter_mut().for_each(&mut *see);
        }
    }
}
