//! How one box of bytes is moved: decided here, from numbers alone, and carried out elsewhere.
//!
//! A [`Planner`] knows a [`Target`]: caches, lines, vectors. Given a box in its one normal form
//! ([`ByteBox`]), it answers with a [`MovePlan`] for precompiled moves, and, where a call would cost
//! more than the move, with the [`Inline`] code that machine code should have in its place. Leaves
//! and code generator carry that out and choose nothing.
//!
//! What ways cost is said in one file, [`mod@cost`], on what terms code of its own takes the place of each in another, `instead`,
//! and `tests/plans.txt` shows what follows from both.

mod blended;
mod byte_box;
mod cells;
mod channels;
mod cores;
pub mod cost;
mod crowding;
mod error;
mod estimate;
mod features;
mod folded;
mod gather;
mod halves;
mod host;
mod inline;
mod instead;
mod joined;
pub mod lines;
mod manner;
mod named;
mod picked;
mod pixels;
mod plan;
mod planner;
mod pressed;
mod processor;
mod rows;
mod self_contained;
mod squares;
mod target;
mod through;
mod tiles;
mod tiling;
mod transpose;
mod vector;
mod woven;

pub use blended::Blended;
pub use byte_box::{ByteBox, MAX_RANK, Step, Steps, extent, following, reach};
pub use cells::{Cells, Part};
pub use channels::{Channels, Strip};
pub use cores::Core;
pub use crowding::{Crowded, fill_few_sets};
pub use error::{BoxError, TargetError};
pub use features::Features;
pub use folded::{FEW_ROWS, Folded};
pub use gather::{AT_ONCE, GatherPlan, GatherWay, Indices, REGISTERS};
pub use halves::{HalfPart, Halves};
pub use inline::Inline;
pub use joined::{Joined, ShortRows};
pub use manner::Manner;
pub use named::{NamedCode, NamedRun};
pub use picked::{
    KnownRows, PICKED_LINES, PICKED_TOGETHER, PICKED_WINDOWS, POINTS_TOGETHER, PickWindows,
    ROW_WINDOWS, line_from,
};
pub use pixels::{Patch, Pixels};
pub use plan::{MovePlan, Stores, Way};
pub use planner::Planner;
pub use pressed::Pressed;
pub use processor::{Processor, Shuffles};
pub use rows::{PLATFORM, Rows};
pub use squares::Squares;
pub use target::Target;
pub use through::Through;
pub use tiles::{STAGE, Tiles};
pub use tiling::{PACKED_ROW, Route, STAGED, Tiling, pitch};
pub use transpose::Plane;
pub use vector::Vector;
pub use woven::{Repeated, Strands, Vectors, Woven};
