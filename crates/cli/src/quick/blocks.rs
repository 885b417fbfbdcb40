//! Methods that cut axes: `split`, `space_to_depth`, `depth_to_space`.

use restride_graph::ValueId;
use restride_text::{Diagnostic, Span};

use super::arguments::{Argument, Arguments, wanted};
use super::methods::MethodCall;
use super::parser::{Parsed, meaning};

impl MethodCall<'_, '_> {
    /// One part of several: which is said in brackets behind the call.
    pub(super) fn split(self, arguments: &mut Arguments<'_>) -> Parsed<ValueId> {
        let sections = arguments.take("indices_or_sections");
        let axis = arguments.optional_int("axis")?.unwrap_or(0);
        let at = self.axis("axis", axis)?;
        let (span, size) = (self.span, self.parser.graph.ty(self.x).shape()[at]);
        let split = self.parser.graph.split(self.x, axis);
        let parts = match sections {
            Some((Argument::Int(count), at)) => match usize::try_from(count) {
                Ok(count) if count > 0 => split.equal(count),
                Ok(_) | Err(_) => {
                    return Err(Diagnostic::new(at, format!("{count} parts; at least 1")));
                }
            },
            Some((Argument::List(list), at)) if list.shape.len() == 1 => {
                split.lengths(lengths(&list.values, size, at)?)
            }
            Some((other, at)) => {
                let what = "a number of parts or a list of positions";
                return Err(wanted("indices_or_sections", what, &other, at));
            }
            None => {
                let message = "how many parts is missing: `split(3)[0]`";
                return Err(Diagnostic::new(span, message));
            }
        };
        let parts = parts.map_err(|error| meaning(span, &error))?;
        let count = parts.len();
        let cursor = &mut self.parser.cursor;
        let open = cursor.span();
        if !cursor.eat("[") {
            let message = format!("`split` gives {count} tensors");
            return Err(Diagnostic::new(span, message).help("say which: `split(..)[0]`"));
        }
        let part = cursor.int()?;
        let close = cursor.expect("]")?;
        let from_start = match part.text {
            at if at < 0 => at.saturating_add(count as i64),
            at => at,
        };
        let found = usize::try_from(from_start)
            .ok()
            .and_then(|at| parts.get(at));
        found.copied().ok_or_else(|| {
            let message = format!("part {} of {count}", part.text);
            Diagnostic::new(open.to(close), message)
        })
    }

    /// `space_to_depth` and its inverse, as ONNX has them.
    pub(super) fn blocks(self, arguments: &mut Arguments<'_>, to_depth: bool) -> Parsed<ValueId> {
        let block = arguments.int("block")?;
        let graph = &mut self.parser.graph;
        let value = match to_depth {
            true => graph.space_to_depth(self.x, block).finish(),
            false => graph.depth_to_space(self.x, block).finish(),
        };
        self.done(value)
    }
}

/// The lengths between positions at which an axis is cut.
fn lengths(cuts: &[i64], size: i64, at: Span) -> Parsed<Vec<i64>> {
    let mut from = 0;
    let mut lengths = Vec::new();
    for cut in cuts.iter().copied().chain([size]) {
        if cut < from || cut > size {
            let message = format!("cuts go up from 0 to {size}, the size of the axis");
            return Err(Diagnostic::new(at, message));
        }
        lengths.push(cut - from);
        from = cut;
    }
    Ok(lengths)
}
