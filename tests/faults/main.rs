//! Faults: what an engine's process may do to it, and what must come of it. Nothing aborts, hangs
//! or returns wrong bytes; errors are errors.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[path = "../support/guarded.rs"]
mod guarded;
#[path = "../support/mod.rs"]
mod support;

mod children;
mod code;
mod counted;
mod guards;
mod memory;
mod nth;
mod stack;
mod threads;
