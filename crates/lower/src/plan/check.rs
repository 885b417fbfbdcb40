//! What every plan promises, checked from the plan alone.
//!
//! * each stage writes every element of what it is for exactly once, and nothing else;
//! * digits have an extent of at least 2, and as many index strides as there are indices;
//! * every address that is read lies in its source, whatever the indices are;
//! * a source is an input, a constant, or a temporary of an earlier stage.

use super::eval::{each, extent};
use super::{Answer, Body, Destination, Piece, Plan, Source, Stage};
use std::collections::HashSet;

/// A promise that is broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanFlaw {
    /// An element is written twice.
    #[error("stage {stage} piece {piece} writes element {address} a second time")]
    Twice {
        /// The stage.
        stage: usize,
        /// The piece that is second.
        piece: usize,
        /// The element.
        address: i64,
    },
    /// An element that is not part of the destination is written.
    #[error("stage {stage} piece {piece} writes element {address}, which is not its")]
    Stray {
        /// The stage.
        stage: usize,
        /// The piece.
        piece: usize,
        /// The element.
        address: i64,
    },
    /// Elements are left out.
    #[error("stage {stage} writes {written} of {count} elements")]
    Missing {
        /// The stage.
        stage: usize,
        /// How many it writes.
        written: usize,
        /// How many there are.
        count: i64,
    },
    /// A digit is malformed.
    #[error("stage {stage} piece {piece} has a malformed digit")]
    Digit {
        /// The stage.
        stage: usize,
        /// The piece.
        piece: usize,
    },
    /// An index that is moved by one that does not come before it.
    #[error("stage {stage} piece {piece}: index {column} is moved by a later one")]
    Column {
        /// The stage.
        stage: usize,
        /// The piece.
        piece: usize,
        /// The index column.
        column: usize,
    },
    /// A read outside its source.
    #[error("stage {stage} piece {piece} reads {low}..={high} of {held} elements of {from}")]
    Range {
        /// The stage.
        stage: usize,
        /// The piece.
        piece: usize,
        /// What is read.
        from: Source,
        /// Least address.
        low: i128,
        /// Greatest address.
        high: i128,
        /// Elements there are.
        held: i64,
    },
    /// Something refers to what is not there, or not yet.
    #[error("{0:?} cannot be read here")]
    Dangling(Source),
    /// Outputs and answers do not match.
    #[error("output {0} has no answer of its own")]
    Answer(usize),
}

impl Plan {
    /// Checks every promise, element by element: for tests and small plans, not for large ones.
    pub fn check(&self) -> Result<(), PlanFlaw> {
        for (at, stage) in self.stages.iter().enumerate() {
            self.check_writes(at, stage)?;
            for (k, piece) in stage.pieces.iter().enumerate() {
                self.check_reads(at, k, piece)?;
            }
        }
        for check in &self.checks {
            self.held(check.source, self.stages.len())?;
        }
        for n in 0..self.outputs.len().max(self.answers.len()) {
            let to = |s: u32| self.stages.get(s as usize).map(|s| s.destination);
            let fits = match self.answers.get(n) {
                Some(Answer::View { input, .. }) => (*input as usize) < self.inputs.len(),
                Some(Answer::Computed { stage, .. }) => {
                    to(*stage) == Some(Destination::Output(n as u32))
                }
                None => false,
            };
            if !fits || n >= self.outputs.len() {
                return Err(PlanFlaw::Answer(n));
            }
        }
        Ok(())
    }

    fn check_writes(&self, at: usize, stage: &Stage) -> Result<(), PlanFlaw> {
        let mut wanted = HashSet::new();
        match stage.destination {
            Destination::Scratch => wanted.extend(0..stage.count),
            Destination::Output(n) => {
                let output = self.outputs.get(n as usize);
                let (_, shape, layout) = output.ok_or(PlanFlaw::Answer(n as usize))?;
                match layout {
                    None => wanted.extend(0..extent(shape, None)),
                    Some(layout) => each::<PlanFlaw>(shape, |point| {
                        let moved = point.iter().zip(&layout.strides).map(|(x, s)| x * s);
                        wanted.insert(layout.offset + moved.sum::<i64>());
                        Ok(())
                    })?,
                }
            }
        }
        let mut written = HashSet::new();
        for (k, piece) in stage.pieces.iter().enumerate() {
            let extents: Vec<i64> = piece.digits.iter().map(|d| d.extent).collect();
            each(&extents, |values| {
                let moved = values.iter().zip(&piece.digits).map(|(v, d)| v * d.dst);
                let address = piece.dst + moved.sum::<i64>();
                let (stage, piece) = (at, k);
                if !wanted.contains(&address) {
                    return Err(PlanFlaw::Stray {
                        stage,
                        piece,
                        address,
                    });
                }
                match written.insert(address) {
                    true => Ok(()),
                    false => Err(PlanFlaw::Twice {
                        stage,
                        piece,
                        address,
                    }),
                }
            })?;
        }
        match written.len() == wanted.len() && wanted.len() as i64 == stage.count {
            true => Ok(()),
            false => Err(PlanFlaw::Missing {
                stage: at,
                written: written.len(),
                count: stage.count,
            }),
        }
    }

    fn check_reads(&self, stage: usize, number: usize, piece: &Piece) -> Result<(), PlanFlaw> {
        let columns = match &piece.body {
            Body::Fill(_) => 0,
            Body::Copy { indices, .. } => indices.len(),
        };
        let formed = |d: &super::PieceDigit| d.extent >= 2 && d.indices.len() == columns;
        if !piece.digits.iter().all(formed) {
            return Err(PlanFlaw::Digit {
                stage,
                piece: number,
            });
        }
        let Body::Copy {
            source,
            offset,
            indices,
        } = &piece.body
        else {
            return Ok(());
        };
        let span = |start: i64, strides: &dyn Fn(usize) -> i64, extra: i128| {
            let (mut low, mut high) = (i128::from(start), i128::from(start));
            let mut reach = |r: i128| match r < 0 {
                true => low += r,
                false => high += r,
            };
            for (d, digit) in piece.digits.iter().enumerate() {
                reach(i128::from(strides(d)) * i128::from(digit.extent - 1));
            }
            reach(extra);
            (low, high)
        };
        let inside = |source: Source, (low, high): (i128, i128)| {
            let held = self.held(source, stage)?;
            match low >= 0 && high < i128::from(held) {
                true => Ok(()),
                false => Err(PlanFlaw::Range {
                    stage,
                    piece: number,
                    from: source,
                    low,
                    high,
                    held,
                }),
            }
        };
        let (mut low, mut high) = span(*offset, &|d| piece.digits[d].src, 0);
        for (k, index) in indices.iter().enumerate() {
            let mut places = span(index.offset, &|d| piece.digits[d].indices[k], 0);
            for &(earlier, stride) in &index.through {
                let column = indices[..k].get(earlier as usize);
                let limit = column.map_or(1, |c| c.limit);
                if column.is_none() {
                    return Err(PlanFlaw::Column {
                        stage,
                        piece: number,
                        column: k,
                    });
                }
                let reach = i128::from(stride) * i128::from(limit - 1);
                places = (places.0 + reach.min(0), places.1 + reach.max(0));
            }
            inside(index.source, places)?;
            let reach = i128::from(index.coeff) * i128::from(index.limit - 1);
            (low, high) = (low + reach.min(0), high + reach.max(0));
        }
        inside(*source, (low, high))
    }

    /// How many elements a source has, if it can be read before this stage.
    fn held(&self, source: Source, before: usize) -> Result<i64, PlanFlaw> {
        match source {
            Source::Input(n) => self.inputs.get(n as usize).map(|i| i.1),
            Source::Constant(n) => {
                let constant = self.constants.get(n as usize);
                constant.map(|c| (c.bytes.len() / c.element.width()) as i64)
            }
            Source::Stage(n) => {
                let earlier = self.stages[..before].get(n as usize);
                earlier
                    .filter(|s| s.destination == Destination::Scratch)
                    .map(|s| s.count)
            }
        }
        .ok_or(PlanFlaw::Dangling(source))
    }
}
