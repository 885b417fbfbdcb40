//! Parts of rows that are moved in one pass, at every level, against the naive loop and between guard pages.

mod common;

use common::arena::{dim, planners};
use common::{Guarded, hull, points};
use restride_leaves::{Features, Weave};
use restride_loops::{
    Buffer, BufferId, Dim, Form, Image, Kernel, Move, Place, Random, Role, Stmt, Width,
};

/// Room for the destination and for each source.
const ROOM: usize = 1 << 16;

/// A part: its box, and where it begins in the destination.
type Part = (Vec<Dim>, i64);

struct Loom {
    dst: Guarded,
    src: Vec<Guarded>,
    /// How often parts were woven.
    woven: usize,
}

impl Loom {
    fn new() -> Loom {
        let mut random = Random::new(5);
        let mut src: Vec<Guarded> = (0..Weave::SOURCES).map(|_| Guarded::new(ROOM)).collect();
        for byte in src.iter_mut().flat_map(|src| src.bytes().iter_mut()) {
            *byte = random.bits() as u8;
        }
        let dst = Guarded::new(ROOM);
        Loom { dst, src, woven: 0 }
    }

    /// Moves the parts, all of them in the order that is given, at every level; sources and destination touch their guard pages
    /// at the front if `low`, or at the end.
    fn check(&mut self, parts: &[Part], width: Width, low: bool) {
        let bytes = width.bytes();
        let image = Image {
            offset: 0,
            dims: [(1, 1)].into_iter().collect(),
        };
        let buffer = |role| Buffer {
            role,
            width,
            len: (ROOM / bytes) as i64,
        };
        let sources = (0..parts.len() as u32).map(|number| buffer(Role::In(number)));
        let kernel = Kernel {
            name: "woven".into(),
            buffers: [buffer(Role::Out(0, image))]
                .into_iter()
                .chain(sources)
                .collect(),
            phases: Default::default(),
        };
        let stmts: Vec<Stmt> = parts
            .iter()
            .zip(1..)
            .map(|((dims, at), number)| {
                Stmt::Move(Move {
                    dst: Place::at(BufferId(0), *at),
                    src: Place::at(BufferId(number), 0),
                    dims: dims.iter().copied().collect(),
                    form: Form::Elements,
                })
            })
            .collect();
        // The whole of the destination lies at one end of its room.
        let ends = parts.iter().map(|(dims, at)| {
            let (start, len) = hull(
                &dims.iter().map(|d| (d.extent, d.dst)).collect::<Vec<_>>(),
                bytes,
            );
            assert_eq!(start, 0);
            len as i64 + at * bytes as i64
        });
        let all = ends.max().unwrap() as usize;
        let dst_at = if low { 0 } else { ROOM - all };
        for planner in planners() {
            let Some(woven) = Weave::of(&stmts, |_| true, &kernel, &planner) else {
                continue;
            };
            self.woven += 1;
            assert_eq!(woven.moves.len(), parts.len());
            let mut want = vec![0xa5; ROOM];
            let mut addresses = [std::ptr::null::<u8>(); Weave::SOURCES];
            for (it, address) in woven.moves.iter().zip(&mut addresses) {
                let of_src: Vec<_> = it.dims.iter().map(|d| (d.extent, d.src)).collect();
                let (start, len) = hull(&of_src, bytes);
                let src = &mut self.src[it.src.buffer.0 as usize - 1];
                let src_at = if low { 0 } else { ROOM - len } as i64 - start;
                *address = src.start().wrapping_offset(src_at as isize);
                let dims: Vec<_> = it.dims.iter().map(|d| (d.extent, d.dst, d.src)).collect();
                let src = src.bytes();
                points(&dims, &mut |d, s| {
                    let d = dst_at + (d + it.dst.addr.base) as usize * bytes;
                    let s = (src_at + s * bytes as i64) as usize;
                    want[d..d + bytes].copy_from_slice(&src[s..s + bytes]);
                });
            }
            self.dst.bytes().fill(0xa5);
            let first = dst_at + woven.moves[0].dst.addr.base as usize * bytes;
            // SAFETY: all hulls were placed inside of their rooms.
            unsafe {
                let dst = self.dst.start().wrapping_add(first);
                woven.leaf.call(dst, addresses.as_ptr().cast());
            }
            let differs = |at: &usize| want[*at] != self.dst.bytes()[*at];
            if let Some(at) = (0..ROOM).find(differs) {
                panic!("{:?} low {low}: byte {at} of {parts:?}", planner.target());
            }
        }
    }
}

const WIDTHS: [Width; 5] = [Width::W1, Width::W2, Width::W4, Width::W8, Width::W16];

/// Parts of so many elements of as many rows.
fn dense(rows: i64, sizes: &[i64]) -> Vec<Part> {
    let pitch: i64 = sizes.iter().sum();
    let mut at = 0;
    let part = |&size: &i64| {
        at += size;
        (vec![dim(rows, pitch, size), dim(size, 1, 1)], at - size)
    };
    sizes.iter().map(part).collect()
}

#[test]
fn every_two_sizes() {
    let mut loom = Loom::new();
    for first in 1..=31 {
        for second in 1..=32 - first {
            for rows in [2, 7, 16, 33, 64, 65, 100, 257] {
                loom.check(&dense(rows, &[first, second]), Width::W1, rows % 2 == 0);
            }
        }
    }
    let levels = Features::WIDTHS.iter().filter(|level| level.is_available());
    assert!(loom.woven > 2500 * (levels.count() - 1), "{}", loom.woven);
}

#[test]
fn elements_that_are_stacked() {
    let mut loom = Loom::new();
    for width in WIDTHS {
        for parts in 2..=Weave::SOURCES {
            for rows in 1..300 {
                loom.check(&dense(rows, &vec![1; parts]), width, rows % 2 == 0);
            }
        }
    }
    assert!(loom.woven > 5000, "{}", loom.woven);
}

/// Some parts, rows that are apart in the sources, dimensions around, in any order.
#[test]
fn random_parts() {
    let mut loom = Loom::new();
    let mut random = Random::new(9);
    for round in 0..4000 {
        let width = random.pick(&WIDTHS);
        let parts = 2 + random.below(3);
        let sizes: Vec<i64> = (0..parts).map(|_| 1 + random.below(6) as i64).collect();
        let pitch: i64 = sizes.iter().sum();
        let outer: Vec<i64> = (0..random.below(3))
            .map(|_| 2 + random.below(3) as i64)
            .collect();
        let rows = 2 + random.below(60) as i64;
        let gap = random.below(3) as i64 * pitch;
        let mut at = 0;
        let mut all: Vec<Part> = Vec::new();
        for &size in &sizes {
            let step = size
                + if random.below(3) == 0 {
                    random.below(3) as i64
                } else {
                    0
                };
            let mut dims = vec![dim(rows, pitch, step), dim(size, 1, 1)];
            let (mut dst, mut src) = (rows * pitch + gap, rows * step);
            for &extent in &outer {
                src += random.below(2) as i64 * random.below(9) as i64;
                dims.insert(0, dim(extent, dst, src));
                (dst, src) = (dst * extent, src * extent);
            }
            all.push((dims, at));
            at += size;
        }
        random.shuffle(&mut all);
        let most = pitch * (rows + 2) * outer.iter().product::<i64>() * 4;
        if (most as usize * width.bytes()) < ROOM {
            loom.check(&all, width, round % 2 == 0);
        }
    }
    assert!(loom.woven > 1000, "{}", loom.woven);
}
