//! The tokens that all text forms are made of.

use crate::{Diagnostic, Span};

/// The longest text that is read, in bytes.
pub const MAX_TEXT: usize = 1 << 26;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A word: `slice`, `f32`, `begin_mask`. Letters, digits, `_` and inner `-` or `.` do not mix:
    /// only `_` joins.
    Name,
    /// `%x`; the text is without the sign.
    Value,
    /// `@main`; the text is without the sign.
    Symbol,
    /// `12`, `-3`, `0x1f`, `0b101`, digits may be grouped with `_`.
    Int,
    /// `"..."` without escapes; the text is what stands between the quotes.
    String,
    /// One of `-> <- ... .. . ( ) [ ] { } < > , : ; = + * ? ! / |`.
    Punct,
    /// The end of the text.
    End,
}

/// A token, borrowed from the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// Its characters, without sign or quotes.
    pub text: &'a str,
    /// Where it stands.
    pub span: Span,
}

const PUNCTUATION: [&str; 23] = [
    "->", "<-", "...", "..", ".", "(", ")", "[", "]", "{", "}", "<", ">", ",", ":", ";", "=", "+",
    "*", "?", "!", "/", "|",
];

/// The token that starts at or after `at`, and where to go on.
pub(crate) fn next_token(text: &str, at: usize) -> Result<(Token<'_>, usize), Diagnostic> {
    let start = skip_blank(text, at);
    let rest = &text[start..];
    let token = |kind, skip: usize, len: usize, whole: usize| {
        let span = Span {
            start: start as u32,
            end: (start + whole) as u32,
        };
        (
            Token {
                kind,
                text: &rest[skip..skip + len],
                span,
            },
            start + whole,
        )
    };
    let Some(first) = rest.chars().next() else {
        return Ok(token(TokenKind::End, 0, 0, 0));
    };
    let error = |len: usize, message: &str| {
        let span = Span {
            start: start as u32,
            end: (start + len) as u32,
        };
        Err(Diagnostic::new(span, message))
    };
    match first {
        '%' | '@' => {
            let len = word_length(&rest[1..]);
            if len == 0 {
                return error(1, "expected a name after the sign");
            }
            let kind = if first == '%' {
                TokenKind::Value
            } else {
                TokenKind::Symbol
            };
            Ok(token(kind, 1, len, len + 1))
        }
        '"' => match rest[1..].find(['"', '\n']) {
            Some(len) if rest.as_bytes()[len + 1] == b'"' => {
                Ok(token(TokenKind::String, 1, len, len + 2))
            }
            Some(_) | None => error(1, "this string has no end on its line"),
        },
        '0'..='9' => {
            let len = word_length(rest);
            Ok(token(TokenKind::Int, 0, len, len))
        }
        '-' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
            let len = 1 + word_length(&rest[1..]);
            Ok(token(TokenKind::Int, 0, len, len))
        }
        c if c.is_ascii_alphabetic() || c == '_' => {
            let len = word_length(rest);
            Ok(token(TokenKind::Name, 0, len, len))
        }
        c => match PUNCTUATION.iter().find(|p| rest.starts_with(**p)) {
            Some(p) => Ok(token(TokenKind::Punct, 0, p.len(), p.len())),
            None => error(c.len_utf8(), "this character has no place here"),
        },
    }
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len())
}

fn skip_blank(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 {
            at += blank;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else {
            return at;
        }
    }
}
