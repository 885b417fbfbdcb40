//! The stored workloads, against their own checksums.

use super::STORED;
use super::{Checksum, evaluate, fill, limit_ratio, read, to_graph};

const POSTED: &str = include_str!("../../../../tests/workloads/posted.json");
const MORE: &str = include_str!("../../../../tests/workloads/more.json");

/// Enough to meet every operator and element type; the rest is for the bench command.
const SMALL: usize = 2 << 20;

/// Outputs up to this also have their limit counted.
const LIMIT_CHECKED: usize = 1 << 20;

/// Room for every workload of the other files.
const MEDIUM: usize = 16 << 20;

#[test]
fn the_evaluator_reproduces_the_stored_checksums() {
    let checked = reproduced(STORED, SMALL);
    assert!(checked >= 10, "only {checked} were small enough");
    assert_eq!(reproduced(POSTED, MEDIUM), 6);
    assert_eq!(reproduced(MORE, MEDIUM), 43);
}

/// Checks the workloads of a file whose tensors have at most `most` bytes; how many there were.
fn reproduced(text: &str, most: usize) -> usize {
    let mut checked = 0;
    for workload in read(text).expect("a stored file") {
        let workload = workload.expect("every stored workload is sound");
        let bytes = |tensor: &super::Tensor| tensor.bytes().expect("inferred");
        if workload.tensors.iter().map(bytes).max() > Some(most) {
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
        if output.len() <= LIMIT_CHECKED {
            let limit = limit_ratio(&workload, &inputs).expect("indices in range");
            let (found, stated) = (limit.unwrap_or(0.0), workload.limit_ratio.unwrap_or(0.0));
            assert!(
                (found - stated).abs() < 6e-4,
                "{}: {found} {stated}",
                workload.id
            );
        }
        checked += 1;
    }
    checked
}

#[test]
fn damaged_text_is_read_or_refused() {
    let start = STORED.find("{\"id\":").or(STORED.find("{\n")).unwrap_or(0);
    let entry = &STORED[start..];
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let (mut read_well, mut refused) = (0, 0);
    for _ in 0..400 {
        let mut bytes = STORED.as_bytes().to_vec();
        for _ in 0..1 + random(3) {
            let at = start + random(entry.len());
            let filling: &[u8] = match bytes[at] {
                b'0'..=b'9' => b"0123456789",
                b'a'..=b'z' => b"abcxyz_",
                _ if random(8) == 0 => b"\"[]{},:.e-9",
                _ => continue,
            };
            bytes[at] = filling[random(filling.len())];
        }
        for workload in read(&String::from_utf8_lossy(&bytes)).into_iter().flatten() {
            match workload {
                Ok(_) => read_well += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(
        read_well > 0 && refused > 0,
        "{read_well} read, {refused} refused"
    );
}

#[test]
fn every_stored_workload_is_a_graph() {
    for workload in read(STORED).expect("the stored file") {
        let workload = workload.expect("every stored workload is sound");
        if workload
            .inputs
            .iter()
            .any(|input| input.constant && input.tensor.bytes() > Some(SMALL))
        {
            continue;
        }
        let graph = to_graph(&workload).expect("spelled");
        let given = workload.inputs.iter().filter(|input| !input.constant);
        assert_eq!(graph.inputs().len(), given.count(), "{}", workload.id);
        let output = graph.output_type(&graph.outputs()[0]);
        assert_eq!(
            output.shape(),
            workload.output_tensor().shape,
            "{}",
            workload.id
        );
    }
}
