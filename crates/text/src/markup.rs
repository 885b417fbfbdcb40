//! Text inside of XML and HTML.

/// A text as XML and HTML write it, in attributes too.
///
/// ```
/// assert_eq!(restride_text::escape("a < \"b\""), "a &lt; &quot;b&quot;");
/// ```
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
