//! Methods of [`Graph`] that add operators, in the words of their frameworks.
//!
//! An operator whose attributes are all required is one call; one with optional attributes is a
//! builder that ends in `finish`. Both give the value, or the reason why there is none.

mod gathers;
mod joins;
mod pads;
mod slices;
mod views;

pub use gathers::{GatherBuilder, GatherNdBuilder};
pub use joins::SplitBuilder;
pub use pads::{CenterCropPadBuilder, PadBuilder};
pub use slices::{SliceBuilder, StridedSliceBuilder};
pub use views::{BlocksBuilder, BroadcastBuilder, ReshapeBuilder};

use crate::error::Place;
use crate::{Constant, ElementType, Graph, GraphError, Ints, Op, ValueId};

fn ints(items: impl AsRef<[i64]>) -> Ints {
    Ints::from_slice(items.as_ref())
}

impl Graph {
    /// A dense constant.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{Constant, ElementType, Graph};
    ///
    /// let mut g = Graph::new("table");
    /// let values = Constant::from_integers(ElementType::U8, [2, 2], &[1, 2, 3, 4])?;
    /// let table = g.constant(values)?;
    /// assert_eq!(g.ty(table).to_string(), "u8[2, 2]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn constant(&mut self, constant: Constant) -> Result<ValueId, GraphError> {
        self.push(Op::Constant(constant))
    }

    /// A constant table of `i64` indices.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph, IndexRule};
    ///
    /// let mut g = Graph::new("rows");
    /// let x = g.input("x", ElementType::F32, [8, 4])?;
    /// let rows = g.index_table([3], &[7, 0, -1])?;
    /// let y = g.gather(x, rows, IndexRule::ONNX).finish()?;
    /// assert_eq!(g.ty(y).shape(), [3, 4]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn index_table(
        &mut self,
        shape: impl AsRef<[i64]>,
        values: &[i64],
    ) -> Result<ValueId, GraphError> {
        let values: Vec<i128> = values.iter().copied().map(i128::from).collect();
        let constant = Constant::from_integers(ElementType::I64, shape, &values)
            .map_err(|error| Place::Whole.refuse(error).of("constant"))?;
        self.constant(constant)
    }

    /// The operand itself.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("same");
    /// let x = g.input("x", ElementType::F32, [2])?;
    /// let y = g.identity(x)?;
    /// assert_eq!(g.ty(y), g.ty(x));
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn identity(&mut self, x: ValueId) -> Result<ValueId, GraphError> {
        self.push(Op::Identity { x })
    }
}
