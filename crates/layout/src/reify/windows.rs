//! Digits that overlap, as those of windows do.
//!
//! Two digits of which the inner one reaches as far as the outer one steps are joined to one that
//! has the addresses of both, in steps that both are multiples of. That goes on until the digits
//! are nested. The chain is that of the joined digits, one axis for each; then each is taken apart
//! again: windows, and a slice of them where a digit takes longer steps.

use super::{Chain, DigitPart, Leg, MovingDigits, moving, overlapping};
use crate::math::gcd;
use crate::{Break, Layout, Piece, Sizes, Span, View};
use smallvec::SmallVec;

/// An axis on the way: a digit of the layout, or two joined.
#[derive(Clone, Copy)]
enum AxisPart {
    Digit(DigitPart),
    /// The outer and the inner one, as places in the list of parts.
    Joined(usize, usize),
}

impl Layout {
    /// The chain of a layout with digits that overlap, `base` its least address.
    pub(super) fn windowed(
        &self,
        piece: &Piece,
        base: i64,
        source: &[i64],
    ) -> Result<Chain, Break> {
        let mut parts: Vec<AxisPart> = Vec::new();
        // Runs whose digit is a place in the list of parts, and that go forwards.
        let mut runs: MovingDigits = MovingDigits::new();
        for run in moving(piece) {
            runs.push(DigitPart {
                digit: parts.len(),
                by: 1,
                ..run
            });
            parts.push(AxisPart::Digit(run));
        }
        let mut steps: Vec<DigitPart> = runs.to_vec();
        while let Some(outer) = overlapping(&runs) {
            let (inner, outer) = (runs.remove(outer + 1), runs.remove(outer));
            let coord = gcd(outer.coord, inner.coord);
            let reach = (outer.extent - 1) * outer.coord + (inner.extent - 1) * inner.coord;
            let joined = DigitPart {
                digit: parts.len(),
                by: 1,
                extent: reach / coord + 1,
                coord,
            };
            parts.push(AxisPart::Joined(outer.digit, inner.digit));
            steps.push(joined);
            let at = runs.partition_point(|run| run.coord > coord);
            runs.insert(at, joined);
        }
        let shape: Sizes = runs.iter().map(|run| run.extent).collect();
        let strides: Sizes = runs.iter().map(|run| run.coord).collect();
        let mut chain = Layout::strided(&shape, &[base], &strides)?.reify(source)?;
        let mut axes: Vec<usize> = runs.iter().map(|run| run.digit).collect();
        while let Some(axis) = axes
            .iter()
            .position(|&p| matches!(parts[p], AxisPart::Joined(..)))
        {
            let joined = steps[axes[axis]];
            let AxisPart::Joined(outer, inner) = parts[axes[axis]] else {
                break;
            };
            let size = (steps[inner].extent - 1) * (steps[inner].coord / joined.coord) + 1;
            chain.push(View::Windows { axis, size });
            axes[axis] = inner;
            axes.insert(axis, outer);
            let cut = [outer, inner].map(|part| steps[part].coord / joined.coord);
            if cut != [1, 1] {
                let span = |(at, &part): (usize, &usize)| Span {
                    step: match at.checked_sub(axis) {
                        Some(of @ (0 | 1)) => cut[of],
                        Some(_) | None => 1,
                    },
                    ..Span::whole(steps[part].extent)
                };
                chain.push(View::Slice(axes.iter().enumerate().map(span).collect()));
            }
        }
        let runs: SmallVec<[DigitPart; 6]> = (axes.iter())
            .filter_map(|&part| match parts[part] {
                AxisPart::Digit(run) => Some(run),
                AxisPart::Joined(..) => None,
            })
            .collect();
        if runs.iter().any(|run| run.by < 0) {
            let span = |run: &DigitPart| match run.by < 0 {
                true => Span {
                    start: run.extent - 1,
                    len: run.extent,
                    step: -1,
                },
                false => Span::whole(run.extent),
            };
            chain.push(View::Slice(runs.iter().map(span).collect()));
        }
        let legs: SmallVec<[Leg; 6]> = (runs.iter())
            .map(|run| Leg {
                extent: run.extent,
                digit: Some(run.digit),
            })
            .collect();
        self.arrange(&legs, &mut chain);
        Ok(chain)
    }
}
