//! The table of operators as its documentation shows it: `src/operators.md` is made of the rows.
//! `BLESS=1` writes it.

use std::path::Path;

use restride_graph::{ElementType, Graph, OPERATORS, TensorType};

/// A cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn the_page_shows_the_table() {
    let mut page = String::from("| statement | what it is |\n|---|---|\n");
    for row in OPERATORS {
        let summary: Vec<&str> = row.summary.lines().map(str::trim).collect();
        let (form, summary) = (cell(&row.form()), cell(&summary.join(" ")));
        page += &format!("| `{form}` | {} |\n", summary.trim());
    }
    page += "| `constant type [..]` | Dense data, such as a table of indices. |\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/operators.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let shown = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(shown, page, "BLESS=1 writes it");
}

#[test]
fn every_name_is_there_once() {
    let names: std::collections::BTreeSet<&str> = OPERATORS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), OPERATORS.len());
}

#[test]
fn errors_name_the_node_of_the_host() {
    let mut g = Graph::new("group");
    let x = g.input("x", ElementType::F32, [8, 16]).unwrap();
    g.begin_node("encoder/Split");
    let y = g.reshape(x, [2, 4, 16]).finish().unwrap();
    g.begin_node("encoder/Turn");
    g.transpose(y, [2, 0, 1]).unwrap();
    let here = g.transpose(y, [0, 1]).unwrap_err().to_string();
    assert!(
        here.starts_with("transpose: ") && here.ends_with(" (in encoder/Turn)"),
        "{here}"
    );
    let name = g.set_name(y, "x").unwrap_err().to_string();
    assert!(name.ends_with(" (in encoder/Turn)"), "{name}");
    // A template that meets a shape for which an earlier node is wrong.
    let larger = TensorType::dense(ElementType::F32, [9, 16]).unwrap();
    let there = g.on_inputs([larger]).map(|_| ()).unwrap_err().to_string();
    assert!(
        there.starts_with("reshape: ") && there.ends_with(" (in encoder/Split)"),
        "{there}"
    );
}
