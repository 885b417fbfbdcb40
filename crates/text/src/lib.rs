//! What the text forms of restride share: tokens with spans, a bounded cursor, diagnostics.
//!
//! Three stages of the compiler print and parse themselves (the tensor IR, the canonical IR and
//! the loop IR). They have different grammars but one lexical world: `%values`, `@symbols`,
//! names, integers, strings and a little punctuation, with `//` comments. This crate is that
//! world, and the one place that turns a byte range into a source line with a caret under it.
//!
//! Invariants, so that hostile text costs nothing:
//! - nothing is allocated per token; the lexer runs on demand over the borrowed text,
//! - a text longer than [`MAX_TEXT`] is refused before it is looked at,
//! - the grammars built on top are iterative or depth-bounded; nothing here recurses,
//! - [`Diagnostics`] keeps at most [`MAX_DIAGNOSTICS`] entries and says how many more there were,
//! - what is rendered has characters escaped that cannot be seen, or that drive a terminal.
//!
//! ```
//! use restride_text::{Cursor, Source};
//! let source = Source::new("demo.mv", "%x = slice [1, -2]");
//! let mut cursor = Cursor::new(source.text()).unwrap();
//! assert_eq!(cursor.value().unwrap().text, "x");
//! cursor.expect("=").unwrap();
//! assert_eq!(cursor.name().unwrap().text, "slice");
//! assert_eq!(cursor.int_list(8).unwrap().as_slice(), [1, -2]);
//! let error = cursor.name().unwrap_err();
//! assert!(error.render(&source).contains("expected a name, found the end of the text"));
//! ```
#![forbid(unsafe_code)]

mod comments;
mod cursor;
mod diagnostic;
mod lexer;
mod markup;
mod seen;
mod suggest;

pub use comments::comments;
pub use cursor::{Cursor, Spanned};
pub use diagnostic::{Diagnostic, Diagnostics, MAX_DIAGNOSTICS, Source, Span};
pub use lexer::{MAX_TEXT, Token, TokenKind};
pub use markup::escape;
pub use seen::{is_seen, seen};
pub use suggest::closest;
