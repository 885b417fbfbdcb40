//! Reshapes, permutations, repetition and blocks.

use super::ints;
use crate::{
    BroadcastMode, ChannelAxis, DepthOrder, Graph, GraphError, Ints, Op, ReshapeDialect, ValueId,
};

impl Graph {
    /// A `reshape`: explicit sizes unless a dialect says what 0 and -1 mean.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph, ReshapeDialect};
    ///
    /// let mut g = Graph::new("heads");
    /// let x = g.input("x", ElementType::F32, [2, 10, 64])?;
    /// let y = g.reshape(x, [2, 10, 4, 16]).finish()?;
    /// assert_eq!(g.ty(y).rank(), 4);
    /// let copy = ReshapeDialect::OpenVino { special_zero: true };
    /// let z = g.reshape(y, [0, 0, -1]).dialect(copy).finish()?;
    /// assert_eq!(g.ty(z).shape(), [2, 10, 64]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn reshape(&mut self, x: ValueId, shape: impl AsRef<[i64]>) -> ReshapeBuilder<'_> {
        ReshapeBuilder {
            graph: self,
            x,
            dialect: ReshapeDialect::Plain,
            pattern: ints(shape),
        }
    }

    /// Permutes axes: axis `k` of the result is axis `perm[k]` of `x`. An empty `perm` reverses them.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("nchw");
    /// let x = g.input("x", ElementType::U8, [1, 480, 640, 3])?;
    /// let y = g.transpose(x, [0, 3, 1, 2])?;
    /// assert_eq!(g.ty(y).shape(), [1, 3, 480, 640]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn transpose(
        &mut self,
        x: ValueId,
        perm: impl AsRef<[i64]>,
    ) -> Result<ValueId, GraphError> {
        let perm = ints(perm);
        self.push(Op::Transpose { x, perm })
    }

    /// Drops the named axes, which have size 1.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("units");
    /// let x = g.input("x", ElementType::F32, [1, 3, 1])?;
    /// let y = g.squeeze(x, [-1])?;
    /// assert_eq!(g.ty(y).shape(), [1, 3]);
    /// let z = g.squeeze_all(x)?;
    /// assert_eq!(g.ty(z).shape(), [3]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn squeeze(&mut self, x: ValueId, axes: impl AsRef<[i64]>) -> Result<ValueId, GraphError> {
        let axes = Some(ints(axes));
        self.push(Op::Squeeze { x, axes })
    }

    /// Drops every axis of size 1: see [`Graph::squeeze`].
    pub fn squeeze_all(&mut self, x: ValueId) -> Result<ValueId, GraphError> {
        self.push(Op::Squeeze { x, axes: None })
    }

    /// Inserts axes of size 1; the axes count in the result.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("units");
    /// let x = g.input("x", ElementType::F32, [3])?;
    /// let y = g.unsqueeze(x, [0, -1])?;
    /// assert_eq!(g.ty(y).shape(), [1, 3, 1]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn unsqueeze(
        &mut self,
        x: ValueId,
        axes: impl AsRef<[i64]>,
    ) -> Result<ValueId, GraphError> {
        let axes = ints(axes);
        self.push(Op::Unsqueeze { x, axes })
    }

    /// Two axes: all before `axis`, and all from it.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("matrix");
    /// let x = g.input("x", ElementType::F32, [2, 3, 4])?;
    /// let y = g.flatten(x, 1)?;
    /// assert_eq!(g.ty(y).shape(), [2, 12]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn flatten(&mut self, x: ValueId, axis: i64) -> Result<ValueId, GraphError> {
        self.push(Op::Flatten { x, axis })
    }

    /// A `broadcast` to a shape, lined up on the right unless a mode says otherwise.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{BroadcastMode, ElementType, Graph};
    ///
    /// let mut g = Graph::new("repeat");
    /// let x = g.input("x", ElementType::F32, [3, 1])?;
    /// let y = g.broadcast(x, [2, 3, 4]).finish()?;
    /// assert_eq!(g.ty(y).shape(), [2, 3, 4]);
    /// let z = g.broadcast(x, [4]).mode(BroadcastMode::Bidirectional).finish()?;
    /// assert_eq!(g.ty(z).shape(), [3, 4]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn broadcast(&mut self, x: ValueId, shape: impl AsRef<[i64]>) -> BroadcastBuilder<'_> {
        BroadcastBuilder {
            graph: self,
            x,
            shape: ints(shape),
            mode: BroadcastMode::Numpy,
        }
    }

    /// Repeats whole axes; shape and repeats are lined up on the right.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("wallpaper");
    /// let x = g.input("x", ElementType::F32, [2, 3])?;
    /// let y = g.tile(x, [4, 1, 5])?;
    /// assert_eq!(g.ty(y).shape(), [4, 2, 15]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn tile(&mut self, x: ValueId, repeats: impl AsRef<[i64]>) -> Result<ValueId, GraphError> {
        let repeats = ints(repeats);
        self.push(Op::Tile { x, repeats })
    }

    /// Moves blocks of depth into space: channels first and blocks first unless it says otherwise.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ChannelAxis, DepthOrder, ElementType, Graph};
    ///
    /// let mut g = Graph::new("upscale");
    /// let x = g.input("x", ElementType::F32, [1, 12, 4, 5])?;
    /// let y = g.depth_to_space(x, 2).order(DepthOrder::DepthFirst).finish()?;
    /// assert_eq!(g.ty(y).shape(), [1, 3, 8, 10]);
    /// let z = g.space_to_depth(y, 2).finish()?;
    /// assert_eq!(g.ty(z), g.ty(x));
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn depth_to_space(&mut self, x: ValueId, block: i64) -> BlocksBuilder<'_> {
        BlocksBuilder::new(self, x, block, true)
    }

    /// Moves blocks of space into depth: see [`Graph::depth_to_space`].
    pub fn space_to_depth(&mut self, x: ValueId, block: i64) -> BlocksBuilder<'_> {
        BlocksBuilder::new(self, x, block, false)
    }

    /// Adds a rim of zeros, then moves blocks of every axis but the first into the first, as
    /// OpenVINO does: an entry for each axis, of which the first is 1, 0 and 0. TensorFlow's
    /// `space_to_batch_nd` has no entry for the first axis, and none for the last ones.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("dilated");
    /// let x = g.input("x", ElementType::F32, [1, 7, 8, 3])?;
    /// let y = g.space_to_batch(x, [1, 2, 2, 1], [0, 1, 0, 0], [0; 4])?;
    /// assert_eq!(g.ty(y).shape(), [4, 4, 4, 3]);
    /// let z = g.batch_to_space(y, [1, 2, 2, 1], [0, 1, 0, 0], [0; 4])?;
    /// assert_eq!(g.ty(z), g.ty(x));
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn space_to_batch(
        &mut self,
        x: ValueId,
        block: impl AsRef<[i64]>,
        pads_begin: impl AsRef<[i64]>,
        pads_end: impl AsRef<[i64]>,
    ) -> Result<ValueId, GraphError> {
        self.push(Op::SpaceToBatch {
            x,
            block: ints(block),
            pads_begin: ints(pads_begin),
            pads_end: ints(pads_end),
        })
    }

    /// Moves blocks of the first axis into the others, and crops them: see
    /// [`Graph::space_to_batch`].
    pub fn batch_to_space(
        &mut self,
        x: ValueId,
        block: impl AsRef<[i64]>,
        crops_begin: impl AsRef<[i64]>,
        crops_end: impl AsRef<[i64]>,
    ) -> Result<ValueId, GraphError> {
        self.push(Op::BatchToSpace {
            x,
            block: ints(block),
            crops_begin: ints(crops_begin),
            crops_end: ints(crops_end),
        })
    }

    /// Cuts an axis into groups, swaps groups and members, joins them again.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("shuffle");
    /// let x = g.input("x", ElementType::F32, [1, 6, 4, 4])?;
    /// let y = g.shuffle_channels(x, 1, 3)?;
    /// assert_eq!(g.ty(y), g.ty(x));
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn shuffle_channels(
        &mut self,
        x: ValueId,
        axis: i64,
        groups: i64,
    ) -> Result<ValueId, GraphError> {
        self.push(Op::ShuffleChannels { x, axis, groups })
    }
}

/// A `reshape` in the making: see [`Graph::reshape`].
#[derive(Debug)]
#[must_use = "nothing is added until `finish`"]
pub struct ReshapeBuilder<'g> {
    graph: &'g mut Graph,
    x: ValueId,
    dialect: ReshapeDialect,
    pattern: Ints,
}

impl ReshapeBuilder<'_> {
    /// Whose rules hold for 0 and -1.
    pub fn dialect(mut self, dialect: ReshapeDialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Adds it to the graph.
    pub fn finish(self) -> Result<ValueId, GraphError> {
        self.graph.push(Op::Reshape {
            x: self.x,
            dialect: self.dialect,
            pattern: self.pattern,
        })
    }
}

/// A `broadcast` in the making: see [`Graph::broadcast`].
#[derive(Debug)]
#[must_use = "nothing is added until `finish`"]
pub struct BroadcastBuilder<'g> {
    graph: &'g mut Graph,
    x: ValueId,
    shape: Ints,
    mode: BroadcastMode,
}

impl BroadcastBuilder<'_> {
    /// How operand and target are lined up.
    pub fn mode(mut self, mode: BroadcastMode) -> Self {
        self.mode = mode;
        self
    }

    /// Adds it to the graph.
    pub fn finish(self) -> Result<ValueId, GraphError> {
        self.graph.push(Op::Broadcast {
            x: self.x,
            shape: self.shape,
            mode: self.mode,
        })
    }
}

/// A `depth_to_space` or `space_to_depth` in the making: see [`Graph::depth_to_space`].
#[derive(Debug)]
#[must_use = "nothing is added until `finish`"]
pub struct BlocksBuilder<'g> {
    graph: &'g mut Graph,
    x: ValueId,
    block: i64,
    into_space: bool,
    order: DepthOrder,
    channels: ChannelAxis,
}

impl<'g> BlocksBuilder<'g> {
    fn new(graph: &'g mut Graph, x: ValueId, block: i64, into_space: bool) -> Self {
        BlocksBuilder {
            graph,
            x,
            block,
            into_space,
            order: DepthOrder::BlocksFirst,
            channels: ChannelAxis::First,
        }
    }

    /// The order in which the depth axis is seen.
    pub fn order(mut self, order: DepthOrder) -> Self {
        self.order = order;
        self
    }

    /// Where the channel axis stands.
    pub fn channels(mut self, channels: ChannelAxis) -> Self {
        self.channels = channels;
        self
    }

    /// Adds it to the graph.
    pub fn finish(self) -> Result<ValueId, GraphError> {
        let BlocksBuilder {
            graph,
            x,
            block,
            into_space,
            order,
            channels,
        } = self;
        graph.push(match into_space {
            true => Op::DepthToSpace {
                x,
                block,
                order,
                channels,
            },
            false => Op::SpaceToDepth {
                x,
                block,
                order,
                channels,
            },
        })
    }
}
