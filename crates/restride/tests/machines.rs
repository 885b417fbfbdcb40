//! What a host says of its machine decides how fast programs are, and nothing else.

use restride::{Code, Config, Engine, Graph, Target, TensorMut, TensorRef, ViewPolicy};

#[test]
fn a_machine_that_cannot_be_makes_nothing_wrong() {
    let texts = [
        "func @f(%x: u8[200, 300]) { %y = transpose %x perm [1, 0] return %y }",
        "func @f(%x: u16[40, 64, 8]) { %y = transpose %x perm [1, 0, 2] return %y }",
        "func @f(%x: u8[100, 9], %i: i8[50]) {
            %y = gather %x, %i axis 0 out_of_range zero
            %z = gather %x, %i axis 1 out_of_range clamp
            return %y, %z }",
        "func @f(%x: u32[64, 64]) { %y = roll %x shift [3, 5] axes [0, 1] return %y }",
    ];
    let sane = Target::default();
    let mut targets = vec![sane.clone()];
    for odd in [0, -1, 1, i64::MIN, i64::MAX] {
        for field in 0..8 {
            let mut target = sane.clone();
            let fields = [
                &mut target.line,
                &mut target.l1,
                &mut target.l1_way,
                &mut target.l2,
                &mut target.last,
                &mut target.past_from,
                &mut target.parallel_from,
                &mut target.grain,
            ];
            for (at, value) in fields.into_iter().enumerate() {
                if at == field || field == 0 && odd < 1 {
                    *value = odd;
                }
            }
            targets.push(target);
        }
    }
    for text in texts {
        let graph = Graph::parse(text).unwrap();
        let mut expected: Option<Vec<Vec<u8>>> = None;
        for target in &targets {
            let engine = Engine::new(Config {
                target: target.clone(),
                code: Code::Generic,
                views: ViewPolicy::Copy,
                ..Config::default()
            });
            let program = engine
                .compile(&graph)
                .unwrap_or_else(|error| panic!("{target:?}: {error}"));
            let counting = |bytes: usize| (0..bytes).map(|n| (n % 251) as u8).collect();
            let inputs: Vec<Vec<u8>> = (program.inputs().iter())
                .map(|ty| counting(ty.byte_size()))
                .collect();
            let mut outputs: Vec<Vec<u8>> = (graph.outputs().iter())
                .map(|output| vec![0; graph.output_type(output).byte_size()])
                .collect();
            let read: Vec<_> = inputs.iter().map(|b| TensorRef::from_bytes(b)).collect();
            let mut written: Vec<_> = (outputs.iter_mut())
                .map(|b| TensorMut::from_bytes(b))
                .collect();
            program.run(&read, &mut written).unwrap();
            drop(written);
            let expected = expected.get_or_insert_with(|| outputs.clone());
            assert_eq!(*expected, outputs, "{target:?}\n{text}");
        }
    }
}
