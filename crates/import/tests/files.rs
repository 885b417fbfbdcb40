//! Small models: what each node is, and every group as a program. `make.py` makes the ONNX ones.
//!
//! `BLESS=1` writes the expectations anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use restride_import::{ImportOptions, Model, ModelSource, Role, Sizes, TensorId, open};

/// Everything that is known of a model, as text.
fn described(model: &Model) -> String {
    let mut out = format!("{}\n", model.format);
    let tensor = |id: TensorId| {
        let tensor = model.tensor(id);
        let ty = tensor
            .ty
            .as_ref()
            .map_or_else(|why| format!("? ({why})"), ToString::to_string);
        let fixed = if tensor.fixed { ", fixed" } else { "" };
        let value = tensor.value.as_ref().map(|_| ", known").unwrap_or_default();
        format!("{}: {ty}{fixed}{value}", tensor.name)
    };
    for &id in &model.inputs {
        let _ = writeln!(out, "input {}", tensor(id));
    }
    for open in &model.open {
        let _ = writeln!(out, "open {:?} is {}", open.symbol, open.size);
    }
    for (_, node) in model.numbered() {
        let scope = &model.scopes[node.scope].path;
        let at = if scope.is_empty() {
            String::new()
        } else {
            format!(" in {scope}")
        };
        let role = match &node.role {
            Role::Fixed => "fixed".to_owned(),
            Role::Unused => "unused".to_owned(),
            Role::Movement(_) => "movement".to_owned(),
            Role::Hidden(why) => format!("hidden by {why}"),
            Role::Compute => "compute".to_owned(),
        };
        let _ = writeln!(out, "node {}{at}: {role}", node.label());
        for &id in node.outputs.iter().flatten() {
            let _ = writeln!(out, "  {}", tensor(id));
        }
    }
    for &id in &model.outputs {
        let _ = writeln!(out, "output {}", tensor(id));
    }
    for group in model.groups() {
        match model.program(&group) {
            Ok(program) => {
                let _ = write!(out, "\n{}", program.graph);
            }
            Err(error) => {
                let _ = writeln!(out, "\nerror: {error}");
            }
        }
    }
    out
}

/// What each group is at other sizes of what the file leaves open, where something is.
fn sizes(file: &Path, model: &Model) -> String {
    let source = ModelSource::open(file).expect("a file");
    let mut sizes = Sizes::of(source, &ImportOptions::default(), model);
    let mut out = String::new();
    for open in sizes.dimensions() {
        let _ = writeln!(
            out,
            "\n{} is {}, tried as {:?}",
            open.name, open.size, open.tried
        );
    }
    if sizes.dimensions().is_empty() {
        return out;
    }
    for group in model.groups() {
        let program = model.program(&group).expect("a program");
        let reach = sizes.reach(model, &group, &program);
        let _ = writeln!(out, "\ntemplate @{}", program.graph.name());
        for bound in &reach.bound {
            let name = &sizes.dimensions()[bound.dimension].name;
            let _ = writeln!(out, "but for {name}: {}", bound.why);
        }
        if reach.graph.to_string() != program.graph.to_string() {
            let _ = write!(out, "{}", reach.graph);
        }
    }
    out
}

#[test]
fn models_are_what_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let entries = std::fs::read_dir(&folder).expect("the folder of models");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "onnx" || e == "xml"));
    files.sort();
    assert!(files.len() >= 7, "{files:?}");
    let mut wrong = Vec::new();
    for file in files {
        let found = match open(&file, &ImportOptions::default()) {
            Ok(model) => described(&model) + &sizes(&file, &model),
            Err(error) => format!("error: {error}\n"),
        };
        let expected = file.with_extension("txt");
        if std::fs::read_to_string(&expected).ok().as_ref() == Some(&found) {
            continue;
        }
        match std::env::var_os("BLESS") {
            Some(_) => std::fs::write(&expected, &found).expect("written"),
            None => wrong.push(format!("--- {}\n{found}", file.display())),
        }
    }
    assert!(
        wrong.is_empty(),
        "BLESS=1 accepts these:\n{}",
        wrong.join("\n")
    );
}

fn model(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/files")
        .join(name)
}

#[test]
fn what_is_said_counts() {
    let mut options = ImportOptions::default();
    options.shape("x", [2, 3, 32, 32]);
    let read = open(&model("detector.onnx"), &options).expect("a model");
    assert!(read.open.iter().all(|open| open.given), "{:?}", read.open);
    let shape = |name: &str| {
        let tensor = read.tensors.iter().find(|tensor| tensor.name == name);
        tensor
            .expect(name)
            .ty
            .as_ref()
            .expect(name)
            .shape()
            .to_vec()
    };
    assert_eq!(shape("y"), [2, 4, 16, 16]);
    assert_eq!(shape("k_turned"), [2, 4, 4, 65]);

    // A branch that is decided by a number takes part in the graph around it.
    let mut options = ImportOptions::default();
    options.numbers("choice", [0]);
    let read = open(&model("branches.onnx"), &options).expect("a model");
    let paths: Vec<&str> = read
        .scopes
        .iter()
        .map(|scope| scope.path.as_str())
        .collect();
    assert_eq!(
        paths,
        ["", "Loop_looped.body", "Scan_sums.body", "Loop_grown.body"]
    );
    // What nobody can tell can be said.
    let mut options = ImportOptions::default();
    options.shape("strange", [6, 2]);
    options.shape("told", [7, 5]);
    let read = open(&model("hidden.onnx"), &options).expect("a model");
    for (name, shape) in [
        ("strange", "f32[6, 2]"),
        ("long", "f32[12]"),
        ("known", "f32[5, 7]"),
    ] {
        let tensor = read
            .tensors
            .iter()
            .find(|tensor| tensor.name == name)
            .expect(name);
        assert_eq!(
            tensor.ty.as_ref().map(ToString::to_string),
            Ok(shape.to_owned())
        );
    }
}

#[test]
fn what_cannot_be_is_refused_where_it_stands() {
    let refused = |file: &str, say: fn(&mut ImportOptions)| {
        let mut options = ImportOptions::default();
        say(&mut options);
        open(&model(file), &options)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let nobody = refused("patches.onnx", |options| {
        options.shape("z", [1]);
    });
    assert_eq!(nobody, "the model has no tensor `z`");
    let rank = refused("patches.onnx", |options| {
        options.shape("x", [1]);
    });
    assert_eq!(
        rank,
        "graph.input[0] (x): it has rank 4, a shape of rank 1 is given"
    );
    let numbers = refused("branches.onnx", |options| {
        options.numbers("choice", [1, 2]);
    });
    assert_eq!(numbers, "graph.input[1] (choice): 2 numbers for bool[]");
    let size = refused("detector.onnx", |options| {
        options.size("bach", 8);
    });
    assert_eq!(size, "the model has no open size `bach`");
    let whole = open(&model("detector.onnx"), &ImportOptions::default()).expect("a model");
    let error = whole.whole().unwrap_err().to_string();
    assert!(
        error.starts_with("Conv \"Conv_features\" does more than move data"),
        "{error}"
    );
}
