//! Chains of views are one layout, and a layout is printed as one chain.

use crate::trace::Rule;

/// Normalisation by evaluation: it is what [`Engine::settle`](crate::engine::Engine::settle) does.
pub(crate) const RULE: Rule = Rule {
    name: "view_chain",
    equation: "v1(v2(...(x))) = reify(layout of v1 . v2 . ...)(x)",
    condition: "the views compose to one layout over x",
    measure: "whether the chain is the one that its layout prints as",
};
