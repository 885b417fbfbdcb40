//! The golden cases of `golden/`, answers of the real frameworks, hold on every rung.
//! The files are never edited; new ones are picked up by name.

use std::path::{Path, PathBuf};

use restride_graph::Graph;
use restride_testkit::conform::{GoldenCase, check_lines, spell};
use restride_testkit::rungs::rungs;

/// The golden files, by name and text.
fn golden_files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let entries = std::fs::read_dir(&folder).expect("the folder of golden cases");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "jsonl")
    });
    files.sort();
    assert!(!files.is_empty(), "no golden files in {}", folder.display());
    let read = |path: PathBuf| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        (
            name,
            std::fs::read_to_string(path).expect("a readable file"),
        )
    };
    files.into_iter().map(read).collect()
}

#[test]
fn golden_cases_hold() {
    let (mut passed, mut failures) = (0, Vec::new());
    for (name, text) in golden_files() {
        let report = check_lines(&text, &rungs());
        println!(
            "{name}: {} passed, {} failed",
            report.passed,
            report.failures.len()
        );
        assert!(report.passed > 0, "nothing passed in {name}");
        passed += report.passed;
        failures.extend(report.failures);
        failures.extend(report.refusals);
    }
    println!("{passed} passed, {} failed", failures.len());
    let shown: Vec<&str> = failures.iter().take(20).map(String::as_str).collect();
    assert!(
        failures.is_empty(),
        "{} failures, among them:\n{}",
        failures.len(),
        shown.join("\n")
    );
}

#[test]
fn golden_graphs_survive_their_text() {
    let mut graphs = 0;
    for (_, text) in golden_files() {
        for line in text.lines() {
            let case: GoldenCase = serde_json::from_str(line).expect("a case");
            let Ok(spelled) = spell(&case) else {
                continue;
            };
            let printed = spelled.graph.to_string();
            match Graph::parse(&printed) {
                Ok(parsed) => assert!(parsed == spelled.graph, "{}: {printed}", case.id),
                Err(error) => panic!("{}: {error}\n{printed}", case.id),
            }
            graphs += 1;
        }
    }
    assert!(graphs > 1_000, "{graphs}");
}

/// The harness can fail: a wrong element, a wrong shape, and a refusal that does not come.
#[test]
fn wrong_expectations_are_noticed() {
    let case = |expect: &str| {
        let line = format!(
            r#"{{"id":"wrong","peer":"openvino","op":"Transpose","opset":"Transpose-1","attrs":{{}},
            "inputs":[{{"name":"data","dtype":"u8","shape":[2,2],"values":"iota"}}],"expect":{expect}}}"#
        );
        check_lines(&line.replace('\n', " "), &rungs()).passed
    };
    assert_eq!(case(r#"{"shape":[2,2],"values":[0,2,1,3]}"#), 1);
    assert_eq!(case(r#"{"shape":[2,2],"values":[0,1,2,3]}"#), 0);
    assert_eq!(case(r#"{"shape":[4],"values":[0,2,1,3]}"#), 0);
    assert_eq!(case(r#"{"error":"dtype","message":"no"}"#), 0);
}
