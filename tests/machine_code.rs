//! The machine code of every workload, followed to its end: it moves the right bytes, all of them,
//! and touches nothing else. So does that of random graphs, none of which the checker fails to
//! understand; `RESTRIDE_CHECK_TIMES=N` compiles N times as many.
#![cfg(target_arch = "x86_64")]

use std::collections::BTreeSet;
use std::path::Path;

use restride::{Code, Config, Engine, Features, Options, Stages, Target, ViewPolicy};
use restride_check::{Limits, Report, Subject, check};
use restride_jit::{CompileOptions, Compiler};
use restride_loops::Verified;
use restride_testkit::generate::{Kind, case};
use restride_testkit::workloads::{read, to_graph};

fn follow(compiler: &mut Compiler, kernel: &Verified) -> Result<Report, String> {
    let native = compiler.compile(kernel).map_err(|e| e.to_string())?;
    let phases: Vec<usize> = native.phase_offsets().collect();
    let subject = Subject {
        code: native.code(),
        phases: &phases,
        kernel,
        callees: native.callees(),
    };
    let mut limits = Limits::default();
    limits.steps = 1 << 30;
    limits.bytes = 1 << 28;
    check(&subject, &limits).map_err(|violation| violation.to_string())
}

/// Follows the workloads of a file, all of them; of code that calls nothing, too, where that does not take
/// minutes.
fn workloads(file: &str, expected: usize, self_contained: &[bool]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads");
    let text = std::fs::read_to_string(folder.join(file)).expect("a readable file");
    for &self_contained in self_contained {
        followed(file, &text, self_contained, expected);
    }
}

fn followed(file: &str, text: &str, self_contained: bool, expected: usize) {
    let mut options = CompileOptions::default();
    options.contracts = true;
    options.self_contained = self_contained;
    let mut compiler = Compiler::new(options).expect("this machine has a code generator");
    let (mut count, mut total, mut wrong) = (0, Report::default(), Vec::new());
    for workload in read(text).expect("workloads") {
        let workload = workload.expect("a workload");
        let graph = to_graph(&workload).expect("a graph");
        let stages = Stages::of(&graph, &Options::copying()).expect("a kernel");
        match follow(&mut compiler, &stages.kernel) {
            Ok(report) => {
                count += 1;
                total.runs += report.runs;
                total.steps += report.steps;
                total.accesses += report.accesses;
                total.bytes += report.bytes;
                total.calls += report.calls;
            }
            Err(error) => wrong.push(format!("{}: {error}", workload.id)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{count} of {file}, self-contained {self_contained}: {total:?}");
    assert_eq!(count, expected);
    assert!(total.calls == 0 || !self_contained);
}

#[test]
fn the_fifty() {
    workloads("workloads.json", 50, &[false]);
}

#[test]
fn the_others() {
    workloads("more.json", 43, &[false, true]);
}

#[test]
fn those_that_were_posted() {
    workloads("posted.json", 6, &[false, true]);
}

/// An engine for each level of the processor, each of two machines, and with and without calls.
fn verifying() -> Vec<Engine> {
    let levels = Features::ALL
        .into_iter()
        .filter(|level| level.is_available());
    let engine = |target, code| {
        Engine::new(Config {
            target,
            code,
            views: ViewPolicy::Copy,
            verify: Some(1 << 22),
            ..Config::default()
        })
    };
    let mut engines = Vec::new();
    for features in levels {
        for target in [Target::default(), Target::cramped()] {
            let target = Target { features, ..target };
            engines.push(engine(target.clone(), Code::Native));
            engines.push(engine(target, Code::SelfContained));
        }
    }
    engines
}

#[test]
fn random_graphs_are_never_suspected() {
    let times = std::env::var("RESTRIDE_CHECK_TIMES").ok();
    let times: u64 = times.and_then(|n| n.parse().ok()).unwrap_or(1);
    let engines = verifying();
    let (mut operators, mut widths) = (BTreeSet::new(), BTreeSet::new());
    let (mut graphs, mut suspected) = (0u64, Vec::new());
    for seed in 0..3 {
        for number in 0..1000 * times {
            let graph = case(seed, number, Kind::of_number(number), 8).graph;
            // Kinds of graphs come in turn, too: each meets every engine.
            let turn = graphs + graphs / engines.len() as u64;
            let engine = &engines[(turn % engines.len() as u64) as usize];
            graphs += 1;
            let of = |stats: restride::Stats| (stats.violations, stats.not_understood);
            let before = of(engine.stats());
            if let Err(error) = engine.compile(&graph) {
                panic!("seed {seed}, number {number}: {error}\n{graph}");
            }
            if of(engine.stats()) != before {
                suspected.push((seed, number, graph.to_string()));
            }
            for value in graph.values() {
                operators.insert(graph.op(value).name());
                widths.insert(graph.ty(value).element().width());
            }
        }
    }
    let sum = |count: fn(&restride::Stats) -> u64| -> u64 {
        engines.iter().map(|engine| count(&engine.stats())).sum()
    };
    let (proved, unproved) = (sum(|s| s.proved), sum(|s| s.unproved));
    let (wrong, unknown) = (sum(|s| s.violations), sum(|s| s.not_understood));
    println!(
        "{graphs} graphs on {} engines: {proved} proved, {unproved} over the limit, {wrong} wrong, \
         {unknown} not understood",
        engines.len()
    );
    assert!(suspected.is_empty(), "{:?}", suspected.first());
    assert!(proved > graphs * 9 / 10 && unproved * 100 < graphs);
    assert_eq!(widths, BTreeSet::from([1, 2, 4, 8, 16]));
    assert!(operators.len() >= 25, "{operators:?}");
}
