//! The generic executor: verified kernels run with precompiled leaf moves, no executable memory.
