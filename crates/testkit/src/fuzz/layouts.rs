//! Views of layouts against views of their address tables.

use restride_layout::{Layout, Span, View};

use super::Bytes;

/// The most points that are looked at one by one.
const MOST: i64 = 2_000;

/// A shape and the address of every point, row-major.
struct AddressTable {
    shape: Vec<i64>,
    addresses: Vec<i64>,
}

/// A chain of views on a dense or strided layout, some of which do not apply.
pub fn layouts(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let rank = 1 + bytes.below(4);
    let source: Vec<i64> = (0..rank).map(|_| bytes.below(5) as i64).collect();
    let mut layout = Layout::dense(&source).expect("a small shape");
    let count: i64 = source.iter().product();
    let mut table = AddressTable {
        shape: source.clone(),
        addresses: (0..count).collect(),
    };
    let mut views = Vec::new();
    while !bytes.is_empty() && views.len() < 12 {
        let view = draw(&mut bytes, &table.shape);
        let shape = view.shape(&table.shape);
        if shape
            .as_ref()
            .is_ok_and(|shape| shape.iter().product::<i64>() > MOST)
        {
            continue;
        }
        let Ok(next) = layout.view(&view) else {
            continue;
        };
        // What does not apply to a shape applies to no layout of it.
        let shape = shape.unwrap_or_else(|error| panic!("{view:?} of {:?}: {error}", table.shape));
        views.push(view);
        layout = next;
        table = table.view(&views[views.len() - 1], shape.to_vec());
        same(&layout, &table, &format!("{source:?} {views:?}"));
    }
    if let Ok(chain) = layout.reify(&source) {
        let mut again = Layout::dense(&source).expect("a small shape");
        for view in chain.iter() {
            again = again
                .view(view)
                .unwrap_or_else(|e| panic!("{e}: {source:?} {views:?}"));
        }
        assert_eq!(again, layout, "{source:?} {views:?}");
    }
}

fn same(layout: &Layout, table: &AddressTable, what: &str) {
    assert_eq!(layout.shape(), table.shape, "{what}");
    let (mut point, mut low, mut high) = (vec![0; table.shape.len()], i64::MAX, i64::MIN);
    for &address in &table.addresses {
        let found = layout.at(&point).map(|columns| columns[0]);
        assert_eq!(found, Some(address), "{what} at {point:?}");
        (low, high) = (low.min(address), high.max(address));
        step(&mut point, &table.shape);
    }
    if !table.addresses.is_empty() {
        assert_eq!(layout.range(0), Some((low, high)), "{what}");
    }
}

/// The next point, row-major.
fn step(point: &mut [i64], shape: &[i64]) {
    for axis in (0..point.len()).rev() {
        point[axis] += 1;
        if point[axis] < shape[axis] {
            return;
        }
        point[axis] = 0;
    }
}

impl AddressTable {
    fn view(&self, view: &View, shape: Vec<i64>) -> AddressTable {
        let count = shape.iter().product::<i64>() as usize;
        let mut point = vec![0; shape.len()];
        let mut addresses = Vec::with_capacity(count);
        for flat in 0..count {
            let source: Option<Vec<i64>> = match view {
                View::Slice(spans) => {
                    let at = point.iter().zip(spans);
                    Some(at.map(|(p, s)| s.start + p * s.step).collect())
                }
                View::Permute(perm) => {
                    let mut source = vec![0; point.len()];
                    perm.iter()
                        .zip(&point)
                        .for_each(|(&axis, &p)| source[axis] = p);
                    Some(source)
                }
                View::Broadcast { .. } => {
                    let at = point.iter().zip(&self.shape);
                    Some(
                        at.map(|(&p, &size)| if size == 1 { 0 } else { p })
                            .collect(),
                    )
                }
                &View::Windows { axis, .. } => {
                    let mut source = point.clone();
                    let place = source.remove(axis);
                    source[axis] += place;
                    Some(source)
                }
                // The same elements in the same order.
                View::Collapse { .. } | View::Expand { .. } => None,
            };
            let from = source.map_or(flat, |source| {
                let at = source.iter().zip(&self.shape);
                at.fold(0, |flat, (p, size)| flat * size + p) as usize
            });
            addresses.push(self.addresses[from]);
            step(&mut point, &shape);
        }
        AddressTable { shape, addresses }
    }
}

/// A view that applies to a shape, or nearly.
fn draw(bytes: &mut Bytes<'_>, shape: &[i64]) -> View {
    let rank = shape.len();
    match bytes.below(6) {
        0 | 1 => View::Slice(shape.iter().map(|&size| span(bytes, size)).collect()),
        2 => {
            let mut perm: Vec<usize> = (0..rank).collect();
            for at in (1..rank).rev() {
                perm.swap(at, bytes.below(at + 1));
            }
            View::Permute(perm.into_iter().collect())
        }
        3 => {
            let (mut groups, mut left) = (Vec::new(), rank);
            while left > 0 {
                let group = 1 + bytes.below(left);
                groups.push(group);
                left -= group;
            }
            View::Collapse {
                groups: groups.into_iter().collect(),
            }
        }
        4 => {
            let (mut groups, mut sizes) = (Vec::new(), Vec::new());
            for &size in shape {
                let divisors: Vec<i64> = (1..=size.max(1)).filter(|d| size % d == 0).collect();
                let first = divisors[bytes.below(divisors.len())];
                match bytes.below(3) {
                    0 => {
                        groups.push(2);
                        sizes.extend([first, size / first]);
                    }
                    1 => {
                        groups.push(2);
                        sizes.extend([size, 1]);
                    }
                    _ => {
                        groups.push(1);
                        sizes.push(size);
                    }
                }
            }
            View::Expand {
                groups: groups.into_iter().collect(),
                sizes: sizes.into_iter().collect(),
            }
        }
        _ => View::Broadcast {
            sizes: shape
                .iter()
                .map(|&size| {
                    if size == 1 {
                        bytes.below(4) as i64
                    } else {
                        size
                    }
                })
                .collect(),
        },
    }
}

fn span(bytes: &mut Bytes<'_>, size: i64) -> Span {
    match bytes.below(8) {
        0 | 1 => Span::whole(size),
        2 => Span {
            start: size - 1,
            len: size,
            step: -1,
        },
        3 => Span {
            start: bytes.number(),
            len: bytes.number(),
            step: bytes.number(),
        },
        _ => {
            let start = bytes.below(size.max(1) as usize) as i64;
            let step = [1, 2, 3, -1, -2][bytes.below(5)];
            let room = if step > 0 { size - 1 - start } else { start };
            let most = (room / i64::abs(step) + 1).clamp(0, size);
            let len = bytes.below(most as usize + 1) as i64;
            Span { start, len, step }
        }
    }
}
