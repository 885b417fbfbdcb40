//! `depth_to_space`, `space_to_depth` and `shuffle_channels`:
//! `x = collapse (permute (expand x))`.

use crate::engine::{Engine, Result, Value};
use restride_graph::resolve;

pub(super) fn desugar(
    engine: &mut Engine<'_>,
    x: &Value,
    blocks: &resolve::BlockAxes,
) -> Result<Value> {
    let cut = engine.reshape(x, &blocks.split)?;
    let permuted = engine.permute(&cut, &blocks.perm)?;
    engine.reshape(&permuted, &blocks.shape)
}
