//! What is swept. Every case is an ordinary workload, small enough to be checked by definition.

use restride_graph::{ElementType, Graph, ValueId};
use restride_testkit::workloads::{IN_RANGE, Values, region};

use super::drawn;

/// One point of a series.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// Where it stands in its series.
    pub(super) at: String,
    /// What is run, and how its inputs are made.
    pub(super) graph: Result<(Graph, Vec<Values>), String>,
}

impl Case {
    /// What it is called beside the cases of all series.
    pub(super) fn name(&self, class: &str, series: &str) -> String {
        format!("{class} {series} {}", self.at)
    }
}

/// Cases that vary in one thing.
pub(super) struct Line {
    /// The kind of movement.
    pub(super) class: &'static str,
    /// What is held fixed.
    pub(super) name: String,
    /// Whether neighbours are alike, so that a dip between them is a cliff.
    pub(super) ordered: bool,
    /// In order.
    pub(super) cases: Vec<Case>,
}

/// One type of each width.
pub(super) const WIDTHS: [ElementType; 5] = [
    ElementType::U8,
    ElementType::U16,
    ElementType::F32,
    ElementType::I64,
    ElementType::C128,
];

/// About as many bytes as a case with many rows writes: past L1, within L2.
const ROWS_BYTES: i64 = 256 << 10;

/// About as many bytes as a case writes whose indices are constants.
const NAMED_BYTES: i64 = 2 << 10;

/// The same of matrices past L2, of which two are more than half of a last cache of 32 MB.
const LARGE_BYTES: i64 = 12 << 20;

/// Every series.
pub(super) fn all() -> Vec<Line> {
    let mut lines = Vec::new();
    for element in WIDTHS {
        lines.extend([
            runs(element),
            rows(element),
            steps(element),
            squares(element),
        ]);
        lines.extend([turns(element), pixels(element)]);
        lines.extend([
            thin(element, false),
            thin(element, true),
            gathers(element),
            picks(element),
            named(element),
            joins(element),
        ]);
    }
    lines.extend([offsets(4096), offsets(65_536)]);
    for element in [ElementType::U8, ElementType::F32] {
        for rank in 2..=5 {
            let name = format!("{} of rank {rank}", element.name());
            lines.push(permutations("permute", name, element, shape_of(rank)));
        }
        lines.extend((1..=5).map(|rank| reversals(element, rank)));
        lines.push(ranks(element));
    }
    for element in &WIDTHS[..4] {
        for shape in POWERS {
            let name = format!("{} of {shape:?}", element.name());
            lines.push(permutations("powers", name, *element, shape));
        }
        lines.extend([large(*element), pictures(*element)]);
    }
    lines.extend(drawn::lines());
    lines.push(crowded_runs());
    lines
}

/// Powers of two, their neighbours, and primes between them, up to `most`.
fn sizes(most: i64) -> Vec<i64> {
    let powers = (0..40)
        .map(|k| 1i64 << k)
        .take_while(|power| *power <= most);
    let mut sizes: Vec<i64> = powers
        .flat_map(|power| [power - 1, power, power + 1])
        .collect();
    sizes.extend([
        3, 5, 7, 11, 13, 23, 29, 47, 53, 97, 193, 389, 769, 1543, 3079, 6151, 12_289, 24_593,
        49_157, 98_317, 196_613, 393_241, 786_433,
    ]);
    sizes.retain(|size| (1..=most).contains(size));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

pub(super) fn width(element: ElementType) -> i64 {
    element.width() as i64
}

/// Rows of `bytes` bytes each until [`ROWS_BYTES`] are written.
fn rows_of(bytes: i64) -> i64 {
    (ROWS_BYTES / bytes.max(1)).clamp(1, 16_384)
}

/// A graph whose inputs after the first index or hold data as this says.
fn with_values(graph: Graph, others: Values) -> (Graph, Vec<Values>) {
    let mut values = vec![others; graph.inputs().len()];
    values[0] = Values::Data;
    (graph, values)
}

/// The graph of operators on one input.
fn graph(
    shape: &[i64],
    element: ElementType,
    body: impl FnOnce(&mut Graph, ValueId) -> Result<ValueId, String>,
) -> Result<Graph, String> {
    let mut graph = Graph::new("sweep");
    let x = graph.input("x", element, shape).map_err(text)?;
    let y = body(&mut graph, x)?;
    graph.output(y).map_err(text)?;
    Ok(graph)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A series from points.
pub(super) fn line<T: std::fmt::Display>(
    class: &'static str,
    name: String,
    ordered: bool,
    points: impl IntoIterator<Item = (T, Result<Graph, String>)>,
) -> Line {
    let case = |(at, graph): (T, Result<Graph, String>)| Case {
        at: at.to_string(),
        graph: graph.map(|graph| with_values(graph, Values::Data)),
    };
    Line {
        class,
        name,
        ordered,
        cases: points.into_iter().map(case).collect(),
    }
}

/// So many elements of a tensor, all of which are there.
fn slice(
    shape: &[i64],
    element: ElementType,
    [start, size, step]: [&[i64]; 3],
) -> Result<Graph, String> {
    graph(shape, element, |graph, x| {
        let op = region(graph, x, start, size, step)?;
        graph.push(op).map_err(text)
    })
}

/// A tensor with its axes in another order.
pub(super) fn transpose(
    shape: &[i64],
    element: ElementType,
    perm: &[i64],
) -> Result<Graph, String> {
    graph(shape, element, |graph, x| {
        graph.transpose(x, perm).map_err(text)
    })
}

/// One run of `n` elements that starts off alignment.
fn runs(element: ElementType) -> Line {
    let points = sizes((1 << 20) / width(element))
        .into_iter()
        .map(|n| (n, slice(&[n + 2], element, [&[1], &[n], &[1]])));
    line("run", format!("{} elements", element.name()), true, points)
}

/// Many rows of `n` elements out of longer ones.
fn rows(element: ElementType) -> Line {
    let points = sizes(4096 / width(element)).into_iter().map(|n| {
        let rows = rows_of(n * width(element));
        let range: [&[i64]; 3] = [&[0, 1], &[rows, n], &[1, 1]];
        (n, slice(&[rows, n + 3], element, range))
    });
    line(
        "rows",
        format!("of {} elements", element.name()),
        true,
        points,
    )
}

/// Every step from -8 to 8 along the inner axis.
fn steps(element: ElementType) -> Line {
    let (rows, n) = (rows_of(509 * width(element)), 509);
    let points = (-8i64..=8).filter(|step| *step != 0).map(|step| {
        let extent = n * step.abs();
        let start = if step < 0 { extent - 1 } else { 0 };
        let range: [&[i64]; 3] = [&[0, start], &[rows, n], &[1, step]];
        (step, slice(&[rows, extent], element, range))
    });
    line("step", format!("{} elements", element.name()), true, points)
}

/// Square transposes of every size.
fn squares(element: ElementType) -> Line {
    let most = if element.width() == 16 { 257 } else { 1025 };
    let points = sizes(most)
        .into_iter()
        .map(|n| (n, transpose(&[n, n], element, &[1, 0])));
    line(
        "transpose",
        format!("square of {}", element.name()),
        true,
        points,
    )
}

/// Transposes of matrices that the last cache has only a part of, with both sides: of rows that are whole lines, whole vectors or
/// neither, and that lie a page apart or next to that.
fn large(element: ElementType) -> Line {
    let width = width(element);
    let (in_line, page) = (64 / width, 4096 / width);
    let whole = (LARGE_BYTES / width).isqrt() / in_line * in_line;
    let (vectors, odd) = (whole + 16 / width, whole + 1);
    let tall = LARGE_BYTES / 4096;
    let shapes = [
        [whole, whole],
        [whole, vectors],
        [vectors, whole],
        [vectors, vectors],
        [whole, odd],
        [odd, whole],
        [odd, odd],
        [tall, page],
        [page, tall],
        [tall + 1, page + 1],
        [page + 1, tall + 1],
    ];
    let points = shapes.map(|shape| {
        let at = format!("{}x{}", shape[0], shape[1]);
        (at, transpose(&shape, element, &[1, 0]))
    });
    let name = format!("matrices of {}", element.name());
    line("large", name, false, points)
}

/// The same of pictures of three channels.
fn pictures(element: ElementType) -> Line {
    let pixels = LARGE_BYTES / (3 * width(element));
    let whole = pixels.isqrt() / 64 * 64;
    let shapes = [(whole, whole), (whole + 1, whole + 1), (512, pixels / 512)];
    let points = shapes.map(|(rows, columns)| {
        let picture = transpose(&[rows, columns, 3], element, &[1, 0, 2]);
        (format!("{rows}x{columns}"), picture)
    });
    let name = format!("pictures of {}", element.name());
    line("large", name, false, points)
}

/// Quarter turns, and transposes that take some of the rows only.
fn turns(element: ElementType) -> Line {
    let n = 256;
    let points = (-5i64..=5).filter(|step| *step != 0).map(|step| {
        let extent = n * step.abs();
        let start = if step < 0 { extent - 1 } else { 0 };
        let turned = graph(&[n, extent], element, |graph, x| {
            let op = region(graph, x, &[0, start], &[n, n], &[1, step])?;
            let y = graph.push(op).map_err(text)?;
            graph.transpose(y, [1, 0]).map_err(text)
        });
        (step, turned)
    });
    line(
        "turn",
        format!("square of {}", element.name()),
        true,
        points,
    )
}

/// Transposes of images whose pixels have so many channels.
fn pixels(element: ElementType) -> Line {
    let points = (1..=9i64).map(|channels| {
        let shape = [180, 240, channels];
        (channels, transpose(&shape, element, &[1, 0, 2]))
    });
    line(
        "pixels",
        format!("of channels of {}", element.name()),
        true,
        points,
    )
}

/// Transposes of long strips: to planes, or back.
fn thin(element: ElementType, back: bool) -> Line {
    let points = (1..=17i64).map(move |n| {
        let long = rows_of(n * width(element));
        let shape = if back { [n, long] } else { [long, n] };
        (n, transpose(&shape, element, &[1, 0]))
    });
    let way = if back { "joining" } else { "splitting" };
    line(
        "thin transpose",
        format!("{way} channels of {}", element.name()),
        true,
        points,
    )
}

/// Rows of `n` elements by index.
fn gathers(element: ElementType) -> Line {
    let points = sizes(2048 / width(element)).into_iter().map(|n| {
        let picked = rows_of(n * width(element));
        let table = (2 * picked).max(2);
        let hashed = Values::IndexHash(u32::try_from(table).unwrap_or(u32::MAX));
        Case {
            at: n.to_string(),
            graph: gather(&[table, n], element, 0, picked, hashed),
        }
    });
    Line {
        class: "gather",
        name: format!("rows of {} elements", element.name()),
        ordered: true,
        cases: points.collect(),
    }
}

/// About every second of so many pairs of elements.
fn halves(n: i64) -> Vec<i64> {
    (0..n).map(|i| 2 * i + i / 3 % 2).collect()
}

/// The same by constants, of a few rows.
fn named(element: ElementType) -> Line {
    let points = sizes(256 / width(element)).into_iter().map(|n| {
        let rows = 1 + NAMED_BYTES / (n * width(element));
        let picked = graph(&[rows, 2 * n], element, |graph, x| {
            let indices = graph.index_table([n], &halves(n)).map_err(text)?;
            let gather = graph.gather(x, indices, IN_RANGE);
            gather.axis(1).finish().map_err(text)
        });
        (n, picked)
    });
    line(
        "named",
        format!("of {} elements", element.name()),
        true,
        points,
    )
}

/// About every second of the elements of many rows, `n` of each.
fn picks(element: ElementType) -> Line {
    let points = sizes(1024 / width(element)).into_iter().map(|n| {
        let rows = rows_of(n * width(element));
        let listed = Values::Listed(halves(n));
        Case {
            at: n.to_string(),
            graph: gather(&[rows, 2 * n], element, 1, n, listed),
        }
    });
    Line {
        class: "picks",
        name: format!("of {} elements", element.name()),
        ordered: true,
        cases: points.collect(),
    }
}

/// So many of what lies along an axis, by index.
fn gather(
    shape: &[i64],
    element: ElementType,
    axis: i64,
    picked: i64,
    indices: Values,
) -> Result<(Graph, Vec<Values>), String> {
    let gathered = graph(shape, element, |graph, x| {
        let indices = graph.input("indices", ElementType::I32, [picked]);
        let gather = graph.gather(x, indices.map_err(text)?, IN_RANGE);
        gather.axis(axis).finish().map_err(text)
    });
    gathered.map(|graph| with_values(graph, indices))
}

/// Two tensors side by side along a short inner axis.
fn joins(element: ElementType) -> Line {
    let points = (1..=33i64).map(|n| {
        let rows = rows_of(2 * n * width(element));
        let joined = graph(&[rows, n], element, |graph, x| {
            let other = graph.input("other", element, [rows, n]).map_err(text)?;
            graph.concat([x, other], 1).map_err(text)
        });
        (n, joined)
    });
    line(
        "concat",
        format!("of {} elements", element.name()),
        true,
        points,
    )
}

/// Every byte offset within a cache line and past it.
fn offsets(bytes: i64) -> Line {
    let points = (0..=65i64).map(|offset| {
        let range: [&[i64]; 3] = [&[offset], &[bytes], &[1]];
        (offset, slice(&[bytes + 80], ElementType::U8, range))
    });
    line("alignment", format!("of {bytes} bytes"), true, points)
}

/// The sizes of the axes of a tensor of some rank; uneven, so that nothing merges by luck.
fn shape_of(rank: usize) -> &'static [i64] {
    match rank {
        1 => &[65_537],
        2 => &[254, 258],
        3 => &[30, 47, 46],
        4 => &[14, 18, 15, 17],
        _ => &[7, 10, 9, 11, 10],
    }
}

/// Axes that are powers of two, whose rows share few sets of a cache.
const POWERS: [&[i64]; 4] = [&[64, 2048], &[512, 256], &[32, 64, 128], &[8, 32, 16, 64]];

/// Every permutation of the axes of a shape.
fn permutations(class: &'static str, name: String, element: ElementType, shape: &[i64]) -> Line {
    let points = orders(shape.len()).into_iter().map(|perm| {
        let at = perm.iter().map(usize::to_string).collect::<String>();
        let perm: Vec<i64> = perm.into_iter().map(|axis| axis as i64).collect();
        (at, transpose(shape, element, &perm))
    });
    line(class, name, false, points)
}

/// Two axes exchanged, of runs of bytes that begin in one set of a cache.
fn crowded_runs() -> Line {
    let points = [8, 16, 24, 32, 40, 48, 64, 96, 128].into_iter();
    let points = points.map(|n| (n, transpose(&[64, 512, n], ElementType::U8, &[1, 0, 2])));
    line("powers", "runs of u8 elements".into(), true, points)
}

/// All orders of `0..rank`, lexicographic.
fn orders(rank: usize) -> Vec<Vec<usize>> {
    if rank == 0 {
        return vec![vec![]];
    }
    let mut orders = Vec::new();
    for first in 0..rank {
        for rest in orders_without(first, rank) {
            orders.push([vec![first], rest].concat());
        }
    }
    orders
}

fn orders_without(first: usize, rank: usize) -> Vec<Vec<usize>> {
    let shift = |axis: usize| if axis < first { axis } else { axis + 1 };
    let shifted = |order: Vec<usize>| order.into_iter().map(shift).collect();
    orders(rank - 1).into_iter().map(shifted).collect()
}

/// Every set of axes turned round.
fn reversals(element: ElementType, rank: usize) -> Line {
    let shape = shape_of(rank);
    let points = (1u32..1 << rank).map(|set| {
        let turned = |axis: usize| set >> axis & 1 == 1;
        let start: Vec<i64> = (0..rank)
            .map(|a| if turned(a) { shape[a] - 1 } else { 0 })
            .collect();
        let step: Vec<i64> = (0..rank).map(|a| if turned(a) { -1 } else { 1 }).collect();
        let at = (0..rank)
            .filter(|axis| turned(*axis))
            .map(|axis| axis.to_string());
        let reversed = slice(shape, element, [&start, shape, &step]);
        (at.collect::<String>(), reversed)
    });
    line(
        "reverse",
        format!("{} axes of rank {rank}", element.name()),
        false,
        points,
    )
}

/// The same amount of data sliced off-centre in more and more axes.
fn ranks(element: ElementType) -> Line {
    let points = (1..=8usize).map(|rank| {
        let extent = (65_536f64.powf(1.0 / rank as f64).round() as i64).max(4);
        let shape = vec![extent; rank];
        let (ones, sizes) = (vec![1; rank], vec![extent - 2; rank]);
        (rank, slice(&shape, element, [&ones, &sizes, &ones]))
    });
    line("rank", format!("{} slices", element.name()), false, points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_makes_a_workload_of_bounded_size() {
        for line in all() {
            assert!(!line.cases.is_empty(), "{} {}", line.class, line.name);
            for case in &line.cases {
                let name = format!("{} {} {}", line.class, line.name, case.at);
                let (graph, _) = case.graph.as_ref().expect(&name);
                let bytes = graph.values().map(|value| graph.ty(value).byte_size());
                let most = bytes.max();
                assert!(most <= Some(13 << 20), "{name}: {most:?}");
            }
        }
    }

    #[test]
    fn sizes_hold_powers_their_neighbours_and_primes() {
        assert_eq!(sizes(17), [1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 15, 16, 17]);
        assert!(sizes(1 << 20).contains(&786_433));
    }

    #[test]
    fn orders_are_all_different() {
        let orders: std::collections::BTreeSet<_> = orders(5).into_iter().collect();
        assert_eq!(orders.len(), 120);
    }
}
