//! What the laws are checked against: tables of addresses, changed by plain index arithmetic.

#![allow(dead_code, reason = "each test file uses its share")]

use restride_layout::{Span, View};
use restride_loops::Random;
use smallvec::SmallVec;

/// Every point's value, row-major.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Table<T> {
    pub(crate) shape: Vec<i64>,
    pub(crate) data: Vec<T>,
}

/// All points of a shape, row-major.
pub(crate) fn points(shape: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    for &n in shape {
        all = all
            .into_iter()
            .flat_map(|p| {
                (0..n).map(move |x| {
                    let mut q = p.clone();
                    q.push(x);
                    q
                })
            })
            .collect();
    }
    all
}

pub(crate) fn flat(shape: &[i64], point: &[i64]) -> usize {
    shape.iter().zip(point).fold(0, |f, (n, x)| f * n + x) as usize
}

impl<T: Clone> Table<T> {
    pub(crate) fn of(shape: &[i64], f: impl Fn(&[i64]) -> T) -> Self {
        Table {
            shape: shape.to_vec(),
            data: points(shape).iter().map(|p| f(p)).collect(),
        }
    }

    pub(crate) fn get(&self, point: &[i64]) -> T {
        self.data[flat(&self.shape, point)].clone()
    }

    pub(crate) fn view(&self, view: &View) -> Self {
        match view {
            View::Slice(spans) => {
                let shape: Vec<i64> = spans.iter().map(|s| s.len).collect();
                Table::of(&shape, |p| {
                    let q: Vec<i64> = p
                        .iter()
                        .zip(spans)
                        .map(|(x, s)| s.start + x * s.step)
                        .collect();
                    self.get(&q)
                })
            }
            View::Permute(perm) => {
                let shape: Vec<i64> = perm.iter().map(|&a| self.shape[a]).collect();
                Table::of(&shape, |p| {
                    let mut q = vec![0; p.len()];
                    for (k, &a) in perm.iter().enumerate() {
                        q[a] = p[k];
                    }
                    self.get(&q)
                })
            }
            View::Collapse { groups } => {
                let mut shape = vec![];
                let mut at = 0;
                for &g in groups {
                    shape.push(self.shape[at..at + g].iter().product());
                    at += g;
                }
                Table {
                    shape,
                    data: self.data.clone(),
                }
            }
            View::Expand { sizes, .. } => Table {
                shape: sizes.to_vec(),
                data: self.data.clone(),
            },
            View::Broadcast { sizes } => Table::of(sizes, |p| {
                let q: Vec<i64> = p
                    .iter()
                    .zip(&self.shape)
                    .map(|(&x, &n)| if n == 1 { 0 } else { x })
                    .collect();
                self.get(&q)
            }),
            &View::Windows { axis, size } => {
                let mut shape = self.shape.clone();
                shape[axis] = size;
                shape.insert(axis, self.shape[axis] - size + 1);
                Table::of(&shape, |p| {
                    let mut q = p.to_vec();
                    let place = q.remove(axis);
                    q[axis] += place;
                    self.get(&q)
                })
            }
        }
    }

    pub(crate) fn concat(operands: &[&Self], axis: usize) -> Self {
        let mut shape = operands[0].shape.clone();
        shape[axis] = operands.iter().map(|t| t.shape[axis]).sum();
        Table::of(&shape, |p| {
            let mut q = p.to_vec();
            for t in operands {
                if q[axis] < t.shape[axis] {
                    return t.get(&q);
                }
                q[axis] -= t.shape[axis];
            }
            unreachable!("the sizes add up")
        })
    }
}

pub(crate) fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let mut out = vec![];
    for p in permutations(n - 1) {
        for at in 0..n {
            let mut q = p.clone();
            q.insert(at, n - 1);
            out.push(q);
        }
    }
    out
}

/// All slices of an axis, steps up to 3 either way and the extremes.
pub(crate) fn spans(extent: i64) -> Vec<Span> {
    let mut out = vec![Span {
        start: 0,
        len: 0,
        step: 1,
    }];
    for start in 0..extent {
        for step in (-extent..=extent).filter(|&s| s != 0) {
            let room = if step > 0 { extent - 1 - start } else { start };
            for len in 1..=room / step.abs() + 1 {
                if len == 1 && step != 1 {
                    continue;
                }
                out.push(Span { start, len, step });
            }
        }
    }
    out
}

/// All ways to write a number as a product of up to `parts` sizes of which few are 1.
pub(crate) fn factorings(n: i64, parts: usize) -> Vec<Vec<i64>> {
    let mut out = vec![vec![n]];
    if parts > 1 {
        for d in (1..=n).filter(|d| n % d == 0) {
            for rest in factorings(n / d, parts - 1) {
                let mut f = vec![d];
                f.extend(rest);
                out.push(f);
            }
        }
    }
    out
}

fn random_span(random: &mut Random, n: i64) -> Span {
    if n == 0 || random.within(0, 2) == 0 {
        return Span::whole(n);
    }
    let start = random.within(0, n - 1);
    let mut step = random.within(1, 3.min(n));
    let mut room = n - 1 - start;
    if random.within(0, 3) == 0 {
        (step, room) = (-step, start);
    }
    let most = room / step.abs() + 1;
    let len = if random.within(0, 1) == 0 {
        most
    } else {
        random.within(1, most)
    };
    let step = if len == 1 { 1 } else { step };
    Span { start, len, step }
}

/// A view step that fits the shape, of any kind.
pub(crate) fn random_view(random: &mut Random, shape: &[i64]) -> View {
    let rank = shape.len();
    match random.within(0, 6) {
        6 if (1..4).contains(&rank) && !shape.contains(&0) => {
            let axis = random.within(0, rank as i64 - 1) as usize;
            let size = random.within(1, shape[axis]);
            View::Windows { axis, size }
        }
        0 | 1 if rank > 0 => View::Slice(shape.iter().map(|&n| random_span(random, n)).collect()),
        2 if rank > 0 => View::Permute(
            random
                .pick(&permutations(rank.min(5)))
                .iter()
                .copied()
                .chain(5..rank)
                .collect(),
        ),
        3 if rank > 1 => {
            let mut groups = SmallVec::new();
            let mut left = rank;
            while left > 0 {
                let g = random.within(1, 3.min(left as i64)) as usize;
                groups.push(g);
                left -= g;
            }
            View::Collapse { groups }
        }
        4 if rank > 0 && shape.contains(&1) => View::Broadcast {
            sizes: shape
                .iter()
                .map(|&n| if n == 1 { random.within(1, 3) } else { n })
                .collect(),
        },
        _ if rank == 0 => View::Expand {
            groups: SmallVec::new(),
            sizes: SmallVec::from_elem(1, random.within(1, 2) as usize),
        },
        _ => {
            let mut groups = SmallVec::new();
            let mut sizes = SmallVec::new();
            for &n in shape {
                let most = if sizes.len() > 4 || n == 0 { 1 } else { 3 };
                let f = random.pick(&factorings(n, most));
                groups.push(f.len());
                sizes.extend(f);
            }
            View::Expand { groups, sizes }
        }
    }
}
