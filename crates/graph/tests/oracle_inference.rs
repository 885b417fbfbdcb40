//! Two judges of one operator that share no code: the type rules and the oracle. On random
//! operators, many of them nearly right, they must refuse alike and give the same type.

use std::collections::BTreeMap;

use restride_graph::oracle::{OpError, Tensor, eval_op};
use restride_graph::{Graph, OPERATORS, Op, TensorType};
use restride_testkit::generate::{Kind, case};

/// What the oracle says of an operator, whose operands hold zeros.
fn judged(graph: &Graph, op: &Op) -> Result<TensorType, OpError> {
    let zeros = |ty: &TensorType| Tensor::new(ty.clone(), vec![0; ty.byte_size()]);
    let operands = op.operands();
    let operands = operands.iter().map(|&operand| zeros(graph.ty(operand)));
    let operands: Vec<Tensor> = operands.collect::<Result<_, _>>().expect("tensors");
    let operands: Vec<&Tensor> = operands.iter().collect();
    eval_op(op, &operands).map(|tensor| tensor.ty().clone())
}

#[test]
fn inference_and_oracle_agree() {
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for number in 0..25_000 {
        let case = case(6, number, Kind::Nearly, 8);
        let graph = &case.graph;
        for value in graph.values() {
            let op = graph.op(value);
            if matches!(op, Op::Input | Op::Constant(_)) {
                continue;
            }
            counts.entry(op.name()).or_default().0 += 1;
            match judged(graph, op) {
                Ok(ty) => assert_eq!(*graph.ty(value), ty, "{op:?} in\n{graph}"),
                // Which index a tensor holds is nothing that types know.
                Err(OpError::OutOfRange { .. }) => {}
                // A type may be possible and yet too large to make.
                Err(_) if graph.ty(value).byte_size() > 1 << 28 => {}
                Err(error) => panic!("{op:?}: {error}, in\n{graph}"),
            }
        }
        for op in &case.refused {
            counts.entry(op.name()).or_default().1 += 1;
            match judged(graph, op) {
                Err(OpError::Refused { .. }) => {}
                found => panic!("{op:?} is refused, but the oracle has {found:?}, in\n{graph}"),
            }
        }
    }
    println!("{counts:?}");
    for row in OPERATORS {
        let (accepted, refused) = counts.get(row.name).copied().unwrap_or_default();
        assert!(accepted >= 100, "{}: {accepted} accepted", row.name);
        let never = row.name == "identity";
        assert!(refused >= 20 || never, "{}: {refused} refused", row.name);
    }
}
