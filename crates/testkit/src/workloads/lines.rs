//! How many cache lines a perfect pass touches.

use super::Workload;
use restride_graph::oracle::{self, Tensor};
use restride_graph::{ElementType, TensorType, ValueId};
use std::collections::HashSet;

const LINE: u64 = 64;

/// Bits below which a label is a position in its input.
const POSITION: u32 = 40;

/// Speed of a perfect single pass relative to a memcpy of the output, if both are bound by the
/// cache lines they touch: twice the lines written over those read and written. `None` where there
/// is no output.
///
/// An input that both indexes and is moved counts as an index only.
pub fn limit_ratio(workload: &Workload) -> Result<Option<f64>, String> {
    let graph = &workload.graph;
    let mut indices = graph.values().filter_map(|value| graph.op(value).indices());
    let indices: HashSet<ValueId> = indices.by_ref().collect();
    let lines_of = |ty: &TensorType| (ty.byte_size() as u64).div_ceil(LINE);
    // The same graph on labels that say where each element comes from.
    let (mut labelled, mut index_lines) = (Vec::new(), 0);
    let inputs = graph.inputs().iter().zip(workload.tensors()?);
    for (number, (value, tensor)) in inputs.enumerate() {
        if indices.contains(value) {
            index_lines += lines_of(tensor.ty());
            labelled.push(tensor);
            continue;
        }
        let ty = TensorType::dense(ElementType::U64, tensor.shape()).map_err(|e| e.to_string())?;
        let label = |position: u64| (number as u64) << POSITION | position;
        let bytes = (0..ty.numel() as u64).flat_map(|position| label(position).to_le_bytes());
        let bytes = bytes.collect();
        labelled.push(Tensor::new(ty, bytes).map_err(|e| e.to_string())?);
    }
    let types = labelled.iter().map(|tensor| tensor.ty().clone());
    let on_labels = graph.on_inputs(types).map_err(|e| e.to_string())?;
    let outputs = oracle::eval(&on_labels, &labelled).map_err(|e| e.to_string())?;

    let mut read = HashSet::new();
    for label in outputs
        .iter()
        .flat_map(|output| output.bytes().chunks_exact(8))
    {
        let label = label.iter().rev();
        let label = label.fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
        let input = (label >> POSITION) as usize;
        let width = graph.ty(graph.inputs()[input]).element().width() as u64;
        let line = (label & ((1 << POSITION) - 1)) * width / LINE;
        read.insert((input, line));
    }
    let written = lines_of(&workload.output()) as f64;
    let touched = read.len() as f64 + index_lines as f64 + written;
    Ok((written > 0.0).then(|| 2.0 * written / touched))
}
