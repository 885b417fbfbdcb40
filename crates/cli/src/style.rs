//! Colours, on a terminal only and never against `NO_COLOR`.

use std::io::{IsTerminal, stdout};

/// How headings and dim text look.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    colours: bool,
}

impl Style {
    /// What standard output can show.
    pub(crate) fn of_stdout() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            colours: !refused && stdout().is_terminal(),
        }
    }

    /// A heading.
    pub(crate) fn heading(self, text: &str) -> String {
        match self.colours {
            true => format!("\u{1b}[1;36m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}
