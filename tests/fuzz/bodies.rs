//! Bodies of the fuzz targets that make machine code.

use std::sync::LazyLock;

use crate::answer::Answer;
use crate::structured::Genome;
use restride::{
    Budget, Code, CompileError, Config, Engine, InputShape, Memory, Program, Target, Template,
    TensorMut, TensorRef, ViewPolicy,
};
use restride_graph::{Graph, Sample};
use restride_testkit::fuzz::{Bytes, FuzzBody, drawn, is_small};
use restride_testkit::generate::{Case, Random};
use restride_testkit::ladder::write;

/// The bodies here.
pub const BODIES: [FuzzBody; 3] = [
    ("native", native),
    ("structured", structured),
    ("engine", engine),
];

/// Engines for [`native`]: as they come and for tiny caches, with and without calls of leaves, and as
/// views are copied.
static ENGINES: LazyLock<[Engine; 4]> = LazyLock::new(|| {
    let (usual, cramped) = (Target::default(), Target::cramped());
    let alone = Code::SelfContained;
    [
        (usual.clone(), Code::Native),
        (cramped.clone(), Code::Native),
        (usual, alone),
        (cramped, alone),
    ]
    .map(|(target, code)| {
        Engine::new(Config {
            target,
            code,
            views: ViewPolicy::Copy,
            cache_entries: 64,
            ..Config::default()
        })
    })
});

/// Random graphs: native code against the oracle.
pub fn native(data: &[u8]) {
    let case = drawn(data);
    let answer = Answer::of(&case).expect("inputs");
    for engine in &*ENGINES {
        let program = engine.compile(&case.graph);
        let program =
            program.unwrap_or_else(|error| panic!("\n{}", write(&case, &error.to_string())));
        if let Err(difference) = answer.is_that_of(&program, None) {
            panic!("\n{}", write(&case, &format!("native: {difference}")));
        }
    }
}

/// What a structured graph may cost, and the most bytes of its text: enough for hundreds of pieces.
const BUDGET: Budget = Budget {
    work: 20_000_000,
    bytes: 5_600_000,
};
const TEXT: usize = 2000;

/// Engines for [`structured`]: one that checks its code, and one that makes none.
static BOTH: LazyLock<[Engine; 2]> = LazyLock::new(|| {
    [Code::Native, Code::Generic].map(|code| {
        Engine::new(Config {
            code,
            budget: BUDGET,
            views: ViewPolicy::Copy,
            cache_entries: 64,
            verify: Some(1 << 20),
            ..Config::default()
        })
    })
});

/// Graphs that ask for more than they look like: machine code and the generic executor run or refuse
/// the same ones, to the same bytes, and the checker suspects no code.
pub fn structured(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let mut random = Random::new(bytes.word());
    let mut genome = Genome::random(&mut random);
    while !bytes.is_empty() {
        let mut random = Random::new(bytes.word());
        genome = genome.changed(&Genome::random(&mut random), &mut random);
    }
    let Some(text) = genome.text(TEXT) else {
        return;
    };
    let graph = Graph::parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let before = BOTH[0].stats();
    let programs = BOTH.each_ref().map(|engine| engine.compile(&graph));
    let after = BOTH[0].stats();
    assert_eq!(
        (before.violations, before.not_understood),
        (after.violations, after.not_understood),
        "{text}"
    );
    match programs {
        [Err(one), Err(other)] => {
            assert_eq!(one.to_string(), other.to_string(), "{text}");
            let is_large = one.to_string().contains(" bytes together");
            assert!(
                is_large || matches!(one, CompileError::TooCostly(_)),
                "{one}\n{text}"
            );
        }
        [Ok(native), Ok(generic)] if is_small(&graph) => {
            let inputs = (0..graph.inputs().len() as u32).map(Sample::Labels);
            let case = Case {
                inputs: inputs.collect(),
                refused: Vec::new(),
                graph,
            };
            let answer = Answer::of(&case).expect("inputs");
            for program in [native, generic] {
                if let Err(difference) = answer.is_that_of(&program, None) {
                    panic!("{}: {difference}\n{text}", program.summary().native);
                }
            }
        }
        [Ok(_), Ok(_)] => {}
        [native, generic] => panic!("{:?} but {:?}\n{text}", native.err(), generic.err()),
    }
}

/// Templates, programs and an engine, used in any order: what comes out is always right, and the
/// cache keeps to its bounds.
pub fn engine(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let code = [Code::Native, Code::Generic, Code::Background][bytes.below(3)];
    let entries = 16 * (1 + bytes.below(3));
    let config = Config {
        code,
        memory: [Memory::Auto, Memory::Module][bytes.below(2)],
        cache_entries: entries,
        cache_bytes: 1 << (10 + bytes.below(10)),
        native_after_calls: Some(bytes.below(5) as u32).filter(|n| *n < 4),
        views: ViewPolicy::Copy,
        ..Config::default()
    };
    let cache_bytes = config.cache_bytes;
    let mut engines = vec![Engine::new(config)];
    let nodes = [transposed(), reversed()].map(Template::new);
    let mut held = Vec::new();
    let mut steps = 0;
    while !bytes.is_empty() && steps < 64 {
        steps += 1;
        let engine = &engines[bytes.below(engines.len())];
        match bytes.below(8) {
            0..5 => {
                let which = bytes.below(2);
                let shape = [bytes.below(6) as i64, bytes.below(6) as i64];
                let program = engine.specialise(&nodes[which], &[InputShape::dense(&shape)]);
                let program = program.expect("a shape that the template accepts");
                turns(&program, which, shape);
                if bytes.below(3) == 0 {
                    held.push((program, which, shape));
                }
            }
            5 => engine.clear(),
            6 => {
                if let Some((program, which, shape)) = held.pop() {
                    turns(&program, which, shape);
                }
            }
            _ => {
                let more = engine.clone();
                let wrong = [bytes.number(), bytes.number(), bytes.number()];
                // Three axes do not suit either node, and most numbers suit nobody.
                assert!(
                    more.specialise(&nodes[0], &[InputShape::dense(&wrong)])
                        .is_err()
                );
                if engines.len() < 3 {
                    engines.push(more);
                }
            }
        }
        let stats = engines[0].stats();
        assert!(
            stats.entries <= entries && stats.bytes <= cache_bytes + 16,
            "{stats:?}"
        );
    }
    drop(engines);
    for (program, which, shape) in held {
        turns(&program, which, shape);
    }
}

fn transposed() -> Graph {
    let text = "func @f(%x: u16[2, 3]) { %y = transpose %x perm [1, 0] return %y }";
    Graph::parse(text).expect("a graph")
}

fn reversed() -> Graph {
    let text = "func @f(%x: u16[2, 3]) { %y = reverse %x axes [0, 1] return %y }";
    Graph::parse(text).expect("a graph")
}

/// Runs a program of [`transposed`] or [`reversed`].
fn turns(program: &Program, which: usize, [rows, columns]: [i64; 2]) {
    let count = (rows * columns) as usize;
    let x: Vec<u16> = (0..count as u16).collect();
    let mut y = vec![u16::MAX; count];
    let done = program.run(&[TensorRef::new(&x)], &mut [TensorMut::new(&mut y)]);
    assert_eq!(done, Ok(()));
    let (rows, columns) = (rows as usize, columns as usize);
    let source = |at: usize| match which {
        0 => at % rows * columns + at / rows,
        _ => count - 1 - at,
    };
    assert!(
        (0..count).all(|at| usize::from(y[at]) == source(at)),
        "{rows} {columns} {which}"
    );
}
