//! Rows of which several sources have a part each, in one pass.

use std::borrow::Borrow;
use std::cmp::Reverse;

use restride_loops::{Form, Kernel, Move, Stmt};
use restride_moves::{ByteBox, Planner, Woven};
use smallvec::SmallVec;

use crate::leaf::Leaf;

#[cfg(target_arch = "x86_64")]
mod looms;

/// Moves that one leaf makes.
///
/// It is called with the destination of the first and, in place of a source, with the address of the sources of all: as many
/// addresses as [`Weave::SOURCES`], of which those that there are not may be anything.
pub struct Weave<'s> {
    /// The moves.
    pub moves: SmallVec<[&'s Move; Weave::SOURCES]>,
    /// The leaf.
    pub leaf: Leaf,
    /// What it costs, in about micro-operations.
    pub cost: usize,
}

impl<'s> Weave<'s> {
    /// Sources at most.
    pub const SOURCES: usize = Woven::PARTS;

    /// The moves at the head of some statements that have a part of the same rows each, if making all of them in one pass is the
    /// better way. `steady` says whether a move is always made.
    #[must_use]
    pub fn of(
        stmts: &'s [impl Borrow<Stmt>],
        steady: impl Fn(&Move) -> bool,
        kernel: &Kernel,
        planner: &Planner,
    ) -> Option<Weave<'s>> {
        let beside = side_by_side(stmts, steady);
        let first = *beside.first().filter(|_| beside.len() > 1)?;
        let width = kernel.buffer(first.dst.buffer)?.width.bytes();
        let shape = |it: &&'s Move| Some((*it, ByteBox::of_move(&it.dims, width).ok()?));
        let shapes: SmallVec<[(&Move, ByteBox); Woven::PARTS]> =
            beside.iter().map_while(shape).collect();
        (2..=shapes.len()).find_map(|parts| {
            let mut parts: SmallVec<[_; Woven::PARTS]> = shapes[..parts].iter().collect();
            // The longest part comes first.
            parts.sort_by_key(|(_, shape)| Reverse(shape.run));
            let begins = parts[0].0.dst.addr.base;
            let moves = parts.iter().map(|(it, _)| *it).collect();
            let mut boxes: SmallVec<[(ByteBox, isize); Woven::PARTS]> = SmallVec::new();
            for (it, shape) in parts {
                let behind = isize::try_from(it.dst.addr.base.checked_sub(begins)?).ok()?;
                boxes.push((shape.clone(), behind.checked_mul(width as isize)?));
            }
            let woven = planner.weave(&boxes)?;
            Some(Weave {
                moves,
                leaf: prepare(&woven)?,
                cost: woven.cost(),
            })
        })
    }
}

/// Moves to places of one buffer that are equally far apart whatever variables are, from other buffers.
fn side_by_side(
    stmts: &[impl Borrow<Stmt>],
    steady: impl Fn(&Move) -> bool,
) -> SmallVec<[&Move; Weave::SOURCES]> {
    let mut moves: SmallVec<[&Move; Weave::SOURCES]> = SmallVec::new();
    for stmt in stmts.iter().take(Weave::SOURCES) {
        let Stmt::Move(it) = stmt.borrow() else { break };
        let first = moves.first().map_or(&it.dst, |first| &first.dst);
        let beside = it.dst.buffer == first.buffer && it.dst.addr.terms == first.addr.terms;
        if !beside || it.src.buffer == it.dst.buffer || it.form == Form::Stream || !steady(it) {
            break;
        }
        moves.push(it);
    }
    moves
}

#[cfg(target_arch = "x86_64")]
fn prepare(woven: &Woven) -> Option<Leaf> {
    Some(looms::prepare(woven))
}

#[cfg(not(target_arch = "x86_64"))]
fn prepare(_: &Woven) -> Option<Leaf> {
    None
}
