//! Texts that ask for far more than they look like.
//!
//! Each `bombs/*.mv` is compiled with the default budget. What every stage spends is counted and not
//! measured, so `bombs/expected.txt` says it to the unit; `BLESS=1` writes it anew. What they ask of
//! the allocator is held to a bound. What compiles runs, with and without machine code, to the same
//! bytes, unless that would take too much memory.

use restride::{
    Budget, Code, Config, Core, Engine, Graph, Options, Output, Program, Stages, Target, TensorMut,
    TensorRef, ViewPolicy,
};
use restride_budget::Meter;
use restride_lower::plan::{PlanOptions, plan};
use restride_tests::memory::{Counting, counted};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that a compile may have in use at once.
const BYTES: u64 = 64_000_000;

/// How often a compile may ask for memory.
const ALLOCATIONS: u64 = 1_200_000;

/// The most bytes of inputs and outputs of a program that is run.
const RUN: usize = 1 << 28;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/bombs"))
}

/// One line of cores, whatever this machine's are: what pays depends on them.
fn target() -> Target {
    Target {
        core: Core::Zen,
        ..Target::default()
    }
}

/// What the stages spend, or why they end.
fn spent(graph: &Graph) -> String {
    let meter = Meter::new(Budget::default());
    let stages = || -> Result<usize, String> {
        let canonical =
            restride_canon::canonicalise(graph, &meter, None).map_err(|e| e.to_string())?;
        let plan = plan(&canonical, PlanOptions::default(), &meter).map_err(|e| e.to_string())?;
        let scheduled =
            restride_lower::schedule(&plan, &target(), &meter).map_err(|e| e.to_string())?;
        let kernel = restride_loops::verify(scheduled.kernel).map_err(|e| e.to_string())?;
        Ok(kernel.statements())
    };
    let done = stages();
    let (work, bytes) = (meter.spent_work(), meter.spent_bytes());
    match done {
        Ok(statements) => format!("{statements} statements for {work} units and {bytes} bytes"),
        Err(why) => why,
    }
}

fn engine(code: Code) -> Engine {
    Engine::new(Config {
        code,
        target: target(),
        views: ViewPolicy::Copy,
        ..Config::default()
    })
}

/// How many bytes a program reads and writes; `None` if that is no number.
fn bytes(program: &Program) -> Option<usize> {
    let outputs = program.outputs().iter().map(|output| match output {
        Output::View { ty, .. } | Output::Computed { ty, .. } => ty,
    });
    let mut all = program.inputs().iter().chain(outputs);
    all.try_fold(0usize, |sum, ty| sum.checked_add(ty.byte_size()))
}

/// All outputs of a run on bytes that count up.
fn run(program: &Program) -> Vec<Vec<u8>> {
    let counting = |bytes: usize| (0..bytes).map(|n| (n % 251) as u8).collect::<Vec<_>>();
    let inputs: Vec<_> = program
        .inputs()
        .iter()
        .map(|ty| counting(ty.byte_size()))
        .collect();
    let mut outputs: Vec<Vec<u8>> = program
        .outputs()
        .iter()
        .map(|output| match output {
            Output::View { .. } => panic!("a copy is asked for"),
            Output::Computed { ty, .. } => vec![0; ty.byte_size()],
        })
        .collect();
    let read: Vec<_> = inputs
        .iter()
        .map(|bytes| TensorRef::from_bytes(bytes))
        .collect();
    let mut written: Vec<_> = outputs
        .iter_mut()
        .map(|bytes| TensorMut::from_bytes(bytes))
        .collect();
    program.run(&read, &mut written).expect("it runs");
    drop(written);
    outputs
}

#[test]
fn a_text_costs_what_it_says_and_no_more_than_the_budget() {
    let mut files: Vec<_> = fs::read_dir(folder())
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "mv"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let mut report = String::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a text");
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let graph = Graph::parse(&text).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let native = engine(Code::Native).compile(&graph);
        let generic = engine(Code::Generic).compile(&graph);
        let ends = match (&native, &generic) {
            (Ok(native), Ok(generic)) => {
                let how = match native.summary().native {
                    true => "machine code",
                    false => "no machine code",
                };
                match bytes(native).is_some_and(|bytes| bytes <= RUN) {
                    true => {
                        assert_eq!(run(native), run(generic), "{name}");
                        how.to_owned()
                    }
                    false => format!("{how}, too large to run"),
                }
            }
            (Err(a), Err(b)) => {
                assert_eq!(a.to_string(), b.to_string(), "{name}");
                "refused".to_owned()
            }
            (a, b) => panic!(
                "{name}: with machine code {:?}, without {:?}",
                a.is_ok(),
                b.is_ok()
            ),
        };
        let (spent, memory) = counted(|| spent(&graph));
        assert!(
            memory.most <= BYTES && memory.times <= ALLOCATIONS,
            "{name}: {memory:?} for {spent}"
        );
        let length = text.len();
        let _ = writeln!(report, "{name}: {length} bytes of text, {ends}: {spent}");
    }
    let expected = folder().join("expected.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&expected, &report).expect("it can be written");
    }
    let known = fs::read_to_string(&expected).unwrap_or_default();
    assert_eq!(report, known, "what {} says is not so", expected.display());
}

/// What the stages spend is missing for machine code.
#[test]
fn machine_code_is_made_of_what_is_left() {
    let text = "func @f(%x: u8[64, 64]) { %y = transpose %x perm [1, 0] return %y }";
    let graph = Graph::parse(text).expect("a graph");
    let stages = Stages::of(&graph, &Options::copying()).expect("stages");
    let spent = Budget::default().work - stages.left.work;
    let native = |more: u64| {
        let budget = Budget {
            work: spent + more,
            ..Budget::default()
        };
        let engine = Engine::new(Config {
            budget,
            views: ViewPolicy::Copy,
            ..Config::default()
        });
        let program = engine.compile(&graph).expect("a program");
        program.summary().native
    };
    assert_eq!([native(0), native(100_000_000)], [false, true]);
}

/// More inputs, outputs and statements than any text of a reasonable size has.
#[test]
fn what_is_large_and_plain_takes_time_linear_in_its_size() {
    let work = |outputs: usize| {
        let mut g = Graph::new("many");
        let x = g
            .input("x", restride::ElementType::U8, [3, 2])
            .expect("an input");
        let y = g.transpose(x, [1, 0]).expect("a transpose");
        let y = g.reshape(y, [6]).finish().expect("a reshape");
        for _ in 0..outputs {
            g.output(y).expect("an output");
        }
        let meter = Meter::unlimited();
        let canonical = restride_canon::canonicalise(&g, &meter, None).expect("canonical");
        let plan = plan(&canonical, PlanOptions::default(), &meter).expect("a plan");
        let scheduled = restride_lower::schedule(&plan, &Target::default(), &meter);
        let statements = scheduled.expect("a kernel").kernel.statements();
        assert_eq!(statements, outputs);
        meter.spent_work()
    };
    let (few, many) = (work(1_000), work(10_000));
    assert!(many < 11 * few, "{few} for 1,000, {many} for 10,000");
}
