//! Every law of layouts, over every small layout.

mod common;

use common::{Table, factorings, permutations, points, spans};
use restride_layout::{Break, Layout, View};
use std::collections::HashMap;

/// Every layout of at most two axes with at most two digits each, at most 12 points, extents 1 to
/// 3 and strides -2 to 4; its address table beside it.
fn every_small_layout(mut visit: impl FnMut(&Layout, &Table<i64>)) {
    let strides: Vec<i64> = vec![-2, -1, 0, 1, 2, 3, 4];
    for groups in [&[1usize][..], &[2], &[1, 1], &[2, 1], &[1, 2]] {
        let digits = groups.iter().sum::<usize>();
        for sizes in points(&vec![3; digits]) {
            let sizes: Vec<i64> = sizes.iter().map(|n| n + 1).collect();
            if sizes.iter().product::<i64>() > 12 {
                continue;
            }
            for chosen in points(&vec![strides.len() as i64; digits]) {
                let chosen: Vec<i64> = chosen.iter().map(|&k| strides[k as usize]).collect();
                let layout = Layout::strided(&sizes, &[5], &chosen)
                    .and_then(|l| l.collapse(groups))
                    .expect("small");
                let table = Table::of(&sizes, |p| {
                    5 + p.iter().zip(&chosen).map(|(x, s)| x * s).sum::<i64>()
                })
                .view(&View::Collapse {
                    groups: groups.into(),
                });
                visit(&layout, &table);
            }
        }
    }
}

fn assert_equal(layout: &Layout, table: &Table<i64>, what: &dyn Fn() -> String) {
    assert_eq!(layout.shape(), table.shape.as_slice(), "{}", what());
    for (point, expected) in points(&table.shape).iter().zip(&table.data) {
        let got = layout.at(point).map(|a| a[0]);
        assert_eq!(got, Some(*expected), "{} at {point:?}", what());
    }
    if let Some(range) = layout.range(0) {
        let low = table.data.iter().min().copied();
        let high = table.data.iter().max().copied();
        assert_eq!((Some(range.0), Some(range.1)), (low, high), "{}", what());
    }
}

/// Whether some layout has this table: found by trying to write each axis in digits.
fn is_a_layout(table: &Table<i64>) -> bool {
    // A table is a layout if it is a sum over the axes and each axis is a mixed radix map.
    let zero = vec![0; table.shape.len()];
    let base = table.get(&zero);
    let along = |axis: usize, x: i64| {
        let mut p = zero.clone();
        p[axis] = x;
        table.get(&p) - base
    };
    let separable = points(&table.shape).iter().all(|p| {
        let sum: i64 = p.iter().enumerate().map(|(a, &x)| along(a, x)).sum();
        table.get(p) == base + sum
    });
    separable
        && (0..table.shape.len()).all(|axis| {
            let n = table.shape[axis];
            let mut inside = 1;
            while inside < n {
                let stride = along(axis, inside);
                let holds =
                    |x: i64| along(axis, x) == along(axis, x % inside) + (x / inside) * stride;
                let mut end = inside;
                while end < n && holds(end) {
                    end += 1;
                }
                if end == n && n % inside == 0 {
                    return true;
                }
                // The digit ends where the map departs from it; it must divide.
                if end % inside != 0 || n % end != 0 {
                    return false;
                }
                inside = end;
            }
            true
        })
}

/// A break must be right as well: no layout may exist.
fn check(layout: &Layout, table: &Table<i64>, view: &View) {
    let expected = table.view(view);
    match layout.view(view) {
        Ok(got) => assert_equal(&got, &expected, &|| format!("{layout} viewed by {view:?}")),
        // A few points of an axis may be a layout by accident, so a slice proves nothing.
        Err(Break::Indivisible { .. }) => assert!(
            matches!(view, View::Slice(_)) || !is_a_layout(&expected),
            "{layout} viewed by {view:?} breaks, but is {expected:?}"
        ),
        Err(other) => panic!("{layout} viewed by {view:?}: {other}"),
    }
}

#[test]
fn views_of_every_small_layout() {
    every_small_layout(|layout, table| {
        assert_equal(layout, table, &|| format!("{layout}"));
        let shape = layout.shape();
        for perm in permutations(shape.len()) {
            check(layout, table, &View::Permute(perm.into()));
        }
        for axis in 0..shape.len() {
            for span in spans(shape[axis]) {
                let mut all: Vec<_> = shape
                    .iter()
                    .map(|&n| restride_layout::Span::whole(n))
                    .collect();
                all[axis] = span;
                check(layout, table, &View::Slice(all.into()));
            }
            for sizes in factorings(shape[axis], 3) {
                let groups = (0..shape.len()).map(|a| if a == axis { sizes.len() } else { 1 });
                let groups = groups.collect();
                let mut all = shape.to_vec();
                all.splice(axis..=axis, sizes);
                check(
                    layout,
                    table,
                    &View::Expand {
                        groups,
                        sizes: all.into(),
                    },
                );
            }
        }
        if shape.len() == 2 {
            check(
                layout,
                table,
                &View::Collapse {
                    groups: [2].into_iter().collect(),
                },
            );
        }
        let repeated = shape.iter().map(|&n| if n == 1 { 3 } else { n }).collect();
        check(layout, table, &View::Broadcast { sizes: repeated });
    });
}

#[test]
fn reshapes_of_every_small_layout() {
    every_small_layout(|layout, table| {
        let count = layout.shape().iter().product();
        for sizes in factorings(count, 3) {
            let expected = Table {
                shape: sizes.clone(),
                data: table.data.clone(),
            };
            match layout.reshape(&sizes) {
                Ok(got) => assert_equal(&got, &expected, &|| format!("{layout} as {sizes:?}")),
                Err(_) => assert!(!is_a_layout(&expected), "{layout} as {sizes:?}"),
            }
        }
    });
}

#[test]
fn one_normal_form_per_function() {
    let mut forms: HashMap<Table<i64>, Layout> = HashMap::new();
    let mut seen = 0;
    every_small_layout(|layout, table| {
        seen += 1;
        let first = forms.entry(table.clone()).or_insert_with(|| layout.clone());
        assert_eq!(first, layout, "{first} and {layout} are one function");
    });
    assert!(forms.len() > 3_000, "{} functions", forms.len());
    assert!(seen > 2 * forms.len(), "many spellings of each were met");
}

#[test]
fn columns_merge_only_together() {
    // Column 0 alone would merge to one digit of 6; column 1 departs from it.
    let layout = Layout::strided(&[2, 3], &[0, 7], &[3, 1, 1, 1])
        .and_then(|l| l.collapse(&[2]))
        .expect("small");
    let digits = layout.piece().expect("not empty").digits();
    assert_eq!(digits.len(), 2);
    for x in 0..6 {
        let got = layout.at(&[x]).expect("inside");
        assert_eq!(got.as_slice(), [x, 7 + x / 3 + x % 3]);
    }
}

#[test]
fn empty_layouts_are_one_per_shape() {
    let a = Layout::strided(&[2, 0, 3], &[9], &[1, 2, 3]).expect("empty");
    let b = Layout::dense(&[2, 0, 3]).expect("empty");
    assert_eq!(a, b);
    let c = b.permute(&[1, 0, 2]).and_then(|l| l.reshape(&[0, 6]));
    assert_eq!(c, Layout::dense(&[0, 6]));
    assert!(b.at(&[0, 0, 0]).is_none());
    // However large the other axes are, nothing overflows.
    assert!(Layout::dense(&[i64::MAX, 0, i64::MAX]).is_ok());
}

#[test]
fn overflow_is_an_error_at_construction() {
    let big = 1i64 << 40;
    assert_eq!(Layout::dense(&[big, big]), Err(Break::Overflow));
    let reach = Layout::strided(&[3], &[i64::MAX - 3], &[2]);
    assert_eq!(reach, Err(Break::Overflow));
    let both = Layout::strided(&[3, 3], &[0], &[i64::MAX / 2, 1]);
    assert_eq!(both, Err(Break::Overflow));
    assert!(Layout::strided(&[2, 2], &[0], &[i64::MAX - 1, 1]).is_ok());
    assert!(Layout::strided(&[2], &[i64::MIN], &[1]).is_ok());
    let unit = Layout::dense(&[1]).expect("small");
    let wide = unit.broadcast(&[i64::MAX]).expect("one address");
    assert_eq!(wide.reverse(0), Ok(wide.clone()));
    assert_eq!(
        Layout::dense(&[1, 1]).and_then(|l| l.broadcast(&[big, big])),
        Err(Break::Overflow)
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let l = Layout::dense(&[4, 6]).expect("small");
    assert!(l.permute(&[0]).is_err());
    assert!(l.permute(&[0, 0]).is_err());
    assert!(l.permute(&[0, 2]).is_err());
    assert!(l.collapse(&[3]).is_err());
    assert!(l.collapse(&[2, 0]).is_err());
    assert!(l.collapse(&[]).is_err());
    assert!(l.collapse(&[usize::MAX, 3]).is_err());
    assert!(l.expand(&[1, 2], &[4, 2, 2]).is_err());
    assert!(l.expand(&[1, 2], &[4, -2, -3]).is_err());
    assert!(l.broadcast(&[4, 12]).is_err());
    assert!(l.reverse(2).is_err());
    assert!(l.reshape(&[-4, -6]).is_err());
    assert!(l.reshape(&[5, 5]).is_err());
    let whole = restride_layout::Span::whole(6);
    for (start, len, step) in [
        (0, 5, 1),
        (-1, 1, 1),
        (4, 1, 1),
        (0, 2, 4),
        (0, 1, 0),
        (0, 2, -1),
        (0, -1, 1),
        (0, i64::MAX, i64::MAX),
        (3, 2, i64::MIN),
    ] {
        let span = restride_layout::Span { start, len, step };
        assert!(l.slice(&[span, whole]).is_err(), "{span:?}");
    }
}
