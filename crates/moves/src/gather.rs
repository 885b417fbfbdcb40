//! How rows that indices name are moved.

use restride_loops::{Form, Gather, NamedRows, Norm};

use crate::byte_box::{ByteBox, Step, following, reach};
use crate::cores::Core;
use crate::cost::{LINE, gather as cost};
use crate::error::BoxError;
use crate::features::Features;
use crate::picked::{KnownRows, PickedRows};
use crate::plan::{MovePlan, Stores};
use crate::planner::Planner;
use crate::target::Target;

/// How a gather is carried out by precompiled code. Only a [`Planner`] makes one.
pub struct GatherPlan {
    pub(crate) row: ByteBox,
    pub(crate) indices: Indices,
    /// Bytes from a row of the destination to the next.
    pub(crate) dst_stride: isize,
    /// Bytes from where the source begins to its row 0, but for what loops add.
    pub(crate) src: isize,
    pub(crate) way: GatherWay,
    pub(crate) cost: usize,
    pub(crate) features: Features,
}

/// The indices of a gather.
#[derive(Clone, Debug)]
pub struct Indices {
    /// How many.
    pub extent: usize,
    /// Bytes from one to the next.
    pub stride: isize,
    /// What they mean; they select from one row at least.
    pub norm: Norm,
    /// Bytes of the source that they count.
    pub coeff: isize,
    /// The rows that they name, if they are constants.
    pub named: Option<NamedRows>,
}

/// Ways to carry out a gather.
pub enum GatherWay {
    /// All rows of a small table are in registers, in which indices are looked up.
    Registers,
    /// Elements that follow each other, several of which are loaded by one instruction.
    Together,
    /// Elements that follow each other, one after the other.
    Elements,
    /// Rows that follow each other, each as one vector: what that has too much, the next row is written over.
    Following,
    /// Rows that are a run each.
    Runs {
        /// How many rows ahead are asked for; 0 for none.
        ahead: usize,
        /// Whether they are asked for into a cache that is further away.
        far: bool,
        /// Whether whole lines are stored past the caches.
        stores: Stores,
    },
    /// All rows at one point of theirs after the other, since the destination is contiguous along the indices.
    Points,
    /// The same, in lines that permutations put together where that pays for the indices.
    Picked {
        /// Of how many rows that follow each other, where that is found during the call.
        together: usize,
        /// The same where constants name the rows, so that it is known before the call.
        known: Option<KnownRows>,
    },
    /// Rows that are a box each.
    Boxes(Box<MovePlan>),
}

impl GatherPlan {
    /// The box of one row.
    #[must_use]
    pub fn row(&self) -> &ByteBox {
        &self.row
    }

    /// The indices.
    #[must_use]
    pub fn indices(&self) -> &Indices {
        &self.indices
    }

    /// Bytes from a row of the destination to the next.
    #[must_use]
    pub fn dst_stride(&self) -> isize {
        self.dst_stride
    }

    /// Bytes from where the source begins to its row 0, but for what loops add.
    #[must_use]
    pub fn src(&self) -> isize {
        self.src
    }

    /// How it is carried out.
    #[must_use]
    pub fn way(&self) -> &GatherWay {
        &self.way
    }

    /// What that costs, in about micro-operations.
    #[must_use]
    pub fn cost(&self) -> usize {
        self.cost
    }

    /// What it may use of the processor, which this machine has.
    #[must_use]
    pub fn features(&self) -> Features {
        self.features
    }
}

impl GatherWay {
    /// What it is called in listings.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Registers => "table in registers",
            Self::Together => "elements together",
            Self::Elements => "elements",
            Self::Following => "overlapping rows",
            Self::Runs {
                stores: Stores::Past,
                ..
            } => "rows past the caches",
            Self::Runs { ahead: 0, .. } => "rows",
            Self::Runs { far: true, .. } => "rows asked for far ahead",
            Self::Runs { .. } => "rows asked for ahead",
            Self::Points => "points",
            Self::Picked { .. } => "permuted points",
            Self::Boxes(_) => "boxes",
        }
    }
}

impl Indices {
    /// The bytes from the first to the last row of the table.
    fn table(&self) -> usize {
        let rows = usize::try_from(self.norm.limit).unwrap_or(0);
        self.coeff.unsigned_abs().saturating_mul(rows)
    }

    /// Whether they lie one after the other.
    #[must_use]
    pub fn follow_each_other(&self) -> bool {
        self.stride == self.norm.ty.width().bytes() as isize
    }

    /// Whether the table has so few rows, of so few bytes, that registers hold all of it.
    fn fit_registers(&self, run: usize) -> bool {
        let (rows, bytes) = REGISTERS;
        self.norm.limit <= rows as i64 && run <= bytes && self.follow_each_other()
    }

    /// Whether elements are loaded several at a time: where that instruction is fast, and from a table that the second cache
    /// holds. Of what is farther away, single loads have more under way. Numbers and places are counted in 32 bits; all
    /// rows may be the same one.
    fn load_together(&self, target: &Target) -> bool {
        let counted = i32::try_from(self.norm.limit).is_ok() && i32::try_from(self.coeff).is_ok();
        target.core == Core::Cove
            && self.table() <= target.l2 as usize
            && counted
            && self.follow_each_other()
    }

    /// How many rows ahead are asked for, of so many bytes, and whether into a cache that is further away: that pays for tables
    /// that come from memory, where it takes more of them. What the second cache holds is not asked for.
    fn ahead(&self, row: usize, target: &Target) -> (usize, bool) {
        let (table, cached) = (self.table(), target.l2 as usize / 2);
        let far = target.is_far(table);
        match target.core {
            // What asks for them takes the places where what is read is waited for.
            Core::Cove => (0, false),
            _ if row == 0 || table <= cached => (0, false),
            Core::Zen if far => ((8192 / row).clamp(8, 32), true),
            Core::Zen => ((4096 / row).clamp(1, 32), false),
            // The nearest cache has room for that there, whatever it comes from.
            Core::Zen5 => ((8192 / row).clamp(2, 128), false),
        }
    }
}

/// The most rows of a table in registers, and bytes of a row.
pub const REGISTERS: (usize, usize) = (256, 4);

/// The most indices that become offsets before rows are moved: those ahead are known then, and can be asked for.
pub const AT_ONCE: usize = 512;

/// Rows of fewer bytes than that are moved point by point, where that is possible.
const SHORT: usize = LINE;

/// A way and what it costs.
type Candidate = (usize, GatherWay);

impl Planner {
    /// How precompiled code carries out a gather of elements of `width` bytes, of these rows if constants name them.
    pub fn gather(
        &self,
        gather: &Gather,
        width: usize,
        named: Option<NamedRows>,
    ) -> Result<GatherPlan, BoxError> {
        let (mut plan, others) = self.gather_ways(gather, width, named)?;
        for (cost, way) in others {
            if cost < plan.cost {
                (plan.cost, plan.way) = (cost, way);
            }
        }
        Ok(plan)
    }

    /// What each way to carry out a gather costs that there is for it.
    pub fn gather_candidates(
        &self,
        gather: &Gather,
        width: usize,
        named: Option<NamedRows>,
    ) -> Result<Vec<(&'static str, usize)>, BoxError> {
        let (plan, others) = self.gather_ways(gather, width, named)?;
        let named = |(cost, way): Candidate| (way.name(), cost);
        let others = others.into_iter().map(named);
        Ok(others.chain([(plan.way.name(), plan.cost)]).collect())
    }

    /// The way that is always there, as a plan, and what else fits.
    fn gather_ways(
        &self,
        gather: &Gather,
        width: usize,
        named: Option<NamedRows>,
    ) -> Result<(GatherPlan, Vec<Candidate>), BoxError> {
        let norm = gather.norm;
        if norm.limit < 1 {
            return Err(BoxError::Limit { limit: norm.limit });
        }
        let extent = usize::try_from(gather.extent).map_err(|_| BoxError::Extent {
            dim: 0,
            extent: gather.extent,
        })?;
        let indices = Indices {
            extent,
            stride: reach(gather.extent, gather.index_stride, norm.ty.width().bytes())?,
            norm,
            coeff: reach(norm.limit, gather.coeff, width)?,
            named,
        };
        let row = ByteBox::of_move(&gather.dims, width)?;
        let dst_stride = reach(gather.extent, gather.dst_stride, width)?;
        let src = (gather.src.addr.base as isize).wrapping_mul(width as isize);
        let ((cost, way), others) = if row.steps.is_empty() && !row.empty {
            self.of_runs(&row, &indices, dst_stride, src)
        } else if is_inner(&row, dst_stride) {
            let points = cost::points(&indices, &row);
            let picked = self.picked(&row, &indices, dst_stride, src);
            ((points, GatherWay::Points), picked.into_iter().collect())
        } else {
            let plan = self.plan(row.clone(), Form::Rows);
            let cost = cost::boxes(&indices, plan.cost());
            ((cost, GatherWay::Boxes(Box::new(plan))), Vec::new())
        };
        let plan = GatherPlan {
            row,
            indices,
            dst_stride,
            src,
            way,
            cost,
            features: self.features(),
        };
        Ok((plan, others))
    }

    /// Of rows that are a run each.
    fn of_runs(
        &self,
        row: &ByteBox,
        indices: &Indices,
        dst_stride: isize,
        src: isize,
    ) -> (Candidate, Vec<Candidate>) {
        let (run, target) = (row.run, self.target());
        let follows = dst_stride == run as isize;
        let wide = target.features >= Features::Avx512;
        let mut others = Vec::new();
        if follows && wide && indices.fit_registers(run) {
            others.push((cost::registers(indices, run), GatherWay::Registers));
        }
        if indices.named.is_some() {
            others.extend(self.picked(row, indices, dst_stride, src));
        }
        // The processor itself has many elements under way at once; asking for them early takes as long as loading them.
        if follows && matches!(run, 1 | 2 | 4 | 8) {
            if wide && run >= 4 && indices.load_together(target) {
                others.push((cost::together(indices), GatherWay::Together));
            }
            return ((cost::elements(indices), GatherWay::Elements), others);
        }
        let (ahead, far) = indices.ahead(run, target);
        let widest = 16 * target.features.lanes()[1];
        let vector = following(run, indices.coeff.unsigned_abs());
        let overlaps = indices.coeff > 0 && vector.is_some_and(|vector| vector <= widest);
        if follows && overlaps && ahead == 0 {
            others.push((cost::following(indices), GatherWay::Following));
        }
        let written = i64::try_from(run.saturating_mul(indices.extent)).unwrap_or(i64::MAX);
        // What is written is read from a table that no cache holds.
        let past = target.is_far(indices.table())
            && run.is_multiple_of(LINE)
            && target.goes_past_in_tiles(written.saturating_mul(2));
        let way = GatherWay::Runs {
            ahead,
            far,
            stores: if past { Stores::Past } else { Stores::Cached },
        };
        ((cost::runs(indices, row), way), others)
    }

    /// Of rows whose points are moved one after the other, each for all indices, in lines that are put together by permutations.
    fn picked(
        &self,
        row: &ByteBox,
        indices: &Indices,
        dst_stride: isize,
        src: isize,
    ) -> Option<Candidate> {
        let (run, features) = (row.run, self.features());
        let line = match features {
            Features::Avx512 => LINE,
            _ => 16,
        };
        let fits = matches!(run, 1 | 2 | 4 | 8 | 16)
            && indices.coeff.unsigned_abs().is_multiple_of(run)
            && dst_stride == run as isize
            && features >= Features::Avx2;
        fits.then(|| {
            let rows = PickedRows::of(indices, row, line);
            let (known, together) = (rows.known_together(indices, src), rows.together());
            let cost = match known {
                Some((cost, _)) => cost,
                None => cost::picked(indices, row, line, together),
            };
            let known = known.map(|(cost, rows)| KnownRows {
                rows,
                anywhere: cost::serve_anywhere(cost, indices, together),
            });
            (cost, GatherWay::Picked { together, known })
        })
    }
}

/// Whether the indices run along the innermost dimension of the destination: short runs that lie
/// closer together than those of one row. The same indices then serve one point of the row after
/// the other, and the destination is written in order.
fn is_inner(row: &ByteBox, dst_stride: isize) -> bool {
    let inside = |step: &Step| dst_stride.unsigned_abs() < step.dst.unsigned_abs();
    row.run < SHORT && row.steps.iter().all(inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use restride_loops::{BufferId, Dim, IndexType, Place};

    #[test]
    fn what_no_memory_holds_has_a_plan() {
        let place = Place::at(BufferId(0), 0);
        let gather = Gather {
            extent: 2,
            index: place.clone(),
            index_stride: 1,
            norm: Norm {
                ty: IndexType::I64,
                limit: 2,
                wrap: false,
                clamp: false,
            },
            dst: place.clone(),
            dst_stride: 1 << 62,
            src: place,
            coeff: 1,
            dims: [Dim {
                extent: 1 << 62,
                dst: 1,
                src: 0,
            }]
            .into_iter()
            .collect(),
        };
        let planner = Planner::new(&Target::with(Features::Sse2));
        let plan = planner.gather(&gather, 1, None);
        assert_eq!(plan.expect("a plan").cost(), usize::MAX);
    }
}
