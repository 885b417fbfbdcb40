//! Memory as a grid of cells, coloured by when they are touched.

use std::collections::BTreeSet;
use std::fmt::Write;

use restride_loops::{BufferId, Role, Verified};

use super::page::escape;
use super::walk::MemoryWalk;

/// Cells of one buffer; larger buffers have more elements to a cell.
const MAX_CELLS: i64 = 2048;

/// Rows of one picture.
const MAX_ROWS: i64 = 32;

/// Bytes of a cache line.
const LINE: i64 = 64;

/// The side of a cell.
const CELL: i64 = 9;

/// How well a buffer's cache lines are used.
pub(super) struct LineUse {
    pub(super) buffer: String,
    /// Different lines touched.
    pub(super) lines: usize,
    /// How often the walk goes to another line.
    pub(super) visits: usize,
    /// Bytes touched of the bytes in these lines.
    pub(super) used: f64,
}

/// One picture for every buffer that is touched, all on one scale.
pub(super) fn pictures(kernel: &Verified, walk: &MemoryWalk) -> Vec<String> {
    let touched = kernel
        .numbered()
        .filter(|(id, _)| !times(walk, *id).is_empty());
    let cells = touched.map(|(_, buffer)| cell_bytes(buffer.len, buffer.width.bytes() as i64));
    let cell = cells.max().unwrap_or(1);
    let pictures = kernel.numbered().map(|(id, buffer)| {
        let times = times(walk, id);
        if times.is_empty() {
            return None;
        }
        let width = buffer.width.bytes() as i64;
        let title = format!(
            "{id}: {}, {} elements of {width} bytes",
            role(&buffer.role),
            buffer.len
        );
        let last = walk.touches.len();
        Some(draw(&title, (buffer.len, width), cell, &times, last))
    });
    pictures.flatten().collect()
}

/// A picture of an input in which a view lies, whose elements lie at `places`.
pub(super) fn of_view(title: &str, len: usize, width: usize, places: &[i64]) -> String {
    let (len, width) = (len as i64, width as i64);
    let times: Vec<(usize, i64)> = places.iter().copied().enumerate().collect();
    let title = format!("{title}; {len} elements of {width} bytes");
    draw(
        &title,
        (len, width),
        cell_bytes(len, width),
        &times,
        places.len(),
    )
}

/// How many bytes a cell must stand for, at least.
fn cell_bytes(len: i64, width: i64) -> i64 {
    ceil(len, MAX_CELLS).max(1).saturating_mul(width)
}

/// The use of cache lines, a row for every buffer that is touched.
pub(super) fn line_use(kernel: &Verified, walk: &MemoryWalk) -> Vec<LineUse> {
    let rows = kernel.numbered().map(|(id, buffer)| {
        let times = times(walk, id);
        let width = buffer.width.bytes() as i64;
        let line = |at: i64| at.saturating_mul(width) / LINE;
        let lines: BTreeSet<i64> = times.iter().map(|(_, at)| line(*at)).collect();
        let elements: BTreeSet<i64> = times.iter().map(|(_, at)| *at).collect();
        let turns = times
            .windows(2)
            .filter(|pair| line(pair[0].1) != line(pair[1].1));
        let last = line(buffer.len - 1);
        // The last line of a buffer may be a part of one.
        let end = buffer.len.saturating_mul(width) - last * LINE;
        let bytes: i64 = lines
            .iter()
            .map(|n| if *n == last { end } else { LINE })
            .sum();
        (!times.is_empty()).then(|| LineUse {
            buffer: format!("{id} ({})", role(&buffer.role)),
            lines: lines.len(),
            visits: turns.count() + 1,
            used: elements.len() as f64 * width as f64 / bytes.max(1) as f64,
        })
    });
    rows.flatten().collect()
}

fn role(role: &Role) -> String {
    match role {
        Role::In(n) => format!("input {n}"),
        Role::Out(n, _) => format!("output {n}"),
        Role::Scratch => "scratch".into(),
        Role::Const(_) => "constant".into(),
    }
}

/// When and where a buffer is touched.
fn times(walk: &MemoryWalk, id: BufferId) -> Vec<(usize, i64)> {
    let touches = walk.touches.iter().enumerate();
    let places = touches.flat_map(|(time, touch)| {
        let places = [touch.src, Some(touch.dst)].into_iter().flatten();
        places
            .filter(move |(buffer, _)| *buffer == id)
            .map(move |(_, at)| (time, at))
    });
    places.collect()
}

fn draw(
    title: &str,
    (len, width): (i64, i64),
    cell_bytes: i64,
    times: &[(usize, i64)],
    last: usize,
) -> String {
    let per_cell = ceil(cell_bytes, width).max(1);
    let cells = ceil(len, per_cell);
    // A row is one cache line, or several so that the picture is not too high.
    let mut columns = ceil(LINE, per_cell * width).max(4);
    while ceil(cells, columns) > MAX_ROWS {
        columns *= 2;
    }
    let rows = ceil(cells, columns);
    // When each cell is first touched, and how many of its elements are.
    let mut first: Vec<Option<(usize, i64)>> = vec![None; usize::try_from(cells).unwrap_or(0)];
    let mut seen = BTreeSet::new();
    for (time, at) in times {
        let cell = usize::try_from(at / per_cell).ok();
        if let Some(first) = cell.and_then(|cell| first.get_mut(cell))
            && seen.insert(*at)
        {
            first.get_or_insert((*time, 0)).1 += 1;
        }
    }
    let (wide, high) = (columns.min(cells) * CELL, rows * CELL);
    let row = columns * per_cell * width;
    let unit = match per_cell {
        1 => format!("a cell is an element, a row {row} bytes"),
        n => format!("a cell is {n} elements, pale if not all are touched; a row {row} bytes"),
    };
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<figure><figcaption>{} ({unit})</figcaption>\n<svg xmlns=\"http://www.w3.org/2000/svg\" \
         role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {wide} {high}\" width=\"{wide}\" height=\"{high}\">",
        escape(title),
        escape(title)
    );
    for (cell, touched) in first.iter().enumerate() {
        let cell = cell as i64;
        let (x, y, side) = (cell % columns * CELL, cell / columns * CELL, CELL - 1);
        let whole = per_cell.min(len - cell * per_cell);
        let (fill, opacity) = match touched {
            Some((time, count)) => (hue(*time, last), *count as f64 / whole as f64),
            None => ("none".into(), 1.0),
        };
        let pale = match opacity < 1.0 {
            true => format!(" fill-opacity=\"{opacity:.2}\""),
            false => String::new(),
        };
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\" fill=\"{fill}\"{pale}/>"
        );
    }
    svg.push_str("</svg></figure>\n");
    svg
}

/// A quotient of natural numbers, rounded up.
fn ceil(a: i64, b: i64) -> i64 {
    a / b + i64::from(a % b != 0)
}

/// Blue at the beginning, red at the end.
fn hue(time: usize, last: usize) -> String {
    let degrees = 240 - time * 240 / last.max(1);
    format!("hsl({degrees} 80% 50%)")
}
