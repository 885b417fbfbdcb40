//! Two judges of one operator that share no code: the type rules and the oracle. On random
//! operators, most of them nearly right, they must refuse alike and give the same type.

use restride_graph::oracle::{OpError, Tensor, eval_op};
use restride_graph::{
    BroadcastMode, ChannelAxis, DepthOrder, ElementType, Graph, IndexRule, Ints, Op, OutOfRange,
    PadMode, ReshapeDialect, Shape, SliceDialect, StridedSliceDialect, TensorType, ValueId,
};
use restride_testkit::generate::Random;

/// A seeded source of small decisions.
struct Draw(Random);

impl Draw {
    fn int(&mut self, low: i64, high: i64) -> i64 {
        self.0.within(low, high)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.0.percent(percent)
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len())].clone()
    }

    /// Now and then a number at the far end of the range.
    fn odd(&mut self, usual: i64) -> i64 {
        if self.chance(97) {
            return usual;
        }
        self.of(&[
            i64::MIN,
            i64::MIN + 1,
            -1,
            0,
            1 << 32,
            1 << 61,
            i64::MAX - 1,
            i64::MAX,
        ])
    }

    fn ints(&mut self, count: usize, low: i64, high: i64) -> Ints {
        let count = if self.chance(95) {
            count
        } else {
            self.int(0, 4) as usize
        };
        (0..count)
            .map(|_| {
                let usual = self.int(low, high);
                self.odd(usual)
            })
            .collect()
    }

    fn shape(&mut self) -> Shape {
        let rank = self.int(0, 4);
        (0..rank).map(|_| self.of(&[0, 1, 1, 2, 2, 3, 4])).collect()
    }

    fn axis(&mut self, rank: usize) -> i64 {
        let rank = rank as i64;
        if rank == 0 || self.chance(6) {
            return self.int(-rank - 1, rank + 1);
        }
        let usual = self.int(-rank, rank - 1);
        self.odd(usual)
    }

    /// Distinct axes, mostly.
    fn axes(&mut self, rank: usize, count: usize) -> Ints {
        let mut rest: Vec<i64> = (0..rank as i64).collect();
        let mut axes = Ints::new();
        for _ in 0..count.min(rank) {
            let axis = rest.swap_remove(self.int(0, rest.len() as i64 - 1) as usize);
            axes.push(if self.chance(30) {
                axis - rank as i64
            } else {
                axis
            });
        }
        if self.chance(6) {
            let axis = self.axis(rank);
            axes.push(axis);
        }
        axes
    }

    fn mask(&mut self) -> i64 {
        let usual = self.of(&[0, 0, 0, 1, 2, 3, 4, 5]);
        self.odd(usual)
    }

    fn rule(&mut self) -> IndexRule {
        IndexRule {
            out_of_range: self.of(&[OutOfRange::Zero, OutOfRange::Clamp, OutOfRange::Error]),
            wrap: self.chance(50),
        }
    }
}

/// A graph with one operand or several, and what they hold.
struct Bench {
    graph: Graph,
    tensors: Vec<Tensor>,
}

impl Bench {
    fn add(&mut self, draw: &mut Draw, element: ElementType, shape: &[i64], limit: i64) -> ValueId {
        let ty = TensorType::dense(element, shape).expect("a small type");
        let bits = (0..ty.numel()).map(|k| match element.is_integer() {
            true => draw.int(-limit - 1, limit) as u128 & element.bit_mask(),
            false => k as u128 & element.bit_mask(),
        });
        let bits: Vec<u128> = bits.collect();
        self.tensors
            .push(Tensor::from_bits(ty.clone(), bits).expect("its elements"));
        let name = format!("x{}", self.tensors.len());
        self.graph.typed_input(&name, ty).expect("a new input")
    }
}

const KINDS: u64 = 22;

/// An operator of the `kind`-th sort, with operands added to the bench.
fn random_op(draw: &mut Draw, bench: &mut Bench, kind: u64) -> Op {
    let element = draw.of(&[
        ElementType::F32,
        ElementType::Bool,
        ElementType::Bf16,
        ElementType::C128,
    ]);
    let mut sizes = draw.shape();
    if matches!(kind, 15 | 16) && draw.chance(80) {
        // Blocks need three axes and sizes with factors.
        sizes = (0..draw.int(3, 4))
            .map(|_| draw.of(&[1, 2, 4, 4, 8]))
            .collect();
    }
    let (r, x) = (sizes.len(), bench.add(draw, element, &sizes, 3));
    match kind {
        0 | 1 => {
            let m = draw.int(0, r as i64 + 1) as usize;
            Op::StridedSlice {
                x,
                dialect: draw.of(&[
                    StridedSliceDialect::TensorFlow,
                    StridedSliceDialect::OpenVino,
                    StridedSliceDialect::MindSpore,
                ]),
                begin: draw.ints(m, -4, 4),
                end: draw.ints(m, -4, 4),
                strides: draw
                    .ints(m, -2, 3)
                    .iter()
                    .map(|&t| if t == 0 && m < 3 { 1 } else { t })
                    .collect(),
                begin_mask: draw.mask(),
                end_mask: draw.mask(),
                ellipsis_mask: draw.mask() & draw.of(&[-1, 1, 2, 4]),
                new_axis_mask: draw.mask(),
                shrink_axis_mask: draw.mask(),
            }
        }
        2 => {
            let n = draw.int(0, r as i64) as usize;
            let axes = draw.axes(r, n);
            Op::Slice {
                x,
                dialect: draw.of(&[SliceDialect::OpenVino, SliceDialect::Onnx]),
                start: draw.ints(n, -5, 5),
                stop: draw.ints(n, -5, 5),
                step: draw.ints(n, -2, 3),
                axes: draw.chance(70).then_some(axes),
            }
        }
        3 => {
            let axis = draw.axis(r);
            let batch = draw.int(0, 2).min(r as i64) as usize;
            let mut shape = Shape::from_slice(&sizes[..batch]);
            shape.extend(draw.shape().into_iter().take(2));
            let integers = draw.of(&[
                ElementType::I64,
                ElementType::I32,
                ElementType::U8,
                ElementType::I8,
            ]);
            let element = if draw.chance(96) {
                integers
            } else {
                draw.of(&[ElementType::F32, ElementType::I128])
            };
            let indices = bench.add(draw, element, &shape, 3);
            let batch_dims = if draw.chance(80) {
                batch as i64
            } else {
                draw.int(-3, 3)
            };
            Op::Gather {
                x,
                indices,
                axis,
                batch_dims: draw.odd(batch_dims),
                rule: draw.rule(),
            }
        }
        4 => {
            let mut shape = sizes.clone();
            if let Some(k) = (r > 0).then(|| draw.int(0, r as i64 - 1) as usize) {
                shape[k] = draw.int(0, 4);
            }
            let indices = bench.add(draw, ElementType::I32, &shape, 3);
            Op::GatherElements {
                x,
                indices,
                axis: draw.axis(r),
                rule: draw.rule(),
            }
        }
        5 => {
            let batch = draw.int(0, 1).min(r as i64) as usize;
            let mut shape = Shape::from_slice(&sizes[..batch]);
            shape.extend(draw.shape().into_iter().take(1));
            shape.push(draw.int(0, r as i64));
            let indices = bench.add(draw, ElementType::I64, &shape, 3);
            let batch_dims = draw.odd(batch as i64);
            Op::GatherNd {
                x,
                indices,
                batch_dims,
                rule: draw.rule(),
            }
        }
        6 | 7 => {
            let dialect = draw.of(ReshapeDialect::ALL);
            // A few true sizes, the rest as one number or as -1, zeros here and there.
            let keep = draw.int(0, r as i64) as usize;
            let mut pattern = Ints::from_slice(&sizes[..keep]);
            let rest = sizes[keep..].iter().product();
            pattern.push(if draw.chance(60) { -1 } else { rest });
            if draw.chance(30) {
                let at = draw.int(0, pattern.len() as i64 - 1) as usize;
                pattern[at] = draw.of(&[0, 0, 1, 2, -1]);
            }
            if draw.chance(30) {
                let size = draw.of(&[0, 1, 1, 2]);
                pattern.push(draw.odd(size));
            }
            Op::Reshape {
                x,
                dialect,
                pattern,
            }
        }
        8 => Op::Transpose {
            x,
            perm: if draw.chance(15) {
                Ints::new()
            } else {
                draw.axes(r, r)
                    .iter()
                    .map(|&a| a.rem_euclid(r.max(1) as i64))
                    .collect()
            },
        },
        9 => {
            let units: Ints = (0..r as i64).filter(|&a| sizes[a as usize] == 1).collect();
            let axes = if draw.chance(70) {
                units
            } else {
                draw.axes(r, 1)
            };
            Op::Squeeze {
                x,
                axes: draw.chance(70).then_some(axes),
            }
        }
        10 => {
            let count = draw.int(0, 3) as usize;
            Op::Unsqueeze {
                x,
                axes: draw.axes(r + count, count),
            }
        }
        11 => {
            let axis = draw.int(-(r as i64) - 1, r as i64 + 1);
            Op::Flatten {
                x,
                axis: draw.odd(axis),
            }
        }
        12 => {
            let mut shape: Ints = sizes
                .iter()
                .map(|&d| if d == 1 { draw.int(0, 3) } else { d })
                .collect();
            let axes = (0..r as i64).collect::<Ints>();
            let mode = draw.of(&[
                BroadcastMode::Numpy,
                BroadcastMode::Bidirectional,
                BroadcastMode::Explicit(axes.clone()),
                BroadcastMode::Explicit(axes.iter().map(|a| a + 1).collect()),
            ]);
            if draw.chance(40) {
                shape.insert(0, draw.int(0, 3));
            }
            if draw.chance(20) && !shape.is_empty() {
                let at = draw.int(0, shape.len() as i64 - 1) as usize;
                let size = draw.int(-1, 3);
                shape[at] = draw.odd(size);
            }
            Op::Broadcast { x, shape, mode }
        }
        13 => {
            let count = draw.int(0, r as i64) as usize;
            Op::Reverse {
                x,
                axes: draw.axes(r, count),
            }
        }
        14 => {
            let axes: Ints = (0..draw.int(0, 3)).map(|_| draw.axis(r)).collect();
            Op::Roll {
                x,
                shift: draw.ints(axes.len(), -5, 5),
                axes,
            }
        }
        15 | 16 => {
            let block = draw.of(&[1, 1, 2, 2, 2, 3]);
            let block = draw.odd(block);
            let order = draw.of(&[DepthOrder::BlocksFirst, DepthOrder::DepthFirst]);
            let channels = draw.of(&[ChannelAxis::First, ChannelAxis::Last]);
            if kind == 15 {
                Op::DepthToSpace {
                    x,
                    block,
                    order,
                    channels,
                }
            } else {
                Op::SpaceToDepth {
                    x,
                    block,
                    order,
                    channels,
                }
            }
        }
        17 => {
            let axis = draw.axis(r);
            let size = usize::try_from(axis.rem_euclid(r.max(1) as i64))
                .ok()
                .and_then(|a| sizes.get(a));
            let first = draw.int(-1, 2);
            let mut lengths = Ints::from_slice(&[draw.odd(first), draw.int(-1, 2)]);
            let rest =
                size.copied().unwrap_or(1) - lengths.iter().map(|&l| l.clamp(0, 9)).sum::<i64>();
            lengths.push(rest);
            Op::Split {
                x,
                axis,
                lengths: lengths.as_slice().into(),
                part: draw.int(0, 3) as u32,
            }
        }
        18 => {
            let axis = draw.axis(r);
            let mut parts = smallvec::smallvec![x];
            for _ in 0..draw.int(0, 2) {
                let mut shape = sizes.clone();
                let at = if draw.chance(95) { axis } else { 0 };
                if let Some(size) = shape.get_mut(at.rem_euclid(r.max(1) as i64) as usize) {
                    *size = draw.int(0, 3);
                }
                let element = if draw.chance(97) {
                    element
                } else {
                    ElementType::U8
                };
                parts.push(bench.add(draw, element, &shape, 3));
            }
            Op::Concat { parts, axis }
        }
        19 => {
            let n = draw.int(0, r as i64 + 1) as usize;
            Op::Tile {
                x,
                repeats: draw.ints(n, 0, 3),
            }
        }
        20 => Op::Pad {
            x,
            low: draw.ints(r, -2, 3),
            high: draw.ints(r, -2, 3),
            mode: draw.of(&[
                PadMode::Constant(0),
                PadMode::Constant(0xff),
                PadMode::Constant(0x1_0000),
                PadMode::Edge,
                PadMode::Reflect,
                PadMode::Symmetric,
                PadMode::Wrap,
            ]),
        },
        21 => match draw.int(0, 2) {
            0 => {
                let groups = draw.of(&[1, 2, 2, 3, 0]);
                Op::ShuffleChannels {
                    x,
                    axis: draw.axis(r),
                    groups: draw.odd(groups),
                }
            }
            1 => {
                let count = draw.int(0, r as i64) as usize;
                let axes = draw.axes(r, count);
                let (axes, n) = if draw.chance(50) {
                    (None, r)
                } else {
                    (Some(axes.clone()), axes.len())
                };
                Op::CenterCropPad {
                    x,
                    shape: draw.ints(n, 0, 6),
                    axes,
                }
            }
            _ => {
                let (batch_axis, seq_axis) = (draw.axis(r), draw.axis(r));
                let size = |axis: i64| {
                    sizes
                        .get(axis.rem_euclid(r.max(1) as i64) as usize)
                        .copied()
                        .unwrap_or(1)
                };
                let lengths = draw.ints(size(batch_axis) as usize, 0, size(seq_axis));
                Op::ReverseSequence {
                    x,
                    lengths,
                    batch_axis,
                    seq_axis,
                }
            }
        },
        _ => Op::Identity { x },
    }
}

#[test]
fn inference_and_oracle_agree() {
    const ROUNDS: u64 = 6_000;
    for kind in 0..=KINDS {
        let (mut accepted, mut refused) = (0, 0);
        for round in 0..ROUNDS {
            let mut draw = Draw(Random::new(kind << 32 | round));
            let mut bench = Bench {
                graph: Graph::new("bench"),
                tensors: Vec::new(),
            };
            let op = random_op(&mut draw, &mut bench, kind);
            let operands: Vec<&Tensor> = bench.tensors.iter().collect();
            let found = eval_op(&op, &operands);
            let inferred = bench.graph.push(op.clone());
            let types: Vec<_> = operands
                .iter()
                .map(|tensor| tensor.ty().to_string())
                .collect();
            match (inferred, found) {
                (Err(_), Err(OpError::Refused { .. })) => refused += 1,
                // Which index a tensor holds is nothing that types know.
                (Ok(_), Err(OpError::OutOfRange { .. })) => accepted += 1,
                (Ok(value), Ok(tensor)) => {
                    assert_eq!(bench.graph.ty(value), tensor.ty(), "{op:?} of {types:?}");
                    accepted += 1;
                }
                // A type may be possible and yet too large to make.
                (Ok(value), Err(_)) if bench.graph.ty(value).byte_size() > 1 << 28 => {}
                (inferred, found) => panic!(
                    "{op:?} of {types:?}: inferred {:?}, found {:?}",
                    inferred
                        .map(|value| bench.graph.ty(value).to_string())
                        .map_err(|e| e.to_string()),
                    found
                        .map(|tensor| tensor.ty().to_string())
                        .map_err(|e| e.to_string()),
                ),
            }
        }
        assert!(
            accepted > ROUNDS / 5,
            "kind {kind}: {accepted} accepted, {refused} refused"
        );
        assert!(
            refused > ROUNDS / 200 || kind == KINDS,
            "kind {kind}: {refused} refused"
        );
    }
}
