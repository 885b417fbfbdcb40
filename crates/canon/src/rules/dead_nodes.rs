//! What nobody uses is dropped.

use crate::trace::Rule;

/// Applied once, at the end.
pub(crate) const RULE: Rule = Rule {
    name: "dead_nodes",
    equation: "graph = graph without the node",
    condition: "no output and no obligation reads the node; inputs stay",
    measure: "nodes",
};
