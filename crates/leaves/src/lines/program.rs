//! Units as programs: for every vector of the destination, from which windows of the source its
//! bytes come and where they lie in these.

use super::unit::Segment;

/// A window of the source as wide as a vector, and which of its bytes are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// Its first byte; the first that is needed.
    pub(crate) src: isize,
    /// How many bytes from there to the last that is needed.
    pub(crate) len: usize,
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

/// One line from its parts, which are used up.
fn line(dst: isize, parts: &mut Vec<Segment>, size: usize) -> Line {
    parts.sort_by_key(|part| part.src);
    let mut windows: Vec<Window> = Vec::new();
    let mut bytes = vec![None; size];
    for part in parts.drain(..) {
        let to = (part.dst - dst).unsigned_abs();
        for i in 0..part.len {
            let src = part.src + i as isize;
            if windows
                .last()
                .is_none_or(|window| src >= window.src + size as isize)
            {
                windows.push(Window { src, len: 0 });
            }
            let window = windows.len() - 1;
            let at = (src - windows[window].src).unsigned_abs();
            windows[window].len = windows[window].len.max(at + 1);
            bytes[to + i] = Some((window, at));
        }
    }
    Line {
        dst,
        windows,
        bytes,
    }
}

/// About how many micro-operations a line costs.
pub(crate) fn cost(line: &Line) -> usize {
    let windows = line.windows.len();
    3 + 2 * windows + windows.div_ceil(2) * 2
}
