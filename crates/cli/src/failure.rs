//! Why a command ends without having done its work, and with which exit code.

use std::process::ExitCode;

/// The codes, for the help text.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  the input is wrong, or a test failed
  2  the command was used wrongly
  3  restride itself failed; please report it";

/// Why a command gave up. Each is a message for standard error.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was given to work on is wrong. The text may be a rendered diagnostic.
    Input(String),
    /// The command line makes no sense.
    Usage(String),
    /// A stage failed on what it had accepted before.
    Internal(String),
    /// Whoever reads the output has gone away: nothing is wrong.
    ClosedPipe,
}

impl Failure {
    /// Prints it and says how to exit.
    pub(crate) fn report(&self) -> ExitCode {
        let (message, code) = match self {
            Self::Input(message) => (message, 1),
            Self::Usage(message) => (message, 2),
            Self::Internal(message) => (message, 3),
            Self::ClosedPipe => return ExitCode::SUCCESS,
        };
        // Diagnostics come rendered, with their own heading.
        if message.starts_with("error: ") {
            eprint!("{message}");
        } else {
            eprintln!("error: {message}");
        }
        ExitCode::from(code)
    }
}

/// A plain message is about how a command was used.
impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Usage(message)
    }
}

/// Errors of writing to standard output.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Input(error.to_string()),
        }
    }
}
