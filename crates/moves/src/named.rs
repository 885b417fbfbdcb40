//! Rows that constants name: what is moved is known before the call.

use restride_loops::NamedRows;

use crate::byte_box::ByteBox;
use crate::cost;
use crate::gather::{GatherPlan, GatherWay, Indices};
use crate::planner::Planner;

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
            let named = isize::try_from((*named)?).ok()?;
            let next = NamedRun {
                dst: row.dst.checked_add(number.checked_mul(dst)?)?,
                src: row.src.checked_add(named.checked_mul(src)?)?,
                bytes: row.run,
            };
            match runs.last_mut().filter(|last| last.goes_on(&next)) {
                Some(last) => last.bytes += next.bytes,
                None => runs.push(next),
            }
        }
        Some(runs)
    }

    /// Whether another one begins where it ends.
    fn goes_on(&self, next: &NamedRun) -> bool {
        let bytes = self.bytes as isize;
        (self.dst + bytes, self.src + bytes) == (next.dst, next.src)
    }
}

impl Planner {
    /// The runs of a gather whose rows constants name, if straight code for each point of a row is faster than precompiled code.
    #[must_use]
    pub fn straight(&self, plan: &GatherPlan) -> Option<Vec<NamedRun>> {
        // Long rows are moved a line at a time.
        if matches!(plan.way(), GatherWay::Boxes(_)) || plan.row().run >= cost::LINE {
            return None;
        }
        let indices = plan.indices();
        let apart = (plan.dst_stride(), indices.coeff);
        let runs = NamedRun::all(plan.row(), indices.named.as_ref()?, apart)?;
        let loads = runs.iter().map(|run| cost::loads(run.bytes)).sum();
        cost::gather::is_straight(loads, plan.row().runs(), plan.cost()).then_some(runs)
    }
}
