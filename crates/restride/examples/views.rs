//! View or copy is part of the answer, and a copy comes with its reason.

use restride::{ElementType, Engine, Graph, Output, TensorMut, TensorRef};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut g = Graph::new("heads");
    let x = g.input("x", ElementType::F32, [2, 6, 4])?;
    let turned = g.transpose(x, [1, 0, 2])?;
    let flat = g.reshape(turned, [6, 8]).finish()?;
    g.output(turned)?;
    g.output(flat)?;
    let program = Engine::default().compile(&g)?;

    let data: Vec<f32> = (0..48).map(|n| n as f32).collect();
    for (n, output) in program.outputs().iter().enumerate() {
        match output {
            Output::View { input, layout, ty } => {
                println!("output {n} lies in input {input}: {ty}, {layout:?}");
                // The caller reads it where it is.
                let at = |index: &[i64]| {
                    let steps = index.iter().zip(&layout.strides).map(|(i, s)| i * s);
                    (layout.offset + steps.sum::<i64>()) as usize
                };
                assert_eq!(data[at(&[5, 1, 3])], 47.0);
                assert_eq!(data[at(&[1, 0, 0])], 4.0);
            }
            Output::Computed { ty, why } => println!("output {n} is computed: {ty}, since {why}"),
        }
    }

    // Only what is computed is passed.
    assert_eq!(program.computed(), 1);
    let mut flat = [0f32; 48];
    program.run(&[TensorRef::new(&data)], &mut [TensorMut::new(&mut flat)])?;
    assert_eq!(flat[..10], [0., 1., 2., 3., 24., 25., 26., 27., 4., 5.]);
    Ok(())
}
