//! Models as files.

use std::path::{Path, PathBuf};

use crate::error::ImportError;
use crate::group::{GroupProgram, NodeGroup};
use crate::model::Model;
use crate::options::ImportOptions;
use crate::rewrite::Rewritten;
use crate::{onnx, openvino};

/// The largest file that is read.
const MAX_BYTES: u64 = 4 << 30;

/// Reads a model from a file: ONNX, or an OpenVINO IR (`.xml`, with its `.bin` beside it).
///
/// ```no_run
/// use restride_import::{ImportOptions, open};
///
/// let mut options = ImportOptions::default();
/// options.shape("images", [1, 3, 640, 640]);
/// let model = open("yolo.onnx".as_ref(), &options)?;
/// println!("{} groups of nodes move data", model.groups().len());
/// # Ok::<(), restride_import::ImportError>(())
/// ```
pub fn open(path: &Path, options: &ImportOptions) -> Result<Model, ImportError> {
    ModelSource::open(path)?.model(options)
}

/// What a model's files hold, to be read at one size or another.
#[derive(Clone, Debug)]
pub struct ModelSource {
    bytes: Vec<u8>,
    /// What lies beside an IR; nothing for ONNX.
    weights: Option<Vec<u8>>,
    is_ir: bool,
    /// Where it lies, if it is a file.
    folder: Option<PathBuf>,
}

impl ModelSource {
    /// A file, and the `.bin` beside it if it is an IR.
    pub fn open(path: &Path) -> Result<ModelSource, ImportError> {
        let bytes = read(path)?;
        let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").is_some();
        let is_ir = text || start.is_some_and(|at| bytes[at] == b'<');
        let beside = path.with_extension("bin");
        let weights = match is_ir && beside.exists() {
            true => Some(read(&beside)?),
            false => None,
        };
        Ok(ModelSource {
            bytes,
            weights,
            is_ir,
            folder: Some(path.parent().unwrap_or(Path::new("")).to_owned()),
        })
    }

    /// The bytes of an ONNX file.
    #[must_use]
    pub fn onnx(bytes: impl Into<Vec<u8>>) -> ModelSource {
        ModelSource {
            bytes: bytes.into(),
            weights: None,
            is_ir: false,
            folder: None,
        }
    }

    /// The text of an IR, and its weights.
    #[must_use]
    pub fn openvino(text: impl Into<String>, weights: Option<Vec<u8>>) -> ModelSource {
        ModelSource {
            bytes: text.into().into_bytes(),
            weights,
            is_ir: true,
            folder: None,
        }
    }

    /// Whether it is an OpenVINO IR.
    #[must_use]
    pub fn is_ir(&self) -> bool {
        self.is_ir
    }

    /// The file with groups of its model replaced by nodes that have their programs; of an IR its
    /// text, which goes with the same weights. A group that is inside of a function stays.
    ///
    /// ```
    /// use restride_import::{ImportOptions, ModelSource};
    ///
    /// # let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    /// let source = ModelSource::open(&folder.join("patches.onnx"))?;
    /// let model = source.model(&ImportOptions::default())?;
    /// let group = &model.groups()[0];
    /// let fused = source.rewrite(&model, &[(group, &model.program(group)?)])?;
    /// let again = ModelSource::onnx(fused.bytes).model(&ImportOptions::default())?;
    /// assert!(again.nodes[0].is_program());
    /// # Ok::<(), restride_import::ImportError>(())
    /// ```
    pub fn rewrite(
        &self,
        model: &Model,
        groups: &[(&NodeGroup, &GroupProgram)],
    ) -> Result<Rewritten, ImportError> {
        match self.is_ir {
            true => openvino::rewrite(self.text()?, model, groups),
            false => onnx::rewrite(&self.bytes, model, groups),
        }
    }

    /// The text of an IR.
    fn text(&self) -> Result<&str, ImportError> {
        std::str::from_utf8(&self.bytes)
            .map_err(|error| ImportError::new(format!("byte {} is no UTF-8", error.valid_up_to())))
    }

    /// The model at certain sizes of its inputs.
    pub fn model(&self, options: &ImportOptions) -> Result<Model, ImportError> {
        let mut options = options.clone();
        if options.folder.is_none() {
            options.folder.clone_from(&self.folder);
        }
        if !self.is_ir {
            return onnx::import(&self.bytes, &options);
        }
        openvino::import(self.text()?, self.weights.as_deref(), &options)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ImportError> {
    let wrong = |error: std::io::Error| ImportError::new(error.to_string());
    let length = std::fs::metadata(path).map_err(wrong)?.len();
    if length > MAX_BYTES {
        return Err(ImportError::new(format!(
            "{length} bytes are more than {MAX_BYTES}"
        )));
    }
    std::fs::read(path).map_err(wrong)
}
