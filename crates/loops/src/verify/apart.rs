//! Whether any two of many pieces meet, without looking at all pairs.
//!
//! - Sorted by address, pieces fall into groups whose intervals overlap; only within a group can
//!   two meet.
//! - If all of a group make the same outermost steps and fit into one step's window, they meet
//!   exactly if they do within one window. So the step is dropped and the group falls apart again.
//! - If all of a group make steps of the same size, or none, pieces whose remainders by that size
//!   do not overlap cannot meet. So the group falls apart by remainders.
//!
//! What is left is decided pair by pair.

use smallvec::SmallVec;

use super::search::{Budget, Exhausted, meet};
use super::strided::Strided;

/// A set of addresses with its owner: a statement, or nobody for a gap of the image.
#[derive(Clone)]
pub(super) struct Piece {
    pub(super) set: Strided,
    pub(super) stmt: Option<u32>,
}

pub(super) type Pieces = SmallVec<[Piece; 4]>;

/// The owners of two pieces that meet.
pub(super) struct Owners(pub(super) Option<u32>, pub(super) Option<u32>);

type Found = Result<Option<Owners>, Exhausted>;

/// How often groups are taken apart; tensors need one level per axis or two.
const MAX_LEVELS: usize = 32;

/// Two pieces that meet, if any do.
pub(super) fn meeting(pieces: &mut [Piece], budget: &mut Budget) -> Found {
    at_level(pieces, MAX_LEVELS, budget)
}

fn at_level(pieces: &mut [Piece], levels: usize, budget: &mut Budget) -> Found {
    budget.spend(pieces.len())?;
    pieces.sort_unstable_by_key(|p| p.set.low);
    let mut start = 0;
    while start < pieces.len() {
        let mut high = pieces[start].set.high();
        let mut end = start + 1;
        while end < pieces.len() && pieces[end].set.low <= high {
            high = high.max(pieces[end].set.high());
            end += 1;
        }
        let found = within_group(&pieces[start..end], levels, budget)?;
        if found.is_some() {
            return Ok(found);
        }
        start = end;
    }
    Ok(None)
}

fn within_group(group: &[Piece], levels: usize, budget: &mut Budget) -> Found {
    if group.len() == 1 {
        return Ok(None);
    }
    if levels == 0 {
        return pairwise(group, budget);
    }
    if let Some(mut inner) = within_one_window(group) {
        return at_level(&mut inner, levels - 1, budget);
    }
    let Some(classes) = by_remainder(group) else {
        return pairwise(group, budget);
    };
    for mut class in classes {
        let found = at_level(&mut class, levels - 1, budget)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The pieces without their outermost step, if it is the same for all and they fit into it.
fn within_one_window(group: &[Piece]) -> Option<Pieces> {
    let &(extent, stride) = group.first()?.set.dims.first()?;
    if group
        .iter()
        .any(|p| p.set.dims.first() != Some(&(extent, stride)))
    {
        return None;
    }
    let outer = (extent - 1) * stride;
    let low = group.iter().map(|p| p.set.low).min()?;
    let high = group.iter().map(|p| p.set.high() - outer).max()?;
    if high - low >= stride {
        return None;
    }
    let inner = group.iter().map(|p| {
        let dims = p.set.dims[1..].iter().copied().collect();
        let set = Strided {
            dims,
            span: p.set.span - outer,
            ..p.set
        };
        Piece { set, stmt: p.stmt }
    });
    Some(inner.collect())
}

/// The pieces in at least two classes that do not meet, if remainders by the largest step tell
/// them apart.
fn by_remainder(group: &[Piece]) -> Option<Vec<Pieces>> {
    let stride = group
        .iter()
        .filter_map(|p| p.set.dims.first())
        .map(|d| d.1)
        .max()?;
    let origin = group.iter().map(|p| p.set.low).min()?;
    let mut remainders: Vec<(i64, i64, &Piece)> = Vec::with_capacity(group.len());
    for piece in group {
        let outer = match piece.set.dims.first() {
            Some(&(extent, step)) if step == stride => (extent - 1) * stride,
            Some(_) | None => 0,
        };
        let low = (piece.set.low - origin) % stride;
        let span = piece.set.span - outer;
        if span >= stride - low {
            return None;
        }
        remainders.push((low, low + span, piece));
    }
    remainders.sort_unstable_by_key(|r| r.0);
    let mut classes: Vec<Pieces> = Vec::new();
    let mut reached = -1;
    for (low, high, piece) in remainders {
        match classes.last_mut() {
            Some(class) if low <= reached => class.push(piece.clone()),
            Some(_) | None => classes.push(SmallVec::from_elem(piece.clone(), 1)),
        }
        reached = reached.max(high);
    }
    (classes.len() > 1).then_some(classes)
}

fn pairwise(group: &[Piece], budget: &mut Budget) -> Found {
    for (at, a) in group.iter().enumerate() {
        for b in &group[at + 1..] {
            if b.set.low > a.set.high() {
                break;
            }
            let gaps = a.stmt.is_none() && b.stmt.is_none();
            if !gaps && meet(&a.set, &b.set, budget)? {
                return Ok(Some(Owners(a.stmt, b.stmt)));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::HashSet;

    #[test]
    fn agrees_with_brute_force() {
        let mut r = Random::new(5);
        let (mut met, mut apart) = (0, 0);
        for _ in 0..40_000 {
            let (mut pieces, mut seen, mut clash) = (Pieces::new(), HashSet::new(), false);
            let row = r.within(4, 24);
            for stmt in 0..r.within(2, 6) as u32 {
                let (high, wide) = (r.within(1, 4), r.within(1, 5));
                let step = if r.one_in(8) { r.within(1, 9) } else { row };
                let stride = if r.one_in(4) { 2 } else { 1 };
                let low = r.within(0, 4 * row);
                let set = Strided::new(low, [(wide, stride), (high, step)]);
                if !set.is_nested() {
                    continue;
                }
                set.all(|a| {
                    clash |= !seen.insert(a);
                    true
                });
                pieces.push(Piece {
                    set,
                    stmt: Some(stmt),
                });
            }
            let found = meeting(&mut pieces, &mut Budget::new(1 << 20)).unwrap();
            assert_eq!(
                found.is_some(),
                clash,
                "{:?}",
                pieces.iter().map(|p| &p.set).collect::<Vec<_>>()
            );
            met += usize::from(clash);
            apart += usize::from(!clash);
        }
        assert!(met > 2_000 && apart > 2_000, "{met} {apart}");
    }
}
