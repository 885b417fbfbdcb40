//! One request for memory after the other is refused, each in turn, all through a life of an
//! engine.

use crate::children::{Ending, ending};
use crate::counted::{Kind, held, refusing, requests};
use crate::support::{BEFORE, graph, indices, iota, run};
use restride::{
    Code, Config, Engine, InputShape, Memory, ParallelFor, Program, RunError, Template, TensorMut,
    TensorRef, ViewPolicy,
};

fn engine(memory: Memory, code: Code) -> Engine {
    Engine::new(Config {
        memory,
        code,
        views: ViewPolicy::Copy,
        native_after_calls: Some(0),
        ..Config::default()
    })
}

/// Transposes and gathers, by way of scratch.
fn node() -> Template {
    let text = "func @f(%x: u8[4, 6], %i: i64[3]) {
        %a = transpose %x perm [1, 0]
        %b = reshape %a shape [24]
        %y = gather %b, %i axis 0 out_of_range error return %y }";
    Template::new(graph(text).expect("a graph"))
}

const SHAPES: [&[i64]; 2] = [&[4, 6], &[3]];

fn specialise(engine: &Engine, node: &Template) -> Program {
    let inputs = SHAPES.map(InputShape::dense);
    engine.specialise(node, &inputs).expect("a program")
}

fn is_right(program: &Program) {
    let i = indices(&[1, 23, 2]);
    assert_eq!(run(program, &[&iota(24), &i]), Ok(vec![vec![6, 23, 12]]));
    let wrong = run(program, &[&iota(24), &indices(&[1, 24, 2])]);
    assert!(matches!(wrong, Err(RunError::Index { position: 1, .. })));
}

/// Whatever mapping is refused, the program is made and is right; code comes with the memory.
#[test]
fn every_mapping() {
    if !crate::children::alone() {
        return;
    }
    let node = node();
    for memory in [Memory::Auto, Memory::Arena, Memory::Module] {
        let life = |n| {
            let engine = engine(memory, Code::Native);
            let (first, refused) = refusing(Kind::Mapping, n, || specialise(&engine, &node));
            is_right(&first);
            let stats = engine.stats();
            assert_eq!(stats.compiled + stats.refused, 1, "{n}: {stats:?}");
            assert!(refused || stats.compiled == 1, "{n}: {stats:?}");
            // Asked for, it is given code.
            let settled = specialise(&engine, &node);
            engine.settle(&settled);
            assert!(settled.summary().native, "{n} {memory:?}");
            is_right(&first);
            is_right(&settled);
            refused
        };
        // Things are set up once per process; after that nothing of a life is left.
        life(u64::MAX);
        life(0);
        let before = [Kind::Heap, Kind::Mapping].map(held);
        let count = (0..).take_while(|&n| life(n)).count();
        assert!(count >= 2, "{count}");
        assert_eq!([Kind::Heap, Kind::Mapping].map(held), before, "{memory:?}");
        println!("{count} mappings refused, {memory:?}");
    }
}

/// Makes a call again and again, the n-th of its allocations refused, until there is no n-th; how
/// many there were. Each is an error, has written nothing, and the call can be made again.
fn every_allocation(
    compile: impl Fn() -> Program,
    inputs: &[TensorRef<'_>],
    wanted: &[u8],
    pool: Option<&dyn ParallelFor>,
) -> u64 {
    for n in 0.. {
        // A new program has no scratch to spare.
        let program = compile();
        let mut y = vec![BEFORE; wanted.len()];
        let call = |n, y: &mut [u8]| {
            let outputs = &mut [TensorMut::new(y)];
            refusing(Kind::Heap, n, || match pool {
                Some(pool) => program.run_on(pool, inputs, outputs),
                None => program.run(inputs, outputs),
            })
        };
        let (done, refused) = call(n, &mut y);
        match done {
            Ok(()) => assert!(!refused),
            Err(RunError::OutOfMemory { .. }) => {
                assert!(refused);
                assert!(y.iter().all(|byte| *byte == BEFORE));
                assert_eq!(call(u64::MAX, &mut y), (Ok(()), false));
            }
            Err(error) => panic!("{error}"),
        }
        assert_eq!(y, wanted);
        if !refused {
            return n;
        }
    }
    u64::MAX
}

#[test]
fn every_allocation_of_a_call() {
    if !crate::children::alone() {
        return;
    }
    let of = |count: usize, text: &dyn Fn(usize) -> String| {
        (0..count).map(text).collect::<Vec<_>>().join(", ")
    };
    let by_scratch = "func @f(%x: u8[300, 400], %i: i64[3]) {
        %a = transpose %x perm [1, 0]
        %b = reshape %a shape [120000]
        %y = gather %b, %i axis 0 out_of_range zero return %y }";
    let of_many = format!(
        "func @f({}) {{ %a = concat {} axis 1 %y = transpose %a perm [1, 0] return %y }}",
        of(12, &|n| format!("%x{n}: u8[2, 3]")),
        of(12, &|n| format!("%x{n}")),
    );
    let shared_out = "func @f(%x: u8[1024, 1000]) { %y = transpose %x perm [1, 0] return %y }";
    let data: Vec<u8> = (0..1_024_000u32).map(|n| (n % 251) as u8).collect();
    let turned = |rows: usize, columns: usize| -> Vec<u8> {
        let at = (0..columns).flat_map(|c| (0..rows).map(move |r| r * columns + c));
        at.map(|at| data[at]).collect()
    };
    let (i, [x, six, large]) = ([1i64, 119_999, 301], [120_000, 6, 1_024_000]);
    for code in [Code::Native, Code::Generic] {
        let compile = |text: &str| {
            let graph = graph(text).expect("a graph");
            move || {
                engine(Memory::Auto, code)
                    .compile(&graph)
                    .expect("a program")
            }
        };
        let inputs = [TensorRef::new(&data[..x]), TensorRef::new(&i)];
        let wanted = i.map(|at| turned(300, 400)[at as usize]);
        let scratch = every_allocation(compile(by_scratch), &inputs, &wanted, None);
        let inputs = [TensorRef::new(&data[..six]); 12];
        let wanted = turned(2, 3).repeat(12);
        let table = every_allocation(compile(&of_many), &inputs, &wanted, None);
        let inputs = [TensorRef::new(&data[..large])];
        let wanted = turned(1024, 1000);
        let shares = every_allocation(compile(shared_out), &inputs, &wanted, Some(&Shares(3)));
        println!("{scratch} + {table} + {shares} allocations refused, {code:?}");
        assert_eq!([scratch, table, shares], [1, 1, 2]);
    }
}

struct Shares(usize);

impl ParallelFor for Shares {
    fn width(&self) -> usize {
        self.0
    }
    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(body);
    }
}

/// The compiler's own small allocations are as those of any Rust program: a refusal ends the
/// process in an orderly way or does not matter. It never hangs, faults, or gives a wrong answer.
#[test]
fn every_allocation_of_a_compile() {
    if !crate::children::alone() {
        return;
    }
    for code in [Code::Native, Code::Generic] {
        let life = |n| {
            let engine = engine(Memory::Auto, code);
            let node = node();
            let (program, refused) = refusing(Kind::Heap, n, || specialise(&engine, &node));
            is_right(&program);
            is_right(&specialise(&engine, &node));
            assert!(engine.stats().entries <= 1);
            refused
        };
        life(u64::MAX);
        let before = held(Kind::Heap);
        let count = requests(Kind::Heap, || assert!(!life(u64::MAX)));
        assert_eq!(held(Kind::Heap), before, "a life leaves nothing behind");
        let mut endings = [0u32; 2];
        for n in 0..count {
            match ending(|| _ = life(n)) {
                (Ending::Well, _) => endings[0] += 1,
                (Ending::Signal(libc::SIGABRT), said) => {
                    assert!(said.starts_with("memory allocation of "), "{n}: {said}");
                    endings[1] += 1;
                }
                (other, said) => panic!("allocation {n}: {other:?}: {said}"),
            }
        }
        println!("{count} allocations refused in turn: {endings:?} went on, ended, {code:?}");
        assert!(endings[1] > 0);
    }
}

/// No compile asks for memory by the size of the tensors.
#[test]
fn a_compile_asks_for_little() {
    if !crate::children::alone() {
        return;
    }
    let text = "func @f(%x: u8[1099511627776, 6], %i: i64[1099511627776]) {
        %a = transpose %x perm [1, 0]
        %b = reverse %a axes [1]
        %y = gather %b, %i axis 1 out_of_range error return %y }";
    let graph = graph(text).expect("a graph");
    for code in [Code::Native, Code::Generic] {
        let engine = engine(Memory::Auto, code);
        let before = held(Kind::Heap);
        let program = engine.compile(&graph).expect("a program");
        assert!(held(Kind::Heap) - before < 1 << 20);
        drop(program);
    }
}
