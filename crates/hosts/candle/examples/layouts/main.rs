//! What `contiguous` costs beside candle's own, layout by layout, and what lengths that grow cost.
//!
//! `cargo run --release -p restride-candle --example layouts`. The two take turns, and the median of the
//! quotients of neighbours counts, so that what else runs on the machine falls on both.

mod list;

use candle_core::{DType, Device, Result, Tensor};
use list::layouts;
use std::time::{Duration, Instant};

/// Ends what wide vectors have left behind in the upper halves of registers, which slows down whoever comes after.
fn clean() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") {
        // SAFETY: the instruction is there; nobody keeps values in the upper halves across a call.
        unsafe { std::arch::asm!("vzeroupper", options(nomem, nostack)) };
    }
}

fn time(count: u32, call: &dyn Fn() -> Result<Tensor>) -> Result<Duration> {
    clean();
    let start = Instant::now();
    for _ in 0..count {
        std::hint::black_box(call()?);
    }
    Ok(start.elapsed() / count)
}

fn main() -> Result<()> {
    let mut product = 0f64;
    let all = layouts()?;
    println!(
        "{:24} {:>12} {:>12} {:>8}",
        "", "candle", "restride", "quotient"
    );
    for (name, tensor) in &all {
        let theirs = || tensor.contiguous();
        let ours = || restride_candle::contiguous(tensor);
        time(100, &ours)?;
        let once = time(3, &theirs)?;
        let count = (2_000_000 / once.as_nanos().max(1)).clamp(1, 20_000) as u32;
        let mut pairs = Vec::new();
        for _ in 0..25 {
            pairs.push((time(count, &theirs)?, time(count, &ours)?));
        }
        pairs.sort_by(|a, b| {
            let quotient =
                |(theirs, ours): &(Duration, Duration)| theirs.as_secs_f64() / ours.as_secs_f64();
            quotient(a).total_cmp(&quotient(b))
        });
        let (theirs, ours) = pairs[pairs.len() / 2];
        let quotient = theirs.as_secs_f64() / ours.as_secs_f64();
        product += quotient.ln();
        println!("{name:24} {theirs:>12.2?} {ours:>12.2?} {quotient:>8.2}");
    }
    let mean = (product / all.len() as f64).exp();
    println!("{:24} {:>12} {:>12} {mean:>8.2}", "geometric mean", "", "");
    growing_lengths()
}

/// A cache that grows by one token a step, as a decoder has it that joins and turns it each time: by candle twice, by
/// restride twice. The first time the C library grows, which is nobody's merit; what the third takes longer than the last,
/// when all have been seen, is planning.
fn growing_lengths() -> Result<()> {
    let start = restride_candle::engine().stats();
    let mut waited = [Duration::ZERO; 4];
    for (pass, waited) in waited.iter_mut().enumerate() {
        for length in 1..=1000 {
            let shape = (1, length, 8, 64);
            let keys = Tensor::zeros(shape, DType::F32, &Device::Cpu)?.transpose(1, 2)?;
            let new = Tensor::zeros((1, 1, 8, 64), DType::F32, &Device::Cpu)?.transpose(1, 2)?;
            clean();
            let start = Instant::now();
            if pass < 2 {
                Tensor::cat(&[&keys, &new], 2)?.contiguous()?;
                keys.contiguous()?;
            } else {
                restride_candle::cat(&[&keys, &new], 2)?;
                restride_candle::contiguous(&keys)?;
            }
            *waited += start.elapsed();
        }
    }
    let end = restride_candle::engine().stats();
    let [_, theirs, first, second] = waited;
    println!(
        "1000 lengths, cat and contiguous: candle {theirs:.2?}, restride {first:.2?}, and {second:.2?} when all have been seen; \
         {} plans, {} of machine code, {} kB kept",
        end.misses - start.misses,
        end.compiled - start.compiled,
        (end.bytes - start.bytes) / 1000
    );
    Ok(())
}
