//! What the caller of an importer may say.

use std::collections::BTreeMap;
use std::path::PathBuf;

use restride_graph::Constant;

use crate::error::ImportError;
use crate::model::OpenSize;
use crate::spell::blocks;

/// Sizes that the file leaves open, values of inputs, and where to look for further files.
///
/// ```
/// use restride_import::ImportOptions;
///
/// let mut options = ImportOptions::default();
/// options.shape("x", [1, 3, 640, 640]);
/// options.size("sequence", 77);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    pub(crate) shapes: BTreeMap<String, Vec<i64>>,
    pub(crate) sizes: BTreeMap<String, i64>,
    pub(crate) values: BTreeMap<String, Constant>,
    pub(crate) numbers: BTreeMap<String, Vec<i64>>,
    pub(crate) folder: Option<PathBuf>,
    block: Option<i64>,
    pub(crate) products_turn: bool,
    /// Open sizes that are other ones for once, by their keys.
    pub(crate) varied: BTreeMap<OpenKey, i64>,
}

/// What tells open sizes apart: the name or, for those without one, axis and size.
pub(crate) type OpenKey = (String, usize, i64);

/// The key of an open size.
pub(crate) fn open_key(symbol: &str, axis: usize, size: i64) -> OpenKey {
    match symbol {
        "" => (String::new(), axis, size),
        symbol => (symbol.to_owned(), 0, 0),
    }
}

impl ImportOptions {
    /// The shape of an input, or of any tensor whose shape nobody can tell.
    pub fn shape(&mut self, tensor: impl Into<String>, shape: impl Into<Vec<i64>>) -> &mut Self {
        self.shapes.insert(tensor.into(), shape.into());
        self
    }

    /// A size that the file calls by a name, such as `batch`.
    pub fn size(&mut self, name: impl Into<String>, size: i64) -> &mut Self {
        self.sizes.insert(name.into(), size);
        self
    }

    /// What an input holds, where a parameter is an input.
    pub fn value(&mut self, input: impl Into<String>, value: Constant) -> &mut Self {
        self.values.insert(input.into(), value);
        self
    }

    /// The same as whole numbers, for an input of whatever element.
    pub fn numbers(&mut self, input: impl Into<String>, numbers: impl Into<Vec<i64>>) -> &mut Self {
        self.numbers.insert(input.into(), numbers.into());
        self
    }

    /// Where files lie that the model names. Without it their contents are not looked at.
    pub fn folder(&mut self, folder: impl Into<PathBuf>) -> &mut Self {
        self.folder = Some(folder.into());
        self
    }

    /// How many channels a block has, in a file that ONNX Runtime has optimised for another machine than
    /// this one.
    pub fn channel_block(&mut self, channels: i64) -> &mut Self {
        self.block = Some(channels);
        self
    }

    /// Leaves a Transpose of the last two axes to the matrix products that are all who read it: to a runtime
    /// that makes it a part of them it is no movement.
    pub fn products_turn(&mut self) -> &mut Self {
        self.products_turn = true;
        self
    }

    pub(crate) fn block(&self) -> i64 {
        self.block.unwrap_or_else(blocks::of_this_machine)
    }

    /// The size that an open axis of an input is taken to have, and whether somebody said so.
    pub(crate) fn open(&self, symbol: &str, axis: usize, rank: usize) -> (i64, bool) {
        if let Some(&size) = self.sizes.get(symbol) {
            return (size, true);
        }
        let lower = symbol.to_ascii_lowercase();
        let batch = lower.contains("batch") || lower == "n" || (axis == 0 && rank > 1);
        (if batch { 1 } else { 128 }, false)
    }

    /// The size that an open axis has instead, if the model is read at other sizes.
    pub(crate) fn varied(&self, symbol: &str, axis: usize, size: i64) -> i64 {
        match self.varied.is_empty() {
            true => size,
            false => *self
                .varied
                .get(&open_key(symbol, axis, size))
                .unwrap_or(&size),
        }
    }

    /// Names that were given but are nobody's: neither a tensor's nor a size's.
    pub(crate) fn check(
        &self,
        known: impl Fn(&str) -> bool,
        open: &[OpenSize],
    ) -> Result<(), ImportError> {
        let names = self
            .shapes
            .keys()
            .chain(self.values.keys())
            .chain(self.numbers.keys());
        let wrong = |what: &str, name: &str| {
            let name = crate::error::shown(name);
            Err(ImportError::new(format!(
                "the model has no {what} `{name}`"
            )))
        };
        if let Some(name) = names.into_iter().find(|name| !known(name)) {
            return wrong("tensor", name);
        }
        let is_open = |name: &String| open.iter().any(|open| open.symbol == *name);
        match self.sizes.keys().find(|name| !is_open(name)) {
            None => Ok(()),
            Some(name) => wrong("open size", name),
        }
    }
}
