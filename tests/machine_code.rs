//! The machine code of every workload, followed to its end: it moves the right bytes, all of them,
//! and touches nothing else. So does that of random graphs, none of which the checker fails to
//! understand; `RESTRIDE_CHECK_TIMES=N` compiles N times as many. Functions ahead of time are followed as well: workloads
//! for aarch64, random graphs also for an x86-64 at each level.
#![cfg(target_arch = "x86_64")]

use std::collections::BTreeSet;
use std::path::Path;

use restride::{Code, Config, Engine, Features, Object, Options, Stages, Target, ViewPolicy};
use restride_check::{CallForm, CodeSubject, Limits, Processor, Report, check};
use restride_jit::{CompileOptions, Compiler};
use restride_loops::Verified;
use restride_testkit::generate::{Kind, case};
use restride_testkit::workloads::read;

fn follow(compiler: &mut Compiler, kernel: &Verified) -> Result<Report, String> {
    let native = compiler.compile(kernel).map_err(|e| e.to_string())?;
    let phases: Vec<usize> = native.phase_offsets().collect();
    let subject = CodeSubject {
        processor: Processor::X86,
        code: native.code(),
        form: CallForm::Phases(&phases),
        kernel,
        callees: native.callees(),
    };
    to_the_end(&subject)
}

fn to_the_end(subject: &CodeSubject<'_>) -> Result<Report, String> {
    let mut limits = Limits::default();
    limits.steps = 1 << 30;
    limits.bytes = 1 << 28;
    check(subject, &limits).map_err(|unproved| unproved.to_string())
}

/// A machine that functions are compiled for ahead of time.
#[derive(Clone, Copy, Debug)]
struct Machine {
    processor: Processor,
    name: &'static str,
    level: Features,
}

/// An x86-64 at all its levels, and an aarch64; this machine need not be any of them.
fn machines() -> impl Iterator<Item = Machine> {
    let levels = Features::ALL.into_iter().map(|level| Machine {
        processor: Processor::X86,
        name: "x86_64-unknown-linux-gnu",
        level,
    });
    levels.chain([Machine {
        processor: Processor::A64,
        name: "aarch64-unknown-linux-gnu",
        level: Features::Sse2,
    }])
}

impl Machine {
    fn object(self) -> Object {
        Object::new(self.name, self.level).expect("a machine")
    }

    fn follow(self, kernel: &Verified) -> Result<Report, String> {
        let function = self.object().code(kernel);
        let function = function.map_err(|error| error.to_string())?;
        to_the_end(&CodeSubject::ahead(self.processor, kernel, &function))
    }
}

/// Follows the workloads of a file, all of them, as one way makes their code.
fn workloads(
    file: &str,
    expected: usize,
    target: &Target,
    follow: &mut dyn FnMut(&Verified) -> Result<Report, String>,
) {
    let mut options = Options::copying();
    options.target = target.clone();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads");
    let text = std::fs::read_to_string(folder.join(file)).expect("a readable file");
    let (mut count, mut total, mut wrong) = (0, Report::default(), Vec::new());
    for workload in read(&text).expect("workloads") {
        let workload = workload.expect("a workload");
        let stages = Stages::of(&workload.graph, &options).expect("a kernel");
        match follow(&stages.kernel) {
            Ok(report) => {
                count += 1;
                total += &report;
            }
            Err(error) => wrong.push(format!("{}: {error}", workload.id)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{count} of {file}: {total:?}");
    assert_eq!(count, expected);
}

fn calling(file: &str, expected: usize) {
    let mut options = CompileOptions::default();
    options.contracts = true;
    let mut compiler = Compiler::new(options).expect("this machine has a code generator");
    let target = Target::default();
    workloads(file, expected, &target, &mut |kernel| {
        follow(&mut compiler, kernel)
    });
}

/// Of code that calls nothing, here and ahead of time for aarch64, where that does not take minutes.
fn self_contained(file: &str, expected: usize) {
    let mut options = CompileOptions::default();
    options.self_contained = true;
    let mut compiler = Compiler::new(options).expect("this machine has a code generator");
    let target = Target::default();
    workloads(file, expected, &target, &mut |kernel| {
        let report = follow(&mut compiler, kernel)?;
        assert_eq!(report.calls, 0);
        Ok(report)
    });
    // Random graphs see to the levels of an x86-64.
    for machine in machines().filter(|it| matches!(it.processor, Processor::A64)) {
        workloads(file, expected, machine.object().target(), &mut |kernel| {
            machine.follow(kernel)
        });
    }
}

#[test]
fn the_fifty() {
    calling("workloads.json", 50);
}

#[test]
fn the_others() {
    calling("more.json", 43);
    self_contained("more.json", 43);
}

#[test]
fn blocks_of_channels() {
    calling("blocked.json", 32);
    self_contained("blocked.json", 32);
}

#[test]
fn those_that_were_posted() {
    calling("posted.json", 6);
    self_contained("posted.json", 6);
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

/// How many times as many graphs are drawn as usually.
fn times() -> u64 {
    let times = std::env::var("RESTRIDE_CHECK_TIMES").ok();
    times.and_then(|n| n.parse().ok()).unwrap_or(1)
}

#[test]
fn random_graphs_are_never_suspected() {
    let times = times();
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

#[test]
fn nor_are_their_functions_ahead_of_time() {
    let machines: Vec<Machine> = machines().collect();
    let (mut proved, mut suspected) = (0u64, Vec::new());
    for (seed, number) in (0..3).flat_map(|seed| (0..1000 * times()).map(move |n| (seed, n))) {
        let graph = case(seed, number, Kind::of_number(number), 8).graph;
        // Every second one is for aarch64.
        let turn = (number / 2) as usize % (machines.len() - 1);
        let machine = machines[if number % 2 == 0 {
            machines.len() - 1
        } else {
            turn
        }];
        let mut options = Options::copying();
        options.target = machine.object().target().clone();
        if number % 3 == 0 {
            options.target = Target {
                l1: 512,
                l1_way: 128,
                l2: 2048,
                ..options.target
            };
        }
        let Ok(stages) = Stages::of(&graph, &options) else {
            continue;
        };
        match machine.follow(&stages.kernel) {
            Ok(_) => proved += 1,
            Err(error) => suspected.push(format!(
                "seed {seed}, number {number}, {machine:?}: {error}\n{graph}"
            )),
        }
    }
    println!(
        "{proved} graphs ahead of time, {} suspected",
        suspected.len()
    );
    assert!(suspected.is_empty(), "{}", suspected[0]);
    assert!(proved > 2900 * times(), "{proved}");
}
