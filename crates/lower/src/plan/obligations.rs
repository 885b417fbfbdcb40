//! Indices that an obligation holds in range: where one is outside, the run has ended before
//! anything is moved.

use super::compose::Composer;
use super::value::{Unmoved, single};
use restride_canon::ir::{Index, Node, NodeId};
use restride_layout::Break;

impl Composer<'_> {
    /// Whether the run ends where an index is outside: an obligation covers all of its tensor. It
    /// may be on a node that is not composed yet; then only the node itself tells.
    pub(super) fn is_held_in_range(&self, index: &Index, limit: i64) -> Result<bool, Break> {
        let value = self.value(index.node)?;
        for check in self.graph.checks() {
            let alike = check.limit == limit && (index.wrap || !check.wrap);
            if alike
                && (self.is_part_of(index.node, check.node)
                    || self
                        .in_order(check.node)
                        .is_ok_and(|of| reads_only(value, of)))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether every element of a node is one of another: it is that node, a view of it, or shows
    /// less of the same node.
    fn is_part_of(&self, mut node: NodeId, of: NodeId) -> bool {
        while node != of {
            let Node::View { x, layout } = self.graph.node(node) else {
                return false;
            };
            if let Node::View {
                x: other,
                layout: whole,
            } = self.graph.node(of)
                && x == other
                && let (Some(part), Some(whole)) = (layout.piece(), whole.piece())
                && part.is_within(whole)
            {
                return true;
            }
            node = *x;
        }
        true
    }
}

/// Whether every element of a value is an element of another one, both plain reads.
fn reads_only(value: &Unmoved, of: &Unmoved) -> bool {
    let Some((whole, source)) = single(of) else {
        return false;
    };
    let mut parts = value.parts().iter();
    parts.all(|(piece, reads)| reads.plain() == Some(source) && piece.is_within(whole))
}
