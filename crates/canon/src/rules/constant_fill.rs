//! A constant of one element repeated is a fill.

use crate::scalar;
use crate::trace::Rule;
use restride_graph::ElementType;

/// Applied where constants are made.
pub(crate) const RULE: Rule = Rule {
    name: "constant_fill",
    equation: "constant [c, c, ..., c] = fill c",
    condition: "all elements have the same bits",
    measure: "constants",
};

/// The bits that all elements have.
pub(crate) fn uniform(element: ElementType, bytes: &[u8]) -> Option<u128> {
    let width = element.width();
    let first = scalar::bits(bytes, 0, width)?;
    let (head, _) = bytes.split_at_checked(width)?;
    bytes
        .chunks_exact(width)
        .all(|other| other == head)
        .then_some(first)
}
