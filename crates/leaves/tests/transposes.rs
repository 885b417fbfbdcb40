//! Transpositions of every form, level and width against the naive loop, between guard pages.

mod common;

use common::arena::{Arena, dim};
use common::hull;
use restride_leaves::{Core, Features, Leaf, Planner, Target};
use restride_loops::{Dim, Form, Random};
use restride_moves::ByteBox;

#[test]
fn every_small_transpose() {
    let mut arena = Arena::new(1 << 17);
    for width in [1, 2, 4, 8, 16] {
        for rows in [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 70] {
            for columns in [1, 2, 3, 4, 5, 8, 13, 16, 17, 24, 31, 32, 40, 64, 65] {
                let forms = [Form::Transpose, Form::Staged, Form::Stream];
                let form = forms[(rows % 3) as usize];
                let (ld, ls) = (columns + rows % 3, rows + columns % 2);
                let dims = [dim(rows, ld, 1), dim(columns, 1, ls)];
                arena.check(&dims, width, form, columns % 2 == 0, (rows % 5) as usize);
            }
        }
    }
}

/// Pixels and the like: elements of a few bytes, of which a square fits registers, or a part of one.
#[test]
fn elements_of_any_width() {
    let mut arena = Arena::new(1 << 17);
    for width in (3..16).filter(|n: &i64| n.count_ones() > 1) {
        for rows in [2, 3, 4, 7, 9, 16, 17, 35] {
            for columns in [2, 3, 4, 5, 8, 13, 16, 33, 97] {
                // Dense, with gaps around every row, and backwards.
                let (ld, ls) = (columns * width + rows % 3, rows * width + columns % 2);
                let forwards = [
                    dim(rows, ld, width),
                    dim(columns, width, ls),
                    dim(width, 1, 1),
                ];
                let back = [
                    dim(rows, ld, -width),
                    dim(columns, width, -ls),
                    dim(width, 1, 1),
                ];
                let (low, shift) = (columns % 2 == 0, (rows % 5) as usize);
                arena.check(&forwards, 1, Form::Transpose, low, shift);
                arena.check(&back, 1, Form::Rows, low, shift);
            }
        }
    }
}

#[test]
fn transposes_of_several_tiles() {
    let mut arena = Arena::new(1 << 20);
    for (width, most) in [(1, 1200), (2, 700), (4, 320), (8, 150), (16, 80)] {
        for rows in [64, 65, 100, 130] {
            for columns in [most, most - 31, most / 2 + 1, 64] {
                for (gap, shift) in [(0, 0), (1, 16), (64, 5), (16, 64), (7, 32)] {
                    let dims = [dim(rows, columns + gap, 1), dim(columns, 1, rows + gap % 3)];
                    for form in [Form::Stream, Form::Staged] {
                        arena.check(&dims, width, form, shift % 32 == 0, shift);
                    }
                }
            }
        }
    }
}

/// Planes of rows that begin anywhere, of what the last cache does not hold.
#[test]
fn transposes_from_afar_by_planes() {
    let mut arena = Arena::new(1 << 21);
    for width in [1, 2, 4, 8] {
        for (planes, rows, columns) in [(7, 70, 301), (40, 66, 67), (9, 64, 100), (1, 129, 515)] {
            let (src, dst) = (rows + 3, columns + 1);
            let far = dim(planes, rows * dst, columns * src);
            let dims = [far, dim(rows, dst, 1), dim(columns, 1, src)];
            arena.check(&dims, width, Form::Stream, rows % 2 == 0, 5);
            // Rows of the destination go on in the planes.
            let finer = dim(planes, columns, columns * src);
            let dims = [finer, dim(rows, planes * columns, 1), dim(columns, 1, src)];
            arena.check(&dims, width, Form::Stream, rows % 2 == 0, 7);
        }
    }
}

/// Whole lines of what the last cache does not hold, which may begin anywhere.
#[test]
fn whole_lines_past_the_caches() {
    let mut arena = Arena::new(1 << 20);
    let mut names = std::collections::BTreeSet::new();
    for width in [1, 2, 4, 8] {
        let line = 64 / width as i64;
        for (rows, lines, gap) in [(64, 4, 0), (65, 5, 0), (100, 9, 1), (131, 6, 0)] {
            for shift in [0, 16, 5, 32, 24] {
                let columns = lines * line;
                let dims = [
                    dim(rows, columns + gap * line, 1),
                    dim(columns, 1, rows + gap),
                ];
                names.extend(arena.check(&dims, width, Form::Stream, shift % 32 == 0, shift));
            }
        }
    }
    let collected = names.contains("collected, past the caches");
    let has_wide = Features::detect() >= Features::Avx2;
    assert_eq!(collected, has_wide, "{names:?}");
}

/// Rows that begin anywhere in a line, in tiles of several lines and in runs.
#[test]
fn transposes_of_rows_that_straddle_lines() {
    let mut arena = Arena::new(1 << 19);
    let mut names = std::collections::BTreeSet::new();
    for width in [1, 2, 4, 8] {
        let sizes = [
            (50, 65),
            (65, 65),
            (100, 77),
            (129, 129),
            (257, 66),
            (67, 257),
            (300, 45),
        ];
        for (round, (rows, columns)) in sizes.into_iter().enumerate() {
            let dims = [dim(rows, columns, 1), dim(columns, 1, rows)];
            let planes = [
                dim(3, rows * columns, rows * columns),
                dim(rows, columns, 1),
                dim(columns, 1, rows),
            ];
            names.extend(arena.check(&dims, width, Form::Transpose, round % 2 == 0, round));
            arena.check(&planes, width, Form::Transpose, round % 2 == 1, 8 * round);
        }
    }
    assert!(names.contains("transpose"), "{names:?}");
    let has_wide = Features::detect() >= Features::Avx2;
    assert_eq!(names.contains("transpose in runs"), has_wide, "{names:?}");
}

/// Sides of several dimensions, of which that of the source has fewer elements than a register. What lies beside them ends
/// with the memory.
#[test]
fn few_rows_of_folded_sides() {
    let mut arena = Arena::new(1 << 16);
    let mut few = 0;
    for (round, rows) in (2..16).enumerate() {
        for width in [1, 2, 4] {
            for outer in 1..4 {
                // Rows are contiguous in the source, the other two in the destination, the finer one further apart.
                let dims = [
                    dim(outer, rows * 110, rows * 110),
                    dim(rows, 110, 1),
                    dim(11, 10, rows),
                    dim(10, 1, rows * 11 * outer),
                ];
                let last = dims.map(|it| (it.extent - 1) * it.src).iter().sum::<i64>();
                assert!((last + 1) * width <= 1 << 16);
                let width = width as usize;
                let ways = arena.check(&dims, width, Form::Lines, round % 2 == 0, 3 * round);
                few += ways.into_iter().filter(|way| *way == "few rows").count();
            }
        }
    }
    assert!(few > 20, "{few}");
}

/// Short rows far apart, next to each other in the destination or interleaved there, whole units of them and what is left.
#[test]
fn joined_rows() {
    let mut arena = Arena::new(1 << 17);
    let mut joined = 0;
    for (width, across) in [
        (1, 3),
        (1, 11),
        (1, 16),
        (2, 5),
        (2, 13),
        (3, 7),
        (4, 9),
        (5, 15),
    ] {
        for along in [2, 3, 4, 7, 10, 16, 33] {
            for (apart, step) in [(200, 1), (-131, 1), (97, -1), (64, 2)] {
                let shift = (across + along) as usize;
                let run = dim(width, 1, 1);
                // Rows of `along` elements, one after the other; an element of each in turn; the same in parts.
                let dims = |inner: [_; 2]| {
                    let [a, b] = inner;
                    let dense = width * across * along;
                    [dim(2, 3 * dense, 40), dim(3, dense, 7000), a, b, run]
                };
                let rows = dims([
                    dim(across, width * along, apart),
                    dim(along, width, width * step),
                ]);
                let turns = dims([
                    dim(along, width * across, width * step),
                    dim(across, width, apart),
                ]);
                for dims in [rows, turns] {
                    let ways = arena.check(&dims, 1, Form::Lines, along % 2 == 0, shift);
                    joined += ways.into_iter().filter(|way| *way == "joined rows").count();
                }
            }
        }
    }
    assert!(joined > 100 || !Features::Avx512.is_available(), "{joined}");
}

/// Pixels whose channels become rows of the destination: as they are, from several rows, and with what lies around inside of
/// them.
#[test]
fn split_pixels() {
    let mut arena = Arena::new(1 << 16);
    let mut split = 0;
    for (width, channels, gap) in [
        (1, 5, 0),
        (1, 9, 0),
        (1, 10, 0),
        (1, 13, 2),
        (1, 16, 0),
        (1, 17, 0),
        (1, 31, 1),
        (2, 5, 0),
        (2, 8, 3),
        (3, 5, 0),
        (4, 3, 0),
        (8, 4, 0),
    ] {
        for pixels in [2, 3, 6, 11, 18, 70] {
            for around in [1, 3, 7, 10, 12] {
                let pitch = width * channels + gap;
                let all = width * around * pixels;
                if channels * all > 7000 {
                    continue;
                }
                let dims = |across, along| {
                    let channel = dim(channels, 2 * all + 5, width);
                    let (apart, run) = (2 * channels * (2 * all + 5), dim(width, 1, 1));
                    [
                        dim(2, apart, 9),
                        channel,
                        dim(2, all, 4000),
                        across,
                        along,
                        run,
                    ]
                };
                let row = pixels * pitch + 3;
                let inside = dims(
                    dim(pixels, width * around, pitch),
                    dim(around, width, if around % 2 == 0 { row } else { -row }),
                );
                let outside = dims(dim(around, width * pixels, row), dim(pixels, width, pitch));
                let shift = (pixels + around) as usize;
                for dims in [inside, outside] {
                    let ways = arena.check(&dims, 1, Form::Lines, pixels % 2 == 0, shift);
                    split += ways
                        .into_iter()
                        .filter(|way| *way == "split pixels")
                        .count();
                }
            }
        }
    }
    assert!(split > 100 || !Features::Avx512.is_available(), "{split}");
}

/// Rows of one side or of both so far apart that they share sets of a cache.
#[test]
fn transposes_of_crowded_rows() {
    let mut arena = Arena::new(1 << 20);
    let mut random = Random::new(10);
    let mut names = std::collections::BTreeSet::new();
    for round in 0..300 {
        let width = [1, 2, 4, 8, 16][round % 5];
        let below = |random: &mut Random, most: i64| 1 + random.below(most as usize) as i64;
        let (rows, columns) = match round % 3 {
            0 => (below(&mut random, 400), below(&mut random, 100)),
            _ => (below(&mut random, 100), below(&mut random, 400)),
        };
        let apart = 4096 / width * (1 + i64::from(round % 7 == 0));
        let (dst, src) = match round % 4 {
            0 => (columns, apart.max(rows)),
            1 => (columns + 3, 2 * apart + 1),
            2 => (apart.max(columns), rows),
            _ => (apart.max(columns), apart),
        };
        let dims = [dim(rows, dst, 1), dim(columns, 1, src.max(rows))];
        if hull(&[(rows, dst), (columns, 1)], width as usize).1 + 64 > 1 << 20
            || hull(&[(rows, 1), (columns, src)], width as usize).1 + 64 > 1 << 20
        {
            continue;
        }
        names.extend(arena.check(
            &dims,
            width as usize,
            Form::Staged,
            round % 2 == 0,
            round % 48,
        ));
    }
    for name in [
        "collected",
        "transpose in panels",
        "staged",
        "transpose in tiles",
    ] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
}

/// Planes in which crowded rows of the destination go on: that follow each other on both sides, or do not.
#[test]
fn planes_of_crowded_rows() {
    let mut arena = Arena::new(1 << 20);
    let mut names = std::collections::BTreeMap::new();
    for (round, (planes, rows, columns)) in [
        (8, 64, 64),
        (7, 64, 64),
        (12, 32, 64),
        (4, 128, 64),
        (3, 64, 128),
        (6, 16, 64),
        (5, 70, 64),
        (16, 200, 16),
        (9, 136, 24),
        (20, 50, 9),
    ]
    .into_iter()
    .enumerate()
    {
        for (width, gap) in [1, 2, 4, 8].into_iter().flat_map(|w| [(w, 0), (w, 9)]) {
            let apart = 4096 / width;
            for sign in [1, -1] {
                let dims = [
                    dim(planes, columns + gap / 3, rows + gap),
                    dim(rows, sign * apart, sign),
                    dim(columns, 1, apart),
                ];
                if planes * (columns.max(rows) + gap) > apart {
                    continue;
                }
                arena.check(&dims, width as usize, Form::Staged, round % 2 == 0, round);
                for planner in &arena.planners {
                    let shape = ByteBox::of_move(&dims, width as usize).unwrap();
                    let plan = planner.plan(shape, Form::Staged);
                    *names.entry(plan.way().name()).or_insert(0) += 1;
                }
            }
        }
    }
    assert!(names["collected, planes together"] > 60, "{names:?}");
    assert!(names.contains_key("transpose in tiles"), "{names:?}");
}

/// Where there is no room for a stage, the same is moved without one.
#[test]
fn small_stacks() {
    const SMALL: usize = 48 << 10;
    let planes = [dim(8, 64, 64), dim(64, 4096, 1), dim(64, 1, 4096)];
    let both = [dim(1, 0, 0), dim(300, 4096, 1), dim(80, 1, 4096)];
    let folded = [dim(64, 2048, 1), dim(32, 16, 64), dim(16, 1, 4096)];
    let mut staged = 0;
    for (width, dims) in [
        (1, planes),
        (2, planes),
        (1, both),
        (4, both),
        (1, folded),
        (2, folded),
    ] {
        let src: Vec<u8> = (0..2u32 << 20).map(|n| (n * 7 + n / 253) as u8).collect();
        let (mut large, mut small) = (vec![0; 8 << 20], vec![0; 8 << 20]);
        for features in Features::WIDTHS {
            let planner = Planner::new(&Target {
                core: Core::Zen,
                ..Target::with(features)
            });
            let plan = planner.plan(ByteBox::of_move(&dims, width).unwrap(), Form::Staged);
            let leaf = Leaf::of(&plan);
            staged += usize::from(!plan.way().name().contains("transpose"));
            large.fill(0);
            small.fill(0);
            // SAFETY: the boxes lie in these.
            let run = |dst: &mut [u8]| unsafe { leaf.call(dst.as_mut_ptr(), src.as_ptr()) };
            run(&mut large);
            std::thread::scope(|scope| {
                let thread = std::thread::Builder::new().stack_size(SMALL);
                let thread = thread.spawn_scoped(scope, || run(&mut small)).unwrap();
                thread.join().unwrap();
            });
            assert!(large == small, "{features:?} width {width} {dims:?}");
        }
    }
    assert!(staged > 8, "{staged}");
}

/// The same of sides that are several dimensions each.
#[test]
fn folded_sides_of_crowded_rows() {
    let mut arena = Arena::new(1 << 18);
    let mut random = Random::new(11);
    let mut names = std::collections::BTreeSet::new();
    for round in 0..400 {
        let width = [1, 2, 4, 8][round % 4];
        let extents: Vec<i64> = (0..4).map(|_| 2 << random.below(4)).collect();
        let points: i64 = extents.iter().product();
        if points * width > 1 << 17 {
            continue;
        }
        let mut order: Vec<usize> = (0..4).collect();
        let dst = dense(&extents, &order);
        random.shuffle(&mut order);
        let src = dense(&extents, &order);
        let dims: Vec<_> = (0..4).map(|i| dim(extents[i], dst[i], src[i])).collect();
        let form = [Form::Staged, Form::Lines, Form::Transpose][round % 3];
        names.extend(arena.check(&dims, width as usize, form, round % 2 == 0, round % 48));
    }
    for name in ["folded", "folded, collected", "folded, staged"] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
}

/// Strides without gaps, the first of the order innermost.
fn dense(extents: &[i64], order: &[usize]) -> Vec<i64> {
    let mut strides = vec![0; extents.len()];
    let mut next = 1;
    for &axis in order {
        strides[axis] = next;
        next *= extents[axis];
    }
    strides
}

#[test]
fn channels() {
    let mut arena = Arena::new(1 << 17);
    for width in [1, 2, 4, 8] {
        for channels in [2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16] {
            for pixels in [1, 2, 3, 5, 10, 16, 21, 22, 64, 65, 100, 193] {
                let low = pixels % 2 == 0;
                // Planes to pixels, and back, and the channels of every pixel reversed.
                let to = [dim(pixels, channels, 1), dim(channels, 1, pixels)];
                let from = [dim(channels, pixels, 1), dim(pixels, 1, channels)];
                let flip = [dim(pixels, channels, channels), dim(channels, 1, -1)];
                // One half of an interleaved destination.
                let half = [dim(pixels, channels + 1, channels), dim(channels, 1, 1)];
                for dims in [to, from, flip, half] {
                    arena.check(&dims, width, Form::Lines, low, 1);
                }
            }
        }
    }
}

/// One channel of a few in either direction, and some of four: what follows the last one must not be read.
#[test]
fn some_channels() {
    let mut arena = Arena::new(1 << 16);
    let mut blended = 0;
    for width in [1, 2, 4] {
        for channels in 1..=9 {
            for pixels in [15, 16, 31, 32, 33, 64, 100, 193] {
                let low = pixels % 2 == 0;
                let one = [dim(pixels, 1, channels)];
                let rows = [dim(5, pixels + 3, 300 * channels), dim(pixels, 1, channels)];
                let back = [dim(pixels, 1, -channels)];
                let turned = [dim(5, pixels, 200 * channels), dim(pixels, 1, -channels)];
                let some = [dim(3, pixels, 1), dim(pixels, 1, channels)];
                let swapped = [dim(2, pixels, -1), dim(pixels, 1, channels)];
                let all: [&[Dim]; 6] = [&one, &rows, &back, &turned, &some, &swapped];
                for dims in all {
                    let ways = arena.check(dims, width, Form::Strided, low, 1);
                    blended += usize::from(ways.contains(&"blended channels"));
                }
            }
        }
    }
    assert!(blended > 200 || !Features::Avx2.is_available(), "{blended}");
}

/// Rows of which something is left out, that go backwards, or that are repeated.
#[test]
fn pressed_runs() {
    let mut arena = Arena::new(1 << 16);
    let mut pressed = 0;
    for run in 1..=8 {
        for apart in [-9, -8, -7, -5, -4, -3, -2, 0, 1, 2, 3, 4, 5, 6, 8, 9] {
            for rows in [4, 5, 7, 11, 16, 33, 40] {
                let low = rows % 2 == 0;
                let plain = [dim(rows, run, apart), dim(run, 1, 1)];
                let inside = [dim(rows, run, apart), dim(run, 1, -1)];
                let outer = [
                    dim(3, rows * run + 2, 400),
                    dim(rows, run, apart),
                    dim(run, 1, 1),
                ];
                let all: [&[Dim]; 3] = [&plain, &inside, &outer];
                for dims in all {
                    let ways = arena.check(dims, 1, Form::Rows, low, 1);
                    pressed += usize::from(ways.contains(&"pressed runs"));
                }
            }
        }
    }
    assert!(pressed > 200 || !Features::Avx2.is_available(), "{pressed}");
}

/// Channels of which several lines are moved together, since they share sets of a cache.
#[test]
fn crowded_channels() {
    let mut arena = Arena::new(1 << 18);
    let mut together = 0;
    for width in [1, 2, 4, 8] {
        for channels in [5, 8, 10, 12, 15, 16] {
            for pixels in [512, 577, 1000] {
                let plane = 8192 / width + 4;
                let to = [dim(pixels, channels, 1), dim(channels, 1, plane)];
                let from = [dim(channels, plane, 1), dim(pixels, 1, channels)];
                for dims in [to, from] {
                    let ways = arena.check(&dims, width as usize, Form::Lines, pixels % 2 == 0, 3);
                    let several = |way: &&str| *way == "channels, several lines together";
                    together += ways.iter().filter(|way| several(way)).count();
                }
            }
        }
    }
    let wide = Features::Avx512.is_available();
    assert!(together > 10 || !wide, "{together}");
}

#[test]
fn small_squares_side_by_side() {
    let mut arena = Arena::new(1 << 17);
    for width in [1, 2, 4] {
        for rows in 2..=16 {
            for columns in [2, 3, 5, 7, 8, 9, 11, 15, 16] {
                let squares = (rows * 7 + columns) % 11 + 1;
                // Dense, with gaps around every row, and with the squares along an inner side.
                let size = rows * columns;
                let dense = [
                    dim(squares, size, size),
                    dim(rows, columns, 1),
                    dim(columns, 1, rows),
                ];
                let gaps = [
                    dim(squares, (columns + 3) * rows + 5, (rows + 1) * columns),
                    dim(rows, columns + 3, 1),
                    dim(columns, 1, rows + 1),
                ];
                let inner = [
                    dim(rows, columns * squares, 1),
                    dim(squares, columns, rows),
                    dim(columns, 1, rows * squares),
                ];
                for (shift, dims) in [dense, gaps, inner].into_iter().enumerate() {
                    arena.check(&dims, width, Form::Lines, columns % 2 == 0, shift);
                }
            }
        }
    }
}
