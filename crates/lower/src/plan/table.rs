//! Tables of addresses, kept with the plan as constants.

use super::{PlanConstant, Source};
use restride_budget::Meter;
use restride_graph::ElementType;

/// The constants that a plan has, and those that composing a gather adds.
pub(super) struct IndexTables<'p> {
    pub(super) meter: &'p Meter,
    pub(super) held: &'p [PlanConstant],
    pub(super) made: Vec<PlanConstant>,
}

/// A table and what its entries mean: entry `x` stands for `least + coeff * x`, and what is not
/// below `limit` for zero bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexTable {
    pub(super) source: Source,
    pub(super) element: ElementType,
    pub(super) least: i64,
    pub(super) coeff: i64,
    pub(super) limit: i64,
    /// Whether every entry is below `limit`.
    pub(super) whole: bool,
}

impl IndexTables<'_> {
    /// A constant by its number.
    pub(super) fn constant(&self, number: u32) -> Option<&PlanConstant> {
        let at = number as usize;
        let made = || self.made.get(at.checked_sub(self.held.len())?);
        self.held.get(at).or_else(made)
    }

    /// Keeps a table in the narrowest type that holds it; nothing if its entries do not fit.
    pub(super) fn keep(&mut self, entries: &[Option<i64>]) -> Option<IndexTable> {
        let known = || entries.iter().copied().flatten();
        let (least, most) = (known().min().unwrap_or(0), known().max().unwrap_or(0));
        let reach = most.checked_sub(least)?;
        let coeff = known().fold(0, |g, x| gcd(g, x - least)).max(1);
        let limit = reach / coeff + 1;
        let whole = entries.iter().all(Option::is_some);
        // What stands for zero bits is the limit itself.
        let greatest = if whole { limit - 1 } else { limit };
        let element = match greatest {
            0..=0xff => ElementType::U8,
            0x100..=0xffff => ElementType::U16,
            0x1_0000..=0xffff_ffff => ElementType::U32,
            _ => ElementType::I64,
        };
        let width = element.width();
        let others = self.held.len() + self.made.len();
        self.meter.things(entries.len(), 4, 2 * width as u64);
        // Against each other that may be the same.
        self.meter
            .work(others as u64 * (2 + (entries.len() * width / 64) as u64));
        let mut bytes = Vec::with_capacity(entries.len() * width);
        for entry in entries {
            let x = entry.map_or(limit, |x| (x - least) / coeff);
            bytes.extend_from_slice(&x.to_le_bytes()[..width]);
        }
        let constant = PlanConstant {
            element,
            bytes: bytes.into(),
        };
        // Gathers of the same data share their tables.
        let known = self
            .held
            .iter()
            .chain(&self.made)
            .position(|c| *c == constant);
        let number = known.unwrap_or_else(|| {
            self.made.push(constant);
            self.held.len() + self.made.len() - 1
        });
        Some(IndexTable {
            source: Source::Constant(u32::try_from(number).ok()?),
            element,
            least,
            coeff,
            limit,
            whole,
        })
    }
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
