//! Printing a layout back as view steps.
//!
//! A layout over a dense source is shown as the one chain
//!
//! ```text
//! collapse?  (expand? slice?)*  (windows slice?)*  permute-and-reshape  broadcast?  collapse?
//! ```
//!
//! that this module chooses for it. The choice depends on the layout and the source's shape
//! alone, and layouts have a unique normal form: so equal functions give equal chains.
//!
//! 1. The digits, sorted by stride, must be nested, as those of every view but windows are. Those that
//!    are not are joined until they are: see [`windows`](self::windows). They are cut at
//!    the boundaries of the source's axes; where a boundary does not cut cleanly, the two axes
//!    are collapsed into one [`Domain`].
//! 2. A domain with one digit is a slice. One with more is expanded into rows, after a slice that
//!    makes room where its size does not allow that: see [`rows`](self::rows).
//! 3. What is left is to put the axes in order, insert unit axes, repeat and join.

mod plain;
mod rows;
mod windows;

use crate::math::product;
use crate::piece::axis::{DigitPart, refined, span};
use crate::{Axes, Break, Layout, Piece, Sizes, Span, View};
use rows::{RowCut, Script};
use smallvec::SmallVec;
use std::ops::Range;

/// A chain of view steps, first to last.
pub type Chain = Vec<View>;

/// The digits of a layout that move, by falling stride.
type MovingDigits = SmallVec<[DigitPart; 6]>;

/// A stretch of the source with the digits that step through it.
#[derive(Clone, Debug)]
struct Domain {
    size: i64,
    base: i64,
    /// Which of the runs are its own.
    runs: Range<usize>,
    /// What is still to be done to it, last step first.
    script: Script,
}

type Domains = SmallVec<[Domain; 6]>;

/// An axis that one digit, or none, has come to.
#[derive(Clone, Copy, Debug)]
struct Leg {
    extent: i64,
    /// The digit of the layout that it is, or is part of.
    digit: Option<usize>,
}

impl Layout {
    /// The canonical chain of view steps that gives column 0 of this layout from a dense source
    /// of this shape.
    ///
    /// Post-condition: `Layout::dense(source)` viewed by the steps in order equals `self`. Fails
    /// with [`Break::NoChain`] if the layout is empty, or its digits are not nested: they do not
    /// come from views of such a source, or they are what is left of several pieces that happen
    /// to continue one another.
    pub fn reify(&self, source: &[i64]) -> Result<Chain, Break> {
        let total = product(source)?;
        if self.is_dense_over(source) {
            return Ok(Chain::new());
        }
        let (piece, base) = self.inside(total)?;
        if let Some(chain) = plain::chain(piece, base, source, total) {
            return Ok(chain);
        }
        let Ok(mut runs) = nested(piece) else {
            return self.windowed(piece, base, source);
        };
        let mut chain = Chain::new();
        let (groups, mut domains) = domains(base, &mut runs, source, total)?;
        if groups.iter().any(|&g| g > 1) {
            chain.push(View::Collapse { groups });
        }
        loop {
            if domains.iter().any(Domain::has_rows) {
                domains = expand(domains, &mut runs, &mut chain);
            }
            let mut spans: SmallVec<[Span; 6]> = SmallVec::new();
            let mut whole = true;
            for domain in &mut domains {
                let span = domain.slice(&mut runs);
                whole &= span.is_whole(domain.size);
                domain.size = span.len;
                spans.push(span);
            }
            if !whole {
                chain.push(View::Slice(spans));
            }
            if domains.iter().all(|d| d.script.is_empty()) {
                break;
            }
        }
        let legs: SmallVec<[Leg; 6]> = domains.iter().map(|d| d.leg(&runs)).collect();
        self.arrange(&legs, &mut chain);
        Ok(chain)
    }

    /// Whether digits of it overlap, as those of windows do.
    pub fn overlaps(&self) -> bool {
        self.piece()
            .is_some_and(|piece| overlapping(&moving(piece)).is_some())
    }

    /// The digits and the least address, if all addresses are those of a source of `total`
    /// elements.
    fn inside(&self, total: i64) -> Result<(&Piece, i64), Break> {
        let piece = self.piece().ok_or(Break::NoChain)?;
        if piece.columns() != 1 {
            return Err(Break::NoChain);
        }
        let (low, high) = piece.range(0)?;
        match low >= 0 && high < total {
            true => Ok((piece, low)),
            false => Err(Break::NoChain),
        }
    }

    /// Step 3: from the legs in source order to the shape.
    fn arrange(&self, legs: &[Leg], chain: &mut Chain) {
        let Some(piece) = self.piece() else { return };
        // The legs in the order of the result, grouped by axis; `None` repeats a unit axis.
        let mut targets: SmallVec<[(i64, Option<usize>); 6]> = SmallVec::new();
        let mut groups = Axes::new();
        for axis in piece.axes() {
            let before = targets.len();
            for (k, digit) in axis.digits.iter().enumerate() {
                let d = axis.first + k;
                if piece.strides(d)[0] == 0 {
                    targets.push((digit.extent, None));
                }
                for (at, leg) in legs.iter().enumerate() {
                    if leg.digit == Some(d) {
                        targets.push((leg.extent, Some(at)));
                    }
                }
            }
            if targets.len() == before {
                targets.push((1, None));
            }
            groups.push(targets.len() - before);
        }
        let repeats = targets.iter().any(|&(n, leg)| leg.is_none() && n > 1);
        let mut units = (0..legs.len()).filter(|&l| legs[l].digit.is_none());
        let wanted = targets.iter().filter(|t| t.1.is_none()).count();
        if units.clone().count() == wanted {
            let order: Axes = targets
                .iter()
                .filter_map(|t| t.1.or_else(|| units.next()))
                .collect();
            if !order.is_sorted() {
                chain.push(View::Permute(order));
            }
        } else {
            self.reorder(legs, &targets, &groups, repeats, chain);
            if !repeats {
                return;
            }
        }
        if repeats {
            chain.push(View::Broadcast {
                sizes: targets.iter().map(|t| t.0).collect(),
            });
        }
        if groups.iter().any(|&g| g > 1) {
            chain.push(View::Collapse { groups });
        }
    }

    /// Drops the unit legs, orders the others, joins them if nothing is repeated between, and
    /// inserts the unit axes that are wanted.
    fn reorder(
        &self,
        legs: &[Leg],
        targets: &[(i64, Option<usize>)],
        groups: &[usize],
        repeats: bool,
        chain: &mut Chain,
    ) {
        let moving: Axes = (0..legs.len())
            .filter(|&l| legs[l].digit.is_some())
            .collect();
        let order: Axes = targets
            .iter()
            .filter_map(|t| moving.iter().position(|&l| Some(l) == t.1))
            .collect();
        let permutes = !order.is_sorted();
        // The moving axes of the result before unit axes are inserted, as counts of legs.
        let joined: Axes = match repeats {
            true => order.iter().map(|_| 1).collect(),
            false => {
                let mut rest = targets;
                let counts = groups.iter().map(|&g| {
                    let (own, after) = rest.split_at(g);
                    rest = after;
                    own.iter().filter(|t| t.1.is_some()).count()
                });
                counts.filter(|&n| n > 0).collect()
            }
        };
        if permutes {
            drop_units(legs, &Axes::from_elem(1, moving.len()), chain);
            chain.push(View::Permute(order));
            if joined.iter().any(|&g| g > 1) {
                chain.push(View::Collapse {
                    groups: joined.clone(),
                });
            }
        } else {
            drop_units(legs, &joined, chain);
        }
        let sizes: Sizes = match repeats {
            true => targets
                .iter()
                .map(|t| if t.1.is_some() { t.0 } else { 1 })
                .collect(),
            false => self.shape().into(),
        };
        if sizes.len() > joined.len() {
            let moves = sizes.iter().map(|&n| n > 1);
            chain.push(View::Expand {
                groups: attach_units(moves),
                sizes,
            });
        }
    }
}

/// The digits that move, by falling stride.
fn moving(piece: &Piece) -> MovingDigits {
    let mut runs = MovingDigits::new();
    for (d, digit) in piece.digits().iter().enumerate() {
        let stride = piece.strides(d)[0];
        if stride != 0 {
            runs.push(DigitPart {
                digit: d,
                by: stride.signum(),
                extent: digit.extent,
                coord: stride.abs(),
            });
        }
    }
    runs.sort_unstable_by_key(|r| (std::cmp::Reverse(r.coord), r.digit));
    runs
}

/// The digits that move, if they are nested. All their addresses lie inside the source, so that
/// strides have an absolute value and reaches a sum.
fn nested(piece: &Piece) -> Result<MovingDigits, Break> {
    let runs = moving(piece);
    match overlapping(&runs) {
        None => Ok(runs),
        Some(_) => Err(Break::NoChain),
    }
}

/// The innermost of these runs that steps less far than those inside it reach.
fn overlapping(runs: &[DigitPart]) -> Option<usize> {
    let mut reach = 0;
    runs.iter().rposition(|run| {
        let overlaps = run.coord <= reach;
        reach += (run.extent - 1) * run.coord;
        overlaps
    })
}

/// Collapses the legs so that `joined[k]` moving ones make axis `k` and the unit ones go.
fn drop_units(legs: &[Leg], joined: &[usize], chain: &mut Chain) {
    let mut heads: SmallVec<[bool; 6]> = SmallVec::new();
    let (mut k, mut taken) = (0, 0);
    for leg in legs {
        heads.push(leg.digit.is_some() && taken == 0);
        if leg.digit.is_some() {
            taken += 1;
            if joined.get(k) == Some(&taken) {
                (k, taken) = (k + 1, 0);
            }
        }
    }
    if heads.iter().any(|h| !h) {
        chain.push(View::Collapse {
            groups: attach_units(heads.into_iter()),
        });
    }
}

/// Group sizes when each `true` heads a group and each `false` goes with the one before it, or
/// with the first.
fn attach_units(heads: impl Iterator<Item = bool>) -> Axes {
    let mut groups = Axes::new();
    let mut leading = 0;
    for head in heads {
        match groups.last_mut() {
            Some(count) if !head => *count += 1,
            None if !head => leading += 1,
            Some(_) | None => groups.push(1),
        }
    }
    if let Some(first) = groups.first_mut() {
        *first += leading;
    }
    groups
}

/// Step 1: the digits distributed over the axes of the source, or over groups of them.
fn domains(
    base: i64,
    runs: &mut MovingDigits,
    source: &[i64],
    total: i64,
) -> Result<(Axes, Domains), Break> {
    let mut groups = Axes::new();
    let mut sizes = Sizes::new();
    let mut row = total;
    let mut clean = true;
    for &n in source {
        if clean || n == 1 && groups.is_empty() {
            groups.push(1);
            sizes.push(n);
        } else if let (Some(count), Some(size)) = (groups.last_mut(), sizes.last_mut()) {
            *count += 1;
            *size *= n;
        }
        row /= n;
        clean = refined(base, runs, row);
    }
    let mut domains = Domains::new();
    let mut row = total;
    let mut rest = base;
    let mut first = 0;
    for &size in &sizes {
        row /= size;
        let own = runs[first..].iter().take_while(|r| r.coord >= row).count();
        let mut domain = Domain {
            size,
            base: rest / row,
            runs: first..first + own,
            script: Script::new(),
        };
        first += own;
        rest %= row;
        let mine = &mut runs[domain.runs.clone()];
        mine.iter_mut().for_each(|r| r.coord /= row);
        if domain.base + span(mine) >= size {
            return Err(Break::NoChain);
        }
        if own > 1 {
            domain.script = rows::script(size, domain.base, mine).ok_or(Break::NoChain)?;
        }
        domains.push(domain);
    }
    match first == runs.len() {
        true => Ok((groups, domains)),
        false => Err(Break::NoChain),
    }
}

/// The domains cut into rows as far as their scripts say so without a slice between.
fn expand(domains: Domains, runs: &mut MovingDigits, chain: &mut Chain) -> Domains {
    let mut groups = Axes::new();
    let mut out = Domains::new();
    for mut rest in domains {
        let before = out.len();
        while let Some(&RowCut::Rows(row)) = rest.script.last() {
            rest.script.pop();
            let first = rest.runs.start;
            rest.runs.start += 1;
            runs[first].coord /= row;
            out.push(Domain {
                size: rest.size / row,
                base: rest.base / row,
                runs: first..first + 1,
                script: Script::new(),
            });
            rest.size = row;
            rest.base %= row;
        }
        out.push(rest);
        groups.push(out.len() - before);
    }
    let sizes = out.iter().map(|d| d.size).collect();
    chain.push(View::Expand { groups, sizes });
    out
}

impl Domain {
    fn has_rows(&self) -> bool {
        matches!(self.script.last(), Some(RowCut::Rows(_)))
    }

    /// What to take of it now; leaves the domain as it is after that.
    fn slice(&mut self, runs: &mut MovingDigits) -> Span {
        let own = &mut runs[self.runs.clone()];
        if let Some(&RowCut::Slice(span)) = self.script.last() {
            self.script.pop();
            self.base = (self.base - span.start) / span.step;
            own.iter_mut().for_each(|r| r.coord /= span.step);
            return span;
        }
        let start = std::mem::take(&mut self.base);
        let Some(run) = own.first_mut() else {
            return Span {
                start,
                len: 1,
                step: 1,
            };
        };
        let (len, step) = (run.extent, std::mem::replace(&mut run.coord, 1));
        match std::mem::replace(&mut run.by, 1) < 0 {
            true => Span {
                start: start + (len - 1) * step,
                len,
                step: -step,
            },
            false => Span { start, len, step },
        }
    }

    fn leg(&self, runs: &[DigitPart]) -> Leg {
        let run = runs[self.runs.clone()].first();
        Leg {
            extent: run.map_or(1, |r| r.extent),
            digit: run.map(|r| r.digit),
        }
    }
}
