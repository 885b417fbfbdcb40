//! Programs of templates whose plan is that of other sizes, with theirs in it, do what those from
//! the graph do: on random graphs whose axes vary, one or two at a time.

use restride::{
    Config, Engine, Graph, InputShape, Program, RunError, Template, TensorMut, TensorRef,
};
use restride_graph::TensorType;
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

/// Varies these axes of a case together, by the first number, or each by its own.
fn vary(case: &Case, axes: &[(usize, usize)], together: bool, seen: &mut Seen) {
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
                by
            } else {
                by * (1 + place as i64)
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
            vary(&case, &[*one], true, &mut seen);
        }
        if let [first, second, ..] = axes[..] {
            vary(&case, &[first, second], true, &mut seen);
            vary(&case, &[first, second], false, &mut seen);
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
