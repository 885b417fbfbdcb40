//! What is swept. Every case is an ordinary workload, small enough to be checked by definition.

use restride_testkit::workloads::{
    Checksum, Dtype, Input, ShapeError, Step, Tensor, Values, Workload, infer,
};
use std::collections::BTreeMap;

/// One point of a series.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// Where it stands in its series.
    pub(super) at: String,
    /// What is run; its checksum is still to be found.
    pub(super) workload: Result<Workload, ShapeError>,
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
const WIDTHS: [Dtype; 5] = [Dtype::U8, Dtype::U16, Dtype::F32, Dtype::I64, Dtype::C128];

/// About as many bytes as a case with many rows writes: past L1, within L2.
const ROWS_BYTES: i64 = 256 << 10;

/// Every series.
pub(super) fn all() -> Vec<Line> {
    let mut lines = Vec::new();
    for dtype in WIDTHS {
        lines.extend([runs(dtype), rows(dtype), steps(dtype), squares(dtype)]);
        lines.extend([turns(dtype), pixels(dtype)]);
        lines.extend([
            thin(dtype, false),
            thin(dtype, true),
            gathers(dtype),
            joins(dtype),
        ]);
    }
    lines.extend([offsets(4096), offsets(65_536)]);
    for dtype in [Dtype::U8, Dtype::F32] {
        lines.extend((2..=5).map(|rank| permutations(dtype, rank)));
        lines.extend((1..=5).map(|rank| reversals(dtype, rank)));
        lines.push(ranks(dtype));
    }
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

fn width(dtype: Dtype) -> i64 {
    dtype.width() as i64
}

/// Rows of `bytes` bytes each until [`ROWS_BYTES`] are written.
fn rows_of(bytes: i64) -> i64 {
    (ROWS_BYTES / bytes.max(1)).clamp(1, 16_384)
}

fn data(shape: &[i64], dtype: Dtype) -> Input {
    Input {
        name: "x".into(),
        tensor: Tensor {
            dtype,
            shape: shape.to_vec(),
        },
        values: Values::Data,
        constant: false,
    }
}

fn workload(inputs: Vec<Input>, steps: Vec<Step>) -> Result<Workload, ShapeError> {
    let mut tensors: Vec<Tensor> = inputs.iter().map(|input| input.tensor.clone()).collect();
    for step in &steps {
        tensors.push(infer(step, &tensors)?);
    }
    Ok(Workload {
        id: "sweep".into(),
        title: String::new(),
        tags: BTreeMap::new(),
        output: tensors.len() - 1,
        inputs,
        steps,
        tensors,
        checksum: Checksum {
            crc32: 0,
            fnv1a64: None,
        },
        useful_bytes: None,
        limit_ratio: None,
    })
}

/// A series from points.
fn line<T: std::fmt::Display, const N: usize>(
    class: &'static str,
    name: String,
    ordered: bool,
    points: impl IntoIterator<Item = (T, Vec<Input>, [Step; N])>,
) -> Line {
    let case = |(at, inputs, steps): (T, Vec<Input>, [Step; N])| Case {
        at: at.to_string(),
        workload: workload(inputs, steps.into()),
    };
    Line {
        class,
        name,
        ordered,
        cases: points.into_iter().map(case).collect(),
    }
}

fn slice(start: &[i64], size: &[i64], step: &[i64]) -> Step {
    Step::StridedSlice {
        x: 0,
        start: start.to_vec(),
        size: size.to_vec(),
        step: step.to_vec(),
    }
}

/// One run of `n` elements that starts off alignment.
fn runs(dtype: Dtype) -> Line {
    let points = sizes((1 << 20) / width(dtype))
        .into_iter()
        .map(|n| (n, vec![data(&[n + 2], dtype)], [slice(&[1], &[n], &[1])]));
    line("run", format!("{} elements", dtype.name()), true, points)
}

/// Many rows of `n` elements out of longer ones.
fn rows(dtype: Dtype) -> Line {
    let points = sizes(4096 / width(dtype)).into_iter().map(|n| {
        let rows = rows_of(n * width(dtype));
        (
            n,
            vec![data(&[rows, n + 3], dtype)],
            [slice(&[0, 1], &[rows, n], &[1, 1])],
        )
    });
    line(
        "rows",
        format!("of {} elements", dtype.name()),
        true,
        points,
    )
}

/// Every step from -8 to 8 along the inner axis.
fn steps(dtype: Dtype) -> Line {
    let (rows, n) = (rows_of(509 * width(dtype)), 509);
    let points = (-8i64..=8).filter(|step| *step != 0).map(|step| {
        let extent = n * step.abs();
        let start = if step < 0 { extent - 1 } else { 0 };
        (
            step,
            vec![data(&[rows, extent], dtype)],
            [slice(&[0, start], &[rows, n], &[1, step])],
        )
    });
    line("step", format!("{} elements", dtype.name()), true, points)
}

/// Square transposes of every size.
fn squares(dtype: Dtype) -> Line {
    let most = if dtype.width() == 16 { 257 } else { 1025 };
    let points = sizes(most).into_iter().map(|n| {
        (
            n,
            vec![data(&[n, n], dtype)],
            [Step::Transpose {
                x: 0,
                perm: vec![1, 0],
            }],
        )
    });
    line(
        "transpose",
        format!("square of {}", dtype.name()),
        true,
        points,
    )
}

/// Quarter turns, and transposes that take some of the rows only.
fn turns(dtype: Dtype) -> Line {
    let n = 256;
    let points = (-5i64..=5).filter(|step| *step != 0).map(|step| {
        let extent = n * step.abs();
        let start = if step < 0 { extent - 1 } else { 0 };
        let steps = [
            slice(&[0, start], &[n, n], &[1, step]),
            Step::Transpose {
                x: 1,
                perm: vec![1, 0],
            },
        ];
        (step, vec![data(&[n, extent], dtype)], steps)
    });
    line("turn", format!("square of {}", dtype.name()), true, points)
}

/// Transposes of images whose pixels have so many channels.
fn pixels(dtype: Dtype) -> Line {
    let points = (1..=9i64).map(|channels| {
        let step = Step::Transpose {
            x: 0,
            perm: vec![1, 0, 2],
        };
        (channels, vec![data(&[180, 240, channels], dtype)], [step])
    });
    line(
        "pixels",
        format!("of channels of {}", dtype.name()),
        true,
        points,
    )
}

/// Transposes of long strips: to planes, or back.
fn thin(dtype: Dtype, back: bool) -> Line {
    let points = (1..=17i64).map(move |n| {
        let long = rows_of(n * width(dtype));
        let shape = if back { [n, long] } else { [long, n] };
        (
            n,
            vec![data(&shape, dtype)],
            [Step::Transpose {
                x: 0,
                perm: vec![1, 0],
            }],
        )
    });
    let way = if back { "joining" } else { "splitting" };
    line(
        "thin transpose",
        format!("{way} channels of {}", dtype.name()),
        true,
        points,
    )
}

/// Rows of `n` elements by index.
fn gathers(dtype: Dtype) -> Line {
    let points = sizes(2048 / width(dtype)).into_iter().map(|n| {
        let picked = rows_of(n * width(dtype));
        let table = (2 * picked).max(2);
        let indices = Input {
            name: "indices".into(),
            tensor: Tensor {
                dtype: Dtype::I32,
                shape: vec![picked],
            },
            values: Values::IndexHash(u32::try_from(table).unwrap_or(u32::MAX)),
            constant: false,
        };
        (
            n,
            vec![data(&[table, n], dtype), indices],
            [Step::Gather {
                x: 0,
                indices: 1,
                axis: 0,
                batch_dims: 0,
            }],
        )
    });
    line(
        "gather",
        format!("rows of {} elements", dtype.name()),
        true,
        points,
    )
}

/// Two tensors side by side along a short inner axis.
fn joins(dtype: Dtype) -> Line {
    let points = (1..=33i64).map(|n| {
        let rows = rows_of(2 * n * width(dtype));
        let shape = [rows, n];
        (
            n,
            vec![data(&shape, dtype), data(&shape, dtype)],
            [Step::Concat {
                parts: vec![0, 1],
                axis: 1,
            }],
        )
    });
    line(
        "concat",
        format!("of {} elements", dtype.name()),
        true,
        points,
    )
}

/// Every byte offset within a cache line and past it.
fn offsets(bytes: i64) -> Line {
    let points = (0..=65i64).map(|offset| {
        (
            offset,
            vec![data(&[bytes + 80], Dtype::U8)],
            [slice(&[offset], &[bytes], &[1])],
        )
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

/// Every permutation of a rank.
fn permutations(dtype: Dtype, rank: usize) -> Line {
    let shape = shape_of(rank);
    let points = orders(rank).into_iter().map(|perm| {
        let at = perm.iter().map(usize::to_string).collect::<String>();
        (
            at,
            vec![data(shape, dtype)],
            [Step::Transpose { x: 0, perm }],
        )
    });
    line(
        "permute",
        format!("{} of rank {rank}", dtype.name()),
        false,
        points,
    )
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
fn reversals(dtype: Dtype, rank: usize) -> Line {
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
        (
            at.collect::<String>(),
            vec![data(shape, dtype)],
            [slice(&start, shape, &step)],
        )
    });
    line(
        "reverse",
        format!("{} axes of rank {rank}", dtype.name()),
        false,
        points,
    )
}

/// The same amount of data sliced off-centre in more and more axes.
fn ranks(dtype: Dtype) -> Line {
    let points = (1..=8usize).map(|rank| {
        let extent = (65_536f64.powf(1.0 / rank as f64).round() as i64).max(4);
        let shape = vec![extent; rank];
        (
            rank,
            vec![data(&shape, dtype)],
            [slice(
                &vec![1; rank],
                &vec![extent - 2; rank],
                &vec![1; rank],
            )],
        )
    });
    line("rank", format!("{} slices", dtype.name()), false, points)
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
                let workload = case.workload.as_ref().expect(&name);
                let bytes = workload.tensors.iter().filter_map(Tensor::bytes).max();
                assert!(bytes <= Some(9 << 20), "{name}: {bytes:?}");
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
