//! `concat` and `split`.

use std::sync::Arc;

use crate::{Graph, GraphError, Op, Operands, ValueId, resolve};

impl Graph {
    /// Operands side by side along an axis.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("append");
    /// let past = g.input("past", ElementType::F16, [1, 8, 511, 64])?;
    /// let step = g.input("step", ElementType::F16, [1, 8, 1, 64])?;
    /// let all = g.concat([past, step], 2)?;
    /// assert_eq!(g.ty(all).shape(), [1, 8, 512, 64]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn concat(
        &mut self,
        parts: impl AsRef<[ValueId]>,
        axis: i64,
    ) -> Result<ValueId, GraphError> {
        let parts = Operands::from_slice(parts.as_ref());
        self.push(Op::Concat { parts, axis })
    }

    /// A `split` along an axis, one value a part.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    ///
    /// let mut g = Graph::new("qkv");
    /// let x = g.input("x", ElementType::F32, [2, 10, 96])?;
    /// let thirds = g.split(x, -1).equal(3)?;
    /// assert_eq!(g.ty(thirds[2]).shape(), [2, 10, 32]);
    /// let parts = g.split(x, 1).lengths([1, -1])?;
    /// assert_eq!(g.ty(parts[1]).shape(), [2, 9, 96]);
    /// let chunks = g.split(x, 1).chunks(4)?;
    /// assert_eq!(g.ty(chunks[3]).shape(), [2, 1, 96]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn split(&mut self, x: ValueId, axis: i64) -> SplitBuilder<'_> {
        SplitBuilder {
            graph: self,
            x,
            axis,
        }
    }
}

/// A `split` in the making: see [`Graph::split`].
#[derive(Debug)]
#[must_use = "nothing is added until the parts are told"]
pub struct SplitBuilder<'g> {
    graph: &'g mut Graph,
    x: ValueId,
    axis: i64,
}

impl SplitBuilder<'_> {
    /// Parts of these lengths; one may be -1 and takes the rest.
    pub fn lengths(self, lengths: impl AsRef<[i64]>) -> Result<Vec<ValueId>, GraphError> {
        let lengths: Arc<[i64]> = lengths.as_ref().into();
        let count = u32::try_from(lengths.len()).unwrap_or(u32::MAX);
        // An empty list still has to be refused: part 0 is not there.
        (0..count.max(1))
            .map(|part| {
                self.graph.push(Op::Split {
                    x: self.x,
                    axis: self.axis,
                    lengths: Arc::clone(&lengths),
                    part,
                })
            })
            .collect()
    }

    /// So many parts of one length, which must come out even.
    pub fn equal(self, count: usize) -> Result<Vec<ValueId>, GraphError> {
        self.counted(count, false)
    }

    /// So many parts as ONNX makes them: equal but for the last, which may be shorter.
    pub fn chunks(self, count: usize) -> Result<Vec<ValueId>, GraphError> {
        self.counted(count, true)
    }

    fn counted(self, count: usize, uneven: bool) -> Result<Vec<ValueId>, GraphError> {
        let Some((_, ty)) = self.graph.get(self.x) else {
            return self.lengths([-1]);
        };
        let lengths = resolve::equal_parts(ty.shape(), self.axis, count, uneven)
            .map_err(|refusal| refusal.of("split"))?;
        self.lengths(lengths)
    }
}
