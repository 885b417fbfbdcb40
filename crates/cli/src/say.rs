//! What is said beside the output, on standard error. Nobody may be there to hear it, which is no
//! reason to fail: `println!` and `eprintln!`, which panic then, are refused in this crate.

use std::fmt::Arguments;
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// A line of its own.
pub(crate) fn notice(line: Arguments<'_>) {
    let _ = writeln!(stderr().lock(), "{line}");
}

/// A text as it is, such as one that is overwritten in place.
pub(crate) fn progress(text: Arguments<'_>) {
    let mut err = stderr().lock();
    let _ = write!(err, "{text}").and_then(|()| err.flush());
}

pub(crate) fn plural(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// When somebody wants to know that something happens.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far a command has come, on a terminal and once it takes longer than a second.
pub(crate) struct Progress {
    begin: Instant,
    talks: bool,
    told: bool,
}

impl Progress {
    pub(crate) fn begin() -> Self {
        Self {
            begin: Instant::now(),
            talks: stderr().is_terminal(),
            told: false,
        }
    }

    /// The number of what is being done now: `compiling 3 of 20 ...`.
    pub(crate) fn at(&mut self, what: &str, number: usize, count: usize) {
        if self.talks && self.begin.elapsed() > PATIENCE {
            progress(format_args!("\r{what} {number} of {count} ..."));
            self.told = true;
        }
    }
}

/// Nothing of it is left on the line.
impl Drop for Progress {
    fn drop(&mut self) {
        if self.told {
            progress(format_args!("\r{:40}\r", ""));
        }
    }
}
