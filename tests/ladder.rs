//! All rungs agree on random graphs of the whole family; and the ladder can fail.

use restride_graph::oracle::Tensor;
use restride_graph::{Graph, OPERATORS, Op};
use restride_testkit::generate::{Kind, Random, case};
use restride_testkit::ladder::{Options, check, climb, read};
use restride_testkit::rungs::{Outcome, Rung, Subject, rungs};
use restride_tests::structured::Genome;

fn options(seed: u64, count: u64) -> Options {
    Options {
        seed,
        first: 0,
        count,
        max_ops: 8,
        kind: None,
        threads: 1,
        keep: 3,
    }
}

#[test]
fn all_rungs_agree() {
    let report = climb(&options(2026, 20_000), &rungs(), |_| {});
    println!("{report}");
    assert_eq!(report.failed, 0, "{report}");
    assert_eq!(report.passed, 20_000);
    // The run is worth something: some runs are refused, most are not; much fuses, not all of it.
    assert!((100..4_000).contains(&report.refused), "{report}");
    assert!(report.refused_ops > 1_000, "{report}");
    for (kind, share) in &report.shares {
        assert!(share.cases >= 2_000, "{kind:?}");
        assert!(share.fused * 10 > share.cases * 8, "{kind:?}: {share:?}");
    }
}

#[test]
fn a_name_is_one_case_and_every_operator_is_drawn() {
    let mut seen = std::collections::BTreeMap::new();
    for number in 0..2_000 {
        let kind = Kind::of_number(number);
        let (one, other) = (case(5, number, kind, 8), case(5, number, kind, 8));
        assert!(one.graph == other.graph && one.buffers() == other.buffers());
        for value in one.graph.values() {
            *seen.entry(one.graph.op(value).name()).or_insert(0) += 1;
        }
    }
    for row in OPERATORS {
        let times = seen.get(row.name).copied().unwrap_or(0);
        assert!(times >= 10, "{}: {times}", row.name);
    }
}

#[test]
fn every_operator_is_drawn_by_the_search_for_costs() {
    let mut random = Random::of_case(3, 0);
    let texts = (0..4_000).filter_map(|_| Genome::random(&mut random).text(10_000));
    let texts: String = texts.collect();
    for row in OPERATORS {
        let times = texts.matches(&format!("={} ", row.name)).count()
            + texts.matches(&format!("= {} ", row.name)).count();
        assert!(times >= 10, "{}: {times}", row.name);
    }
}

/// Rolls come out unrolled.
struct Forgetful;

impl Rung for Forgetful {
    fn name(&self) -> &'static str {
        "forgetful"
    }

    fn run(&self, subject: &Subject<'_>) -> Outcome {
        let graph = subject.graph();
        let mut still = Graph::new(graph.name());
        for value in graph.values() {
            let made = match graph.op(value) {
                Op::Input => still.typed_input("", graph.ty(value).clone()),
                Op::Roll { x, .. } => still.push(Op::Identity { x: *x }),
                op => still.push(op.clone()),
            };
            made.expect("what the graph has");
        }
        for output in graph.outputs() {
            still.output(output.value).expect("an output of the graph");
        }
        let inputs: Vec<Tensor> = subject.inputs().to_vec();
        rungs()[0].run(&Subject::new(&still, &inputs))
    }
}

#[test]
fn a_wrong_rung_is_found_and_its_case_made_small() {
    let [oracle] = rungs()[..1] else {
        panic!("no oracle")
    };
    let with_a_wrong_one: [&dyn Rung; 2] = [oracle, &Forgetful];
    let report = climb(&options(3, 400), &with_a_wrong_one, |_| {});
    assert!(report.failed > 5, "{report}");
    assert_eq!(report.failures.len(), 3);
    for failure in &report.failures {
        assert_eq!(failure.rung, "forgetful");
        // What is written reads back and still fails, on a graph of hardly more than the roll.
        let small = read("failure", &failure.text).expect("a case");
        let found = check(&small, &with_a_wrong_one).expect_err("a disagreement");
        assert!(found.message.contains("differs in"), "{}", found.message);
        let ops = small.graph.values();
        let ops = ops.filter(|&value| !matches!(small.graph.op(value), Op::Input));
        assert!(ops.count() <= 3, "{}", failure.text);
    }
}

/// Cases that some rung once failed, made small.
#[test]
fn cases_of_old_hold() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("ladder");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder of cases") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let case =
            read(&path.display().to_string(), &text).unwrap_or_else(|error| panic!("{error}"));
        if let Err(found) = check(&case, &rungs()) {
            panic!("{}: {}: {}", path.display(), found.rung, found.message);
        }
        count += 1;
    }
    assert!(count >= 5, "{count}");
}
