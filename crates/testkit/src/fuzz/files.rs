//! Hostile files of other people: golden cases and workloads.

use super::{SMALL, is_small};
use crate::conform::{Case, check_case, spell};
use crate::rungs::rungs;
use crate::workloads::{self, to_graph};

/// Lines of a file of golden cases. What they expect need not come out; it has to be answered.
pub fn golden_lines(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for line in text.lines().take(16) {
        let Ok(case) = serde_json::from_str::<Case>(line) else {
            continue;
        };
        let Ok(spelled) = spell(&case) else {
            continue;
        };
        if is_small(&spelled.graph) {
            let _ = check_case(&case, &rungs());
        }
    }
}

/// A file of workloads.
pub fn workload_file(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(entries) = workloads::read(text) else {
        return;
    };
    for workload in entries.into_iter().flatten() {
        let small = |tensor: &workloads::Tensor| tensor.bytes().is_some_and(|n| n <= SMALL);
        let graph = to_graph(&workload);
        if !workload.tensors.iter().all(small) {
            continue;
        }
        let inputs: Vec<Vec<u8>> = workload
            .inputs
            .iter()
            .map(|input| {
                let mut bytes = vec![0; input.tensor.bytes().unwrap_or(0)];
                workloads::fill(input, &mut bytes);
                bytes
            })
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let meant = workloads::evaluate(&workload, &inputs);
        let Ok(graph) = graph else { continue };
        let tensors = graph.inputs().iter().zip(&inputs);
        let tensors: Result<Vec<_>, _> = tensors
            .map(|(&v, bytes)| restride_graph::oracle::Tensor::read(graph.ty(v), bytes))
            .collect();
        let Ok(tensors) = tensors else { continue };
        if let (Ok(meant), Ok(found)) = (meant, restride_graph::oracle::eval(&graph, &tensors)) {
            assert!(found.len() == 1 && found[0].bytes() == meant, "{graph}");
        }
    }
}
