//! The stored workloads, against their own checksums.

use super::{Checksum, evaluate, fill, read};

const STORED: &str = include_str!("../../../../tests/workloads/workloads.json");

/// Enough to meet every operator and element type; the rest is for the bench command.
const SMALL: usize = 2 << 20;

#[test]
fn the_evaluator_reproduces_the_stored_checksums() {
    let mut checked = 0;
    for workload in read(STORED).expect("the stored file") {
        let workload = workload.expect("every stored workload is sound");
        let bytes = |tensor: &super::Tensor| tensor.bytes().expect("inferred");
        if workload.tensors.iter().map(bytes).max() > Some(SMALL) {
            continue;
        }
        let inputs: Vec<Vec<u8>> = workload
            .inputs
            .iter()
            .map(|input| {
                let mut made = vec![0xAA; bytes(&input.tensor)];
                fill(input, &mut made);
                made
            })
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let output = evaluate(&workload, &inputs).expect("indices in range");
        let found = Checksum::of(&output);
        assert_eq!(found, workload.checksum, "{}", workload.id);
        checked += 1;
    }
    assert!(checked >= 10, "only {checked} were small enough");
}
