//! Shapes that change from call to call: one template, a program per shape, a bounded cache.

use restride::{
    Config, ElementType, Engine, Graph, InputShape, Template, TensorMut, TensorRef, ViewPolicy,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut g = Graph::new("last two columns, turned");
    let x = g.input("x", ElementType::I32, [1, 4])?;
    let y = g.slice(x, [-2], [i64::MAX]).axes([1]).finish()?;
    let y = g.transpose(y, [1, 0])?;
    g.output(y)?;
    let node = Template::new(g);

    let engine = Engine::new(Config {
        views: ViewPolicy::Copy,
        cache_entries: 64,
        ..Config::default()
    });
    for rows in [2, 3, 2, 3, 2, 3] {
        let program = engine.specialise(&node, &[InputShape::dense(&[rows, 4])])?;
        let x: Vec<i32> = (0..rows as i32 * 4).collect();
        let mut y = vec![0; 2 * rows as usize];
        program.run(&[TensorRef::new(&x)], &mut [TensorMut::new(&mut y)])?;
        assert_eq!(y[..2], [2, 6]);
    }
    let stats = engine.stats();
    assert_eq!((stats.hits, stats.misses), (4, 2));

    // A thousand shapes: the cache stays within its bounds.
    for rows in 1..=1000 {
        engine.specialise(&node, &[InputShape::dense(&[rows, 4])])?;
    }
    let stats = engine.stats();
    assert!(stats.entries <= 64);
    println!(
        "{} shapes compiled, {} kept, {} evicted",
        stats.misses, stats.entries, stats.evictions
    );

    // A shape that the operators do not accept is an error that names the operator.
    let error = engine.specialise(&node, &[InputShape::dense(&[4])]).err();
    println!(
        "{}",
        error.map_or_else(String::new, |error| error.to_string())
    );
    Ok(())
}
