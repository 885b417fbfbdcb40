//! Tensors of any layout written densely: what frameworks call contiguous.

use crate::{
    CompileError, ElementType, Engine, InputShape, RunError, Template, TensorMut, TensorRef,
};
use restride_graph::{Graph, MAX_RANK, ViewPolicy};
use std::sync::OnceLock;
use thiserror::Error;

/// Why a tensor was not written densely.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum DenseError {
    /// No program does it: it has more than 32 axes, or a layout that nothing could address.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The buffers do not fit.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// The identity on tensors of a rank, dense; its strides are those of the input that it is given.
fn identity(element: ElementType, rank: usize) -> Result<&'static Template, CompileError> {
    const ELEMENTS: usize = ElementType::ALL.len();
    static KNOWN: [[OnceLock<Template>; MAX_RANK + 1]; ELEMENTS] =
        [const { [const { OnceLock::new() }; MAX_RANK + 1] }; ELEMENTS];
    let at = ElementType::ALL.iter().position(|each| *each == element);
    let place = at.and_then(|at| KNOWN[at].get(rank));
    if let Some(known) = place.and_then(OnceLock::get) {
        return Ok(known);
    }
    let mut graph = Graph::new("dense");
    let x = graph.input("x", element, vec![1; rank])?;
    graph.output_as(x, ViewPolicy::Copy)?;
    // Any rank that a graph has is among them.
    let place = place.ok_or_else(|| CompileError::Panicked("no such rank".to_owned()))?;
    Ok(place.get_or_init(|| Template::new(graph)))
}

impl Engine {
    /// Writes a tensor that has any layout as a dense one, row by row. Every layout has its own
    /// program, which is planned when the layout is first seen and found in the cache after that.
    ///
    /// ```
    /// use restride::{ElementType, Engine, InputShape, TensorMut, TensorRef};
    ///
    /// // Two rows of three in a buffer, read as three rows of two.
    /// let x = [0u16, 1, 2, 3, 4, 5];
    /// let turned = InputShape::of(&[3usize, 2][..]).with_strides(0, &[1usize, 3][..]);
    /// let mut y = [0u16; 6];
    /// Engine::default().write_dense(
    ///     ElementType::U16,
    ///     turned,
    ///     TensorRef::new(&x),
    ///     TensorMut::new(&mut y),
    /// )?;
    /// assert_eq!(y, [0, 3, 1, 4, 2, 5]);
    /// # Ok::<(), restride::DenseError>(())
    /// ```
    pub fn write_dense(
        &self,
        element: ElementType,
        shape: InputShape<'_>,
        from: TensorRef<'_>,
        to: TensorMut<'_>,
    ) -> Result<(), DenseError> {
        let program = self.specialise(identity(element, shape.rank())?, &[shape])?;
        Ok(program.run(&[from], &mut [to])?)
    }
}
