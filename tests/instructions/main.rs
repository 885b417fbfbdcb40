//! Runs each kernel of `kernels.mv` once inside [`counted`], for a tool that counts instructions.
//!
//! Kernels are compiled for AVX2 and one line of cores whatever the machine has, so that the counts do not depend
//! on it and a tool that knows no AVX-512 can follow.

use restride::{
    Config, Core, Engine, Features, Graph, Program, Target, TensorMut, TensorRef, ViewPolicy,
};

/// The tool counts from here to its return.
#[inline(never)]
fn counted(program: &Program, inputs: &[TensorRef<'_>], output: &mut [u8]) -> bool {
    program
        .run(inputs, &mut [TensorMut::from_bytes(output)])
        .is_ok()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Config {
        target: Target {
            core: Core::Zen,
            ..Target::with(Features::Avx2)
        },
        views: ViewPolicy::Copy,
        ..Config::default()
    };
    let engine = Engine::new(config);
    for text in restride_tests::functions(include_str!("kernels.mv")) {
        let graph = Graph::parse(text)?;
        let program = engine.compile(&graph)?;
        let data: Vec<Vec<u8>> = program
            .inputs()
            .iter()
            .map(|ty| {
                (0..ty.byte_size())
                    .map(|n| if n % 8 == 0 { (n / 8 % 97) as u8 } else { 0 })
                    .collect()
            })
            .collect();
        let inputs: Vec<TensorRef<'_>> = data.iter().map(|d| TensorRef::from_bytes(d)).collect();
        let output = graph.outputs().first().ok_or("a function without output")?;
        let mut bytes = vec![0u8; graph.output_type(output).byte_size()];
        // The first call touches what later ones find.
        if !counted(&program, &inputs, &mut bytes) || !counted(&program, &inputs, &mut bytes) {
            return Err(format!("{} does not run", graph.name()).into());
        }
        println!("{}", graph.name());
    }
    Ok(())
}
