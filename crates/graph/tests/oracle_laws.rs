//! Laws between operators, on random shapes: the oracle's equations check one another.

use restride_graph::oracle::{Tensor, eval};
use restride_graph::{
    ChannelAxis, Constant, DepthOrder, ElementType, Graph, GraphError, IndexRule, Ints, Op,
    OutOfRange, PadMode, ReshapeDialect, SliceDialect, TensorType, ValueId,
};
use restride_testkit::generate::Random;

const RULE: IndexRule = IndexRule {
    out_of_range: OutOfRange::Error,
    wrap: false,
};

/// A graph of one labelled input; `left` and `right` must give the same.
struct Law {
    graph: Graph,
    x: ValueId,
    shape: Vec<i64>,
    random: Random,
}

impl Law {
    fn new(seed: u64, ranks: std::ops::RangeInclusive<i64>, sizes: &[i64]) -> Law {
        let mut random = Random::new(seed);
        let rank = random.within(*ranks.start(), *ranks.end());
        let shape: Vec<i64> = (0..rank).map(|_| random.pick(sizes)).collect();
        let mut graph = Graph::new("law");
        let x = graph
            .input("x", ElementType::U32, &shape)
            .expect("an input");
        Law {
            graph,
            x,
            shape,
            random,
        }
    }

    fn int(&mut self, low: i64, high: i64) -> i64 {
        self.random.within(low, high)
    }

    fn ints(&mut self, count: usize, low: i64, high: i64) -> Ints {
        (0..count).map(|_| self.int(low, high)).collect()
    }

    fn push(&mut self, op: Op) -> ValueId {
        self.graph
            .push(op)
            .unwrap_or_else(|error: GraphError| panic!("{error} in\n{}", self.graph))
    }

    fn table(&mut self, shape: &[i64], values: impl IntoIterator<Item = i64>) -> ValueId {
        let values: Vec<i128> = values.into_iter().map(i128::from).collect();
        let table = Constant::from_integers(ElementType::I64, shape, &values).expect("a table");
        self.push(Op::Constant(table))
    }

    /// The two values have one shape and one content.
    fn same(mut self, left: ValueId, right: ValueId) {
        for value in [left, right] {
            self.graph.output(value).expect("an output");
        }
        let ty = TensorType::dense(ElementType::U32, &self.shape).expect("a small type");
        let labels: Vec<u128> = (1..=ty.numel() as u128).collect();
        let x = Tensor::from_bits(ty, labels).expect("its elements");
        match eval(&self.graph, &[x]) {
            Ok(outputs) => assert_eq!(outputs[0], outputs[1], "{}", self.graph),
            Err(error) => panic!("{error} in\n{}", self.graph),
        }
    }
}

fn for_seeds(law: impl Fn(u64)) {
    (0..400).for_each(law);
}

#[test]
fn reversing_rolling_and_transposing_undo() {
    for_seeds(|seed| {
        let mut law = Law::new(seed, 1..=4, &[0, 1, 2, 3]);
        let (rank, x) = (law.shape.len(), law.x);
        let axes: Ints = (0..rank as i64)
            .filter(|axis| seed >> axis & 1 == 1)
            .collect();
        let shift = law.ints(axes.len(), -7, 7);
        let back = shift.iter().map(|shift| -shift).collect();
        let a = law.push(Op::Roll {
            x,
            shift,
            axes: axes.clone(),
        });
        let b = law.push(Op::Reverse {
            x: a,
            axes: axes.clone(),
        });
        let c = law.push(Op::Reverse {
            x: b,
            axes: axes.clone(),
        });
        let d = law.push(Op::Roll {
            x: c,
            shift: back,
            axes,
        });
        let turn = law.int(0, rank as i64 - 1);
        let perm: Ints = (0..rank as i64).map(|k| (k + turn) % rank as i64).collect();
        let mut inverse = Ints::from_elem(0, rank);
        for (k, &axis) in perm.iter().enumerate() {
            inverse[axis as usize] = k as i64;
        }
        let e = law.push(Op::Transpose { x: d, perm });
        let f = law.push(Op::Transpose {
            x: e,
            perm: inverse,
        });
        law.same(x, f);
    });
}

#[test]
fn a_roll_is_two_slices_swapped() {
    for_seeds(|seed| {
        let mut law = Law::new(seed, 1..=3, &[1, 2, 3, 5]);
        let x = law.x;
        let axis = law.int(0, law.shape.len() as i64 - 1);
        let size = law.shape[axis as usize];
        let shift = law.int(0, size);
        let one = |v: i64| Ints::from_slice(&[v]);
        let rolled = law.push(Op::Roll {
            x,
            shift: one(shift),
            axes: one(axis),
        });
        let lengths: std::sync::Arc<[i64]> = [size - shift, -1].into();
        let head = law.push(Op::Split {
            x,
            axis,
            lengths: lengths.clone(),
            part: 0,
        });
        let tail = law.push(Op::Split {
            x,
            axis,
            lengths,
            part: 1,
        });
        let joined = law.push(Op::Concat {
            parts: [tail, head].as_slice().into(),
            axis,
        });
        law.same(rolled, joined);
    });
}

#[test]
fn blocks_go_there_and_back() {
    for_seeds(|seed| {
        let mut law = Law::new(seed, 3..=5, &[0, 1, 2, 4]);
        let (x, block) = (law.x, law.int(1, 2));
        let last = seed & 1 == 1;
        let channels = if last {
            ChannelAxis::Last
        } else {
            ChannelAxis::First
        };
        let order = if seed & 2 == 2 {
            DepthOrder::BlocksFirst
        } else {
            DepthOrder::DepthFirst
        };
        // Whatever the sizes, tiling makes the spatial ones divisible.
        let rank = law.shape.len();
        let spatial = if last { 1..rank - 1 } else { 2..rank };
        let repeats = (0..rank)
            .map(|axis| if spatial.contains(&axis) { block } else { 1 })
            .collect();
        let tiled = law.push(Op::Tile { x, repeats });
        let deep = law.push(Op::SpaceToDepth {
            x: tiled,
            block,
            order,
            channels,
        });
        let back = law.push(Op::DepthToSpace {
            x: deep,
            block,
            order,
            channels,
        });
        law.same(tiled, back);
    });
}

#[test]
fn channels_last_is_channels_first_transposed() {
    for_seeds(|seed| {
        let mut law = Law::new(seed, 3..=4, &[1, 2, 3]);
        let (x, rank) = (law.x, law.shape.len() as i64);
        let order = if seed & 1 == 1 {
            DepthOrder::BlocksFirst
        } else {
            DepthOrder::DepthFirst
        };
        let repeats = (0..rank)
            .map(|axis| if axis == rank - 1 { 4 } else { 1 })
            .collect();
        let repeats: Ints = if rank == 4 {
            repeats
        } else {
            Ints::from_slice(&[1, 1, 2])
        };
        let x = law.push(Op::Tile { x, repeats });
        let first: Ints = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
        let last: Ints = [0].into_iter().chain(2..rank).chain([1]).collect();
        let a = law.push(Op::DepthToSpace {
            x,
            block: 2,
            order,
            channels: ChannelAxis::Last,
        });
        let b = law.push(Op::Transpose { x, perm: first });
        let b = law.push(Op::DepthToSpace {
            x: b,
            block: 2,
            order,
            channels: ChannelAxis::First,
        });
        let b = law.push(Op::Transpose { x: b, perm: last });
        law.same(a, b);
    });
}

#[test]
fn cropping_undoes_padding() {
    for_seeds(|seed| {
        let mut law = Law::new(seed, 1..=3, &[1, 2, 3, 4]);
        let (x, rank) = (law.x, law.shape.len());
        let modes = [
            PadMode::Constant(9),
            PadMode::Edge,
            PadMode::Symmetric,
            PadMode::Wrap,
            PadMode::Reflect,
        ];
        let mode = modes[seed as usize % modes.len()];
        let most: Vec<i64> = (law.shape.iter())
            .map(|&size| {
                if mode == PadMode::Reflect {
                    size - 1
                } else {
                    size
                }
            })
            .collect();
        let low: Ints = most.iter().map(|&most| law.int(0, most)).collect();
        let high: Ints = most.iter().map(|&most| law.int(0, most)).collect();
        let negated = |amounts: &Ints| amounts.iter().map(|amount| -amount).collect::<Ints>();
        let (crop_low, crop_high) = (negated(&low), negated(&high));
        let padded = law.push(Op::Pad { x, low, high, mode });
        let cropped = law.push(Op::Pad {
            x: padded,
            low: crop_low,
            high: crop_high,
            mode: PadMode::Constant(0),
        });
        assert_eq!(law.graph.ty(cropped).rank(), rank);
        law.same(x, cropped);
    });
}

#[test]
fn rims_are_slices_of_the_operand() {
    // Per mode: which indices stand before and after `0 1 2 3`, two each.
    let rims = [
        (PadMode::Edge, [0, 0], [3, 3]),
        (PadMode::Reflect, [2, 1], [2, 1]),
        (PadMode::Symmetric, [1, 0], [3, 2]),
        (PadMode::Wrap, [2, 3], [0, 1]),
    ];
    for (mode, before, after) in rims {
        let mut law = Law::new(1, 1..=1, &[4]);
        let (x, two) = (law.x, Ints::from_slice(&[2]));
        let padded = law.push(Op::Pad {
            x,
            low: two.clone(),
            high: two,
            mode,
        });
        let rows = before.into_iter().chain(0..4).chain(after);
        let indices = law.table(&[8], rows);
        let gathered = law.push(Op::Gather {
            x,
            indices,
            axis: 0,
            batch_dims: 0,
            rule: RULE,
        });
        law.same(padded, gathered);
    }
}

#[test]
fn tiling_is_a_new_axis_broadcast() {
    for_seeds(|seed| {
        let mut law = Law::new(seed, 1..=3, &[0, 1, 2, 3]);
        let x = law.x;
        let axis = law.int(0, law.shape.len() as i64 - 1) as usize;
        let times = law.int(0, 3);
        let mut repeats = Ints::from_elem(1, law.shape.len());
        repeats[axis] = times;
        let tiled = law.push(Op::Tile { x, repeats });
        let wide = law.push(Op::Unsqueeze {
            x,
            axes: Ints::from_slice(&[axis as i64]),
        });
        let mut shape = Ints::from_slice(&law.shape);
        shape.insert(axis, times);
        let mode = restride_graph::BroadcastMode::Numpy;
        let repeated = law.push(Op::Broadcast {
            x: wide,
            shape,
            mode,
        });
        let mut pattern = Ints::from_slice(&law.shape);
        pattern[axis] *= times;
        let dialect = ReshapeDialect::Plain;
        let flat = law.push(Op::Reshape {
            x: repeated,
            dialect,
            pattern,
        });
        law.same(tiled, flat);
    });
}

#[test]
fn shuffling_is_a_transposed_reshape() {
    for_seeds(|seed| {
        let mut law = Law::new(seed, 1..=3, &[2, 4, 6]);
        let x = law.x;
        let axis = law.int(0, law.shape.len() as i64 - 1) as usize;
        let shuffled = law.push(Op::ShuffleChannels {
            x,
            axis: axis as i64,
            groups: 2,
        });
        let mut split = Ints::from_slice(&law.shape);
        split[axis] /= 2;
        split.insert(axis, 2);
        let mut perm: Ints = (0..split.len() as i64).collect();
        perm.swap(axis, axis + 1);
        let dialect = ReshapeDialect::Plain;
        let y = law.push(Op::Reshape {
            x,
            dialect,
            pattern: split,
        });
        let y = law.push(Op::Transpose { x: y, perm });
        let pattern = Ints::from_slice(&law.shape);
        let y = law.push(Op::Reshape {
            x: y,
            dialect,
            pattern,
        });
        law.same(shuffled, y);
    });
}

#[test]
fn the_gathers_agree_with_one_another() {
    for_seeds(|seed| {
        let mut law = Law::new(seed, 2..=3, &[1, 2, 3]);
        let (x, shape) = (law.x, law.shape.clone());
        let count = law.int(0, 4);
        let rows: Vec<i64> = (0..count).map(|_| law.int(0, shape[0] - 1)).collect();
        let indices = law.table(&[count], rows.clone());
        let by_row = law.push(Op::Gather {
            x,
            indices,
            axis: 0,
            batch_dims: 0,
            rule: RULE,
        });
        let deep = law.table(&[count, 1], rows);
        let by_depth = law.push(Op::GatherNd {
            x,
            indices: deep,
            batch_dims: 0,
            rule: RULE,
        });
        let mut wide = Ints::from_slice(&shape);
        wide[0] = count;
        let mut pattern = Ints::from_elem(1, shape.len());
        pattern[0] = count;
        let dialect = ReshapeDialect::Plain;
        let every = law.push(Op::Reshape {
            x: indices,
            dialect,
            pattern,
        });
        let mode = restride_graph::BroadcastMode::Numpy;
        let every = law.push(Op::Broadcast {
            x: every,
            shape: wide,
            mode,
        });
        let by_element = law.push(Op::GatherElements {
            x,
            indices: every,
            axis: 0,
            rule: RULE,
        });
        let both = law.push(Op::Concat {
            parts: [by_row, by_row].as_slice().into(),
            axis: 0,
        });
        let others = law.push(Op::Concat {
            parts: [by_depth, by_element].as_slice().into(),
            axis: 0,
        });
        law.same(both, others);
    });
}

#[test]
fn a_slice_is_a_gather_of_its_indices() {
    for_seeds(|seed| {
        let mut law = Law::new(seed, 1..=2, &[0, 1, 3, 5]);
        let (x, size) = (law.x, law.shape[0]);
        let (start, stop) = (law.int(-7, 7), law.int(-7, 7));
        let step = [-3, -2, -1, 1, 2, 3][seed as usize % 6];
        let one = |v: i64| Ints::from_slice(&[v]);
        let (axes, dialect) = (Some(one(0)), SliceDialect::Onnx);
        let sliced = law.push(Op::Slice {
            x,
            dialect,
            start: one(start),
            stop: one(stop),
            step: one(step),
            axes,
        });
        // In words: from the end if negative, then into the axis.
        let settle =
            |v: i64, low: i64, high: i64| (if v < 0 { v + size } else { v }).min(high).max(low);
        let mut rows = Vec::new();
        if size > 0 && step > 0 {
            let stop = settle(stop, 0, size);
            rows.extend((settle(start, 0, size)..stop).step_by(step as usize));
        } else if size > 0 {
            let (first, stop) = (settle(start, 0, size - 1), settle(stop, -1, size - 1));
            rows.extend((stop + 1..=first).rev().step_by(-step as usize));
        }
        let indices = law.table(&[rows.len() as i64], rows);
        let gathered = law.push(Op::Gather {
            x,
            indices,
            axis: 0,
            batch_dims: 0,
            rule: RULE,
        });
        law.same(sliced, gathered);
    });
}
