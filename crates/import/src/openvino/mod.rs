//! OpenVINO's intermediate representation.
use crate::{ImportError, Model, Options};
use restride_graph::ElementType;
pub(crate) fn element(word: &str) -> Result<ElementType, String> {
    Err(word.into())
}
/// x
pub(crate) fn import(_: &str, _: Option<&[u8]>, _: &Options) -> Result<Model, ImportError> {
    Err(ImportError::new("not yet"))
}
