//! `latency [OUTPUTS] [HITS]`: what a compile that takes long does to those who did not ask for it.
//!
//! One thread looks up a known shape and calls its program, again and again, while another
//! compiles a graph with so many rolled outputs in a loop: the first alone, then both. Then engines
//! are dropped that have such a graph and a hundred others still to compile. Last, what an output costs
//! in calls of programs with ever more of them. Nothing here is
//! judged: a busy machine adds its own pauses to all of it, which is why the first line is there.

use restride::{
    Budget, Code, Config, ElementType, Engine, Graph, InputShape, Template, TensorMut, TensorRef,
    ViewPolicy,
};
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|n| n.parse::<usize>());
    let outputs = numbers.next().transpose()?.unwrap_or(200);
    let hits = numbers.next().transpose()?.unwrap_or(2_000_000);
    let slow = rolled(outputs, 3)?;
    let engine = Engine::default();
    println!("lookups and calls of one shape     p50      p99.9      worst");
    lookups(&engine, hits)?.tell("alone");
    let (stop, compiles) = (AtomicBool::new(false), AtomicU64::new(0));
    let begun = Instant::now();
    let beside = std::thread::scope(|threads| {
        threads.spawn(|| {
            // Each another graph, since those that are known are looked up.
            let mut others = (4..).map_while(|last| rolled(outputs, last).ok());
            while !stop.load(Ordering::Relaxed)
                && others
                    .next()
                    .is_some_and(|slow| engine.compile(&slow).is_ok())
            {
                compiles.fetch_add(1, Ordering::Relaxed);
            }
        });
        let beside = lookups(&engine, hits);
        stop.store(true, Ordering::Relaxed);
        beside
    })?;
    beside.tell("beside a compile");
    let compiles = compiles.into_inner();
    let each = begun.elapsed() / u32::try_from(compiles.max(1))?;
    println!("{compiles} compiles of {outputs} outputs meanwhile, {each:.1?} each");
    let mut drops = Vec::new();
    for _ in 0..10 {
        drops.push(dropped(&slow)?);
    }
    drops.sort();
    println!(
        "drop(engine) with 101 compiles to do: {:.1?} at the median, {:.1?} at worst",
        drops[5], drops[9]
    );
    println!("outputs    nanoseconds an output");
    for outputs in [10, 100, 1_000, 10_000, 60_000] {
        println!("{outputs:<10} {:>8.1}", an_output(outputs)?);
    }
    Ok(())
}

/// Nanoseconds of a call for each of so many outputs of 64 bytes, at the median.
fn an_output(outputs: usize) -> Result<f64, Box<dyn Error>> {
    let mut g = Graph::new("many");
    let x = g.input("x", ElementType::U8, [64])?;
    for _ in 0..outputs {
        g.output_as(x, ViewPolicy::Copy)?;
    }
    let engine = Engine::new(Config {
        budget: Budget::UNLIMITED,
        code: Code::Generic,
        ..Config::default()
    });
    let program = engine.compile(&g)?;
    let (x, mut y) = ([7u8; 64], vec![0u8; 64 * outputs]);
    let mut parts: Vec<_> = y.chunks_mut(64).map(TensorMut::new).collect();
    let mut times = Vec::new();
    for _ in 0..(1_000_000 / outputs).max(20) {
        let begun = Instant::now();
        program.run(&[TensorRef::new(&x)], &mut parts)?;
        times.push(begun.elapsed());
    }
    times.sort();
    Ok(times[times.len() / 2].as_secs_f64() * 1e9 / outputs as f64)
}

/// A graph whose outputs are of 64 pieces each.
fn rolled(outputs: usize, last: i64) -> Result<Graph, Box<dyn Error>> {
    let mut g = Graph::new("rolled");
    let x = g.input("x", ElementType::U8, [3, 3, 3, 3, 3, last])?;
    let y = g.roll(x, [1; 6], [0, 1, 2, 3, 4, 5])?;
    for _ in 0..outputs {
        g.output(y)?;
    }
    Ok(g)
}

/// A small graph that is computed.
fn turned(rows: i64) -> Result<Graph, Box<dyn Error>> {
    let mut g = Graph::new("turned");
    let x = g.input("x", ElementType::U8, [rows, 8])?;
    let t = g.transpose(x, [1, 0])?;
    let y = g.roll(t, [1], [1])?;
    g.output(y)?;
    Ok(g)
}

/// Times, shortest first.
struct Times(Vec<Duration>);

impl Times {
    fn tell(&self, of: &str) {
        let at = |share: f64| self.0[((self.0.len() - 1) as f64 * share) as usize];
        let (middle, rare, worst) = (at(0.5), at(0.999), at(1.0));
        println!("{of:<26} {middle:>10.1?} {rare:>10.1?} {worst:>10.1?}");
    }
}

/// Looks a shape up and calls its program so many times.
fn lookups(engine: &Engine, count: usize) -> Result<Times, Box<dyn Error>> {
    let node = Template::new(turned(4)?);
    let shape = [6, 8];
    let known = [InputShape::dense(&shape)];
    let (x, mut y) = ([1u8; 48], [0u8; 48]);
    let mut times = Vec::with_capacity(count);
    for round in 0..=count {
        let begun = Instant::now();
        let program = engine.specialise(&node, &known)?;
        program.run(&[TensorRef::new(&x)], &mut [TensorMut::new(&mut y)])?;
        // The first is compiled.
        if round > 0 {
            times.push(begun.elapsed());
        }
    }
    times.sort();
    Ok(Times(times))
}

/// How long it takes to drop an engine that has everything still to compile.
fn dropped(slow: &Graph) -> Result<Duration, Box<dyn Error>> {
    let engine = Engine::new(Config {
        code: Code::Background,
        ..Config::default()
    });
    let mut programs = vec![engine.compile(slow)?];
    for rows in 2..102 {
        programs.push(engine.compile(&turned(rows)?)?);
    }
    let begun = Instant::now();
    drop(engine);
    Ok(begun.elapsed())
}
