//! Manners to move boxes, and planners that are held to one: what a choice is measured against.

use restride_loops::Form;

use crate::byte_box::ByteBox;
use crate::channels::Channels;
use crate::cost;
use crate::crowding::Crowded;
use crate::features::Features;
use crate::folded::Folded;
use crate::joined::Joined;
use crate::lines::Program;
use crate::pixels::Pixels;
use crate::plan::{Stores, Way};
use crate::planner::{Planner, tiles};
use crate::squares::Squares;
use crate::through::Through;
use crate::transpose::Plane;

/// What ways to move a box have in common, of which a planner may be held to one: [`Planner::held_to`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// The way that is chosen, called even where code in its place is faster, and on its own where boxes are woven.
    Called,
    /// What is chosen for stores past the caches.
    Past,
    /// Run by run.
    Rows,
    /// In register tiles.
    Tiles,
    /// In tiles for rows that share too few sets,
    Crowded(Crowded),
    /// several planes of them together,
    Together,
    /// or a few rows in turn.
    InTurn,
    /// In tiles whose sides are several dimensions, as costs less,
    Folded,
    /// or as both sides are about as long.
    Even,
    /// A few channels: by blends,
    Blended,
    /// or by permutations of lines.
    Channels,
    /// Short runs that are pressed together.
    Pressed,
    /// In tiles of elements whose width is no power of two.
    Squares,
    /// A few short rows at a time.
    Joined,
    /// Pixels that are split.
    Pixels,
    /// Line by line.
    Lines,
    /// In two moves.
    Through,
}

impl Manner {
    /// All of them, and what they are called.
    pub const ALL: [(Manner, &'static str); 19] = [
        (Manner::Rows, "rows"),
        (Manner::Tiles, "tiles"),
        (Manner::Folded, "folded"),
        (Manner::Blended, "blended"),
        (Manner::Pressed, "pressed"),
        (Manner::Channels, "channels"),
        (Manner::Squares, "squares"),
        (Manner::Joined, "joined"),
        (Manner::Pixels, "pixels"),
        (Manner::Lines, "lines"),
        (Manner::Through, "through"),
        (Manner::Called, "called"),
        (Manner::Past, "past"),
        (Manner::Even, "folded-evenly"),
        (Manner::Together, "together"),
        (Manner::InTurn, "in-turn"),
        (Manner::Crowded(Crowded::Source), "crowded-source"),
        (Manner::Crowded(Crowded::Destination), "crowded-destination"),
        (Manner::Crowded(Crowded::Both), "crowded-sides"),
    ];

    /// Whether costs decide on it. What crowded rows need is known from where they lie.
    fn is_priced(self) -> bool {
        let by_place = matches!(self, Self::Crowded(_) | Self::Together | Self::InTurn);
        !by_place && !matches!(self, Self::Called | Self::Past | Self::Even)
    }
}

impl Planner {
    /// The planner that moves every box in this manner that can be, whatever is chosen else. No box means anything
    /// else by that: this is for holding the choice against others.
    #[must_use]
    pub fn held_to(mut self, manner: Manner) -> Planner {
        self.held_to = Some(manner);
        self
    }

    /// The way in the manner that the planner is held to, if there is one for the box, and what it costs.
    pub(crate) fn held(&self, shape: &ByteBox, form: Form) -> Option<(usize, Way)> {
        self.by(self.held_to?, shape, form)
    }

    /// The manners of which being held to one makes a difference to a kernel that moves some boxes, each another one.
    #[must_use]
    pub fn alternatives(&self, boxes: &[(ByteBox, Form)]) -> Vec<Manner> {
        let chosen = boxes.iter().map(|(shape, form)| self.called(shape, *form));
        let mut seen: Vec<Vec<Option<Way>>> = vec![chosen.collect()];
        let mut manners = Vec::new();
        for (manner, _) in Manner::ALL {
            let held = boxes.iter().map(|(shape, form)| {
                let found = self.by(manner, shape, *form);
                found.map_or_else(|| self.called(shape, *form), |(_, way)| Some(way))
            });
            let held: Vec<Option<Way>> = held.collect();
            let alike =
                |known: &Vec<Option<Way>>| known.iter().zip(&held).all(|(a, b)| alike(a, b));
            // Of several boxes, the choice may be to weave them.
            let woven = manner == Manner::Called && boxes.len() > 1;
            if woven || !seen.iter().any(alike) {
                manners.push(manner);
                seen.push(held);
            }
        }
        manners
    }

    /// The way that a box is moved by a call, if it is.
    fn called(&self, shape: &ByteBox, form: Form) -> Option<Way> {
        let shuffles = self.target().processor.shuffles(self.features());
        let inline = shuffles.and_then(|shuffles| self.inline(shape, form, shuffles));
        inline.is_none().then(|| self.chosen(shape, form).1)
    }

    /// What each way to move a box costs that there is for it, in about micro-operations.
    #[must_use]
    pub fn candidates(&self, shape: &ByteBox) -> Vec<(&'static str, usize)> {
        let all = Manner::ALL.into_iter().map(|(manner, _)| manner);
        let found = all.filter(|manner| manner.is_priced());
        let found = found.filter_map(|manner| self.by(manner, shape, Form::Elements));
        found.map(|(cost, way)| (way.name(), cost)).collect()
    }

    /// The way in a manner, if a box has one, and what it costs.
    pub(crate) fn by(&self, manner: Manner, shape: &ByteBox, form: Form) -> Option<(usize, Way)> {
        let target = self.target();
        let features = self.features();
        // Masks and permutations of bytes are what AVX-512 has.
        let masks = features >= Features::Avx512;
        let plane = || Plane::of(shape, features).filter(Plane::is_for_leaves);
        let plain = || plane().filter(|plane| plane.step == 1 && plane.cell == shape.run);
        let crowded = |plane: &Plane| plane.crowded(target).unwrap_or(Crowded::Both);
        let transposed = |plane| {
            let cost = cost::transpose(&plane, target.core);
            (cost, Way::Transpose(plane))
        };
        let folded = |it: Folded| {
            (
                cost::folded(&it, target),
                Way::Folded(Box::new(it.on(target))),
            )
        };
        match manner {
            Manner::Called => Some(self.chosen(shape, form)),
            Manner::Past => Some(self.chosen(shape, Form::Stream)),
            Manner::Rows => {
                let rows = self.rows(shape, Stores::Cached);
                Some((cost::rows(shape), Way::Rows(rows)))
            }
            Manner::Tiles => plane().map(|plane| tiles(plane, shape, Stores::Cached, target)),
            Manner::Crowded(side) => {
                plain().map(|plane| transposed(plane.staged(Some(side), target)))
            }
            Manner::Together => {
                let found = plain().and_then(|plane| plane.together(crowded(&plane), target));
                found.map(transposed)
            }
            Manner::InTurn => plain()
                .and_then(|plane| plane.in_turn(target))
                .map(transposed),
            Manner::Folded => Folded::of(shape, target).map(folded),
            Manner::Even => Folded::whole(shape, features).map(folded),
            Manner::Blended => {
                let found = self.blended(shape);
                found.map(|it| (cost::blended(&it, shape.run, target.core), Way::Blended(it)))
            }
            Manner::Pressed => self.pressed(shape),
            Manner::Channels => {
                let found = masks.then(|| Channels::of(shape, target)).flatten();
                found.map(|it| (cost::channels(&it), Way::Channels(it)))
            }
            Manner::Squares => {
                let found = masks.then(|| Squares::of(shape)).flatten();
                found.map(|it| (cost::squares(&it), Way::Squares(it)))
            }
            Manner::Joined => {
                let found = masks.then(|| Joined::of(shape, target)).flatten();
                found.map(|(cost, it)| (cost, Way::Joined(Box::new(it))))
            }
            Manner::Pixels => {
                let found = masks.then(|| Pixels::of(shape, target.core)).flatten();
                found.map(|(cost, it)| (cost, Way::Pixels(Box::new(it))))
            }
            Manner::Lines => {
                let found = Program::find(shape, self.lines(), features, usize::MAX);
                found.map(|(cost, it)| (cost, Way::Lines(it, Stores::Cached)))
            }
            Manner::Through => {
                let found = Through::of(shape, self, usize::MAX);
                found.map(|(cost, it)| (cost, Way::Through(it)))
            }
        }
    }
}

/// Whether two decisions on one box are the same.
fn alike(one: &Option<Way>, other: &Option<Way>) -> bool {
    match (one, other) {
        (Some(Way::Transpose(one)), Some(Way::Transpose(other))) => one == other,
        (Some(Way::Folded(one)), Some(Way::Folded(other))) => one == other,
        (Some(one), Some(other)) => one.name() == other.name(),
        _ => one.is_none() && other.is_none(),
    }
}
