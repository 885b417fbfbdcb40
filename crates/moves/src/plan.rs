//! The plan of one box.

use crate::byte_box::ByteBox;
use crate::channels::Channels;
use crate::features::Features;
use crate::folded::Folded;
use crate::lines::Program;
use crate::ragged::RaggedCut;
use crate::squares::Squares;
use crate::through::Through;
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

    /// The way and the box, to be carried out.
    #[must_use]
    pub fn into_parts(self) -> (ByteBox, Way) {
        (self.shape, self.way)
    }
}

/// Ways to move a box.
pub enum Way {
    /// Run by run.
    Rows(Stores),
    /// In register tiles.
    Transpose(Plane, Stores),
    /// In register tiles that are collected on the stack first: rows of one side share too few sets
    /// of the nearest cache.
    Staged(Plane),
    /// As `Transpose`, of rows that step through the source: their elements are packed together first.
    Packed(Plane),
    /// As `Transpose`, of elements of three or six bytes: they are spread out first, and pressed together
    /// again.
    Widened(Plane),
    /// As `Transpose`, of sides that are several dimensions each.
    Folded(Box<Folded>),
    /// As `Transpose`, of a few channels whose rows are dense.
    Channels(Channels),
    /// As `Transpose`, of elements whose width is no power of two.
    Squares(Squares),
    /// In tiles under a mask.
    Ragged(RaggedCut),
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
            Self::Rows(Stores::Cached) => "rows",
            Self::Rows(Stores::Past) => "rows past the caches",
            Self::Transpose(_, Stores::Cached) => "transpose",
            Self::Transpose(_, Stores::Past) => "transpose past the caches",
            Self::Staged(_) => "staged",
            Self::Packed(_) => "packed",
            Self::Widened(_) => "widened",
            Self::Folded(_) => "folded",
            Self::Channels(_) => "channels",
            Self::Squares(_) => "squares",
            Self::Ragged(_) => "ragged",
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
