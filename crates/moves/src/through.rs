//! A box in two moves: a part of it to a stage in the nearest cache, and on from there.
//!
//! Where all axes change places, what lies together on one side is a byte or two on the other. Either
//! move can be a simple one: long rows are transposed first, and go where they belong as rows, or the
//! other way about.

use crate::byte_box::{ByteBox, Step, Steps, extent};
use crate::cost;
use crate::plan::{MovePlan, Way};
use crate::planner::Planner;

/// A box in two moves.
pub struct Through {
    /// From the source to the stage,
    pub first: Box<MovePlan>,
    /// and from there to the destination.
    pub second: Box<MovePlan>,
    /// What is around the part that the stage holds.
    pub outer: Steps,
}

impl Through {
    /// Bytes that the stage has room for.
    pub const ROOM: usize = 8 << 10;

    /// Parts of fewer bytes are not worth two calls each.
    const LEAST: usize = 256;

    /// So many of the innermost dimensions of either side are looked at.
    const DEPTH: usize = 3;

    /// What the search itself takes. Two moves of a part take a quarter of a micro-operation a byte even
    /// where both are good ones; more than both is what there must be to gain.
    const SEARCH: usize = 10_000;

    /// What one of the moves costs. Runs count twice: on one side they are in the stage, of which the other move loads what
    /// has been stored in several pieces a moment ago.
    fn cost(plan: &MovePlan) -> usize {
        match plan.way() {
            Way::Rows(_) => 2 * plan.cost(),
            _ => plan.cost(),
        }
    }

    /// The cheapest that costs less than `limit`.
    pub(crate) fn of(shape: &ByteBox, planner: &Planner, limit: usize) -> Option<(usize, Through)> {
        let steps = &shape.steps;
        let is_short = shape.run < 16 && shape.bytes() >= cost::WORTH_A_SEARCH;
        let is_dear = limit > shape.bytes() / 4 + Self::SEARCH;
        if !is_short || !is_dear || steps.len() < 3 || steps.iter().any(|step| step.src == 0) {
            return None;
        }
        // Both orders begin with the innermost dimension.
        let to: Steps = steps.iter().rev().copied().collect();
        let mut from = to.clone();
        from.sort_by_key(|step| step.src.unsigned_abs());
        let mut best: Option<(usize, Through)> = None;
        let mut seen: Vec<Steps> = Vec::new();
        let depths = 1..=Self::DEPTH.min(steps.len());
        for (p, q) in depths
            .clone()
            .flat_map(|p| depths.clone().map(move |q| (p, q)))
        {
            let inside = |step: &Step| to[..p].contains(step) || from[..q].contains(step);
            let tile: Steps = to.iter().filter(|step| inside(step)).copied().collect();
            let mut outer: Steps = steps.iter().filter(|step| !inside(step)).copied().collect();
            let Some(tile) = held(tile, shape.run, &mut outer) else {
                continue;
            };
            if seen.contains(&tile) {
                continue;
            }
            let (parts, tile_bytes) = (extent(&outer), shape.run * extent(&tile));
            let mut other = tile.clone();
            other.sort_by_key(|step| step.src.unsigned_abs());
            for (order, rest) in [(&tile, &other), (&other, &tile)] {
                for kept in 1..order.len().min(Self::DEPTH) {
                    let (first, second) = staged(shape.run, &order[..kept], rest);
                    let most = best.as_ref().map_or(limit, |(cost, _)| *cost);
                    // What a part may cost, and what is left of that after one move.
                    let each = most.div_ceil(parts).saturating_sub(2 * cost::CALL);
                    let first = planner.simply(first, each.saturating_sub(cost::copy(tile_bytes)));
                    let Some(first) = first else { continue };
                    let left = each.saturating_sub(Self::cost(&first));
                    let Some(second) = planner.simply(second, left) else {
                        continue;
                    };
                    let each = Self::cost(&first) + Self::cost(&second) + 2 * cost::CALL;
                    if each >= most.div_ceil(parts) {
                        continue;
                    }
                    let through = Through {
                        first: Box::new(first),
                        second: Box::new(second),
                        outer: outer.clone(),
                    };
                    best = Some((each.saturating_mul(parts), through));
                }
            }
            seen.push(tile);
        }
        best
    }
}

/// What of some dimensions the stage holds: all, or of the longest so many that divide it. What is left
/// of that is around.
fn held(mut tile: Steps, run: usize, outer: &mut Steps) -> Option<Steps> {
    let bytes = |tile: &[Step]| run.saturating_mul(extent(tile));
    if bytes(&tile) > Through::ROOM {
        let at = (0..tile.len()).max_by_key(|at| tile[*at].extent)?;
        let mut longest = std::mem::replace(&mut tile[at], Step::NONE);
        tile[at] = longest.take_most(Through::ROOM / bytes(&tile))?;
        outer.push(longest);
    }
    (bytes(&tile) >= Through::LEAST).then_some(tile)
}

/// The two moves if the stage has `inner`, and then what of `rest` is not in there, from the inside to
/// the outside.
fn staged(run: usize, inner: &[Step], rest: &[Step]) -> (ByteBox, ByteBox) {
    let outer = rest.iter().filter(|step| !inner.contains(step));
    let (mut first, mut second) = (Steps::new(), Steps::new());
    let mut bytes = run as isize;
    for step in inner.iter().chain(outer) {
        first.push(Step {
            dst: bytes,
            ..*step
        });
        second.push(Step {
            src: bytes,
            ..*step
        });
        bytes *= step.extent as isize;
    }
    (
        ByteBox::of_steps(run, first),
        ByteBox::of_steps(run, second),
    )
}
