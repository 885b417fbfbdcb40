//! What a cache keeps of programs that call precompiled moves lies in few and large blocks. Small ones are put by
//! allocators between the tensors of a host; where those grow from call to call, as the cache of a decoder does, memory that
//! has been freed on both sides of one does not join for the next.

#![allow(unsafe_code, reason = "looking at allocations takes an allocator")]

use restride::{Config, Engine, Graph, InputShape, Template, ViewPolicy};
use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// What no allocator puts into the gaps between aligned tensors.
const LEAST_BLOCK: usize = 128;

struct Watching;

thread_local! {
    static WATCHES: Cell<bool> = const { Cell::new(false) };
    /// What is live of what was allocated meanwhile: size and who asked for it.
    static LIVE: RefCell<BTreeMap<usize, (usize, String)>> = const { RefCell::new(BTreeMap::new()) };
}

/// The lines of a backtrace that are of this project.
fn caller() -> String {
    let trace = Backtrace::force_capture().to_string();
    let ours = trace.lines().filter(|line| {
        line.contains(" at ") && !line.contains("/rustc/") && !line.contains("tests/kept.rs")
    });
    ours.take(4)
        .map(|line| {
            line.trim()
                .trim_start_matches("at ")
                .rsplit("crates/")
                .next()
                .unwrap_or("")
        })
        .collect::<Vec<_>>()
        .join(" ")
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        let block = unsafe { System.alloc(layout) };
        if WATCHES.replace(false) {
            let entry = (layout.size(), caller());
            LIVE.with_borrow_mut(|live| live.insert(block as usize, entry));
            WATCHES.set(true);
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if WATCHES.replace(false) {
            LIVE.with_borrow_mut(|live| live.remove(&(block as usize)));
            WATCHES.set(true);
        }
        // SAFETY: the caller's.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static WATCHING: Watching = Watching;

/// The blocks that are kept of what some work allocates.
fn kept(work: impl FnOnce()) -> Vec<(usize, String)> {
    WATCHES.set(true);
    work();
    WATCHES.set(false);
    LIVE.take().into_values().collect()
}

#[test]
fn plans_are_kept_in_large_blocks() {
    let nodes = [
        (
            "joined and turned",
            "func @f(%k: f32[1, 4, 8, 64], %n: f32[1, 1, 8, 64]) { \n%j = concat %k, %n axis 1 \n%t = transpose %j perm [0, 2, 3, 1] \nreturn %t\n}",
        ),
        (
            "turned",
            "func @f(%k: f32[1, 4, 8, 64]) { \n%t = transpose %k perm [0, 2, 1, 3] \nreturn %t\n}",
        ),
        (
            "cut",
            "func @f(%k: f16[1, 4, 8, 64]) { \n%t = slice %k start [1, 1] stop [9223372036854775807, 7] step [1, 1] axes [1, 2] \nreturn %t\n}",
        ),
        (
            "repeated",
            "func @f(%k: f32[1, 4, 8, 64]) { \n%t = tile %k repeats [1, 1, 2, 1] \nreturn %t\n}",
        ),
        (
            "padded",
            "func @f(%k: f32[1, 4, 8, 64]) { \n%t = pad %k low [0, 0, 1, 0] high [0, 0, 1, 0] \nreturn %t\n}",
        ),
        (
            "chosen",
            "func @f(%k: f32[1, 4, 8, 64], %i: i64[5]) { \n%t = gather %k, %i axis 1 out_of_range error wrap \nreturn %t\n}",
        ),
    ];
    let engine = Engine::new(Config {
        views: ViewPolicy::Copy,
        ..Config::default()
    });
    let mut small = String::new();
    for (name, text) in nodes {
        let graph = Graph::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let node = Template::new(graph);
        let see = |length: i64| {
            let keys = [1, length, 8, 64];
            let inputs = node.graph().inputs().iter().enumerate();
            let shapes = inputs.map(|(at, input)| match at {
                0 => InputShape::dense(&keys),
                _ => InputShape::dense(node.graph().ty(*input).shape()),
            });
            engine
                .specialise(&node, &shapes.collect::<Vec<_>>())
                .unwrap();
        };
        (4..200).for_each(see);
        let blocks = kept(|| see(200));
        assert!(!blocks.is_empty(), "{name}");
        for (size, who) in blocks {
            if size < LEAST_BLOCK {
                small += &format!("{name}: {size} bytes by {who}\n");
            }
        }
    }
    assert!(small.is_empty(), "{small}");
}
