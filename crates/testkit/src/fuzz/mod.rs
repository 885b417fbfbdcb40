//! Bodies of the fuzz targets that need no code generator: bytes in, a panic if something is wrong.
//!
//! Each runs under libFuzzer (`fuzz/` at the top of the repository) and, from the committed seeds,
//! as a bounded loop in `cargo test`. A body must hold for any bytes at all: hostile texts are
//! read as they are, structured subjects are drawn from the bytes ([`Bytes`]), valid by
//! construction or nearly so. Work is bounded by sizes before anything is set aside.
//!
//! | body | bytes are | what must hold |
//! |---|---|---|
//! | [`graph_text`] | a text | prints and reads back; every rung agrees with the oracle if it is small |
//! | [`canonical_text`] | a text | the same; the plan is sound and means the same |
//! | [`loops_text`] | a text | prints and reads back; what is verified runs without a fault, in any order |
//! | [`golden_lines`] | cases | answered, whatever they say |
//! | [`workload_file`] | a file | answered; what can be spelled as a graph compiles |
//! | [`onnx_file`], [`openvino_file`] | a model | refused in a line, or its groups print, read back and run alike on all rungs |
//! | [`ladder`] | draws | all rungs agree on a random graph |
//! | [`layouts`] | draws | views of layouts are views of their address tables |
//! | [`kernels`] | draws | a changed kernel is refused, or runs without a fault |

mod bytes;
mod files;
mod kernels;
mod layouts;
mod models;
mod texts;

pub use bytes::Bytes;
pub use files::{golden_lines, workload_file};
pub use kernels::{kernels, loops_text};
pub use layouts::layouts;
pub use models::{onnx_file, openvino_file};
pub use texts::{canonical_text, graph_text};

use restride_graph::Graph;

use crate::generate::{Case, Kind, case};
use crate::ladder::{check, write};
use crate::rungs::{Rung, rungs};

/// The most bytes that any value of a subject may have to be run.
const SMALL: usize = 1 << 12;

/// A body: its name, which is that of its folder of seeds, and its body.
pub type FuzzBody = (&'static str, fn(&[u8]));

/// All bodies of this crate.
pub const BODIES: [FuzzBody; 10] = [
    ("graph_text", graph_text),
    ("canonical_text", canonical_text),
    ("loops_text", loops_text),
    ("golden_lines", golden_lines),
    ("workload_file", workload_file),
    ("onnx_file", onnx_file),
    ("openvino_file", openvino_file),
    ("ladder", ladder),
    ("layouts", layouts),
    ("kernels", kernels),
];

/// Random graphs on all rungs of this crate.
pub fn ladder(data: &[u8]) {
    agree(&drawn(data), &rungs());
}

/// The case that bytes stand for.
#[must_use]
pub fn drawn(data: &[u8]) -> Case {
    let mut bytes = Bytes::new(data);
    let kind = Kind::ALL[bytes.below(Kind::ALL.len())];
    let most = 1 + bytes.below(12);
    case(bytes.word(), bytes.word() & 0xffff, kind, most)
}

/// Panics with a case as its file if these rungs do not agree on it.
pub fn agree(case: &Case, rungs: &[&dyn Rung]) {
    if let Err(found) = check(case, rungs) {
        panic!(
            "\n{}",
            write(case, &format!("{}: {}", found.rung, found.message))
        );
    }
}

/// Whether every value of a graph is small.
#[must_use]
pub fn is_small(graph: &Graph) -> bool {
    let values = graph.values().all(|v| graph.ty(v).byte_size() <= SMALL);
    let reach = |ty: restride_graph::TensorType| ty.required_elements() <= SMALL;
    values
        && graph.inputs().iter().all(|&v| reach(graph.ty(v).clone()))
        && graph.outputs().iter().all(|o| reach(graph.output_type(o)))
}
