//! Transposes that are drawn at random.

use restride_graph::ElementType;
use restride_testkit::generate::Random;

use super::cases::{Line, WIDTHS, line, transpose, width};

/// All that are drawn.
pub(super) fn lines() -> impl Iterator<Item = Line> {
    let all = [TENSORS, SMALL, MIXED].into_iter();
    all.flat_map(|drawn| WIDTHS.map(|element| drawn.of(element)))
}

/// Transposes that are not regular, among which rules for regular ones may go astray.
struct Drawn {
    class: &'static str,
    bytes: std::ops::Range<i64>,
    /// How many axes they have,
    ranks: [usize; 5],
    /// and of which sizes.
    sizes: [i64; 24],
}

/// How many are drawn of each type.
const DRAWN: usize = 40;

/// Channels, heads, windows, images.
const TENSORS: Drawn = Drawn {
    class: "drawn",
    bytes: 16 << 10..1 << 20,
    ranks: [2, 2, 3, 3, 4],
    sizes: [
        2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 96, 100, 128, 192, 240, 256, 320, 512, 768, 1000,
        1024, 2048,
    ],
};

/// What is moved in less time than it takes to get ready.
const SMALL: Drawn = Drawn {
    class: "small",
    bytes: 256..16 << 10,
    ranks: [2, 2, 3, 3, 4],
    sizes: [
        2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 24, 25, 30, 32, 49, 64, 100,
    ],
};

/// Several axes of which most are powers of two, so that much lies in few sets of a cache.
const MIXED: Drawn = Drawn {
    class: "mixed",
    bytes: 32 << 10..2 << 20,
    ranks: [3, 4, 4, 4, 5],
    sizes: [
        2, 2, 3, 4, 4, 4, 6, 8, 8, 8, 12, 16, 16, 16, 24, 32, 32, 32, 64, 64, 128, 128, 256, 512,
    ],
};

impl Drawn {
    fn of(&self, element: ElementType) -> Line {
        let mut random = Random::new(width(element) as u64);
        let draw = || {
            let rank = random.pick(&self.ranks);
            let shape: Vec<i64> = (0..rank).map(|_| random.pick(&self.sizes)).collect();
            let perm = random.permutation(rank).into_iter().map(|it| it as i64);
            (shape, perm.collect::<Vec<_>>())
        };
        let is_moved = |(shape, perm): &(Vec<i64>, Vec<i64>)| {
            let bytes = width(element) * shape.iter().product::<i64>();
            perm[perm.len() - 1] + 1 < perm.len() as i64 && self.bytes.contains(&bytes)
        };
        let points = std::iter::repeat_with(draw).filter(is_moved).take(DRAWN);
        let points = points.map(|(shape, perm)| {
            let graph = transpose(&shape, element, &perm);
            (format!("{shape:?} by {perm:?}"), graph)
        });
        let name = format!("{} transposes", element.name());
        line(self.class, name, false, points)
    }
}
