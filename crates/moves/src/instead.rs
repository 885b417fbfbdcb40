//! Code of a box's own in place of a call of precompiled code, where it is faster: which box, and on what terms.

use restride_loops::Form;

use crate::byte_box::{ByteBox, extent};
use crate::cores::Core;
use crate::cost::inline::{FEW_TILES, LARGEST, SHORT_LOOPS, SHORT_ROW, SHORT_RUN};
use crate::cost::{self, LINE, LOOP};
use crate::features::Features;
use crate::inline::Inline;
use crate::lines::Program;
use crate::plan::{MovePlan, Way};
use crate::planner::Planner;
use crate::processor::Shuffles;
use crate::rows::{Rows, skips_sets};
use crate::self_contained::OwnWay;
use crate::tiles::Tiles;
use crate::tiling::Route;
use crate::transpose::Plane;

/// On what terms code of its own takes the place of a way: what it may cost, so many times the instructions of short loops that it
/// may have, and which code it may be. Both costs are about instructions, but those of a leaf have wider vectors, go on beside
/// each other better, or find out more beside. Rows that step have more code than loops, and so have short ones of which many fill
/// vectors together: worth it only beside narrow vectors.
type Terms = (usize, usize, Fits);
type Fits = fn(&Inline) -> bool;

const ANY: Fits = |_| true;
const TILES: Fits = |it| matches!(it, Inline::Tiles(_));
const HALVES: Fits = |it| matches!(it, Inline::Halves(_));
const VECTORS: Fits = |it| matches!(it, Inline::Cells(_));
/// Runs go through the source in the order of the destination, and so turn to each of its lines often.
const NO_RUNS: Fits = |it| !matches!(it, Inline::Runs);
/// So do vectors of several of these.
const WHOLE_LINES: Fits = |it| !matches!(it, Inline::Runs | Inline::Cells(_));

impl Planner {
    /// The code that a box should have in a kernel, if that is faster than a call of precompiled code.
    #[must_use]
    pub fn inline(&self, shape: &ByteBox, form: Form, shuffles: Shuffles) -> Option<Inline> {
        if self.held(shape, form).is_some() {
            return None;
        }
        if shape.steps.is_empty() && shape.run > SHORT_RUN && self.target().core == Core::Zen5 {
            return None;
        }
        let straight = Inline::straight(shape, shuffles, self.lines());
        if let Some(Inline::Tiles(tiles)) = &straight {
            // Lines of wide vectors take fewer instructions than tiles of narrow elements, of which bytes have the most.
            let most = match shape.run {
                1 => tiles.cost(),
                _ => tiles.cost() / 5 * 3,
            };
            let lines = matches!(self.way(shape, form), (cost, Way::Lines(Program::Wide(_), _)) if cost < most);
            return straight.filter(|_| !lines);
        }
        if straight.is_some() {
            return straight;
        }
        if form != Form::Rows || !Inline::has_short_rows(shape) || self.is_narrow() {
            return self.loops(shape, form, shuffles);
        }
        // A loop is as good as rows, and better than lines that move a few of these at a time, or have to
        // look what they are to do.
        let (cost, way) = self.way(shape, form);
        let loops = match way {
            Way::Rows(rows) => !matches!(rows, Rows::Sharing { .. }),
            Way::Lines(..) => {
                let rows = cost::rows(shape) / if shape.steps.len() > 2 { 4 } else { 2 };
                cost >= rows.saturating_add(cost::EDGES)
            }
            _ => false,
        };
        loops.then_some(Inline::Runs)
    }

    /// Loops of vectors of sixteen bytes, where they are faster than a leaf: a leaf looks up what each line is put together
    /// from, and moves single elements where none of its ways fits.
    fn loops(&self, shape: &ByteBox, form: Form, shuffles: Shuffles) -> Option<Inline> {
        if !self.has_loops(shape, form) {
            return None;
        }
        let (cost, way) = self.way(shape, form);
        let own = self.in_place_of(&way, cost, shape, form, shuffles);
        own.map(|own| own.inline)
    }

    /// The micro-operations that loops would save in place of a plan, and how many instructions they have; nothing where
    /// they are no faster.
    #[must_use]
    pub fn saved_by_loops(&self, plan: &MovePlan, form: Form) -> Option<(usize, usize)> {
        let (way, shape) = (plan.way(), plan.shape());
        if self.held_to.is_some() {
            return None;
        }
        // Large transpositions wait for what is behind the caches; to find that loops gain nothing would take as long as planning.
        if !self.has_loops(shape, form) || !self.is_narrow() && matches!(way, Way::Transpose(_)) {
            return None;
        }
        let shuffles = self.target().processor.shuffles(self.features())?;
        let own = self.in_place_of(way, plan.cost(), shape, form, shuffles)?;
        Some((plan.cost().saturating_sub(own.cost), own.code))
    }

    /// Whether loops may be faster than leaves that have the machine's widest vectors.
    fn has_loops(&self, shape: &ByteBox, form: Form) -> bool {
        match form {
            Form::Staged => self.is_as_narrow(),
            Form::Rows => shape.run <= SHORT_ROW && (self.is_narrow() || self.is_cove()),
            Form::Stream => self.is_narrow(),
            _ => true,
        }
    }

    /// Loops in place of a way that costs so much, if they are faster.
    fn in_place_of(
        &self,
        way: &Way,
        cost: usize,
        shape: &ByteBox,
        form: Form,
        shuffles: Shuffles,
    ) -> Option<OwnWay> {
        if shape.bytes() <= LARGEST && !matches!(form, Form::Stream | Form::Staged) {
            let halves = || self.small_halves(shape, way, cost, shuffles);
            if let Some(own) = halves().or_else(|| self.small_tiles(shape, way, cost)) {
                return Some(own);
            }
        }
        let (most, times, fits) = match way {
            way if self.is_cove() => self.terms_on_cove(way, cost, shape, form)?,
            Way::Transpose(plane) => self.terms_of_transpose(plane, cost, shape, form)?,
            way => self.terms(way, cost, shape, form)?,
        };
        let own = self.own_way(shape, form, shuffles, times * SHORT_LOOPS);
        (own.cost <= most && fits(&own.inline)).then_some(own)
    }

    /// The terms for a way that costs so much, of any but transpositions.
    fn terms(&self, way: &Way, cost: usize, shape: &ByteBox, form: Form) -> Option<Terms> {
        let narrow = self.is_narrow();
        let at = |part: usize, of: usize| cost / of * part;
        Some(match way {
            // A line of several windows takes three clocks, one of one window a single one.
            Way::Lines(Program::Narrow(lines), _) if lines.windows > 1 => (at(4, 5), 1, ANY),
            Way::Lines(Program::Narrow(_), _) => (at(2, 5), 1, ANY),
            Way::Rows(Rows::Each { .. }) if narrow && Inline::has_short_rows(shape) => {
                (usize::MAX, 3, ANY)
            }
            Way::Rows(Rows::Sharing { .. }) if narrow && form != Form::Stream => (cost, 3, TILES),
            _ if form == Form::Stream => return None,
            // Lines that straddle two take longer than four vectors, of which each is moved or shuffled at once,
            // and those of many windows load a table for each pair besides. Elements of few bytes take most shuffles.
            Way::Lines(Program::Wide(lines), _) if self.target().core == Core::Zen => {
                match lines.windows.are_few() {
                    true if lines.cut.is_one_unit() => (cost, 1, ANY),
                    true if shape.run < 4 => return None,
                    true => (at(5, 8), 1, ANY),
                    false => (at(9, 8), 1, ANY),
                }
            }
            Way::Packed(plane) if narrow && plane.is_near(self.target()) => (at(3, 2), 3, ANY),
            Way::Packed(_) if narrow => (cost, 3, NO_RUNS),
            // Run by run is as good while the nearest cache has most of the lines that runs come back to.
            Way::Widened(_)
                if narrow
                    && cost::comes_back(shape, 1..LINE) <= self.target().l1 as usize / 2 * 3 =>
            {
                (at(5, 4), 3, VECTORS)
            }
            Way::Through(_) if narrow => (cost, 1, NO_RUNS),
            _ if form == Form::Staged => return None,
            Way::Folded(_) if self.is_as_narrow() => (at(13, 10), 2, ANY),
            Way::Folded(_) if narrow => (at(9, 8), 1, ANY),
            // Channels of floats that no blends are there for.
            Way::Joined(_) if self.target().core == Core::Zen5 && shape.run == 4 => {
                (at(15, 8), 1, TILES)
            }
            // At nine tenths of the cost loops gain by runs of several bytes, and lose by single ones.
            Way::Pressed(_) if narrow && shape.run == 1 => (at(1, 2), 1, ANY),
            Way::Pressed(_) if narrow => (cost, 1, ANY),
            Way::Blended(_) if narrow => (at(2, 5), 1, ANY),
            Way::Rows(Rows::Following) if narrow => {
                (self.most_for_following(shape, cost), 3, VECTORS)
            }
            _ => return None,
        })
    }

    /// The same for register tiles.
    fn terms_of_transpose(
        &self,
        plane: &Plane,
        cost: usize,
        shape: &ByteBox,
        form: Form,
    ) -> Option<Terms> {
        let (target, as_narrow) = (self.target(), self.is_as_narrow());
        let (part, of) = match plane.route {
            _ if form == Form::Stream => return None,
            Route::Staged if as_narrow => (3, 2),
            _ if form == Form::Staged => return None,
            // Rows of few sets, of which a leaf turns to each for some lines.
            _ if plane.together.extent > 1 && target.core == Core::Zen5 => return None,
            _ if plane.goes_by_itself(target) => (1, 1),
            // A leaf moves two elements as wide as a lane at once, a row of either side.
            _ if plane.goes_in_pairs(target) => (3, 4),
            _ if plane.is_thin_or_near(target) => (1, 1),
            Route::Straight if shape.run == 2 => (9, 8),
            Route::Straight if as_narrow => (1, 1),
            Route::Straight if self.is_narrow() => (15, 16),
            _ => return None,
        };
        let times = if shape.run == 2 || as_narrow { 2 } else { 1 };
        let fits = match form {
            Form::Staged => TILES,
            _ if skips_sets(shape) => WHOLE_LINES,
            _ => ANY,
        };
        Some((cost / of * part, times, fits))
    }

    /// The same for an Intel core that has AVX-512: two vectors of sixteen bytes are stored a clock, of which none straddles lines
    /// where elements are as wide, and what straddles costs more than a few of these.
    fn terms_on_cove(&self, way: &Way, cost: usize, shape: &ByteBox, form: Form) -> Option<Terms> {
        let at = |part: usize, of: usize| cost / of * part;
        let near = || cost::comes_back(shape, 1..LINE) <= self.target().l1 as usize / 4;
        Some(match way {
            Way::Joined(_) | Way::Rows(Rows::Following) if form == Form::Rows => {
                (at(5, 2), 3, VECTORS)
            }
            _ if form == Form::Rows => return None,
            Way::Transpose(plane) if matches!(shape.run, 2 | 4) && !plane.has_short_rows() => {
                (cost, 2, ANY)
            }
            Way::Lines(Program::Wide(lines), _) if lines.cut.is_one_unit() => (at(7, 4), 1, HALVES),
            _ if skips_sets(shape) || !near() => return None,
            Way::Transpose(plane) if plane.per_lane == 1 => (cost, 2, VECTORS),
            Way::Lines(Program::Wide(_), _) if shape.run >= 4 => (at(5, 6), 1, ANY),
            _ => return None,
        })
    }

    /// Whether leaves have wide vectors on an Intel core.
    fn is_cove(&self) -> bool {
        self.target().core == Core::Cove && !self.is_narrow()
    }

    /// Whether leaves have vectors no wider than code of its own: they have little more to offer then.
    fn is_as_narrow(&self) -> bool {
        self.features() < Features::Avx2
    }

    /// What loops may cost in place of overlapping rows, of which each innermost loop has to begin.
    fn most_for_following(&self, shape: &ByteBox, cost: usize) -> usize {
        let loops = extent(&shape.steps[..shape.steps.len().saturating_sub(1)]);
        match cost::comes_back(shape, 1..LINE) > self.target().l1 as usize {
            true => cost,
            false => cost.saturating_add(loops.saturating_mul(LOOP)) / 5 * 3,
        }
    }

    /// Tiles in place of a way that costs so much, of a small plane: wide vectors straddle lines, and a leaf has to cut the
    /// plane first. Vectors of sixteen bytes straddle none where rows are made of these; elsewhere narrow elements gain, and
    /// the fewest of others. Channels that a leaf blends are whole lines.
    fn small_tiles(&self, shape: &ByteBox, way: &Way, cost: usize) -> Option<OwnWay> {
        let core = self.target().core;
        let blended = matches!(way, Way::Blended(_));
        let looks = core == Core::Zen || (core == Core::Zen5 || self.is_cove()) && !blended;
        if !looks || !matches!(shape.run, 2 | 4 | 8) {
            return None;
        }
        let plane = Tiles::plane(shape, Shuffles::Words)?;
        let vector = plane.per_lane * plane.cell;
        let whole = plane.row.dst.unsigned_abs().is_multiple_of(vector);
        let most = match (core, shape.run) {
            (Core::Cove, 8) => FEW_TILES / 5 * 4,
            (Core::Zen5, 8) | (Core::Cove, _) => FEW_TILES,
            (Core::Zen5, _) => FEW_TILES / 3 * 4,
            (_, 2 | 4) if whole => cost / 4 * 7,
            (_, 2) => cost / 2 * 3,
            _ => FEW_TILES.max(cost),
        };
        let own = OwnWay::of_tiles(Tiles::looped(plane, false));
        (own.cost <= most).then_some(own)
    }

    /// Halves of vectors in place of a way that costs so much, of a small plane whose sides fill whole ones badly: for a leaf to
    /// find out how to cut it takes as long as to move a few.
    fn small_halves(
        &self,
        shape: &ByteBox,
        way: &Way,
        cost: usize,
        shuffles: Shuffles,
    ) -> Option<OwnWay> {
        let cuts = matches!(way, Way::Transpose(_) | Way::Folded(_) | Way::Rows(_));
        let own = OwnWay::by_halves(shape, shuffles).filter(|_| cuts && self.is_narrow())?;
        let tiles = Tiles::plane(shape, Shuffles::Words).map_or(usize::MAX, |plane| {
            Tiles::looped(plane, false).cost() / 5 * 4
        });
        let fits = own.cost <= FEW_TILES.max(cost).min(tiles) && own.code <= SHORT_LOOPS;
        fits.then_some(own)
    }
}
