//! A compiler for moving tensor data, to be embedded in inference engines.
