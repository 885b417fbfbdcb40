//! `x[1, ..., ::-2, newaxis, rows]`: one strided slice, and a gather if there are index tensors.

use restride_graph::{Graph, GraphError, IndexRule, Place, ValueId};
use restride_text::{Diagnostic, Span};

use super::arguments::Integers;
use super::parser::{ExpressionParser, Parsed, meaning};

/// One entry of a pair of brackets.
enum Subscript {
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

impl ExpressionParser<'_> {
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
        let tables = IndexTensors::of(&entries, rank)?;
        let span = open.to(close);
        let sliced = match tables.only(&entries) {
            true => x,
            false => slice(&mut self.graph, x, &entries).map_err(|error| {
                let problem = &error.problem;
                match (error.at, &entries[..]) {
                    (Place::Entry(_, k), all) if k < all.len() => match &all[k] {
                        (Subscript::At(_), span) => {
                            Diagnostic::new(*span, format!("index {problem}"))
                        }
                        (_, span) => Diagnostic::new(*span, problem.to_string()),
                    },
                    _ => Diagnostic::new(span, problem.to_string()),
                }
            })?,
        };
        tables.gather(&mut self.graph, sliced, start.to(span))
    }

    fn entry(&mut self) -> Parsed<Subscript> {
        if self.cursor.eat("...") {
            return Ok(Subscript::Ellipsis);
        }
        if self.cursor.eat_name("newaxis") || self.cursor.eat_name("None") {
            return Ok(Subscript::NewAxis);
        }
        let mut ahead = self.cursor.clone();
        let numpy = ahead.eat_name("np") || ahead.eat_name("numpy");
        if numpy && ahead.eat(".") && ahead.eat_name("newaxis") {
            self.cursor = ahead;
            return Ok(Subscript::NewAxis);
        }
        if self.cursor.at_punct("[") {
            let start = self.cursor.span();
            let list = Integers::read(&mut self.cursor)?;
            let span = self.cursor.span_since(start);
            return Ok(Subscript::Tensor(self.table(&list, span)?));
        }
        if !self.cursor.at_int() && !self.cursor.at_punct(":") {
            return Ok(Subscript::Tensor(self.expression()?));
        }
        let start = self.optional()?;
        if !self.cursor.eat(":") {
            return match start {
                Some(at) => Ok(Subscript::At(at)),
                None => Err(self.cursor.unexpected("an index")),
            };
        }
        let stop = self.optional()?;
        let step = match self.cursor.eat(":") {
            true => self.optional()?,
            false => None,
        };
        Ok(Subscript::Range { start, stop, step })
    }

    fn optional(&mut self) -> Parsed<Option<i64>> {
        match self.cursor.at_int() {
            true => Ok(Some(self.cursor.int()?.text)),
            false => Ok(None),
        }
    }
}

/// The index tensors among the entries, as numpy reads them: they are broadcast together, and the
/// axes of the result stand where the first of them stood, or in front if something else stands
/// between them. An integer beside a tensor counts as one.
struct IndexTensors {
    /// Each with the axis of the sliced tensor that it chooses from.
    tensors: Vec<(usize, ValueId, Span)>,
    apart: bool,
}

impl IndexTensors {
    fn of(entries: &[(Subscript, Span)], rank: usize) -> Parsed<Self> {
        let used = entries.iter().filter(|(entry, _)| match entry {
            Subscript::At(_) | Subscript::Range { .. } | Subscript::Tensor(_) => true,
            Subscript::Ellipsis | Subscript::NewAxis => false,
        });
        let used = used.count();
        let mut axis = 0;
        let mut tensors = Vec::new();
        let mut ellipsis = false;
        for (entry, span) in entries {
            match entry {
                Subscript::At(_) => {}
                Subscript::NewAxis | Subscript::Range { .. } => axis += 1,
                Subscript::Ellipsis if ellipsis => {
                    return Err(Diagnostic::new(*span, "a second `...`"));
                }
                Subscript::Ellipsis => {
                    ellipsis = true;
                    axis += rank.saturating_sub(used);
                }
                Subscript::Tensor(indices) => {
                    tensors.push((axis, *indices, *span));
                    axis += 1;
                }
            }
        }
        let is_index = |(entry, _): &(Subscript, Span)| {
            matches!(entry, Subscript::At(_) | Subscript::Tensor(_))
        };
        let runs = entries.chunk_by(|a, b| is_index(a) == is_index(b));
        let apart = runs.filter(|run| run.first().is_some_and(is_index)).count() > 1;
        Ok(Self { tensors, apart })
    }

    /// Whether there is nothing to slice.
    fn only(&self, entries: &[(Subscript, Span)]) -> bool {
        !self.tensors.is_empty()
            && entries.iter().all(|(entry, _)| match entry {
                Subscript::Tensor(_) | Subscript::Ellipsis => true,
                Subscript::Range { start, stop, step } => {
                    start.is_none() && stop.is_none() && step.is_none()
                }
                Subscript::At(_) | Subscript::NewAxis => false,
            })
    }

    fn gather(&self, graph: &mut Graph, x: ValueId, span: Span) -> Parsed<ValueId> {
        let failed = |error: GraphError| meaning(span, &error);
        let (chosen, rank) = match self.tensors[..] {
            [] => return Ok(x),
            [(axis, indices, _)] => {
                let gather = graph.gather(x, indices, IndexRule::ONNX);
                let chosen = gather.axis(axis as i64).finish().map_err(failed)?;
                if !self.apart {
                    return Ok(chosen);
                }
                let rank = graph.ty(indices).rank();
                let front = (axis..axis + rank).chain(0..axis);
                let perm: Vec<i64> = (front.chain(axis + rank..graph.ty(chosen).rank()))
                    .map(|axis| axis as i64)
                    .collect();
                return graph.transpose(chosen, perm).map_err(failed);
            }
            [..] => self.together(graph, x, span)?,
        };
        let first = self.tensors.first().map_or(0, |(axis, _, _)| *axis);
        if self.apart || first == 0 {
            return Ok(chosen);
        }
        let all = graph.ty(chosen).rank();
        let perm: Vec<i64> = (rank..rank + first)
            .chain(0..rank)
            .chain(rank + first..all)
            .map(|axis| axis as i64)
            .collect();
        graph.transpose(chosen, perm).map_err(failed)
    }

    /// Several as one `gather_nd`, whose axes come first, and how many they are.
    fn together(&self, graph: &mut Graph, x: ValueId, span: Span) -> Parsed<(ValueId, usize)> {
        let failed = |error: GraphError| meaning(span, &error);
        let mut shape: Vec<i64> = Vec::new();
        let mut element = None;
        for (_, indices, at) in &self.tensors {
            let ty = graph.ty(*indices);
            let first = *element.get_or_insert(ty.element());
            if first != ty.element() {
                let message = format!("indices of {} beside indices of {first}", ty.element());
                let help =
                    "index tensors that are used together have one element type; a list is i64";
                return Err(Diagnostic::new(*at, message).help(help));
            }
            shape = broadcast(&shape, ty.shape()).ok_or_else(|| {
                let message = "the index tensors have shapes that do not broadcast together";
                Diagnostic::new(*at, message)
            })?;
        }
        let mut columns = Vec::new();
        for (_, indices, _) in &self.tensors {
            let whole = graph.broadcast(*indices, &shape).finish().map_err(failed)?;
            columns.push(
                graph
                    .unsqueeze(whole, [shape.len() as i64])
                    .map_err(failed)?,
            );
        }
        let indices = graph.concat(&columns, -1).map_err(failed)?;
        let is_chosen = |axis: &usize| self.tensors.iter().any(|(other, _, _)| other == axis);
        let others = (0..graph.ty(x).rank()).filter(|axis| !is_chosen(axis));
        let chosen = self.tensors.iter().map(|(axis, _, _)| *axis);
        let perm: Vec<i64> = chosen.chain(others).map(|axis| axis as i64).collect();
        let x = graph.transpose(x, perm).map_err(failed)?;
        let done = graph.gather_nd(x, indices, IndexRule::ONNX).finish();
        Ok((done.map_err(failed)?, shape.len()))
    }
}

/// Two shapes as numpy broadcasts them.
fn broadcast(a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut out = long.to_vec();
    let inner = out.iter_mut().rev().zip(short.iter().rev());
    for (size, &other) in inner {
        match (*size, other) {
            (x, y) if x == y => {}
            (1, y) => *size = y,
            (_, 1) => {}
            (_, _) => return None,
        }
    }
    Some(out)
}

fn slice(
    graph: &mut Graph,
    x: ValueId,
    entries: &[(Subscript, Span)],
) -> Result<ValueId, GraphError> {
    let (mut begin, mut end, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    for (entry, _) in entries {
        let (from, to, step) = match entry {
            // A shrunk entry reads one element; its end plays no part.
            Subscript::At(at) => (*at, at.saturating_add(1), 1),
            Subscript::Range { start, stop, step } => {
                (start.unwrap_or(0), stop.unwrap_or(0), step.unwrap_or(1))
            }
            Subscript::Ellipsis | Subscript::NewAxis | Subscript::Tensor(_) => (0, 0, 1),
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
            Subscript::At(_) => builder.shrink_axis(position),
            Subscript::Ellipsis => builder.ellipsis(position),
            Subscript::NewAxis => builder.new_axis(position),
            Subscript::Tensor(_) => builder.whole_begin(position).whole_end(position),
            Subscript::Range { start, stop, .. } => {
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
