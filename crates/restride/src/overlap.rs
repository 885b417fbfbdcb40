//! Whether what a call writes shares bytes with anything else that it was given.
//!
//! Rust's borrows rule that out for slices; this is for tensors made from raw addresses. A few
//! buffers are compared in pairs, many are sorted by their addresses and swept over once.

use crate::{Argument, RunError};

/// Up to so many are compared in pairs: sorting takes as long, and memory.
const FEW: usize = 16;

/// The bytes of one argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteSpan {
    pub(crate) argument: Argument,
    pub(crate) start: usize,
    pub(crate) bytes: usize,
}

impl ByteSpan {
    fn is_output(&self) -> bool {
        matches!(self.argument, Argument::Output(_))
    }

    /// One behind its last byte.
    fn end(&self) -> usize {
        self.start.saturating_add(self.bytes)
    }

    /// Whether there is a byte that both have.
    #[inline]
    fn meets(&self, other: &ByteSpan) -> bool {
        self.start.max(other.start) < self.end().min(other.end())
    }
}

/// Refuses outputs that share bytes with another of the spans `0..count`, some of which are none.
#[inline]
pub(crate) fn disjoint(
    count: usize,
    span: impl Fn(usize) -> Option<ByteSpan>,
) -> Result<(), RunError> {
    if count > FEW {
        return swept(count, (0..count).filter_map(span));
    }
    for at in 0..count {
        let Some(output) = span(at).filter(ByteSpan::is_output) else {
            continue;
        };
        let others = (0..count).filter(|other| *other != at);
        if let Some(other) = others.filter_map(&span).find(|other| output.meets(other)) {
            return Err(overlap(&output, &other));
        }
    }
    Ok(())
}

/// The same for many, in one sweep.
#[cold]
fn swept(count: usize, spans: impl Iterator<Item = ByteSpan>) -> Result<(), RunError> {
    let bytes = count * size_of::<ByteSpan>();
    let mut sorted: Vec<ByteSpan> = Vec::new();
    sorted
        .try_reserve_exact(count)
        .map_err(|_| RunError::OutOfMemory { bytes })?;
    sorted.extend(spans.filter(|span| span.bytes > 0));
    // What lies in order, as buffers often do, is sorted by looking at it once.
    sorted.sort_unstable_by(|a, b| {
        looks::count();
        a.start.cmp(&b.start)
    });
    // Of all before, and of all outputs before, the one that reaches furthest: what meets any of
    // them meets that one.
    let mut furthest: [Option<ByteSpan>; 2] = [None; 2];
    for span in sorted {
        looks::count();
        let [any, output] = &mut furthest;
        if let Some(other) = if span.is_output() { &*any } else { &*output }
            && span.meets(other)
        {
            return Err(overlap(other, &span));
        }
        for (reach, counts) in [(any, true), (output, span.is_output())] {
            if counts && reach.is_none_or(|reach| reach.end() < span.end()) {
                *reach = Some(span);
            }
        }
    }
    Ok(())
}

/// The error names an output first; of two, the one with the lower number.
fn overlap(a: &ByteSpan, b: &ByteSpan) -> RunError {
    let (first, second) = match (a.argument, b.argument) {
        (Argument::Input(_), Argument::Output(_)) => (b, a),
        (Argument::Output(n), Argument::Output(m)) if m < n => (b, a),
        _ => (a, b),
    };
    RunError::Overlap {
        first: first.argument,
        second: second.argument,
    }
}

/// How often spans were looked at, for the test that this is no square.
mod looks {
    #[cfg(test)]
    thread_local! {
        pub(super) static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }

    #[inline]
    pub(super) fn count() {
        #[cfg(test)]
        LOOKS.set(LOOKS.get() + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use restride_loops::Random;

    fn span(argument: Argument, start: usize, bytes: usize) -> ByteSpan {
        ByteSpan {
            argument,
            start,
            bytes,
        }
    }

    /// Byte by byte: whether one that is written belongs to two.
    fn is_disjoint(spans: &[ByteSpan]) -> bool {
        (0..220).all(|byte| {
            let here = |s: &&ByteSpan| (s.start..s.start + s.bytes).contains(&byte);
            let is_written = spans.iter().filter(here).any(ByteSpan::is_output);
            !is_written || spans.iter().filter(here).count() == 1
        })
    }

    #[test]
    fn pairs_and_sweep_find_what_bytes_say() {
        let mut refused = 0;
        for seed in 0..5_000 {
            let mut random = Random::new(seed);
            let spans: Vec<ByteSpan> = (0..1 + random.below(14))
                .map(|n| {
                    let of = [Argument::Input, Argument::Output][random.below(2)];
                    span(of(n), random.below(200), random.below(20))
                })
                .collect();
            let found = [
                disjoint(spans.len(), |at| Some(spans[at])),
                swept(spans.len(), spans.iter().copied()),
            ];
            for found in found {
                assert_eq!(found.is_ok(), is_disjoint(&spans), "{spans:?}");
                let Err(error) = found else { continue };
                refused += 1;
                let RunError::Overlap { first, second } = error else {
                    panic!("{error}")
                };
                let find = |argument| spans.iter().find(|s| s.argument == argument).unwrap();
                assert!(find(first).is_output(), "{error:?}");
                assert!(find(first).meets(find(second)), "{error:?}");
            }
        }
        assert!(refused > 2_000, "{refused}");
    }

    #[test]
    fn looks_grow_as_the_arguments_do() {
        for shuffled in [false, true] {
            let mut random = Random::new(1);
            let looks = [10_000usize, 60_000].map(|count| {
                let mut places: Vec<usize> = (0..count).collect();
                if shuffled {
                    random.shuffle(&mut places);
                }
                let spans = |at| Some(span(Argument::Output(at), 4 * places[at], 3));
                looks::LOOKS.set(0);
                assert_eq!(disjoint(count, spans), Ok(()));
                looks::LOOKS.get() / count as u64
            });
            // Once to see that it is sorted, once to sweep; sorting adds the digits of the count.
            let most = if shuffled { 32 } else { 2 };
            assert!(looks.iter().all(|&n| n <= most), "{looks:?} an argument");
        }
    }
}
