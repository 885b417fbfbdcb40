//! What `contiguous` costs beside candle's own, layout by layout, and what lengths that grow cost.
//!
//! `cargo run --release -p restride-candle --example layouts`. The two take turns, and the median of the
//! quotients of neighbours counts, so that what else runs on the machine falls on both.

use candle_core::{DType, Device, Result, Tensor};
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

fn layouts() -> Result<Vec<(&'static str, Tensor)>> {
    let of = |shape: &[usize], dtype| Tensor::zeros(shape, dtype, &Device::Cpu);
    let f32s = |shape: &[usize]| of(shape, DType::F32);
    let f16s = |shape: &[usize]| of(shape, DType::F16);
    let u8s = |shape: &[usize]| of(shape, DType::U8);
    Ok(vec![
        (
            "u8 image to planes",
            u8s(&[1080, 1920, 3])?.permute((2, 0, 1))?,
        ),
        (
            "u8 planes to image",
            u8s(&[3, 1080, 1920])?.permute((1, 2, 0))?,
        ),
        (
            "f32 NCHW to NHWC",
            f32s(&[1, 64, 112, 112])?.permute((0, 2, 3, 1))?,
        ),
        (
            "f32 NHWC to NCHW",
            f32s(&[1, 112, 112, 64])?.permute((0, 3, 1, 2))?,
        ),
        ("f32 split heads", f32s(&[1, 512, 12, 64])?.transpose(1, 2)?),
        (
            "f16 split heads",
            f16s(&[1, 512, 32, 128])?.transpose(1, 2)?,
        ),
        ("f32 keys turned", f32s(&[1, 12, 512, 64])?.transpose(2, 3)?),
        (
            "f16 keys turned",
            f16s(&[1, 32, 512, 128])?.transpose(2, 3)?,
        ),
        ("f32 matrix turned", f32s(&[1024, 1024])?.t()?),
        ("f16 matrix turned", f16s(&[1024, 1024])?.t()?),
        ("f32 batch turned", f32s(&[64, 128, 128])?.transpose(1, 2)?),
        (
            "f32 windows",
            f32s(&[1, 8, 7, 8, 7, 96])?.permute((0, 1, 3, 2, 4, 5))?,
        ),
        (
            "f32 windows with shift",
            f32s(&[1, 64, 64, 96])?
                .narrow(1, 4, 56)?
                .narrow(2, 4, 56)?
                .reshape((1, 8, 7, 8, 7, 96))?
                .permute((0, 1, 3, 2, 4, 5))?,
        ),
        (
            "f32 patches",
            f32s(&[1, 3, 14, 16, 14, 16])?.permute((0, 2, 4, 3, 5, 1))?,
        ),
        (
            "f32 pixel shuffle",
            f32s(&[1, 64, 2, 2, 90, 160])?.permute((0, 1, 4, 2, 5, 3))?,
        ),
        (
            "f32 channels shuffled",
            f32s(&[1, 2, 58, 28, 28])?.transpose(1, 2)?,
        ),
        (
            "f32 heads repeated",
            f32s(&[1, 8, 1, 256, 64])?.broadcast_as((1, 8, 4, 256, 64))?,
        ),
        (
            "f32 last axis cropped",
            f32s(&[1, 256, 3072])?.narrow(2, 1024, 1024)?,
        ),
        (
            "f32 box cropped",
            f32s(&[3, 512, 512])?
                .narrow(1, 16, 480)?
                .narrow(2, 16, 480)?,
        ),
        (
            "f32 one decoded token",
            f32s(&[1, 1, 32, 128])?
                .transpose(1, 2)?
                .broadcast_as((2, 32, 1, 128))?,
        ),
    ])
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

    // A cache that grows by one token a step, as a decoder has it that joins and turns it each time.
    let before = restride_candle::engine().stats();
    let start = Instant::now();
    let mut waited = Duration::ZERO;
    for length in 1..=1000 {
        let keys = Tensor::zeros((1, length, 8, 64), DType::F32, &Device::Cpu)?.transpose(1, 2)?;
        let new = Tensor::zeros((1, 1, 8, 64), DType::F32, &Device::Cpu)?.transpose(1, 2)?;
        let start = Instant::now();
        restride_candle::cat(&[&keys, &new], 2)?;
        restride_candle::contiguous(&keys)?;
        waited += start.elapsed();
    }
    let after = restride_candle::engine().stats();
    println!(
        "1000 lengths, cat and contiguous: {:.2?} of {:.2?}, {} plans, {} of machine code, {} kB kept",
        waited,
        start.elapsed(),
        after.misses - before.misses,
        after.compiled - before.compiled,
        (after.bytes - before.bytes) / 1000
    );
    Ok(())
}
