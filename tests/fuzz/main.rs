//! Every fuzz target as a bounded, seeded loop: its committed seeds and regressions as they are,
//! then seeds with a few changes, then random bytes. libFuzzer runs the same bodies for longer
//! (`fuzz/` at the top of the repository).
//!
//! What a run takes of memory is counted, and bounded by the size of what it is given.
//!
//! `RESTRIDE_FUZZ_RUNS=N` runs N times as many, `RESTRIDE_FUZZ_SEED=N` others;
//! `RESTRIDE_FUZZ_LAST=FILE` keeps the bytes of the run at hand in a file, for when it aborts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use restride_testkit::fuzz::FuzzBody;
use restride_testkit::generate::Random;
use restride_testkit::mutate;
use restride_tests::memory::{Counting, Memory, counted};
use restride_tests::structured::FAMILIES;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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

/// What a run of a body may take: bytes in use at once, and bytes asked for in all. The latter stand
/// for work: they are the same on every machine, and no stage does much without asking for memory.
/// Each byte that a body is given may take 100 bytes more, and 1,000 in all.
#[derive(Clone, Copy)]
struct Bounds {
    most: u64,
    asked: u64,
}

/// So many kilobytes at once, and in all.
const fn kilobytes(most: u64, asked: u64) -> Bounds {
    Bounds {
        most: 1000 * most,
        asked: 1000 * asked,
    }
}

/// What a compile may take with the default budget.
const COMPILE: Bounds = kilobytes(64_000, 300_000);

/// The checker follows 8 MB of buffers and knows of each byte where it is from.
const CHECKED: Bounds = kilobytes(128_000, 300_000);

/// Runs a body and says what it takes, or what is wrong.
fn run((_, body): FuzzBody, bounds: Bounds, data: &[u8]) -> Result<Memory, String> {
    if let Some(last) = std::env::var_os("RESTRIDE_FUZZ_LAST") {
        std::fs::write(last, data).expect("a writable file");
    }
    let (done, memory) = counted(|| catch_unwind(AssertUnwindSafe(|| body(data))));
    if done.is_err() {
        return Err("panicked".to_owned());
    }
    let given = data.len() as u64;
    for (bytes, bound, what) in [
        (memory.most, bounds.most + 100 * given, "at once"),
        (memory.asked, bounds.asked + 1000 * given, "in all"),
    ] {
        if bytes > bound {
            return Err(format!("{bytes} bytes {what} for {given} bytes"));
        }
    }
    Ok(memory)
}

/// Runs a body; what it fails on is printed as a file for the folder of regressions.
fn must_run(target: FuzzBody, bounds: Bounds, data: &[u8], from: &dyn std::fmt::Display) -> Memory {
    run(target, bounds, data).unwrap_or_else(|wrong| {
        let shown = match std::str::from_utf8(data) {
            Ok(text) => text.to_owned(),
            Err(_) => data.iter().map(|byte| format!("\\x{byte:02x}")).collect(),
        };
        let name = target.0;
        panic!("{from}: {wrong}: to be kept in fuzz/regressions/{name}/:\n----\n{shown}\n----")
    })
}

fn explore(target: FuzzBody, bounds: Bounds, runs: u64) {
    let name = target.0;
    let runs = runs * number("RESTRIDE_FUZZ_RUNS", 1);
    let mut random = Random::new(number("RESTRIDE_FUZZ_SEED", 1) ^ (name.len() as u64) << 32);
    let start = Instant::now();
    let mut seeds = corpus("seeds", name);
    seeds.extend(corpus("regressions", name));
    let mut worst = Memory::default();
    let mut keep = |memory: Memory| {
        worst.most = worst.most.max(memory.most);
        worst.asked = worst.asked.max(memory.asked);
    };
    for (path, data) in &seeds {
        keep(must_run(target, bounds, data, &path.display()));
    }
    for number in 0..runs {
        let data = if seeds.is_empty() {
            (0..random.below(96)).map(|_| random.bits() as u8).collect()
        } else {
            mutate(&seeds[random.below(seeds.len())].1, &mut random)
        };
        keep(must_run(
            target,
            bounds,
            &data,
            &format_args!("run {number}"),
        ));
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = (seeds.len() as f64 + runs as f64) / seconds;
    println!(
        "{name}: {} seeds, {runs} runs, {seconds:.1} s, {rate:.0}/s, at most {} kB at once, {} kB in all",
        seeds.len(),
        worst.most / 1000,
        worst.asked / 1000
    );
}

macro_rules! targets {
    ($($name:ident $runs:literal $bounds:expr;)*) => {
        /// Every target there is has a loop here.
        #[test]
        fn all_targets_run() {
            let here = [$(stringify!($name)),*];
            let all = restride_testkit::fuzz::BODIES.iter().chain(&restride_tests::fuzz::BODIES);
            assert!(all.map(|target| target.0).eq(here));
        }
        $(#[test]
        fn $name() {
            let all = restride_testkit::fuzz::BODIES.iter().chain(&restride_tests::fuzz::BODIES);
            let target = all.copied().find(|target| target.0 == stringify!($name));
            explore(target.expect("a target"), $bounds, $runs);
        })*
    };
}

targets! {
    graph_text 5_000 COMPILE;
    canonical_text 10_000 COMPILE;
    loops_text 3_000 kilobytes(8_000, 32_000);
    golden_lines 2_000 COMPILE;
    workload_file 1_000 kilobytes(1_000, 4_000);
    onnx_file 3_000 COMPILE;
    openvino_file 2_000 COMPILE;
    ladder 1_000 kilobytes(8_000, 64_000);
    layouts 10_000 kilobytes(1_000, 4_000);
    kernels 3_000 kilobytes(16_000, 64_000);
    native 1_000 kilobytes(16_000, 64_000);
    structured 500 CHECKED;
    engine 300 kilobytes(2_000, 8_000);
}

/// Texts that ask for far more than they look like, as large as a text may be, within the bounds of
/// a compile.
#[test]
fn texts_that_ask_for_much() {
    let bombs = Path::new(env!("CARGO_MANIFEST_DIR")).join("bombs");
    let mut texts: Vec<(String, String)> = std::fs::read_dir(bombs)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mv"))
        .map(|path| {
            (
                path.display().to_string(),
                std::fs::read_to_string(&path).expect("a text"),
            )
        })
        .collect();
    for family in FAMILIES {
        let fits = |n: &usize| (family.text)(*n).len() <= 10_000;
        let sizes = (0..16).map(|k| family.first << k).take_while(fits);
        if let Some(number) = sizes.last() {
            texts.push((family.name.to_owned(), (family.text)(number)));
        }
    }
    let body = restride_testkit::fuzz::graph_text;
    for (from, text) in texts {
        must_run(("graph_text", body), COMPILE, text.as_bytes(), &from);
    }
}

/// A body that takes too much is found, whichever way it does.
#[test]
fn bounds_can_be_exceeded() {
    fn holds(data: &[u8]) {
        drop(std::hint::black_box(vec![0u8; 101_000 + data.len()]));
    }
    fn asks(data: &[u8]) {
        (0..20).for_each(|_| holds(data));
    }
    fn panics(data: &[u8]) {
        assert!(data.is_empty());
    }
    let given = [0; 1000];
    let with = |body, bounds| run(("body", body), bounds, &given).map(|memory| memory.most);
    assert_eq!(with(asks, kilobytes(2, 1040)), Ok(102_000));
    let wrong = "102000 bytes at once for 1000 bytes";
    assert_eq!(with(holds, kilobytes(1, 1040)), Err(wrong.to_owned()));
    let wrong = "2040000 bytes in all for 1000 bytes";
    assert_eq!(with(asks, kilobytes(2, 1039)), Err(wrong.to_owned()));
    assert_eq!(with(panics, COMPILE), Err("panicked".to_owned()));
}
