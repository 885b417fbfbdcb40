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

/// The segments of a vector of the destination, which starts at `dst`.
struct Parts {
    dst: isize,
    segments: Vec<Segment>,
}

/// The lines of a unit, as vectors of `size` bytes, each with windows of its own, unless one takes
/// more than `most`; a line may have holes.
pub(crate) fn lines(unit: &[Segment], size: usize, most: usize) -> Option<Vec<Line>> {
    let of = |parts: &Parts| {
        let mut windows = cover(parts.segments.clone(), size, most)?;
        let bytes = place(parts, &mut windows, size);
        Some(Line {
            dst: parts.dst,
            windows,
            bytes,
        })
    };
    cut(unit, size).iter().map(of).collect()
}

/// As [`lines`], but all lines have the same windows, whether they need them or not; there may be
/// no more than `most_lines` of them.
pub(crate) fn joint_lines(
    unit: &[Segment],
    size: usize,
    most: usize,
    most_lines: usize,
) -> Option<Vec<Line>> {
    let parts = cut(unit, size);
    if parts.len() > most_lines {
        return None;
    }
    let mut windows = cover(unit.to_vec(), size, most)?;
    let lines: Vec<_> = parts
        .iter()
        .map(|parts| (parts.dst, place(parts, &mut windows, size)))
        .collect();
    let of = |(dst, bytes)| Line {
        dst,
        windows: windows.clone(),
        bytes,
    };
    Some(lines.into_iter().map(of).collect())
}

/// Cuts a unit into vectors of its destination.
fn cut(unit: &[Segment], size: usize) -> Vec<Parts> {
    let mut lines: Vec<Parts> = Vec::new();
    for &segment in unit {
        let mut rest = segment;
        while rest.len > 0 {
            let end = lines.last().map(|line| line.dst + size as isize);
            let end = match end.filter(|&end| end > rest.dst) {
                Some(end) => end,
                None => {
                    lines.push(Parts {
                        dst: rest.dst,
                        segments: Vec::new(),
                    });
                    rest.dst + size as isize
                }
            };
            let len = rest.len.min((end - rest.dst).unsigned_abs());
            if let Some(line) = lines.last_mut() {
                line.segments.push(Segment { len, ..rest });
            }
            rest = Segment {
                dst: rest.dst + len as isize,
                src: rest.src + len as isize,
                len: rest.len - len,
            };
        }
    }
    lines
}

/// Windows for all bytes of some segments. They are as far apart as they are long where that takes
/// no more of them, so that what was loaded from aligned lines once always is. Nothing if it takes
/// more than `most`, which is found out early: most units that are looked at do.
fn cover(mut segments: Vec<Segment>, size: usize, most: usize) -> Option<Vec<Window>> {
    segments.sort_by_key(|segment| segment.src);
    let low = segments.first().map_or(0, |first| first.src);
    let grid = |base: isize| move |src: isize| src - (src - base).rem_euclid(size as isize);
    let tight = starts(&segments, size, most, |src| src)?;
    let fewest = tight.len();
    let best = starts(&segments, size, fewest, grid(0))
        .or_else(|| starts(&segments, size, fewest, grid(low)))
        .unwrap_or(tight);
    // Where windows straddle lines anyway, the last one ends with what is needed, so that less of it
    // lies outside the box.
    let high = segments
        .iter()
        .map(|segment| segment.src + segment.len as isize)
        .max();
    let inwards = |src: isize| match high {
        Some(high) if src % size as isize != 0 => src.min(high - size as isize).max(src.min(low)),
        _ => src,
    };
    let window = |src| Window {
        src: inwards(src),
        first: size,
        end: 0,
    };
    Some(best.into_iter().map(window).collect())
}

/// Where windows start that hold all bytes of segments in ascending order of source, if `start`
/// says where the window of the first byte not covered yet does; nothing if there are more than
/// `most`.
fn starts(
    segments: &[Segment],
    size: usize,
    most: usize,
    start: impl Fn(isize) -> isize,
) -> Option<Vec<isize>> {
    let mut starts: Vec<isize> = Vec::new();
    for segment in segments {
        let end = segment.src + segment.len as isize;
        let mut at = segment.src;
        while at < end {
            // Segments may share bytes of the source, so one may begin before the latest window.
            let holds = |&&start: &&isize| (start..start + size as isize).contains(&at);
            at = match starts.iter().rfind(holds) {
                Some(start) => start + size as isize,
                None if starts.len() == most => return None,
                None => {
                    starts.push(start(at));
                    continue;
                }
            };
        }
    }
    Some(starts)
}

/// Finds every byte of a line in the windows, and notes what of these is needed.
fn place(parts: &Parts, windows: &mut [Window], size: usize) -> Vec<Option<(usize, usize)>> {
    let mut bytes = vec![None; size];
    for part in &parts.segments {
        let to = (part.dst - parts.dst).unsigned_abs();
        for i in 0..part.len {
            let src = part.src + i as isize;
            let holds = |window: &Window| (window.src..window.src + size as isize).contains(&src);
            let Some(number) = windows.iter().rposition(holds) else {
                continue;
            };
            let window = &mut windows[number];
            let at = (src - window.src).unsigned_abs();
            window.first = window.first.min(at);
            window.end = window.end.max(at + 1);
            bytes[to + i] = Some((number, at));
        }
    }
    bytes
}
