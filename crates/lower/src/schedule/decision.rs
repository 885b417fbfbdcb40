//! What the scheduler decided, and why, for people who ask.

use restride_loops::ir::Form;
use std::fmt;

/// Why a form was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// One element.
    Single,
    /// The same bits everywhere.
    Constant,
    /// Both sides run on for this many bytes.
    Run(i64),
    /// As `Run`, and source and destination together are more than the last cache keeps.
    PastTheCaches(i64),
    /// The destination is contiguous, the source steps by this many elements.
    Step(i64),
    /// One digit is contiguous in the destination, another in the source.
    Transposed,
    /// As `Transposed`, and source and destination together are more than the last cache keeps.
    TransposedPastTheCaches,
    /// As `Transposed`, and the rows of one side are this many bytes apart: they share cache sets.
    Conflicting(i64),
    /// A short pattern that repeats: each destination line mixes a few source lines.
    Pattern,
    /// As `Step` or `Pattern`, and source and destination together are more than the last cache
    /// keeps.
    PatternPastTheCaches,
    /// No digit is contiguous in the destination.
    Scattered,
    /// Rows of this many bytes named by indices.
    Indexed(i64),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => write!(f, "one element"),
            Self::Constant => write!(f, "the same bits everywhere"),
            Self::Run(bytes) => write!(f, "runs of {bytes} bytes on both sides"),
            Self::PastTheCaches(bytes) => {
                write!(
                    f,
                    "runs of {bytes} bytes, more in all than the last cache keeps"
                )
            }
            Self::Step(step) => write!(f, "contiguous destination, source step {step}"),
            Self::Transposed => {
                write!(
                    f,
                    "one digit contiguous in the destination, another in the source"
                )
            }
            Self::TransposedPastTheCaches => {
                write!(f, "transposed, more in all than the last cache keeps")
            }
            Self::Conflicting(bytes) => write!(
                f,
                "transposed with rows {bytes} bytes apart, which share cache sets"
            ),
            Self::Pattern => write!(f, "a short pattern: each line mixes a few source lines"),
            Self::PatternPastTheCaches => write!(
                f,
                "each line mixes a few source lines, more in all than the last cache keeps"
            ),
            Self::Scattered => write!(f, "no digit is contiguous in the destination"),
            Self::Indexed(bytes) => write!(f, "rows of {bytes} bytes named by indices"),
        }
    }
}

/// One decision: which piece is moved how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The stage.
    pub stage: usize,
    /// The piece in it.
    pub piece: usize,
    /// The form; `None` for fills and gathers, which have only one.
    pub form: Option<Form>,
    /// Why.
    pub why: Why,
    /// Source lines a pass in this order reads.
    pub lines_read: i64,
    /// Destination lines it writes.
    pub lines_written: i64,
    /// How many other pieces move in the same loop because they read or write the same lines.
    pub shared_with: usize,
    /// Iterations of the parallel loop, if the work is worth sharing out.
    pub parallel: Option<i64>,
}

/// The cache lines that a kernel reads and writes, as the scheduler predicts for the order that it chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Of inputs, constants and intermediate values.
    pub read: i128,
    /// Of outputs and intermediate values.
    pub written: i128,
}

impl Lines {
    /// Adds up what decisions name.
    #[must_use]
    pub fn of(decisions: &[Decision]) -> Self {
        let mut lines = Self::default();
        for decision in decisions {
            lines.read += i128::from(decision.lines_read);
            lines.written += i128::from(decision.lines_written);
        }
        lines
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stage {} piece {}: ", self.stage, self.piece)?;
        match (self.form, &self.why) {
            (Some(form), _) => write!(f, "{}", form.name())?,
            (None, Why::Constant) => write!(f, "fill")?,
            (None, _) => write!(f, "gather")?,
        }
        let plural = if self.lines_read == 1 { "" } else { "s" };
        write!(
            f,
            ": {}; {} line{plural} read, {} written",
            self.why, self.lines_read, self.lines_written
        )?;
        if self.shared_with > 0 {
            write!(f, "; shares lines with {} more", self.shared_with)?;
        }
        if let Some(n) = self.parallel {
            write!(f, "; {n} parallel iterations")?;
        }
        Ok(())
    }
}
