//! Texts dropped in `tests/files`: what each prints as, or every error it gives.
//!
//! `NAME.mv` is read; what comes of it must stand in `NAME.out`. `BLESS=1` writes the latter.

use std::fs;
use std::path::PathBuf;

use restride_graph::Graph;
use restride_text::Source;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/files")
}

/// The graph printed, or all errors rendered.
fn outcome(name: &str, text: &str) -> String {
    let graph = match Graph::parse(text) {
        Err(errors) => return errors.render(&Source::new(name, text)),
        Ok(graph) => graph,
    };
    let printed = graph.to_string();
    match Graph::parse(&printed) {
        Ok(again) => {
            assert_eq!(again, graph, "{name} changed by printing");
            assert_eq!(again.to_string(), printed, "{name} prints in two ways");
        }
        Err(errors) => panic!("{}", errors.render(&Source::new(name, &printed))),
    }
    printed
}

#[test]
fn every_file_gives_what_stands_beside_it() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut seen = 0;
    let mut wrong = Vec::new();
    let mut entries: Vec<PathBuf> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mv"))
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let got = outcome(&name, &fs::read_to_string(&path).unwrap());
        let beside = path.with_extension("out");
        if bless {
            fs::write(&beside, &got).unwrap();
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        if got != expected {
            wrong.push(format!("== {name}\n{got}-- expected\n{expected}"));
        }
        seen += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen >= 10, "only {seen} files were found");
}
