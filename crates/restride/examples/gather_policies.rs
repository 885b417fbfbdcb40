//! What a gather does with an index outside its axis is always spelled.

use restride::{ElementType, Engine, Graph, IndexRule, OutOfRange, RunError, TensorMut, TensorRef};

/// Rows of `x: u8[4, 2]` by three indices, under a rule.
fn rows(rule: IndexRule) -> Result<Graph, Box<dyn std::error::Error>> {
    let mut g = Graph::new("rows");
    let x = g.input("x", ElementType::U8, [4, 2])?;
    let i = g.input("i", ElementType::I32, [3])?;
    let y = g.gather(x, i, rule).axis(0).finish()?;
    g.output(y)?;
    Ok(g)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::default();
    let x = [10u8, 11, 20, 21, 30, 31, 40, 41];
    let run = |out_of_range, wrap, i: [i32; 3], y: &mut [u8; 6]| {
        let graph = rows(IndexRule { out_of_range, wrap })?;
        let program = engine.compile(&graph)?;
        let inputs = [TensorRef::new(&x), TensorRef::new(&i)];
        program.run(&inputs, &mut [TensorMut::new(y)])?;
        Ok::<_, Box<dyn std::error::Error>>(())
    };
    let mut y = [0u8; 6];

    // OpenVINO: negatives count from the end, what is outside is zero bits.
    run(OutOfRange::Zero, true, [3, -1, 9], &mut y)?;
    assert_eq!(y, [40, 41, 40, 41, 0, 0]);

    // XLA: indices are moved into the axis.
    run(OutOfRange::Clamp, false, [3, -1, 9], &mut y)?;
    assert_eq!(y, [40, 41, 10, 11, 40, 41]);

    // ONNX and TensorFlow: the call fails, and the output is as it was.
    let refused = run(OutOfRange::Error, true, [3, -1, 9], &mut y)
        .err()
        .and_then(|error| error.downcast::<RunError>().ok());
    println!(
        "{}",
        refused
            .as_ref()
            .map_or_else(String::new, ToString::to_string)
    );
    assert!(matches!(
        refused.as_deref(),
        Some(RunError::Index {
            position: 2,
            limit: 4,
            ..
        })
    ));
    assert_eq!(y, [40, 41, 10, 11, 40, 41]);
    Ok(())
}
