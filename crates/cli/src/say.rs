//! What is said beside the output, on standard error. Nobody may be there to hear it, which is no
//! reason to fail: `println!` and `eprintln!`, which panic then, are refused in this crate.

use std::fmt::Arguments;
use std::io::{Write, stderr};

/// A line of its own.
pub(crate) fn notice(line: Arguments<'_>) {
    let _ = writeln!(stderr().lock(), "{line}");
}

/// A text as it is, such as one that is overwritten in place.
pub(crate) fn progress(text: Arguments<'_>) {
    let mut err = stderr().lock();
    let _ = write!(err, "{text}").and_then(|()| err.flush());
}
