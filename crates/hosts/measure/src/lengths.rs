//! A cache of keys in tract that grows by one token a step, turned and joined at each: what a thousand lengths cost.

use std::time::{Duration, Instant};
use tract_onnx::prelude::*;
use tract_onnx::tract_core::internal::*;
use tract_onnx::tract_core::ops::array::TypedConcat;

/// Keys [1, S, 8, 64] and those of a new token, as heads: [1, 8, 64, S + 1].
fn model() -> TractResult<TypedModel> {
    let mut model = TypedModel::default();
    let length = model.symbols.sym("S").to_dim();
    let shape = [1.to_dim(), length, 8.to_dim(), 64.to_dim()];
    let keys = model.add_source("keys", f32::fact(&shape))?;
    let new = model.add_source("new", f32::fact([1, 1, 8, 64]))?;
    let all = model.wire_node("all", TypedConcat { axis: 1 }, &[keys, new])?;
    let heads = model.wire_node("heads", AxisOp::Move(1, 2), &all)?;
    let turned = model.wire_node("turned", AxisOp::Move(2, 3), &heads)?;
    model.select_output_outlets(&turned)?;
    Ok(model)
}

/// The inputs for a length.
fn inputs(length: usize) -> TractResult<TVec<TValue>> {
    let numbers: Vec<f32> = (0..length * 512).map(|n| n as f32).collect();
    let keys = tensor1(&numbers).into_shape(&[1, length, 8, 64])?;
    let new = Tensor::zero::<f32>(&[1, 1, 8, 64])?;
    Ok(tvec!(keys.into_tvalue(), new.into_tvalue()))
}

/// The most memory that this process has had so far, as Linux says it.
fn most() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(String::new, |most| most.trim().to_owned())
}

/// Runs all lengths without, twice, and with, twice. The first time the C library grows, which is nobody's merit; what the
/// third takes longer than the last, when all have been seen, is planning.
pub fn measure() -> TractResult<()> {
    let engine = restride::Engine::default();
    let plain = model()?;
    let mut fused = plain.clone();
    fused.transform(&restride_tract::fuse_with(engine.clone()))?;
    let options = RunOptions::default();
    let plain = plain.into_runnable_with_options(&options)?;
    let fused = fused.into_runnable_with_options(&options)?;
    let mut times = [Duration::ZERO; 4];
    let mut memory = Vec::new();
    for (time, model) in times.iter_mut().zip([&plain, &plain, &fused, &fused]) {
        for length in 1..=1000 {
            let inputs = inputs(length)?;
            let start = Instant::now();
            std::hint::black_box(model.run(inputs)?);
            *time += start.elapsed();
        }
        memory.push(most());
    }
    for length in 1..=1000 {
        let [theirs, ours] = [&plain, &fused].map(|model| model.run(inputs(length)?));
        let same = theirs?[0].as_bytes() == ours?[0].as_bytes();
        ensure!(same, "length {length}");
    }
    let ([_, theirs, first, second], stats) = (times, engine.stats());
    println!(
        "1000 lengths, joined and turned: {theirs:.1?} -> {first:.1?}, and {second:.1?} when all have been seen; \
         {} plans, {} of machine code, {} kB kept; memory at most {} -> {}; same bits",
        stats.misses,
        stats.compiled,
        stats.bytes / 1000,
        memory[1],
        memory[3]
    );
    Ok(())
}
