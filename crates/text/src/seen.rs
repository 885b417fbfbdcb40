//! Characters that show as what they are.

/// Whether a character has a place in a name, and may be shown as it is: no control character, and
/// none that turns writing round, joins it, or is not seen at all.
///
/// ```
/// use restride_text::is_seen;
/// assert!("kernel 7: \u{e9}\u{4e2d} \"x\"".chars().all(is_seen));
/// assert!(!"\u{1b}\u{200b}\u{202e}\u{2066}\u{feff}\u{e0041}".chars().any(is_seen));
/// ```
#[must_use]
pub fn is_seen(c: char) -> bool {
    matches!(c, '"' | '\'' | '\\') || c.escape_debug().len() == 1
}

/// A text with all else spelled out, but for the ends of lines.
#[must_use]
pub fn seen(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push(' '),
            '\n' => out.push('\n'),
            c if is_seen(c) => out.push(c),
            c => out.extend(c.escape_default()),
        }
    }
    out
}
