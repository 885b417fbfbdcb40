//! The first thing to try: `x[::-1, 1:7:2]`, compiled and run.

use restride::{Config, ElementType, Engine, Graph, TensorMut, TensorRef, ViewPolicy};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Bit i of a mask stands for axis i: the begin and the end of axis 0 are not used.
    let mut g = Graph::new("demo");
    let x = g.input("x", ElementType::F32, [4, 8])?;
    let y = g
        .strided_slice(x)
        .begin([0, 1])
        .end([0, 7])
        .strides([-1, 2])
        .begin_mask(0b01)
        .end_mask(0b01)
        .finish()?;
    g.output(y)?;

    // A slice is a view: an engine says so unless it is asked for copies.
    let engine = Engine::new(Config {
        views: ViewPolicy::Copy,
        ..Config::default()
    });
    let program = engine.compile(&g)?;
    let x: Vec<f32> = (0..32).map(|n| n as f32).collect();
    let mut y = [0f32; 12];
    program.run(&[TensorRef::new(&x)], &mut [TensorMut::new(&mut y)])?;
    assert_eq!(y, [25., 27., 29., 17., 19., 21., 9., 11., 13., 1., 3., 5.]);

    let summary = program.summary();
    println!(
        "{} bytes of code, made in {:?}, forms: {}",
        summary.code_bytes,
        program.compile_time().unwrap_or_default(),
        summary.forms.join(", ")
    );
    Ok(())
}
