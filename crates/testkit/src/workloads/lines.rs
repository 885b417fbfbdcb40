//! How many cache lines a perfect pass touches.

use super::{Dtype, EvaluateError, Step, Workload, evaluate};
use std::collections::HashSet;

const LINE: u64 = 64;

/// Bits below which a label is a position in its input.
const POSITION: u32 = 40;

/// Speed of a perfect single pass relative to a memcpy of the output, if both are bound by the
/// cache lines they touch: twice the lines written over those read and written. `inputs` are the
/// bytes of all inputs; only those that index are looked at. `None` where there is no output.
///
/// An input that both indexes and is moved counts as an index only.
pub fn limit_ratio(workload: &Workload, inputs: &[&[u8]]) -> Result<Option<f64>, EvaluateError> {
    let indexes = |input: usize| {
        let reads = |step: &Step| matches!(step, Step::Gather { indices, .. } if *indices == input);
        workload.steps.iter().any(reads)
    };
    // The same workload on labels that say where each element comes from.
    let mut labelled = workload.clone();
    let mut labels: Vec<Vec<u8>> = Vec::new();
    for (number, tensor) in labelled.tensors.iter_mut().enumerate() {
        let is_input = number < workload.inputs.len();
        if is_input && indexes(number) {
            labels.push(inputs.get(number).copied().unwrap_or_default().to_vec());
            continue;
        }
        if is_input {
            let count = tensor.bytes().unwrap_or(0) / tensor.dtype.width();
            let label = |position: u64| (number as u64) << POSITION | position;
            let bytes = (0..count as u64).flat_map(|position| label(position).to_le_bytes());
            labels.push(bytes.collect());
        }
        tensor.dtype = Dtype::I64;
    }
    let labels: Vec<&[u8]> = labels.iter().map(Vec::as_slice).collect();
    let output = evaluate(&labelled, &labels)?;

    let mut read = HashSet::new();
    for label in output.chunks_exact(8) {
        let label = label
            .iter()
            .rev()
            .fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
        let input = (label >> POSITION) as usize;
        let width = workload.tensors[input].dtype.width() as u64;
        let line = (label & ((1 << POSITION) - 1)) * width / LINE;
        read.insert((input, line));
    }
    let lines_of = |bytes: Option<usize>| (bytes.unwrap_or(0) as u64).div_ceil(LINE);
    let index_lines: u64 = workload
        .inputs
        .iter()
        .enumerate()
        .filter(|(number, input)| indexes(*number) && !input.constant)
        .map(|(_, input)| lines_of(input.tensor.bytes()))
        .sum();
    let written = lines_of(workload.output_tensor().bytes()) as f64;
    let touched = read.len() as f64 + index_lines as f64 + written;
    Ok((written > 0.0).then(|| 2.0 * written / touched))
}
