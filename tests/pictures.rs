//! The pictures of `docs/pictures/` are drawn from what the compiler says, and kept true here.
//!
//! `BLESS=1 cargo test --release -p restride-tests --test pictures` draws them anew.

use std::fmt::Write as _;
use std::path::Path;

use restride::{Graph, Options, Stages};
use restride_text::escape;

/// The program of the README.
const DEMO: &str = "func @demo(%x: f32[4, 8]) {
  %y = strided_slice %x begin [0, 1] end [0, 7] strides [-1, 2]
       begin_mask 0b01 end_mask 0b01
  %z = reshape %y shape [2, 6]
  return %z
}
";

const STYLE: &str = "<style>text{font:12px ui-monospace,monospace;white-space:pre}\
    .t{font-weight:bold}rect{stroke:#888}</style>";

fn stages(text: &str, options: &Options) -> Stages {
    let graph = Graph::parse(text).expect("a graph");
    Stages::of(&graph, options).expect("it compiles")
}

/// A picture of this size.
fn svg(width: usize, height: usize, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n{STYLE}\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\" stroke=\"none\"/>\n{body}</svg>\n"
    )
}

/// One program's way through the stages, each as it prints.
fn way() -> String {
    let stages = stages(DEMO, &Options::default());
    let boxes = [
        ("graph: as the framework spells it", DEMO.to_owned()),
        (
            "canonical: without the spelling",
            stages.canonical.to_string(),
        ),
        (
            "plan: one pass, a list of digits (extent:to:from)",
            stages.plan.to_string(),
        ),
        (
            "kernel: proved, then made machine code",
            stages.kernel.to_string(),
        ),
    ];
    let longest = boxes
        .iter()
        .flat_map(|(_, text)| text.lines().map(str::len));
    let width = 40 + 15 * longest.max().unwrap_or(0) / 2;
    let (mut body, mut y) = (String::new(), 10);
    for (at, (title, text)) in boxes.iter().enumerate() {
        if at > 0 {
            let _ = writeln!(
                body,
                "<path d=\"M40 {} v14 m-5 -6 l5 6 l5 -6\" fill=\"none\" stroke=\"#444\"/>",
                y - 20
            );
        }
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let height = 30 + 16 * lines.len();
        let _ = writeln!(
            body,
            "<rect x=\"10\" y=\"{y}\" width=\"{}\" height=\"{height}\" rx=\"4\" fill=\"#f6f8fa\"/>",
            width - 20
        );
        let _ = writeln!(
            body,
            "<text x=\"20\" y=\"{}\" class=\"t\">{title}</text>",
            y + 18
        );
        for (line, text) in lines.iter().enumerate() {
            let _ = writeln!(
                body,
                "<text x=\"20\" y=\"{}\">{}</text>",
                y + 36 + 16 * line,
                escape(text)
            );
        }
        y += height + 24;
    }
    svg(width, y - 14, &body)
}

/// Where each element of the one output comes from: `(to, from)`, both as addresses.
fn moves(stages: &Stages) -> Vec<(i64, i64)> {
    use restride_lower::plan::Body;
    let mut out = Vec::new();
    for piece in stages.plan.stages.iter().flat_map(|stage| &stage.pieces) {
        let Body::Copy { offset, .. } = &piece.body else {
            continue;
        };
        let mut places = vec![(piece.dst, *offset)];
        for digit in &piece.digits {
            places = places
                .iter()
                .flat_map(|(to, from)| {
                    (0..digit.extent).map(move |i| (to + i * digit.dst, from + i * digit.src))
                })
                .collect();
        }
        out.extend(places);
    }
    out.sort_unstable();
    out
}

/// A colour that tells early from late.
fn colour(at: usize, of: usize) -> String {
    format!("hsl({},70%,75%)", 240 * at / of.max(1))
}

/// A buffer as rows of cells; `order[address]` says when a cell is walked, if it is.
fn cells(body: &mut String, x: usize, columns: usize, order: &[Option<usize>], of: usize) {
    for (address, at) in order.iter().enumerate() {
        let (left, top) = (x + 34 * (address % columns), 50 + 26 * (address / columns));
        let fill = at.map_or_else(|| "white".to_owned(), |at| colour(at, of));
        let _ = writeln!(
            body,
            "<rect x=\"{left}\" y=\"{top}\" width=\"34\" height=\"26\" fill=\"{fill}\"/>"
        );
        if let Some(at) = at {
            let _ = writeln!(
                body,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{at}</text>",
                left + 17,
                top + 17
            );
        }
    }
}

/// Source and destination of a graph with one input and one output, walked in the output's order.
fn walk(title: &str, text: &str, columns: (usize, usize)) -> String {
    let graph = Graph::parse(text).expect("a graph");
    let size = graph.ty(graph.inputs()[0]).required_elements();
    let stages = stages(text, &Options::copying());
    let moves = moves(&stages);
    let mut source = vec![None; size];
    for (at, (_, from)) in moves.iter().enumerate() {
        source[*from as usize].get_or_insert(at);
    }
    let destination: Vec<_> = (0..moves.len()).map(Some).collect();
    let right = 40 + 34 * columns.0;
    let mut body = format!(
        "<text x=\"10\" y=\"20\" class=\"t\">{}</text>\n\
         <text x=\"10\" y=\"42\">source</text>\n<text x=\"{right}\" y=\"42\">destination</text>\n",
        escape(title)
    );
    cells(&mut body, 10, columns.0, &source, moves.len());
    cells(&mut body, right, columns.1, &destination, moves.len());
    let rows = (size.div_ceil(columns.0)).max(moves.len().div_ceil(columns.1));
    let mut y = 50 + 26 * rows + 20;
    let plan = stages.plan.to_string();
    let shown: Vec<&str> = plan.lines().filter(|line| line.contains('=')).collect();
    for line in &shown {
        let _ = writeln!(
            body,
            "<text x=\"10\" y=\"{y}\">{}</text>",
            escape(line.trim())
        );
        y += 16;
    }
    let text = shown.iter().map(|line| line.len()).max().unwrap_or(0) * 15 / 2 + 20;
    svg((right + 34 * columns.1 + 10).max(text), y, &body)
}

/// Every picture by its name.
fn pictures() -> Vec<(&'static str, String)> {
    let one = |ops: &str| format!("func @f(%x: f32[4, 6]) {{ {ops} return %y }}");
    vec![
        ("way.svg", way()),
        (
            "transpose.svg",
            walk(
                "transpose: the digits change places",
                &one("%y = transpose %x perm [1, 0]"),
                (6, 4),
            ),
        ),
        (
            "reverse.svg",
            walk(
                "x[::-1, ::2]: strides change sign and size",
                &one(
                    "%y = strided_slice %x begin [0, 0] end [0, 0] strides [-1, 2] begin_mask 3 end_mask 3",
                ),
                (6, 3),
            ),
        ),
        (
            "reshape.svg",
            walk(
                "reshape [4, 6] of the transpose: another shape, the same order",
                &one("%t = transpose %x perm [1, 0] %y = reshape %t shape [4, 6]"),
                (6, 6),
            ),
        ),
        (
            "pieces.svg",
            walk(
                "elements 3 to 19 of the flat reversed rows: pieces, no mask",
                &one(
                    "%t = reverse %x axes [1] %f = reshape %t shape [24] %y = slice %f start [3] stop [20] step [1]",
                ),
                (6, 6),
            ),
        ),
    ]
}

#[test]
fn pictures_are_true() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/pictures");
    let mut wrong = Vec::new();
    for (name, picture) in pictures() {
        let path = folder.join(name);
        if std::fs::read_to_string(&path).ok().as_ref() == Some(&picture) {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            std::fs::create_dir_all(&folder).expect("a folder for pictures");
            std::fs::write(&path, picture).expect("a picture that can be written");
        } else {
            wrong.push(name);
        }
    }
    assert!(
        wrong.is_empty(),
        "not as drawn (BLESS=1 draws them): {wrong:?}"
    );
}
