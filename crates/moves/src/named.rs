//! Rows that constants name: what is moved is known before the call.

use restride_loops::NamedRows;

use crate::byte_box::{ByteBox, Step};
use crate::cells::Cells;
use crate::cost;
use crate::gather::{GatherPlan, GatherWay, Indices};
use crate::planner::Planner;
use crate::processor::Shuffles;
use crate::vector::VECTOR;

/// Vectors of a cell at most.
const CELL: usize = 32;

/// The code for rows that constants name.
#[derive(Clone, Debug)]
pub enum NamedCode {
    /// Loads and stores at each point of a row, in a straight line.
    Runs(Vec<NamedRun>),
    /// Vectors put together of several elements.
    Cells(Box<Cells>),
}

/// Bytes that are moved at each point of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedRun {
    /// Where they are written, from the first row.
    pub dst: isize,
    /// Where they are read, from row 0.
    pub src: isize,
    /// How many.
    pub bytes: usize,
}

impl Indices {
    /// The offset of each row that constants name; nothing of one that there is not.
    pub fn offsets(&self) -> impl Iterator<Item = Option<isize>> {
        let offset = |named: &Option<i64>| named.map(|row| self.coeff.wrapping_mul(row as isize));
        self.named.iter().flatten().map(offset)
    }
}

impl NamedRun {
    /// What is moved at each point of a row; rows that follow each other on both sides are one run. So many bytes lie between
    /// rows of destination and source. Nothing if an index names no row.
    #[must_use]
    pub fn all(
        row: &ByteBox,
        named: &NamedRows,
        (dst, src): (isize, isize),
    ) -> Option<Vec<NamedRun>> {
        let mut runs: Vec<NamedRun> = Vec::new();
        for (number, named) in (0isize..).zip(named) {
            let next = NamedRun {
                dst: row.dst.checked_add(number.checked_mul(dst)?)?,
                src: row.src.checked_add(offset(named, src)?)?,
                bytes: row.run,
            };
            match runs.last_mut().filter(|last| last.goes_on(&next)) {
                Some(last) => last.bytes += next.bytes,
                None => runs.push(next),
            }
        }
        Some(runs)
    }

    /// The loads that move some.
    #[must_use]
    pub fn loads(runs: &[NamedRun]) -> usize {
        runs.iter().map(|run| cost::loads(run.bytes)).sum()
    }

    /// Whether another one begins where it ends.
    fn goes_on(&self, next: &NamedRun) -> bool {
        let bytes = self.bytes as isize;
        (self.dst + bytes, self.src + bytes) == (next.dst, next.src)
    }
}

impl NamedCode {
    /// The cheaper of both, of about `room` instructions at most and so many loads of runs.
    #[must_use]
    pub fn within(
        row: &ByteBox,
        named: &NamedRows,
        apart: (isize, isize),
        shuffles: Option<Shuffles>,
        (room, most): (usize, usize),
    ) -> Option<NamedCode> {
        let runs = NamedRun::all(row, named, apart)?;
        let loads = NamedRun::loads(&runs);
        let straight = loads.saturating_mul(2 * row.runs());
        let cells = shuffles.and_then(|it| cells(row, named, apart, it));
        match cells.filter(|it| it.code() <= room && (it.cost < straight || loads > most)) {
            Some(cells) => Some(NamedCode::Cells(Box::new(cells))),
            None => (loads <= most).then_some(NamedCode::Runs(runs)),
        }
    }
}

impl Planner {
    /// The code for a gather whose rows constants name, if it is faster than precompiled code.
    #[must_use]
    pub fn named(&self, plan: &GatherPlan, shuffles: Option<Shuffles>) -> Option<NamedCode> {
        let row = plan.row();
        // Long rows are moved a line at a time.
        if matches!(plan.way(), GatherWay::Boxes(_)) || row.run >= cost::LINE {
            return None;
        }
        let indices = plan.indices();
        let apart = (plan.dst_stride(), indices.coeff);
        let room = (cost::inline::SHORT_LOOPS, cost::gather::STRAIGHT);
        let code = NamedCode::within(row, indices.named.as_ref()?, apart, shuffles, room)?;
        let called = plan.cost();
        let pays = match &code {
            NamedCode::Runs(runs) => {
                cost::gather::pays(NamedRun::loads(runs), row.runs(), row.run, called)
            }
            NamedCode::Cells(cells) => cost::gather::vectors_pay(cells.cost, row.run, called),
        };
        pays.then_some(code)
    }
}

/// Where a row that a constant names begins, if so many bytes lie between rows; nothing of one that there is not.
fn offset(named: &Option<i64>, apart: isize) -> Option<isize> {
    isize::try_from((*named)?).ok()?.checked_mul(apart)
}

/// Elements that follow each other in the destination as vectors of several, of as many rows as fill vectors best.
fn cells(
    row: &ByteBox,
    named: &NamedRows,
    (dst, src): (isize, isize),
    shuffles: Shuffles,
) -> Option<Cells> {
    let run = row.run;
    if !matches!(run, 1 | 2 | 4 | 8) || dst != run as isize {
        return None;
    }
    let offsets = named.iter().map(|named| offset(named, src));
    let offsets: Vec<isize> = offsets.collect::<Option<_>>()?;
    let bytes = offsets.len() * run;
    let (outer, inner) = match row.steps.split_last() {
        Some((last, outer)) if last.dst == bytes as isize => (outer, *last),
        _ => (&row.steps[..], Step::NONE),
    };
    let vectors = |rows: usize| (rows * bytes).div_ceil(VECTOR as usize);
    let cost = |rows: usize| inner.extent.div_ceil(rows) * vectors(rows);
    let rows = (1..=inner.extent.min(16)).filter(|rows| vectors(*rows) <= CELL);
    let together = rows.min_by_key(|rows| cost(*rows))?;
    let start = (row.dst, row.src);
    Cells::of_rows(run, (start, &offsets), inner, together, outer, shuffles)
}
