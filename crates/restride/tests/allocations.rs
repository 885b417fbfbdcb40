//! What the hot path must not do: allocate. And what an engine must not do: keep more than it says.

#![allow(unsafe_code, reason = "counting allocations takes an allocator")]

use restride::{
    Code, Config, ElementType, Engine, Graph, IndexRule, InputShape, Program, RunError, Template,
    TensorMut, TensorRef, ViewPolicy,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes that this thread has allocated and not freed.
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        LIVE.with(|n| n.set(n.get() + layout.size() as isize));
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.with(|n| n.set(n.get() - layout.size() as isize));
        // SAFETY: the caller's.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn live() -> isize {
    LIVE.with(Cell::get)
}

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
        views: ViewPolicy::Copy,
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

/// Bytes by indices that are computed themselves: eight bytes of scratch for each.
fn by_scratch() -> Template {
    let mut g = Graph::new("s");
    let x = g.input("x", ElementType::U8, [4]).unwrap();
    let i = g.input("i", ElementType::I64, [9]).unwrap();
    let j = g.roll(i, [1], [0]).unwrap();
    let y = g.gather(x, j, IndexRule::ONNX).axis(0).finish().unwrap();
    g.output(y).unwrap();
    Template::new(g)
}

/// The program for so many indices.
fn program(engine: &Engine, node: &Template, length: usize) -> Program {
    let indices = [length as i64];
    let shapes = [&[4], &indices].map(|shape| InputShape::dense(shape));
    let program = engine.specialise(node, &shapes).unwrap();
    assert!(program.summary().scratch_bytes >= 8 * length);
    program
}

fn call(program: &Program, i: &[i64], y: &mut [u8]) {
    let inputs = [TensorRef::new(&[5u8, 6, 7, 8]), TensorRef::new(i)];
    program.run(&inputs, &mut [TensorMut::new(y)]).unwrap();
}

#[test]
fn a_call_finds_the_scratch_of_the_one_before() {
    let (engine, node) = (Engine::default(), by_scratch());
    let programs = [1000, 9, 1001].map(|length| program(&engine, &node, length));
    let (i, mut y) = ([3i64; 1001], [0u8; 1001]);
    let mut all = || {
        for (program, length) in programs.iter().zip([1000, 9, 1001]) {
            call(program, &i[..length], &mut y[..length]);
        }
    };
    all();
    assert_eq!(allocations(|| (0..100).for_each(|_| all())), 0);
    let held = engine.stats().scratch_bytes;
    assert!((8 * 1001..20_000).contains(&held), "{held}");
    engine.clear();
    assert_eq!(engine.stats().scratch_bytes, 0);
    all();
    assert_eq!(y, [8; 1001]);
}

#[test]
fn scratch_of_many_shapes_is_bounded() {
    const KEPT: usize = 3 << 20;
    let config = Config {
        scratch_bytes: KEPT,
        code: Code::Generic,
        ..Config::default()
    };
    let (engine, node) = (Engine::new(config), by_scratch());
    // The first few kilobytes are those of the engine.
    program(&engine, &node, 5);
    let before = live();
    let least = 1 << 17;
    let (i, mut y) = (vec![1i64; least + 200], vec![0u8; least + 200]);
    let begun = live();
    for length in least..least + 200 {
        call(
            &program(&engine, &node, length),
            &i[..length],
            &mut y[..length],
        );
        let stats = engine.stats();
        assert!(stats.scratch_bytes <= KEPT, "{stats:?}");
        let grown = (live() - begun) as usize;
        assert!(
            grown <= stats.scratch_bytes + stats.bytes,
            "{grown}: {stats:?}"
        );
    }
    // A program has what it needs when the engine is gone, and gives it back when it goes.
    let last = program(&engine, &node, least);
    drop(engine);
    call(&last, &i[..least], &mut y[..least]);
    drop((last, i, y));
    assert!(live() < before, "{} over", live() - before);
}

#[test]
fn scratch_has_a_limit_where_one_is_set() {
    let config = Config {
        scratch_bytes: 10_000,
        scratch_limit: Some(20_000),
        ..Config::default()
    };
    let (engine, node) = (Engine::new(config), by_scratch());
    let (i, mut y) = ([1i64; 3000], [9u8; 3000]);
    let one = program(&engine, &node, 2000);
    call(&one, &i[..2000], &mut y[..2000]);
    assert_eq!(engine.stats().scratch_bytes, 0, "16,000 bytes are not kept");
    let inputs = [TensorRef::new(&[5u8, 6, 7, 8]), TensorRef::new(&i)];
    let large = program(&engine, &node, 3000);
    let error = large.run(&inputs, &mut [TensorMut::new(&mut y)]);
    let expected = RunError::ScratchOverBudget {
        bytes: large.summary().scratch_bytes,
        limit: 20_000,
    };
    assert_eq!(error, Err(expected));
    assert_eq!(y[2000..], [9; 1000], "nothing has been written");
    let mut lent = vec![0; large.summary().scratch_bytes];
    let few = large.bind_in(&inputs, [TensorMut::new(&mut y)], &mut lent[1..]);
    let error = few.map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        error,
        "23999 bytes of scratch were lent, the program needs 24000"
    );
    let call = large.bind_in(&inputs, [TensorMut::new(&mut y)], &mut lent);
    assert_eq!(call.and_then(|mut call| call.run()), Ok(()));
    assert_eq!(y, [6; 3000]);
}

#[test]
fn the_cache_holds_no_more_than_it_says() {
    let many_outputs = format!(
        "@many(%x: u8[3]) {{\n%y = roll %x shift [1] axes [0]\nreturn {}\n}}",
        ["%y"; 100].join(",")
    );
    let functions = include_str!("../../../tests/instructions/kernels.mv").split("func ");
    let functions = functions.filter(|text| text.starts_with('@'));
    let nodes: Vec<_> = functions
        .chain([many_outputs.as_str()])
        .map(|text| Template::new(Graph::parse(&format!("func {text}")).unwrap()))
        .collect();
    assert!(nodes.len() > 15);
    for (code, native_after_calls) in [
        (Code::Generic, None),
        (Code::Native, Some(0)),
        (Code::Native, None),
    ] {
        let engine = Engine::new(Config {
            code,
            native_after_calls,
            views: ViewPolicy::Copy,
            ..Config::default()
        });
        let weigh = |node: &Template, settle: bool| {
            let inputs = node.graph().inputs().iter();
            let inputs = inputs.map(|input| node.graph().ty(*input).shape());
            let inputs: Vec<_> = inputs.map(InputShape::dense).collect();
            let program = engine.specialise(node, &inputs).unwrap();
            if settle {
                engine.settle(&program);
            }
            // It lies in pages of its own.
            let code = program.summary().code_bytes;
            drop(program);
            // What is given back, as the compiler keeps some memory, now more and now less.
            let (held, said) = (live(), engine.stats().bytes);
            engine.clear();
            let empty = (live(), engine.stats().bytes);
            (code + (held - empty.0) as usize, said - empty.1)
        };
        for node in &nodes {
            let (held, said) = weigh(node, native_after_calls.is_none());
            let name = node.graph().name();
            assert!(held <= said, "{name}: {held} of {said} bytes, {code:?}");
            assert!(said < 3 * held, "{name}: {held} of {said} bytes, {code:?}");
        }
    }
}
