//! What the hot path must not do: allocate.

#![allow(unsafe_code, reason = "counting allocations takes an allocator")]

use restride::{Config, ElementType, Engine, Graph, InputShape, Template, TensorMut, TensorRef};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn a_specialisation_that_is_known_and_its_call_allocate_nothing() {
    let mut g = Graph::new("split heads");
    let x = g.input("x", ElementType::F32, [1, 7, 4, 8]).unwrap();
    let y = g.transpose(x, [0, 2, 1, 3]).unwrap();
    g.output(y).unwrap();
    let template = Template::new(g);
    let engine = Engine::new(Config::default());
    let shape = [1, 9, 4, 8];
    engine
        .specialise(&template, &[InputShape::dense(&shape)])
        .unwrap();
    let x = [1f32; 288];
    let mut y = [0f32; 288];
    assert!(allocations(|| drop(Box::new(1))) > 0);
    let count = allocations(|| {
        for _ in 0..100 {
            let program = engine
                .specialise(&template, &[InputShape::dense(&shape)])
                .unwrap();
            if !program.is_view() {
                program
                    .run(&[TensorRef::new(&x)], &mut [TensorMut::new(&mut y)])
                    .unwrap();
            }
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn a_computed_call_allocates_nothing() {
    let engine = Engine::new(Config {
        copy_views: true,
        ..Config::default()
    });
    let mut g = Graph::new("t");
    let x = g.input("x", ElementType::U8, [40, 50]).unwrap();
    let y = g.transpose(x, [1, 0]).unwrap();
    g.output(y).unwrap();
    let program = engine.compile(&g).unwrap();
    let (x, mut y) = ([3u8; 2000], [0u8; 2000]);
    let count = allocations(|| {
        for _ in 0..100 {
            program
                .run(&[TensorRef::new(&x)], &mut [TensorMut::new(&mut y)])
                .unwrap();
        }
    });
    assert_eq!(count, 0);
    assert_eq!(y, x);
}
