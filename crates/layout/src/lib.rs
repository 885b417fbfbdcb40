//! The algebra of digits and strides: pure arithmetic, no tensors.
