//! Changing graphs: operands renamed, values left out, inputs first.

use restride_graph::{Graph, GraphError, Op, ValueId};

/// The operator with every operand renamed.
#[must_use]
pub fn renamed(op: &Op, mut name: impl FnMut(ValueId) -> ValueId) -> Op {
    let mut op = op.clone();
    op.change_operands(|operand| *operand = name(*operand));
    op
}

/// The same graph with all inputs before all else, and what each value became.
pub fn inputs_first(graph: &Graph) -> Result<(Graph, Vec<ValueId>), GraphError> {
    let mut out = Graph::new(graph.name());
    let mut names = vec![ValueId::from_u32(0); graph.len()];
    for &input in graph.inputs() {
        let name = graph.value_name(input).unwrap_or("");
        names[input.index()] = out.typed_input(name, graph.ty(input).clone())?;
    }
    for value in graph.values() {
        if !matches!(graph.op(value), Op::Input) {
            let op = renamed(graph.op(value), |operand| names[operand.index()]);
            names[value.index()] = out.push(op)?;
        }
    }
    for output in graph.outputs() {
        let value = names[output.value.index()];
        out.output_like(value, output)?;
    }
    Ok((out, names))
}
