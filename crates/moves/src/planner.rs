//! Which way a box is moved.

use restride_loops::Form;

use crate::blended::Blended;
use crate::byte_box::ByteBox;
use crate::cost::{self, LINE};
use crate::crowding::{fit, runs_share_sets};
use crate::features::Features;
use crate::lines::{Known, Program};
use crate::manner::Manner;
use crate::plan::{MovePlan, Stores, Way};
use crate::pressed::Pressed;
use crate::rows::Rows;
use crate::target::Target;
use crate::through::Through;
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

    /// Whether leaves have neither masks nor permutations of wide registers.
    pub(crate) fn is_narrow(&self) -> bool {
        self.features() < Features::Avx512
    }

    pub(crate) fn way(&self, shape: &ByteBox, form: Form) -> (usize, Way) {
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
            (Form::Staged, Way::Folded(_)) => return self.or_through(shape, best),
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
        match form {
            Form::Stream => best,
            _ => self.or_through(shape, best),
        }
    }

    /// A way, or two moves if they cost notably less: what two calls take is known less well than what loops do, and what waits
    /// for lines of few sets takes longer than it costs.
    fn or_through(&self, shape: &ByteBox, best: (usize, Way)) -> (usize, Way) {
        let limit = match &best.1 {
            Way::Folded(folded) if folded.crowded.is_some() || folded.stage.is_some() => {
                best.0 / 5 * 6
            }
            _ => best.0 / 5 * 4,
        };
        let through = Through::of(shape, self, limit);
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
        let priced: &[Manner] = match past {
            false => &[
                Manner::Folded,
                Manner::Squares,
                Manner::Joined,
                Manner::Pixels,
            ],
            // Narrower elements have tiles.
            true if shape.run > 8 => &[Manner::Squares],
            true => &[],
        };
        for manner in priced {
            let found = self.by(*manner, shape, form);
            best = found.filter(|(cost, _)| *cost < best.0).unwrap_or(best);
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
        let core = self.target.core;
        // As many channels as a set has ways do not drive each other out.
        let ways = core.ways();
        Few {
            channels,
            uncrowded: blended.as_ref().is_some_and(|it| it.strip.pitch <= ways),
            blended: blended
                .map(|plan| (cost::blended(&plan, shape.run, core), Way::Blended(plan))),
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
        return (cost, Way::Widened(plane.widened(stores, target)));
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
