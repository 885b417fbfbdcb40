//! Groups that have been made one node: the operators of its program.

use restride_graph::{Graph, Op, ValueId};

use super::{Attribute, Inputs, SpellError, Spelling, require};
use crate::rewrite::PROGRAM;

/// Adds the operators of a node's program.
pub(super) fn spell(
    spelling: Spelling<'_>,
    inputs: &mut dyn Inputs,
    graph: &mut Graph,
) -> Result<Vec<ValueId>, SpellError> {
    let Some(Attribute::Word(text)) = spelling.attributes.get(PROGRAM) else {
        return Err(SpellError::Unreadable(format!("it has no `{PROGRAM}`")));
    };
    let program = Graph::parse(text);
    let program = program.map_err(|error| SpellError::Unreadable(error.to_string()))?;
    let expected = program.inputs().len();
    let count = inputs.count();
    require!(
        count == expected,
        "{count} inputs for a program of {expected}"
    );
    let mut new: Vec<ValueId> = Vec::new();
    let mut given = 0;
    for value in program.values() {
        new.push(match program.op(value) {
            Op::Input => {
                let operand = inputs.operand(given, graph)?;
                let (element, wanted) = (graph.ty(operand).element(), program.ty(value).element());
                require!(
                    element == wanted,
                    "input {given} has elements {element}, not {wanted}"
                );
                given += 1;
                operand
            }
            op => graph.push(op.clone().map_operands(|operand| new[operand.index()]))?,
        });
    }
    let outputs = program.outputs().iter();
    Ok(outputs.map(|output| new[output.value.index()]).collect())
}
