//! Models of what threads share: the cache, the registry of kernels, the worker, scratch, code
//! memory and the list of shares that forks leave alone. The real source files are compiled here a second
//! time, with `sync` standing for loom's primitives, and with model pages and processes in
//! place of the system's. loom then runs every schedule with at most a few preemptions, and every
//! value that a relaxed load may see.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(
    dead_code,
    unreachable_pub,
    reason = "the files are whole, the models use parts of them"
)]

#[path = "../../crates/restride/src/cache.rs"]
mod cache;
#[path = "../../crates/restride/src/pool.rs"]
mod pool;
#[path = "../../crates/restride/src/registry.rs"]
mod registry;
#[path = "../../crates/restride/src/worker.rs"]
mod worker;

mod memory;
mod process;
mod sync;

mod arena_model;
mod cache_model;
mod explore;
mod pool_model;
mod process_model;
mod worker_model;
mod world;

#[path = "../../crates/jit/src/error.rs"]
mod error;
