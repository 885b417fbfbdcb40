//! Files that ask for far more than they look like: each is refused where it stands, or read within
//! the budget.

mod wire;

use restride_import::{ImportOptions, Role, onnx, onnx_tensor, openvino};
use wire::{body, bytes, file, input, int, node, output, weight};

fn refused(file: &[u8]) -> String {
    onnx(file, &ImportOptions::default())
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

#[test]
fn lengths_and_numbers_that_do_not_fit() {
    assert_eq!(
        refused(&[0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
        "field 7 says it has 4294967295 bytes, 0 are left"
    );
    assert_eq!(refused(&[0x3a, 0x80]), "the file ends inside of a number");
    assert_eq!(refused(&[0xff; 20]), "a number of more than ten bytes");
    assert_eq!(
        refused(&bytes(7, [0x0a])),
        "graph: the file ends inside of a number"
    );
    let name = bytes(1, bytes(3, [0xff, 0xfe]));
    assert_eq!(
        refused(&file(&name, &[])),
        "graph.node[0].name: byte 0 is no UTF-8"
    );
    let op = bytes(1, int(4, 7));
    assert_eq!(
        refused(&file(&op, &[])),
        "graph.node[0].op_type: a number where bytes are expected"
    );
}

#[test]
fn messages_nest_and_multiply_within_bounds() {
    let mut graph = Vec::new();
    for _ in 0..100 {
        graph = node("If", &[], &[], &body("then_branch", &graph));
    }
    let deep = refused(&file(&graph, &[]));
    assert!(
        deep.ends_with("messages nest deeper than 64"),
        "{}",
        &deep[deep.len() - 80..]
    );
    // Two bytes a message.
    let many = bytes(1, []).repeat((1 << 19) + 1);
    let many = refused(&file(&many, &[]));
    assert_eq!(many, "graph.node[524286]: more than 524288 messages");
}

#[test]
fn sizes_that_multiply_to_more_than_there_is() {
    let huge = weight("w", 1, &[1 << 40, 1 << 40], &[]);
    let error = refused(&file(&huge, &[]));
    assert!(
        error.starts_with("graph.initializer[0] (w).dims: the sizes multiply"),
        "{error}"
    );
    let long = weight("w", 7, &[4], &bytes(9, [0; 31]));
    assert_eq!(
        refused(&file(&long, &[])),
        "graph.initializer[0] (w).raw_data: 31 bytes for i64[4], which takes 32"
    );
    let negative = weight("w", 7, &[-1], &[]);
    assert!(refused(&file(&negative, &[])).contains("axis 0 has size -1"));
    let deep = input("x", &[1; 40]);
    assert_eq!(
        refused(&file(&deep, &[])),
        "graph.input[0] (x): rank 40 is more than 32"
    );
    let empty = weight("w", 7, &[0, i64::MAX], &[]);
    assert!(refused(&file(&empty, &[])).contains("the sizes multiply"));
}

/// A tensor that stands by itself is read whole, and only as far as there is data.
#[test]
fn tensors_by_themselves() {
    let tensor = |size: i64, data: &[u8]| [int(1, size), int(2, 1), bytes(9, data)].concat();
    let large = onnx_tensor(&tensor(100_000, &[0; 400_000])).expect("a tensor");
    assert_eq!(large.ty().to_string(), "f32[100000]");
    let typed = [int(1, 1 << 40), int(2, 1)].concat();
    let error = onnx_tensor(&typed).map(|_| ()).unwrap_err().to_string();
    assert!(
        error.contains("0 elements for f32[1099511627776]"),
        "{error}"
    );
}

#[test]
fn files_outside_of_the_folder_are_refused() {
    for location in ["../secret", "/etc/passwd", "a/../../b", ""] {
        let entry = bytes(13, [bytes(1, "location"), bytes(2, location)].concat());
        let it = weight("w", 7, &[1], &[entry, int(14, 1)].concat());
        let error = refused(&file(&it, &[]));
        assert!(error.ends_with("is not beside the model"), "{error}");
    }
    let entry = bytes(13, [bytes(1, "location"), bytes(2, "Cargo.toml")].concat());
    let offset = bytes(
        13,
        [bytes(1, "offset"), bytes(2, "18446744073709551615")].concat(),
    );
    let it = weight("w", 7, &[1], &[entry, offset, int(14, 1)].concat());
    let mut options = ImportOptions::default();
    options.folder(env!("CARGO_MANIFEST_DIR"));
    let error = onnx(&file(&it, &[]), &options)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("8 bytes at 18446744073709551615 of"),
        "{error}"
    );
    // Nobody looks at it where no folder is named.
    assert!(onnx(&file(&it, &[]), &ImportOptions::default()).is_ok());
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folder_are_refused() {
    let folder = std::env::temp_dir().join(format!("restride-link-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::os::unix::fs::symlink("/proc/self/maps", folder.join("data")).expect("a link");
    let entry = bytes(13, [bytes(1, "location"), bytes(2, "data")].concat());
    let it = weight("w", 7, &[1], &[entry, int(14, 1)].concat());
    let mut options = ImportOptions::default();
    options.folder(&folder);
    let error = onnx(&file(&it, &[]), &options)
        .map(|_| ())
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("`data`: is not beside the model"),
        "{error}"
    );
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn names_that_nobody_makes_and_cycles() {
    let cycle = [
        node("Relu", &["b"], &["a"], &[]),
        node("Relu", &["a"], &["b"], &[]),
    ]
    .concat();
    assert_eq!(
        refused(&file(&cycle, &[])),
        "graph.node[0] (Relu).input[0]: nothing before it makes `b`"
    );
    assert_eq!(
        refused(&file(&output("y"), &[])),
        "graph.output[0]: nothing makes `y`"
    );
    let long = node("Relu", &[&"\n".repeat(5000)], &["a"], &[]);
    let error = refused(&file(&long, &[]));
    assert!(error.len() < 300 && !error.contains('\n'), "{error}");
}

/// Nodes of functions are field 7, of graphs field 1. A function that calls another twice, and so on: as many nodes as there are leaves.
#[test]
fn functions_that_double() {
    let function = |name: &str, nodes: Vec<u8>| {
        bytes(
            25,
            [
                bytes(1, name),
                bytes(4, "x"),
                bytes(5, "y"),
                nodes,
                bytes(10, "d"),
            ]
            .concat(),
        )
    };
    let call = |op: &str, from: &str, to: &str| {
        let it = [bytes(1, from), bytes(2, to), bytes(4, op), bytes(7, "d")].concat();
        bytes(7, it)
    };
    let mut more = function(
        "f0",
        bytes(7, [bytes(1, "x"), bytes(2, "y"), bytes(4, "Relu")].concat()),
    );
    for level in 1..24 {
        let inner = format!("f{}", level - 1);
        more.extend(function(
            &format!("f{level}"),
            [call(&inner, "x", "t"), call(&inner, "t", "y")].concat(),
        ));
    }
    let main = |op: &str| {
        let it = [bytes(1, "x"), bytes(2, "y"), bytes(4, op), bytes(7, "d")].concat();
        file(&[input("x", &[2]), bytes(1, it)].concat(), &more)
    };
    let eight = onnx(&main("f8"), &ImportOptions::default()).expect("a model");
    assert_eq!(eight.nodes.len(), 256);
    assert!(refused(&main("f20")).ends_with("more than 131072 nodes"));
    // One that calls itself.
    let itself = function("g", call("g", "x", "y"));
    let it = [bytes(1, "x"), bytes(2, "y"), bytes(4, "g"), bytes(7, "d")].concat();
    let it = file(&[input("x", &[2]), bytes(1, it)].concat(), &itself);
    assert!(refused(&it).ends_with("deeper than 24"), "{}", refused(&it));
}

/// Loops whose states change their type are read again; in one another, again and again.
#[test]
fn loops_that_are_read_again_and_again() {
    let mut inner = Vec::new();
    for level in 0..14 {
        let states: Vec<String> = (0..8).map(|k| format!("s{level}_{k}")).collect();
        let mut graph = [input("i", &[]), input("c", &[])].concat();
        states
            .iter()
            .for_each(|name| graph.extend(input(name, &[1])));
        graph.extend(&inner);
        // One after the other grows, as the one before it has.
        graph.extend(node(
            "Concat",
            &[&states[0], &states[0]],
            &["t0"],
            &bytes(5, [bytes(1, "axis"), int(3, 0), int(20, 2)].concat()),
        ));
        for (k, state) in states.iter().enumerate().skip(1) {
            let (from, to) = (format!("t{}", k - 1), format!("t{k}"));
            graph.extend(node("Add", &[state, &from], &[&to], &[]));
        }
        graph.extend(output("c"));
        (0..8).for_each(|k| graph.extend(output(&format!("t{k}"))));
        let made: Vec<String> = (0..8).map(|k| format!("l{level}_{k}")).collect();
        let mut inputs = vec!["", ""];
        inputs.extend(["x"; 8]);
        let outputs: Vec<&str> = made.iter().map(String::as_str).collect();
        inner = node("Loop", &inputs, &outputs, &body("body", &graph));
    }
    let graph = [input("x", &[1]), inner].concat();
    let error = refused(&file(&graph, &[]));
    assert!(error.ends_with("more than 131072 nodes"), "{error}");
}

#[test]
fn values_are_not_worked_out_beyond_bounds() {
    // A megabyte of ones from a shape of one number, and its sum.
    let shape = |size: i64| weight("s", 7, &[1], &bytes(9, size.to_le_bytes()));
    for size in [1 << 10, 1 << 20, 1 << 62, -1] {
        let graph = [
            shape(size),
            node("ConstantOfShape", &["s"], &["c"], &[]),
            node("NonZero", &["c"], &["n"], &[]),
            node("Transpose", &["n"], &["y"], &[]),
            output("y"),
        ];
        let model = onnx(&file(&graph.concat(), &[]), &ImportOptions::default()).expect("a model");
        assert_eq!(
            model.tensors.iter().filter(|t| t.value.is_some()).count() > 1,
            size == 1 << 10
        );
    }
    // Numbers that divide by zero or overflow are not known, and that is all.
    let zero = weight("z", 7, &[1], &bytes(9, 0i64.to_le_bytes()));
    let least = weight("m", 7, &[1], &bytes(9, i64::MIN.to_le_bytes()));
    let minus = weight("n", 7, &[1], &bytes(9, (-1i64).to_le_bytes()));
    for op in ["Div", "Mod", "Pow", "Mul", "Sub", "Min"] {
        for (a, b) in [("m", "z"), ("m", "n"), ("n", "m"), ("m", "m")] {
            let graph = [
                zero.clone(),
                least.clone(),
                minus.clone(),
                node(op, &[a, b], &["y"], &[]),
            ];
            let model =
                onnx(&file(&graph.concat(), &[]), &ImportOptions::default()).expect("a model");
            assert_eq!(
                model.node(model.numbered().next().unwrap().0).role,
                Role::Fixed
            );
        }
    }
}

fn xml(layers: &str, edges: &str) -> String {
    format!("<net name=\"n\" version=\"11\"><layers>{layers}</layers><edges>{edges}</edges></net>")
}

fn refused_xml(text: &str, weights: Option<&[u8]>) -> String {
    openvino(text, weights, &ImportOptions::default())
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

#[test]
fn xml_that_is_large_in_a_small_space() {
    let deep = "<a>".repeat(1 << 20);
    assert!(!refused_xml(&deep, None).is_empty());
    let many: String = (0..1000).map(|k| format!(" a{k}=\"\"")).collect();
    assert_eq!(
        refused_xml(&format!("<net{many}/>"), None),
        "an element of more than 256 attributes"
    );
    let laughs =
        "<!DOCTYPE net [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><net version=\"11\">&b;</net>";
    assert!(
        refused_xml(laughs, None).contains("DTD"),
        "{}",
        refused_xml(laughs, None)
    );
    assert_eq!(
        refused_xml("<html/>", None),
        "it is a <html>: no OpenVINO IR"
    );
    assert_eq!(
        refused_xml("<net version=\"7\"/>", None),
        "net: version 7 of the IR; 10 and 11 are known"
    );
}

#[test]
fn layers_that_cannot_be() {
    let layer = |id: &str, rest: &str| format!("<layer id=\"{id}\" name=\"l{id}\" {rest}</layer>");
    let constant = |data: &str| {
        layer(
            "0",
            &format!("type=\"Const\" version=\"opset1\"><data {data}/>"),
        )
    };
    let place = "element_type=\"i64\" shape=\"2\" offset=\"18446744073709551615\" size=\"16\"";
    assert_eq!(
        refused_xml(&xml(&constant(place), ""), Some(&[0; 16])),
        "net.layers.layer[id=0] (Const \"l0\").data: 16 bytes at 18446744073709551615 of 16"
    );
    let short = "element_type=\"i64\" shape=\"2\" offset=\"0\" size=\"8\"";
    assert!(refused_xml(&xml(&constant(short), ""), Some(&[0; 16])).contains("8 bytes for i64[2]"));
    // OpenVINO itself writes a byte for a tensor without elements.
    let empty = "element_type=\"i64\" shape=\"0\" offset=\"3\" size=\"1\"";
    let empty = openvino(
        &xml(&constant(empty), ""),
        Some(&[0; 16]),
        &ImportOptions::default(),
    );
    assert!(empty.is_ok(), "{empty:?}");
    let unary = |id: &str| {
        layer(
            id,
            "type=\"ReLU\" version=\"opset1\"><input><port id=\"0\"/></input><output><port id=\"1\"/></output>",
        )
    };
    let edge = |from: &str, to: &str| {
        format!("<edge from-layer=\"{from}\" from-port=\"1\" to-layer=\"{to}\" to-port=\"0\"/>")
    };
    let cycle = xml(
        &[unary("0"), unary("1")].concat(),
        &[edge("0", "1"), edge("1", "0")].concat(),
    );
    assert_eq!(
        refused_xml(&cycle, None),
        "net.layers.layer[id=0] (ReLU \"l0\"): it waits for itself"
    );
    let twice = xml(&unary("0").repeat(2), "");
    assert_eq!(
        refused_xml(&twice, None),
        "net.layers: two layers have the id 0"
    );
    let nobody = xml(&unary("0"), &edge("5", "0"));
    assert_eq!(
        refused_xml(&nobody, None),
        "net.edges.edge[0]: there is no layer 5"
    );
    let two = xml(
        &[unary("0"), unary("1"), unary("2")].concat(),
        &[edge("0", "2"), edge("1", "2")].concat(),
    );
    assert_eq!(
        refused_xml(&two, None),
        "net.edges.edge[1]: input 0 of layer 2 has two"
    );
}

/// Of a split, an output in the middle may be left out, and there may be more outputs than parts.
#[test]
fn outputs_are_counted_where_they_stand() {
    let lengths = weight(
        "l",
        7,
        &[2],
        &bytes(9, [1i64.to_le_bytes(), 2i64.to_le_bytes()].concat()),
    );
    let split = |inputs: &[&str], outputs: &[&str]| {
        let last = outputs.last().expect("an output");
        let graph = [
            input("x", &[3]),
            lengths.clone(),
            node("Split", inputs, outputs, &[]),
            output(last),
        ];
        onnx(&file(&graph.concat(), &[]), &ImportOptions::default()).expect("a model")
    };
    let model = split(&["x"], &["a", "", "c"]);
    let program = model.program(&model.groups()[0]).expect("a program");
    let text = program.graph.to_string();
    assert!(
        text.contains("lengths [1, 1, 1]") && text.contains("return %c"),
        "{text}"
    );
    let model = split(&["x", "l"], &["a", "b", "c"]);
    assert!(model.groups().is_empty());
    assert!(
        matches!(&model.nodes[0].role, Role::Hidden(why) if why.to_string().ends_with("3 outputs of 2"))
    );
}
