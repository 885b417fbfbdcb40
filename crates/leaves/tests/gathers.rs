//! Gathers at every level, index type and policy against the naive loop, between guard pages.

mod common;

use common::arena::planners;
use common::{Guarded, hull, points};
use restride_leaves::{Features, GatherLeaf, Planner, Target};
use restride_loops::{BufferId, Dim, Gather, IndexType, NamedRows, Norm, Place, Random};
use smallvec::SmallVec;

fn naive(
    gather: &Gather,
    indices: &[i128],
    width: usize,
    src: &[u8],
    dst: &mut [u8],
    at: (i64, i64),
) {
    for (i, &value) in indices.iter().enumerate() {
        let limit = gather.norm.limit as i128;
        let mut x = value;
        if gather.norm.wrap && x < 0 {
            x += limit;
        }
        if gather.norm.clamp {
            x = x.clamp(0, limit - 1);
        }
        let inside = (0..limit).contains(&x);
        let dims: Vec<_> = gather
            .dims
            .iter()
            .map(|d| (d.extent, d.dst, d.src))
            .collect();
        points(&dims, &mut |d, s| {
            let d = (at.0 + (d + i as i64 * gather.dst_stride) * width as i64) as usize;
            let to = &mut dst[d..d + width];
            if inside {
                let s = (at.1 + (s + x as i64 * gather.coeff) * width as i64) as usize;
                to.copy_from_slice(&src[s..s + width]);
            } else {
                to.fill(0);
            }
        });
    }
}

/// Indices of which one in `wild` is anything but the number of a row; none if that is 0.
fn values(random: &mut Random, ty: IndexType, limit: i64, n: usize, wild: usize) -> Vec<i128> {
    (0..n)
        .map(|_| {
            let limit = limit as i128;
            let tame = random.below(limit as usize) as i128;
            let wilder = [
                limit - 1,
                limit,
                -limit,
                -limit - 1,
                -1,
                i64::MIN as i128,
                i64::MAX as i128,
            ];
            let value = match wild > 0 && random.below(wild) == 0 {
                true => random.pick(&wilder),
                false => tame,
            };
            ty.widen(value as u64)
        })
        .collect()
}

/// So many random bytes.
fn filled(random: &mut Random, len: usize) -> Guarded {
    let mut arena = Guarded::new(len);
    arena.bytes().fill_with(|| random.bits() as u8);
    arena
}

/// Whether all planners' leaves do what a gather of `n` rows says, somewhere in two arenas.
fn agree(random: &mut Random, gather: &Gather, width: usize, [src, dst]: [&mut Guarded; 2]) {
    let (ty, norm, n) = (gather.norm.ty, &gather.norm, gather.extent as usize);
    let wild = random.pick(&[0, 0, 1, 20]);
    let indices = match gather.index_stride {
        0 => vec![values(random, ty, norm.limit, 1, wild)[0]; n],
        _ => values(random, ty, norm.limit, n, wild),
    };
    let iw = ty.width().bytes();
    let spread = (n as i64 - 1).max(0) * gather.index_stride;
    let mut stored = Guarded::new((spread.unsigned_abs() as usize + 1) * iw);
    let first = if spread < 0 { stored.len() / iw - 1 } else { 0 } as i64;
    let first = if spread > 0 {
        (stored.len() / iw) as i64 - 1 - spread
    } else {
        first
    };
    for (i, &value) in indices.iter().enumerate() {
        let at = (first + i as i64 * gather.index_stride) as usize * iw;
        stored.bytes()[at..at + iw].copy_from_slice(&value.to_le_bytes()[..iw]);
    }
    let mut dst_dims: Vec<_> = gather.dims.iter().map(|d| (d.extent, d.dst)).collect();
    dst_dims.push((n.max(1) as i64, gather.dst_stride));
    let mut src_dims: Vec<_> = gather.dims.iter().map(|d| (d.extent, d.src)).collect();
    src_dims.push((norm.limit, gather.coeff));
    let (dst_low, dst_len) = hull(&dst_dims, width);
    let (src_low, src_len) = hull(&src_dims, width);
    if dst_len > dst.len() || src_len > src.len() {
        return;
    }
    let high = random.below(2) == 1;
    let at = (
        if high { dst.len() - dst_len } else { 0 } as i64 - dst_low,
        if high { src.len() - src_len } else { 0 } as i64 - src_low,
    );
    let mut want = vec![0x5a; dst.len()];
    naive(gather, &indices, width, src.bytes(), &mut want, at);
    let source = src.start().wrapping_offset(at.1 as isize);
    // What is known before the call is laid for the place in a line where the source begins, or for another one.
    let mut gather = gather.clone();
    gather.src.addr.base = match random.below(3) {
        0 => 1,
        _ => (source.addr() % 64 / width) as i64,
    };
    let named: NamedRows = indices.iter().map(|&value| norm.select(value)).collect();
    let known = (n <= 512).then_some(named);
    for (planner, named) in planners()
        .iter()
        .flat_map(|it| [(it, None), (it, known.clone())])
    {
        let is_known = named.is_some();
        let leaf = GatherLeaf::prepare(&gather, width, named, planner).unwrap();
        dst.bytes().fill(0x5a);
        // SAFETY: every row and index was placed inside its arena.
        unsafe {
            leaf.call(
                dst.start().wrapping_offset(at.0 as isize),
                source,
                stored.start().wrapping_offset(first as isize * iw as isize),
            );
        }
        assert!(
            want == dst.bytes(),
            "{planner:?} width {width} wild {wild} known {is_known} {gather:?}"
        );
    }
}

#[test]
fn rows_by_index() {
    let mut random = Random::new(3);
    let (mut src, mut dst) = (filled(&mut random, 1 << 18), Guarded::new(1 << 18));
    for round in 0..6000 {
        let width = random.pick(&[1usize, 2, 4, 8, 16]);
        let ty = random.pick(&IndexType::ALL);
        let norm = Norm {
            ty,
            limit: random.pick(&[1, 2, 7, 60, 120]),
            wrap: random.below(2) == 0,
            clamp: random.below(2) == 0,
        };
        let row = random
            .pick(&[1, 1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 64, 100])
            .min(800 / width as i64);
        let n = if round % 50 == 0 {
            1100
        } else {
            random.pick(&[3, 11, 40, 40, 200]).min(random.below(400))
        };
        let mut dims: SmallVec<[Dim; 4]> = SmallVec::new();
        let mut dst_stride = 2 * row + 1;
        match random.below(5) {
            // Indices along the innermost dimension of the destination.
            4 => {
                let lanes = random.pick(&[1, 1, 2, 3]);
                // Points may follow each other, on as many lines as they like.
                let step = (n as i64 + random.pick(&[0, 1, 100])) * lanes;
                let points = random.pick(&[2, 7, 40]);
                dims.push(Dim {
                    extent: random.pick(&[3, 9]),
                    dst: 2 * points * step,
                    src: 7,
                });
                dims.push(Dim {
                    extent: points,
                    dst: random.pick(&[-step, step]),
                    src: row + random.pick(&[0, 1]),
                });
                dims.push(Dim {
                    extent: lanes,
                    dst: 1,
                    src: 1,
                });
                dst_stride = lanes;
            }
            0 => dims.push(Dim {
                extent: row,
                dst: 1,
                src: -1,
            }),
            2 => dims.push(Dim {
                extent: row,
                dst: -1,
                src: -1,
            }),
            1 => {
                dims.push(Dim {
                    extent: 2,
                    dst: row + 1,
                    src: row,
                });
                dims.push(Dim {
                    extent: row,
                    dst: 1,
                    src: 1,
                });
            }
            _ => {
                dims.push(Dim {
                    extent: row,
                    dst: 1,
                    src: 1,
                });
                // Rows that follow each other.
                dst_stride = random.pick(&[row, row + 1]);
            }
        }
        let gather = Gather {
            extent: n as i64,
            index: Place::at(BufferId(0), 0),
            index_stride: random.pick(&[1, 1, 2, 0, -1]),
            norm,
            dst: Place::at(BufferId(0), 0),
            dst_stride,
            src: Place::at(BufferId(0), 0),
            coeff: random.pick(&[1, row, row + 1, -row]),
            dims,
        };
        agree(&mut random, &gather, width, [&mut src, &mut dst]);
    }
}

/// Elements that are picked out of rows, some of which follow each other: `n` times some lanes of each of so many.
fn picks_of(random: &mut Random, points: i64, n: i64, arenas: [&mut Guarded; 2]) {
    let width = random.pick(&[1usize, 2, 4, 8]);
    let lanes = random.pick(&[1, 1, 2, 3, 4]);
    let limit = random.pick(&[2, 9, 30]);
    let step = n * lanes + random.pick(&[0, 0, 1, lanes]);
    let norm = Norm {
        ty: random.pick(&[IndexType::U8, IndexType::I32]),
        limit,
        wrap: false,
        clamp: false,
    };
    let planes = random.pick(&[1, 2]);
    let dims = [
        (planes, points * step + 3, 7),
        (points, step, limit * lanes + random.pick(&[0, 1, 3, 70])),
        (lanes, 1, 1),
    ];
    let gather = Gather {
        extent: n,
        index: Place::at(BufferId(0), 0),
        index_stride: 1,
        norm,
        dst: Place::at(BufferId(0), 0),
        dst_stride: lanes,
        src: Place::at(BufferId(0), 0),
        coeff: random.pick(&[lanes, lanes, -lanes, 1]),
        dims: dims
            .map(|(extent, dst, src)| Dim { extent, dst, src })
            .into_iter()
            .collect(),
    };
    agree(random, &gather, width, arenas);
}

#[test]
fn picks() {
    let mut random = Random::new(5);
    let (mut src, mut dst) = (filled(&mut random, 1 << 16), Guarded::new(1 << 16));
    for _ in 0..6000 {
        let n = 1 + random.below(18) as i64;
        let points = random.pick(&[1, 3, 40, 100]);
        picks_of(&mut random, points, n, [&mut src, &mut dst]);
    }
}

/// So many rows that several of them, of more than a line together, are worth tables of their own.
#[test]
fn picks_of_many_rows() {
    let mut random = Random::new(7);
    let (mut src, mut dst) = (filled(&mut random, 1 << 18), Guarded::new(1 << 17));
    for _ in 0..1000 {
        let n = 1 + random.below(40) as i64;
        let points = 600 + random.below(900) as i64;
        picks_of(&mut random, points, n, [&mut src, &mut dst]);
    }
}

/// Elements that lie half a line apart, of rows whose places in a line wander: those at the end need more windows than the first.
#[test]
fn picks_whose_last_rows_straddle_more() {
    let mut random = Random::new(6);
    let (mut src, mut dst) = (filled(&mut random, 1 << 16), Guarded::new(1 << 13));
    for _ in 0..100 {
        let points = 200 + random.below(16) as i64;
        let gather = Gather {
            extent: 2,
            index: Place::at(BufferId(0), 0),
            index_stride: 1,
            norm: Norm {
                ty: IndexType::U8,
                limit: 2,
                wrap: false,
                clamp: false,
            },
            dst: Place::at(BufferId(0), 0),
            dst_stride: 1,
            src: Place::at(BufferId(0), 0),
            coeff: 8,
            dims: [Dim {
                extent: points,
                dst: 2,
                src: 33,
            }]
            .into_iter()
            .collect(),
        };
        agree(&mut random, &gather, 4, [&mut src, &mut dst]);
    }
}

/// Short rows of small tables, so many of them that the table is taken apart first.
#[test]
fn palettes() {
    let mut random = Random::new(12);
    let mut taken_apart = 0;
    for round in 0..1500 {
        let (width, row) = random.pick(&[
            (1usize, 1i64),
            (1, 2),
            (1, 3),
            (1, 4),
            (2, 1),
            (2, 2),
            (4, 1),
        ]);
        let ty = random.pick(&IndexType::ALL);
        let limit = random.pick(&[1, 2, 16, 100, 127, 128, 129, 200, 255, 256]);
        let n = 256 + random.below(3000);
        let gather = Gather {
            extent: n as i64,
            index: Place::at(BufferId(0), 0),
            index_stride: 1,
            norm: Norm {
                ty,
                limit,
                wrap: random.below(2) == 0,
                clamp: random.below(2) == 0,
            },
            dst: Place::at(BufferId(0), 0),
            dst_stride: row,
            src: Place::at(BufferId(0), 0),
            coeff: random.pick(&[row, row, row + 1, -row]),
            dims: [Dim {
                extent: row,
                dst: 1,
                src: 1,
            }]
            .into_iter()
            .collect(),
        };
        let indices = values(&mut random, ty, limit, n, usize::from(round % 3 == 0));
        let iw = ty.width().bytes();
        let mut stored = Guarded::new(n * iw);
        let end = stored.len() - n * iw;
        for (to, value) in stored.bytes()[end..].chunks_exact_mut(iw).zip(&indices) {
            to.copy_from_slice(&value.to_le_bytes()[..iw]);
        }
        let (low, length) = hull(&[(row, 1), (limit, gather.coeff)], width);
        let mut src = filled(&mut random, length);
        let mut dst = Guarded::new(n * row as usize * width);
        let at = (
            (dst.len() - n * row as usize * width) as i64,
            (src.len() - length) as i64 - low,
        );
        let mut want = vec![0x5a; dst.len()];
        naive(&gather, &indices, width, src.bytes(), &mut want, at);
        for planner in &planners() {
            let plan = planner.gather(&gather, width, None).unwrap();
            taken_apart += usize::from(plan.way().name() == "table in registers");
            let leaf = GatherLeaf::of(&plan);
            dst.bytes().fill(0x5a);
            // SAFETY: every row and index was placed inside its arena.
            unsafe {
                leaf.call(
                    dst.start().wrapping_offset(at.0 as isize),
                    src.start().wrapping_offset(at.1 as isize),
                    stored.start().wrapping_add(end),
                );
            }
            assert!(want == dst.bytes(), "{planner:?} width {width} {gather:?}");
        }
    }
    let wide = Features::Avx512.is_available();
    assert!(taken_apart > 1000 || !wide, "{taken_apart}");
}

/// Stored past the caches, at the alignment of a line and off it, on machines whose caches hold little.
#[test]
fn many_rows_of_a_large_table() {
    const ROW: usize = 192;
    const LIMIT: usize = (4 << 20) / ROW;
    const ROWS: usize = 8000;
    let small = |planner: Planner| {
        let target = planner.target().clone();
        Planner::new(&Target {
            past_from: 2 << 20,
            ..target
        })
    };
    let planners: Vec<Planner> = planners().into_iter().map(small).collect();
    let (mut src, mut dst) = (Guarded::new(ROW * LIMIT), Guarded::new(ROW * ROWS + 64));
    for (at, byte) in src.bytes().iter_mut().enumerate() {
        *byte = (at ^ (at >> 8) ^ (at >> 16)) as u8;
    }
    let mut random = Random::new(11);
    for wild in [0, 1] {
        let mut indices = values(&mut random, IndexType::I64, LIMIT as i64, ROWS, wild);
        // The last of those that become offsets together, which is moved with the next ones, is outside.
        indices[511] = LIMIT as i128;
        let stored: Vec<u8> = indices
            .iter()
            .flat_map(|&value| (value as i64).to_le_bytes())
            .collect();
        let gather = Gather {
            extent: ROWS as i64,
            index: Place::at(BufferId(0), 0),
            index_stride: 1,
            norm: Norm {
                ty: IndexType::I64,
                limit: LIMIT as i64,
                wrap: true,
                clamp: false,
            },
            dst: Place::at(BufferId(0), 0),
            dst_stride: ROW as i64,
            src: Place::at(BufferId(0), 0),
            coeff: ROW as i64,
            dims: [Dim {
                extent: ROW as i64,
                dst: 1,
                src: 1,
            }]
            .into_iter()
            .collect(),
        };
        for at in [0, 36, 64] {
            let mut want = vec![0x5a; dst.len()];
            let src_bytes = src.bytes();
            naive(&gather, &indices, 1, src_bytes, &mut want, (at, 0));
            for planner in &planners {
                let plan = planner.gather(&gather, 1, None).unwrap();
                assert_eq!(plan.way().name(), "rows past the caches");
                let leaf = GatherLeaf::of(&plan);
                dst.bytes().fill(0x5a);
                // SAFETY: every row and index is inside its arena.
                unsafe {
                    leaf.call(
                        dst.start().wrapping_offset(at as isize),
                        src.start(),
                        stored.as_ptr(),
                    );
                }
                assert!(want == dst.bytes(), "{planner:?} at {at} wild {wild}");
            }
        }
    }
}

/// An axis along which nothing moves may be longer than 32 bits count.
#[test]
fn an_element_that_is_repeated_without_end() {
    let limit = (1 << 33) + 3;
    let indices: Vec<i64> = (0..100).map(|n| limit - 1 - (n << 26)).collect();
    let source = 0x0123_4567_u32;
    let dims = SmallVec::from_slice(&[Dim {
        extent: 1,
        dst: 1,
        src: 1,
    }]);
    let gather = Gather {
        extent: indices.len() as i64,
        index: Place::at(BufferId(0), 0),
        index_stride: 1,
        norm: Norm {
            ty: IndexType::I64,
            limit,
            wrap: false,
            clamp: false,
        },
        dst: Place::at(BufferId(0), 0),
        dst_stride: 1,
        src: Place::at(BufferId(0), 0),
        coeff: 0,
        dims,
    };
    for planner in &planners() {
        let leaf = GatherLeaf::prepare(&gather, 4, None, planner).unwrap();
        let mut found = vec![0u32; indices.len()];
        let src = (&raw const source).cast();
        // SAFETY: every index is below the limit, and all of them name the one element.
        unsafe { leaf.call(found.as_mut_ptr().cast(), src, indices.as_ptr().cast()) };
        assert!(found.iter().all(|it| *it == source), "{planner:?}");
    }
}
