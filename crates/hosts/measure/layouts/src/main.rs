//! The layouts of `crates/hosts/candle/examples/layouts` copied into a row by candle, burn-flex, ndarray and restride, in turns, the least
//! time of each; and the six rows of <https://github.com/tracel-ai/burn/issues/5613>: `FlexTensor` as it copies itself, and
//! by restride from its own bytes and strides.
//!
//! `cargo run --release` here; `-- WORD` measures the layouts alone whose names have the word.

mod flex;
#[path = "../../../candle/examples/layouts/list.rs"]
mod list;

use burn_backend::DType as BurnType;
use burn_flex::{FlexTensor, Layout as BurnLayout};
use burn_std::Bytes;
use candle_core::DType;
use ndarray::{ArrayView, IxDyn, ShapeBuilder as _};
use restride::{ElementType, Engine};
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Ends what wide vectors have left behind in the upper halves of registers, which slows down whoever comes after.
fn clean() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") {
        // SAFETY: the instruction is there; nobody keeps values in the upper halves across a call.
        unsafe { std::arch::asm!("vzeroupper", options(nomem, nostack)) };
    }
}

/// The least time of each, in turns.
fn least(runs: &[&dyn Fn()]) -> Vec<Duration> {
    let mut least = vec![Duration::MAX; runs.len()];
    for run in runs {
        run();
    }
    let start = Instant::now();
    runs[0]();
    let count = (1_000_000 / start.elapsed().as_nanos().max(1)).clamp(1, 5_000) as u32;
    for _ in 0..15 {
        for (run, least) in runs.iter().zip(&mut least) {
            clean();
            let start = Instant::now();
            (0..count).for_each(|_| run());
            *least = (*least).min(start.elapsed() / count);
        }
    }
    least
}

fn standard<T: Copy>(data: &[T], sizes: &[usize], strides: &[usize]) {
    let shape = IxDyn(sizes).strides(IxDyn(strides));
    let view = ArrayView::from_shape(shape, data).expect("a layout of ndarray's");
    black_box(view.as_standard_layout().into_owned());
}

fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::default();
    println!(
        "{:24} {:>10} {:>10} {:>10} {:>10}",
        "", "candle", "burn-flex", "ndarray", "restride"
    );
    let mut products = [0f64; 3];
    let word = std::env::args().nth(1);
    let mut all = list::layouts()?;
    all.retain(|(name, _)| word.as_deref().is_none_or(|word| name.contains(word)));
    for (name, tensor) in &all {
        let (dtype, element) = match tensor.dtype() {
            DType::F32 => (BurnType::F32, ElementType::F32),
            DType::F16 => (BurnType::F16, ElementType::F16),
            _ => (BurnType::U8, ElementType::U8),
        };
        let layout = tensor.layout();
        let (sizes, strides) = (layout.dims(), layout.stride());
        let last = sizes
            .iter()
            .zip(strides)
            .map(|(size, stride)| (size - 1) * stride);
        let count = layout.start_offset() + last.sum::<usize>() + 1;
        let signed = strides.iter().map(|stride| *stride as isize).collect();
        let burn = FlexTensor::new(
            Bytes::from_bytes_vec(vec![1; count * element.width()]),
            BurnLayout::new(sizes.to_vec().into(), signed, layout.start_offset()),
            dtype,
        );
        let (wide, half, byte) = (vec![1f32; count], vec![1u16; count], vec![1u8; count]);
        let from = layout.start_offset();
        let times = least(&[
            &|| drop(black_box(tensor.contiguous())),
            &|| drop(black_box(burn.to_contiguous())),
            &|| match tensor.dtype() {
                DType::F32 => standard(&wide[from..], sizes, strides),
                DType::F16 => standard(&half[from..], sizes, strides),
                _ => standard(&byte[from..], sizes, strides),
            },
            &|| drop(black_box(restride_candle::contiguous(tensor))),
        ]);
        let [candle, flex, array, ours] = times[..] else {
            unreachable!()
        };
        println!("{name:24} {candle:>10.1?} {flex:>10.1?} {array:>10.1?} {ours:>10.1?}");
        for (product, time) in products.iter_mut().zip(&times) {
            *product += (time.as_secs_f64() / ours.as_secs_f64()).ln();
        }
    }
    let [candle, flex, array] = products.map(|sum| (sum / all.len() as f64).exp());
    println!(
        "{:24} {candle:>9.2}x {flex:>9.2}x {array:>9.2}x",
        "geometric mean"
    );
    if word.is_some() {
        return Ok(());
    }

    println!(
        "\n{:24} {:>10} {:>10} {:>8}",
        "burn #5613, 16 MB f32", "burn-flex", "restride", ""
    );
    let dense = |sizes: &[usize]| {
        let labels: Vec<f32> = (0..sizes.iter().product::<usize>())
            .map(|n| n as f32)
            .collect();
        let layout = BurnLayout::contiguous(sizes.to_vec().into());
        FlexTensor::new(Bytes::from_elems(labels), layout, BurnType::F32)
    };
    let square = dense(&[2048, 2048]);
    let flipped = |axis: usize| {
        FlexTensor::from_arc(
            square.data_arc(),
            square.layout().flip(&[axis]),
            BurnType::F32,
        )
    };
    let rows = [
        (
            "view with an offset",
            dense(&[2049, 2048]).narrow(0, 1, 2048),
        ),
        ("2-D transpose", square.transpose(0, 1)),
        ("batched transpose", dense(&[8, 2048, 256]).transpose(1, 2)),
        ("flip along axis 1", flipped(1)),
        ("flip along axis 0", flipped(0)),
        ("[N, 1] to [1, N]", dense(&[4 << 20, 1]).transpose(0, 1)),
    ];
    for (name, tensor) in &rows {
        assert_eq!(
            tensor.to_contiguous().bytes(),
            flex::to_contiguous(&engine, tensor).bytes()
        );
        let times = least(&[&|| drop(black_box(tensor.to_contiguous())), &|| {
            drop(black_box(flex::to_contiguous(&engine, tensor)))
        }]);
        let quotient = times[0].as_secs_f64() / times[1].as_secs_f64();
        println!(
            "{name:24} {:>10.1?} {:>10.1?} {quotient:>7.2}x",
            times[0], times[1]
        );
    }
    Ok(())
}
