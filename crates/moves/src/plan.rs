//! The plan of one box.

use crate::blended::Blended;
use crate::byte_box::ByteBox;
use crate::channels::Channels;
use crate::crowding::Crowded;
use crate::features::Features;
use crate::folded::Folded;
use crate::joined::Joined;
use crate::lines::Program;
use crate::pixels::Pixels;
use crate::pressed::Pressed;
use crate::rows::Rows;
use crate::squares::Squares;
use crate::through::Through;
use crate::tiling::{Route, Tiling};
use crate::transpose::Plane;

/// How a box is moved by precompiled code. Only a [`Planner`](crate::Planner) makes one, so that box
/// and way fit each other.
pub struct MovePlan {
    pub(crate) shape: ByteBox,
    pub(crate) way: Way,
    pub(crate) cost: usize,
    pub(crate) features: Features,
}

impl MovePlan {
    /// The box.
    #[must_use]
    pub fn shape(&self) -> &ByteBox {
        &self.shape
    }

    /// How it is moved.
    #[must_use]
    pub fn way(&self) -> &Way {
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

    /// The same way for a box that differs in how far it goes in one dimension, where another search
    /// would hardly find anything else.
    pub(crate) fn stretched(&self, shape: &ByteBox, stores: Stores) -> Option<MovePlan> {
        let Way::Lines(program, same) = &self.way else {
            return None;
        };
        let mut steps = self.shape.steps.iter().zip(&shape.steps);
        let (known, step) = steps.find(|(known, step)| known != step)?;
        let rest = steps.all(|(known, step)| known == step);
        let alike = rest
            && (self.shape.run, self.shape.steps.len()) == (shape.run, shape.steps.len())
            && (known.dst, known.src) == (step.dst, step.src)
            && stores == *same;
        if !alike {
            return None;
        }
        Some(MovePlan {
            way: Way::Lines(program.stretched(known, step.extent)?, stores),
            cost: self.cost.saturating_mul(step.extent) / known.extent,
            shape: shape.clone(),
            features: self.features,
        })
    }
}

/// Ways to move a box.
pub enum Way {
    /// Run by run.
    Rows(Rows),
    /// In register tiles.
    Transpose(Plane),
    /// As `Transpose`, of rows that step through the source: their elements are packed together first, to squares or tiles.
    Packed(Plane),
    /// As `Transpose`, of elements whose width is no power of two: they are spread out first, and pressed together again.
    Widened(Plane),
    /// As `Transpose`, of sides that are several dimensions each.
    Folded(Box<Folded>),
    /// As `Transpose`, of a few channels whose rows are dense.
    Channels(Channels),
    /// The same on a machine that blends vectors and shuffles bytes within their lanes.
    Blended(Blended),
    /// As `Transpose`, of elements whose width is no power of two.
    Squares(Squares),
    /// A few short rows at a time, which permutations join to lines.
    Joined(Box<Joined>),
    /// Short runs, of which a vector is pressed together at a time.
    Pressed(Box<Pressed>),
    /// Dense pixels, of which permutations make vectors of each channel.
    Pixels(Box<Pixels>),
    /// Line by line, each a permutation of the bytes of a few windows.
    Lines(Program, Stores),
    /// In two moves, by way of the nearest cache.
    Through(Through),
}

impl Way {
    /// What it is called in listings.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Rows(rows) => rows.name(),
            Self::Transpose(plane) => match (plane.route, plane.tiling) {
                (Route::Straight, Tiling::Runs) => "transpose in runs",
                (Route::Straight, Tiling::Short) => "transpose of short rows",
                (Route::Straight, _) => "transpose",
                (Route::Tiles, Tiling::Panels) => "transpose in panels",
                (Route::Tiles, _) => "transpose in tiles",
                (Route::Collected, _) if plane.together.extent > 1 => "collected, planes together",
                (Route::Collected, Tiling::Bands) => "collected, few rows at a time",
                (Route::Collected, _) => "collected",
                (Route::Afar, _) => "collected from afar",
                (Route::Staged, _) => "staged",
                (Route::Past, Tiling::Bands) => "collected, past the caches",
                (Route::Past, _) => "transpose past the caches",
            },
            Self::Packed(plane) if plane.packed_squares().is_some() => "packed squares",
            Self::Packed(_) => "packed",
            Self::Widened(_) => "widened",
            Self::Folded(folded) if folded.has_short_rows() => "few rows",
            Self::Folded(folded) if folded.stage.is_some() => "folded, staged",
            Self::Folded(folded) => match folded.crowded {
                None => "folded",
                Some(Crowded::Source) => "folded, collected",
                Some(Crowded::Destination) => "folded, few rows at a time",
                Some(Crowded::Both) => "folded, collected, few rows at a time",
            },
            Self::Channels(plan) if plan.crowded => "channels, several lines together",
            Self::Channels(_) => "channels",
            Self::Blended(_) => "blended channels",
            Self::Squares(_) => "squares",
            Self::Joined(_) => "joined rows",
            Self::Pressed(_) => "pressed runs",
            Self::Pixels(_) => "split pixels",
            Self::Lines(program, Stores::Cached) if program.is_one_unit() => "lines of one unit",
            Self::Lines(_, Stores::Cached) => "lines",
            Self::Lines(_, Stores::Past) => "lines past the caches",
            Self::Through(_) => "through",
        }
    }
}

/// Where what is moved is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// In the caches.
    Cached,
    /// Past them, where the machine can.
    Past,
}

#[cfg(test)]
mod tests {
    use crate::{ByteBox, Features, Planner, Target};
    use restride_loops::{Dim, Form};

    /// Whether a box whose first dimension goes on for another extent is moved as it without a search.
    fn again(dims: &[(i64, i64, i64)], extent: i64, form: Form) -> bool {
        let dim = |&(extent, dst, src): &(i64, i64, i64)| Dim { extent, dst, src };
        let mut dims: Vec<Dim> = dims.iter().map(dim).collect();
        let planner = Planner::new(&Target::with(Features::Avx2));
        let shape = |dims: &[Dim]| ByteBox::of_move(dims, 1).expect("a box");
        let plan = planner.plan(shape(&dims), form);
        assert!(matches!(plan.way(), super::Way::Lines(..)));
        dims[0].extent = extent;
        let (shape, stores) = (shape(&dims), crate::planner::stores_of(Form::Lines));
        let found = plan.stretched(&shape, stores);
        if let Some(found) = &found {
            assert_eq!((&found.shape, found.features), (&shape, plan.features));
            let (one, other) = (
                plan.cost * found.shape.bytes(),
                found.cost * plan.shape.bytes(),
            );
            assert!(
                one.abs_diff(other) <= one / 10,
                "{} {}",
                plan.cost,
                found.cost
            );
        }
        found.is_some()
    }

    #[test]
    fn what_is_left_of_a_box_is_moved_as_the_box() {
        if !Features::Avx2.is_available() {
            return;
        }
        // Elements in reverse, of which a row is left, or less than a unit has.
        let elements = [(1600, 4, -4), (4, 1, 1)];
        assert!(again(&elements, 500, Form::Lines));
        assert!(!again(&elements, 3, Form::Lines));
        // Rows that are turned round.
        let rows = [(40, 400, 400), (100, 4, -4), (4, 1, 1)];
        assert!(again(&rows, 7, Form::Lines));
        // One channel less is another unit.
        let pixels = [(4, 4, -4), (40, 16, 16), (4, 1, 1)];
        assert!(!again(&pixels, 2, Form::Lines));
        // Stored past the caches.
        assert!(!again(
            &[(40, 4000, 4000), (1000, 4, -4), (4, 1, 1)],
            7,
            Form::Stream
        ));
    }
}
