//! Reading tokens one by one, with errors that say what was expected.

use crate::lexer::next_token;
use crate::{Diagnostic, MAX_TEXT, Span, Token, TokenKind};
use smallvec::SmallVec;

/// Something read from the text, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// What.
    pub text: T,
    /// Where.
    pub span: Span,
}

/// A position in a text, one token ahead.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    /// The token to be read next, or why there is none.
    ahead: Result<Token<'a>, Diagnostic>,
    /// Where the token after it starts.
    after: usize,
    /// The end of the last token taken.
    last_end: u32,
}

impl<'a> Cursor<'a> {
    /// The start of a text; an error when it is longer than [`MAX_TEXT`].
    pub fn new(text: &'a str) -> Result<Self, Diagnostic> {
        if text.len() > MAX_TEXT {
            let message = format!("a text of {} bytes; the limit is {MAX_TEXT}", text.len());
            return Err(Diagnostic::new(Span::default(), message));
        }
        let mut cursor = Self {
            text,
            ahead: Err(Diagnostic::new(Span::default(), "")),
            after: 0,
            last_end: 0,
        };
        cursor.advance();
        Ok(cursor)
    }

    fn advance(&mut self) {
        self.ahead = match next_token(self.text, self.after) {
            Ok((token, after)) => {
                self.after = after;
                Ok(token)
            }
            Err(error) => {
                self.after = (error.span.end as usize).max(self.after);
                Err(error)
            }
        };
    }

    /// The token to be read next.
    pub fn peek(&self) -> Result<Token<'a>, Diagnostic> {
        self.ahead.clone()
    }

    /// Takes the next token, whatever it is.
    pub fn bump(&mut self) -> Result<Token<'a>, Diagnostic> {
        let token = self.ahead.clone()?;
        self.last_end = token.span.end;
        self.advance();
        Ok(token)
    }

    /// Where the next token stands (or where the unreadable character does).
    #[must_use]
    pub fn span(&self) -> Span {
        match &self.ahead {
            Ok(token) => token.span,
            Err(error) => error.span,
        }
    }

    /// From `start` to the end of the last token taken.
    #[must_use]
    pub fn span_since(&self, start: Span) -> Span {
        Span {
            start: start.start,
            end: self.last_end.max(start.end),
        }
    }

    /// Whether all tokens have been read.
    #[must_use]
    pub fn at_end(&self) -> bool {
        self.at(TokenKind::End, "")
    }

    fn at(&self, kind: TokenKind, text: &str) -> bool {
        matches!(&self.ahead, Ok(t) if t.kind == kind && t.text == text)
    }

    fn at_kind(&self, kind: TokenKind) -> bool {
        matches!(&self.ahead, Ok(t) if t.kind == kind)
    }

    /// Whether the next token is this punctuation.
    #[must_use]
    pub fn at_punct(&self, punct: &str) -> bool {
        self.at(TokenKind::Punct, punct)
    }

    /// Whether the next token is this name.
    #[must_use]
    pub fn at_name(&self, name: &str) -> bool {
        self.at(TokenKind::Name, name)
    }

    /// Whether the next token is a `%value`.
    #[must_use]
    pub fn at_value(&self) -> bool {
        self.at_kind(TokenKind::Value)
    }

    /// Whether the next token is an integer.
    #[must_use]
    pub fn at_int(&self) -> bool {
        self.at_kind(TokenKind::Int)
    }

    /// Takes this punctuation if it is next.
    pub fn eat(&mut self, punct: &str) -> bool {
        let there = self.at_punct(punct);
        if there {
            self.take();
        }
        there
    }

    /// Takes this name if it is next.
    pub fn eat_name(&mut self, name: &str) -> bool {
        let there = self.at_name(name);
        if there {
            self.take();
        }
        there
    }

    fn take(&mut self) {
        self.last_end = self.span().end;
        self.advance();
    }

    /// Takes this punctuation, or says that it is missing.
    pub fn expect(&mut self, punct: &str) -> Result<Span, Diagnostic> {
        if self.at_punct(punct) {
            let span = self.span();
            self.take();
            Ok(span)
        } else {
            Err(self.unexpected(&format!("`{punct}`")))
        }
    }

    /// Takes this name, or says that it is missing.
    pub fn expect_name(&mut self, name: &str) -> Result<Span, Diagnostic> {
        if self.at_name(name) {
            let span = self.span();
            self.take();
            Ok(span)
        } else {
            Err(self.unexpected(&format!("`{name}`")))
        }
    }

    fn of_kind(&mut self, kind: TokenKind, what: &str) -> Result<Spanned<&'a str>, Diagnostic> {
        if !self.at_kind(kind) {
            return Err(self.unexpected(what));
        }
        let token = self.bump()?;
        Ok(Spanned {
            text: token.text,
            span: token.span,
        })
    }

    /// Takes a name.
    pub fn name(&mut self) -> Result<Spanned<&'a str>, Diagnostic> {
        self.of_kind(TokenKind::Name, "a name")
    }

    /// Takes a `%value`.
    pub fn value(&mut self) -> Result<Spanned<&'a str>, Diagnostic> {
        self.of_kind(TokenKind::Value, "a value such as %x")
    }

    /// Takes a `@symbol`.
    pub fn symbol(&mut self) -> Result<Spanned<&'a str>, Diagnostic> {
        self.of_kind(TokenKind::Symbol, "a symbol such as @main")
    }

    /// Takes a string.
    pub fn string(&mut self) -> Result<Spanned<&'a str>, Diagnostic> {
        self.of_kind(TokenKind::String, "a string")
    }

    /// Takes an integer that fits an `i64`.
    pub fn int(&mut self) -> Result<Spanned<i64>, Diagnostic> {
        self.int_in(i128::from(i64::MIN), i128::from(i64::MAX))
            .map(|s| Spanned {
                text: s.text as i64,
                span: s.span,
            })
    }

    /// Takes an integer between two bounds, both included.
    pub fn int_in(&mut self, low: i128, high: i128) -> Result<Spanned<i128>, Diagnostic> {
        let token = self.of_kind(TokenKind::Int, "an integer")?;
        let value = parse_int(token.text)
            .ok_or_else(|| Diagnostic::new(token.span, "this is no integer of 128 bits"))?;
        if value < low || value > high {
            let message = format!("{value} is outside {low}..={high}");
            return Err(Diagnostic::new(token.span, message));
        }
        Ok(Spanned {
            text: value,
            span: token.span,
        })
    }

    /// Takes an unsigned integer of up to 128 bits, such as a bit pattern.
    pub fn bits(&mut self) -> Result<Spanned<u128>, Diagnostic> {
        let token = self.of_kind(TokenKind::Int, "a bit pattern")?;
        let value = parse_magnitude(token.text).ok_or_else(|| {
            Diagnostic::new(token.span, "this is no unsigned integer of 128 bits")
        })?;
        Ok(Spanned {
            text: value,
            span: token.span,
        })
    }

    /// Takes `[a, b, ...]` with at most `limit` integers.
    pub fn int_list(&mut self, limit: usize) -> Result<SmallVec<[i64; 6]>, Diagnostic> {
        let mut out = SmallVec::new();
        self.list("[", "]", limit, |cursor| {
            out.push(cursor.int()?.text);
            Ok(())
        })?;
        Ok(out)
    }

    /// Takes `open item, item, ... close` with at most `limit` items; a last comma is fine.
    pub fn list(
        &mut self,
        open: &str,
        close: &str,
        limit: usize,
        mut item: impl FnMut(&mut Self) -> Result<(), Diagnostic>,
    ) -> Result<Span, Diagnostic> {
        let start = self.expect(open)?;
        let mut count = 0;
        while !self.at_punct(close) {
            if count == limit {
                let message = format!("a list of more than {limit} entries");
                return Err(Diagnostic::new(self.span(), message));
            }
            item(self)?;
            count += 1;
            if !self.eat(",") && !self.at_punct(close) {
                return Err(self.unexpected(&format!("`,` or `{close}`")));
            }
        }
        let end = self.expect(close)?;
        Ok(start.to(end))
    }

    /// The diagnostic for a token that is not what the grammar wants.
    #[must_use]
    pub fn unexpected(&self, wanted: &str) -> Diagnostic {
        match &self.ahead {
            Err(error) => error.clone(),
            Ok(token) if token.kind == TokenKind::End => Diagnostic::new(
                token.span,
                format!("expected {wanted}, found the end of the text"),
            ),
            Ok(token) => {
                let found = &self.text[token.span.start as usize..token.span.end as usize];
                let found: String = found.chars().take(40).collect();
                Diagnostic::new(token.span, format!("expected {wanted}, found `{found}`"))
            }
        }
    }

    /// Skips to the first token of a later line, to go on after an error.
    pub fn skip_line(&mut self) {
        let from = (self.span().start as usize).min(self.text.len());
        let rest = &self.text.as_bytes()[from..];
        let newline = rest.iter().position(|b| *b == b'\n');
        self.after = from + newline.map_or(rest.len(), |n| n + 1);
        self.last_end = self.after as u32;
        self.advance();
    }
}

fn parse_magnitude(text: &str) -> Option<u128> {
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (&text[2..], 16),
        Some("0b") => (&text[2..], 2),
        Some(_) | None => (text, 10),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: u128 = 0;
    for c in digits.chars().filter(|c| *c != '_') {
        let digit = u128::from(c.to_digit(radix)?);
        value = value.checked_mul(u128::from(radix))?.checked_add(digit)?;
    }
    Some(value)
}

fn parse_int(text: &str) -> Option<i128> {
    match text.strip_prefix('-') {
        Some(rest) => 0i128.checked_sub_unsigned(parse_magnitude(rest)?),
        None => i128::try_from(parse_magnitude(text)?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_spelling() {
        let text = "-9223372036854775808 0x7fff_ffff_ffff_ffff 0b101 1_000";
        let mut c = Cursor::new(text).unwrap();
        let read: Vec<i64> = (0..4).map(|_| c.int().unwrap().text).collect();
        assert_eq!(read, [i64::MIN, i64::MAX, 5, 1000]);
        assert!(c.at_end());
    }

    #[test]
    fn integers_out_of_range_say_the_range() {
        let mut c = Cursor::new("9223372036854775808").unwrap();
        let error = c.int().unwrap_err();
        assert!(error.message.contains("is outside"), "{error}");
        for bad in ["12x", "0x", "0b2", &"9".repeat(60)] {
            assert!(Cursor::new(bad).unwrap().int().is_err(), "{bad}");
        }
    }

    #[test]
    fn all_ones_is_a_bit_pattern() {
        let text = format!("0x{}", "f".repeat(32));
        assert_eq!(Cursor::new(&text).unwrap().bits().unwrap().text, u128::MAX);
    }

    #[test]
    fn lists_are_bounded() {
        let mut c = Cursor::new("[1, 2, 3,] [1 2]").unwrap();
        assert_eq!(c.clone().int_list(3).unwrap().as_slice(), [1, 2, 3]);
        assert!(c.clone().int_list(2).is_err());
        c.int_list(3).unwrap();
        assert_eq!(
            c.int_list(3).unwrap_err().message,
            "expected `,` or `]`, found `2`"
        );
    }

    #[test]
    fn goes_on_after_a_bad_line() {
        let mut c = Cursor::new("a \u{7f} b // c\n%d").unwrap();
        assert_eq!(c.name().unwrap().text, "a");
        assert!(c.name().is_err());
        c.skip_line();
        assert_eq!(c.value().unwrap().text, "d");
        c.skip_line();
        assert!(c.at_end());
    }

    #[test]
    fn any_bytes_end_without_panic() {
        let mut state = 7u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..20 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let pool = [
                    '%', '@', '"', '-', '0', 'x', '_', '.', '<', '/', '\n', ' ', '\u{e9}', '[',
                ];
                text.push(pool[(state >> 33) as usize % pool.len()]);
            }
            let mut c = Cursor::new(&text).unwrap();
            let mut steps = 0;
            while !c.at_end() {
                if c.bump().is_err() {
                    c.skip_line();
                }
                steps += 1;
                assert!(steps < 100);
            }
        }
    }
}
