//! Plans against the canonical interpreter, over random canonical graphs.

use restride_budget::Meter;
use restride_canon::ir::{
    Builder, Canonical, Coordinate, Index, NodeId, Obligation, Policy, Span, View,
};
use restride_graph::{ElementType, Strided, ViewPolicy};
use restride_loops::{Order, Random, interpret_chunked, verify};
use restride_lower::plain::{self, PlainError};
use restride_lower::plan::{Answer, Destination, Plan, PlanOptions, plan};
use restride_lower::schedule;
use restride_moves::Target;

fn permute(perm: &[usize]) -> View {
    View::Permute(perm.into())
}

fn collapse(groups: &[usize]) -> View {
    let groups = groups.into();
    View::Collapse { groups }
}

fn expand(groups: &[usize], sizes: &[i64]) -> View {
    let (groups, sizes) = (groups.into(), sizes.into());
    View::Expand { groups, sizes }
}

/// A graph under construction, with the buffers of its inputs.
struct Maker {
    rng: Random,
    builder: Builder,
    buffers: Vec<Vec<u8>>,
    labels: u16,
    /// Whether inputs may repeat elements, and an index be read through an index.
    nested: bool,
}

const LIMIT: i64 = 600;

impl Maker {
    fn new(seed: u64) -> Maker {
        Maker {
            rng: Random::new(seed),
            builder: Builder::new(),
            buffers: vec![],
            labels: 0,
            nested: true,
        }
    }

    fn shape(&self, x: NodeId) -> Vec<i64> {
        self.builder.graph().ty(x).shape.to_vec()
    }

    /// Dense, or strided with gaps, turned round, or repeated.
    fn layout(&mut self, shape: &[i64], output: bool) -> (Option<Strided>, i64) {
        let count: i64 = shape.iter().product();
        if !self.rng.one_in(3) {
            return (None, count);
        }
        let mut order: Vec<usize> = (0..shape.len()).collect();
        for k in (1..order.len()).rev() {
            order.swap(k, self.rng.within(0, k as i64) as usize);
        }
        let (mut strides, mut room) = (vec![0; shape.len()], 1 + self.rng.within(0, 1));
        let mut offset = self.rng.within(0, 2);
        for a in order {
            strides[a] = room;
            if !output && self.nested && self.rng.one_in(6) {
                strides[a] = 0;
                continue;
            }
            room = room * shape[a].max(1) + self.rng.within(0, 2);
            if self.rng.one_in(5) {
                offset += strides[a] * (shape[a].max(1) - 1);
                strides[a] = -strides[a];
            }
        }
        let strides = strides.as_slice().into();
        (Some(Strided { offset, strides }), room + offset + 2)
    }

    fn data(&mut self, shape: &[i64]) -> NodeId {
        let (layout, elements) = self.layout(shape, false);
        let mut bytes = vec![];
        for _ in 0..elements {
            self.labels = self.labels.wrapping_add(1);
            bytes.extend(self.labels.to_le_bytes());
        }
        self.buffers.push(bytes);
        let made = self.builder.input(ElementType::U16, shape, layout);
        made.expect("an input")
    }

    /// An index tensor with values about a limit; an input or a constant, perhaps viewed.
    fn indices(&mut self, shape: &[i64], limit: i64) -> NodeId {
        let numbers = |rng: &mut Random, count: i64| {
            let values = (0..count).map(|_| match rng.within(0, 12) {
                0 => rng.pick(&[limit, -limit - 1, i64::MIN, i64::MAX, -limit, -1]),
                _ => rng.within(0, limit - 1),
            });
            values.flat_map(i64::to_le_bytes).collect::<Vec<u8>>()
        };
        match self.rng.within(0, 6) {
            0 => {
                let bytes = numbers(&mut self.rng, shape.iter().product());
                let made = self.builder.constant(ElementType::I64, shape, bytes.into());
                made.expect("a constant")
            }
            1 if !shape.is_empty() => {
                // Transposed, and turned round on the first axis.
                let perm = View::Permute((0..shape.len()).rev().collect());
                let turned: Vec<i64> = shape.iter().rev().copied().collect();
                let x = self.plain_indices(&turned, &numbers);
                let x = self.builder.view(x, &perm).expect("fits");
                let mut spans: Vec<Span> = shape.iter().map(|&n| Span::whole(n)).collect();
                if shape[0] > 1 {
                    spans[0] = Span {
                        start: shape[0] - 1,
                        len: shape[0],
                        step: -1,
                    };
                }
                let spans = View::Slice(spans.into());
                self.builder.view(x, &spans).expect("fits")
            }
            2 if !shape.is_empty() && shape[0] > 1 => {
                // Two pieces, one of them perhaps known.
                let mut low = shape.to_vec();
                low[0] = 1;
                let mut high = shape.to_vec();
                high[0] -= 1;
                let bits = self.rng.pick(&[0u128, limit as u128, limit as u128 - 1]);
                let low = match self.rng.one_in(2) {
                    true => self
                        .builder
                        .fill(ElementType::I64, &low, bits)
                        .expect("fits"),
                    false => self.plain_indices(&low, &numbers),
                };
                let high = self.plain_indices(&high, &numbers);
                self.builder.concat(&[low, high], 0).expect("fits")
            }
            3 if !shape.is_empty() && self.nested => {
                // An index read through an index.
                let table = self.plain_indices(&[5], &numbers);
                let short = |rng: &mut Random, count: i64| {
                    let values = (0..count).map(|_| rng.within(-1, 5));
                    values.flat_map(i64::to_le_bytes).collect::<Vec<u8>>()
                };
                let inner = self.plain_indices(shape, &short);
                let index = Index {
                    node: inner,
                    outputs: (0..shape.len() as u8).collect(),
                    wrap: true,
                    policy: self.rng.pick(&[Policy::Zero, Policy::Clamp]),
                };
                if self.rng.one_in(2) {
                    let check = Obligation {
                        node: inner,
                        limit: 5,
                        wrap: true,
                        op: 4,
                        column: 0,
                        columns: 1,
                    };
                    self.builder.check(check).expect("an obligation");
                }
                let made = self.builder.gather(table, &[Coordinate::Index(index)]);
                made.expect("fits")
            }
            _ => self.plain_indices(shape, &numbers),
        }
    }

    fn plain_indices(
        &mut self,
        shape: &[i64],
        numbers: &dyn Fn(&mut Random, i64) -> Vec<u8>,
    ) -> NodeId {
        let (layout, elements) = self.layout(shape, false);
        let bytes = numbers(&mut self.rng, elements);
        self.buffers.push(bytes);
        let made = self.builder.input(ElementType::I64, shape, layout);
        made.expect("an input")
    }

    fn slice(&mut self, x: NodeId) -> NodeId {
        let spans = self
            .shape(x)
            .iter()
            .map(|&n| {
                if n == 0 || self.rng.one_in(2) {
                    return Span::whole(n);
                }
                let start = self.rng.within(0, n - 1);
                let mut step = self.rng.within(1, 3);
                let mut room = n - 1 - start;
                if self.rng.one_in(4) {
                    (step, room) = (-step, start);
                }
                let most = room / step.abs() + 1;
                let len = match self.rng.one_in(2) {
                    true => most,
                    false => self.rng.within(1, most),
                };
                let step = if len == 1 { 1 } else { step };
                Span { start, len, step }
            })
            .collect();
        let spans = View::Slice(spans);
        self.builder.view(x, &spans).expect("in range")
    }

    fn permute(&mut self, x: NodeId) -> NodeId {
        let mut perm: Vec<usize> = (0..self.shape(x).len()).collect();
        for k in (1..perm.len()).rev() {
            perm.swap(k, self.rng.within(0, k as i64) as usize);
        }
        let perm = View::Permute(perm.into());
        self.builder.view(x, &perm).expect("a permutation")
    }

    fn reshape(&mut self, x: NodeId) -> NodeId {
        let shape = self.shape(x);
        let count: i64 = shape.iter().product();
        let flat = match shape.len() {
            0 => expand(&[], &[1]),
            n => collapse(&[n]),
        };
        let flat = self.builder.view(x, &flat).expect("one axis");
        let mut sizes = vec![];
        let mut left = count;
        for _ in 0..self.rng.within(0, 3) {
            let divisors: Vec<i64> = (1..=left.max(1)).filter(|d| left % d == 0).collect();
            let d = self.rng.pick(&divisors);
            sizes.push(d);
            left /= d;
        }
        sizes.push(left);
        let made = self.builder.view(flat, &expand(&[sizes.len()], &sizes));
        made.expect("same count")
    }

    fn view(&mut self, x: NodeId) -> NodeId {
        match self.rng.within(0, 6) {
            0 | 1 => self.slice(x),
            2 | 3 => self.permute(x),
            4 => {
                let mut sizes = self.shape(x);
                for n in &mut sizes {
                    if *n == 1 && self.rng.one_in(2) {
                        *n = self.rng.within(1, 3);
                    }
                }
                match sizes.iter().product::<i64>() <= LIMIT {
                    true => {
                        let sizes = sizes.into();
                        let made = self.builder.view(x, &View::Broadcast { sizes });
                        made.expect("units only")
                    }
                    false => x,
                }
            }
            _ => self.reshape(x),
        }
    }

    fn concat(&mut self, x: NodeId) -> NodeId {
        let shape = self.shape(x);
        let count = shape.iter().product::<i64>();
        if shape.is_empty() || count > LIMIT / 3 {
            return x;
        }
        let axis = self.rng.within(0, shape.len() as i64 - 1) as usize;
        let mut rim = shape.clone();
        rim[axis] = self.rng.within(0, 2);
        let other = match self.rng.within(0, 2) {
            0 => self
                .builder
                .fill(ElementType::U16, &rim, 0xabcd)
                .expect("fits"),
            1 => self.builder.fill(ElementType::U16, &rim, 0).expect("fits"),
            _ => self.data(&rim),
        };
        let parts = match self.rng.within(0, 2) {
            0 => vec![x, other],
            1 => vec![other, x],
            _ => vec![x, other, x],
        };
        self.builder.concat(&parts, axis as u8).expect("fits")
    }

    /// Gather, gather with batch axes, of elements, or by several axes.
    fn gather(&mut self, x: NodeId) -> NodeId {
        let shape = self.shape(x);
        if shape.is_empty() || shape.len() > 4 {
            return x;
        }
        let mut sizes: Vec<i64> = vec![];
        let mut coordinates = vec![];
        let shared = self.rng.within(0, 3);
        let mut chosen = 0;
        for (axis, &n) in shape.iter().enumerate() {
            let last = axis + 1 == shape.len();
            if n > 0 && (self.rng.one_in(3) || (last && chosen == 0)) {
                chosen += 1;
                // Its own axes, and sometimes axes that the result has already.
                let mut outputs: Vec<u8> = vec![];
                for o in 0..sizes.len() as u8 {
                    if self.rng.within(0, 3) < shared {
                        outputs.push(o);
                    }
                }
                for _ in 0..self.rng.within(0, 2) {
                    outputs.push(sizes.len() as u8);
                    sizes.push(self.rng.within(1, 4));
                }
                let own: Vec<i64> = outputs.iter().map(|&o| sizes[usize::from(o)]).collect();
                let node = self.indices(&own, n);
                let wrap = self.rng.one_in(2);
                if self.rng.one_in(5) {
                    let check = Obligation {
                        node,
                        limit: n,
                        wrap,
                        op: 3,
                        column: 0,
                        columns: 1,
                    };
                    self.builder.check(check).expect("an obligation");
                }
                coordinates.push(Coordinate::Index(Index {
                    node,
                    outputs: outputs.as_slice().into(),
                    wrap,
                    policy: self.rng.pick(&[Policy::Zero, Policy::Clamp]),
                }));
            } else {
                coordinates.push(Coordinate::Output(sizes.len() as u8));
                sizes.push(n);
            }
        }
        if chosen == 0 || sizes.iter().product::<i64>() > LIMIT {
            return x;
        }
        self.builder.gather(x, &coordinates).expect("a gather")
    }

    fn first(&mut self) -> NodeId {
        let shape: Vec<i64> = (0..self.rng.within(0, 4))
            .map(|_| match self.rng.one_in(40) {
                true => 0,
                false => self.rng.within(1, 5),
            })
            .collect();
        self.data(&shape)
    }

    fn finish(self) -> (Canonical, Vec<Vec<u8>>) {
        (self.builder.finish(), self.buffers)
    }
}

fn stages(plan: &Plan) -> usize {
    plan.stages.len()
}

/// The kernel of a plan is proved, and writes what it should, in one chunk and in several.
fn moves(planned: &Plan, inputs: &[&[u8]], expected: &[Vec<u8>], what: &str) {
    let eager = Target {
        parallel_from: 32,
        grain: 16,
        ..Target::default()
    };
    for (target, chunks) in [(Target::default(), 1), (eager, 3)] {
        let kernel = schedule(planned, &target, &restride_budget::Meter::unlimited())
            .expect("a kernel")
            .kernel;
        if let Err(reason) = verify(kernel.clone()) {
            panic!("{what}: {reason}\n{planned}{kernel}");
        }
        let outputs = interpret_chunked(&kernel, inputs, chunks, Order::Backward);
        let outputs = outputs.unwrap_or_else(|e| panic!("{what}: {e}\n{planned}{kernel}"));
        let mut written = outputs.iter();
        for (n, answer) in planned.answers.iter().enumerate() {
            let (element, shape, layout) = &planned.outputs[n];
            let width = element.width();
            if matches!(answer, Answer::View { .. }) || shape.contains(&0) {
                continue;
            }
            let buffer = written.next().expect("an output");
            let mut dense = vec![];
            let count: i64 = shape.iter().product();
            for mut flat in 0..count {
                let mut at = layout.as_ref().map_or(flat, |l| l.offset);
                if let Some(layout) = layout {
                    for (n, stride) in shape.iter().zip(&layout.strides).rev() {
                        at += flat % n * stride;
                        flat /= n;
                    }
                }
                let at = at as usize * width;
                dense.extend_from_slice(&buffer[at..at + width]);
            }
            assert!(dense == expected[n], "{what}\n{planned}{kernel}");
        }
    }
}

/// Holds a plan against the interpreter.
fn agree(graph: &Canonical, buffers: &[Vec<u8>], options: PlanOptions, what: &str) -> Plan {
    let inputs: Vec<&[u8]> = buffers.iter().map(|b| &b[..]).collect();
    let planned =
        plan(graph, options, &Meter::unlimited()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let meant = plain::run(&plain::plan(graph), &inputs);
    match (plain::run(&planned, &inputs), meant) {
        (Ok(got), Ok(expected)) => {
            assert!(got == expected, "{what}\n{planned}");
            moves(&planned, &inputs, &expected, what);
        }
        (Err(got @ PlainError::OutOfRange { .. }), Err(expected)) => {
            assert_eq!(got, expected, "{what}");
        }
        (got, expected) => panic!("{what}: {got:?} and {expected:?}\n{planned}"),
    }
    planned
}

#[test]
fn random_graphs_agree_with_the_interpreter() {
    let (mut one, mut refused, mut views) = (0, 0, 0);
    let graphs = 30_000u64;
    for seed in 0..graphs {
        let mut m = Maker::new(seed);
        let mut nodes = vec![m.first()];
        for _ in 0..m.rng.within(1, 8) {
            let x = match m.rng.one_in(3) {
                true => m.rng.pick(&nodes),
                false => nodes[nodes.len() - 1],
            };
            let next = match m.rng.within(0, 9) {
                0 | 1 => m.concat(x),
                2 | 3 => m.gather(x),
                _ => m.view(x),
            };
            nodes.push(next);
        }
        if m.rng.one_in(4) {
            let shape = [m.rng.within(1, 3), m.rng.within(1, 3)];
            let node = m.indices(&shape, 4);
            for column in 0..2 {
                let check = Obligation {
                    node,
                    limit: 4 + i64::from(column),
                    wrap: m.rng.one_in(2),
                    op: 7,
                    column,
                    columns: 2,
                };
                m.builder.check(check).expect("an obligation");
            }
        }
        for _ in 0..m.rng.within(1, 3) {
            let x = match m.rng.one_in(2) {
                true => m.rng.pick(&nodes),
                false => nodes[nodes.len() - 1],
            };
            let (layout, _) = m.layout(&m.shape(x), true);
            m.builder.output(x, layout).expect("an output");
        }
        let options = PlanOptions {
            views: m.rng.pick(&ViewPolicy::ALL),
        };
        let (graph, buffers) = m.finish();
        let what = format!("seed {seed}");
        let planned = agree(&graph, &buffers, options, &what);
        one += usize::from(stages(&planned) <= graph.outputs().len());
        refused += usize::from(!planned.checks.is_empty());
        let is_view = |a: &Answer| matches!(a, Answer::View { .. });
        views += planned.answers.iter().filter(|a| is_view(a)).count();
    }
    assert!(
        one as u64 * 10 > graphs * 8,
        "{one} of {graphs} without a temporary"
    );
    assert!(
        views > 1_000 && refused > 1_000,
        "{views} views, {refused} checked"
    );
}

/// The share of chains that are written in one pass, by kind of chain.
fn share(seed: u64, graphs: u64, gathers: bool) -> f64 {
    let mut one = 0;
    for n in 0..graphs {
        let mut m = Maker::new(seed + n);
        m.nested = false;
        let shape: Vec<i64> = (0..m.rng.within(1, 5))
            .map(|_| m.rng.within(1, 8))
            .collect();
        let mut x = m.data(&shape);
        let count = m.rng.within(1, 6);
        let at = m.rng.within(1, count);
        for k in 1..=count {
            x = match gathers && k == at {
                true => m.gather(x),
                false => m.view(x),
            };
        }
        m.builder.output(x, None).expect("an output");
        let (graph, buffers) = m.finish();
        let planned = agree(
            &graph,
            &buffers,
            PlanOptions::default(),
            &format!("chain {n}"),
        );
        one += u64::from(stages(&planned) <= 1);
    }
    one as f64 / graphs as f64
}

#[test]
fn most_chains_of_views_are_one_stage() {
    let share = share(1 << 40, 20_000, false);
    println!("chains of views in one stage: {:.2} %", 100.0 * share);
    assert!(share >= 0.98, "{share}");
}

#[test]
fn most_chains_with_a_gather_are_one_stage() {
    let share = share(1 << 41, 20_000, true);
    println!("chains with a gather in one stage: {:.2} %", 100.0 * share);
    assert!(share >= 0.97, "{share}");
}

#[test]
fn a_value_is_written_to_one_temporary_only() {
    // The gather needs a temporary of the joined value; both gathers read the same one.
    let mut m = Maker::new(1);
    let x = m.data(&[4, 6]);
    let y = m.data(&[3, 6]);
    let joined = m.builder.concat(&[x, y], 0).expect("fits");
    for _ in 0..2 {
        let node = m.plain_indices(&[5], &|rng, n| {
            (0..n)
                .flat_map(|_| rng.within(0, 6).to_le_bytes())
                .collect()
        });
        let index = Coordinate::Index(Index {
            node,
            outputs: [0].into_iter().collect(),
            wrap: false,
            policy: Policy::Zero,
        });
        let g = m.builder.gather(joined, &[index, Coordinate::Output(1)]);
        m.builder.output(g.expect("fits"), None).expect("an output");
    }
    let (graph, buffers) = m.finish();
    let planned = agree(&graph, &buffers, PlanOptions::default(), "shared");
    let temporaries = planned
        .stages
        .iter()
        .filter(|s| s.destination == Destination::Scratch);
    assert_eq!(temporaries.count(), 1, "{planned}");
}

#[test]
fn a_concat_may_have_any_number_of_parts() {
    let mut m = Maker::new(2);
    let parts: Vec<NodeId> = (0..200).map(|_| m.data(&[1, 2])).collect();
    let joined = m.builder.concat(&parts, 0).expect("fits");
    let turned = m.builder.view(joined, &permute(&[1, 0])).expect("fits");
    m.builder.output(joined, None).expect("an output");
    m.builder.output(turned, None).expect("an output");
    let (graph, buffers) = m.finish();
    agree(&graph, &buffers, PlanOptions::default(), "200 parts");
}

#[test]
fn plans_read_well() {
    let mut b = Builder::new();
    let x = b.input(ElementType::F32, &[4, 6], None).expect("an input");
    let rows = Span {
        start: 1,
        len: 2,
        step: 2,
    };
    let rows = b.view(x, &View::Slice([rows, Span::whole(6)].as_slice().into()));
    let turned = b.view(rows.expect("fits"), &permute(&[1, 0]));
    let turned = turned.expect("fits");
    let flat = b.view(turned, &collapse(&[2])).expect("fits");
    b.output(turned, None).expect("an output");
    b.output(flat, None).expect("an output");
    let planned = plan(&b.finish(), PlanOptions::default(), &Meter::unlimited()).expect("a plan");
    let expected = "\
stage 0 -> output 1: f32 x 12, 1 piece  // output 1
  0 [6:2:1 2:1:12] = input 0 + 6
view: output 0 = input 0 + 6 (1 12)
copy: output 1 by stage 0, since axis 0 would need 2 strides
";
    assert_eq!(planned.to_string(), expected);
}

#[test]
fn reshapes_that_are_written_out_are_one_piece() {
    // 5 x 7 and 32 x 33 turned, in shapes that cut every digit; the second into more pieces than
    // a value may have.
    for (sizes, shapes) in [
        ([5, 7], [[5, 7], [35, 1]]),
        ([32, 33], [[132, 8], [11, 96]]),
    ] {
        for check in [false, true] {
            let mut m = Maker::new(7);
            let element = ElementType::I64;
            let x = m.builder.input(element, &sizes, None).expect("an input");
            let places = (0..sizes[0] * sizes[1]).flat_map(i64::to_le_bytes);
            m.buffers.push(places.collect());
            let turned = m.builder.view(x, &permute(&[1, 0])).expect("fits");
            let flat = m.builder.view(turned, &collapse(&[2])).expect("fits");
            let mut reshaped = flat;
            for shape in shapes {
                let made = m.builder.view(flat, &expand(&[2], &shape));
                reshaped = made.expect("fits");
                m.builder.output(reshaped, None).expect("an output");
            }
            if check {
                let check = Obligation {
                    node: reshaped,
                    limit: sizes[0] * sizes[1],
                    wrap: false,
                    op: 0,
                    column: 0,
                    columns: 1,
                };
                m.builder.check(check).expect("an obligation");
            }
            let (graph, buffers) = m.finish();
            let planned = agree(&graph, &buffers, PlanOptions::default(), "reshaped");
            assert_eq!(stages(&planned), shapes.len(), "{planned}");
            assert!(
                planned.stages.iter().all(|s| s.pieces.len() == 1),
                "{planned}"
            );
        }
    }
}

#[test]
fn chosen_patches_are_looked_up_in_a_table() {
    // A 4x4 image as four patches of 2x2, and three of them by an index.
    let mut b = Builder::new();
    let x = b.input(ElementType::F32, &[4, 4], None).expect("an input");
    let node = b.input(ElementType::I64, &[3], None).expect("an input");
    let mut patches = x;
    for step in [
        expand(&[2, 2], &[2, 2, 2, 2]),
        permute(&[0, 2, 1, 3]),
        collapse(&[2, 2]),
    ] {
        patches = b.view(patches, &step).expect("fits");
    }
    let index = Index {
        node,
        outputs: [0].into_iter().collect(),
        wrap: true,
        policy: Policy::Clamp,
    };
    let chosen = b.gather(patches, &[Coordinate::Index(index), Coordinate::Output(1)]);
    b.output(chosen.expect("fits"), None).expect("an output");
    let planned = plan(&b.finish(), PlanOptions::default(), &Meter::unlimited()).expect("a plan");
    let expected = "\
stage 0 -> output 0: f32 x 12, 1 piece  // output 0
  0 [3:4:0:1:0 2:2:4:0:0 2:1:1:0:0] = input 0 + 0 with i0 = i64 input 1[0] in 4 wrap clamp \
+ 2 * u8 constant 0[0 + 1 * i0] in 6 zero
copy: output 0 by stage 0, since it reads through an index
";
    assert_eq!(planned.to_string(), expected);
    assert_eq!(planned.constants[0].bytes[..], [0, 1, 4, 5]);
}

#[test]
fn known_windows_are_a_view() {
    // Windows of 4, 2 apart: no chain of slices gives them, but digits do.
    let mut b = Builder::new();
    let x = b.input(ElementType::F32, &[10], None).expect("an input");
    let places = (0..4i32).flat_map(|frame| (0..4).map(move |k| frame * 2 + k));
    let bytes: Vec<u8> = places.flat_map(i32::to_le_bytes).collect();
    let node = b.constant(ElementType::I32, &[4, 4], bytes.into());
    let index = Index {
        node: node.expect("a constant"),
        outputs: [0, 1].into_iter().collect(),
        wrap: false,
        policy: Policy::Zero,
    };
    let windows = b.gather(x, &[Coordinate::Index(index)]).expect("fits");
    b.output(windows, None).expect("an output");
    let planned = plan(&b.finish(), PlanOptions::default(), &Meter::unlimited()).expect("a plan");
    assert_eq!(planned.to_string(), "view: output 0 = input 0 + 0 (2 1)\n");
}
