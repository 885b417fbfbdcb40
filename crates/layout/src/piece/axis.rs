//! Restricting and refining the coordinates of one axis.
//!
//! This is where pieces split. It works on coordinates alone: a [`DigitPart`] remembers which digit of
//! the piece it steps through and by how much, so that strides are computed once, at the end,
//! whatever the number of columns.

use super::{AxisView, Digit, MAX_PIECES};
use crate::Span;
use crate::math::{congruence, gcd};
use smallvec::SmallVec;

/// Part of a digit: its value is `sum of by * r` over the runs of that digit, plus what is fixed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DigitPart {
    /// Number of the digit within the piece.
    pub(crate) digit: usize,
    /// Steps of the digit per step of the run; negative when turned round.
    pub(crate) by: i64,
    /// How many steps, at least 2.
    pub(crate) extent: i64,
    /// Stride in the coordinate, at least 1.
    pub(crate) coord: i64,
}

/// Some coordinates of one axis: `start + sum of coord * r`, runs nested, outermost first.
#[derive(Clone, Debug)]
pub(crate) struct Coords {
    pub(crate) start: i64,
    pub(crate) runs: SmallVec<[DigitPart; 3]>,
    /// `(digit, value)`: digits moved off 0.
    pub(crate) fixed: SmallVec<[(usize, i64); 3]>,
}

/// What an axis operation emits: disjoint sets of coordinates.
pub(super) type Parts = SmallVec<[Coords; 1]>;

/// The reach of nested runs: the greatest coordinate less the least.
pub(crate) fn span(runs: &[DigitPart]) -> i64 {
    runs.iter().map(|r| r.coord * (r.extent - 1)).sum()
}

/// Too many parts; the caller knows the axis.
pub(super) struct TooMany;

type Emit = Result<(), TooMany>;

fn emit(out: &mut Parts, coords: Coords) -> Emit {
    emit_of(MAX_PIECES, out, coords)
}

/// One more of at most so many.
fn emit_of(most: usize, out: &mut Parts, coords: Coords) -> Emit {
    if out.len() >= most {
        return Err(TooMany);
    }
    out.push(coords);
    Ok(())
}

impl Coords {
    pub(super) fn of(axis: AxisView<'_>) -> Self {
        let run = |(k, d): (usize, &Digit)| DigitPart {
            digit: axis.first + k,
            by: 1,
            extent: d.extent,
            coord: d.coord,
        };
        Coords {
            start: axis.start,
            runs: axis.digits.iter().enumerate().map(run).collect(),
            fixed: SmallVec::new(),
        }
    }

    /// Replaces run `i` by its steps `first`, `first + every`, ... (`count` of them).
    fn pick(&mut self, i: usize, first: i64, every: i64, count: i64) {
        let run = &mut self.runs[i];
        if first != 0 {
            self.start += run.coord * first;
            self.fixed.push((run.digit, run.by * first));
        }
        if count == 1 {
            self.runs.remove(i);
        } else {
            run.extent = count;
            run.coord *= every;
            run.by *= every;
        }
    }

    fn picked(&self, i: usize, first: i64, every: i64, count: i64) -> Self {
        let mut coords = self.clone();
        coords.pick(i, first, every, count);
        coords
    }

    /// Turns the axis round: coordinate `x` becomes `extent - 1 - x`.
    pub(super) fn reverse(&mut self, extent: i64) {
        self.start = extent - 1 - (self.start + span(&self.runs));
        for run in &mut self.runs {
            self.fixed.push((run.digit, run.by * (run.extent - 1)));
            run.by = -run.by;
        }
    }

    /// Post-condition: the parts hold exactly the coordinates `x` that the slice takes, as
    /// `(x - start) / step`.
    pub(super) fn slice(mut self, extent: i64, at: Span) -> Result<Parts, TooMany> {
        let mut out = Parts::new();
        if at.len == 0 {
            return Ok(out);
        }
        let (mut start, mut step) = (at.start, at.step);
        if at.len == 1 {
            step = 1;
        } else if step < 0 {
            self.reverse(extent);
            (start, step) = (extent - 1 - start, -step);
        }
        self.start -= start;
        let last = (at.len - 1) * step;
        if self.start >= 0 && self.start + span(&self.runs) <= last {
            out.push(self);
        } else {
            self.within(0, 0, last, &mut out)?;
        }
        if step > 1 {
            let inside = std::mem::take(&mut out);
            for coords in inside {
                coords.multiples(0, step, &mut out)?;
            }
            for coords in &mut out {
                coords.start /= step;
                coords.runs.iter_mut().for_each(|r| r.coord /= step);
            }
        }
        Ok(out)
    }

    /// Emits the coordinates in `low..=high`. Runs before `i` lie wholly inside whatever the
    /// later ones do. At most two parts per run: of the blocks that a run steps over, those
    /// inside are one part and only the two at the borders are looked into.
    fn within(self, i: usize, low: i64, high: i64, out: &mut Parts) -> Emit {
        if self.start > high || self.start + span(&self.runs[i..]) < low {
            return Ok(());
        }
        if i == self.runs.len() {
            return emit(out, self);
        }
        let run = self.runs[i];
        let inner = span(&self.runs[i + 1..]);
        // First and last step whose block meets the range, and lies inside it.
        let meets_first = (low - inner - self.start).max(0).div_euclid_up(run.coord);
        let meets_last = ((high - self.start) / run.coord).min(run.extent - 1);
        let first = (low - self.start).max(0).div_euclid_up(run.coord);
        let last = (high - inner - self.start)
            .div_euclid(run.coord)
            .min(run.extent - 1);
        if first > last {
            for d in meets_first..=meets_last {
                self.picked(i, d, 1, 1).within(i, low, high, out)?;
            }
            return Ok(());
        }
        for d in meets_first..first {
            self.picked(i, d, 1, 1).within(i, low, high, out)?;
        }
        emit(out, self.picked(i, first, 1, last - first + 1))?;
        for d in last + 1..=meets_last {
            self.picked(i, d, 1, 1).within(i, low, high, out)?;
        }
        Ok(())
    }

    /// Emits the coordinates that are multiples of `m`; runs before `i` step by multiples of it.
    fn multiples(mut self, mut i: usize, m: i64, out: &mut Parts) -> Emit {
        while i < self.runs.len() && self.runs[i].coord % m == 0 {
            i += 1;
        }
        let common = self.runs[i..].iter().fold(m, |g, r| gcd(g, r.coord));
        if self.start % common != 0 {
            return Ok(());
        }
        if i == self.runs.len() {
            return emit(out, self);
        }
        let run = self.runs[i];
        if i + 1 == self.runs.len() {
            if let Some((first, period)) = congruence(self.start, run.coord, m)
                && first < run.extent
            {
                self.pick(i, first, period, (run.extent - 1 - first) / period + 1);
                emit(out, self)?;
            }
            return Ok(());
        }
        let classes = (m / gcd(m, run.coord)).min(run.extent);
        let reach = span(&self.runs[i..]);
        let first_hit = self.start.div_euclid_up(m);
        let hits = (self.start + reach) / m - first_hit + 1;
        if hits <= classes {
            if hits > MAX_PIECES as i64 {
                return Err(TooMany);
            }
            for hit in first_hit..first_hit + hits {
                self.clone().within(i, hit * m, hit * m, out)?;
            }
            return Ok(());
        }
        if classes > MAX_PIECES as i64 {
            return Err(TooMany);
        }
        let period = m / gcd(m, run.coord);
        for class in 0..classes {
            let count = (run.extent - 1 - class) / period + 1;
            self.picked(i, class, period, count).multiples(i, m, out)?;
        }
        Ok(())
    }

    /// Splits so that nothing straddles a multiple of `row`: in each part, runs before some
    /// place step by multiples of `row`, and the others together never leave their row. Runs
    /// before `i` step by multiples of `row` already. Ends where there are more than `most`.
    pub(super) fn refine(self, mut i: usize, row: i64, most: usize, out: &mut Parts) -> Emit {
        while i < self.runs.len() && self.runs[i].coord % row == 0 {
            i += 1;
        }
        let at = self.start % row;
        if at + span(&self.runs[i..]) < row {
            return emit_of(most, out, self);
        }
        let run = self.runs[i];
        let inner = span(&self.runs[i + 1..]);
        let period = row / gcd(row, run.coord);
        if run.coord < row && row % run.coord == 0 {
            if at % run.coord + inner >= run.coord {
                // What is inside straddles this run's own steps: settle that first.
                let mut settled = Parts::new();
                self.refine(i + 1, run.coord, most, &mut settled)?;
                for coords in settled {
                    coords.refine(i, row, most, out)?;
                }
                return Ok(());
            }
            return self.head_body_tail(i, at / run.coord, period, most, out);
        }
        let rows = (at + span(&self.runs[i..])) / row + 1;
        if run.coord < row && rows <= period {
            return self.row_by_row(i, row, most, out);
        }
        if period.min(run.extent) > most as i64 {
            return Err(TooMany);
        }
        for class in 0..period.min(run.extent) {
            let count = (run.extent - 1 - class) / period + 1;
            self.picked(i, class, period, count)
                .refine(i, row, most, out)?;
        }
        Ok(())
    }

    /// Cuts run `i`, which enters its first row at step `at` of `period`, into what ends that
    /// row, whole rows, and the beginning of one more.
    fn head_body_tail(&self, i: usize, at: i64, period: i64, most: usize, out: &mut Parts) -> Emit {
        let extent = self.runs[i].extent;
        let head = (period - at) % period;
        let (rows, tail) = ((extent - head) / period, (extent - head) % period);
        if head > 0 {
            emit_of(most, out, self.picked(i, 0, 1, head))?;
        }
        if rows > 0 {
            let mut body = self.picked(i, head, 1, rows * period);
            let run = &mut body.runs[i];
            run.extent = period;
            if rows > 1 {
                let outer = DigitPart {
                    extent: rows,
                    coord: run.coord * period,
                    by: run.by * period,
                    ..*run
                };
                body.runs.insert(i, outer);
            }
            emit_of(most, out, body)?;
        }
        if tail > 0 {
            emit_of(most, out, self.picked(i, head + rows * period, 1, tail))?;
        }
        Ok(())
    }

    /// Cuts run `i` at every row; steps whose inner block straddles are looked into alone.
    fn row_by_row(&self, i: usize, row: i64, most: usize, out: &mut Parts) -> Emit {
        let run = self.runs[i];
        let inner = span(&self.runs[i + 1..]);
        let mut d = 0;
        while d < run.extent {
            let at = (self.start % row) + run.coord * d;
            let left = row - 1 - inner - at % row;
            if left < 0 {
                self.picked(i, d, 1, 1).refine(i, row, most, out)?;
                d += 1;
            } else {
                let count = (left / run.coord + 1).min(run.extent - d);
                emit_of(most, out, self.picked(i, d, 1, count))?;
                d += count;
            }
        }
        Ok(())
    }
}

/// Cuts runs that start at `start` so that none straddles a multiple of `row`, as
/// [`Coords::refine`] does; leaves them as they are if that takes more than one part.
pub(crate) fn refined(start: i64, runs: &mut SmallVec<[DigitPart; 6]>, row: i64) -> bool {
    let inner = runs
        .iter()
        .position(|r| r.coord < row || r.coord % row != 0);
    let inner = inner.unwrap_or(runs.len());
    if start % row + span(&runs[inner..]) < row {
        return true;
    }
    let coords = Coords {
        start,
        runs: SmallVec::from_slice(runs),
        fixed: SmallVec::new(),
    };
    let mut out = Parts::new();
    match coords.refine(inner, row, 1, &mut out) {
        Ok(()) if out.len() == 1 => {
            *runs = SmallVec::from_slice(&out[0].runs);
            true
        }
        Ok(()) | Err(TooMany) => false,
    }
}

/// Splits the coordinates of an axis of this extent over axes of these sizes.
pub(super) fn expand(coords: Coords, extent: i64, sizes: &[i64]) -> Result<Parts, TooMany> {
    let mut parts = Parts::new();
    parts.push(coords);
    let mut row = extent;
    for &n in sizes {
        row /= n;
        if n > 1 && row > 1 {
            for coords in std::mem::take(&mut parts) {
                coords.refine(0, row, MAX_PIECES, &mut parts)?;
            }
        }
    }
    Ok(parts)
}

/// Division of a number at least 0, rounded up.
trait DivUp {
    fn div_euclid_up(self, by: i64) -> i64;
}

impl DivUp for i64 {
    fn div_euclid_up(self, by: i64) -> i64 {
        self / by + i64::from(self % by != 0)
    }
}
