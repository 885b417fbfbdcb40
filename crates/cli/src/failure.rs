//! Why a command ends without having done its work, and with which exit code.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use restride_text::{Diagnostic, Diagnostics, Source};

use crate::say::notice;
use crate::source::printable;

/// The codes, for the help text.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  the input is wrong, a file cannot be read or written, or a test failed
  2  the command was used wrongly
  3  restride itself failed; please report it
  4  of `conform`: no answer is wrong, but some cases are refused";

/// Why a command gave up. Each is a message for standard error.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was given to work on is wrong.
    Input(String),
    /// A text is wrong in places that can be pointed at.
    Text(Wrong),
    /// The command line makes no sense.
    Usage(String),
    /// A stage failed on what it had accepted before.
    Internal(String),
    /// Whoever reads the output has gone away: nothing is wrong.
    ClosedPipe,
}

/// What is wrong with a text, and where.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// For people, with the lines and carets under them.
    pub(crate) rendered: String,
    /// For programs.
    pub(crate) places: Vec<Spot>,
}

/// One thing that is wrong.
#[derive(Debug)]
pub(crate) struct Spot {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The column in characters, from 1.
    pub(crate) column: usize,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Spot {
    fn of(error: &Diagnostic, source: &Source<'_>) -> Self {
        let (line, column) = source.position(error.span.start);
        Self {
            line,
            column,
            message: error.message.clone(),
            help: error.help.clone(),
        }
    }
}

impl Failure {
    /// What is wrong with a file: cannot be read, cannot be written, or holds nothing of use.
    pub(crate) fn of_file<E: Display>(path: impl AsRef<Path>) -> impl Fn(E) -> Self {
        let name = printable(&path.as_ref().to_string_lossy());
        move |error| Self::Input(format!("{name}: {error}"))
    }

    /// What is wrong with a text.
    pub(crate) fn all(errors: &Diagnostics, source: &Source<'_>) -> Self {
        let places = errors.entries().iter();
        Self::Text(Wrong {
            rendered: errors.render(source),
            places: places.map(|error| Spot::of(error, source)).collect(),
        })
    }

    /// What is wrong, in one line if it can be.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Input(message) | Self::Usage(message) | Self::Internal(message) => message,
            Self::Text(wrong) => &wrong.rendered,
            Self::ClosedPipe => "",
        }
    }

    /// Prints it and says how to exit.
    pub(crate) fn report(&self) -> ExitCode {
        let (message, code) = match self {
            Self::Input(message) => (message, 1),
            Self::Text(wrong) => (&wrong.rendered, 1),
            Self::Usage(message) => (message, 2),
            Self::Internal(message) => (message, 3),
            Self::ClosedPipe => return ExitCode::SUCCESS,
        };
        // Diagnostics come rendered, with their own heading.
        let heading = match message.starts_with("error: ") {
            true => "",
            false => "error: ",
        };
        notice(format_args!("{heading}{}", message.trim_end()));
        ExitCode::from(code)
    }
}

/// Errors of writing to standard output.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Input(format!("standard output: {error}")),
        }
    }
}
