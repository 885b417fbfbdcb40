//! Code that moves a box by itself, whatever its size: no leaf takes over where it is long.
//!
//! Its vectors have sixteen bytes. Of the ways that there are, the one with the fewest instructions for
//! the whole box is taken, if the code itself has room for it; loops go around what is repeated.

use restride_loops::Form;

use crate::byte_box::ByteBox;
use crate::cells::Cells;
use crate::cost::TURN;
use crate::cost::inline::{WORTH_A_SEARCH, loads};
use crate::crowding::{Crowded, runs_share_sets, share_sets};
use crate::estimate::ROOM;
use crate::halves::Halves;
use crate::inline::Inline;
use crate::lines::Program;
use crate::planner::Planner;
use crate::processor::Shuffles;
use crate::target::Target;
use crate::tiles::Tiles;

/// A way to move a box.
pub(crate) struct OwnWay {
    /// Instructions that it executes, about.
    pub(crate) cost: usize,
    /// Instructions that it has.
    pub(crate) code: usize,
    pub(crate) inline: Inline,
}

impl OwnWay {
    /// In square tiles.
    pub(crate) fn of_tiles(tiles: Tiles) -> OwnWay {
        OwnWay {
            cost: tiles.cost(),
            code: tiles.code(),
            inline: Inline::Tiles(Box::new(tiles)),
        }
    }

    /// By halves of vectors, if a box fits them.
    pub(crate) fn by_halves(shape: &ByteBox, shuffles: Shuffles) -> Option<OwnWay> {
        let plane = Halves::of(shape, shuffles)?;
        let (cost, code) = plane.cost_and_code();
        let inline = Inline::Halves(Box::new(plane));
        Some(OwnWay { cost, code, inline })
    }
}

impl Planner {
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
        let shuffles = self.target().processor.shuffles(self.features());
        let mut ways = self.own_ways(shape, form, shuffles);
        let best = best(&ways, ROOM);
        ways.swap(0, best);
        ways.into_iter()
            .map(|way| (way.inline.name(), way.cost))
            .collect()
    }

    /// The way for a box, of about `room` instructions at most where there is any so short.
    pub(crate) fn own_way(
        &self,
        shape: &ByteBox,
        form: Form,
        shuffles: Shuffles,
        room: usize,
    ) -> OwnWay {
        let mut ways = self.own_ways(shape, form, Some(shuffles));
        let best = best(&ways, room);
        ways.swap_remove(best)
    }

    /// All ways for a box that are worth a look; runs are the first.
    pub(crate) fn own_ways(
        &self,
        shape: &ByteBox,
        form: Form,
        shuffles: Option<Shuffles>,
    ) -> Vec<OwnWay> {
        let (inline, code) = (Inline::Runs, 0);
        // Without vectors, sixteen bytes are two registers.
        let each = match shuffles {
            Some(_) => loads(shape.run),
            None => loads(shape.run).max(shape.run.div_ceil(8)),
        };
        let runs = shape.runs().saturating_mul(2 * each);
        // A loop of runs has eight loads and stores a turn.
        let cost = match shuffles {
            Some(Shuffles::Words | Shuffles::Bytes) => runs,
            Some(Shuffles::Tables) | None => runs.saturating_add(runs / 16 * TURN),
        };
        let mut ways = vec![OwnWay { cost, code, inline }];
        let is_short = runs <= WORTH_A_SEARCH || shape.steps.is_empty();
        let Some(shuffles) = shuffles.filter(|_| !is_short) else {
            return ways;
        };
        if let Some(plane) = Tiles::plane(shape, shuffles) {
            ways.push(OwnWay::of_tiles(Tiles::looped(plane, form == Form::Staged)));
        }
        ways.extend(OwnWay::by_halves(shape, shuffles));
        let mut offer = |cells: Cells| {
            ways.push(OwnWay {
                cost: cells.cost,
                code: cells.code(),
                inline: Inline::Cells(Box::new(cells)),
            });
        };
        Cells::of(shape, shuffles).into_iter().for_each(&mut offer);
        // Whole vectors have nothing to be shuffled: where a line of each row can not stay, they go in tiles.
        let whole = shape.run.is_multiple_of(16);
        if shuffles != Shuffles::Words && !(whole && crowds(shape, self.target())) {
            let lines = Program::narrow(shape, self.lines(), usize::MAX);
            let lines = lines.map(|(_, units)| Cells::of_lines(&units, shuffles));
            lines.into_iter().for_each(&mut offer);
        }
        ways
    }
}

/// Which of some ways has the fewest instructions, of those that there is room for: runs, or a later one.
pub(crate) fn best(ways: &[OwnWay], room: usize) -> usize {
    let mut best = 0;
    for (at, way) in ways.iter().enumerate().skip(1) {
        let before = ways.get(best).map_or(0, |best| best.cost);
        // Of equals, tiles use whole lines of memory.
        let is_better = match &way.inline {
            Inline::Cells(_) => best != 0 && way.cost <= before || way.cost < before,
            Inline::Tiles(_) | Inline::Halves(_) | Inline::Runs => way.cost <= before,
        };
        if is_better && way.code <= room {
            best = at;
        }
    }
    best
}

/// Whether the first runs of a box, in the order of either side, share too few sets of the nearest cache on the other one.
fn crowds(shape: &ByteBox, target: &Target) -> bool {
    let mut by_source = shape.steps.clone();
    by_source.sort_by_key(|step| step.src.unsigned_abs());
    let by_source = by_source.iter().map(|it| (it.extent, it.dst));
    let rows = Crowded::UNDER_WAY as usize;
    runs_share_sets(target, shape) || share_sets(target, by_source, rows)
}
