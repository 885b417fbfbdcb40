//! What a model gains in tract: the same bits with and without `restride_tract::fuse`, how long each takes, and
//! how much of that is moving data.
//!
//! `cargo run --release -- MODEL.onnx [f32:1,3,224,224 ..]`, one type and shape for each input that does not say its
//! own; `lengths` in place of a model is a cache that grows, and
//! `nodes` single operators. Runs take turns, upper halves of vector registers are cleared before every node of both sides, and
//! the least time of each side counts, and the median of the quotients of neighbours.

mod lengths;
mod nodes;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use tract_onnx::prelude::*;
use tract_onnx::tract_core::internal::*;

/// Ends what wide vectors have left behind in the upper halves of registers.
fn clean() {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx") {
        // SAFETY: the instruction is there; nobody keeps values in the upper halves across a call.
        unsafe { std::arch::asm!("vzeroupper", options(nomem, nostack)) };
    }
}

/// One run: its outputs, and the time of all nodes and of those that are in a set.
fn run(
    state: &mut TypedSimpleState,
    inputs: &[Tensor],
    moving: &HashSet<usize>,
    each: &mut HashMap<usize, Duration>,
) -> TractResult<(TVec<TValue>, Duration, Duration)> {
    let inputs = inputs
        .iter()
        .map(|tensor| tensor.clone().into_tvalue())
        .collect();
    let (mut all, mut moved) = (Duration::ZERO, Duration::ZERO);
    let outputs = state.run_plan_with_eval(inputs, |ctx, state, node, inputs| {
        clean();
        let start = Instant::now();
        let made = tract_onnx::tract_core::plan::eval(ctx, state, node, inputs);
        let time = start.elapsed();
        all += time;
        if moving.contains(&node.id) {
            moved += time;
            let least = each.entry(node.id).or_insert(time);
            *least = time.min(*least);
        }
        made
    })?;
    Ok((outputs, all, moved))
}

/// An input of numbers that are small and not all alike.
fn input(fact: &TypedFact) -> TractResult<Tensor> {
    let shape = fact
        .shape
        .as_concrete()
        .context("an input without a shape")?;
    let count: usize = shape.iter().product();
    let integers = fact.datum_type.is_integer() || fact.datum_type == bool::datum_type();
    let scale = if integers { 1.0 } else { 0.01 };
    // Integers are often rows of a table.
    let limit = match fact.datum_type == bool::datum_type() {
        true => 2,
        false if integers => 10,
        false => 90,
    };
    let numbers: Vec<f32> = (0..count)
        .map(|n| ((n * 37) % limit) as f32 * scale)
        .collect();
    Ok(tensor1(&numbers)
        .into_shape(shape)?
        .cast_to_dt(fact.datum_type)?
        .into_owned())
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn is_group(node: &&TypedNode) -> bool {
    node.op.name() == "Restride"
}

/// The operators that a group stands for: names, and what they do.
fn members(node: &TypedNode) -> Vec<(String, String)> {
    let info = node.op.info().unwrap_or_default();
    let both = info.iter().filter_map(|line| line.rsplit_once(": "));
    both.map(|(name, op)| (name.to_owned(), op.to_owned()))
        .collect()
}

/// The least times of each group, in microseconds.
fn print_groups(
    model: &TypedModel,
    groups: &[TypedNode],
    ids: &HashMap<String, usize>,
    each: &[HashMap<usize, Duration>; 2],
) {
    let micros =
        |side: usize, id: &usize| each[side].get(id).map_or(0.0, |t| t.as_secs_f64() * 1e6);
    for group in groups {
        let members = members(group);
        let theirs = members.iter().filter_map(|(name, _)| ids.get(name));
        let theirs: f64 = theirs.map(|id| micros(0, id)).sum();
        let ours = micros(1, &group.id);
        let ops: Vec<&str> = members.iter().map(|(_, op)| op.as_str()).collect();
        let fact = |outlet: &OutletId| format!("{:?}", model.outlet_fact(*outlet));
        let read: Vec<String> = group.inputs.iter().map(fact).collect();
        let made = (0..group.outputs.len()).map(|slot| fact(&OutletId::new(group.id, slot)));
        let made: Vec<String> = made.collect();
        println!(
            "  {theirs:10.2} -> {ours:10.2} us, {:5.2}x  {} -> {} -> {}",
            theirs / ours,
            read.join(" "),
            ops.join(" "),
            made.join(" ")
        );
    }
}

fn main() -> TractResult<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let every = arguments.iter().position(|word| word == "--every");
    let fuse = match every.map(|at| arguments.remove(at)) {
        Some(_) => restride_tract::fuse().every_group(),
        None => restride_tract::fuse(),
    };
    let groups_too = arguments.iter().position(|word| word == "--groups");
    let groups_too = groups_too.map(|at| arguments.remove(at)).is_some();
    let mut arguments = arguments.into_iter();
    let path = arguments.next().context("which model?")?;
    match path.as_str() {
        "lengths" => return lengths::measure(),
        "nodes" => return nodes::measure(),
        _ => {}
    }
    // Files often note shapes for other sizes than are asked for.
    let reader = tract_onnx::onnx()
        .with_ignore_output_shapes(true)
        .with_ignore_value_info(true);
    let mut model = reader.model_for_path(&path)?;
    for (at, given) in arguments.enumerate() {
        let (dt, shape) = given.split_once(':').context("TYPE:SIZE,SIZE")?;
        let shape = shape
            .split(',')
            .filter(|size| !size.is_empty())
            .map(str::parse);
        let shape: Vec<usize> = shape.collect::<Result<_, _>>()?;
        let dt: DatumType = dt.parse()?;
        model.set_input_fact(at, dt.fact(shape).into())?;
    }
    let plain = model.into_optimized()?;
    let mut fused = plain.clone();
    let start = Instant::now();
    fused.transform(&fuse)?;
    let took = start.elapsed();

    // What moves data, also where the transform leaves it, by name.
    let mut all = plain.clone();
    all.transform(&restride_tract::fuse().every_group())?;
    let names = |model: &TypedModel| -> HashSet<String> {
        let groups = model.nodes.iter().filter(is_group);
        groups.flat_map(members).map(|(name, _)| name).collect()
    };
    let (all, replaced) = (names(&all), names(&fused));
    let moving = [&plain, &fused].map(|model| -> HashSet<usize> {
        let moves = |node: &&TypedNode| is_group(node) || all.contains(&node.name);
        let moving = model.nodes.iter().filter(moves);
        moving.map(|node| node.id).collect()
    });
    let groups: Vec<TypedNode> = fused.nodes.iter().filter(is_group).cloned().collect();
    let ids: HashMap<String, usize> = plain
        .nodes
        .iter()
        .map(|node| (node.name.clone(), node.id))
        .collect();
    let facts: TVec<TypedFact> = plain
        .input_outlets()?
        .iter()
        .map(|outlet| plain.outlet_fact(*outlet).cloned())
        .collect::<TractResult<_>>()?;
    let inputs: Vec<Tensor> = facts.iter().map(input).collect::<TractResult<_>>()?;
    let (options, facts_of) = (RunOptions::default(), fused.clone());
    let mut states = [
        plain.into_runnable_with_options(&options)?.spawn()?,
        fused.into_runnable_with_options(&options)?.spawn()?,
    ];
    let mut each = [HashMap::new(), HashMap::new()];
    let [(theirs, ..), (ours, ..)] = [
        run(&mut states[0], &inputs, &moving[0], &mut each[0])?,
        run(&mut states[1], &inputs, &moving[1], &mut each[1])?,
    ];
    let same = theirs.iter().zip(&ours).all(|(a, b)| {
        a.shape() == b.shape() && a.datum_type() == b.datum_type() && a.as_bytes() == b.as_bytes()
    });

    let all_names = all.len();
    let (mut whole, mut moves) = (Vec::new(), Vec::new());
    let mut times = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let start = Instant::now();
    while whole.len() < 15 || whole.len() < 2000 && start.elapsed() < Duration::from_secs(5) {
        let (_, all, moved) = run(&mut states[0], &inputs, &moving[0], &mut each[0])?;
        let (_, all_, moved_) = run(&mut states[1], &inputs, &moving[1], &mut each[1])?;
        whole.push(all.as_secs_f64() / all_.as_secs_f64());
        moves.push(moved.as_secs_f64() / moved_.as_secs_f64());
        for (list, time) in times.iter_mut().zip([all, all_, moved, moved_]) {
            list.push(time.as_secs_f64() * 1e3);
        }
    }
    if groups_too {
        print_groups(&facts_of, &groups, &ids, &each);
    }
    let [all, all_, moved, moved_] = times.map(|list| list.into_iter().fold(f64::MAX, f64::min));
    println!(
        "{path}: {}, {} of {} operators in {} groups ({took:.1?}); moving {moved:.3} -> {moved_:.3} ms (median {:.2}x, {:.1} %), \
         whole {all:.3} -> {all_:.3} ms (least {:.3}x, median {:.3}x), {} runs",
        if same { "same bits" } else { "DIFFERENT" },
        replaced.len(),
        all_names,
        groups.len(),
        median(moves),
        100.0 * moved / all,
        all / all_,
        median(whole.clone()),
        whole.len(),
    );
    Ok(())
}
