//! `x[1, ..., ::-2, newaxis, rows]`: one strided slice, and a gather if there is an index tensor.

use restride_graph::{Graph, IndexRule, ValueId};
use restride_text::{Diagnostic, Span};

use super::arguments::Integers;
use super::parser::{Parsed, Parser, meaning};

/// One entry of a pair of brackets.
enum Entry {
    At(i64),
    Range {
        start: Option<i64>,
        stop: Option<i64>,
        step: Option<i64>,
    },
    Ellipsis,
    NewAxis,
    Tensor(ValueId),
}

/// The most entries: masks have a bit for each.
const MAX_ENTRIES: usize = 62;

impl Parser<'_> {
    /// Reads the brackets and applies them.
    pub(super) fn subscript(&mut self, x: ValueId, start: Span) -> Parsed<ValueId> {
        let open = self.cursor.expect("[")?;
        let mut entries = Vec::new();
        while !self.cursor.at_punct("]") {
            let at = self.cursor.span();
            if entries.len() == MAX_ENTRIES {
                let message = format!("more than {MAX_ENTRIES} indices");
                return Err(Diagnostic::new(at, message));
            }
            let entry = self.entry()?;
            entries.push((entry, self.cursor.span_since(at)));
            if !self.cursor.eat(",") && !self.cursor.at_punct("]") {
                return Err(self.cursor.unexpected("`,` or `]`"));
            }
        }
        let close = self.cursor.expect("]")?;
        if entries.is_empty() {
            let message = "an index is missing between the brackets";
            return Err(Diagnostic::new(open.to(close), message));
        }
        let rank = self.graph.ty(x).rank();
        let plan = Plan::of(&entries, rank)?;
        let span = open.to(close);
        let sliced = match plan.is_whole(&entries) {
            true => x,
            false => slice(&mut self.graph, x, &entries).map_err(|e| meaning(span, &e))?,
        };
        match plan.gather {
            None => Ok(sliced),
            Some((axis, indices)) => {
                let gather = self.graph.gather(sliced, indices, IndexRule::ONNX);
                let done = gather.axis(axis).finish();
                done.map_err(|error| meaning(start.to(span), &error))
            }
        }
    }

    fn entry(&mut self) -> Parsed<Entry> {
        if self.cursor.eat("...") {
            return Ok(Entry::Ellipsis);
        }
        if self.cursor.eat_name("newaxis") || self.cursor.eat_name("None") {
            return Ok(Entry::NewAxis);
        }
        let mut ahead = self.cursor.clone();
        let numpy = ahead.eat_name("np") || ahead.eat_name("numpy");
        if numpy && ahead.eat(".") && ahead.eat_name("newaxis") {
            self.cursor = ahead;
            return Ok(Entry::NewAxis);
        }
        if self.cursor.at_punct("[") {
            let start = self.cursor.span();
            let list = Integers::read(&mut self.cursor)?;
            let span = self.cursor.span_since(start);
            return Ok(Entry::Tensor(self.table(&list, span)?));
        }
        if !self.cursor.at_int() && !self.cursor.at_punct(":") {
            return Ok(Entry::Tensor(self.expression()?));
        }
        let start = self.optional()?;
        if !self.cursor.eat(":") {
            return match start {
                Some(at) => Ok(Entry::At(at)),
                None => Err(self.cursor.unexpected("an index")),
            };
        }
        let stop = self.optional()?;
        let step = match self.cursor.eat(":") {
            true => self.optional()?,
            false => None,
        };
        Ok(Entry::Range { start, stop, step })
    }

    fn optional(&mut self) -> Parsed<Option<i64>> {
        match self.cursor.at_int() {
            true => Ok(Some(self.cursor.int()?.text)),
            false => Ok(None),
        }
    }
}

/// What the entries together ask for.
struct Plan {
    /// The axis of the sliced tensor that is gathered along, and the indices.
    gather: Option<(i64, ValueId)>,
}

impl Plan {
    fn of(entries: &[(Entry, Span)], rank: usize) -> Parsed<Self> {
        let used = entries.iter().filter(|(entry, _)| match entry {
            Entry::At(_) | Entry::Range { .. } | Entry::Tensor(_) => true,
            Entry::Ellipsis | Entry::NewAxis => false,
        });
        let used = used.count();
        let mut axis = 0;
        let mut gather: Option<(i64, ValueId)> = None;
        let mut ellipsis = false;
        for (at, (entry, span)) in entries.iter().enumerate() {
            match entry {
                Entry::At(_) => {}
                Entry::NewAxis | Entry::Range { .. } => axis += 1,
                Entry::Ellipsis if ellipsis => {
                    return Err(Diagnostic::new(*span, "a second `...`"));
                }
                Entry::Ellipsis => {
                    ellipsis = true;
                    axis += rank.saturating_sub(used) as i64;
                }
                Entry::Tensor(_) if gather.is_some() => {
                    let wrong = Diagnostic::new(*span, "a second index tensor");
                    return Err(wrong.help("one per pair of brackets: `x[i][:, j]`"));
                }
                Entry::Tensor(indices) => {
                    adjacent(entries, at)?;
                    gather = Some((axis, *indices));
                    axis += 1;
                }
            }
        }
        Ok(Self { gather })
    }

    /// Whether there is nothing to slice.
    fn is_whole(&self, entries: &[(Entry, Span)]) -> bool {
        self.gather.is_some()
            && entries.iter().all(|(entry, _)| match entry {
                Entry::Tensor(_) | Entry::Ellipsis => true,
                Entry::Range { start, stop, step } => {
                    start.is_none() && stop.is_none() && step.is_none()
                }
                Entry::At(_) | Entry::NewAxis => false,
            })
    }
}

/// Numpy counts integers beside an index tensor as index tensors too; if something stands between
/// them, the axis moves to the front. That is refused rather than guessed.
fn adjacent(entries: &[(Entry, Span)], tensor: usize) -> Parsed<()> {
    let is_at = |entry: &Entry| matches!(entry, Entry::At(_));
    let before = entries[..tensor].iter().rev().skip_while(|(e, _)| is_at(e));
    let after = entries[tensor + 1..].iter().skip_while(|(e, _)| is_at(e));
    match before.chain(after).find(|(entry, _)| is_at(entry)) {
        None => Ok(()),
        Some((_, span)) => {
            let message = "an integer apart from the index tensor";
            let help = "numpy moves the axis to the front here: use two pairs of brackets";
            Err(Diagnostic::new(*span, message).help(help))
        }
    }
}

fn slice(
    graph: &mut Graph,
    x: ValueId,
    entries: &[(Entry, Span)],
) -> Result<ValueId, restride_graph::GraphError> {
    let (mut begin, mut end, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    for (entry, _) in entries {
        let (from, to, step) = match entry {
            // A shrunk entry reads one element; its end plays no part.
            Entry::At(at) => (*at, at.saturating_add(1), 1),
            Entry::Range { start, stop, step } => {
                (start.unwrap_or(0), stop.unwrap_or(0), step.unwrap_or(1))
            }
            Entry::Ellipsis | Entry::NewAxis | Entry::Tensor(_) => (0, 0, 1),
        };
        begin.push(from);
        end.push(to);
        strides.push(step);
    }
    let mut builder = graph
        .strided_slice(x)
        .begin(begin)
        .end(end)
        .strides(strides);
    for (position, (entry, _)) in entries.iter().enumerate() {
        builder = match entry {
            Entry::At(_) => builder.shrink_axis(position),
            Entry::Ellipsis => builder.ellipsis(position),
            Entry::NewAxis => builder.new_axis(position),
            Entry::Tensor(_) => builder.whole_begin(position).whole_end(position),
            Entry::Range { start, stop, .. } => {
                let builder = match start {
                    None => builder.whole_begin(position),
                    Some(_) => builder,
                };
                match stop {
                    None => builder.whole_end(position),
                    Some(_) => builder,
                }
            }
        };
    }
    builder.finish()
}
