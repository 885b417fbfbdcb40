//! Typed names of values.

use std::fmt;

/// A value of a [`Graph`](crate::Graph): the position of the statement that makes it.
///
/// It prints as `%N`; a graph prints values that have names by their names
/// ([`Graph::label`](crate::Graph::label)).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(u32);

impl ValueId {
    /// The value at a position, whether or not some graph has one there.
    pub const fn from_u32(position: u32) -> ValueId {
        ValueId(position)
    }

    /// The position in the graph.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl fmt::Debug for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
