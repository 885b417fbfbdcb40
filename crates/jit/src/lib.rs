//! Verified kernels to machine code with Cranelift, and the memory that holds it.
