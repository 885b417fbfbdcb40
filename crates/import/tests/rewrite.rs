//! Rewritten files: what is read back from them, and what stays as it is.

mod wire;

use std::path::Path;

use restride_graph::Graph;
use restride_import::spell::Attribute;
use restride_import::{
    GroupProgram, ImportError, ImportOptions, Model, ModelSource, NodeGroup, Rewritten, Role, onnx,
};
use wire::{body, bytes, file, input, int, node, output, weight};

/// A model, what became of it, and its groups.
type Rewriting = (Model, Rewritten, Vec<(NodeGroup, GroupProgram)>);

/// Rewrites every group of a model that has one at the sizes at hand.
fn rewritten(bytes: &[u8]) -> Result<Rewriting, ImportError> {
    rewritten_of(&ModelSource::onnx(bytes))
}

/// The same of any file.
fn rewritten_of(source: &ModelSource) -> Result<Rewriting, ImportError> {
    let model = source.model(&ImportOptions::default())?;
    let groups: Vec<(NodeGroup, GroupProgram)> = model
        .groups()
        .into_iter()
        .map(|group| {
            let program = model.program(&group)?;
            Ok((group, program))
        })
        .collect::<Result<_, ImportError>>()?;
    let list: Vec<(&NodeGroup, &GroupProgram)> = groups.iter().map(|(g, p)| (g, p)).collect();
    let rewritten = source.rewrite(&model, &list)?;
    Ok((model, rewritten, groups))
}

/// The programs of the nodes of a model that are ours.
fn programs(model: &Model) -> Vec<String> {
    let nodes = model.nodes.iter().filter(|node| node.domain == "restride");
    nodes
        .map(|node| {
            assert_eq!(node.op.as_str(), "Move");
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
        let mut source = ImportOptions::default();
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
        let source = ModelSource::onnx(bytes.clone());
        let model = source.model(&ImportOptions::default()).expect(name);
        let same = source.rewrite(&model, &[]).expect(name);
        assert_eq!(same.bytes, bytes, "{name}");
        assert_eq!(same.dropped, 0);
    }
}

fn turned(from: &str, to: &str) -> Vec<u8> {
    node("Transpose", &[from], &[to], &[])
}

fn axis(axis: i64) -> Vec<u8> {
    bytes(5, [bytes(1, "axis"), int(3, axis), int(20, 2)].concat())
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
    let again = onnx(&rewritten.bytes, &ImportOptions::default()).expect("sorted");
    let order: Vec<&str> = again.nodes.iter().map(|node| node.op.as_str()).collect();
    assert_eq!(order, ["Move", "Relu", "Relu"]);
    assert!(!is_unsure(&rewritten.bytes));
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
    assert!(is_unsure(&rewritten.bytes), "its sizes were worked out");
}

/// Whether the one node that is ours says that nobody has known the names of its sizes.
fn is_unsure(bytes: &[u8]) -> bool {
    let model = onnx(bytes, &ImportOptions::default()).expect("a model");
    let ours = model.nodes.iter().find(|node| node.domain == "restride");
    let said = ours.expect("a node").attributes.get("unsure");
    said == Some(&Attribute::Int(1))
}

/// Bodies have nodes of their own, and what they read from outside is still made.
#[test]
fn bodies_are_rewritten_where_they_are() {
    let inner = [
        turned("t", "r"),
        node("Relu", &["r"], &["o"], &[]),
        output("o"),
    ]
    .concat();
    let twice = [
        node("Concat", &["t", "t"], &["u"], &axis(0)),
        turned("u", "v"),
        node("Relu", &["v"], &["o"], &[]),
        output("o"),
    ];
    let branches = [
        body("then_branch", &inner),
        body("else_branch", &twice.concat()),
    ];
    let graph = [
        input("x", &[2, 3]),
        wire::input_of("c", 9, &[]),
        turned("x", "t"),
        node("If", &["c"], &["y"], &branches.concat()),
        output("y"),
    ];
    let (_, rewritten, groups) = rewritten(&file(&graph.concat(), &[])).expect("a model");
    assert_eq!(groups.len(), 3);
    assert_eq!(rewritten.stays, [None, None, None]);
    let again = onnx(&rewritten.bytes, &ImportOptions::default()).expect("a model");
    let found = |scope: usize| {
        let nodes = again.nodes.iter().filter(move |node| node.scope == scope);
        nodes.map(|node| node.op.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(found(0), ["Move", "If"]);
    assert_eq!(found(1), ["Move", "Relu"]);
    assert_eq!(found(2), ["Move", "Relu"]);
}

/// What only the body of a body has read goes, wherever it was made.
#[test]
fn arithmetic_around_a_body_goes_with_its_readers() {
    let ones = |name: &str| weight(name, 7, &[1], &bytes(9, 1i64.to_le_bytes()));
    let deepest = [
        node("Reshape", &["x", "t"], &["a"], &[]),
        turned("a", "b"),
        node("Relu", &["b"], &["o"], &[]),
        output("o"),
    ];
    let branch = |name: &str, content: &[u8]| body(name, content);
    let deepest = deepest.concat();
    let inner = [
        node("Concat", &["s", "one"], &["t"], &axis(0)),
        node(
            "If",
            &["c"],
            &["i"],
            &[
                branch("then_branch", &deepest),
                branch("else_branch", &deepest),
            ]
            .concat(),
        ),
        output("i"),
    ];
    let inner = inner.concat();
    let graph = [
        input("x", &[2, 3]),
        wire::input_of("c", 9, &[]),
        ones("one"),
        node("Shape", &["x"], &["s"], &[]),
        node(
            "If",
            &["c"],
            &["y"],
            &[branch("then_branch", &inner), branch("else_branch", &inner)].concat(),
        ),
        output("y"),
    ];
    let (_, rewritten, groups) = rewritten(&file(&graph.concat(), &[])).expect("a model");
    assert_eq!(groups.len(), 4);
    assert!(rewritten.stays.iter().all(Option::is_none));
    // Two of Concat and one Shape, and the weight.
    assert_eq!(rewritten.dropped, 3);
    let text = String::from_utf8_lossy(&rewritten.bytes).into_owned();
    assert!(!text.contains("one") && !text.contains("Concat"), "{text}");
    onnx(&rewritten.bytes, &ImportOptions::default()).expect("a model");
}

/// A program is known as what it does, in a model as in an IR, and rewritten no further.
#[test]
fn programs_are_read_as_what_they_do() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    for name in ["detector.onnx", "layers.xml"] {
        let source = ModelSource::open(&folder.join(name)).expect(name);
        let (model, rewritten, groups) = rewritten_of(&source).expect(name);
        let again = match name.ends_with("xml") {
            false => ModelSource::onnx(rewritten.bytes.clone()),
            true => {
                let text = String::from_utf8(rewritten.bytes.clone()).expect("a text");
                let weights = std::fs::read(folder.join("layers.bin")).expect("weights");
                ModelSource::openvino(text, Some(weights))
            }
        };
        let again = again.model(&ImportOptions::default()).expect(name);
        let replaced = rewritten.stays.iter().filter(|why| why.is_none()).count();
        assert!(replaced > 2, "{name}: {replaced}");
        let programs = again.nodes.iter().filter(|node| node.is_program());
        assert_eq!(programs.count(), replaced, "{name}");
        assert_eq!(again.count(|role| matches!(role, Role::Hidden(_))), 0);
        // Types are what they were, and what the programs do, too.
        let types = |model: &Model| {
            let ends = model.inputs.iter().chain(&model.outputs);
            ends.map(|&id| model.tensor(id).ty.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(types(&again), types(&model), "{name}");
        let mut texts: Vec<String> = Vec::new();
        for group in again.groups() {
            let alone = group.nodes.len() == 1 && again.node(group.nodes[0]).is_program();
            if alone {
                let program = again.program(&group).expect("a program");
                texts.push(program.graph.without_names().to_string());
            }
        }
        let old: Vec<String> = groups
            .iter()
            .map(|(_, p)| p.graph.without_names().to_string())
            .collect();
        assert!(!texts.is_empty());
        for text in texts {
            assert!(old.contains(&text), "{name}: {text}\nnone of {old:#?}");
        }
    }
}

/// The layers of an IR have ids and edges; what is not of a group stays as it is written.
#[test]
fn an_ir_is_rewritten_in_its_text() {
    let text = r#"<?xml version="1.0"?>
<net name="turns" version="11">
	<layers>
		<layer id="0" name="x" type="Parameter" version="opset1">
			<data shape="?,3,4" element_type="f32" />
			<output><port id="0" precision="FP32" names="x"><dim>-1</dim><dim>3</dim><dim>4</dim></port></output>
		</layer>
		<layer id="1" name="order" type="Const" version="opset1">
			<data element_type="i64" shape="3" offset="0" size="24" />
			<output><port id="0" precision="I64"><dim>3</dim></port></output>
		</layer>
		<layer id="7" name="turn &amp; back" type="Transpose" version="opset1">
			<input><port id="0" precision="FP32"><dim>-1</dim><dim>3</dim><dim>4</dim></port><port id="1" precision="I64"><dim>3</dim></port></input>
			<output><port id="2" precision="FP32" names="y,z"><dim>-1</dim><dim>4</dim><dim>3</dim></port></output>
		</layer>
		<layer id="8" name="result" type="Result" version="opset1">
			<input><port id="0" precision="FP32"><dim>-1</dim><dim>4</dim><dim>3</dim></port></input>
		</layer>
	</layers>
	<edges>
		<edge from-layer="0" from-port="0" to-layer="7" to-port="0" />
		<edge from-layer="1" from-port="0" to-layer="7" to-port="1" />
		<edge from-layer="7" from-port="2" to-layer="8" to-port="0" />
	</edges>
	<rt_info />
</net>
"#;
    let order: Vec<u8> = [0i64, 2, 1].iter().flat_map(|i| i.to_le_bytes()).collect();
    let source = ModelSource::openvino(text, Some(order));
    let (_, rewritten, _) = rewritten_of(&source).expect("an IR");
    assert_eq!((rewritten.dropped, &rewritten.stays[..]), (1, &[None][..]));
    let expected = r#"<?xml version="1.0"?>
<net name="turns" version="11">
	<layers>
		<layer id="0" name="x" type="Parameter" version="opset1">
			<data shape="?,3,4" element_type="f32" />
			<output><port id="0" precision="FP32" names="x"><dim>-1</dim><dim>3</dim><dim>4</dim></port></output>
		</layer>
		<layer id="7" name="turn &amp; back" type="Move" version="restride">
			<data program="func @turn_back(%x: f32[1, 3, 4]) {&#10;  %y = transpose %x perm [0, 2, 1] : f32[1, 4, 3]&#10;  return %y&#10;}&#10;" />
			<input>
				<port id="0" precision="FP32">
					<dim>-1</dim>
					<dim>3</dim>
					<dim>4</dim>
				</port>
			</input>
			<output>
				<port id="1" precision="FP32" names="y,z">
					<dim>-1</dim>
					<dim>4</dim>
					<dim>3</dim>
				</port>
			</output>
		</layer>
		<layer id="8" name="result" type="Result" version="opset1">
			<input><port id="0" precision="FP32"><dim>-1</dim><dim>4</dim><dim>3</dim></port></input>
		</layer>
	</layers>
	<edges>
		<edge from-layer="7" from-port="1" to-layer="8" to-port="0" />
		<edge from-layer="0" from-port="0" to-layer="7" to-port="0" />
	</edges>
	<rt_info />
</net>
"#;
    assert_eq!(String::from_utf8_lossy(&rewritten.bytes), expected);
}

#[test]
fn a_matrix_that_products_turn_themselves_ends_a_group() {
    let perm = |axes: &[i64]| {
        let list: Vec<u8> = axes.iter().flat_map(|&axis| int(8, axis)).collect();
        bytes(5, [bytes(1, "perm"), list, int(20, 7)].concat())
    };
    let graph = [
        node("Transpose", &["x"], &["heads"], &perm(&[0, 2, 1, 3])),
        node("Transpose", &["heads"], &["k"], &perm(&[0, 1, 3, 2])),
        node("MatMul", &["q", "k"], &["y"], &[]),
        node("Transpose", &["heads"], &["z"], &perm(&[0, 1, 3, 2])),
        input("x", &[1, 5, 2, 4]),
        input("q", &[1, 2, 3, 4]),
        output("y"),
        output("z"),
    ];
    let file = file(&graph.concat(), &[]);
    let sizes = |options: &ImportOptions| {
        let groups = onnx(&file, options).expect("a model").groups();
        groups.iter().map(|it| it.nodes.len()).collect::<Vec<_>>()
    };
    let mut options = ImportOptions::default();
    assert_eq!(sizes(&options), [3]);
    // What is handed out is not a product's.
    options.products_turn();
    assert_eq!(sizes(&options), [2]);
}
