//! The stored workloads, against their own checksums.

use super::{Checksum, STORED, limit_ratio, read};
use crate::generate::Random;

const POSTED: &str = include_str!("../../../../tests/workloads/posted.json");
const MORE: &str = include_str!("../../../../tests/workloads/more.json");
const BLOCKED: &str = include_str!("../../../../tests/workloads/blocked.json");

/// Enough to meet every operator and element type; the rest is for the bench command.
const SMALL: usize = 2 << 20;

/// Outputs up to this also have their limit counted.
const LIMIT_CHECKED: usize = 1 << 20;

/// Room for every workload of the other files.
const MEDIUM: usize = 16 << 20;

#[test]
fn the_oracle_reproduces_the_stored_checksums() {
    let checked = reproduced(STORED, SMALL);
    assert!(checked >= 10, "only {checked} were small enough");
    assert_eq!(reproduced(POSTED, MEDIUM), 6);
    assert_eq!(reproduced(MORE, MEDIUM), 43);
    assert_eq!(reproduced(BLOCKED, MEDIUM), 32);
}

/// Checks the workloads of a file whose tensors have at most `most` bytes; how many there were.
fn reproduced(text: &str, most: usize) -> usize {
    let mut checked = 0;
    for workload in read(text).expect("a stored file") {
        let workload = workload.expect("every stored workload is sound");
        let graph = &workload.graph;
        if graph
            .values()
            .any(|value| graph.ty(value).byte_size() > most)
        {
            continue;
        }
        let output = workload.evaluate().expect("indices in range");
        let found = Checksum::of(&output);
        assert_eq!(found, workload.checksum, "{}", workload.id);
        if output.len() <= LIMIT_CHECKED {
            let limit = limit_ratio(&workload).expect("indices in range");
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
    let mut random = Random::new(1);
    let (mut read_well, mut refused) = (0, 0);
    for _ in 0..400 {
        let mut bytes = STORED.as_bytes().to_vec();
        for _ in 0..1 + random.below(3) {
            let at = start + random.below(entry.len());
            let filling: &[u8] = match bytes[at] {
                b'0'..=b'9' => b"0123456789",
                b'a'..=b'z' => b"abcxyz_",
                _ if random.below(8) == 0 => b"\"[]{},:.e-9",
                _ => continue,
            };
            bytes[at] = filling[random.below(filling.len())];
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
