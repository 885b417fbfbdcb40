//! Channels that are split or joined on a machine that shuffles bytes within lanes of sixteen and blends vectors, but permutes
//! nothing wider.
//!
//! An odd number of channels has no factor in common with the elements of a lane. So in as many lanes as there are channels,
//! one after the other in memory, each channel has every place of a lane once: blends collect these in one lane, and a shuffle
//! puts them in order. In the lanes as they should be, the element at place `j` is one of those `j` lanes on; moving it there
//! takes a blend of every lane for each bit of `j`. An even number of channels is an odd one of wider elements, which are
//! taken apart by a shuffle that does so anyway, and by the steps of a transposition of a few lanes.

use std::ops::RangeInclusive;

use crate::byte_box::ByteBox;
use crate::channels::Strip;

/// How channels are split or joined with vectors of two lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blended {
    /// What is split or joined.
    pub strip: Strip,
    /// How many channels there are: so many,
    pub odd: usize,
    /// times so many, a power of two.
    pub even: usize,
}

impl Blended {
    /// Registers hold a vector of each.
    const CHANNELS: RangeInclusive<usize> = 2..=15;
    /// The most bytes of all of narrow elements; more fill tiles as well.
    const NARROW: usize = 24;
    /// The bytes of a lane, and of a vector.
    pub const LANE: usize = 16;
    const VECTOR: usize = 2 * Self::LANE;

    /// Nothing if no side has so many elements that are rows next to each other, the other side does not fill a vector, or
    /// tiles of registers are as good.
    pub(crate) fn of(shape: &ByteBox) -> Option<Blended> {
        let strip = Strip::of(shape, Self::CHANNELS)?;
        let (width, channels) = (shape.run, strip.short.extent);
        let even = 1 << channels.trailing_zeros();
        let odd = channels / even;
        let fits = match width {
            1 | 2 => even * width < Self::LANE && channels * width <= Self::NARROW,
            4 => odd == 3,
            _ => false,
        };
        let fills = strip.long.extent >= Self::VECTOR / width;
        (fits && fills).then_some(Blended { strip, odd, even })
    }

    /// How many blends each lane goes through.
    #[must_use]
    pub fn blends(&self) -> usize {
        self.odd.next_power_of_two().ilog2() as usize
    }
}
