//! Errors that point into the text they came from.

use crate::seen;
use std::fmt::Write as _;

/// How many diagnostics one run reports in full.
pub const MAX_DIAGNOSTICS: usize = 20;

/// The longest part of a source line that is shown.
const MAX_SHOWN: usize = 160;

/// A byte range of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A text and the name a reader knows it by.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    name: &'a str,
    text: &'a str,
}

impl<'a> Source<'a> {
    /// A text under a name such as its file's, or `<stdin>`.
    #[must_use]
    pub fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Line and column, both from 1, the column in characters.
    #[must_use]
    pub fn position(&self, byte: u32) -> (usize, usize) {
        let (line_start, line) = self.line_of(byte);
        let column = self.text[line_start..self.floor(byte)].chars().count() + 1;
        (line, column)
    }

    fn floor(&self, byte: u32) -> usize {
        let mut at = (byte as usize).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    fn line_of(&self, byte: u32) -> (usize, usize) {
        let before = &self.text[..self.floor(byte)];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (start, before.matches('\n').count() + 1)
    }
}

/// One thing that is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Diagnostic {
    /// Where.
    pub span: Span,
    /// What, without a full stop.
    pub message: String,
    /// What to do about it, if that can be told.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic without advice.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: None,
        }
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The message with its place, the source line and a caret under what is meant.
    #[must_use]
    pub fn render(&self, source: &Source<'_>) -> String {
        let mut out = String::new();
        let (line, column) = source.position(self.span.start);
        let (line_start, _) = source.line_of(self.span.start);
        let text = source.text[line_start..].lines().next().unwrap_or("");
        let width = line.to_string().len();
        let start = source.floor(self.span.start);
        let end = source.floor(self.span.end.max(self.span.start));
        let before = source.text[line_start..start].chars().count();
        let visible = text.chars().count();
        // A long line is shown as the window around the caret.
        let skip = before.saturating_sub(MAX_SHOWN / 2);
        let shown: String = text.chars().skip(skip).take(MAX_SHOWN).collect();
        let marked = source.text[start..end]
            .lines()
            .next()
            .map_or(0, |s| s.chars().count())
            .clamp(1, visible.saturating_sub(before).max(1))
            .min(MAX_SHOWN);
        let _ = writeln!(out, "error: {}", seen(&self.message));
        let name = seen(source.name);
        let _ = writeln!(out, "{:width$}--> {name}:{line}:{column}", "");
        let _ = writeln!(out, "{:width$} |", "");
        let _ = writeln!(out, "{line} | {}", seen(&shown));
        let caret_column = before - skip;
        let carets = "^".repeat(marked);
        let _ = writeln!(out, "{:width$} | {:caret_column$}{carets}", "", "");
        if let Some(help) = &self.help {
            let _ = writeln!(out, "{:width$} = help: {}", "", seen(help));
        }
        out
    }
}

/// All that is wrong with a text, in order, up to a bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    entries: Vec<Diagnostic>,
    dropped: usize,
}

impl Diagnostics {
    /// Adds one; past the bound it is only counted.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.entries.len() < MAX_DIAGNOSTICS {
            self.entries.push(diagnostic);
        } else {
            self.dropped += 1;
        }
    }

    /// The same for a text of which so many bytes stand before the one that was read.
    #[must_use]
    pub fn moved(mut self, by: u32) -> Self {
        for entry in &mut self.entries {
            entry.span.start += by;
            entry.span.end += by;
        }
        self
    }

    /// The entries that were kept.
    #[must_use]
    pub fn entries(&self) -> &[Diagnostic] {
        &self.entries
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether the bound has been reached, so that a parser may as well stop.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.entries.len() == MAX_DIAGNOSTICS
    }

    /// Every entry rendered, and a count of those that were not kept.
    #[must_use]
    pub fn render(&self, source: &Source<'_>) -> String {
        let mut out: String = self.entries.iter().map(|d| d.render(source)).collect();
        if self.dropped > 0 {
            let _ = writeln!(out, "error: and {} more", self.dropped);
        }
        out
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        let mut all = Self::default();
        all.push(diagnostic);
        all
    }
}

impl std::fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, entry) in self.entries.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{entry}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_at_the_middle_line() {
        let source = Source::new("a.mv", "one\ntwo three\nfour");
        let d = Diagnostic::new(Span { start: 8, end: 13 }, "no").help("yes");
        let expected =
            "error: no\n --> a.mv:2:5\n  |\n2 | two three\n  |     ^^^^^\n  = help: yes\n";
        assert_eq!(d.render(&source), expected);
    }

    #[test]
    fn survives_any_span() {
        let text = "a\u{e9}\u{1b}[31m\n\n\tz\u{202e}";
        let source = Source::new("x\u{1b}\u{2066}", text);
        for start in 0..20 {
            for end in 0..20 {
                let shown = Diagnostic::new(Span { start, end }, "m").render(&source);
                assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{2066}']));
            }
        }
    }

    #[test]
    fn long_lines_are_cut_to_a_window() {
        let text = "x".repeat(100_000);
        let source = Source::new("a", &text);
        let span = Span {
            start: 50_000,
            end: 90_000,
        };
        let shown = Diagnostic::new(span, "m").render(&source);
        assert!(shown.len() < 1_000, "{}", shown.len());
    }

    #[test]
    fn keeps_a_bounded_number() {
        let mut all = Diagnostics::default();
        for _ in 0..MAX_DIAGNOSTICS + 3 {
            all.push(Diagnostic::new(Span::default(), "m"));
        }
        assert!(all.is_full());
        let shown = all.render(&Source::new("a", ""));
        assert!(shown.ends_with("error: and 3 more\n"));
    }
}
