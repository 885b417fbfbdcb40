//! Which way a box is moved.

use restride_loops::Form;

use crate::blended::Blended;
use crate::byte_box::{ByteBox, Step, extent};
use crate::cores::Core;
use crate::cost::inline::{FEW_TILES, LARGEST, SHORT_LOOPS, SHORT_ROW};
use crate::cost::{self, LINE, LOOP};
use crate::crowding::{fit, runs_share_sets};
use crate::estimate::ROOM;
use crate::features::Features;
use crate::inline::Inline;
use crate::lines::{Known, Program};
use crate::manner::Manner;
use crate::plan::{MovePlan, Stores, Way};
use crate::pressed::Pressed;
use crate::processor::Shuffles;
use crate::rows::{Rows, skips_sets};
use crate::self_contained::{OwnWay, best};
use crate::target::Target;
use crate::through::Through;
use crate::tiles::Tiles;
use crate::tiling::Route;
use crate::transpose::Plane;
use crate::woven::Woven;

/// Plans moves for one machine, and remembers the patterns of those it has planned: the next box of
/// a pattern takes a tenth of the time. Bounded; to be kept by whoever plans many, and shared.
pub struct Planner {
    target: Target,
    lines: Known,
    pub(crate) held_to: Option<Manner>,
}

impl Planner {
    /// For a machine; where precompiled moves are wanted, as far as this one has its features. Nothing is known yet.
    #[must_use]
    pub fn new(target: &Target) -> Planner {
        Planner {
            target: Target {
                features: match target.precompiled {
                    true => target.features.available(),
                    false => target.features,
                },
                ..target.bounded()
            },
            lines: Known::new(target.core),
            held_to: None,
        }
    }

    /// The machine.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// What precompiled moves may use, which this machine has.
    #[must_use]
    pub fn features(&self) -> Features {
        self.target.features
    }

    /// How precompiled code moves a box. `form` says what is known of what lies around it; a form
    /// that does not fit the box is read as the one that does.
    #[must_use]
    pub fn plan(&self, shape: ByteBox, form: Form) -> MovePlan {
        let found = self.way(&shape, form);
        self.planned(shape, found)
    }

    /// The same for a box that comes after another in a kernel: what is left of a box behind a loop is moved as
    /// what is in it, without another search.
    #[must_use]
    pub fn plan_after(&self, last: Option<&MovePlan>, shape: ByteBox, form: Form) -> MovePlan {
        let again = last.and_then(|last| last.stretched(&shape, stores_of(form)));
        again.unwrap_or_else(|| self.plan(shape, form))
    }

    /// How boxes are moved in one pass, each of which begins so many bytes behind the first one in the destination; nothing if
    /// they are better moved one after the other.
    #[must_use]
    pub fn weave(&self, boxes: &[(ByteBox, isize)]) -> Option<Woven> {
        let weaves = self.target.precompiled && self.held_to.is_none();
        weaves.then(|| Woven::of(boxes, self.features()))?
    }

    /// The patterns that are known.
    pub(crate) fn lines(&self) -> &Known {
        &self.lines
    }

    fn planned(&self, shape: ByteBox, (cost, way): (usize, Way)) -> MovePlan {
        MovePlan {
            shape,
            way: match way {
                Way::Transpose(plane) if plane.route == Route::Straight => {
                    Way::Transpose(plane.on(&self.target))
                }
                way => way,
            },
            cost,
            features: self.features(),
        }
    }

    /// The code that a box should have in a kernel, if that is faster than a call of precompiled code.
    #[must_use]
    pub fn inline(&self, shape: &ByteBox, form: Form, shuffles: Shuffles) -> Option<Inline> {
        if self.held(shape, form).is_some() {
            return None;
        }
        let straight = Inline::straight(shape, shuffles, &self.lines);
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
        let own = self.in_place_of(&way, cost, shape, form, shuffles)?;
        Some(own.inline)
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
        let shuffles = self.target.processor.shuffles(self.features())?;
        let own = self.in_place_of(way, plan.cost(), shape, form, shuffles)?;
        Some((plan.cost().saturating_sub(own.cost), own.code))
    }

    /// Whether loops may be faster than leaves that have the machine's widest vectors.
    fn has_loops(&self, shape: &ByteBox, form: Form) -> bool {
        match form {
            Form::Staged => self.features() < Features::Avx2,
            Form::Rows => self.is_narrow() && shape.run <= SHORT_ROW,
            Form::Stream => self.is_narrow(),
            // A Zen stores one such vector a clock and a whole line in two, a Zen 5 two and one.
            _ => self.is_narrow() || self.target.core != Core::Cove,
        }
    }

    /// Whether leaves have neither masks nor permutations of wide registers.
    fn is_narrow(&self) -> bool {
        self.features() < Features::Avx512
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
        let (narrow, as_narrow) = (self.is_narrow(), self.features() < Features::Avx2);
        if shape.bytes() <= LARGEST && !matches!(form, Form::Stream | Form::Staged) {
            let halves = || self.small_halves(shape, way, cost, shuffles);
            if let Some(own) = halves().or_else(|| self.small_tiles(shape, cost)) {
                return Some(own);
            }
        }
        let most = match way {
            // A line of several windows takes three clocks, one of one window a single one.
            Way::Lines(Program::Narrow(lines), _) if lines.windows > 1 => cost / 5 * 4,
            Way::Lines(Program::Narrow(_), _) => cost / 5 * 2,
            Way::Rows(Rows::Each { .. }) if narrow && Inline::has_short_rows(shape) => usize::MAX,
            Way::Rows(Rows::Sharing { .. }) if narrow && form != Form::Stream => cost,
            _ if form == Form::Stream => return None,
            // Lines that straddle two take longer than four vectors, of which each is moved or shuffled at once,
            // and those of many windows load a table for each pair besides. Elements of few bytes take most shuffles.
            Way::Lines(Program::Wide(lines), _) if self.target.core == Core::Zen => {
                match lines.windows.are_few() {
                    true if lines.cut.is_one_unit() => cost,
                    true if shape.run < 4 => return None,
                    true => cost / 8 * 5,
                    false => cost / 8 * 9,
                }
            }
            Way::Packed(plane) if narrow && plane.is_near(&self.target) => cost / 2 * 3,
            Way::Packed(_) | Way::Through(_) if narrow => cost,
            // With vectors that are no wider than theirs, a leaf has little more to offer.
            Way::Transpose(plane) if as_narrow && plane.route == Route::Staged => cost / 2 * 3,
            _ if form == Form::Staged => return None,
            Way::Folded(_) if as_narrow => cost / 10 * 13,
            Way::Folded(_) if narrow => cost / 8 * 9,
            // At nine tenths of the cost loops gain by runs of several bytes, and lose by single ones.
            Way::Pressed(_) if narrow && shape.run == 1 => cost / 2,
            Way::Pressed(_) if narrow => cost,
            Way::Blended(_) if narrow => cost / 5 * 2,
            Way::Rows(Rows::Following) if narrow => self.most_for_following(shape, cost),
            // A leaf moves two elements as wide as a lane at once, a row of either side.
            Way::Transpose(plane) if plane.goes_in_pairs(&self.target) => cost / 4 * 3,
            Way::Transpose(plane) if plane.is_thin_or_near(&self.target) => cost,
            Way::Transpose(plane) if plane.route != Route::Straight => return None,
            Way::Transpose(_) if shape.run == 2 => cost / 8 * 9,
            Way::Transpose(_) if as_narrow => cost,
            Way::Transpose(_) if narrow => cost / 16 * 15,
            _ => return None,
        };
        // Rows that step have more code than loops, and so have short ones of which many fill vectors together: worth it only
        // beside narrow vectors.
        let room = match way {
            Way::Packed(_) | Way::Rows(_) if narrow => 3 * SHORT_LOOPS,
            Way::Transpose(_) if shape.run == 2 => 2 * SHORT_LOOPS,
            Way::Transpose(_) | Way::Folded(_) if as_narrow => 2 * SHORT_LOOPS,
            _ => SHORT_LOOPS,
        };
        let own = self.own_way(shape, form, shuffles, room);
        // Runs go through the source in the order of the destination, and so turn to each of its lines often.
        let scattered = match (way, &own.inline) {
            (Way::Packed(plane), Inline::Runs) => !plane.is_near(&self.target),
            (Way::Through(_), Inline::Runs) => true,
            (Way::Transpose(_), it) if form == Form::Staged => !matches!(it, Inline::Tiles(_)),
            (Way::Transpose(_), Inline::Runs | Inline::Cells(_)) => skips_sets(shape),
            (Way::Rows(Rows::Sharing { .. }), it) => !matches!(it, Inline::Tiles(_)),
            (Way::Rows(Rows::Following), it) => !matches!(it, Inline::Cells(_)),
            _ => false,
        };
        (own.cost <= most && !scattered).then_some(own)
    }

    /// What loops may cost in place of overlapping rows, of which each innermost loop has to begin. Rows come back to a line of
    /// the source when the nearest cache does not have it any more if there are so many in between.
    fn most_for_following(&self, shape: &ByteBox, cost: usize) -> usize {
        let shares = |step: &Step| (1..LINE).contains(&step.src.unsigned_abs());
        let outer = shape.steps.iter().position(shares);
        let between = outer.map_or(1, |outer| extent(&shape.steps[outer + 1..]));
        let loops = extent(&shape.steps[..shape.steps.len().saturating_sub(1)]);
        match between.saturating_mul(LINE) > self.target.l1 as usize {
            true => cost,
            false => cost.saturating_add(loops.saturating_mul(LOOP)) / 5 * 3,
        }
    }

    /// Tiles in place of a way that costs so much, of a small plane: wide vectors straddle lines, and a leaf has to cut the
    /// plane first. Vectors of sixteen bytes straddle none where rows are made of these; elsewhere narrow elements gain, and
    /// the fewest of others.
    fn small_tiles(&self, shape: &ByteBox, cost: usize) -> Option<OwnWay> {
        if self.target.core != Core::Zen || !matches!(shape.run, 2 | 4 | 8) {
            return None;
        }
        let plane = Tiles::plane(shape, Shuffles::Words)?;
        let vector = plane.per_lane * plane.cell;
        let most = match plane.row.dst.unsigned_abs().is_multiple_of(vector) {
            true if shape.run < 8 => cost / 4 * 7,
            false if shape.run == 2 => cost / 2 * 3,
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

    /// The code that moves a box without any call, of about so many instructions at most if there is
    /// any that short.
    #[must_use]
    pub fn self_contained(
        &self,
        shape: &ByteBox,
        form: Form,
        shuffles: Shuffles,
        room: usize,
    ) -> Inline {
        self.own_way(shape, form, shuffles, room).inline
    }

    /// The code that moves a box without any call on the planner's machine, by name, and the instructions that it
    /// executes, about; then what the others would.
    #[must_use]
    pub fn own(&self, shape: &ByteBox, form: Form) -> Vec<(&'static str, usize)> {
        let shuffles = self.target.processor.shuffles(self.features());
        let mut ways = self.own_ways(shape, form, shuffles);
        let best = best(&ways, ROOM);
        ways.swap(0, best);
        ways.into_iter()
            .map(|way| (way.inline.name(), way.cost))
            .collect()
    }

    fn way(&self, shape: &ByteBox, form: Form) -> (usize, Way) {
        let held = self.held(shape, form);
        held.unwrap_or_else(|| self.chosen(shape, form))
    }

    pub(crate) fn chosen(&self, shape: &ByteBox, form: Form) -> (usize, Way) {
        let rows = cost::rows(shape);
        if form == Form::Elements && shape.bytes() < cost::WORTH_A_SEARCH {
            return (rows, Way::Rows(self.rows(shape, Stores::Cached)));
        }
        let best = self.without_search(shape, form);
        match (form, &best.1) {
            (_, Way::Transpose(plane)) if plane.route != Route::Straight => return best,
            (Form::Staged, Way::Folded(_)) => return best,
            (Form::Staged, Way::Rows(_)) if shape.run == 16 => return best,
            (_, Way::Channels(plan)) if plan.is_alone() => return best,
            // Lines go through the source in the order of the destination.
            (_, Way::Rows(Rows::Sharing { .. })) => return best,
            _ => {}
        }
        let limit = match best.1 {
            // Lines of a few bytes take two clocks and more.
            Way::Rows(Rows::Following) if self.is_narrow() => best.0 / 2 * 5,
            Way::Rows(_) => rows,
            // A unit of a program of wide lines stands for less time.
            Way::Joined(_) | Way::Pixels(_) => best.0.saturating_mul(2),
            _ => best.0,
        };
        let lines = Program::find(shape, &self.lines, self.features(), limit);
        let lines = lines.filter(|(cost, lines)| match &best.1 {
            // Tables of many windows do not stay in registers, which takes twice the time.
            Way::Joined(_) | Way::Pixels(_) => *cost < best.0 / 2 * 3 || lines.are_held(),
            _ => true,
        });
        let lines = lines.map(|(cost, program)| (cost, Way::Lines(program, stores_of(form))));
        let best = lines.unwrap_or(best);
        if form == Form::Stream {
            return best;
        }
        // What two calls take is known less well than what loops do.
        let through = Through::of(shape, self, best.0 / 5 * 4);
        through.map_or(best, |(cost, through)| (cost, Way::Through(through)))
    }

    /// Channels by blends.
    pub(crate) fn blended(&self, shape: &ByteBox) -> Option<Blended> {
        match self.features() {
            Features::Avx2 => Blended::in_lanes(shape),
            Features::Avx512 => Blended::in_lines(shape),
            _ => None,
        }
    }

    /// Short runs that are pressed together, and what they cost.
    pub(crate) fn pressed(&self, shape: &ByteBox) -> Option<(usize, Way)> {
        let found = (self.features() == Features::Avx2).then(|| Pressed::of(shape))?;
        found.map(|(cost, it)| (cost, Way::Pressed(Box::new(it))))
    }

    pub(crate) fn rows(&self, shape: &ByteBox, stores: Stores) -> Rows {
        match stores {
            Stores::Cached => Rows::of(shape, &self.target),
            Stores::Past => Rows::past(shape, &self.target),
        }
    }

    /// As [`Planner::plan`], by the ways that are found without a search, if that costs less than `limit`.
    pub(crate) fn simply(&self, shape: ByteBox, limit: usize) -> Option<MovePlan> {
        let found = self.without_search(&shape, Form::Elements);
        (found.0 < limit).then(|| self.planned(shape, found))
    }

    /// By where rows lie, if that decides, and otherwise what costs least of what is found without a search.
    fn without_search(&self, shape: &ByteBox, form: Form) -> (usize, Way) {
        let features = self.features();
        let past = form == Form::Stream;
        let rows = match past {
            true => cost::rows(shape),
            false => cost::rows_in_clocks(shape),
        };
        let stores = stores_of(form);
        let plane = Plane::of(shape, features).filter(Plane::is_for_leaves);
        let mut few = self.few(shape, form);
        if let Some(channels) = few.take_crowded() {
            return channels;
        }
        if !past
            && let Some(plane) = &plane
            && let Some(found) = self.by_place(shape, form, plane, &few)
        {
            return found;
        }
        let mut best = (rows, Way::Rows(self.rows(shape, stores)));
        if let Some(plane) = plane {
            best = match (form, tiles(plane, shape, stores, &self.target)) {
                (_, (cost, Way::Transpose(plane))) if past && plane.route != Route::Straight => {
                    return (cost, Way::Transpose(plane));
                }
                // Elements of a lane are runs, which keep to lines of a source whose rows all begin in one set.
                (_, (_, Way::Transpose(plane)))
                    if plane.per_lane == 1
                        && plane.step == 1
                        && (!self.target.is_zen_in_lines()
                            || plane.column.src as i64 % self.target.l1_way.max(1) == 0)
                        && matches!(best.1, Way::Rows(Rows::Sharing { .. })) =>
                {
                    best
                }
                // Of a plain transposition, tiles are the last resort.
                (_, (cost, way @ Way::Transpose(..))) => (rows.min(cost), way),
                (_, (cost, way)) if cost < rows => (cost, way),
                _ => best,
            };
        }
        if !past {
            let priced = [
                Manner::Folded,
                Manner::Squares,
                Manner::Joined,
                Manner::Pixels,
            ];
            for manner in priced {
                let found = self.by(manner, shape, form);
                best = found.filter(|(cost, _)| *cost < best.0).unwrap_or(best);
            }
        }
        for found in [few.channels, few.blended, self.pressed(shape)] {
            best = found.filter(|(cost, _)| *cost < best.0).unwrap_or(best);
        }
        best
    }

    /// What there is for a few channels.
    fn few(&self, shape: &ByteBox, form: Form) -> Few {
        let past = form == Form::Stream;
        let channels = match past {
            true => None,
            false => self.by(Manner::Channels, shape, form),
        };
        // What is stored past the caches, lines of patterns do where there are any that are as wide.
        let blended = self.blended(shape).filter(|_| !past || self.is_narrow());
        // As many channels as a set has ways do not drive each other out.
        let ways = self.target.core.ways();
        Few {
            channels,
            uncrowded: blended.as_ref().is_some_and(|it| it.strip.pitch <= ways),
            blended: blended.map(|plan| (cost::blended(&plan, shape.run), Way::Blended(plan))),
        }
    }

    /// How a plain transposition is moved whose rows share too few sets of the nearest cache.
    fn by_place(
        &self,
        shape: &ByteBox,
        form: Form,
        plane: &Plane,
        few: &Few,
    ) -> Option<(usize, Way)> {
        let target = &self.target;
        // Channels use every line whole.
        let plain = plane.step == 1 && plane.cell == shape.run && few.channels.is_none();
        if !plain || !plane.is_worth_a_stage(target) {
            return None;
        }
        let cost = cost::transpose(plane, target.core);
        let crowded = plane.crowded(target);
        let staged = form == Form::Staged || form == Form::Rows && crowded.is_some();
        // What lies together on one side is continued by other dimensions.
        let (rows, columns) = (plane.row.extent, plane.column.extent);
        let spread = || fit(target, target.ways() / 2, plane.column.src, columns);
        let folds = staged
            && (rows.min(columns) * shape.run < LINE || columns * shape.run == LINE && spread());
        let folded = || folds.then(|| self.by(Manner::Even, shape, form))?;
        let transposed = |plane| (cost, Way::Transpose(plane));
        let together = || plane.together(crowded?, target);
        let planes = || together().or_else(|| plane.in_turn(target)).map(transposed);
        // As wide as a lane and anywhere in a line, they fill vectors run by run, wherever in a page the other side lies.
        let in_runs = shape.run == 16 && crowded.is_some() && plane.column.src % LINE as isize != 0;
        let on_stage = || match in_runs {
            true => (cost, Way::Rows(self.rows(shape, Stores::Cached))),
            false => transposed(plane.clone().staged(crowded, target)),
        };
        let in_lines = plane.per_lane >= 8 && target.is_zen_in_lines();
        let found = match folds && (in_lines || !runs_share_sets(target, shape)) {
            true => folded().or_else(planes),
            false => planes().or_else(folded),
        };
        found.or_else(|| staged.then(on_stage))
    }
}

/// What a few channels are split or joined by.
struct Few {
    channels: Option<(usize, Way)>,
    blended: Option<(usize, Way)>,
    /// Whether there are blends of channels that do not drive each other out of the nearest cache.
    uncrowded: bool,
}

impl Few {
    /// Channels that nothing else is looked for.
    fn take_crowded(&mut self) -> Option<(usize, Way)> {
        let alone =
            |(_, way): &mut (usize, Way)| matches!(way, Way::Channels(plan) if plan.is_alone());
        match self.uncrowded {
            false => self.channels.take_if(alone),
            true => None,
        }
    }
}

pub(crate) fn stores_of(form: Form) -> Stores {
    match form {
        Form::Stream => Stores::Past,
        _ => Stores::Cached,
    }
}

/// What register tiles cost for a plane, and how they are filled.
pub(crate) fn tiles(
    plane: Plane,
    shape: &ByteBox,
    stores: Stores,
    target: &Target,
) -> (usize, Way) {
    let stores = match plane.step {
        1 => stores,
        // Elements as wide as a lane are moved one by one in any case.
        _ if plane.per_lane == 1 => Stores::Cached,
        _ => {
            return (
                cost::packed(&plane, shape.bytes()),
                Way::Packed(plane.packed()),
            );
        }
    };
    if plane.cell != shape.run {
        let cost = cost::widened(&plane);
        return (cost, Way::Widened(plane.widened(target)));
    }
    let cost = cost::transpose(&plane, target.core);
    match stores {
        Stores::Cached => (cost, Way::Transpose(plane)),
        Stores::Past => (cost, Way::Transpose(plane.past(target))),
    }
}

impl std::fmt::Debug for Planner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Planner")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}
