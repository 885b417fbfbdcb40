//! Plans in words.
//!
//! ```text
//! stage 0 -> output 0: f32 x 24, 1 piece  // output 0
//!   12 [4:6:1 6:1:4] = input 0 + 3
//! view: output 1 = input 0 + 2 (6 1)
//! ```
//!
//! A piece is its destination address, its digits as `extent:destination:source` (and one more
//! stride per index), and what it reads.

use super::{Answer, Body, Destination, Piece, Plan, Source, Stage};
use std::fmt;

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Input(n) => write!(f, "input {n}"),
            Source::Constant(n) => write!(f, "constant {n}"),
            Source::Stage(n) => write!(f, "stage {n}"),
        }
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [", self.dst)?;
        for (k, digit) in self.digits.iter().enumerate() {
            write!(
                f,
                "{}{}:{}",
                if k > 0 { " " } else { "" },
                digit.extent,
                digit.dst
            )?;
            if let Body::Copy { .. } = self.body {
                write!(f, ":{}", digit.src)?;
            }
            digit.indices.iter().try_for_each(|i| write!(f, ":{i}"))?;
        }
        match &self.body {
            Body::Fill(bits) => write!(f, "] = fill {bits:#x}"),
            Body::Copy {
                source,
                offset,
                indices,
            } => {
                write!(f, "] = {source} + {offset}")?;
                for (k, index) in indices.iter().enumerate() {
                    // An index that another one looks up with is named, not multiplied.
                    match index.coeff {
                        0 => write!(f, " with i{k} =")?,
                        coeff => write!(f, " + {coeff} *")?,
                    }
                    write!(
                        f,
                        " {} {}[{}",
                        index.element.name(),
                        index.source,
                        index.offset
                    )?;
                    for (earlier, stride) in &index.through {
                        write!(f, " + {stride} * i{earlier}")?;
                    }
                    write!(
                        f,
                        "] in {}{}{}",
                        index.limit,
                        if index.wrap { " wrap" } else { "" },
                        if index.clamp { " clamp" } else { " zero" },
                    )?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::Scratch => f.write_str("scratch"),
            Destination::Output(n) => write!(f, "output {n}"),
        }
    }
}

impl Stage {
    /// Why there is this stage: what broke a chain, or else what it writes.
    #[must_use]
    pub fn why(&self) -> String {
        let reason = self.reason.clone();
        reason.unwrap_or_else(|| self.destination.to_string())
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for check in &self.checks {
            write!(f, "check {}[{}] [", check.source, check.offset)?;
            for (k, (extent, stride)) in check.dims.iter().enumerate() {
                write!(f, "{}{extent}:{stride}", if k > 0 { " " } else { "" })?;
            }
            let wrap = if check.wrap { " wrap" } else { "" };
            writeln!(f, "] {} in {}{wrap}", check.element.name(), check.limit)?;
        }
        for (at, stage) in self.stages.iter().enumerate() {
            let to = stage.destination;
            let reason = stage.why();
            writeln!(
                f,
                "stage {at} -> {to}: {} x {}, {} piece{}  // {}",
                stage.element.name(),
                stage.count,
                stage.pieces.len(),
                if stage.pieces.len() == 1 { "" } else { "s" },
                reason,
            )?;
            for piece in &stage.pieces {
                writeln!(f, "  {piece}")?;
            }
        }
        for (n, answer) in self.answers.iter().enumerate() {
            match answer {
                Answer::View { input, layout } => {
                    write!(f, "view: output {n} = input {input} + {} (", layout.offset)?;
                    for (k, stride) in layout.strides.iter().enumerate() {
                        write!(f, "{}{stride}", if k > 0 { " " } else { "" })?;
                    }
                    writeln!(f, ")")?;
                }
                Answer::Computed { stage, why } => {
                    writeln!(f, "copy: output {n} by stage {stage}, since {why}")?;
                }
            }
        }
        Ok(())
    }
}
