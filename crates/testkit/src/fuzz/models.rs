//! Hostile models: ONNX files and OpenVINO IRs.

use restride_graph::Graph;
use restride_import::{ImportError, Model, Options, onnx, openvino};

use super::SMALL;
use super::texts::runs;

/// The most groups of a model that are run.
const GROUPS: usize = 4;

/// An ONNX file.
pub fn onnx_file(data: &[u8]) {
    holds(onnx(data, &Options::default()));
}

/// The XML of an OpenVINO IR, and after a byte of 0 its weights.
pub fn openvino_file(data: &[u8]) {
    let mut parts = data.splitn(2, |&byte| byte == 0);
    let text = parts.next().and_then(|text| std::str::from_utf8(text).ok());
    if let Some(text) = text {
        holds(openvino(text, parts.next(), &Options::default()));
    }
}

/// What was read is refused in a line, or its groups are programs that print, read back and run.
fn holds(read: Result<Model, ImportError>) {
    let model = match read {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            return;
        }
    };
    for group in model.groups().iter().take(GROUPS) {
        let program = model.program(group);
        let graph = program.unwrap_or_else(|error| panic!("{error}")).graph;
        let bytes = graph.values().map(|value| graph.ty(value).byte_size());
        if bytes.fold(0, usize::saturating_add) > 16 * SMALL {
            continue;
        }
        let printed = graph.to_string();
        assert!(
            Graph::parse(&printed).is_ok_and(|again| again == graph),
            "{printed}"
        );
        runs(graph);
    }
}
