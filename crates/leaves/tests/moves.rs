//! Every form, level and width against the naive loop, between guard pages.

mod common;

use common::arena::{Arena, dim, layout};
use common::hull;
use restride_leaves::{Features, Leaf, Planner, Target};
use restride_loops::{Dim, Form, Random};

fn random_box(random: &mut Random, points: i64) -> Vec<Dim> {
    let rank = random.below(5);
    let mut extents = Vec::new();
    let mut left = points;
    for _ in 0..rank {
        let extent = match random.below(4) {
            0 => random.below(3) as i64 + 1,
            1 => random.below(9) as i64 + 1,
            2 => random.below(40) as i64 + 1,
            _ => random.below(150) as i64 + 1,
        };
        let extent = extent.min(left.max(1));
        left /= extent;
        extents.push(extent);
    }
    let mut order: Vec<usize> = (0..rank).collect();
    random.shuffle(&mut order);
    let dst = layout(random, &extents, &order, true);
    if random.below(3) != 0 {
        random.shuffle(&mut order);
    }
    let mut src = layout(random, &extents, &order, true);
    for stride in &mut src {
        if random.below(12) == 0 {
            *stride = random.below(9) as i64 - 4;
        }
    }
    (0..rank).map(|i| dim(extents[i], dst[i], src[i])).collect()
}

/// Rows that meet within a line of the destination, or nearly, or not at all; one after the other,
/// in planes, and backwards.
#[test]
fn streamed_rows_meet_within_lines() {
    let mut arena = Arena::new(4096);
    for run in (250..330).step_by(7).chain([256, 320]) {
        for gap in [0, 1, 64] {
            let step = run + gap;
            for (rows, back) in [(3, false), (4, true)] {
                let dst = if back { -step } else { step };
                let shift = (run * 5 % 67) as usize;
                let nest = [dim(rows, dst, run + 9), dim(run, 1, 1)];
                arena.check(&nest, 1, Form::Stream, true, shift);
                arena.check(&nest, 1, Form::Stream, false, shift);
            }
            let planes = [
                dim(2, 2 * step + 7, run),
                dim(2, step, 3 * run),
                dim(run, 1, 1),
            ];
            arena.check(&planes, 1, Form::Stream, false, 0);
        }
    }
}

/// Tensors without gaps whose axes change places: several of them together are contiguous.
#[test]
fn axes_that_change_places() {
    let mut arena = Arena::new(1 << 19);
    let mut random = Random::new(2);
    for round in 0..600 {
        let rank = 3 + random.below(3);
        let extents: Vec<i64> = (0..rank).map(|_| 2 + random.below(9) as i64).collect();
        let mut order: Vec<usize> = (0..rank).collect();
        let dst = layout(&mut random, &extents, &order, false);
        random.shuffle(&mut order);
        let src = layout(&mut random, &extents, &order, false);
        let dims: Vec<_> = (0..rank).map(|i| dim(extents[i], dst[i], src[i])).collect();
        if extents.iter().product::<i64>() > 12_000 {
            continue;
        }
        let width = [1, 2, 4, 8][round % 4];
        arena.check(&dims, width, Form::Transpose, round % 8 < 4, round % 16);
    }
}

#[test]
fn random_boxes() {
    let mut arena = Arena::new(1 << 19);
    let mut random = Random::new(1);
    for round in 0..4000 {
        let width = random.pick(&[1, 2, 4, 8, 16]);
        let dims = random_box(&mut random, 1200);
        let form = Form::ALL[round % Form::ALL.len()];
        let (low, shift) = (random.below(2) == 0, random.below(16));
        let fits = |f: fn(&Dim) -> i64| {
            let dims: Vec<_> = dims.iter().map(|d| (d.extent, f(d))).collect();
            hull(&dims, width).1 + 64 <= 1 << 19
        };
        if fits(|d| d.dst) && fits(|d| d.src) {
            arena.check(&dims, width, form, low, shift);
        }
    }
}

#[test]
fn every_run_length() {
    let mut arena = Arena::new(1 << 16);
    for n in (1..=300).chain([511, 512, 513, 1000, 4095, 4096, 4097]) {
        for form in [Form::Rows, Form::Stream] {
            for shift in [0, 1, 7] {
                let dims = [dim(3, n + 5, n), dim(n, 1, 1)];
                arena.check(&dims, 1, form, shift == 1, shift);
            }
            arena.check(&[dim(5, n, n + 3), dim(n, 1, 1)], 2, form, false, 0);
            arena.check(&[dim(5, n + 3, 0), dim(n, 1, 1)], 1, form, n % 2 == 0, 0);
            // Rows that follow each other, at either end of both sides.
            for low in [false, true].into_iter().filter(|_| n <= 300) {
                let close = [dim(3, 9 * n, 1), dim(4, n, 2 * n), dim(n, 1, 1)];
                arena.check(&close, 1, form, low, 0);
                let back = [dim(2, 4 * n, 1), dim(4, n, -n), dim(n, 1, 1)];
                arena.check(&back, 1, form, low, 0);
            }
        }
    }
}

/// Up to the size from which rows are the platform's, and from there on.
#[test]
fn rows_that_fill_half_of_the_nearest_cache() {
    let mut arena = Arena::new(1 << 16);
    for (rows, n) in [(3, 5461), (2, 8192), (2, 8193), (1, 16_383), (1, 16_384)] {
        for shift in [0, 1, 63] {
            let dims = [dim(rows, n + 9, n + 64), dim(n, 1, 1)];
            let ways = arena.check(&dims, 1, Form::Rows, shift == 1, shift);
            assert!(ways.contains(&"rows by lines"), "{ways:?} for {n}");
        }
    }
}

/// Long rows of which each goes to several places, which are taken a piece at a time.
#[test]
fn long_rows_that_repeat() {
    let mut arena = Arena::new(1 << 22);
    for n in [16_384, 40_000, 262_143, 262_144, 262_145, 270_335, 278_785] {
        for (rows, gap, shift) in [(2, 0, 0), (3, 7, 16), (4, 64, 5), (5, 0, 1)] {
            let twice = [
                dim(2, rows * (n + gap), n),
                dim(rows, n + gap, 0),
                dim(n, 1, 1),
            ];
            arena.check(
                &[dim(rows, -n - gap, 0), dim(n, 1, 1)],
                1,
                Form::Rows,
                true,
                shift,
            );
            if rows == 2 {
                arena.check(&twice, 1, Form::Rows, false, shift);
            }
        }
    }
}

#[test]
fn every_step() {
    let mut arena = Arena::new(1 << 17);
    for step in [2, 3, 4, 5, 6, 7, 8, 9, 16, 33, -1, -2, -3, -4, -7, 0] {
        for width in [1, 2, 4, 8, 16] {
            for n in (1..=20).chain([31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200]) {
                let low = n % 2 == 0;
                arena.check(
                    &[dim(n, 1, step)],
                    width,
                    Form::Strided,
                    low,
                    (n % 16) as usize,
                );
                if step > 1 {
                    // The other way round: scattered destinations.
                    arena.check(&[dim(n, step, 1)], width, Form::Lines, low, 0);
                }
            }
            let rows = [dim(3, 70, 70 * step.abs() + 1), dim(70, 1, step)];
            arena.check(&rows, width, Form::Strided, false, 3);
        }
    }
}

/// Tensors of bytes of which every axis moves, so large that two moves are better than one.
#[test]
fn moves_by_way_of_a_stage() {
    let mut arena = Arena::new(1 << 17);
    let mut random = Random::new(9);
    for round in 0..200 {
        let extents: Vec<i64> = (0..5).map(|_| 5 + random.below(8) as i64).collect();
        let mut order: Vec<usize> = (0..5).collect();
        let dst = layout(&mut random, &extents, &order, round % 2 == 0);
        random.shuffle(&mut order);
        let src = layout(&mut random, &extents, &order, round % 3 == 0);
        let dims: Vec<_> = (0..5).map(|i| dim(extents[i], dst[i], src[i])).collect();
        let size = |f: fn(&Dim) -> i64| {
            let dims: Vec<_> = dims.iter().map(|d| (d.extent, f(d))).collect();
            hull(&dims, 1).1
        };
        if size(|d| d.dst).max(size(|d| d.src)) + 16 < 1 << 17 {
            arena.check(&dims, 1, Form::Lines, round % 4 < 2, round % 16);
        }
    }
}

#[test]
fn rows_at_every_place_in_a_line() {
    let mut arena = Arena::new(1 << 16);
    for width in [1, 2, 4, 8] {
        for (n, shift) in (0..64).map(|shift| (400 / width as i64 + shift as i64 % 7, shift)) {
            let low = shift % 3 == 0;
            let step = [dim(2, n, 2 * n), dim(n, 1, 2)];
            let back = [dim(3, n, n), dim(n, 1, -1)];
            let flip = [dim(n, 3, 3), dim(3, 1, -1)];
            let apart = [dim(3, n, 1), dim(n, 1, 3)];
            let shuffle = [dim(3, 2 * n, 2 * n), dim(n, 2, 1), dim(2, 1, n)];
            let planes = [dim(2, 4 * n, n), dim(n, 4, 1), dim(4, 1, 2 * n)];
            // Short runs of which two share a line of the source, from the last to the first.
            let runs = [dim(4, 24 * n, -8), dim(n, 24, 32), dim(8, 1, 1)];
            for dims in [&step[..], &back, &flip, &apart, &shuffle, &planes, &runs] {
                arena.check(dims, width, Form::Lines, low, shift);
                arena.check(dims, width, Form::Stream, !low, shift);
            }
        }
    }
}

#[test]
fn rows_that_share_lines_of_the_source() {
    let mut arena = Arena::new(1 << 17);
    for width in [1, 2, 4, 8] {
        for (shift, n) in [192, 160, 128, 99, 64].into_iter().enumerate() {
            for run in [1, 2, 3, 5, 6] {
                for rows in [2, 3, 4] {
                    let row = n * run;
                    let dims = [
                        dim(3, rows * row, rows * row),
                        dim(rows, row, run),
                        dim(n, run, rows * run),
                        dim(run, 1, 1),
                    ];
                    let low = run % 2 == 0;
                    arena.check(&dims, width, Form::Lines, low, 0);
                    arena.check(&dims, width, Form::Rows, low, 3 * shift);
                    arena.check(&dims, width, Form::Stream, low, 64 * shift);
                    let flipped = [dims[0], dim(rows, row, -run), dims[2], dims[3]];
                    arena.check(&flipped, width, Form::Lines, low, shift);
                }
            }
        }
    }
}

/// Runs of any width that begin in few sets of a cache, some of which lie side by side; short ones to rows that do.
#[test]
fn runs_of_crowded_rows() {
    let mut arena = Arena::new(1 << 19);
    let mut names = std::collections::BTreeMap::new();
    for run in (9..40).step_by(3).chain([16, 32, 48, 63, 64, 65, 128]) {
        for (beside, rows) in [(2, 40), (3, 33), (7, 50), (64, 48)] {
            let (from, to) = (beside.max(4096 / run) * run, rows * run);
            let run_of = dim(run, 1, 1);
            let source = [
                dim(beside, to, run),
                dim(rows, run, (from + 4095) / 4096 * 4096),
                run_of,
            ];
            let destination = [
                dim(beside, (to + 2047) / 2048 * 2048, run),
                dim(rows, run, beside * run),
                run_of,
            ];
            for dims in [source, destination] {
                let points = [dims[0].extent, dims[1].extent];
                let size =
                    |apart: [i64; 2]| (points[0] - 1) * apart[0] + (points[1] - 1) * apart[1] + run;
                let most = size([dims[0].dst, dims[1].dst]).max(size([dims[0].src, dims[1].src]));
                if most + 64 > 1 << 19 {
                    continue;
                }
                for name in arena.check(&dims, 1, Form::Rows, run % 2 == 0, beside as usize) {
                    *names.entry(name).or_insert(0) += 1;
                }
            }
        }
    }
    assert!(names["rows that share lines"] > 200, "{names:?}");
    assert!(
        names.contains_key("joined rows") || !Features::Avx512.is_available(),
        "{names:?}"
    );
}

#[test]
fn overlapping_sources() {
    let mut arena = Arena::new(1 << 17);
    for width in [1, 2, 4] {
        for (n, step) in [(58, 1), (40, 2), (33, 3)] {
            // Windows of a signal, and some that also run backwards.
            let frames = [dim(n, 5, step), dim(5, 1, 1)];
            let mixed = [
                dim(n, 30, step),
                dim(3, 10, 7),
                dim(2, 5, -21),
                dim(5, 1, 1),
            ];
            arena.check(&frames, width, Form::Lines, false, 0);
            arena.check(&mixed, width, Form::Lines, true, 3);
        }
    }
}

#[test]
fn pixel_shuffle() {
    let mut arena = Arena::new(1 << 17);
    for width in [1, 2, 4] {
        for (r, h, w) in [(2, 3, 5), (2, 4, 16), (3, 2, 9), (2, 5, 33), (4, 2, 8)] {
            let plane = h * w;
            let to = [
                dim(h, r * w * r, w),
                dim(r, w * r, r * plane),
                dim(w, r, 1),
                dim(r, 1, plane),
            ];
            let back: Vec<_> = to.iter().map(|d| dim(d.extent, d.src, d.dst)).collect();
            arena.check(&to, width, Form::Lines, false, 0);
            arena.check(&back, width, Form::Lines, true, 0);
        }
    }
}

#[test]
fn transpositions_step_and_turn() {
    let mut arena = Arena::new(1 << 20);
    for width in [1, 2, 3, 4, 6, 8, 16] {
        for (rows, columns) in [(5, 40), (16, 16), (33, 70), (70, 33), (150, 20), (17, 131)] {
            for step in [-17, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 7, 12, 16, 17] {
                let source = rows * i64::abs(step) + 3;
                for form in [Form::Elements, Form::Transpose, Form::Staged, Form::Stream] {
                    let plane = [dim(rows, columns + 1, step), dim(columns, 1, source)];
                    arena.check(&plane, width, form, step < 0, 1);
                    let turned = [dim(rows, columns, step), dim(columns, 1, -source)];
                    arena.check(&turned, width, form, true, 0);
                }
            }
        }
    }
}

#[test]
fn an_empty_box_touches_nothing() {
    let nothing = Leaf::prepare_move(
        &[dim(0, 1, 1), dim(9, 4, 1)],
        4,
        Form::Rows,
        &Planner::new(&Target::default()),
    )
    .unwrap();
    // SAFETY: there is nothing to be touched.
    unsafe { nothing.call(std::ptr::null_mut(), std::ptr::null()) }
}
