//! Programs of templates whose plan is that of other sizes, with theirs in it, do what those from
//! the graph do: on random graphs whose axes vary, one or two at a time.

use restride::{
    Config, Engine, Graph, InputShape, Program, RunError, Template, TensorMut, TensorRef,
};
use restride_graph::{Sample, TensorType};
use restride_testkit::generate::{Case, Kind, buffer, case};

/// What was seen.
#[derive(Debug, Default)]
struct Seen {
    templates: usize,
    with_common_plan: usize,
    substituted: usize,
    /// Of those, the ones whose loops are not those that the graph comes to.
    other_loops: usize,
    refused: usize,
}

/// The axes of the inputs: which input, which axis.
fn axes(graph: &Graph) -> Vec<(usize, usize)> {
    let inputs = graph.inputs().iter().enumerate();
    let axes = inputs.flat_map(|(input, value)| {
        let sizes = graph.ty(*value).shape().iter().enumerate();
        let varied = sizes.filter(|(_, size)| **size >= 2);
        varied
            .map(move |(axis, _)| (input, axis))
            .collect::<Vec<_>>()
    });
    axes.collect()
}

fn run(program: &Program, inputs: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, RunError> {
    let of = |(bytes, ty): (&Vec<u8>, &TensorType)| (bytes.clone(), ty.clone());
    let held: Vec<_> = inputs.iter().zip(program.inputs()).map(of).collect();
    let inputs: Vec<TensorRef<'_>> = held
        .iter()
        .map(|(bytes, ty)| TensorRef::of(ty.element(), bytes))
        .collect();
    let room = |ty: &TensorType| vec![0xAAu8; ty.required_elements() * ty.element().width()];
    let types: Vec<TensorType> = program
        .outputs()
        .iter()
        .filter_map(|output| match output {
            restride::Output::Computed { ty, .. } => Some(ty.clone()),
            restride::Output::View { .. } => None,
        })
        .collect();
    let mut outputs: Vec<Vec<u8>> = types.iter().map(room).collect();
    let mut passed: Vec<TensorMut<'_>> = outputs
        .iter_mut()
        .zip(&types)
        .map(|(bytes, ty)| TensorMut::of(ty.element(), bytes))
        .collect();
    program.run(&inputs, &mut passed)?;
    Ok(outputs)
}

/// Varies these axes of a case by multiples of a step, all by the same, or each by another.
fn vary(case: &Case, axes: &[(usize, usize)], (step, together): (i64, bool), seen: &mut Seen) {
    let graph = &case.graph;
    let template = Template::new(graph.clone());
    let engine = Engine::new(Config::default());
    let on = |by: i64| {
        let mut shapes: Vec<Vec<i64>> = graph
            .inputs()
            .iter()
            .map(|value| graph.ty(*value).shape().to_vec())
            .collect();
        for (place, &(input, axis)) in axes.iter().enumerate() {
            let more = if together {
                step * by
            } else {
                step * by * (1 + place as i64)
            };
            let size = shapes[input][axis] + more;
            shapes[input][axis] = size.max(0);
        }
        shapes
    };
    seen.templates += 1;
    let mut common = false;
    for by in [1, 2, 3, 4, 0, -1, 5, 6, 12, -2, 13, 29] {
        let shapes = on(by);
        let inputs: Vec<InputShape<'_>> = graph
            .inputs()
            .iter()
            .zip(&shapes)
            .map(|(value, shape)| {
                let at = graph.ty(*value).layout();
                match at {
                    None => InputShape::dense(shape),
                    Some(at) => InputShape::strided(shape, at.offset, &at.strides),
                }
            })
            .collect();
        let before = engine.stats().substituted;
        let program = engine.specialise(&template, &inputs);
        let expected = template
            .specialised(&inputs)
            .and_then(|graph| Engine::default().compile_in_tiers(&graph));
        let (program, expected) = match (program, expected) {
            (Ok(program), Ok(expected)) => (program, expected),
            (Err(_), Err(_)) => {
                seen.refused += 1;
                continue;
            }
            (program, expected) => panic!("{graph}\n{shapes:?}: {program:?} for {expected:?}"),
        };
        if engine.stats().substituted == before {
            continue;
        }
        common = true;
        seen.substituted += 1;
        let what = || {
            format!(
                "{graph}\n{shapes:?}\n{}\n{}",
                **program.kernel(),
                **expected.kernel()
            )
        };
        assert_eq!(program.inputs(), expected.inputs(), "{}", what());
        assert_eq!(program.outputs(), expected.outputs(), "{}", what());
        seen.other_loops += usize::from(program.kernel() != expected.kernel());
        let bytes: Vec<Vec<u8>> = program
            .inputs()
            .iter()
            .zip(&case.inputs)
            .map(|(ty, sample)| buffer(sample, ty))
            .collect();
        let (ours, theirs) = (run(&program, &bytes), run(&expected, &bytes));
        assert_eq!(ours, theirs, "{}", what());
    }
    seen.with_common_plan += usize::from(common);
}

#[test]
fn what_is_substituted_is_what_the_graph_comes_to() {
    let mut seen = Seen::default();
    for number in 0..4_000 {
        let kind = [Kind::Views, Kind::Family, Kind::OneGather][number as usize % 3];
        let case = case(14, number, kind, 1 + number as usize % 5);
        let axes = axes(&case.graph);
        for one in axes.iter().take(3) {
            vary(&case, &[*one], (1, true), &mut seen);
            vary(&case, &[*one], (2 + number as i64 % 7, true), &mut seen);
        }
        if let [first, second, ..] = axes[..] {
            vary(&case, &[first, second], (1, true), &mut seen);
            vary(&case, &[first, second], (1, false), &mut seen);
            vary(&case, &[first, second], (2, false), &mut seen);
        }
    }
    println!("{seen:?}");
    assert!(seen.with_common_plan * 3 > seen.templates, "{seen:?}");
    assert!(
        seen.substituted > 30_000 && seen.refused > 10_000,
        "{seen:?}"
    );
    assert_eq!(seen.other_loops, 0, "{seen:?}");
}

/// Of how many sizes after the first three the plan is substituted, which axes vary and by multiples of what, and a
/// graph that reaches into these.
const REACHING: [(usize, &[usize], i64, &str); 11] = [
    (
        8,
        &[0, 1],
        1,
        "%x: f32[40, 30]) { %y = roll %x shift [3, -5] axes [0, 1] return %y }",
    ),
    (
        8,
        &[1, 2],
        1,
        "%x: f32[3, 40, 30]) { %y = pad %x low [0, 1, 2] high [0, 1, -2] constant 0 return %y }",
    ),
    (
        9,
        &[0],
        1,
        "%x: u8[40, 30]) { %y = pad %x low [3, 0] high [0, 0] mode reflect return %y }",
    ),
    (
        9,
        &[0, 1],
        1,
        "%x: u8[40, 30, 3]) { %y = slice %x start [8, 8] stop [-8, -8] step [1, 1] return %y copy }",
    ),
    (
        9,
        &[0],
        1,
        "%x: f16[40, 64]) { %y = slice %x start [-1] stop [9223372036854775807] step [1] return %y }",
    ),
    (
        9,
        &[0],
        1,
        "%x: f16[40, 6]) { %y = slice %x start [16] stop [32] step [1] %z = transpose %y perm [1, 0] return %z }",
    ),
    (
        9,
        &[1],
        1,
        "%x: f32[8, 40], %c: f32[8, 2]) { %y = concat %x, %c axis 1 return %y }",
    ),
    (
        9,
        &[0],
        2,
        "%x: f32[40, 8]) { %y = slice %x start [1] stop [9223372036854775807] step [2] return %y copy }",
    ),
    (
        9,
        &[0],
        16,
        "%x: f32[64, 6]) { %y = reshape %x shape [-1, 16, 6] dialect onnx %z = transpose %y perm [1, 0, 2] return %z }",
    ),
    // Once of odd ones, once of even ones.
    (
        8,
        &[0],
        1,
        "%x: f32[40, 8]) { %y = slice %x start [1] stop [9223372036854775807] step [2] return %y copy }",
    ),
    // Of some of them all is taken.
    (
        6,
        &[0],
        1,
        "%x: f32[40, 6]) { %y = slice %x start [0] stop [41] step [1] %z = transpose %y perm [1, 0] return %z copy }",
    ),
];

#[test]
fn ranges_rims_and_shifts_may_reach_into_what_varies() {
    for (substituted, axes, step, text) in REACHING {
        let graph = Graph::parse(&format!("func @f({text}")).expect(text);
        let inputs = (0..graph.inputs().len() as u32).map(Sample::Labels);
        let case = Case {
            inputs: inputs.collect(),
            graph,
            refused: Vec::new(),
        };
        let axes: Vec<(usize, usize)> = axes.iter().map(|axis| (0, *axis)).collect();
        let mut seen = Seen::default();
        vary(&case, &axes, (step, axes.len() == 1), &mut seen);
        let found = (seen.substituted, seen.other_loops);
        assert_eq!(found, (substituted, 0), "{text}");
    }
}
