//! The canonical IR and the canonicaliser: spelled graphs become slices, views, gathers, concats and fills.
#![forbid(unsafe_code)]

