//! Comments, for who prints a text again.

use crate::{Cursor, Span, TokenKind};

/// Where the comments of a text stand, in order, each to the end of its line; up to the first place
/// that is no token.
#[must_use]
pub fn comments(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let Ok(mut cursor) = Cursor::new(text) else {
        return found;
    };
    let mut end = 0;
    loop {
        let next = cursor.span().start as usize;
        let between = text.get(end..next).unwrap_or("");
        let mut at = 0;
        while let Some(start) = between[at..].find("//").map(|start| at + start) {
            let length = between[start..].find('\n');
            at = length.map_or(between.len(), |length| start + length);
            found.push(Span {
                start: (end + start) as u32,
                end: (end + at) as u32,
            });
        }
        match cursor.bump() {
            Ok(token) if token.kind != TokenKind::End => end = token.span.end as usize,
            Ok(_) | Err(_) => return found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_comment_is_found_and_nothing_in_a_string() {
        let text = "// one\n a \"// no\" b // two\n// three\n\n c //";
        let found = comments(text).into_iter();
        let texts: Vec<&str> = found
            .map(|span| &text[span.start as usize..span.end as usize])
            .collect();
        assert_eq!(texts, ["// one", "// two", "// three", "//"]);
    }
}
