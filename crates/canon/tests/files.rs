//! Every file of `tests/files` is a graph; beside it stands its explanation and canonical form.
//!
//! A file is named after the operator or the rule it is about, and that operator or rule must
//! have fired in it. `BLESS=1` writes the expectations anew.

use restride_budget::Meter;
use restride_canon::trace::Rewrite;
use restride_canon::{canonicalise, normalise, rules, text};
use restride_graph::oracle::{self, Tensor};
use restride_graph::{ElementType, Graph, OPERATORS, ValueId};
use restride_lower::plain;
use restride_testkit::generate::Random;
use restride_text::Source;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files")
}

fn names(extension: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder of files");
    entries
        .filter_map(|entry| {
            let path = entry.expect("an entry").path();
            let fits = path.extension().is_some_and(|e| e == extension);
            fits.then(|| path.file_stem().unwrap().to_string_lossy().into_owned())
        })
        .collect()
}

#[test]
fn files_say_what_becomes_of_them() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    for name in names("mv") {
        let path = folder().join(format!("{name}.mv"));
        let input = std::fs::read_to_string(&path).unwrap();
        let graph = Graph::parse(&input)
            .unwrap_or_else(|e| panic!("{}", e.render(&Source::new(&name, &input))));
        let mut trace: Vec<Rewrite> = Vec::new();
        let canonical = canonicalise(&graph, &Meter::unlimited(), Some(&mut trace)).unwrap();
        assert!(
            trace.iter().any(|rewrite| rewrite.rule == name),
            "{name} did not fire:\n{canonical}"
        );
        check(&graph, &canonical, &name);
        let mut output = String::new();
        for rewrite in &trace {
            output += &format!("// {rewrite}\n");
        }
        output += &format!("{canonical}\n");
        let expected = folder().join(format!("{name}.out"));
        if bless {
            std::fs::write(&expected, &output).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != output {
            wrong.push(format!("{name}:\n{output}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "BLESS=1 accepts these:\n{}",
        wrong.join("\n")
    );
}

/// Inputs with distinct labels; indices are adversarial now and then.
fn inputs(random: &mut Random, graph: &Graph) -> Vec<Tensor> {
    let adversarial = random.below(3) == 0;
    let tensor = |(k, &input): (usize, &ValueId)| {
        let ty = graph.ty(input).clone().without_layout();
        let element = ty.element();
        let bits: Vec<u128> = (0..ty.numel() as i128)
            .map(|at| {
                let value = if !element.is_index() || element == ElementType::U8 && k == 0 {
                    // Every byte differs from that of its neighbours.
                    (at + 1) * 0x0101_0101_0101_0101 + k as i128 * 77
                } else if adversarial {
                    let edge = i128::from(random.within(-6, 9));
                    random.pick(&[edge, edge, i128::from(i64::MIN), i128::from(u64::MAX)])
                } else {
                    i128::from(random.flip())
                };
                value as u128 & element.bit_mask()
            })
            .collect();
        Tensor::from_bits(ty, bits).unwrap()
    };
    graph.inputs().iter().enumerate().map(tensor).collect()
}

/// It means the same, is a fixed point, and reads back.
fn check(graph: &Graph, canonical: &restride_canon::ir::Canonical, name: &str) {
    let printed = canonical.to_string();
    assert_eq!(&text::parse(&printed).unwrap(), canonical, "{name}");
    assert_eq!(
        normalise(canonical, &Meter::unlimited(), None)
            .unwrap()
            .to_string(),
        printed,
        "{name}"
    );
    let mut random = Random::new(7);
    let mut compared = 0;
    for _ in 0..20 {
        let tensors = inputs(&mut random, graph);
        let bytes: Vec<&[u8]> = tensors.iter().map(Tensor::bytes).collect();
        match (
            oracle::eval(graph, &tensors),
            plain::run(&plain::plan(canonical), &bytes),
        ) {
            (Ok(expected), Ok(got)) => {
                let expected: Vec<&[u8]> = expected.iter().map(Tensor::bytes).collect();
                assert_eq!(expected, got, "{name}");
                compared += 1;
            }
            (Err(_), Err(_)) => {}
            (expected, got) => panic!("{name}: {expected:?} but {got:?}"),
        }
    }
    // An error on a file's every input is meant only where nothing can be chosen from.
    assert!(compared > 0 || name == "gather_empty", "{name}");
}

#[test]
fn every_rule_and_every_operator_has_its_file() {
    let rules = rules::ALL.iter().map(|rule| rule.name);
    let operators = OPERATORS.iter().map(|row| row.name).chain(["constant"]);
    let wanted: BTreeSet<String> = rules.chain(operators).map(str::to_owned).collect();
    let there = names("mv");
    let missing: Vec<_> = wanted.difference(&there).collect();
    let unknown: Vec<_> = there.difference(&wanted).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "missing: {missing:?}, of no rule and no operator: {unknown:?}"
    );
}

#[test]
fn equal_functions_are_equal_text() {
    let input = std::fs::read_to_string(folder().join("view_chain.mv")).unwrap();
    let canonical =
        canonicalise(&Graph::parse(&input).unwrap(), &Meter::unlimited(), None).unwrap();
    let outputs: BTreeSet<_> = canonical.outputs().iter().map(|o| o.node).collect();
    assert_eq!(outputs.len(), 1, "{canonical}");
}
