//! Units as programs: for every vector of the destination, from which windows of the source its
//! bytes come and where they lie in these.

use super::unit::Segment;

/// A window of the source as wide as a vector, and which of its bytes are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Its first byte.
    pub(crate) src: isize,
    /// The first byte that is needed, counted from there.
    pub(crate) first: usize,
    /// The end of the bytes that are needed.
    pub(crate) end: usize,
}

/// A vector of the destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Its first byte.
    pub(crate) dst: isize,
    /// The windows it is made of.
    pub(crate) windows: Vec<Window>,
    /// For every byte the window and the place in it; nothing for bytes that are not written.
    pub(crate) bytes: Vec<Option<(usize, usize)>>,
}

/// The lines of a unit, as vectors of `size` bytes; a line may have holes.
pub(crate) fn lines(unit: &[Segment], size: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut parts: Vec<Segment> = Vec::new();
    let mut start = 0;
    for &segment in unit {
        let mut rest = segment;
        while rest.len > 0 {
            if parts.is_empty() {
                start = rest.dst;
            }
            let room = start + size as isize - rest.dst;
            if room <= 0 {
                lines.push(line(start, &mut parts, size));
                continue;
            }
            let len = rest.len.min(room.unsigned_abs());
            parts.push(Segment { len, ..rest });
            rest = Segment {
                dst: rest.dst + len as isize,
                src: rest.src + len as isize,
                len: rest.len - len,
            };
        }
    }
    if !parts.is_empty() {
        lines.push(line(start, &mut parts, size));
    }
    lines
}

/// One line from its parts, which are used up. Windows are aligned relative to the unit where that
/// takes no more of them, so that lines share what they load.
fn line(dst: isize, parts: &mut Vec<Segment>, size: usize) -> Line {
    parts.sort_by_key(|part| part.src);
    let tight = cover(dst, parts, size, |src| src);
    let aligned = cover(dst, parts, size, |src| src - src.rem_euclid(size as isize));
    parts.clear();
    if aligned.windows.len() <= tight.windows.len() {
        aligned
    } else {
        tight
    }
}

/// Covers the parts, in ascending order of source, by windows that start where `start` says for
/// the first byte not covered yet.
fn cover(dst: isize, parts: &[Segment], size: usize, start: impl Fn(isize) -> isize) -> Line {
    let mut windows: Vec<Window> = Vec::new();
    let mut bytes = vec![None; size];
    for part in parts {
        let to = (part.dst - dst).unsigned_abs();
        for i in 0..part.len {
            let src = part.src + i as isize;
            // Parts may share bytes of the source, so one may begin before the latest window.
            let holds = |window: &Window| (window.src..window.src + size as isize).contains(&src);
            let number = windows.iter().rposition(holds).unwrap_or_else(|| {
                let at = start(src);
                windows.push(Window {
                    src: at,
                    first: (src - at).unsigned_abs(),
                    end: 0,
                });
                windows.len() - 1
            });
            let window = &mut windows[number];
            let at = (src - window.src).unsigned_abs();
            window.first = window.first.min(at);
            window.end = window.end.max(at + 1);
            bytes[to + i] = Some((number, at));
        }
    }
    Line {
        dst,
        windows,
        bytes,
    }
}
