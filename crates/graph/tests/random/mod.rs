//! Random graphs: every operator, attributes drawn so that most are accepted.

use restride_graph::{
    BroadcastMode, ChannelAxis, Constant, DepthOrder, ElementType, Graph, IndexRule, Ints, Op,
    OutOfRange, PadMode, ReshapeDialect, SliceDialect, Strided, StridedSliceDialect, TensorType,
    ValueId,
};

/// splitmix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn int(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    fn flip(&mut self) -> bool {
        self.next() & 1 == 1
    }

    fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn ints(&mut self, count: usize, low: i64, high: i64) -> Ints {
        (0..count).map(|_| self.int(low, high)).collect()
    }

    /// A few different axes, some counted from the end.
    fn axes(&mut self, rank: usize) -> Ints {
        let mut axes = Ints::new();
        for axis in 0..rank as i64 {
            if self.flip() {
                axes.push(if self.flip() {
                    axis
                } else {
                    axis - rank as i64
                });
            }
        }
        axes
    }
}

/// A graph of up to a dozen operators.
pub(crate) fn graph(random: &mut Random) -> Graph {
    let mut g = Graph::new(random.one_of(&["main", "f", "_g1"]));
    for k in 0..random.int(1, 3) {
        let name = if random.flip() {
            format!("x{k}")
        } else {
            String::new()
        };
        g.typed_input(&name, input_type(random)).unwrap();
    }
    for _ in 0..random.int(1, 14) {
        let before = g.len();
        let op = operator(random, &g);
        match op {
            Op::Split {
                x, axis, lengths, ..
            } if random.flip() => {
                let _ = g.split(x, axis).lengths(lengths);
            }
            // What is refused leaves no trace.
            op => drop(g.push(op)),
        }
        if g.len() > before && random.below(4) == 0 {
            let name = format!("v{before}");
            g.set_name(ValueId::from_u32(before as u32), &name).unwrap();
        }
    }
    for _ in 0..random.below(4) {
        let value = any(random, &g);
        let ty = g.ty(value).clone().without_layout();
        if random.flip() {
            g.output(value).unwrap();
        } else {
            let strides = ty.dense_strides().iter().map(|stride| stride * 2).collect();
            g.strided_output(value, Strided { offset: 5, strides })
                .unwrap();
        }
    }
    g
}

fn input_type(random: &mut Random) -> TensorType {
    let element = random.one_of(&ElementType::ALL);
    let rank = random.below(5);
    let shape = random.ints(rank, 0, 5);
    let ty = TensorType::dense(element, shape).unwrap();
    if random.below(3) > 0 {
        return ty;
    }
    let strides = ty
        .dense_strides()
        .iter()
        .map(|&s| s * random.int(-1, 2))
        .collect();
    ty.with_layout(Strided {
        offset: 2000,
        strides,
    })
    .unwrap()
}

fn any(random: &mut Random, g: &Graph) -> ValueId {
    ValueId::from_u32(random.below(g.len()) as u32)
}

fn rule(random: &mut Random) -> IndexRule {
    IndexRule {
        out_of_range: random.one_of(&[OutOfRange::Zero, OutOfRange::Clamp, OutOfRange::Error]),
        wrap: random.flip(),
    }
}

fn table(random: &mut Random, shape: &[i64]) -> Op {
    let element = random.one_of(&ElementType::ALL);
    let ty = TensorType::dense(element, shape).unwrap();
    let mut bytes = vec![0u8; ty.byte_size()];
    let small = element == ElementType::Bool;
    bytes
        .iter_mut()
        .for_each(|byte| *byte = random.below(if small { 2 } else { 256 }) as u8);
    Op::Constant(Constant::new(ty, bytes).unwrap())
}

fn operator(random: &mut Random, g: &Graph) -> Op {
    let x = any(random, g);
    let shape = g.ty(x).shape().to_vec();
    let rank = shape.len();
    let n = rank as i64;
    let axis = random.int(-n.max(1), n.max(1) - 1);
    let wild = [i64::MIN, i64::MAX, -7, 7, 0];
    match random.below(24) {
        0 => Op::Identity { x },
        1 | 2 => {
            let count = random.below(rank + 2);
            Op::StridedSlice {
                x,
                dialect: random.one_of(&[
                    StridedSliceDialect::TensorFlow,
                    StridedSliceDialect::OpenVino,
                    StridedSliceDialect::MindSpore,
                ]),
                begin: random.ints(count, -6, 6),
                end: (0..count).map(|_| random.one_of(&wild)).collect(),
                strides: (0..count).map(|_| random.one_of(&[1, 2, -1, -3])).collect(),
                begin_mask: random.int(0, 15),
                end_mask: random.int(-1, 15),
                ellipsis_mask: random.one_of(&[0, 0, 1, 2, 4]),
                new_axis_mask: random.one_of(&[0, 0, 1, 2, 5]),
                shrink_axis_mask: random.one_of(&[0, 0, 0, 1, 2]),
            }
        }
        3 => {
            let axes = random.axes(rank);
            let count = axes.len();
            Op::Slice {
                x,
                dialect: random.one_of(&[SliceDialect::OpenVino, SliceDialect::Onnx]),
                start: (0..count).map(|_| random.one_of(&wild)).collect(),
                stop: (0..count).map(|_| random.one_of(&wild)).collect(),
                step: (0..count)
                    .map(|_| random.one_of(&[1, -1, 3, i64::MIN]))
                    .collect(),
                axes: random.flip().then_some(axes),
            }
        }
        4 => Op::Gather {
            x,
            indices: any(random, g),
            axis,
            batch_dims: random.one_of(&[0, 0, 0, 1, -1]),
            rule: rule(random),
        },
        5 => Op::GatherElements {
            x,
            indices: any(random, g),
            axis,
            rule: rule(random),
        },
        6 => Op::GatherNd {
            x,
            indices: any(random, g),
            batch_dims: random.one_of(&[0, 0, 1]),
            rule: rule(random),
        },
        7 | 8 => reshape(random, x, &shape),
        9 => {
            let mut perm: Ints = (0..n).collect();
            for k in (1..rank).rev() {
                perm.swap(k, random.below(k + 1));
            }
            Op::Transpose { x, perm }
        }
        10 => Op::Squeeze {
            x,
            axes: random
                .flip()
                .then(|| (0..n).filter(|&k| shape[k as usize] == 1).collect()),
        },
        11 => Op::Unsqueeze {
            x,
            axes: [random.int(0, n)].as_slice().into(),
        },
        12 => Op::Flatten {
            x,
            axis: random.int(-n, n),
        },
        13 => broadcast(random, x, &shape),
        14 => Op::Reverse {
            x,
            axes: random.axes(rank),
        },
        15 => {
            let axes = random.axes(rank);
            let shift = (0..axes.len()).map(|_| random.one_of(&wild)).collect();
            Op::Roll { x, shift, axes }
        }
        16 | 17 => {
            let size = shape
                .get(axis.rem_euclid(n.max(1)) as usize)
                .copied()
                .unwrap_or(1);
            let first = random.int(0, size);
            Op::Split {
                x,
                axis,
                lengths: [first, -1, 0].as_slice().into(),
                part: random.below(3) as u32,
            }
        }
        18 => Op::Concat {
            parts: (0..random.int(1, 3)).map(|_| x).collect(),
            axis,
        },
        19 => Op::Tile {
            x,
            repeats: {
                let count = random.below(4);
                random.ints(count, 0, 2)
            },
        },
        20 => Op::Pad {
            x,
            low: random.ints(rank, -1, 2),
            high: random.ints(rank, -1, 2),
            mode: random.one_of(&[
                PadMode::Constant(0x7f),
                PadMode::Edge,
                PadMode::Reflect,
                PadMode::Symmetric,
                PadMode::Wrap,
            ]),
        },
        21 => {
            let order = random.one_of(&[DepthOrder::BlocksFirst, DepthOrder::DepthFirst]);
            let channels = random.one_of(&[ChannelAxis::First, ChannelAxis::Last]);
            let block = random.int(1, 2);
            match random.below(3) {
                0 => Op::DepthToSpace {
                    x,
                    block,
                    order,
                    channels,
                },
                1 => Op::SpaceToDepth {
                    x,
                    block,
                    order,
                    channels,
                },
                _ => Op::ShuffleChannels {
                    x,
                    axis,
                    groups: block,
                },
            }
        }
        22 => {
            let axes = random.axes(rank);
            Op::CenterCropPad {
                x,
                shape: random.ints(axes.len(), 0, 7),
                axes: Some(axes),
            }
        }
        _ if rank >= 2 && random.flip() => Op::ReverseSequence {
            x,
            lengths: random.ints(shape[0] as usize, 0, shape[1]),
            batch_axis: 0,
            seq_axis: 1 - n,
        },
        _ => {
            let rank = random.below(3);
            let shape = random.ints(rank, 0, 4);
            table(random, &shape)
        }
    }
}

fn reshape(random: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let mut pattern: Ints = shape.iter().rev().copied().collect();
    let dialect = random.one_of(&[
        ReshapeDialect::Plain,
        ReshapeDialect::OpenVino { special_zero: true },
        ReshapeDialect::OpenVino {
            special_zero: false,
        },
        ReshapeDialect::Onnx { allow_zero: true },
        ReshapeDialect::Onnx { allow_zero: false },
        ReshapeDialect::TensorFlow,
        ReshapeDialect::MindSpore,
    ]);
    if dialect != ReshapeDialect::Plain && !pattern.is_empty() {
        let at = random.below(pattern.len());
        pattern[at] = -1;
    }
    Op::Reshape {
        x,
        dialect,
        pattern,
    }
}

fn broadcast(random: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let mut target: Ints = shape.into();
    for size in &mut target {
        if *size == 1 {
            *size = random.int(0, 3);
        }
    }
    let mode = match random.below(3) {
        0 => BroadcastMode::Numpy,
        1 => BroadcastMode::Bidirectional,
        _ => BroadcastMode::Explicit((1..=shape.len() as i64).collect()),
    };
    target.insert(0, random.int(0, 3));
    Op::Broadcast {
        x,
        shape: target,
        mode,
    }
}
