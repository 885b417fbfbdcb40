//! The types of what operators make, beside what the ONNX project's own tests say: `make_types.py` writes
//! the file. What is not known here has to be listed.

mod wire;

use restride_import::{ImportOptions, onnx};
use wire::{bytes, float, input_of, int, node, output, weight};

/// Operators whose types are not told, each with the reason.
const UNKNOWN: [(&str, &str); 7] = [
    ("Dropout", "in training mode it computes"),
    ("FlexAttention", "it is of a domain for previews"),
    ("NonMaxSuppression", "how many boxes are left"),
    ("NonZero", "how many elements are not 0"),
    ("OneHot", "in these tests the depth is a float"),
    ("Range", "the file has no numbers of 16 bits"),
    ("Unique", "how many elements differ"),
];

/// The number that ONNX has for an element.
fn element(name: &str) -> i64 {
    let names = [
        "", "f32", "u8", "i8", "u16", "i16", "i32", "i64", "", "bool", "f16", "f64", "u32", "u64",
        "", "", "bf16",
    ];
    let at = names.iter().position(|known| *known == name);
    at.expect("an element") as i64
}

/// `f32[2,3]` or `i64[2]=1,2` as element, sizes and the bytes of the numbers.
fn tensor(text: &str) -> (i64, Vec<i64>, Option<Vec<u8>>) {
    let (ty, numbers) = match text.split_once('=') {
        Some((ty, numbers)) => (ty, Some(numbers)),
        None => (text, None),
    };
    let (name, sizes) = ty.split_once('[').expect("sizes");
    let sizes = sizes.trim_end_matches(']').split(',');
    let sizes = sizes.filter(|size| !size.is_empty());
    let sizes: Vec<i64> = sizes.map(|size| size.parse().expect("a size")).collect();
    let data = numbers.map(|numbers| {
        let numbers = numbers.split(',').filter(|number| !number.is_empty());
        let number = |text: &str| match name {
            "f32" => text.parse::<f32>().expect("a float").to_le_bytes().to_vec(),
            "bool" | "i8" => vec![text.parse::<i8>().expect("a number") as u8],
            "i16" => text
                .parse::<i16>()
                .expect("a number")
                .to_le_bytes()
                .to_vec(),
            "i32" => text
                .parse::<i32>()
                .expect("a number")
                .to_le_bytes()
                .to_vec(),
            _ => text
                .parse::<i64>()
                .expect("a number")
                .to_le_bytes()
                .to_vec(),
        };
        numbers.flat_map(number).collect()
    });
    (element(name), sizes, data)
}

fn attribute(text: &str) -> Vec<u8> {
    let (name, value) = text.split_once('=').expect("a value");
    let (kind, value) = value.split_once(':').expect("a kind");
    let list = || value.split(',').filter(|one| !one.is_empty());
    let whole = |text: &str| text.parse::<i64>().expect("a number");
    let real = |text: &str| text.parse::<f32>().expect("a float");
    let (number, field) = match kind {
        "f" => (1, float(2, real(value))),
        "i" => (2, int(3, whole(value))),
        "s" => (3, bytes(4, value)),
        "fs" => (6, list().flat_map(|one| float(7, real(one))).collect()),
        _ => (7, list().flat_map(|one| int(8, whole(one))).collect()),
    };
    bytes(5, [bytes(1, name), field, int(20, number)].concat())
}

/// The file of a test, and the names of its outputs.
fn file(operator: &str, inputs: &str, attributes: &str, outputs: &str) -> (Vec<u8>, Vec<String>) {
    let [domain, op, version] = operator.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{operator}");
    };
    let mut graph = Vec::new();
    let mut names = Vec::new();
    for (at, text) in inputs
        .split(' ')
        .filter(|text| !text.is_empty())
        .enumerate()
    {
        if text == "-" {
            names.push(String::new());
            continue;
        }
        names.push(format!("x{at}"));
        let (element, sizes, data) = tensor(text);
        graph.extend(match data {
            Some(data) => weight(&names[at], element, &sizes, &bytes(9, data)),
            None => input_of(&names[at], element, &sizes),
        });
    }
    let made = outputs.split(' ').enumerate();
    let made: Vec<String> = made
        .map(|(at, text)| {
            if text == "-" {
                String::new()
            } else {
                format!("y{at}")
            }
        })
        .collect();
    let mut more: Vec<u8> = bytes(7, domain);
    for text in attributes.split(' ').filter(|text| !text.is_empty()) {
        more.extend(attribute(text));
    }
    let borrowed = |names: &[String]| names.iter().map(|name| name.to_owned()).collect::<Vec<_>>();
    let (inputs, outputs) = (borrowed(&names), borrowed(&made));
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    graph.extend(node(op, &inputs, &outputs, &more));
    made.iter()
        .filter(|name| !name.is_empty())
        .for_each(|name| graph.extend(output(name)));
    let opset = [
        bytes(1, domain),
        int(2, version.parse().expect("a version")),
    ]
    .concat();
    ([bytes(8, opset), bytes(7, graph)].concat(), made)
}

#[test]
fn types_are_those_of_the_onnx_project() {
    let text = include_str!("types.txt");
    let mut excused = std::collections::BTreeSet::new();
    let (mut right, mut wrong, mut unknown) = (0, Vec::new(), Vec::new());
    for line in text.lines() {
        let [name, operator, inputs, attributes, outputs] =
            line.split('\t').collect::<Vec<_>>()[..]
        else {
            panic!("{line}");
        };
        let op = operator.split(' ').nth(1).expect("an operator");
        let (bytes, made) = file(operator, inputs, attributes, outputs);
        let model = onnx(&bytes, &ImportOptions::default());
        let model = model.unwrap_or_else(|error| panic!("{name}: {error}"));
        for (output, expected) in made.iter().zip(outputs.split(' ')) {
            let tensor = model.tensors.iter().find(|tensor| tensor.name == *output);
            let Some(tensor) = tensor.filter(|_| !output.is_empty()) else {
                continue;
            };
            match &tensor.ty {
                Ok(ty) if ty.to_string().replace(", ", ",") == expected => right += 1,
                Ok(ty) => wrong.push(format!("{name}: {op}: {ty} for {expected}")),
                Err(_) if UNKNOWN.iter().any(|(known, _)| *known == op) => {
                    excused.insert(op);
                }
                Err(why) => unknown.push(format!("{name}: {why}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{} right\n{}", right, wrong.join("\n"));
    assert!(
        unknown.is_empty(),
        "{} right\n{}",
        right,
        unknown.join("\n")
    );
    assert!(right > 700, "{right}");
    // Who is excused needs it.
    let listed: Vec<&str> = UNKNOWN.iter().map(|(op, _)| *op).collect();
    assert_eq!(excused.into_iter().collect::<Vec<_>>(), listed);
}

/// What a model's tensor holds.
fn held(model: &restride_import::Model, name: &str) -> Vec<i64> {
    let tensor = model.tensors.iter().find(|tensor| tensor.name == name);
    let value = tensor.and_then(|tensor| tensor.value.as_ref());
    let bytes = value.expect("a value").bytes().chunks_exact(8);
    bytes
        .map(|one| i64::from_ne_bytes(one.try_into().expect("8 bytes")))
        .collect()
}

/// ONNX divides integers towards 0, and takes rests that have the sign of the divisor unless told
/// otherwise; OpenVINO has all four.
#[test]
fn integers_are_divided_as_each_framework_divides_them() {
    let numbers = |list: [i64; 2]| list.map(i64::to_le_bytes).concat();
    let [a, b] = [numbers([-7, 7]), numbers([2, -2])];
    let onnx_says = |op: &str, more: &[u8]| {
        let graph = [
            weight("a", 7, &[2], &bytes(9, &a)),
            weight("b", 7, &[2], &bytes(9, &b)),
            node(op, &["a", "b"], &["y"], more),
            output("y"),
        ];
        let model = onnx(&wire::file(&graph.concat(), &[]), &ImportOptions::default());
        held(&model.expect("a model"), "y")
    };
    let fmod = bytes(5, [bytes(1, "fmod"), int(3, 1), int(20, 2)].concat());
    assert_eq!(onnx_says("Div", &[]), [-3, -3]);
    assert_eq!(onnx_says("Mod", &[]), [1, -1]);
    assert_eq!(onnx_says("Mod", &fmod), [-1, 1]);

    let openvino_says = |op: &str, data: &str| {
        let constant = |id: usize| {
            format!(
                "<layer id=\"{id}\" name=\"c{id}\" type=\"Const\" version=\"opset1\"><data element_type=\"i64\" \
                 shape=\"2\" offset=\"{}\" size=\"16\"/><output><port id=\"0\"/></output></layer>",
                16 * id
            )
        };
        let text = format!(
            "<net name=\"n\" version=\"11\"><layers>{}{}<layer id=\"2\" name=\"y\" type=\"{op}\" version=\"opset1\">\
             <data {data}/><input><port id=\"0\"/><port id=\"1\"/></input><output><port id=\"2\"/></output></layer></layers>\
             <edges><edge from-layer=\"0\" from-port=\"0\" to-layer=\"2\" to-port=\"0\"/>\
             <edge from-layer=\"1\" from-port=\"0\" to-layer=\"2\" to-port=\"1\"/></edges></net>",
            constant(0),
            constant(1)
        );
        let weights = [a.clone(), b.clone()].concat();
        let model = restride_import::openvino(&text, Some(&weights), &ImportOptions::default());
        held(&model.expect("a model"), "y")
    };
    assert_eq!(openvino_says("Divide", ""), [-4, -4]);
    assert_eq!(openvino_says("Divide", "m_pythondiv=\"false\""), [-3, -3]);
    assert_eq!(openvino_says("Mod", ""), [-1, 1]);
    assert_eq!(openvino_says("FloorMod", ""), [1, -1]);
}

/// A Scan of version 8 has a batch that its body does not see: nobody guesses what comes out.
#[test]
fn scans_of_the_first_version_are_not_told() {
    // An output with a type is as an input is, but for the number of its field.
    let typed = |name: &str| [&[12 << 3 | 2], &wire::input(name, &[2])[1..]].concat();
    let inside = [
        wire::input("state", &[2]),
        wire::input("part", &[2]),
        node("Add", &["state", "part"], &["next"], &[]),
        node("Identity", &["next"], &["each"], &[]),
        typed("next"),
        typed("each"),
    ];
    let count = [bytes(1, "num_scan_inputs"), int(3, 1), int(20, 2)].concat();
    let more = [wire::body("body", &inside.concat()), bytes(5, count)].concat();
    let types = |version: i64, inputs: &[&str]| {
        let graph = [
            wire::input("s", &[2]),
            wire::input("x", &[2, 2]),
            node("Scan", inputs, &["last", "all"], &more),
            output("last"),
            output("all"),
        ];
        let file = [bytes(8, int(2, version)), bytes(7, graph.concat())].concat();
        let model = onnx(&file, &ImportOptions::default()).expect("a model");
        let types = model.outputs.iter().map(|&id| model.tensor(id).ty.clone());
        types
            .map(|ty| ty.map(|ty| ty.to_string()).ok())
            .collect::<Vec<_>>()
    };
    assert_eq!(types(8, &["", "s", "x"]), [None, None]);
    let known = ["f32[2]", "f32[2, 2]"].map(|ty| Some(ty.to_owned()));
    assert_eq!(types(9, &["s", "x"]), known);
}
