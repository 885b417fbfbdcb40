//! The plans of a graph whose inputs come in many sizes, from one of them.
//!
//! Where operators do the same whatever the size of an axis, every number of a plan is a constant times sizes of the
//! inputs, or a sum of such products. Of two plans for large prime sizes the formulas can be read off, for a number
//! has one factorisation, and one way to write it with digits that are small for its base: and a formula that
//! two plans agree on is not a coincidence of the sizes.

use super::finish::DOES_NOT_DIVIDE;
use super::{Answer, Body, Destination, PieceDigit, Plan};
use restride_graph::Uniform;
use smallvec::SmallVec;

/// Plans that differ in sizes only.
#[derive(Clone, Debug)]
pub struct PlanFamily {
    /// One of them, its offsets as [`lowest`] has them.
    plan: Plan,
    /// For every number that is not the same in all: its place, in the order of [`numbers`].
    formulas: Vec<(usize, Formula)>,
    /// What has to be larger than so much.
    reached: Vec<Formula>,
    more_than: i64,
    /// Whether there are sums: then extents that are not equal in the plan must not be on other sizes.
    sums: bool,
}

/// A sum of products.
#[derive(Clone, Debug)]
struct Formula(SmallVec<[Product; 1]>);

/// A factor times some of the sizes.
#[derive(Clone, Debug)]
struct Product {
    factor: i64,
    sizes: Factors,
}

/// Which sizes are multiplied, by their numbers.
type Factors = SmallVec<[u8; 8]>;

impl PlanFamily {
    /// The family of two plans of one graph, whose open sizes are distinct primes in each, none in both; of two
    /// sizes the second is much larger than the first. There is none if they differ in more than numbers that are
    /// sums of products of sizes, or if sizes that divide where primes do not could have a better plan.
    ///
    /// That numbers follow the formulas on other sizes as well is for the caller to know:
    /// [`Graph::uniform_with`](restride_graph::Graph::uniform_with), whose answer this is.
    #[must_use]
    pub fn of(
        (mut first, sizes): (Plan, &[i64]),
        (mut second, others): (Plan, &[i64]),
        uniform: &Uniform,
    ) -> Option<Self> {
        if depends_on_division(&first) || depends_on_division(&second) {
            return None;
        }
        lowest(&mut first, i64::checked_add)?;
        lowest(&mut second, i64::checked_add)?;
        let mut of_second = Vec::new();
        numbers(&mut second, &mut |_, n| of_second.push(*n));
        let mut of_first = Vec::new();
        numbers(&mut first, &mut |_, n| of_first.push(*n));
        if of_first.len() != of_second.len() {
            return None;
        }
        let mut formulas = Vec::new();
        for (place, (&here, &there)) in of_first.iter().zip(&of_second).enumerate() {
            if here != there {
                formulas.push((place, Formula::of((here, sizes), (there, others))?));
            }
        }
        let mut place = 0..;
        numbers(&mut second, &mut |_, n| {
            *n = place.next().map_or(0, |at| of_first[at])
        });
        let reached = uniform.reached.iter();
        let reached = reached.map(|&[here, there]| Formula::of((here, sizes), (there, others)));
        let reached = reached.collect::<Option<_>>()?;
        let sums = formulas.iter().any(|(_, formula)| formula.0.len() > 1);
        if sums && uniform.mixes {
            return None;
        }
        (first == second).then_some(Self {
            plan: first,
            formulas,
            reached,
            more_than: uniform.more_than,
            sums,
        })
    }

    /// The plan for these sizes; nothing if they are too small, or a number does not fit.
    #[must_use]
    pub fn plan(&self, sizes: &[i64]) -> Option<Box<Plan>> {
        let is_large = |formula: &Formula| formula.at(sizes) > Some(self.more_than);
        if !self.reached.iter().all(is_large) {
            return None;
        }
        let mut plan = Box::new(self.plan.clone());
        let mut formulas = self.formulas.iter();
        let mut next = formulas.next();
        let (mut place, mut fits) = (0, true);
        numbers(&mut plan, &mut |least, n| {
            if let Some((at, formula)) = next
                && *at == place
            {
                match formula.at(sizes) {
                    Some(found) if found >= least => *n = found,
                    Some(_) | None => fits = false,
                }
                next = formulas.next();
            }
            place += 1;
        });
        lowest(&mut plan, i64::checked_sub).filter(|()| fits)?;
        if self.is_one_by_chance(&plan) {
            return None;
        }
        Some(plan)
    }

    /// Whether on these sizes something may be one that is not on others: digits, or pieces as long as others.
    fn is_one_by_chance(&self, plan: &Plan) -> bool {
        let mut pieces = plan.stages.iter().flat_map(|stage| &stage.pieces);
        let joins = |pair: &[PieceDigit]| pair[1].joins(&pair[0]).is_some();
        if pieces.any(|piece| piece.digits.windows(2).any(joins)) {
            return true;
        }
        if !self.sums {
            return false;
        }
        let pairs = extents(plan).zip(extents(&self.plan));
        let all: SmallVec<[(i64, i64); 16]> = pairs.collect();
        let mut met = all.iter().enumerate();
        met.any(|(at, (now, known))| all[..at].iter().any(|it| it.0 == *now && it.1 != *known))
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
    /// The formula of a number that is the first on some primes and the second on others.
    fn of((here, primes): (i64, &[i64]), (there, others): (i64, &[i64])) -> Option<Self> {
        let fits = |formula: &Self| formula.at(others) == Some(there);
        let product = Self(SmallVec::from_iter([Product::of(here, primes)]));
        match fits(&product) {
            true => Some(product),
            false => Self::sum(here, primes).filter(fits),
        }
    }

    /// Which sum of products a number is, of one or two primes, if these have small factors.
    fn sum(mut number: i64, primes: &[i64]) -> Option<Self> {
        const OF_ONE: &[&[u8]] = &[&[0, 0], &[0], &[]];
        const OF_TWO: &[&[u8]] = &[&[0, 1], &[1], &[0], &[]];
        let products = match primes.len() {
            1 => OF_ONE,
            2 => OF_TWO,
            _ => return None,
        };
        let mut sum = SmallVec::new();
        for sizes in products {
            let one = Product {
                factor: 1,
                sizes: SmallVec::from_slice(sizes),
            };
            let value = one.at(primes)?;
            // The nearest multiple.
            let half = number.signum() * (value / 2);
            let factor = number.checked_add(half)? / value;
            number -= factor * value;
            if factor != 0 {
                sum.push(Product { factor, ..one });
            }
        }
        Some(Self(sum))
    }

    fn at(&self, sizes: &[i64]) -> Option<i64> {
        let mut products = self.0.iter();
        products.try_fold(0, |sum: i64, product| sum.checked_add(product.at(sizes)?))
    }
}

impl Product {
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

/// The extents of all pieces, in order.
fn extents(plan: &Plan) -> impl Iterator<Item = i64> {
    let pieces = plan.stages.iter().flat_map(|stage| &stage.pieces);
    pieces.flat_map(|piece| piece.digits.iter().map(|digit| digit.extent))
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

/// How long an axis or a digit is at least, or a table of rows: of fewer the graph knows more.
const EXTENT: i64 = 2;

/// How many elements there are at least.
const COUNT: i64 = 1;

/// The least of any other number.
const ANY: i64 = i64::MIN;

/// Shows every number of a plan that may depend on sizes, in one order, after the least that it may be.
fn numbers(plan: &mut Plan, see: &mut impl FnMut(i64, &mut i64)) {
    for (_, count) in &mut plan.inputs {
        see(COUNT, count);
    }
    for (_, shape, layout) in &mut plan.outputs {
        shape.iter_mut().for_each(|n| see(EXTENT, n));
        if let Some(layout) = layout {
            see(ANY, &mut layout.offset);
            layout.strides.iter_mut().for_each(|n| see(ANY, n));
        }
    }
    for check in &mut plan.checks {
        see(ANY, &mut check.offset);
        see(EXTENT, &mut check.limit);
        for (extent, stride) in &mut check.dims {
            see(EXTENT, extent);
            see(ANY, stride);
        }
    }
    for stage in &mut plan.stages {
        see(COUNT, &mut stage.count);
        for piece in &mut stage.pieces {
            see(ANY, &mut piece.dst);
            for digit in &mut piece.digits {
                see(EXTENT, &mut digit.extent);
                see(ANY, &mut digit.dst);
                see(ANY, &mut digit.src);
                digit.indices.iter_mut().for_each(|n| see(ANY, n));
            }
            let Body::Copy {
                source: _,
                offset,
                indices,
            } = &mut piece.body
            else {
                continue;
            };
            see(ANY, offset);
            for index in indices {
                see(ANY, &mut index.offset);
                see(ANY, &mut index.coeff);
                see(EXTENT, &mut index.limit);
                for (_, stride) in &mut index.through {
                    see(ANY, stride);
                }
            }
        }
    }
    for answer in &mut plan.answers {
        if let Answer::View { input: _, layout } = answer {
            see(ANY, &mut layout.offset);
            layout.strides.iter_mut().for_each(|n| see(ANY, n));
        }
    }
}
