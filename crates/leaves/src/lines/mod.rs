//! Line programs at full vector width: one kernel per kind of machine runs what was planned.

mod narrow;
mod row;
mod wide;

use restride_moves::lines::Program;
use restride_moves::{ByteBox, Stores};

use crate::leaf::Leaf;
pub(crate) use row::Both;

/// The leaf that runs a program.
pub(crate) fn prepare(shape: &ByteBox, program: &Program, stores: Stores) -> Option<Leaf> {
    match program {
        Program::Narrow(found) => Some(narrow::prepare(shape, found)),
        Program::Wide(found) => wide::prepare(shape, found, stores),
    }
}
