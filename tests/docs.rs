//! The pages of `docs/` are true: every example in them is run, every listing is what is printed.
//!
//! A fence marked `graph` is a graph. It must print and parse back, and its outputs must be those
//! of the oracle on native code and on the generic executor. A line `// i = [3, -1]` in it gives
//! the values of input `%i`; every other input counts up from 0. Fences after it, up to the next
//! graph, show what becomes of it:
//!
//! - `data`: the outputs, or why the run is refused,
//! - `canonical`, `plan`, `kernel`: the stages as they print,
//! - `error`: why it is no graph at all.
//!
//! Other marks (`text`, `sh`, ...) are prose; `rust` is tested by rustdoc. `BLESS=1` writes what
//! the fences should hold.

use std::fmt::Write as _;
use std::path::Path;

use restride::{
    Code, Config, ElementType, Engine, Graph, Options, Output, RunError, Stages, TensorMut,
    TensorRef, TensorType, ViewPolicy,
};
use restride_graph::oracle::{self, OracleError, Tensor};
use restride_text::Source;

/// The bits of `value` as an element.
fn bits(element: ElementType, value: i128) -> u128 {
    match element.name() {
        "f32" => u128::from((value as f32).to_bits()),
        "f64" => u128::from((value as f64).to_bits()),
        _ => value as u128,
    }
}

/// An element as numpy would show it; what is neither an integer nor a common float, as bits.
fn shown(element: ElementType, bits: u128) -> String {
    let unused = 128 - 8 * element.width() as u32;
    match element.name() {
        "f32" => f32::from_bits(bits as u32).to_string(),
        "f64" => f64::from_bits(bits as u64).to_string(),
        _ if element.is_signed_integer() => (((bits << unused) as i128) >> unused).to_string(),
        _ if element.is_integer() => bits.to_string(),
        _ => format!("{bits:#x}"),
    }
}

/// A tensor as a nested list.
fn list(tensor: &Tensor, index: &mut Vec<i64>) -> String {
    let Some(&size) = tensor.shape().get(index.len()) else {
        return shown(tensor.element(), tensor.bits(index));
    };
    let mut items = Vec::new();
    for i in 0..size {
        index.push(i);
        items.push(list(tensor, index));
        index.pop();
    }
    format!("[{}]", items.join(", "))
}

/// The values that a comment of the text gives an input.
fn given(text: &str, name: &str) -> Option<Vec<i128>> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("// {name} = [")))?;
    let numbers = line.trim_end().trim_end_matches(']').split(',');
    Some(
        numbers
            .map(|n| n.trim().parse().expect("an integer"))
            .collect(),
    )
}

/// The buffer of an input.
fn buffer(text: &str, ty: &TensorType, name: &str) -> Vec<u8> {
    let count = ty.required_elements();
    let values = given(text, name).unwrap_or_else(|| (0..count as i128).collect());
    assert_eq!(
        values.len(),
        count,
        "the comment on {name} has another number of values"
    );
    let width = ty.element().width();
    let element = |value| bits(ty.element(), value).to_le_bytes()[..width].to_vec();
    values.into_iter().flat_map(element).collect()
}

/// The outputs of a compiled program, or the refusal.
fn run(graph: &Graph, code: Code, buffers: &[Vec<u8>]) -> Result<Vec<Tensor>, RunError> {
    let config = Config {
        code,
        views: ViewPolicy::Copy,
        ..Config::default()
    };
    let program = Engine::new(config).compile(graph).expect("it compiles");
    let types: Vec<TensorType> = program
        .outputs()
        .iter()
        .map(|output| match output {
            Output::Computed { ty, .. } => ty.clone(),
            Output::View { .. } => panic!("a view although copies were asked for"),
        })
        .collect();
    let mut outputs: Vec<Vec<u8>> = types
        .iter()
        .map(|ty| vec![0xa5; ty.required_elements() * ty.element().width()])
        .collect();
    let inputs: Vec<TensorRef<'_>> = buffers.iter().map(|b| TensorRef::from_bytes(b)).collect();
    let mut places: Vec<TensorMut<'_>> = outputs
        .iter_mut()
        .map(|b| TensorMut::from_bytes(b))
        .collect();
    program.run(&inputs, &mut places)?;
    let read = |(ty, buffer): (&TensorType, &Vec<u8>)| Tensor::read(ty, buffer).expect("a tensor");
    Ok(types.iter().zip(&outputs).map(read).collect())
}

/// Runs a graph on every way there is, and says what comes out.
fn data(text: &str, graph: &Graph) -> String {
    let inputs: Vec<(TensorType, Vec<u8>)> = graph
        .inputs()
        .iter()
        .map(|&value| {
            let ty = graph.ty(value).clone();
            let buffer = buffer(text, &ty, graph.value_name(value).unwrap_or_default());
            (ty, buffer)
        })
        .collect();
    let tensors: Vec<Tensor> = inputs
        .iter()
        .map(|(ty, buffer)| Tensor::read(ty, buffer).expect("a tensor"))
        .collect();
    let buffers: Vec<Vec<u8>> = inputs.into_iter().map(|(_, buffer)| buffer).collect();
    let expected = oracle::eval(graph, &tensors);
    let mut out = String::new();
    for code in [Code::Native, Code::Generic] {
        match (&expected, run(graph, code, &buffers)) {
            (Ok(expected), Ok(got)) => assert_eq!(*expected, got, "{code:?} of\n{text}"),
            (Err(OracleError::Op { .. }), Err(error @ RunError::Index { .. })) => {
                out = format!("error: {error}\n");
            }
            (expected, got) => panic!("{expected:?} and {code:?} {got:?} of\n{text}"),
        }
    }
    if let Ok(tensors) = expected {
        for (output, tensor) in graph.outputs().iter().zip(&tensors) {
            let label = graph.label(output.value);
            let _ = writeln!(out, "{label} = {}", list(tensor, &mut Vec::new()));
        }
    }
    out
}

/// What follows from a graph: mark and content of the fences that may come after it.
fn consequences(text: &str) -> Vec<(&'static str, String)> {
    let graph = match Graph::parse(text) {
        Ok(graph) => graph,
        Err(diagnostics) => {
            let message = diagnostics.render(&Source::new("example.mv", text));
            return vec![("error", format!("{}\n", message.trim_end()))];
        }
    };
    let printed = graph.to_string();
    assert_eq!(
        Graph::parse(&printed).map(|g| g.to_string()).ok(),
        Some(printed),
        "what is printed of\n{text}"
    );
    let options = Options::default();
    let stages = Stages::of(&graph, &options).expect("it compiles");
    let canonical = stages.canonical.to_string();
    let again = restride_canon::text::parse(&canonical).map(|c| c.to_string());
    assert_eq!(again.ok().as_ref(), Some(&canonical));
    let kernel = stages.kernel.to_string();
    let again: Result<restride_loops::Kernel, _> = kernel.parse();
    assert_eq!(again.ok().as_ref(), Some(&*stages.kernel));
    vec![
        ("data", data(text, &graph)),
        ("canonical", canonical),
        ("plan", stages.plan.to_string()),
        ("kernel", kernel),
    ]
}

/// Runs a page; gives it back as it should be, and the number of graphs in it.
fn checked(page: &str) -> (String, usize) {
    const DERIVED: [&str; 5] = ["data", "canonical", "plan", "kernel", "error"];
    let (mut right, mut graphs) = (String::new(), 0);
    let mut known: Vec<(&str, String)> = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        right.push_str(line);
        right.push('\n');
        let Some(mark) = line.strip_prefix("```") else {
            continue;
        };
        let content: String = lines
            .by_ref()
            .take_while(|line| *line != "```")
            .flat_map(|line| [line, "\n"])
            .collect();
        if mark == "graph" {
            graphs += 1;
            known = consequences(&content);
        }
        if DERIVED.contains(&mark) {
            let found = known.iter().find(|(name, _)| *name == mark);
            let (_, text) = found.unwrap_or_else(|| panic!("`{mark}` after\n{right}"));
            right.push_str(text.trim_end());
            right.push('\n');
        } else {
            right.push_str(&content);
        }
        right.push_str("```\n");
    }
    (right, graphs)
}

#[test]
fn pages_are_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    let folder = std::fs::read_dir(root.join("docs")).expect("the folder of pages");
    pages.extend(folder.map(|entry| entry.expect("an entry").path()));
    let (mut graphs, mut wrong) = (0, Vec::new());
    for path in pages {
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let page = std::fs::read_to_string(&path).expect("a page");
        let (right, count) = checked(&page);
        graphs += count;
        if right != page {
            if std::env::var_os("BLESS").is_some() {
                std::fs::write(&path, right).expect("a page that can be written");
            } else {
                wrong.push(path.display().to_string());
            }
        }
    }
    println!("{graphs} graphs");
    assert!(graphs > 0);
    assert!(
        wrong.is_empty(),
        "not as printed (BLESS=1 writes them): {wrong:?}"
    );
}
