//! What a call costs in Rust: the same as call.c, for overhead.sh.

use restride::{Engine, Graph, InputShape, Template, TensorMut, TensorRef};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = "func @turn(%x: f32[4, 4]) { %y = transpose %x perm [1, 0] return %y copy }";
    let mut arguments = std::env::args().skip(1);
    let calls: usize = arguments.next().unwrap_or("1".to_owned()).parse()?;
    let lookup = arguments.next().is_some_and(|what| what == "lookup");
    let graph = Graph::parse(text).map_err(|errors| errors.to_string())?;
    let engine = Engine::default();
    let template = Template::new(graph.clone());
    let program = engine.compile(&graph)?;
    let from: Vec<f32> = (0..16u8).map(f32::from).collect();
    let mut to = vec![0f32; 16];
    for _ in 0..calls {
        match lookup {
            true => drop(engine.specialise(&template, &[InputShape::dense(&[4, 4])])?),
            false => program.run(&[TensorRef::new(&from)], &mut [TensorMut::new(&mut to)])?,
        }
    }
    Ok(())
}
