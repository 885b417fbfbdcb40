//! From canonical form to plan to scheduled kernel.
