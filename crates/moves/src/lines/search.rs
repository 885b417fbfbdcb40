//! The cheapest way to cut a box into units that a machine has a program for.
//!
//! What a unit costs is known once its program is, and most units are not worth that. So every cut
//! first says the least that it can cost, and the programs of those that may win are made in that
//! order.

use std::sync::Arc;

use smallvec::SmallVec;

use super::patterns::{Known, Pattern};
use super::unit::{Choice, Cut, LINE, Least, Unit, choices};
use crate::byte_box::ByteBox;
use crate::cores::Core;
use crate::cost;

/// How one kind of machine runs a unit.
pub(super) trait Way: Sized {
    /// The bytes of its vectors.
    const SIZE: usize;

    /// Rows of more bytes are not put whole into a unit.
    const ROW: usize;

    /// Fewer micro-operations no vector takes.
    const LEAST: usize;

    /// The least that a unit can cost of which so much is known, in about micro-operations; nothing if
    /// it cannot be run.
    fn least(of: &Least) -> Option<usize>;

    /// How it runs a unit, and what that costs.
    fn of(unit: &Unit, core: Core) -> Option<(Self, usize)>;

    /// Its lines.
    type Lines;

    /// Those of the unit that stands for a pattern, for one that has the pattern. Shared where they are the
    /// same.
    fn lines(&self, pattern: &Pattern) -> Self::Lines;
}

/// A cut, the way to run its unit, and what all of it costs.
pub(super) struct Found<W> {
    pub(super) cut: Cut,
    pub(super) pattern: Pattern,
    /// The way to run the unit of that pattern.
    pub(super) way: Arc<W>,
    pub(super) cost: usize,
}

/// The cut of least cost below a limit; of equals, the one that [`choices`] names first.
pub(super) fn cheapest<W: Way>(
    shape: &ByteBox,
    limit: usize,
    known: &Known<W>,
) -> Option<Found<W>> {
    let vectors = shape.bytes().div_ceil(W::SIZE);
    if vectors.saturating_mul(W::LEAST) >= limit {
        return None;
    }
    let mut all: SmallVec<[(usize, usize, Choice<'_>); 16]> = SmallVec::new();
    choices(shape, W::ROW, |choice| {
        let least = least::<W>(&choice).map(|each| cost::<W>(&choice, each));
        if let Some(least) = least.filter(|least| *least < limit) {
            all.push((least, all.len(), choice));
        }
    });
    all.sort_unstable_by_key(|&(least, at, _)| (least, at));
    let mut bound = (limit, 0);
    let mut best = None;
    for (least, at, choice) in &all {
        if (*least, *at) >= bound {
            break;
        }
        let pattern = choice.pattern();
        if let Some((way, each)) = known.program(&pattern) {
            let found = (
                cost::<W>(choice, each + straddling::<W>(choice, known.core())),
                *at,
            );
            if found < bound {
                bound = found;
                best = Some((choice, pattern, way));
            }
        }
    }
    let (choice, pattern, way) = best?;
    Some(Found {
        cut: choice.cut(),
        pattern,
        way,
        cost: bound.0,
    })
}

fn least<W: Way>(choice: &Choice<'_>) -> Option<usize> {
    W::least(&choice.least(W::SIZE))
}

/// What a unit costs more where it does not begin where lines of memory do, if the one before it did.
fn straddling<W: Way>(choice: &Choice<'_>, core: Core) -> usize {
    match W::SIZE < LINE || choice.keeps_to_lines() {
        true => 0,
        false => cost::straddling(choice.bytes(), core),
    }
}

/// What a box costs if a unit costs so much.
fn cost<W: Way>(choice: &Choice<'_>, each: usize) -> usize {
    let extent = choice.long().extent;
    // A row may start and end with a unit that overlaps its neighbour.
    let ends = if extent.is_multiple_of(choice.steps) {
        0
    } else {
        2
    };
    let row = each
        .saturating_mul(extent / choice.steps + ends)
        .saturating_add(cost::UNITS);
    let rows = choice.rows();
    let one_unit = rows == 1 && choice.steps == extent;
    let edges = match W::SIZE < LINE || one_unit {
        true => 0,
        false => cost::EDGES,
    };
    row.saturating_mul(rows).saturating_add(edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::{narrow, wide};
    use restride_loops::Dim;

    /// Dense boxes whose axes are permuted, and whose innermost axis of the source steps.
    fn shapes() -> impl Iterator<Item = ByteBox> {
        const SIZES: [i64; 5] = [2, 3, 5, 16, 70];
        const ORDERS: [[usize; 3]; 6] = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        let sizes = (0..125).map(|n| [SIZES[n / 25], SIZES[n / 5 % 5], SIZES[n % 5]]);
        let orders = sizes.flat_map(|sizes| ORDERS.map(|order| (sizes, order)));
        let steps = orders.flat_map(|of| [1, 2, -1].map(|step| (of, step)));
        let widths = steps.flat_map(|of| [1, 2, 4, 8].map(|width| (of, width)));
        widths.filter_map(|(((sizes, order), step), width)| {
            let mut dims = sizes.map(|extent| Dim {
                extent,
                dst: 0,
                src: 0,
            });
            let (mut dst, mut src) = (1, step);
            for at in (0..3).rev() {
                dims[at].dst = dst;
                dst *= sizes[at];
                dims[order[at]].src = src;
                src *= sizes[order[at]];
            }
            ByteBox::of_move(&dims, width).ok()
        })
    }

    fn agrees<W: Way>(core: Core) {
        let (mut found, known) = (0, Known::new(core));
        for shape in shapes() {
            let mut all = Vec::new();
            choices(&shape, W::ROW, |choice| {
                if let Some((_, each)) = choice.pattern().unit().and_then(|unit| W::of(&unit, core))
                {
                    let least = least::<W>(&choice);
                    assert!(
                        least <= Some(each),
                        "{least:?} is no bound of {each}: {choice:?}"
                    );
                    assert!(least.is_some(), "{choice:?} can be run");
                    let each = each + straddling::<W>(&choice, core);
                    all.push((cost::<W>(&choice, each), format!("{:?}", choice.cut())));
                }
            });
            let best = all.into_iter().min_by_key(|(cost, _)| *cost);
            for limit in [usize::MAX, best.as_ref().map_or(0, |(cost, _)| *cost)] {
                let expected = best.as_ref().filter(|(cost, _)| *cost < limit);
                let cut =
                    cheapest::<W>(&shape, limit, &known).map(|found| format!("{:?}", found.cut));
                assert_eq!(cut.as_ref(), expected.map(|(_, cut)| cut), "{shape:?}");
                found += usize::from(cut.is_some());
            }
        }
        assert!(found > 4000, "{found}");
    }

    #[test]
    fn the_search_finds_what_looking_at_every_cut_finds() {
        agrees::<wide::Way>(Core::Zen);
        agrees::<wide::Way>(Core::Zen5);
        agrees::<narrow::Way>(Core::Zen);
    }
}
