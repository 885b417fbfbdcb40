//! Every stage prints: the graph, its canonical form, the plan, the loops, the machine code.

use restride::{Config, Engine, Graph, Options, Stages, ViewPolicy};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Graph::parse(
        "func @demo(%x: f32[4, 8]) {
           %y = strided_slice %x begin [0, 1] end [0, 7] strides [-1, 2]
                begin_mask 0b01 end_mask 0b01
           %z = transpose %y perm [1, 0]
           return %z
         }",
    )
    .map_err(|diagnostics| format!("{diagnostics}"))?;
    let stages = Stages::of(&graph, &Options::copying())?;
    println!(
        "{graph}\n{}\n{}\n{}",
        stages.canonical, stages.plan, *stages.kernel
    );
    for decision in &stages.decisions {
        println!("{decision}");
    }

    let engine = Engine::new(Config {
        views: ViewPolicy::Copy,
        ..Config::default()
    });
    let program = engine.compile(&graph)?;
    assert_eq!(program.kernel(), &stages.kernel);
    match program.disassembly() {
        Some(listing) => println!("{listing}"),
        None => println!("no executable memory here: it runs generically"),
    }
    Ok(())
}
