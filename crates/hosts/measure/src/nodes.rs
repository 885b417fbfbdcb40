//! Single operators of tract beside restride in their place, at several sizes: what the estimates of restride-tract, which
//! groups gain, are taken from.

use crate::clean;
use std::time::{Duration, Instant};
use tract_onnx::prelude::*;
use tract_onnx::tract_core::internal::*;
use tract_onnx::tract_core::ops::Downsample;
use tract_onnx::tract_core::ops::array::{
    Gather, MultiBroadcastTo, Pad, PadMode, Slice, Tile, TypedConcat,
};

/// One operator on rows that are so many elements apart.
fn operators(rows: usize, row: usize) -> Vec<(&'static str, Vec<Box<dyn TypedOp>>, Vec<usize>)> {
    let shape = vec![1, rows, row];
    let slice = |axis: usize, end: usize| Slice {
        axis,
        start: 0.to_dim(),
        end: end.to_dim(),
    };
    let pads = vec![(0, 0), (0, 0), (1, 1)];
    let one = |op: Box<dyn TypedOp>| vec![op];
    vec![
        (
            "slice, outer axis",
            one(Box::new(slice(1, rows / 2))),
            shape.clone(),
        ),
        (
            "slice, last axis",
            one(Box::new(slice(2, row / 2))),
            shape.clone(),
        ),
        (
            "concat, outer axis",
            one(Box::new(TypedConcat { axis: 1 })),
            shape.clone(),
        ),
        (
            "concat, last axis",
            one(Box::new(TypedConcat { axis: 2 })),
            shape.clone(),
        ),
        (
            "gather of rows",
            one(Box::new(Gather::new(1))),
            shape.clone(),
        ),
        (
            "gather of elements",
            one(Box::new(Gather::new(2))),
            shape.clone(),
        ),
        (
            "move, last axis",
            one(Box::new(AxisOp::Move(2, 1))),
            shape.clone(),
        ),
        (
            "move of rows",
            one(Box::new(AxisOp::Move(1, 0))),
            vec![8, rows / 8, row],
        ),
        (
            "two moves",
            vec![Box::new(AxisOp::Move(2, 0)), Box::new(AxisOp::Move(2, 1))],
            vec![8, rows / 8, row],
        ),
        (
            "slice and move",
            vec![Box::new(slice(1, rows / 2)), Box::new(AxisOp::Move(2, 1))],
            shape.clone(),
        ),
        (
            "two slices",
            vec![Box::new(slice(1, rows / 2)), Box::new(slice(2, row / 2))],
            shape.clone(),
        ),
        (
            "pad with zeros",
            one(Box::new(Pad {
                pads: pads.clone(),
                mode: PadMode::Constant(Arc::new(Tensor::from(0f32))),
            })),
            shape.clone(),
        ),
        (
            "pad reflected",
            one(Box::new(Pad {
                pads,
                mode: PadMode::Reflect,
            })),
            shape.clone(),
        ),
        (
            "broadcast",
            one(Box::new(MultiBroadcastTo {
                shape: vec![2.to_dim(), rows.to_dim(), row.to_dim()].into(),
            })),
            shape.clone(),
        ),
        (
            "tile",
            one(Box::new(Tile {
                multipliers: tvec!(1.to_dim(), 2.to_dim(), 1.to_dim()),
            })),
            shape.clone(),
        ),
        (
            "every second",
            one(Box::new(Downsample {
                axis: 2,
                stride: 2,
                modulo: 0,
            })),
            shape,
        ),
    ]
}

/// The least time that a model takes for a call, less what tract takes to call one at all.
fn time(model: &TypedModel, inputs: &TVec<TValue>) -> TractResult<f64> {
    let options = RunOptions::default();
    let mut state = model
        .clone()
        .into_runnable_with_options(&options)?
        .spawn()?;
    let mut least = f64::MAX;
    let start = Instant::now();
    let mut count = 1u32;
    while start.elapsed() < Duration::from_millis(60) {
        let mut spent = Duration::ZERO;
        for _ in 0..count {
            state.run_plan_with_eval(inputs.clone(), |ctx, state, node, inputs| {
                if node.op_is::<tract_onnx::tract_core::ops::source::TypedSource>() {
                    return tract_onnx::tract_core::plan::eval(ctx, state, node, inputs);
                }
                clean();
                let start = Instant::now();
                let made = tract_onnx::tract_core::plan::eval(ctx, state, node, inputs);
                spent += start.elapsed();
                made
            })?;
        }
        least = least.min(spent.as_secs_f64() * 1e9 / f64::from(count));
        count = if spent < Duration::from_micros(200) {
            count * 2
        } else {
            count
        };
    }
    Ok(least)
}

/// Prints nanoseconds of tract and of restride, and whether the latter is chosen.
pub fn measure() -> TractResult<()> {
    println!(
        "{:20} {:>12} {:>10} {:>10}  taken",
        "", "f32", "tract, ns", "restride"
    );
    for (rows, row) in [
        (8, 4),
        (16, 64),
        (64, 8),
        (1024, 4),
        (64, 256),
        (1024, 16),
        (256, 1024),
    ] {
        for (name, ops, shape) in operators(rows, row) {
            let mut model = TypedModel::default();
            let mut inputs: TVec<TValue> = tvec!(Tensor::zero::<f32>(&shape)?.into_tvalue());
            let x = model.add_source("x", f32::fact(&shape))?;
            let mut wire = tvec!(x);
            for (at, op) in ops.into_iter().enumerate() {
                let mut reads = wire.clone();
                if op.is::<TypedConcat>() {
                    reads.push(x);
                } else if let Some(op) = op.downcast_ref::<Gather>() {
                    let count = shape[op.axis] / 2;
                    let indices: Vec<i64> =
                        (0..count as i64).map(|n| n * 5 % count as i64).collect();
                    reads.push(model.add_source("i", i64::fact([count]))?);
                    inputs.push(tensor1(&indices).into_tvalue());
                }
                wire = model.wire_node(format!("n{at}"), op, &reads)?;
            }
            model.select_output_outlets(&wire)?;
            let (mut fused, mut chosen) = (model.clone(), model.clone());
            fused.transform(&restride_tract::fuse().every_group())?;
            chosen.transform(&restride_tract::fuse())?;
            let taken = chosen
                .nodes()
                .iter()
                .any(|node| node.op.name() == "Restride");
            let times = [time(&model, &inputs)?, time(&fused, &inputs)?];
            let size = format!("{rows} x {row}");
            println!(
                "{name:20} {size:>12} {:>10.0} {:>10.0}  {}{}",
                times[0],
                times[1],
                if taken { "yes" } else { "no" },
                if taken == (times[1] < times[0]) {
                    ""
                } else {
                    ", wrongly"
                }
            );
        }
    }
    Ok(())
}
