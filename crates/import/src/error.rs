//! What is wrong with a file, and where in it.

use std::fmt;

/// Why a file is no model: what is wrong, and the way to it from the top of the file.
///
/// It reads as one line: `graph.node[12] (Conv "c1").attribute[0]: ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// The way, innermost part first.
    path: Vec<String>,
    what: String,
}

/// The longest name that is repeated in a message.
const MAX_NAME: usize = 80;

/// The longest message.
const MAX_MESSAGE: usize = 500;

impl ImportError {
    /// What is wrong, in a line that is not too long, whatever parts of the file it repeats.
    pub(crate) fn new(what: impl Into<String>) -> ImportError {
        let mut what = what.into();
        if what.len() > MAX_MESSAGE || what.contains(char::is_control) {
            let line = what.chars().take(MAX_MESSAGE);
            what = line.fold(String::new(), |mut line, c| {
                match c.is_control() {
                    true => line.extend(c.escape_default()),
                    false => line.push(c),
                }
                line
            });
        }
        ImportError {
            path: Vec::new(),
            what,
        }
    }

    /// The same, seen from one part further out.
    pub(crate) fn inside(mut self, part: impl Into<String>) -> ImportError {
        self.path.push(part.into());
        self
    }

    /// The way to what is wrong, from the top of the file.
    #[must_use]
    pub fn path(&self) -> String {
        let mut path = String::new();
        for part in self.path.iter().rev() {
            if !path.is_empty() && !part.starts_with(['[', ' ']) {
                path.push('.');
            }
            path.push_str(part);
        }
        path
    }

    /// What is wrong there.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => f.write_str(&self.what),
            false => write!(f, "{}: {}", self.path(), self.what),
        }
    }
}

impl std::error::Error for ImportError {}

/// A name out of a file, as a message may show it.
pub(crate) fn shown(name: &str) -> String {
    let mut out: String = name
        .chars()
        .take(MAX_NAME)
        .flat_map(char::escape_debug)
        .collect();
    if name.chars().nth(MAX_NAME).is_some() {
        out.push_str("...");
    }
    out
}
