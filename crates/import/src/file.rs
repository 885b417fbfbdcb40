//! Models as files.

use std::path::Path;

use crate::error::ImportError;
use crate::model::Model;
use crate::options::Options;
use crate::{onnx, openvino};

/// The largest file that is read.
const MAX_BYTES: u64 = 4 << 30;

/// Reads a model from a file: ONNX, or an OpenVINO IR (`.xml`, with its `.bin` beside it).
///
/// ```no_run
/// use restride_import::{Options, open};
///
/// let mut options = Options::default();
/// options.shape("images", [1, 3, 640, 640]);
/// let model = open("yolo.onnx".as_ref(), &options)?;
/// println!("{} groups of nodes move data", model.groups().len());
/// # Ok::<(), restride_import::ImportError>(())
/// ```
pub fn open(path: &Path, options: &Options) -> Result<Model, ImportError> {
    let bytes = read(path)?;
    let mut options = options.clone();
    if options.folder.is_none() {
        options.folder = Some(path.parent().unwrap_or(Path::new("")).to_owned());
    }
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").is_some();
    if text || start.is_some_and(|at| bytes[at] == b'<') {
        let weights = path.with_extension("bin");
        let weights = match weights.exists() {
            true => Some(read(&weights)?),
            false => None,
        };
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            ImportError::new(format!("byte {} is no UTF-8", error.valid_up_to()))
        })?;
        return openvino::import(text, weights.as_deref(), &options);
    }
    onnx::import(&bytes, &options)
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
