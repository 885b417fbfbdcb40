//! Rewritten files: what is read back from them, and what stays as it is.

mod wire;

use std::path::Path;

use restride_graph::Graph;
use restride_import::spell::Attribute;
use restride_import::{
    Group, ImportError, Model, Options, Program, Rewritten, Role, Source, onnx, rewrite_onnx,
};
use wire::{body, bytes, file, input, int, node, output, weight};

/// A model, what became of it, and its groups.
type Rewriting = (Model, Rewritten, Vec<(Group, Program)>);

/// Rewrites every group of a model that has one at the sizes at hand.
fn rewritten(bytes: &[u8]) -> Result<Rewriting, ImportError> {
    let model = onnx(bytes, &Options::default())?;
    let groups: Vec<(Group, Program)> = model
        .groups()
        .into_iter()
        .map(|group| {
            let program = model.program(&group)?;
            Ok((group, program))
        })
        .collect::<Result<_, ImportError>>()?;
    let list: Vec<(&Group, &Program)> = groups.iter().map(|(g, p)| (g, p)).collect();
    let rewritten = rewrite_onnx(bytes, &model, &list)?;
    Ok((model, rewritten, groups))
}

/// The programs of the nodes of a model that are ours.
fn programs(model: &Model) -> Vec<String> {
    let nodes = model.nodes.iter().filter(|node| node.domain == "restride");
    nodes
        .map(|node| {
            assert_eq!((node.op.as_str(), &node.role), ("Move", &Role::Compute));
            match node.attributes.get("program") {
                Some(Attribute::Word(text)) => text.clone(),
                other => panic!("{other:?}"),
            }
        })
        .collect()
}

#[test]
fn models_are_read_back_with_their_programs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut replaced = 0;
    for name in [
        "branches",
        "detector",
        "functions",
        "hidden",
        "old",
        "outside",
        "patches",
        "sequence",
    ] {
        let bytes = std::fs::read(folder.join(format!("{name}.onnx"))).expect("a model");
        let (model, rewritten, groups) = rewritten(&bytes).expect(name);
        let mut source = Options::default();
        source.folder(&folder);
        let again = onnx(&rewritten.bytes, &source).expect(name);
        // Each program is the text of its group, in the order of the file.
        let mut texts: Vec<String> = Vec::new();
        for ((group, program), why) in groups.iter().zip(&rewritten.stays) {
            match why {
                None => texts.push(program.graph.to_string()),
                Some(_) => assert!(group.scope > 0 || name != "detector", "{why:?}"),
            }
        }
        let mut found = programs(&again);
        found.sort();
        texts.sort();
        assert_eq!(found, texts, "{name}");
        for text in &texts {
            assert!(Graph::parse(text).is_ok(), "{text}");
        }
        replaced += texts.len();
        // What else there is computes as before, and the ends are the same.
        let computes = |model: &Model| {
            let nodes = model.nodes.iter();
            let nodes = nodes.filter(|n| n.role == Role::Compute && n.domain != "restride");
            nodes.map(|node| node.label()).collect::<Vec<_>>()
        };
        assert_eq!(computes(&again), computes(&model), "{name}");
        let ends = |model: &Model| {
            let ends = model.inputs.iter().chain(&model.outputs);
            ends.map(|&id| model.tensor(id).name.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ends(&again), ends(&model), "{name}");
    }
    assert!(replaced > 15, "{replaced}");
}

/// Without a group to replace a file is what it was, byte for byte.
#[test]
fn nothing_else_changes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    for name in ["branches.onnx", "detector.onnx", "functions.onnx"] {
        let bytes = std::fs::read(folder.join(name)).expect("a model");
        let source = Source::onnx(bytes.clone());
        let model = source.model(&Options::default()).expect(name);
        let same = rewrite_onnx(&bytes, &model, &[]).expect(name);
        assert_eq!(same.bytes, bytes, "{name}");
        assert_eq!(same.dropped, 0);
    }
}

fn turned(from: &str, to: &str) -> Vec<u8> {
    node("Transpose", &[from], &[to], &[])
}

/// A tensor inside of a group whose shape is asked for, or that a body reads, keeps its group.
#[test]
fn a_tensor_that_somebody_else_reads_keeps_its_group() {
    let asked = [
        input("x", &[2, 3]),
        turned("x", "a"),
        node(
            "Concat",
            &["a", "a"],
            &["y"],
            &bytes(5, [bytes(1, "axis"), int(3, 0), int(20, 2)].concat()),
        ),
        node("Shape", &["a"], &["s"], &[]),
        node("Relu", &["y"], &["z"], &[]),
        output("z"),
        output("s"),
    ];
    let (_, rewritten, groups) = rewritten(&file(&asked.concat(), &[])).expect("a model");
    assert_eq!(groups.len(), 1);
    let why = "something else reads a tensor inside of it";
    assert_eq!(rewritten.stays, [Some(why)]);
    assert_eq!(rewritten.bytes, file(&asked.concat(), &[]));
}

/// What a group gives may be read before the last of its nodes stands in the file.
#[test]
fn nodes_are_put_where_they_can_run() {
    let split = [bytes(1, "axis"), int(3, 0), int(20, 2)].concat();
    let graph = [
        input("x", &[2, 3]),
        node("Split", &["x"], &["a", "b"], &bytes(5, split.clone())),
        node("Relu", &["a"], &["c"], &[]),
        turned("b", "d"),
        node("Relu", &["d"], &["e"], &[]),
        output("c"),
        output("e"),
    ];
    let (_, rewritten, groups) = rewritten(&file(&graph.concat(), &[])).expect("a model");
    assert_eq!((groups.len(), &rewritten.stays[..]), (1, &[None][..]));
    let again = onnx(&rewritten.bytes, &Options::default()).expect("sorted");
    let order: Vec<&str> = again.nodes.iter().map(|node| node.op.as_str()).collect();
    assert_eq!(order, ["Move", "Relu", "Relu"]);
}

/// Arithmetic that only a group has read goes with it; what anybody else reads stays.
#[test]
fn what_nobody_reads_any_more_goes() {
    let ones = |name: &str| weight(name, 7, &[1], &bytes(9, 1i64.to_le_bytes()));
    let graph = [
        input("x", &[2, 3]),
        ones("one"),
        ones("kept"),
        node("Shape", &["x"], &["s"], &[]),
        node(
            "Concat",
            &["s", "one"],
            &["t"],
            &bytes(5, [bytes(1, "axis"), int(3, 0), int(20, 2)].concat()),
        ),
        node("Add", &["s", "kept"], &["u"], &[]),
        node("Reshape", &["x", "t"], &["y"], &[]),
        node("Relu", &["y"], &["z"], &[]),
        output("z"),
        output("u"),
    ];
    let (_, rewritten, _) = rewritten(&file(&graph.concat(), &[])).expect("a model");
    assert_eq!((rewritten.dropped, &rewritten.stays[..]), (1, &[None][..]));
    let text = String::from_utf8_lossy(&rewritten.bytes).into_owned();
    assert!(text.contains("kept") && !text.contains("one"), "{text}");
}

/// Groups of bodies stay, and what bodies read from outside is still made.
#[test]
fn bodies_stay_and_are_heard() {
    let inner = [turned("t", "r"), output("r")].concat();
    let branches = [body("then_branch", &inner), body("else_branch", &inner)].concat();
    let graph = [
        input("x", &[2, 3]),
        wire::input_of("c", 9, &[]),
        turned("x", "t"),
        node("If", &["c"], &["y"], &branches),
        output("y"),
    ];
    let (_, rewritten, groups) = rewritten(&file(&graph.concat(), &[])).expect("a model");
    assert_eq!(groups.len(), 3);
    let stays = rewritten
        .stays
        .iter()
        .filter(|why| **why == Some("it is in a body"));
    assert_eq!(stays.count(), 2);
    let again = onnx(&rewritten.bytes, &Options::default()).expect("a model");
    assert_eq!(again.nodes[0].op, "Move");
}
