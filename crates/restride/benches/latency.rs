//! What a call, a lookup and each stage of compiling take: medians of many rounds, each beside a
//! 64-byte copy in the same round, since the machine's own speed drifts.
//!
//! `cargo bench -p restride --bench latency`

use restride::{
    Config, ElementType, Engine, Graph, InputShape, Options, Stages, Template, TensorMut,
    TensorRef, ViewPolicy,
};
use restride_budget::Meter;
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 301;

/// The median over all rounds of the nanoseconds that one of `times` calls takes.
fn median(times: u32, mut work: impl FnMut()) -> f64 {
    let mut samples: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..times {
                work();
            }
            start.elapsed().as_nanos() as f64 / f64::from(times)
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[ROUNDS / 2]
}

fn report(name: &str, nanoseconds: f64) {
    println!("{name:48} {nanoseconds:>10.1} ns");
}

/// `ops` views in a row that keep the shape they work on.
fn chain(ops: usize) -> Graph {
    let mut g = Graph::new("chain");
    let mut y = g
        .input("x", ElementType::F32, [4, 8, 16, 32])
        .expect("a valid type");
    for n in 0..ops {
        y = match n % 4 {
            0 => g.transpose(y, [0, 2, 1, 3]),
            1 => g
                .strided_slice(y)
                .begin([0, 0])
                .end([0, 0])
                .strides([1, -1])
                .begin_mask(3)
                .end_mask(3)
                .finish(),
            2 => g.reverse(y, [3]),
            _ => g.roll(y, [1], [0]),
        }
        .expect("a valid view");
    }
    g.output(y).expect("a valid output");
    g
}

fn calls() {
    let engine = Engine::new(Config {
        views: ViewPolicy::Copy,
        ..Config::default()
    });
    let mut g = Graph::new("copy 64 bytes");
    let x = g.input("x", ElementType::F32, [16]).expect("a valid type");
    g.output(x).expect("a valid output");
    let template = Template::new(g);
    let shape = [InputShape::dense(&[16])];
    let program = engine.specialise(&template, &shape).expect("a valid graph");
    let (x, mut y) = ([1f32; 16], [0f32; 16]);
    report(
        "copy of 64 bytes",
        median(10_000, || black_box(&mut y).copy_from_slice(black_box(&x))),
    );
    report(
        "specialise, known shape",
        median(10_000, || {
            black_box(engine.specialise(&template, black_box(&shape)).is_ok());
        }),
    );
    report(
        "checked call that moves 64 bytes",
        median(10_000, || {
            let (input, output) = (TensorRef::new(black_box(&x)), TensorMut::new(&mut y));
            black_box(program.run(&[input], &mut [output]).is_ok());
        }),
    );
    let table = [x.as_ptr().cast_mut().cast::<u8>(), y.as_mut_ptr().cast()];
    report(
        "raw call that moves 64 bytes",
        median(10_000, || {
            // SAFETY: both arrays hold the 64 bytes that the kernel reads and writes.
            black_box(unsafe { program.run_raw(black_box(&table)) }.is_ok());
        }),
    );
}

fn stages() {
    use restride_lower::plan::{PlanOptions, plan};
    for ops in [1, 4, 8] {
        let g = chain(ops);
        let canonical =
            restride_canon::canonicalise(&g, &Meter::unlimited(), None).expect("canonicalises");
        let planned = plan(&canonical, PlanOptions::default(), &Meter::unlimited()).expect("plans");
        let target = restride::Target::default();
        let scheduled =
            restride_lower::schedule(&planned, &target, &restride_budget::Meter::unlimited())
                .expect("schedules")
                .kernel;
        report(
            &format!("{ops} ops: canonicalise"),
            median(50, || {
                black_box(
                    restride_canon::canonicalise(black_box(&g), &Meter::unlimited(), None).is_ok(),
                );
            }),
        );
        report(
            &format!("{ops} ops: plan"),
            median(50, || {
                black_box(
                    plan(
                        black_box(&canonical),
                        PlanOptions::default(),
                        &Meter::unlimited(),
                    )
                    .is_ok(),
                );
            }),
        );
        report(
            &format!("{ops} ops: schedule"),
            median(50, || {
                black_box(
                    restride_lower::schedule(
                        black_box(&planned),
                        &target,
                        &restride_budget::Meter::unlimited(),
                    )
                    .is_ok(),
                );
            }),
        );
        report(
            &format!("{ops} ops: verify"),
            median(50, || {
                black_box(restride_loops::verify(scheduled.clone()).is_ok());
            }),
        );
        report(
            &format!("{ops} ops: all stages before code"),
            median(50, || {
                black_box(Stages::of(black_box(&g), &Options::default()).is_ok());
            }),
        );
        report(
            &format!("{ops} ops: graph to program, nothing shared"),
            median(5, || {
                black_box(Engine::default().compile(black_box(&g)).is_ok());
            }),
        );
        let engine = Engine::default();
        // Code is shared for as long as one program is alive.
        let _held = engine.compile(&g).expect("compiles");
        report(
            &format!("{ops} ops: graph to program, code shared"),
            median(50, || {
                black_box(engine.compile(black_box(&g)).is_ok());
            }),
        );
    }
}

fn main() {
    calls();
    stages();
}
