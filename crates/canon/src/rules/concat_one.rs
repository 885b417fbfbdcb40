//! A concat of one part is the part.

use crate::trace::Rule;

/// Applied where concats are made.
pub(crate) const RULE: Rule = Rule {
    name: "concat_one",
    equation: "concat [x] = x",
    condition: "one part is left",
    measure: "concats",
};
