//! Every fuzz target as a bounded, seeded loop: its committed seeds and regressions as they are,
//! then seeds with a few changes, then random bytes. libFuzzer runs the same bodies for longer
//! (`fuzz/` at the top of the repository).
//!
//! `RESTRIDE_FUZZ_RUNS=N` runs N times as many, `RESTRIDE_FUZZ_SEED=N` others;
//! `RESTRIDE_FUZZ_LAST=FILE` keeps the bytes of the run at hand in a file, for when it aborts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use restride_testkit::fuzz::{Target, mutate};
use restride_testkit::generate::Random;

fn number(variable: &str, usual: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// The files of a target in one of the folders of `fuzz/`, by name.
fn corpus(folder: &str, target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let Ok(entries) = std::fs::read_dir(top.join(folder).join(target)) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).expect("a readable file");
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}

/// Runs a body; what it panics on is printed as a file for the folder of regressions.
fn run((name, body): Target, data: &[u8], what: &dyn std::fmt::Display) {
    if let Some(last) = std::env::var_os("RESTRIDE_FUZZ_LAST") {
        std::fs::write(last, data).expect("a writable file");
    }
    if catch_unwind(AssertUnwindSafe(|| body(data))).is_err() {
        let shown = match std::str::from_utf8(data) {
            Ok(text) => text.to_owned(),
            Err(_) => data.iter().map(|byte| format!("\\x{byte:02x}")).collect(),
        };
        panic!("{what}: to be kept in fuzz/regressions/{name}/:\n----\n{shown}\n----");
    }
}

fn explore(target: Target, runs: u64) {
    let name = target.0;
    let runs = runs * number("RESTRIDE_FUZZ_RUNS", 1);
    let mut random = Random::new(number("RESTRIDE_FUZZ_SEED", 1) ^ (name.len() as u64) << 32);
    let start = Instant::now();
    let mut seeds = corpus("seeds", name);
    seeds.extend(corpus("regressions", name));
    for (path, data) in &seeds {
        run(target, data, &path.display());
    }
    for number in 0..runs {
        let data = if seeds.is_empty() {
            (0..random.below(96)).map(|_| random.bits() as u8).collect()
        } else {
            mutate(&seeds[random.below(seeds.len())].1, &mut random)
        };
        run(target, &data, &format_args!("run {number}"));
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = (seeds.len() as f64 + runs as f64) / seconds;
    println!(
        "{name}: {} seeds, {runs} runs, {seconds:.1} s, {rate:.0}/s",
        seeds.len()
    );
}

macro_rules! targets {
    ($($name:ident $runs:expr;)*) => {
        /// Every target there is has a loop here.
        #[test]
        fn all_targets_run() {
            let here = [$(stringify!($name)),*];
            let all = restride_testkit::fuzz::TARGETS.iter().chain(&restride_tests::fuzz::TARGETS);
            assert!(all.map(|target| target.0).eq(here));
        }
        $(#[test]
        fn $name() {
            let all = restride_testkit::fuzz::TARGETS.iter().chain(&restride_tests::fuzz::TARGETS);
            let target = all.copied().find(|target| target.0 == stringify!($name));
            explore(target.expect("a target"), $runs);
        })*
    };
}

targets! {
    graph_text 5_000;
    canonical_text 10_000;
    loops_text 3_000;
    golden_lines 2_000;
    workload_file 1_000;
    onnx_file 3_000;
    openvino_file 2_000;
    ladder 1_000;
    layouts 10_000;
    kernels 3_000;
    native 1_000;
    engine 300;
}
