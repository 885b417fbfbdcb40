//! What a plan moves, against the least that any program could.
//!
//! Counted in distinct elements: an element that a piece reads again and again (a broadcast) stays
//! in a cache and counts once. The least is every element of the outputs written once, and of each
//! input as many read as the outputs need; a program that breaks into stages also writes and reads
//! what lies between them.

mod lines;

use std::fmt;

use crate::Lines;
use crate::plan::{Body, Destination, Piece, PieceDigit, Plan, Source};
use lines::{BufferWalk, touched};

/// Bytes and cache lines of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Bytes read, of inputs, constants and intermediate values.
    pub read: u128,
    /// Bytes written.
    pub written: u128,
    /// The least that can be read.
    pub least_read: u128,
    /// The least that can be written.
    pub least_written: u128,
    /// The lines of data that have to be read and written, however often a line is visited: those
    /// that the elements lie in, if buffers begin where lines do. Of rows that indices name, as many
    /// lines as their bytes fill, if no row is named twice. Indices are not counted.
    pub least_lines: u128,
    /// Of these, the lines that are written.
    pub least_lines_written: u128,
    /// Lines of data read, as the scheduler predicts for the order that it chose.
    pub lines_read: i128,
    /// Cache lines written.
    pub lines_written: i128,
}

/// A cache line, in bytes.
const LINE: u128 = 64;

impl Traffic {
    /// Counts what a plan moves, of which a kernel reads and writes such lines.
    #[must_use]
    pub fn of(plan: &Plan, lines: Lines) -> Self {
        let mut traffic = Self {
            lines_read: lines.read,
            lines_written: lines.written,
            ..Self::default()
        };
        let mut inputs = vec![0u128; plan.inputs.len()];
        // Of each input: the walks over it, and the bytes of rows that indices name.
        let mut walks: Vec<Vec<BufferWalk>> = vec![Vec::new(); plan.inputs.len()];
        let mut named = inputs.clone();
        for stage in &plan.stages {
            let width = stage.element.width() as u128;
            let bytes = stage.count.max(0) as u128 * width;
            traffic.written += bytes;
            if let Destination::Output(_) = stage.destination {
                traffic.least_written += bytes;
                let written = stage.pieces.iter().filter_map(|piece| {
                    let digits = piece.digits.iter().map(|digit| (digit.extent, digit.dst));
                    BufferWalk::new(piece.dst, digits, stage.element.width())
                });
                traffic.least_lines_written += touched(written.collect());
            }
            for piece in &stage.pieces {
                let Body::Copy {
                    source,
                    indices,
                    offset,
                } = &piece.body
                else {
                    continue;
                };
                let mut read = |source: &Source, bytes: u128| {
                    traffic.read += bytes;
                    if let Source::Input(n) = source
                        && let Some(input) = inputs.get_mut(*n as usize)
                    {
                        *input += bytes;
                    }
                };
                let bytes = distinct(piece, None) * width;
                read(source, bytes);
                if let Source::Input(n) = source {
                    let n = *n as usize;
                    let digits = piece.digits.iter().map(|digit| (digit.extent, digit.src));
                    match (walks.get_mut(n), named.get_mut(n)) {
                        (Some(walks), _) if indices.is_empty() => {
                            walks.extend(BufferWalk::new(*offset, digits, stage.element.width()));
                        }
                        (_, Some(named)) => *named += bytes,
                        (_, None) => {}
                    }
                }
                for (column, index) in indices.iter().enumerate() {
                    let bytes = distinct(piece, Some(column)) * index.element.width() as u128;
                    read(&index.source, bytes);
                }
            }
        }
        for check in &plan.checks {
            let count: u128 = check
                .dims
                .iter()
                .map(|(n, _)| (*n).max(0) as u128)
                .product();
            traffic.read += count * check.element.width() as u128;
        }
        traffic.least_lines = traffic.least_lines_written;
        let sources = inputs.iter().zip(walks).zip(named);
        for (((read, walks), named), (element, count)) in sources.zip(&plan.inputs) {
            let all = (*count).max(0) as u128 * element.width() as u128;
            traffic.least_read += (*read).min(all);
            // Rows that are named may lie where others are read anyway.
            traffic.least_lines += touched(walks).max(named.min(all).div_ceil(LINE));
        }
        traffic
    }

    /// Bytes moved.
    #[must_use]
    pub fn moved(&self) -> u128 {
        self.read + self.written
    }

    /// The least bytes that can be moved.
    #[must_use]
    pub fn least(&self) -> u128 {
        self.least_read + self.least_written
    }

    /// How many times the least is moved; 1 when nothing has to be.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        match self.least() {
            0 => 1.0,
            least => self.moved() as f64 / least as f64,
        }
    }
}

/// In words, in two lines.
impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} bytes read, {} written; at least {} and {}: {:.2} times the least",
            self.read,
            self.written,
            self.least_read,
            self.least_written,
            self.ratio()
        )?;
        let plural = if self.lines_read == 1 { "" } else { "s" };
        write!(
            f,
            "{} cache line{plural} of data read, {} written; at least {} together",
            self.lines_read, self.lines_written, self.least_lines
        )
    }
}

/// How many distinct elements of its source (or of one of its index columns) a piece reads.
fn distinct(piece: &Piece, column: Option<usize>) -> u128 {
    let moves = |digit: &&PieceDigit| match column {
        None => digit.src != 0 || digit.indices.iter().any(|stride| *stride != 0),
        Some(column) => digit.indices.get(column).is_some_and(|stride| *stride != 0),
    };
    let extents = piece.digits.iter().filter(moves);
    extents.map(|digit| digit.extent.max(0) as u128).product()
}
