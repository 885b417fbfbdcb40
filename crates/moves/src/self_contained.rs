//! Code that moves a box by itself, whatever its size: no leaf takes over where it is long.
//!
//! Its vectors have sixteen bytes. Of the ways that there are, the one with the fewest instructions for
//! the whole box is taken, if the code itself has room for it; loops go around what is repeated.

use restride_loops::Form;

use crate::byte_box::ByteBox;
use crate::cells::{Cells, Shuffles};
use crate::cost::TURN;
use crate::cost::inline::{WORTH_A_SEARCH, loads};
use crate::inline::Inline;
use crate::lines::{Known, Program};
use crate::tiles::Tiles;

/// The code for a box, of about `room` instructions at most where there is any so short.
pub(crate) fn self_contained(
    shape: &ByteBox,
    form: Form,
    shuffles: Shuffles,
    known: &Known,
    room: usize,
) -> Inline {
    let runs = shape.runs().saturating_mul(2 * loads(shape.run));
    if runs <= WORTH_A_SEARCH || shape.steps.is_empty() {
        return Inline::Runs;
    }
    // A loop of runs has eight loads and stores a turn.
    let runs = match shuffles {
        Shuffles::Tables => runs.saturating_add(runs / 16 * TURN),
        Shuffles::Words | Shuffles::Bytes => runs,
    };
    let mut best = (runs, Inline::Runs);
    let mut offer = |cost: usize, code: usize, inline: Inline| {
        // Of equals, tiles use whole lines of memory.
        if cost <= best.0 && code <= room {
            best = (cost, inline);
        }
    };
    if let Some(plane) = Tiles::plane(shape, shuffles) {
        let tiles = Tiles::looped(plane, form == Form::Staged);
        offer(tiles.cost(), tiles.code(), Inline::Tiles(Box::new(tiles)));
    }
    let mut offer_cells = |cells: Cells| {
        if cells.cost < runs {
            offer(cells.cost, cells.code(), Inline::Cells(Box::new(cells)));
        }
    };
    Cells::of(shape, shuffles)
        .into_iter()
        .for_each(&mut offer_cells);
    if shuffles != Shuffles::Words {
        let lines = Program::narrow(shape, known, usize::MAX);
        lines
            .map(|(_, units)| Cells::of_lines(&units, shuffles))
            .into_iter()
            .for_each(&mut offer_cells);
    }
    best.1
}
