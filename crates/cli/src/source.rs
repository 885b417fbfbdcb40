//! What a command works on: a file, standard input, or an expression on the command line.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use restride_text::{Diagnostic, Diagnostics, MAX_TEXT, Source, is_seen};

use crate::failure::Failure;

/// The help text of every argument that names an input.
pub(crate) const INPUT_HELP: &str = "A file, `-` for standard input, or an expression such as 'x: f32[4,6]; x[::-1].T' (see \
     `restride help quick`)";

/// What could have been meant by nothing.
const HELP_OF_NOTHING: &str = "write a file, `-` for standard input, or an expression such as \
                               'x: f32[4,6]; x[::-1].T'";

/// A text and where it came from.
#[derive(Clone)]
pub(crate) struct Input {
    name: String,
    text: String,
}

impl Input {
    /// Reads what an argument stands for. One that names a file is that file; otherwise one that
    /// contains `;`, `[` or `:` is an expression.
    pub(crate) fn open(argument: &str) -> Result<Self, Failure> {
        if argument.trim().is_empty() {
            let message = format!(
                "`{}` names nothing: {}",
                printable(argument),
                HELP_OF_NOTHING
            );
            return Err(Failure::Usage(message));
        }
        if argument == "-" {
            let text = read(io::stdin().lock(), "<stdin>")?;
            return Ok(Self {
                name: "<stdin>".into(),
                text,
            });
        }
        if !Path::new(argument).exists() && argument.contains([';', '[', ':']) {
            return Ok(Self {
                name: "<expression>".into(),
                text: argument.into(),
            });
        }
        let name = printable(argument);
        let file =
            File::open(argument).map_err(|error| Failure::Input(format!("{name}: {error}")))?;
        let text = read(file, &name)?;
        Ok(Self { name, text })
    }

    /// A text that was made up under this name.
    pub(crate) fn named(name: &str, text: String) -> Self {
        Self {
            name: name.into(),
            text,
        }
    }

    /// Where it came from.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// A text under its name, for diagnostics.
    pub(crate) fn source(&self) -> Source<'_> {
        Source::new(&self.name, &self.text)
    }

    /// What is wrong with the text, as a failure of a command.
    pub(crate) fn wrong(&self, error: &Diagnostic) -> Failure {
        Failure::at(error, &self.source())
    }

    /// The same for several.
    pub(crate) fn all_wrong(&self, errors: &Diagnostics) -> Failure {
        Failure::all(errors, &self.source())
    }
}

fn read(from: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let limit = MAX_TEXT as u64;
    from.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::Input(format!("{name}: {error}")))?;
    if bytes.len() > MAX_TEXT {
        return Err(Failure::Input(format!(
            "{name}: more than {limit} bytes of text"
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::Input(format!(
            "{name}: not valid UTF-8 at byte {at}; a file of data is read with `--input name=FILE`"
        ))
    })
}

/// A name as a terminal may show it.
pub(crate) fn printable(name: &str) -> String {
    let mut shown = String::new();
    for c in name.chars().take(200) {
        match is_seen(c) {
            true => shown.push(c),
            false => shown.extend(c.escape_default()),
        }
    }
    shown
}
