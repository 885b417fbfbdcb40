//! Hostile models: ONNX files and OpenVINO IRs.

use restride_graph::Graph;
use restride_import::{ImportOptions, ModelSource, Sizes};

use super::SMALL;
use super::texts::runs;

/// The most groups of a model that are run.
const GROUPS: usize = 4;

/// An ONNX file.
pub fn onnx_file(data: &[u8]) {
    holds(ModelSource::onnx(data));
}

/// The XML of an OpenVINO IR, and after a byte of 0 its weights.
pub fn openvino_file(data: &[u8]) {
    let mut parts = data.splitn(2, |&byte| byte == 0);
    let text = parts.next().and_then(|text| std::str::from_utf8(text).ok());
    if let Some(text) = text {
        holds(ModelSource::openvino(
            text,
            parts.next().map(<[u8]>::to_vec),
        ));
    }
}

/// What is read is refused in a line, or its groups are programs that print, read back and run, for
/// all sizes that the file leaves open or for one.
fn holds(source: ModelSource) {
    let options = ImportOptions::default();
    let model = match source.model(&options) {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            return;
        }
    };
    let mut sizes = Sizes::of(source, &options, &model);
    for group in model.groups().iter().take(GROUPS) {
        let program = model.program(group);
        let program = program.unwrap_or_else(|error| panic!("{error}"));
        let graph = sizes.reach(&model, group, &program).graph;
        let shapes = |graph: &Graph| -> Vec<String> {
            let outputs = graph.outputs().iter();
            outputs
                .map(|output| graph.output_type(output).to_string())
                .collect()
        };
        assert_eq!(shapes(&graph), shapes(&program.graph), "{graph}");
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
