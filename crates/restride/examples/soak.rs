//! Whether an engine stays small and right for long: `soak shapes [N]`, `soak scratch [N]`, `soak threads [SECONDS]`;
//! without arguments a little of both.
//!
//! `shapes` passes N distinct shapes (a million) through one engine, most of them beyond the
//! budget for native code, and prints what the process holds on the way. `threads` lets eight
//! threads specialise, run, evict and drop at random and counts wrong bytes. Memory is read from
//! `/proc`, so the numbers are there on Linux only.

use restride::{
    Config, ElementType, Engine, Graph, IndexRule, InputShape, Template, TensorMut, TensorRef,
    ViewPolicy,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next();
    let number = arguments.next().map(|n| n.parse::<u64>()).transpose()?;
    match what.as_deref() {
        Some("shapes") => shapes(number.unwrap_or(1_000_000)),
        Some("scratch") => scratch(number.unwrap_or(100_000)),
        Some("threads") => threads(Duration::from_secs(number.unwrap_or(60))),
        Some(_) => Err("soak shapes [N] | soak scratch [N] | soak threads [SECONDS]".into()),
        None => {
            shapes(2_000)?;
            scratch(500)?;
            threads(Duration::from_secs(1))
        }
    }
}

/// A pixel shuffle by hand: a kernel that is no view, of any size.
fn node() -> Result<Template, Box<dyn std::error::Error>> {
    let mut g = Graph::new("node");
    let x = g.input("x", ElementType::U8, [2, 3, 5])?;
    let turned = g.transpose(x, [2, 0, 1])?;
    let y = g.reverse(turned, [1])?;
    g.output(y)?;
    Ok(Template::new(g))
}

fn ask(engine: &Engine, node: &Template, shape: [i64; 3]) -> Result<bool, String> {
    let program = engine.specialise(node, &[InputShape::dense(&shape)]);
    let program = program.map_err(|error| error.to_string())?;
    let [a, b, c] = shape.map(|size| size as usize);
    let x: Vec<u8> = (0..a * b * c).map(|n| ((n * 31) >> 2) as u8).collect();
    let mut y = vec![0; x.len()];
    let done = program.run(&[TensorRef::new(&x)], &mut [TensorMut::new(&mut y)]);
    done.map_err(|error| error.to_string())?;
    let source = |at: usize| {
        let (k, i, j) = (at / (a * b), at / b % a, at % b);
        ((a - 1 - i) * b + j) * c + k
    };
    Ok((0..y.len()).all(|at| y[at] == x[source(at)]))
}

/// Resident kilobytes and lines of the memory map.
fn held() -> (u64, usize) {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let status = read("/proc/self/status");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident = resident.and_then(|line| line.split_whitespace().next()?.parse().ok());
    (
        resident.unwrap_or(0),
        read("/proc/self/maps").lines().count(),
    )
}

fn shapes(count: u64) -> Result<(), Box<dyn std::error::Error>> {
    // Machine code for every shape of ten nodes.
    let engine = Engine::new(Config {
        views: ViewPolicy::Copy,
        native_after_calls: Some(0),
        ..Config::default()
    });
    let nodes: Vec<Template> = (0..10).map(|_| node()).collect::<Result<_, _>>()?;
    println!("shapes     seconds  RSS kB  map lines  code bytes  entries  compiled  evictions");
    let (start, mut wrong) = (Instant::now(), 0u64);
    for n in 1..=count {
        // Scattered, so that small and large shapes come early and late alike.
        let at = n as i64 / 10 * 48_271 % 111_100;
        let shape = [1 + at % 11, 1 + at / 11 % 101, 1 + at / 1_111 % 100];
        if !ask(&engine, &nodes[(n % 10) as usize], shape)? {
            wrong += 1;
        }
        if n == count || (n >= 1_000 && n.to_string().trim_end_matches('0') == "1") {
            let (resident, lines) = held();
            let stats = engine.stats();
            println!(
                "{n:<9} {:>8.1} {resident:>7} {lines:>10} {:>11} {:>8} {:>9} {:>10}",
                start.elapsed().as_secs_f64(),
                stats.code_bytes,
                stats.entries,
                stats.compiled,
                stats.evictions
            );
        }
    }
    println!("{wrong} wrong");
    if wrong > 0 {
        Err("wrong bytes".into())
    } else {
        Ok(())
    }
}

/// Passes so many shapes of a node that needs scratch, up to 800 kB of it, through one engine, and
/// compares what the process holds with what the engine says that it keeps.
fn scratch(count: u64) -> Result<(), Box<dyn std::error::Error>> {
    // Bytes by indices that are computed themselves.
    let mut g = Graph::new("scratch");
    let x = g.input("x", ElementType::U8, [4])?;
    let i = g.input("i", ElementType::I64, [9])?;
    let j = g.roll(i, [1], [0])?;
    let y = g.gather(x, j, IndexRule::ONNX).axis(0).finish()?;
    g.output(y)?;
    let node = Template::new(g);
    let engine = Engine::default();
    let bounds = engine.config().scratch_bytes + engine.config().cache_bytes;
    let (i, mut y) = (vec![3i64; 100_000], vec![0u8; 100_000]);
    println!(
        "shapes     RSS kB  scratch kB  cache kB  entries    (bounds: {} kB)",
        bounds >> 10
    );
    for n in 1..=count {
        let length = 1 + (n * 48_271 % 100_003) as usize % 100_000;
        let sizes = [length as i64];
        let shapes = [InputShape::dense(&[4]), InputShape::dense(&sizes)];
        let program = engine.specialise(&node, &shapes)?;
        let inputs = [
            TensorRef::new(&[5u8, 6, 7, 8]),
            TensorRef::new(&i[..length]),
        ];
        y[length - 1] = 0;
        program.run(&inputs, &mut [TensorMut::new(&mut y[..length])])?;
        if y[length - 1] != 8 {
            return Err("wrong bytes".into());
        }
        if n == count || (n >= 1_000 && n.to_string().trim_end_matches('0') == "1") {
            let stats = engine.stats();
            println!(
                "{n:<9} {:>7} {:>11} {:>9} {:>8}",
                held().0,
                stats.scratch_bytes >> 10,
                stats.bytes >> 10,
                stats.entries
            );
        }
    }
    Ok(())
}

fn threads(duration: Duration) -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::new(Config {
        views: ViewPolicy::Copy,
        cache_entries: 64,
        cache_bytes: 1 << 20,
        ..Config::default()
    });
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let (wrong, errors) = (AtomicU64::new(0), AtomicU64::new(0));
    let nodes: Vec<Template> = (0..4).map(|_| node()).collect::<Result<_, _>>()?;
    let before = held();
    std::thread::scope(|scope| {
        for thread in 0..8u64 {
            let (engine, nodes, stop, done) = (&engine, &nodes, &stop, &done);
            let (wrong, errors) = (&wrong, &errors);
            scope.spawn(move || {
                let mut state = thread + 1;
                let mut random = |bound: u64| {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    (state >> 33) % bound
                };
                while !stop.load(Ordering::Relaxed) {
                    // New templates, so that there is machine code to be made for ever.
                    let fresh = (random(20) == 0).then(|| node().ok()).flatten();
                    let node = fresh.as_ref().unwrap_or(&nodes[random(4) as usize]);
                    let shape = [8, 8, 8].map(|most| 1 + random(most) as i64);
                    match ask(engine, node, shape) {
                        Ok(true) => {}
                        Ok(false) => drop(wrong.fetch_add(1, Ordering::Relaxed)),
                        Err(_) => drop(errors.fetch_add(1, Ordering::Relaxed)),
                    }
                    if random(500) == 0 {
                        engine.clear();
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(duration);
        stop.store(true, Ordering::Relaxed);
    });
    println!(
        "before: {before:?}, after: {:?} (RSS kB, map lines)",
        held()
    );
    println!("{:?}", engine.stats());
    let (wrong, errors) = (wrong.into_inner(), errors.into_inner());
    println!(
        "{} operations, {errors} errors, {wrong} wrong",
        done.into_inner()
    );
    if wrong + errors > 0 {
        Err("wrong".into())
    } else {
        Ok(())
    }
}
