//! Models of random moves, with and without the transform: the same bits, in fewer nodes.

use restride::Engine;
use tract_core::internal::*;
use tract_core::ops::Downsample;
use tract_core::ops::array::{
    DynSlice, Gather, GatherElements, MultiBroadcastTo, Pad, PadMode, Slice, Tile, TypedConcat,
};

/// A generator of numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

/// Labels, as different as the type allows.
fn labels(shape: &[usize], dt: DatumType) -> TractResult<Tensor> {
    let count: usize = shape.iter().product();
    let numbers: Vec<i64> = (0..count as i64).map(|n| n % 113).collect();
    let numbers = tensor1(&numbers).into_shape(shape)?;
    Ok(numbers.cast_to_dt(dt)?.into_owned())
}

fn run(model: &TypedModel, inputs: &[Tensor]) -> TractResult<TVec<TValue>> {
    let model = model
        .clone()
        .into_runnable_with_options(&RunOptions::default())?;
    model.run(
        inputs
            .iter()
            .map(|tensor| tensor.clone().into_tvalue())
            .collect(),
    )
}

fn fused(model: &TypedModel) -> TractResult<TypedModel> {
    fused_with(model, Engine::default())
}

fn fused_with(model: &TypedModel, engine: Engine) -> TractResult<TypedModel> {
    let mut model = model.clone();
    model.transform(&restride_tract::fuse_with(engine).every_group())?;
    Ok(model)
}

/// How many nodes stand for a group.
fn groups(model: &TypedModel) -> usize {
    model
        .nodes()
        .iter()
        .filter(|node| node.op.name() == "Restride")
        .count()
}

/// Adds a move of some value to a model.
fn push(
    random: &mut Random,
    model: &mut TypedModel,
    values: &[OutletId],
    dt: DatumType,
) -> TractResult<OutletId> {
    let from = values[random.below(values.len())];
    let shape = model.outlet_fact(from)?.shape.to_tvec();
    let name = format!("n{}", model.nodes().len());
    let rank = shape.len();
    let axis = random.below(rank);
    let small = shape
        .iter()
        .filter_map(|dim| dim.to_usize().ok())
        .product::<usize>()
        < 4000;
    let op: Box<dyn TypedOp> = match random.below(13) {
        0 | 1 => Box::new(AxisOp::Move(axis, random.below(rank))),
        2 if rank < 5 => Box::new(AxisOp::Add(random.below(rank + 1))),
        3 if rank > 1 && shape[axis].is_one() => Box::new(AxisOp::Rm(axis)),
        4 if axis + 1 < rank => {
            let pair: TVec<TDim> = shape[axis..axis + 2].into();
            let one = tvec!(pair[0].clone() * &pair[1]);
            Box::new(AxisOp::Reshape(axis, pair, one))
        }
        5 if shape[axis].to_usize().is_ok_and(|size| size % 2 == 0) && rank < 5 => {
            let size = shape[axis].to_usize()?;
            let two = tvec!(2.to_dim(), (size / 2).to_dim());
            Box::new(AxisOp::Reshape(axis, tvec!(size.to_dim()), two))
        }
        6 if shape[axis].to_usize().map_or(true, |size| size > 2) => Box::new(Slice {
            axis,
            start: random.below(2).to_dim(),
            end: shape[axis].clone() - random.below(2),
        }),
        7 => {
            let stride = [1, 2, 3, -1, -2][random.below(5)];
            let modulo = if stride > 1 { random.below(2) } else { 0 };
            Box::new(Downsample {
                axis,
                stride,
                modulo,
            })
        }
        8 if small => {
            let pads = (0..rank)
                .map(|_| (random.below(3), random.below(3)))
                .collect();
            let long = shape
                .iter()
                .all(|dim| dim.to_usize().is_ok_and(|size| size > 3));
            let mode = match random.below(3) {
                0 if long => PadMode::Reflect,
                1 => PadMode::Edge,
                _ => PadMode::Constant(Arc::new(Tensor::from(7f32))),
            };
            let empty = shape.iter().any(|dim| *dim == 0.to_dim());
            match (mode, empty || dt == bool::datum_type()) {
                (mode, false) => Box::new(Pad { pads, mode }),
                _ => Box::new(AxisOp::Move(axis, 0)),
            }
        }
        9 if shape[axis].is_one() && small => {
            let mut wide = shape.clone();
            wide[axis] = 3.to_dim();
            Box::new(MultiBroadcastTo { shape: wide.into() })
        }
        10 if small => {
            let mut multipliers: TVec<TDim> = tvec!(1.to_dim(); rank);
            multipliers[axis] = 2.to_dim();
            Box::new(Tile { multipliers })
        }
        11 => {
            let other = values[random.below(values.len())];
            let same = model.outlet_fact(other)?.shape.to_tvec();
            let fits = same.len() == rank
                && (0..rank).all(|each| each == axis || same[each] == shape[each]);
            let parts = if fits {
                vec![from, other]
            } else {
                vec![from, from]
            };
            return Ok(model.wire_node(name, TypedConcat { axis }, &parts)?[0]);
        }
        12 if shape[axis].to_usize().is_ok_and(|size| size > 1) => {
            let size = shape[axis].to_usize()? as i64;
            let rows: Vec<i64> = (0..5)
                .map(|_| random.below(size as usize) as i64 - 1)
                .collect();
            if random.below(2) == 0 {
                let rows = model.add_const(format!("{name}.rows"), tensor1(&rows))?;
                return Ok(model.wire_node(name, Gather::new(axis), &[from, rows])?[0]);
            }
            let mut wide: TVec<usize> = tvec!(1; rank);
            wide[axis] = 5;
            let rows = tensor1(&rows).into_shape(&wide)?;
            let rows = model.add_const(format!("{name}.rows"), rows)?;
            return Ok(model.wire_node(name, GatherElements { axis }, &[from, rows])?[0]);
        }
        _ => Box::new(AxisOp::Move(0, axis)),
    };
    Ok(model.wire_node(name, op, &[from])?[0])
}

/// A model of so many moves of two inputs, with one to three outputs.
fn model(random: &mut Random, dt: DatumType, first: &[TDim]) -> TractResult<TypedModel> {
    let mut symbols = first.iter().flat_map(TDim::symbols);
    let symbols = symbols
        .find_map(|symbol| symbol.scope())
        .unwrap_or_default();
    let mut model = TypedModel {
        symbols,
        ..TypedModel::default()
    };
    let x = model.add_source("x", dt.fact(first))?;
    let y = model.add_source("y", dt.fact([2usize, 3, 4]))?;
    let mut values = vec![x, y];
    for _ in 0..2 + random.below(8) {
        let next = push(random, &mut model, &values, dt)?;
        values.push(next);
    }
    let mut outputs = vec![values[values.len() - 1]];
    for _ in 0..random.below(3) {
        let output = values[2 + random.below(values.len() - 2)];
        if !outputs.contains(&output) {
            outputs.push(output);
        }
    }
    model.select_output_outlets(&outputs)?;
    Ok(model)
}

const TYPES: [fn() -> DatumType; 7] = [
    f32::datum_type,
    f16::datum_type,
    i64::datum_type,
    u8::datum_type,
    bool::datum_type,
    f64::datum_type,
    i8::datum_type,
];

#[test]
fn models_of_known_shapes() -> TractResult<()> {
    let mut random = Random(1);
    let (mut replaced, mut refused) = (0, 0);
    for round in 0..600 {
        let dt = TYPES[round % TYPES.len()]();
        let shape: TVec<usize> = (0..1 + random.below(4))
            .map(|_| [1, 2, 3, 4, 6, 8][random.below(6)])
            .collect();
        let dims: TVec<TDim> = shape.iter().map(|size| size.to_dim()).collect();
        let plain = model(&mut random, dt, &dims)?;
        // Before tract's own optimisation and after it, which a few models do not survive.
        let plain = match round % 2 {
            0 => Ok(plain),
            _ => plain.into_optimized(),
        };
        let Ok(plain) = plain else {
            refused += 1;
            continue;
        };
        let fused = fused(&plain)?;
        replaced += groups(&fused);
        assert!(
            fused.nodes().len() <= plain.nodes().len() + 2,
            "{plain}\n{fused}"
        );
        let inputs = [labels(&shape, dt)?, labels(&[2, 3, 4], dt)?];
        let (theirs, ours) = (run(&plain, &inputs)?, run(&fused, &inputs)?);
        assert_eq!(theirs, ours, "{plain}");
    }
    assert!(replaced > 500 && refused < 60, "{replaced} {refused}");
    Ok(())
}

#[test]
fn models_of_shapes_that_are_bound_when_they_run() -> TractResult<()> {
    let (mut random, engine) = (Random(2), Engine::default());
    for round in 0..200 {
        let dt = TYPES[round % TYPES.len()]();
        let symbols = SymbolScope::default();
        let mut dims: TVec<TDim> = tvec!(2.to_dim(), 4.to_dim(), 3.to_dim());
        let axis = random.below(3);
        dims[axis] = symbols.sym("S").to_dim();
        let Ok(plain) = model(&mut random, dt, &dims)?.into_optimized() else {
            continue;
        };
        let fused = fused_with(&plain, engine.clone())?;
        for length in [4, 9, 1, 4] {
            let mut shape = [2, 4, 3];
            shape[axis] = length;
            let inputs = [labels(&shape, dt)?, labels(&[2, 3, 4], dt)?];
            match run(&plain, &inputs) {
                Ok(theirs) => assert_eq!(theirs, run(&fused, &inputs)?, "{plain}"),
                // Lengths that a model cannot have, such as odd ones that are halved.
                Err(_) => assert!(run(&fused, &inputs).is_err()),
            }
        }
    }
    // What is looked up is what was not left to tract.
    let stats = engine.stats();
    assert!(stats.hits > 100 && stats.misses > 300, "{stats:?}");
    Ok(())
}

#[test]
fn one_group_is_one_node() -> TractResult<()> {
    // Pixel shuffle, as an importer of ONNX writes it.
    let mut model = TypedModel::default();
    let x = model.add_source("x", f32::fact([1, 16, 5, 7]))?;
    let split = AxisOp::Reshape(
        1,
        tvec!(16.to_dim()),
        tvec!(4.to_dim(), 2.to_dim(), 2.to_dim()),
    );
    let mut wire = model.wire_node("split", split, &[x])?;
    for (name, op) in [("down", AxisOp::Move(2, 4)), ("right", AxisOp::Move(2, 5))] {
        wire = model.wire_node(name, op, &wire)?;
    }
    let rows = AxisOp::Reshape(2, tvec!(5.to_dim(), 2.to_dim()), tvec!(10.to_dim()));
    let wire = model.wire_node("rows", rows, &wire)?;
    let columns = AxisOp::Reshape(3, tvec!(7.to_dim(), 2.to_dim()), tvec!(14.to_dim()));
    let wire = model.wire_node("columns", columns, &wire)?;
    model.select_output_outlets(&wire)?;
    let model = model.into_optimized()?;
    let ours = fused(&model)?;
    assert_eq!((ours.nodes().len(), groups(&ours)), (2, 1), "{ours}");
    let inputs = [labels(&[1, 16, 5, 7], f32::datum_type())?];
    assert_eq!(run(&model, &inputs)?, run(&ours, &inputs)?);
    Ok(())
}

#[test]
fn groups_that_gain_nothing_are_left() -> TractResult<()> {
    let slice = |axis: usize, end: usize| Slice {
        axis,
        start: 0.to_dim(),
        end: end.to_dim(),
    };
    let pad = Pad {
        pads: vec![(0, 0), (1, 1), (1, 1)],
        mode: PadMode::Constant(Arc::new(Tensor::from(0f32))),
    };
    type Chain = Vec<Box<dyn TypedOp>>;
    let ops: [(&[usize], Chain, usize); 7] = [
        // What tract copies as fast as anybody, and what is too small to be worth a call.
        (&[64, 256], vec![Box::new(slice(0, 32))], 0),
        (&[64, 1024], vec![Box::new(slice(1, 1000))], 0),
        (&[4, 4, 1], vec![Box::new(AxisOp::Move(0, 1))], 0),
        // What it copies element by element, twice, or row by short row.
        (&[64, 256], vec![Box::new(AxisOp::Move(0, 1))], 1),
        (
            &[8, 8, 64],
            vec![Box::new(AxisOp::Move(2, 0)), Box::new(AxisOp::Move(2, 1))],
            1,
        ),
        (&[3, 64, 64], vec![Box::new(pad)], 1),
        (&[1024, 4], vec![Box::new(slice(1, 2))], 1),
    ];
    for (shape, ops, expected) in ops {
        let mut model = TypedModel::default();
        let mut wire = tvec!(model.add_source("x", f32::fact(shape))?);
        for (at, op) in ops.into_iter().enumerate() {
            wire = model.wire_node(format!("n{at}"), op, &wire)?;
        }
        model.select_output_outlets(&wire)?;
        let (mut some, all) = (model.clone(), fused(&model)?);
        some.transform(&restride_tract::fuse())?;
        assert_eq!((groups(&some), groups(&all)), (expected, 1), "{model}");
        let inputs = [labels(shape, f32::datum_type())?];
        assert_eq!(run(&some, &inputs)?, run(&all, &inputs)?);
    }
    Ok(())
}

#[test]
fn slices_whose_bounds_are_read_when_they_run() -> TractResult<()> {
    let mut model = TypedModel::default();
    let len = model.symbols.sym("len").to_dim();
    let x = model.add_source("x", f32::fact([6, 8, 2]))?;
    let [start, end] = ["start", "end"].map(|name| model.add_source(name, i64::scalar_fact()));
    let turned = model.wire_node("turned", AxisOp::Move(0, 1), &[x])?;
    let part = DynSlice { axis: 0, len };
    let part = model.wire_node("part", part, &[turned[0], start?, end?])?;
    let back = model.wire_node("back", AxisOp::Move(2, 0), &part)?;
    model.select_output_outlets(&back)?;
    let engine = Engine::default();
    let ours = fused_with(&model, engine.clone())?;
    assert_eq!(groups(&ours), 1, "{ours}");
    let x = labels(&[6, 8, 2], f32::datum_type())?;
    for (start, end) in [(0i64, 8i64), (3, 5), (4, 7), (3, 5)] {
        let inputs = [x.clone(), tensor0(start), tensor0(end)];
        assert_eq!(run(&model, &inputs)?, run(&ours, &inputs)?);
    }
    assert_eq!((engine.stats().misses, engine.stats().hits), (3, 1));
    for (start, end) in [(5i64, 9i64), (-1, 2), (4, 3)] {
        let inputs = [x.clone(), tensor0(start), tensor0(end)];
        assert!(run(&ours, &inputs).is_err());
    }
    Ok(())
}

#[test]
fn indices_out_of_range_are_errors_that_name_the_node() -> TractResult<()> {
    let mut model = TypedModel::default();
    let x = model.add_source("x", f32::fact([2, 5, 4]))?;
    let rows = model.add_source("rows", i64::fact([1]))?;
    let at = Gather::new(1);
    let found = model.wire_node("decoder.embed", at, &[x, rows])?;
    let turned = model.wire_node("turned", AxisOp::Move(0, 2), &found)?;
    model.select_output_outlets(&turned)?;
    let ours = fused(&model)?;
    assert_eq!(groups(&ours), 1, "{ours}");
    // tract itself panics or takes a row of the next block.
    for wrong in [5i64, 9, -6] {
        let mut model = TypedModel::default();
        let x = model.add_source("x", f32::fact([2, 5, 4]))?;
        let rows = model.add_const("rows", tensor1(&[0, wrong]))?;
        let found = model.wire_node("decoder.known", Gather::new(1), &[x, rows])?;
        model.select_output_outlets(&found)?;
        let inputs = [labels(&[2, 5, 4], f32::datum_type())?];
        let error = format!("{:?}", run(&fused(&model)?, &inputs).unwrap_err());
        assert!(
            error.contains(&format!("(in decoder.known): index {wrong} at position 1")),
            "{error}"
        );
        let inputs = [labels(&[2, 5, 4], f32::datum_type())?, tensor1(&[wrong])];
        let error = format!("{:?}", run(&ours, &inputs).unwrap_err());
        assert!(
            error.contains(&format!("(in decoder.embed): index {wrong}")),
            "{error}"
        );
    }
    Ok(())
}

#[test]
fn indices_that_are_known_are_a_part_of_the_program() -> TractResult<()> {
    let rows: [(&[usize], &[i64]); 4] = [
        (&[], &[-1]),
        (&[2], &[1, 0]),
        (&[3], &[0, 2, -1]),
        (&[2, 2], &[0, 0, 2, 1]),
    ];
    for (shape, rows) in rows {
        let mut answers: Vec<TVec<TValue>> = Vec::new();
        let rows = tensor1(rows).into_shape(shape)?;
        let x = labels(&[4, 3, 5], f32::datum_type())?;
        for known in [true, false] {
            let symbols = SymbolScope::default();
            for first in [4.to_dim(), symbols.sym("S").to_dim()] {
                let mut model = TypedModel {
                    symbols: symbols.clone(),
                    ..TypedModel::default()
                };
                let mut inputs = vec![x.clone()];
                let source = model.add_source("x", f32::fact(&[first, 3.to_dim(), 5.to_dim()]))?;
                let at = if known {
                    model.add_const("rows", rows.clone())?
                } else {
                    inputs.push(rows.clone());
                    model.add_source("rows", i64::fact(shape))?
                };
                let part = model.wire_node("part", Gather::new(1), &[source, at])?;
                let turned = model.wire_node("turned", AxisOp::Move(0, 1), &part)?;
                model.select_output_outlets(&[part[0], turned[0]])?;
                let ours = fused(&model)?;
                assert_eq!(groups(&ours), 1, "{ours}");
                answers.push(run(&model, &inputs)?);
                answers.push(run(&ours, &inputs)?);
            }
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]));
    }
    Ok(())
}

#[test]
fn the_only_row_is_a_view() -> TractResult<()> {
    let mut model = TypedModel::default();
    let x = model.add_source("x", f32::fact([1, 1, 256]))?;
    let last = model.add_const("last", tensor0(-1i64))?;
    let row = model.wire_node("row", Gather::new(1), &[x, last])?;
    let same = model.wire_node("same", AxisOp::Add(1), &row)?;
    let x = labels(&[1, 1, 256], f32::datum_type())?.into_tvalue();
    for (output, shape, shared) in [(row, &[1, 256][..], false), (same, &[1, 1, 256], true)] {
        model.select_output_outlets(&output)?;
        let ours = fused(&model)?;
        assert_eq!(groups(&ours), 1, "{ours}");
        let ours = ours.into_runnable_with_options(&RunOptions::default())?;
        // One that somebody else has keeps its shape, and its memory if the shape is the same.
        let mine = x.clone().into_tensor().into_tvalue();
        let (given, place) = match shared {
            true => (x.clone(), x.as_ptr::<f32>()?),
            false => (mine.clone(), mine.as_ptr::<f32>()?),
        };
        drop(mine);
        let made = ours.run(tvec!(given))?;
        assert_eq!((made[0].shape(), made[0].as_ptr()?), (shape, place));
    }
    Ok(())
}

#[test]
fn strides_are_read_as_they_are() -> TractResult<()> {
    let mut model = TypedModel::default();
    let x = model.add_source("x", f32::fact([3, 3]))?;
    let turned = model.wire_node("turned", AxisOp::Move(0, 1), &[x])?;
    model.select_output_outlets(&turned)?;
    let ours = fused(&model)?;
    assert_eq!(groups(&ours), 1, "{ours}");
    let dense = labels(&[3, 3], f32::datum_type())?;
    let mut columns = dense.clone();
    // SAFETY: the same elements in another order.
    unsafe { columns.set_geometry_unchecked(&[3, 3], &[1, 3]) };
    // Not by `run`, which clones it: clones are dense.
    let ours = ours.into_runnable_with_options(&RunOptions::default())?;
    let made = ours.run(tvec!(columns.into_tvalue()))?;
    assert_eq!((&*made[0], made[0].strides()), (&dense, &[3, 1][..]));
    Ok(())
}

#[test]
fn symbols_may_be_bound_after_the_transform() -> TractResult<()> {
    let mut model = TypedModel::default();
    let symbol = model.symbols.sym("S");
    let x = model.add_source("x", f32::fact(&[symbol.to_dim(), 3.to_dim(), 4.to_dim()]))?;
    let turned = model.wire_node("turned", AxisOp::Move(0, 2), &[x])?;
    let flat = tvec!(4.to_dim(), symbol.to_dim());
    let flat = AxisOp::Reshape(1, flat, tvec!(symbol.to_dim() * 4));
    let flat = model.wire_node("flat", flat, &turned)?;
    model.select_output_outlets(&flat)?;
    let bound = fused(&model)?.set_symbols(&[(symbol, 5.to_dim())].into_iter().collect())?;
    let again = fused(&bound)?;
    assert_eq!(groups(&again), 1, "{again}");
    let inputs = [labels(&[5, 3, 4], f32::datum_type())?];
    let theirs = run(&model, &inputs)?;
    assert_eq!(theirs, run(&bound, &inputs)?);
    assert_eq!(theirs, run(&again, &inputs)?);
    Ok(())
}

#[test]
fn one_model_in_many_threads_and_sessions() -> TractResult<()> {
    let mut model = TypedModel::default();
    let symbol = model.symbols.sym("S");
    let x = model.add_source("x", f32::fact(&[symbol.to_dim(), 3.to_dim(), 4.to_dim()]))?;
    let turned = model.wire_node("turned", AxisOp::Move(0, 2), &[x])?;
    model.select_output_outlets(&turned)?;
    let ours = fused(&model)?.into_runnable_with_options(&RunOptions::default())?;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..5)
            .map(|thread| {
                let ours = ours.clone();
                scope.spawn(move || -> TractResult<()> {
                    let mut state = ours.spawn()?;
                    for round in 0..50 {
                        let x = labels(&[thread + round % 7, 3, 4], f32::datum_type())?;
                        let made = state.run(tvec!(x.clone().into_tvalue()))?;
                        assert_eq!(*made[0], x.move_axis(0, 2)?);
                    }
                    Ok(())
                })
            })
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap())
    })
}
