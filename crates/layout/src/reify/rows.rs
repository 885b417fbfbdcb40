//! How to cut a stretch of elements into rows, so that each digit gets an axis of its own.
//!
//! The outermost digit of stride `t` gets rows of any length that divides `t`, holds what is
//! inside it, and fits the stretch at both ends. Tried in this order, the first that works
//! inside as well is taken:
//!
//! 1. rows that divide the stretch as it is;
//! 2. a slice with the step that all strides share, then again;
//! 3. a slice down to the elements that rows of some length need, shortest rows first.

use crate::Span;
use crate::math::gcd;
use crate::piece::axis::{DigitPart, span};
use smallvec::SmallVec;

/// One step on a stretch.
#[derive(Clone, Copy, Debug)]
pub(super) enum RowCut {
    /// Take part of it.
    Slice(Span),
    /// Expand it into rows of this length; its outermost digit goes to the outer axis.
    Rows(i64),
}

/// Steps, last first. Most stretches need none.
pub(super) type Script = Vec<RowCut>;

/// How many divisors and how many ways are tried before giving up.
const DIVISOR_TRIES: i64 = 1 << 10;
const TRIES: u32 = 1 << 8;

/// The steps for digits (outermost first) that start `base` elements into `size` of them.
pub(super) fn script(size: i64, base: i64, runs: &[DigitPart]) -> Option<Script> {
    search(size, base, runs, &mut { TRIES })
}

fn search(size: i64, base: i64, runs: &[DigitPart], tries: &mut u32) -> Option<Script> {
    let [run, rest @ ..] = runs else {
        return Some(Script::new());
    };
    if rest.is_empty() {
        return Some(Script::new());
    }
    *tries = tries.checked_sub(1)?;
    let inner = span(rest);
    let row = gcd(run.coord, size);
    if base % row + inner < row
        && let Some(mut script) = search(row, base % row, rest, tries)
    {
        script.push(RowCut::Rows(row));
        return Some(script);
    }
    let step = runs.iter().fold(0, |g, r| gcd(r.coord, g));
    if step > 1 {
        let (before, after) = (base / step, (size - 1 - base) / step);
        let mut scaled: SmallVec<[DigitPart; 4]> = SmallVec::from_slice(runs);
        scaled.iter_mut().for_each(|r| r.coord /= step);
        if let Some(mut script) = search(before + after + 1, before, &scaled, tries) {
            script.push(RowCut::Slice(Span {
                start: base - before * step,
                len: before + after + 1,
                step,
            }));
            return Some(script);
        }
    }
    let reach = (run.extent - 1) * run.coord;
    for row in divisors_from(run.coord, inner + 1) {
        if row > size - reach {
            break;
        }
        let least = (reach + row - (size - base)).max(0);
        let most = base.min(row - 1 - inner);
        for at in [least, most] {
            if least <= most
                && let Some(mut script) = search(row, at, rest, tries)
            {
                script.push(RowCut::Rows(row));
                script.push(RowCut::Slice(Span {
                    start: base - at,
                    len: reach + row,
                    step: 1,
                }));
                return Some(script);
            }
        }
    }
    None
}

/// The divisors of `n` from `least` up, or some of them if there is too much to try.
fn divisors_from(n: i64, least: i64) -> impl Iterator<Item = i64> {
    // From above by the quotient, or from below by the divisor, whichever is the shorter way.
    let quotient = n / least;
    let few = quotient <= DIVISOR_TRIES;
    let quotients = (1..=if few { quotient } else { 1 }).rev();
    let divisors = least..if few { least } else { least + DIVISOR_TRIES };
    divisors
        .filter(move |d| n % d == 0)
        .chain(quotients.filter(move |q| n % q == 0).map(move |q| n / q))
}
