//! Changed kernels: whatever breaks a property is refused.
//!
//! Generated kernels are changed in one place: a number, a statement dropped, doubled, swapped or
//! moved across a barrier, a barrier dropped, a buffer exchanged, a loop shared out. A change that
//! the verifier accepts is run by the interpreter with adversarial indices and in several orders
//! of chunks. It must run without a fault and the same way in all orders; if not, the verifier
//! missed it. Some changes leave every property as it was and only change the meaning, such as a
//! source a few elements on; these are counted apart from those that change nothing.
//!
//! Where the verifier claims to be exact (each element written exactly once), a refusal must in
//! turn show as a fault.

use restride_loops::{
    BufferId, Fault, Kernel, Order, Place, Random, Reason, Role, Stmt, Verified, generate,
    interpret, interpret_chunked, verify,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Length,
    Base,
    Stride,
    Extent,
    Limit,
}

fn numbers_of_place<'k>(place: &'k mut Place, out: &mut Vec<(Number, &'k mut i64)>) {
    out.push((Number::Base, &mut place.addr.base));
    out.extend(
        place
            .addr
            .terms
            .iter_mut()
            .map(|t| (Number::Stride, &mut t.1)),
    );
}

/// Every number of a statement, those of a loop's body included.
fn numbers_of_stmt<'k>(stmt: &'k mut Stmt, out: &mut Vec<(Number, &'k mut i64)>) {
    match stmt {
        Stmt::For { extent, body, .. } => {
            out.push((Number::Extent, extent));
            body.iter_mut().for_each(|s| numbers_of_stmt(s, out));
        }
        Stmt::Check {
            index, dims, norm, ..
        } => {
            numbers_of_place(index, out);
            for (extent, stride) in dims {
                out.extend([(Number::Extent, extent), (Number::Stride, stride)]);
            }
            out.push((Number::Limit, &mut norm.limit));
        }
        Stmt::Index { place, norm, .. } => {
            numbers_of_place(place, out);
            out.push((Number::Limit, &mut norm.limit));
        }
        Stmt::Move(m) => {
            numbers_of_place(&mut m.dst, out);
            numbers_of_place(&mut m.src, out);
            for d in &mut m.dims {
                out.push((Number::Extent, &mut d.extent));
                out.extend([(Number::Stride, &mut d.dst), (Number::Stride, &mut d.src)]);
            }
        }
        Stmt::Gather(g) => {
            numbers_of_place(&mut g.dst, out);
            numbers_of_place(&mut g.src, out);
            numbers_of_place(&mut g.index, out);
            out.push((Number::Extent, &mut g.extent));
            out.push((Number::Limit, &mut g.norm.limit));
            for stride in [&mut g.dst_stride, &mut g.coeff, &mut g.index_stride] {
                out.push((Number::Stride, stride));
            }
            for d in &mut g.dims {
                out.push((Number::Extent, &mut d.extent));
                out.extend([(Number::Stride, &mut d.dst), (Number::Stride, &mut d.src)]);
            }
        }
        Stmt::Fill { dst, dims, .. } => {
            numbers_of_place(dst, out);
            for (extent, stride) in dims {
                out.extend([(Number::Extent, extent), (Number::Stride, stride)]);
            }
        }
    }
}

fn numbers(kernel: &mut Kernel) -> Vec<(Number, &mut i64)> {
    let mut out = Vec::new();
    for buffer in &mut kernel.buffers {
        out.push((Number::Length, &mut buffer.len));
        if let Role::Out(_, image) = &mut buffer.role {
            out.push((Number::Base, &mut image.offset));
            for (extent, stride) in &mut image.dims {
                out.extend([(Number::Extent, extent), (Number::Stride, stride)]);
            }
        }
    }
    kernel
        .phases
        .iter_mut()
        .flatten()
        .for_each(|s| numbers_of_stmt(s, &mut out));
    out
}

/// All blocks of a kernel, those of phases first.
fn blocks(kernel: &mut Kernel) -> Vec<&mut Vec<Stmt>> {
    let mut out = Vec::new();
    let mut todo: Vec<&mut Vec<Stmt>> = kernel.phases.iter_mut().collect();
    while let Some(block) = todo.pop() {
        // A block and its inner blocks cannot be borrowed at once, so take one or the other.
        if block.len() == 1 && matches!(block[0], Stmt::For { .. }) {
            if let Stmt::For { body, .. } = &mut block[0] {
                todo.push(body);
            }
        } else {
            out.push(block);
        }
    }
    out
}

fn places(stmt: &mut Stmt) -> Vec<&mut Place> {
    match stmt {
        Stmt::For { body, .. } => body.iter_mut().flat_map(places).collect(),
        Stmt::Check { index, .. } => vec![index],
        Stmt::Index { place, .. } => vec![place],
        Stmt::Move(m) => vec![&mut m.dst, &mut m.src],
        Stmt::Gather(g) => vec![&mut g.dst, &mut g.src, &mut g.index],
        Stmt::Fill { dst, .. } => vec![dst],
    }
}

/// Changes one number, and says of which kind it was.
fn change_number(kernel: &mut Kernel, r: &mut Random) -> Option<&'static str> {
    let mut all = numbers(kernel);
    let at = r.below(all.len());
    let other = *all[r.below(all.len())].1;
    let (kind, number) = &mut all[at];
    let old = **number;
    **number = match r.below(9) {
        0 | 1 => old + 1,
        2 | 3 => old - 1,
        4 => old * 2,
        5 => -old,
        6 => 0,
        7 => other,
        _ => old + [-64, -7, -3, -2, 2, 3, 5, 8, 1 << 40][r.below(9)],
    };
    let kind = match kind {
        Number::Length => "length",
        Number::Base => "offset",
        Number::Stride => "stride",
        Number::Extent => "extent",
        Number::Limit => "limit",
    };
    (**number != old).then_some(kind)
}

/// Changes a statement; nothing if there was nothing to change.
fn change_statement(kernel: &mut Kernel, r: &mut Random) -> Option<&'static str> {
    match r.below(9) {
        0 | 1 => {
            let mut all = blocks(kernel);
            let pick = r.below(all.len());
            let block = all.get_mut(pick).filter(|b| !b.is_empty())?;
            block.remove(r.below(block.len()));
            Some("drop")
        }
        2 | 3 => {
            let mut all = blocks(kernel);
            let pick = r.below(all.len());
            let block = all.get_mut(pick).filter(|b| !b.is_empty())?;
            let copy = block[r.below(block.len())].clone();
            block.insert(r.below(block.len() + 1), copy);
            Some("double")
        }
        4 => {
            let mut all = blocks(kernel);
            let pick = r.below(all.len());
            let block = all.get_mut(pick).filter(|b| b.len() > 1)?;
            let (a, b) = (r.below(block.len()), r.below(block.len()));
            block.swap(a, b);
            (a != b).then_some("swap")
        }
        5 => {
            if kernel.phases.len() < 2 {
                return None;
            }
            let from = r.below(kernel.phases.len());
            let to = r.below(kernel.phases.len());
            if from == to || kernel.phases[from].is_empty() {
                return None;
            }
            let at = r.below(kernel.phases[from].len());
            let stmt = kernel.phases[from].remove(at);
            let at = r.below(kernel.phases[to].len() + 1);
            kernel.phases[to].insert(at, stmt);
            Some("phase")
        }
        6 => {
            if kernel.phases.len() < 2 {
                return None;
            }
            let at = r.below(kernel.phases.len() - 1);
            let next = kernel.phases.remove(at + 1);
            kernel.phases[at].extend(next);
            Some("barrier")
        }
        7 => {
            let count = kernel.buffers.len();
            let stmts = kernel.phases.iter_mut().flatten();
            let mut all: Vec<&mut Place> = stmts.flat_map(places).collect();
            let pick = r.below(all.len());
            let place = all.get_mut(pick)?;
            let old = place.buffer;
            place.buffer = BufferId(r.below(count) as u32);
            (place.buffer != old).then_some("buffer")
        }
        _ => {
            let mut all: Vec<&mut Stmt> = kernel.phases.iter_mut().flatten().collect();
            let pick = r.below(all.len());
            match all.get_mut(pick)? {
                Stmt::For { parallel, .. } => *parallel = !*parallel,
                Stmt::Check { .. }
                | Stmt::Index { .. }
                | Stmt::Move(_)
                | Stmt::Gather(_)
                | Stmt::Fill { .. } => return None,
            }
            Some("parallel")
        }
    }
}

#[derive(Debug, Default)]
struct Count {
    made: usize,
    rejected: usize,
    rejected_with_fault: usize,
    undecided: usize,
    equivalent: usize,
    other_meaning: usize,
    missed: Vec<String>,
    unfounded: Vec<String>,
}

/// Whether a refusal for this reason always has a fault to show.
fn is_exact(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::WritesTwice { .. }
            | Reason::Overlap { .. }
            | Reason::OutsideImage { .. }
            | Reason::NotCovered { .. }
            | Reason::ImageRepeats { .. }
            | Reason::ImageOutOfBounds { .. }
    )
}

/// Inputs of the original, longer so that they serve a changed kernel.
fn padded(inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    inputs
        .iter()
        .map(|i| i.iter().copied().chain([0; 512]).collect())
        .collect()
}

type Run = Result<Vec<Vec<u8>>, Fault>;

/// The run in several orders; an error says that it went wrong.
fn judge(kernel: &Kernel, inputs: &[Vec<u8>]) -> Result<Run, String> {
    let whole = interpret(kernel, inputs);
    let orders = [
        (2, Order::Backward),
        (128, Order::Backward),
        (5, Order::Shuffled(9)),
    ];
    for (chunks, order) in orders {
        let parts = interpret_chunked(kernel, inputs, chunks, order);
        if parts != whole {
            return Err(format!("{chunks} chunks {order:?} differ"));
        }
    }
    match whole {
        Ok(_)
        | Err(Fault::CheckFailed { .. } | Fault::InputTooShort { .. } | Fault::TooLarge { .. }) => {
            Ok(whole)
        }
        Err(fault) => Err(fault.to_string()),
    }
}

/// Inputs of which the first pass all checks, while the second have wild indices everywhere.
fn consider(original: &Kernel, mutant: Kernel, seed: u64, count: &mut Count) {
    let inputs = [2 * seed, 2 * seed + 1].map(|s| padded(&generate::inputs(original, s)));
    count.made += 1;
    match verify(mutant.clone()) {
        Err(rejected) => {
            count.rejected += 1;
            count.undecided += usize::from(matches!(rejected.reason, Reason::Undecided { .. }));
            if mutant_is_small(&mutant) {
                let faulty = inputs.iter().any(|i| judge(&mutant, i).is_err());
                count.rejected_with_fault += usize::from(faulty);
                let passes = interpret(original, &inputs[0]).is_ok();
                if passes && !faulty && is_exact(&rejected.reason) {
                    count.unfounded.push(format!("{rejected}\n{mutant}"));
                }
            }
        }
        Ok(verified) => {
            let mut same = true;
            for inputs in &inputs {
                match judge(&verified, inputs) {
                    Err(fault) => return count.missed.push(format!("{fault}\n{mutant}")),
                    Ok(run) => same &= run == interpret(original, inputs),
                }
            }
            count.equivalent += usize::from(same);
            count.other_meaning += usize::from(!same);
        }
    }
}

/// What would run for long tells nothing more.
fn mutant_is_small(mutant: &Kernel) -> bool {
    let mut kernel = mutant.clone();
    let small = |(kind, n): &(Number, &mut i64)| match kind {
        Number::Extent | Number::Length => **n < 5_000,
        Number::Base | Number::Stride | Number::Limit => true,
    };
    numbers(&mut kernel).iter().all(small)
}

#[test]
fn a_broken_property_is_refused() {
    let mut r = Random::new(77);
    let mut all: std::collections::BTreeMap<&str, Count> = Default::default();
    let seeds = std::env::var("SEEDS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(3_000);
    for seed in 0..seeds {
        let kernel = generate::kernel(seed);
        for round in 0..24 {
            let mut mutant = kernel.clone();
            let change = if round % 2 == 0 {
                change_number(&mut mutant, &mut r)
            } else {
                change_statement(&mut mutant, &mut r)
            };
            if let Some(change) = change {
                consider(&kernel, mutant, seed, all.entry(change).or_default());
            }
        }
    }
    let mut total = Count::default();
    for (change, count) in &all {
        println!(
            "{change:9} made {:6} rejected {:6} (a fault was seen in {:6}, undecided {}) \
             equivalent {:6} of other meaning {:5} missed {}",
            count.made,
            count.rejected,
            count.rejected_with_fault,
            count.undecided,
            count.equivalent,
            count.other_meaning,
            count.missed.len(),
        );
        total.made += count.made;
        total.rejected += count.rejected;
        total.equivalent += count.equivalent;
        total.other_meaning += count.other_meaning;
        total.missed.extend(count.missed.iter().cloned());
        total.unfounded.extend(count.unfounded.iter().cloned());
        assert!(count.made > 200, "few of {change}");
    }
    println!(
        "made {} rejected {} equivalent {} of other meaning {} missed {}",
        total.made,
        total.rejected,
        total.equivalent,
        total.other_meaning,
        total.missed.len()
    );
    assert!(total.rejected * 2 > total.made);
    let unfounded = &total.unfounded[..total.unfounded.len().min(3)];
    assert!(
        unfounded.is_empty(),
        "refused without a fault: {}",
        unfounded.join("\n")
    );
    assert!(
        total.missed.is_empty(),
        "{}",
        total.missed[..total.missed.len().min(3)].join("\n")
    );
}

#[test]
fn a_verified_kernel_is_given_back_unchanged() {
    let kernel = generate::kernel(1);
    let verified: Verified = verify(kernel.clone()).unwrap();
    assert_eq!(verified.into_inner(), kernel);
}
