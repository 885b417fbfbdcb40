//! Threads with little stack: what is done on them takes what is said, or is refused.

use restride::{
    CODE_STACK, COMPILE_STACK, Code, CompileError, Config, Engine, Graph, InputShape, Output,
    Program, RUN_STACK, Template, TensorMut, TensorRef, ViewPolicy,
};
use restride_testkit::generate::{Kind, case};

use crate::children::{child, forbid};
use crate::support::graph;

fn engine(code: Code) -> Engine {
    Engine::new(Config {
        code,
        views: ViewPolicy::Copy,
        ..Config::default()
    })
}

/// What takes most: rules that nest in one another as deeply as they may, a kernel of many
/// statements, a transpose through a buffer on the stack, rows by permutations of vectors.
fn worst() -> Vec<Graph> {
    let lines = |count: usize, line: &dyn Fn(usize) -> String| {
        (0..count).map(line).collect::<Vec<_>>().join("\n")
    };
    let before = |n: usize| match n {
        0 => "%x".to_owned(),
        _ => format!("%v{}", n - 1),
    };
    let tables: String = (0..50).map(|n| format!(", %t{n}: i64[9]")).collect();
    let nested = lines(50, &|n| {
        let index = before(n);
        format!("%v{n} = gather %t{n}, {index} axis 0 out_of_range zero")
    });
    let order = "[3, 1, 0, 2, 9, 8, 15, 11, 4, 4, 7, 6, 5, 10, 12, 14]";
    let chain = lines(30, &|n| {
        let (data, axis) = (before(n), n % 3);
        format!("%v{n} = gather {data}, %c axis {axis} out_of_range zero")
    });
    let rolls = lines(100, &|n| {
        let (data, axis) = (before(n), n % 3);
        format!("%v{n} = roll {data} shift [1] axes [{axis}]")
    });
    let mixed = lines(30, &|n| {
        let (data, axis) = (before(n), n / 3 % 2);
        match n % 3 {
            0 => format!("%v{n} = roll {data} shift [3] axes [{axis}]"),
            1 => format!("%v{n} = gather {data}, %c axis {axis} out_of_range zero"),
            _ => format!("%v{n} = reverse {data} axes [{axis}]"),
        }
    });
    let columns = lines(60, &|n| {
        format!("%v{n} = gather %x, %i axis 1 out_of_range error wrap")
    });
    let all: Vec<String> = (0..60).map(|n| format!("%v{n}")).collect();
    let all = all.join(", ");
    let texts = [
        format!(
            "func @nested(%x: i64[7]{tables}) {{ {nested}
               %y = slice %v49 start [0] stop [7] step [2] return %y }}"
        ),
        format!(
            "func @chain(%x: u8[16, 16, 16]) {{ %c = constant i64[16] {order}
               {chain} return %v29 }}"
        ),
        format!("func @rolls(%x: u8[30, 4, 5]) {{ {rolls} return %v99 }}"),
        format!(
            "func @mixed(%x: i64[8, 8]) {{ %c = constant i64[8] [3, 1, 0, 2, 5, 4, 7, 6]
               {mixed} %y = slice %v29 start [0, 0] stop [8, 8] step [2, 2] return %y }}"
        ),
        format!("func @columns(%x: u8[30, 30], %i: i64[9]) {{ {columns} return {all} }}"),
        "func @staged(%x: f32[1024, 1024]) { %y = transpose %x perm [1, 0] return %y }".into(),
        "func @streamed(%x: u16[4096, 1025]) { %y = transpose %x perm [1, 0] return %y }".into(),
    ];
    texts
        .iter()
        .map(|text| graph(text).expect("a graph"))
        .collect()
}

/// Buffers for a program, which runs on them.
struct Buffers {
    inputs: Vec<Vec<u8>>,
    outputs: Vec<Vec<u8>>,
}

impl Buffers {
    fn of(program: &Program) -> Self {
        let outputs = program.outputs().iter().map(|output| match output {
            Output::Computed { ty, .. } => vec![0; ty.required_elements() * ty.element().width()],
            Output::View { .. } => panic!("views are copied here"),
        });
        Self {
            inputs: (program.inputs().iter())
                .map(|ty| (0..ty.byte_size()).map(|n| (n % 8 == 0).into()).collect())
                .collect(),
            outputs: outputs.collect(),
        }
    }

    /// Whether it runs, given as a function of no more stack than a run of it.
    fn run(&mut self, program: &Program) -> impl FnOnce() -> bool {
        let inputs: Vec<_> = self
            .inputs
            .iter()
            .map(|b| TensorRef::from_bytes(b))
            .collect();
        let mut outputs: Vec<_> = (self.outputs.iter_mut())
            .map(|b| TensorMut::from_bytes(b))
            .collect();
        move || program.run(&inputs, &mut outputs).is_ok()
    }
}

/// Does some work on a thread with a stack of so many bytes.
fn on_a_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(bytes);
        let thread = thread.spawn_scoped(scope, work).expect("a thread");
        thread.join().expect("no panic")
    })
}

/// What a thread takes of its stack before the work begins: its storage, and the frames above.
const THREAD: usize = 16 << 10;

/// Where this is optimised, 64 KiB are enough to compile on, and 128 to make machine code. In a
/// process of its own: where a stack is too small after all, it ends.
#[test]
fn threads_with_little_stack() {
    if !crate::children::alone() {
        return;
    }
    let optimised = !cfg!(debug_assertions);
    assert!(!optimised || COMPILE_STACK + THREAD <= 64 << 10);
    assert!(!optimised || CODE_STACK + THREAD <= 128 << 10);
    let worked = child(|| {
        let small = "func @f(%x: u8[3, 7]) { %y = transpose %x perm [1, 0] return %y }";
        for graph in worst().iter().chain([&graph(small).expect("a graph")]) {
            let compile = |stack| on_a_stack(stack, || engine(Code::Native).compile(graph));
            let refused = compile(COMPILE_STACK - THREAD);
            assert!(
                matches!(refused, Err(CompileError::StackTooSmall { need, left })
                    if need == COMPILE_STACK && left < need),
                "{refused:?}"
            );
            let generic = compile(COMPILE_STACK + THREAD).expect("a program");
            assert!(!generic.summary().native);
            let native = compile(CODE_STACK + THREAD).expect("a program");
            for program in [generic, native] {
                let mut buffers = Buffers::of(&program);
                assert!(buffers.run(&program)());
                let wanted = std::mem::take(&mut buffers.outputs);
                for stack in [RUN_STACK + THREAD / 2, 64 << 10, 128 << 10] {
                    let mut again = Buffers::of(&program);
                    let run = again.run(&program);
                    assert!(on_a_stack(stack, run));
                    assert_eq!(again.outputs, wanted, "{graph}");
                }
            }
        }
    });
    assert!(worked);
}

/// A shape that was seen on a small stack gets its machine code from a thread that has more.
#[test]
fn a_small_stack_is_not_remembered() {
    if !crate::children::alone() {
        return;
    }
    let engine = Engine::new(Config {
        native_after_calls: Some(0),
        views: ViewPolicy::Copy,
        ..Config::default()
    });
    let text = "func @f(%x: u8[3, 7]) { %y = transpose %x perm [1, 0] return %y }";
    let node = Template::new(graph(text).expect("a graph"));
    let ask = |rows| {
        let shape = [rows, 7];
        engine.specialise(&node, &[InputShape::dense(&shape)])
    };
    let native = |rows| ask(rows).map(|program| program.summary().native);
    let small = on_a_stack(COMPILE_STACK - THREAD, || native(3));
    assert!(matches!(small, Err(CompileError::StackTooSmall { .. })));
    let twice = on_a_stack(COMPILE_STACK + THREAD, || [native(3).ok(), native(3).ok()]);
    assert_eq!(twice, [Some(false); 2]);
    assert_eq!((engine.stats().compiled, engine.stats().entries), (0, 1));
    assert!(engine.stats().refused > 0);
    let program = ask(3).expect("a program");
    engine.settle(&program);
    assert!(program.summary().native);
    // What is known is found on any stack.
    assert_eq!(
        on_a_stack(COMPILE_STACK - THREAD, || native(3).ok()),
        Some(true)
    );
}

/// Where the system does not say how much there is, nothing is refused.
#[test]
fn a_stack_that_is_not_known() {
    if !crate::children::alone() {
        return;
    }
    let turned = "func @staged(%x: f32[1024, 1024]) { %y = transpose %x perm [1, 0] return %y }";
    let graph = graph(turned).expect("a graph");
    for call in [
        libc::SYS_openat,
        libc::SYS_sched_getaffinity,
        libc::SYS_prlimit64,
    ] {
        let worked = child(|| {
            forbid(call, libc::EPERM);
            on_a_stack(1 << 20, || {
                let program = engine(Code::Native).compile(&graph).expect("a program");
                assert!(Buffers::of(&program).run(&program)());
            });
        });
        assert!(worked, "{call}");
    }
}

/// How far down the stack it is looked.
const DEPTH: usize = 1 << 20;
const PAINT: u64 = 0xa5a5_5a5a_0f0f_f0f0;

/// Fills the stack below this function; from where on.
#[inline(never)]
fn paint() -> usize {
    let mark = 0u8;
    let top = ((&raw const mark).addr() - 1024) & !7;
    for at in (top - DEPTH..top).step_by(8) {
        // SAFETY: a part of the stack of this thread that nothing is on.
        unsafe { (at as *mut u64).write_volatile(PAINT) };
    }
    top
}

/// How many bytes below the paint's beginning have been written to.
#[inline(never)]
fn taken(top: usize) -> usize {
    let whole = |at: &usize| {
        // SAFETY: as above; what is there has been written.
        unsafe { (*at as *const u64).read_volatile() == PAINT }
    };
    let first = (top - DEPTH..top).step_by(8).find(|at| !whole(at));
    top - first.unwrap_or(top)
}

/// What some work takes of the stack.
fn depth<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let top = paint();
    let done = std::hint::black_box(work());
    (done, taken(top))
}

/// The largest of each kind, and where it was.
#[derive(Default)]
struct Most([(usize, String); 4]);

impl Most {
    fn note(&mut self, kind: usize, bytes: usize, graph: &Graph) {
        if bytes > self.0[kind].0 {
            self.0[kind] = (bytes, graph.to_string());
        }
    }

    fn of(&mut self, graph: &Graph) {
        let text = graph.to_string();
        let (parsed, bytes) = depth(|| Graph::parse(&text));
        self.note(0, bytes, graph);
        drop(parsed);
        for (kind, code) in [(1, Code::Generic), (2, Code::Native)] {
            let engine = engine(code);
            let (program, bytes) = depth(|| engine.compile(graph));
            self.note(kind, bytes, graph);
            let program = program.expect("a program");
            let mut buffers = Buffers::of(&program);
            let (_, bytes) = depth(buffers.run(&program));
            // The stage is only there where there is room.
            let bytes = if bytes > 48 << 10 {
                bytes - (48 << 10)
            } else {
                bytes
            };
            self.note(3, bytes, graph);
        }
    }
}

/// What is said of the stack is what is taken, with some to spare.
#[test]
fn what_is_taken_of_the_stack() {
    if !crate::children::alone() {
        return;
    }
    let thread = std::thread::Builder::new().stack_size(2 * DEPTH);
    let measure = || {
        let mut most = Most::default();
        worst().iter().for_each(|graph| most.of(graph));
        for number in 0..500 {
            for ops in [8, 40] {
                most.of(&case(3, number, Kind::of_number(number), ops).graph);
            }
        }
        most
    };
    let most = thread.spawn(measure).expect("a thread").join();
    let limits = [
        ("parse", RUN_STACK),
        ("compile", COMPILE_STACK),
        ("compile to machine code", CODE_STACK),
        ("run", RUN_STACK),
    ];
    for ((name, limit), (bytes, graph)) in limits.into_iter().zip(most.expect("no panic").0) {
        println!("{name}: {bytes} of {limit}");
        assert!(
            bytes + bytes / 5 < limit,
            "{name}: {bytes} of {limit}\n{graph}"
        );
    }
}
