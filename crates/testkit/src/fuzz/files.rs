//! Hostile files of other people: golden cases and workloads.

use super::is_small;
use crate::conform::{GoldenCase, check_case, spell};
use crate::rungs::rungs;
use crate::workloads;

/// Lines of a file of golden cases. What they expect need not come out; it has to be answered.
pub fn golden_lines(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    for line in text.lines().take(16) {
        let Ok(case) = serde_json::from_str::<GoldenCase>(line) else {
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
        if is_small(&workload.graph) {
            let _ = workload.evaluate();
        }
    }
}
