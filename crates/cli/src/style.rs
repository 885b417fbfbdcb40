//! Colours: as `--color` says, else on a terminal only and never against `NO_COLOR`.

use std::io::{IsTerminal, stdout};
use std::sync::OnceLock;

use clap::ValueEnum;

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

/// What the command line asked for.
static ASKED: OnceLock<Colour> = OnceLock::new();

impl Colour {
    /// Takes effect for the whole run; the first call counts.
    pub(crate) fn choose(self) {
        let _ = ASKED.set(self);
    }
}

/// How headings and dim text look.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    colours: bool,
}

impl Style {
    /// What standard output can show.
    pub(crate) fn of_stdout() -> Self {
        let asked = ASKED.get().copied().unwrap_or_default();
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            colours: match asked {
                Colour::Auto => !refused && stdout().is_terminal(),
                Colour::Always => true,
                Colour::Never => false,
            },
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
