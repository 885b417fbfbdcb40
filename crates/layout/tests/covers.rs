//! Chains over pieces: always exact, always disjoint, always whole.

mod common;

use common::{Table, points, random_view};
use restride_layout::{Break, Cover, Layout, Nested, Operand, Piece, View, join};
use restride_loops::Random;
use smallvec::smallvec;

type Entry = (u8, i64);

fn check(cover: &Cover<u8>, table: &Table<Entry>, what: &dyn Fn() -> String) {
    assert_eq!(cover.shape(), table.shape.as_slice(), "{}", what());
    for (point, &(body, address)) in points(&table.shape).iter().zip(&table.data) {
        let mut holders = cover
            .parts()
            .iter()
            .filter_map(|(piece, body)| Some((*body, piece.at(point)?)));
        let (got_body, got) = holders.next().unwrap_or_else(|| {
            panic!("no piece has {point:?} in {}\n{cover:?}", what());
        });
        let got_address = got.first().copied().unwrap_or(0);
        assert_eq!((got_body, got_address), (body, address), "{}", what());
        assert!(holders.next().is_none(), "two have {point:?}, {}", what());
    }
    let count: i64 = cover.parts().iter().map(|(p, _)| p.count()).sum();
    assert_eq!(count, table.data.len() as i64, "{}", what());
}

fn dense(random: &mut Random, body: u8) -> (Cover<u8>, Table<Entry>) {
    let rank = random.within(0, 3);
    let shape: Vec<i64> = (0..rank).map(|_| random.within(1, 6)).collect();
    let cover = Cover::dense(&shape, body).expect("small");
    let table = Table::of(&shape, |p| (body, common::flat(&shape, p) as i64));
    (cover, table)
}

#[test]
fn random_chains_of_views_and_concats() {
    let (mut chains, mut single, mut broken) = (0, 0, 0);
    for seed in 0..30_000 {
        let mut random = Random::new(seed);
        let (mut cover, mut table) = dense(&mut random, 0);
        let mut log = vec![format!("{:?}", table.shape)];
        for _ in 0..random.within(1, 6) {
            if random.within(0, 6) == 0 && !table.shape.is_empty() {
                // Something of the same shape but along one axis, filled or itself.
                let axis = random.within(0, table.shape.len() as i64 - 1) as usize;
                let mut shape = table.shape.clone();
                shape[axis] = random.within(1, 3);
                let fill = Cover::points(&shape, 9).expect("small");
                let fill_table = Table::of(&shape, |_| (9, 0));
                match Cover::concat(&[&cover, &fill, &cover], axis) {
                    Ok(next) => cover = next,
                    Err(_) => {
                        assert!(cover.parts().len() > 31);
                        broken += 1;
                        break;
                    }
                }
                table = Table::concat(&[&table, &fill_table, &table], axis);
                log.push(format!("concat {axis}"));
            } else {
                let view = random_view(&mut random, &table.shape);
                log.push(format!("{view:?}"));
                match cover.view(&view) {
                    Ok(next) => cover = next,
                    Err(Break::TooManyPieces { .. }) => {
                        broken += 1;
                        break;
                    }
                    // A run may go from one digit, or piece, to the next: then it is left out.
                    Err(Break::Digits { .. }) if matches!(view, View::Windows { .. }) => continue,
                    Err(other) => panic!("{other} in {log:?}"),
                }
                table = table.view(&view);
            }
            check(&cover, &table, &|| format!("seed {seed}: {log:?}"));
        }
        chains += 1;
        single += usize::from(cover.parts().len() <= 1);
    }
    assert!(broken * 200 < chains, "{broken} of {chains} chains broke");
    assert!(single * 2 > chains, "{single} of {chains} are one piece");
}

#[test]
fn every_view_of_every_two_digit_axis() {
    // One axis with two digits that do not merge, everything a slice or an expand may ask.
    for outer in 2..=5 {
        for inner in 2..=5 {
            let extent = outer * inner;
            let transposed = Cover::dense(&[inner, outer], 0)
                .and_then(|c| c.view(&View::Permute([1, 0].into_iter().collect())))
                .and_then(|c| {
                    c.view(&View::Collapse {
                        groups: [2].into_iter().collect(),
                    })
                })
                .expect("small");
            let table = Table::of(&[extent], |p| (0, p[0] / inner + p[0] % inner * outer));
            check(&transposed, &table, &|| "the start".into());
            for span in common::spans(extent) {
                let view = View::Slice([span].into_iter().collect());
                let sliced = transposed.view(&view).expect("few pieces");
                let expected = table.view(&view);
                check(&sliced, &expected, &|| format!("{outer}x{inner} {span:?}"));
                for sizes in common::factorings(span.len, 2) {
                    let view = View::Expand {
                        groups: [sizes.len()].into_iter().collect(),
                        sizes: sizes.into(),
                    };
                    if let Ok(expanded) = sliced.view(&view) {
                        check(&expanded, &expected.view(&view), &|| {
                            format!("{outer}x{inner} {span:?} {view:?}")
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn a_roll_and_its_undoing_are_one_piece() {
    let span = |start, len| {
        View::Slice(
            [restride_layout::Span {
                start,
                len,
                step: 1,
            }]
            .into_iter()
            .collect(),
        )
    };
    let x = Cover::dense(&[10], 0).expect("small");
    let part = |c: &Cover<u8>, start, len| c.view(&span(start, len)).expect("fits");
    let rolled = Cover::concat(&[&part(&x, 7, 3), &part(&x, 0, 7)], 0).expect("fits");
    assert_eq!(rolled.parts().len(), 2);
    let back = Cover::concat(&[&part(&rolled, 3, 7), &part(&rolled, 0, 3)], 0).expect("fits");
    assert_eq!(back, x);
}

/// Joining agrees with looking every operand up on its own.
#[test]
fn joins_agree_with_their_operands() {
    let (mut joined, mut refused) = (0, 0);
    for seed in 0..20_000u64 {
        let mut random = Random::new(seed);
        let sizes: Vec<i64> = (0..random.within(1, 3))
            .map(|_| random.within(1, 6))
            .collect();
        let mut operands: Vec<(Piece, Vec<Option<usize>>)> = vec![];
        for _ in 0..random.within(1, 3) {
            // Any axes, and the rest are covered by the last operand below.
            let axes: Vec<usize> = (0..sizes.len())
                .filter(|_| random.within(0, 1) == 0)
                .collect();
            operands.push(random_piece(&mut random, &sizes, &axes));
        }
        let missing: Vec<usize> = (0..sizes.len())
            .filter(|a| operands.iter().all(|(_, axes)| !axes.contains(&Some(*a))))
            .collect();
        operands.push(random_piece(&mut random, &sizes, &missing));
        let given: Vec<Operand<'_>> = operands
            .iter()
            .map(|(piece, axes)| Operand { piece, axes })
            .collect();
        let Ok(pieces) = join(&given, &sizes) else {
            refused += 1;
            continue;
        };
        joined += 1;
        let mut count = 0;
        for point in points(&sizes) {
            let mut expected = Some(vec![]);
            for (piece, axes) in &operands {
                let own: Vec<i64> = axes.iter().flatten().map(|&a| point[a]).collect();
                expected = expected
                    .zip(piece.at(&own))
                    .map(|(sum, own)| [sum.as_slice(), own.as_slice()].concat());
            }
            let mut got = pieces.iter().filter_map(|p| p.at(&point));
            assert_eq!(got.next().map(|a| a.to_vec()), expected, "seed {seed}");
            assert!(got.next().is_none(), "seed {seed}: two have {point:?}");
            count += i64::from(expected.is_some());
        }
        let counted: i64 = pieces.iter().map(Piece::count).sum();
        assert_eq!(counted, count, "seed {seed}");
    }
    assert!(joined > 3 * refused, "{joined} joined, {refused} refused");
}

/// A piece over some axes of a shape, often partial, sometimes of several digits.
fn random_piece(random: &mut Random, sizes: &[i64], axes: &[usize]) -> (Piece, Vec<Option<usize>>) {
    let shape: Vec<i64> = axes.iter().map(|&a| sizes[a]).collect();
    // Axes of 4 and 6 may be made of two, with strides that have nothing to do with each other.
    let mut split: Vec<i64> = vec![];
    let mut groups: smallvec::SmallVec<[usize; 6]> = smallvec![];
    for &n in &shape {
        let factors = match (n, random.within(0, 1)) {
            (4, 0) => vec![2, 2],
            (6, 0) => vec![2, 3],
            _ => vec![n],
        };
        groups.push(factors.len());
        split.extend(factors);
    }
    let strides: Vec<i64> = split.iter().map(|_| random.within(-3, 9)).collect();
    let base = Layout::strided(&split, &[random.within(0, 50)], &strides).expect("small");
    let mut cover = Cover::strided(&split, random.within(0, 50), &strides, 0).expect("small");
    assert!(!base.is_empty());
    if !shape.is_empty() {
        let groups = groups.into_iter().collect();
        cover = cover.view(&View::Collapse { groups }).expect("fits");
    }
    if random.within(0, 1) == 0 && !shape.is_empty() {
        // Partial: the points of a larger value, shifted in by a concat and cut out again.
        let axis = random.within(0, shape.len() as i64 - 1) as usize;
        let low = random.within(0, 2);
        let len = random.within(1, shape[axis]);
        let mut rim = shape.clone();
        rim[axis] = low;
        let rim = Cover::points(&rim, 1).expect("small");
        let longer = Cover::concat(&[&rim, &cover], axis).expect("fits");
        let spans = shape.iter().enumerate().map(|(a, &n)| {
            let mut span = restride_layout::Span::whole(n);
            if a == axis {
                span.len = len.max(low + 1).min(n);
            }
            span
        });
        let spans: Vec<_> = spans.collect();
        if let Ok(cut) = longer.view(&View::Slice(spans.into()))
            && cut.parts().iter().any(|(_, body)| *body == 0)
        {
            cover = cut;
        }
    }
    let (piece, _) = cover
        .parts()
        .iter()
        .find(|(_, body)| *body == 0)
        .expect("kept");
    (piece.clone(), axes.iter().map(|&a| Some(a)).collect())
}

#[test]
fn columns_are_summed_and_made_anew() {
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let rank = random.within(0, 3);
        let shape: Vec<i64> = (0..rank).map(|_| random.within(1, 6)).collect();
        let strides: Vec<i64> = (0..2 * rank).map(|_| random.within(-9, 9)).collect();
        let made = Piece::strided(&shape, &[3, -4], &strides).expect("small");
        let piece = made.expect("points");
        let sums: [&[(usize, i64)]; 3] = [&[(1, 2)], &[], &[(0, 1), (1, -3)]];
        let summed = piece.with_sums(&sums).expect("small");
        // Each digit is cut in two where its extent is even.
        let nested: Vec<Nested> = piece
            .digits()
            .iter()
            .map(|d| match d.extent % 2 {
                0 => smallvec![(d.extent / 2, smallvec![10]), (2, smallvec![-7])],
                _ => smallvec![(d.extent, smallvec![5])],
            })
            .collect();
        let anew = piece.with_columns(&[100], &nested).expect("small");
        for point in points(&shape) {
            let at = piece.at(&point).expect("whole");
            let (a, b) = (at[0], at[1]);
            let expected = vec![2 * b, 0, a - 3 * b];
            assert_eq!(summed.at(&point).expect("whole").to_vec(), expected);
            // The digits of a whole piece, outermost first, one by one.
            let mut flat = common::flat(&shape, &point) as i64;
            let mut sum = 100;
            for digit in piece.digits().iter().rev() {
                let x = flat % digit.extent;
                flat /= digit.extent;
                sum += match digit.extent % 2 {
                    0 => 10 * (x / 2) - 7 * (x % 2),
                    _ => 5 * x,
                };
            }
            assert_eq!(anew.at(&point).expect("whole").to_vec(), vec![sum]);
        }
        let short: Vec<Nested> = nested.iter().skip(1).cloned().collect();
        assert_eq!(
            piece.with_columns(&[0], &short).is_err(),
            !nested.is_empty()
        );
    }
}
