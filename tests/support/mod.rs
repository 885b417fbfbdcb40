//! What the tests of bad input and of faults share: a graph by its text, run everywhere.
#![allow(dead_code, reason = "every test binary uses a part of it")]

use restride::{
    Code, Config, Engine, Graph, Output, Program, RunError, TensorMut, TensorRef, ViewPolicy,
};
use restride_graph::oracle::{self, Tensor};

/// What outputs hold before a call; nothing a test expects.
pub(crate) const BEFORE: u8 = 0xa5;

/// Engines that differ in how programs run.
pub(crate) fn engines() -> Vec<Engine> {
    [Code::Native, Code::Generic]
        .map(|code| {
            Engine::new(Config {
                code,
                views: ViewPolicy::Copy,
                ..Config::default()
            })
        })
        .into()
}

/// A graph from its text, or what its author is told.
pub(crate) fn graph(text: &str) -> Result<Graph, String> {
    Graph::parse(text).map_err(|diagnostics| diagnostics.to_string())
}

/// The error of a text that must be refused.
pub(crate) fn refused(text: &str) -> String {
    match graph(text) {
        Ok(graph) => panic!("accepted:\n{graph}"),
        Err(error) => error,
    }
}

/// Runs a program on exactly sized buffers. Outputs are as before if it fails.
pub(crate) fn run(program: &Program, inputs: &[&[u8]]) -> Result<Vec<Vec<u8>>, RunError> {
    let sizes = program.outputs().iter().map(|output| match output {
        Output::Computed { ty, .. } => ty.required_elements() * ty.element().width(),
        Output::View { .. } => panic!("views are copied here"),
    });
    let mut buffers: Vec<Vec<u8>> = sizes.map(|bytes| vec![BEFORE; bytes]).collect();
    let inputs: Vec<_> = inputs.iter().map(|b| TensorRef::from_bytes(b)).collect();
    let mut outputs: Vec<_> = buffers
        .iter_mut()
        .map(|b| TensorMut::from_bytes(b))
        .collect();
    let done = program.run(&inputs, &mut outputs);
    if done.is_err() {
        let untouched = buffers.iter().flatten().all(|byte| *byte == BEFORE);
        assert!(untouched, "an output was written: {done:?}");
    }
    done.map(|()| buffers)
}

/// The outputs of a graph on these input buffers, or the error a user gets: the same from native
/// code and from the generic executor, and as the definition of the operators has it.
pub(crate) fn answer(text: &str, inputs: &[&[u8]]) -> Result<Vec<Vec<u8>>, String> {
    let graph = graph(text)?;
    let mut answers = engines().into_iter().map(|engine| {
        let program = engine.compile(&graph).map_err(|error| error.to_string())?;
        run(&program, inputs).map_err(|error| error.to_string())
    });
    let (native, generic) = (answers.next(), answers.next());
    assert_eq!(native, generic, "{text}");
    let answer = native.expect("two engines");
    let tensors: Vec<Tensor> = graph
        .inputs()
        .iter()
        .zip(inputs)
        .map(|(value, buffer)| Tensor::read(graph.ty(*value), buffer).expect("a long buffer"))
        .collect();
    match (oracle::eval(&graph, &tensors), &answer) {
        (Err(_), Err(_)) => {}
        (Ok(defined), Ok(found)) => {
            for ((defined, output), found) in defined.iter().zip(graph.outputs()).zip(found) {
                let mut buffer = vec![BEFORE; found.len()];
                let written = defined.write_into(&graph.output_type(output), &mut buffer);
                written.expect("a long buffer");
                assert_eq!(*found, buffer, "{text}");
            }
        }
        (defined, found) => panic!("{text}\ndefined: {defined:?}\nfound: {found:?}"),
    }
    answer
}

/// The only output of a graph that has one.
pub(crate) fn value(text: &str, inputs: &[&[u8]]) -> Vec<u8> {
    let mut outputs = answer(text, inputs).unwrap_or_else(|error| panic!("{text}\n{error}"));
    assert_eq!(outputs.len(), 1);
    outputs.remove(0)
}

/// The error of a graph that cannot run on these inputs.
pub(crate) fn failure(text: &str, inputs: &[&[u8]]) -> String {
    match answer(text, inputs) {
        Ok(outputs) => panic!("{text}\n{outputs:?}"),
        Err(error) => error,
    }
}

/// `0, 1, 2, ...`
pub(crate) fn iota(count: u8) -> Vec<u8> {
    (0..count).collect()
}

/// The bytes of numbers.
pub(crate) fn bytes<T: Copy, const N: usize>(numbers: &[T], of: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    numbers.iter().flat_map(|&number| of(number)).collect()
}

/// The bytes of 64-bit indices.
pub(crate) fn indices(numbers: &[i64]) -> Vec<u8> {
    bytes(numbers, i64::to_ne_bytes)
}

/// A graph of one operator on `%x` of a type, with nothing else.
pub(crate) fn one(ty: &str, op: &str) -> String {
    format!("func @f(%x: {ty}) {{ %y = {op} return %y }}")
}

/// A graph of one operator on `%x` and an index tensor `%i`.
pub(crate) fn indexed(ty: &str, index: &str, op: &str) -> String {
    format!("func @f(%x: {ty}, %i: {index}) {{ %y = {op} return %y }}")
}
