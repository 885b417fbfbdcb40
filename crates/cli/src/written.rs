//! Loops that somebody wrote: a kernel with the text it was read from, so that what the verifier
//! refuses can be pointed at.

use std::ops::Deref;

use restride_loops::{Kernel, Verified, verify};
use restride_text::{Cursor, Diagnostic, Span, TokenKind};

use crate::failure::Failure;
use crate::source::Input;

/// A kernel and its text.
pub(crate) struct Written {
    kernel: Kernel,
    input: Input,
}

impl Deref for Written {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.kernel
    }
}

impl Written {
    /// Reads the text of a kernel.
    pub(crate) fn parse(input: &Input) -> Result<Self, Failure> {
        let kernel = input.text().parse().map_err(|error| input.wrong(&error))?;
        let input = input.clone();
        Ok(Self { kernel, input })
    }

    /// Proves it.
    pub(crate) fn verified(&self) -> Result<Verified, Failure> {
        verify(self.kernel.clone()).map_err(|refused| {
            let place = refused.at.as_ref();
            match place.and_then(|at| statement(self.input.text(), &at.path)) {
                Some(span) => {
                    let error = Diagnostic::new(span, refused.reason.to_string());
                    self.input.wrong(&error)
                }
                None => Failure::Input(format!("{}: {refused}", self.input.name())),
            }
        })
    }
}

/// Where the statement of a path stands: its phase, then its position in each block down to it.
fn statement(text: &str, path: &[usize]) -> Option<Span> {
    const STATEMENTS: [&str; 6] = ["for", "check", "index", "move", "gather", "fill"];
    let mut cursor = Cursor::new(text).ok()?;
    while !cursor.eat("{") {
        cursor.bump().ok()?;
    }
    let mut phase = 0;
    // How many statements each open block has had.
    let mut counts = vec![0usize];
    while !cursor.at_end() {
        let token = cursor.bump().ok()?;
        match (token.kind, token.text) {
            (TokenKind::Punct, "{") => counts.push(0),
            (TokenKind::Punct, "}") => {
                counts.pop()?;
            }
            (TokenKind::Name, "barrier") => {
                phase += 1;
                counts = vec![0];
            }
            (TokenKind::Name, word) if STATEMENTS.contains(&word) => {
                let (here, outer) = counts.split_last_mut()?;
                let outside = outer.iter().map(|count| count.saturating_sub(1));
                let mut at = std::iter::once(phase).chain(outside).chain([*here]);
                if at.by_ref().eq(path.iter().copied()) {
                    let rest = text.get(token.span.start as usize..)?;
                    let line = rest.lines().next()?.split("//").next()?.trim_end();
                    let end = token
                        .span
                        .start
                        .checked_add(u32::try_from(line.len()).ok()?)?;
                    return Some(Span { end, ..token.span });
                }
                *here += 1;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_found_by_their_paths() {
        let text = "kernel \"for move\" { b0 = in 0 w1 [4] b1 = out 0 w1 [4]
            check 0: b0[0] i8 limit 4 zero barrier // move
            for v0 in 0..2 { for v1 in 0..2 { move b1[0] <- b0[0] } fill b1[1] <- 0x0 }
            move b1[2] <- b0[2]
        }";
        let found = |path: &[usize]| {
            let span = statement(text, path)?;
            text.get(span.start as usize..)?.split([' ', '[']).nth(1)
        };
        assert_eq!(found(&[0, 0]), Some("0:"));
        assert_eq!(found(&[1, 0]), Some("v0"));
        assert_eq!(found(&[1, 0, 0]), Some("v1"));
        assert_eq!(found(&[1, 0, 0, 0]), Some("b1"));
        let fill = statement(text, &[1, 0, 1]).expect("the fill");
        assert!(text[fill.start as usize..].starts_with("fill"));
        let last = statement(text, &[1, 1]).expect("the last move");
        assert_eq!(
            &text[last.start as usize..last.end as usize],
            "move b1[2] <- b0[2]"
        );
        for path in [&[][..], &[0], &[0, 1], &[1, 0, 0, 1], &[2, 0]] {
            assert_eq!(statement(text, path), None, "{path:?}");
        }
    }
}
