//! How fast code is checked: `speed [KERNELS] [FIRST SEED]` random kernels at every level.

use std::time::{Duration, Instant};

use restride_check::{Form, Limits, Processor, Report, Subject, Unproved, check};
use restride_jit::{CompileOptions, Compiler, Features};
use restride_loops::{generate, verify};

fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|number| number.parse().ok());
    let kernels: u64 = numbers.next().unwrap_or(1000);
    let first: u64 = numbers.next().unwrap_or(0);
    let levels = Features::ALL.into_iter().filter(|l| l.is_available());
    let mut total = Report::default();
    let (mut spent, mut checked, mut over, mut refused) = (Duration::ZERO, 0u64, 0u64, 0u64);
    let mut unreached = 0usize;
    for level in levels {
        let mut options = CompileOptions::default();
        options.features = level;
        options.contracts = true;
        let Ok(mut compiler) = Compiler::new(options) else {
            continue;
        };
        for seed in first..first + kernels {
            let kernel = generate::kernel(seed);
            let Ok(kernel) = verify(kernel) else {
                continue;
            };
            let Ok(native) = compiler.compile(&kernel) else {
                continue;
            };
            let phases: Vec<usize> = native.phase_offsets().collect();
            let subject = Subject {
                processor: Processor::X86,
                code: native.code(),
                form: Form::Phases(&phases),
                kernel: &kernel,
                callees: native.callees(),
            };
            let begun = Instant::now();
            let result = check(&subject, &Limits::default());
            spent += begun.elapsed();
            match result {
                Ok(report) => {
                    checked += 1;
                    total.runs += report.runs;
                    total.steps += report.steps;
                    total.accesses += report.accesses;
                    total.bytes += report.bytes;
                    total.calls += report.calls;
                    unreached += usize::from(report.executed.is_empty());
                }
                Err(Unproved::Limit(_)) => over += 1,
                Err(violation) => {
                    refused += 1;
                    if refused <= 10 {
                        println!("seed {seed} at {level:?}: {violation}");
                    }
                }
            }
        }
    }
    let seconds = spent.as_secs_f64().max(1e-9);
    println!(
        "{checked} checked, {refused} refused, {over} over the limit, {unreached} without a step"
    );
    println!(
        "{} runs, {} steps, {} accesses, {} bytes, {} calls",
        total.runs, total.steps, total.accesses, total.bytes, total.calls
    );
    println!(
        "{:.0} kernels/s, {:.1} million steps/s, {:.1} ns a step",
        checked as f64 / seconds,
        total.steps as f64 / seconds / 1e6,
        seconds * 1e9 / total.steps.max(1) as f64
    );
}
