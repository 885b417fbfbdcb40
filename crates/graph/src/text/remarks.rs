//! Which comment of a text belongs to which statement, so that it can be printed with it again.

use std::collections::BTreeMap;

use restride_text::{Cursor, Span, comments};

use crate::{Graph, ValueId};

/// The comments of a function's text. The default has none.
#[derive(Default)]
pub(super) struct Remarks<'t> {
    /// Before the function.
    pub(super) head: Vec<&'t str>,
    /// On lines of their own before an input or a statement.
    pub(super) before: BTreeMap<ValueId, Vec<&'t str>>,
    /// On the line of an input or a statement.
    pub(super) beside: BTreeMap<ValueId, Vec<&'t str>>,
    /// After all statements.
    pub(super) last: Vec<&'t str>,
}

impl<'t> Remarks<'t> {
    /// Those of the text that a graph was read from.
    pub(super) fn of(graph: &Graph, text: &'t str) -> Self {
        let mut remarks = Remarks::default();
        // Parts of one split share a place: the first stands for all.
        let mut places: Vec<(Span, ValueId)> = Vec::new();
        for value in graph.values() {
            if let Some(span) = graph.span(value)
                && places.last().is_none_or(|(before, _)| *before != span)
            {
                places.push((span, value));
            }
        }
        let function = Cursor::new(text).map_or(0, |cursor| cursor.span().start);
        for span in comments(text) {
            let comment = text.get(span.start as usize..span.end as usize);
            let Some(comment) = comment.map(str::trim_end) else {
                continue;
            };
            let next = places.partition_point(|(place, _)| place.start < span.start);
            let line = text[..span.start as usize]
                .rfind('\n')
                .map_or(0, |at| at + 1);
            let beside = next.checked_sub(1).map(|at| places[at]);
            let beside = beside.filter(|(place, _)| place.end as usize > line);
            if let Some((_, value)) = beside {
                remarks.beside.entry(value).or_default().push(comment);
            } else if span.start < function {
                remarks.head.push(comment);
            } else if let Some(&(_, value)) = places.get(next) {
                remarks.before.entry(value).or_default().push(comment);
            } else {
                remarks.last.push(comment);
            }
        }
        remarks
    }
}
