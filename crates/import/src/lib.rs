//! Models of other frameworks, with their data movement as graphs.
//!
//! [`open`] reads ONNX files and OpenVINO IRs. The [`Model`] that comes out of it has every node of
//! the file; each has a [`Role`]. What follows from weights and sizes alone, such as the arithmetic on
//! shapes that exporters write, is worked out and gone. What moves data and can be told ahead is
//! gathered into groups ([`Model::groups`]), each of which is a graph that compiles
//! ([`Model::program`]). Everything else is a name with inputs and outputs.
//!
//! ```
//! use restride_import::{ImportOptions, Role, open};
//!
//! # let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
//! let mut options = ImportOptions::default();
//! options.shape("x", [8, 3, 32, 32]);
//! let model = open(&folder.join("detector.onnx"), &options)?;
//! assert_eq!(model.count(|role| *role == Role::Compute), 6);
//!
//! let groups = model.groups();
//! let focus = model.program(&groups[0])?;
//! assert_eq!(focus.graph.inputs().len(), 1);
//! let output = &focus.graph.outputs()[0];
//! assert_eq!(focus.graph.output_type(output).to_string(), "f32[8, 12, 16, 16]");
//! # Ok::<(), restride_import::ImportError>(())
//! ```
//!
//! Types come from the shapes of the inputs by rules for the compute operators that real models
//! use, and where there is no rule from the types that the file records. What stays unknown says
//! which node hides it ([`Unknown`]), and loses only its own group.
//!
//! [`Sizes`] reads a model at other sizes of what its file leaves open, and makes of a group one
//! graph for all of them where it can.
//!
//! A file may be hostile: it costs an error that says where it is wrong ([`ImportError`]), and an
//! amount of work and memory that is bounded by its size.
#![forbid(unsafe_code)]

mod builder;
mod error;
mod file;
mod fold;
mod group;
mod model;
pub mod number;
mod onnx;
mod openvino;
mod options;
mod rewrite;
mod rules;
mod sizes;
pub mod spell;
mod template;

pub use error::ImportError;
pub use file::{ModelSource, open};
pub use group::{GroupProgram, NodeGroup};
pub use model::{Model, ModelNode, NodeId, OpenSize, Role, Scope, Tensor, TensorId, Unknown};
pub use onnx::{import as onnx, read_tensor as onnx_tensor};
pub use openvino::import as openvino;
pub use options::ImportOptions;
pub use rewrite::Rewritten;
pub use sizes::{Bound, Dimension, Reach, Sizes};
