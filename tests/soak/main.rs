//! `soak [SECONDS] [THREADS]`: everything an engine can be asked for, at random, for an hour.
//!
//! Threads draw random graphs, compile them, specialise templates of them, run them alone and
//! shared out, hold on to programs and let go of them, clear caches, and replace engines under
//! one another. Every answer is compared with the oracle's. A line a minute says what the process
//! holds; after the first few minutes that must not grow.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use restride::{
    Code, Config, Engine, InputShape, Memory, ParallelFor, Program, Target, Template, ViewPolicy,
};
use restride_graph::{Graph, TensorType};
use restride_testkit::generate::{Kind, Random, case};
use restride_tests::answer::Answer;

/// Programs that a thread holds on to, and templates that all share.
const HELD: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|n| n.parse::<u64>());
    let seconds = arguments.next().transpose()?.unwrap_or(3600);
    let threads = arguments.next().transpose()?.unwrap_or(2);
    let soak = Soak::new();
    let start = Instant::now();
    println!(
        "seconds  operations    refused  wrong  programs  code bytes  heap kB  RSS kB  map lines"
    );
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let soak = &soak;
            scope.spawn(move || soak.work(thread));
        }
        let step = Duration::from_secs((seconds / 60).max(1));
        while start.elapsed() < Duration::from_secs(seconds) {
            std::thread::sleep(step);
            soak.tell(start.elapsed().as_secs());
        }
        soak.stop.store(true, Ordering::Relaxed);
    });
    match soak.wrong.load(Ordering::Relaxed) {
        0 => Ok(()),
        wrong => Err(format!("{wrong} wrong").into()),
    }
}

/// A graph that was drawn, as it is asked for again.
struct Known {
    template: Template,
    inputs: Vec<TensorType>,
    answer: Answer,
}

impl Known {
    fn draw(random: &mut Random) -> Option<Arc<Known>> {
        let (seed, number) = (random.bits(), random.below(1 << 20) as u64);
        let case = case(seed, number, Kind::of_number(number), 8);
        let answer = Answer::of(&case).ok()?;
        let inputs = case.graph.inputs().iter();
        Some(Arc::new(Known {
            inputs: inputs.map(|&input| case.graph.ty(input).clone()).collect(),
            template: Template::new(case.graph.clone()),
            answer,
        }))
    }

    fn graph(&self) -> &Graph {
        self.template.graph()
    }

    fn specialise(&self, engine: &Engine) -> Result<Program, String> {
        let shapes: Vec<InputShape<'_>> = (self.inputs.iter())
            .map(|ty| match ty.layout() {
                Some(layout) => InputShape::strided(ty.shape(), layout.offset, &layout.strides),
                None => InputShape::dense(ty.shape()),
            })
            .collect();
        let program = engine.specialise(&self.template, &shapes);
        program.map_err(|error| error.to_string())
    }
}

struct Soak {
    engines: RwLock<Vec<Engine>>,
    shared: Mutex<VecDeque<Arc<Known>>>,
    programs: AtomicU64,
    operations: AtomicU64,
    refused: AtomicU64,
    wrong: AtomicU64,
    stop: AtomicBool,
}

impl Soak {
    fn new() -> Soak {
        let mut random = Random::new(1);
        Soak {
            engines: RwLock::new((0..4).map(|_| engine(&mut random)).collect()),
            shared: Mutex::default(),
            programs: AtomicU64::new(0),
            operations: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            wrong: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        }
    }

    fn work(&self, thread: u64) {
        let mut random = Random::of_case(2, thread);
        let mut held: Vec<(Program, Arc<Known>)> = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            self.operations.fetch_add(1, Ordering::Relaxed);
            let engine = {
                let engines = self.engines.read().unwrap_or_else(PoisonError::into_inner);
                engines[random.below(engines.len())].clone()
            };
            match random.below(1000) {
                0..100 => {
                    if let Some(known) = Known::draw(&mut random) {
                        let mut shared = self.lock();
                        shared.push_back(known);
                        if shared.len() > HELD {
                            shared.pop_front();
                        }
                    }
                }
                100..700 => {
                    let known = {
                        let shared = self.lock();
                        shared.get(random.below(shared.len().max(1))).cloned()
                    };
                    let Some(known) = known else { continue };
                    let made = match random.flip() {
                        true => known.specialise(&engine),
                        false => (engine.compile(known.graph())).map_err(|e| e.to_string()),
                    };
                    match made {
                        Ok(program) => {
                            self.run(&program, &known, &mut random);
                            if random.percent(30) {
                                self.programs.fetch_add(1, Ordering::Relaxed);
                                held.push((program, known));
                            }
                        }
                        Err(error) => self.is_wrong(&known, &error),
                    }
                }
                700..990 if !held.is_empty() => {
                    let at = random.below(held.len());
                    let (program, known) = &held[at];
                    self.run(program, known, &mut random);
                    if random.percent(30) || held.len() > HELD {
                        self.programs.fetch_sub(1, Ordering::Relaxed);
                        drop(held.swap_remove(at));
                    }
                }
                990..995 => engine.clear(),
                995..998 => {
                    let fresh = crate::engine(&mut random);
                    let mut engines = self.engines.write().unwrap_or_else(PoisonError::into_inner);
                    let at = random.below(engines.len());
                    let old = std::mem::replace(&mut engines[at], fresh);
                    drop(engines);
                    drop(old);
                }
                _ => drop(engine.stats()),
            }
        }
    }

    fn run(&self, program: &Program, known: &Known, random: &mut Random) {
        let shares = Shares(2 + random.below(4));
        let pool = random.flip().then_some(&shares as &dyn ParallelFor);
        match known.answer.is_that_of(program, pool) {
            Ok(()) if known.answer.is_refusal() => {
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
            Ok(()) => {}
            Err(difference) => self.is_wrong(known, &difference),
        }
    }

    fn is_wrong(&self, known: &Known, difference: &str) {
        self.wrong.fetch_add(1, Ordering::Relaxed);
        eprintln!("{difference}\n{}", known.graph());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Arc<Known>>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has been done, and what the process holds.
    fn tell(&self, seconds: u64) {
        let engines = self.engines.read().unwrap_or_else(PoisonError::into_inner);
        let (mut programs, mut code) = (self.programs.load(Ordering::Relaxed), 0);
        for stats in engines.iter().map(Engine::stats) {
            programs += stats.entries as u64;
            code += stats.code_bytes;
        }
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (operations, refused) = (count(&self.operations), count(&self.refused));
        let (wrong, (resident, lines)) = (count(&self.wrong), held_by_process());
        println!(
            "{seconds:>7} {operations:>11} {refused:>10} {wrong:>6} {programs:>9} {code:>11} \
             {:>8} {resident:>7} {lines:>10}",
            heap() >> 10
        );
    }
}

/// An engine of any kind, with a small cache.
fn engine(random: &mut Random) -> Engine {
    let code = [Code::Native, Code::Native, Code::Background, Code::Generic];
    let memory = [Memory::Auto, Memory::Arena, Memory::Module];
    let target = [Target::default(), Target::cramped()];
    Engine::new(Config {
        code: random.pick(&code),
        memory: random.pick(&memory),
        target: target[random.below(2)].clone(),
        cache_entries: 16 << random.below(3),
        cache_bytes: 1 << (12 + random.below(9)),
        native_after_calls: Some(random.below(5) as u32).filter(|n| *n < 4),
        verify: random.percent(10).then_some(1 << 16),
        views: ViewPolicy::Copy,
        ..Config::default()
    })
}

/// Shares work out to threads of its own.
struct Shares(usize);

impl ParallelFor for Shares {
    fn width(&self) -> usize {
        self.0
    }

    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            (1..count).for_each(|n| drop(scope.spawn(move || body(n))));
            body(0);
        });
    }
}

/// Bytes of the heap that are in use; 0 where nobody counts them.
fn heap() -> usize {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it only counts.
    return unsafe { libc::mallinfo2() }.uordblks;
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    return 0;
}

/// Resident kilobytes and lines of the memory map.
fn held_by_process() -> (u64, usize) {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let status = read("/proc/self/status");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident = resident.and_then(|line| line.split_whitespace().next()?.parse().ok());
    (
        resident.unwrap_or(0),
        read("/proc/self/maps").lines().count(),
    )
}
