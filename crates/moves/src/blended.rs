//! Channels that are split or joined by blends of vectors: on a machine that shuffles bytes within lanes of sixteen, but permutes
//! nothing wider, and with lanes of whole lines on one that permutes these.
//!
//! An odd number of channels has no factor in common with the elements of a lane. So in as many lanes as there are channels,
//! one after the other in memory, each channel has every place of a lane once: blends collect these in one lane, and a shuffle
//! puts them in order. In the lanes as they should be, the element at place `j` is one of those `j` lanes on; moving it there
//! takes a blend of every lane for each bit of `j`. An even number of channels is an odd one of wider elements, which are
//! taken apart by a shuffle that does so anyway, and by the steps of a transposition of a few lanes.

use crate::byte_box::{ByteBox, Step};
use crate::channels::Strip;
use crate::cost::{LINE, NEAREST};

/// How channels are split or joined, or one of them is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blended {
    /// What is split or joined. Rows go backwards in the source only where one channel of each is taken.
    pub strip: Strip,
    /// The bytes of a lane: 16, of which two are a vector, or 64.
    pub lane: usize,
    /// How many channels there are: so many,
    pub odd: usize,
    /// times so many, a power of two.
    pub even: usize,
}

impl Blended {
    /// Registers hold a vector of so many channels.
    const MOST: usize = 15;
    /// The same with what joining them takes beside.
    const HELD: usize = 12;
    /// The most bytes of all of narrow elements; more fill tiles as well.
    const NARROW: usize = 24;
    /// Of how many channels one is taken at most, and of how many several are that are not all.
    const ONE: usize = 8;
    const SOME: usize = 4;

    /// With vectors of two lanes. Nothing if no side has rows of a few elements, or the other side does not fill a vector; nor
    /// where tiles of registers are as good.
    pub(crate) fn in_lanes(shape: &ByteBox) -> Option<Blended> {
        let width = shape.run;
        let fits = |channels: usize, pitch: usize| match channels {
            1 => width <= 2 && pitch <= Self::ONE,
            _ if channels == pitch => channels <= Self::MOST,
            _ => channels < pitch && pitch == Self::SOME,
        };
        let strip = Strip::of(shape, fits).or_else(|| stepping(shape, |pitch| fits(1, pitch)))?;
        let channels = strip.pitch;
        let found = Self::new(strip, 16);
        let fits = match width {
            1 | 2 => found.even * width < found.lane && channels * width <= Self::NARROW,
            4 => found.odd == 3,
            _ => false,
        };
        found.fills(width).then_some(found).filter(|_| fits)
    }

    /// With lines that are permuted. Fewer channels are patterns of a few windows, and powers of two are squares.
    pub(crate) fn in_lines(shape: &ByteBox) -> Option<Blended> {
        let strip = Strip::of(shape, |channels, pitch| {
            channels == pitch && (3..=Self::MOST).contains(&channels) && !channels.is_power_of_two()
        })?;
        let held = strip.splits || strip.pitch <= Self::HELD;
        let found = Self::new(strip, 64);
        (held && found.fills(shape.run)).then_some(found)
    }

    fn new(strip: Strip, lane: usize) -> Blended {
        let even = 1 << strip.pitch.trailing_zeros();
        let odd = strip.pitch / even;
        Blended {
            strip,
            lane,
            odd,
            even,
        }
    }

    /// Whether the channels fill vectors.
    fn fills(&self, width: usize) -> bool {
        self.strip.long.extent >= self.vector() / width
    }

    /// Whether every vector of several channels goes to two lines, which may be far by then and to neither of which another one has
    /// just been stored.
    pub(crate) fn is_scattered(&self, width: usize) -> bool {
        let strip = &self.strip;
        let straddles = !strip.apart().unsigned_abs().is_multiple_of(LINE);
        let far = strip.long.extent * strip.pitch * width > NEAREST;
        strip.splits && straddles && far && strip.pitch > 4
    }

    /// The bytes of a vector.
    #[must_use]
    pub fn vector(&self) -> usize {
        self.lane.max(32)
    }

    /// How many blends each lane goes through.
    #[must_use]
    pub fn blends(&self) -> usize {
        self.odd.next_power_of_two().ilog2() as usize
    }
}

/// The innermost dimension, if it steps through the source by so many elements, as one channel of so many.
fn stepping(shape: &ByteBox, fits: impl Fn(usize) -> bool) -> Option<Strip> {
    let (long, outer) = shape.steps.split_last()?;
    let width = shape.run;
    let pitch = long.src.unsigned_abs() / width;
    let steps = (pitch * width) as isize == long.src.abs() && long.src != width as isize;
    let row = long.dst == width as isize;
    (steps && row && pitch > 0 && fits(pitch)).then(|| Strip {
        long: *long,
        short: Step::NONE,
        pitch,
        splits: true,
        start: (0, 0),
        outer: outer.into(),
    })
}
