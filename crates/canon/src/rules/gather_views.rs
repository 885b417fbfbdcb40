//! Views of a gather become a gather of views, so that less is moved.

use crate::engine::{Base, BaseId, Engine, PendingCoordinate, PendingGather, Result, Value, count};
use crate::ir::Axes as Labels;
use crate::trace::{Rule, few};
use restride_graph::{MAX_RANK, Shape};
use restride_layout::{Axes, Sizes, Span, View};
use smallvec::SmallVec;

pub(crate) const RULE: Rule = Rule {
    name: "gather_views",
    equation: "v(gather x [o0, %i(o1)]) = gather v1(x) [o0, v2(%i)(o1)]",
    condition: "v is the first step of the chain: a slice, a permute, an expand that makes no \
                axes of size 1, or a collapse of axes that stand side by side in one operand and \
                in no other",
    measure: "elements that are gathered, then views above",
};

/// Moves the leading views of a chain below its gather.
#[inline(never)] // For a frame of its own: `below` is called from within itself.
pub(crate) fn absorb(
    engine: &mut Engine<'_>,
    value: &Value,
    base: BaseId,
) -> Result<Option<Value>> {
    let chain = engine.chain(value)?;
    let Some(first) = chain.first() else {
        return Ok(None);
    };
    let Base::Gather(pending) = engine.base(base) else {
        return Ok(None);
    };
    let mut pending = PendingGather::clone(pending);
    if !absorbs(&pending, first) {
        return Ok(None);
    }
    let before = [count(&pending.shape), chain.len() as u64, 0];
    let mut taken = 0;
    for step in chain.iter() {
        if !absorbs(&pending, step) {
            break;
        }
        take(engine, &mut pending, step)?;
        taken += 1;
    }
    let after = [count(&pending.shape), (chain.len() - taken) as u64, 0];
    engine.fired(&RULE, before, after, || {
        let taken = few(taken as u64, "view moves", "views move");
        format!("{taken} below the gather")
    })?;
    let mut value = engine.gather(pending)?;
    for step in &chain[taken..] {
        value = engine.view(&value, step)?;
    }
    Ok(Some(value))
}

fn absorbs(pending: &PendingGather, step: &View) -> bool {
    match step {
        View::Slice(_) | View::Permute(_) => true,
        View::Expand { groups, sizes } => {
            let more = sizes.len() - groups.len().min(sizes.len());
            !groups.is_empty()
                && !sizes.contains(&1)
                && pending.coordinates.len() + more <= MAX_RANK
        }
        View::Collapse { groups } => !groups.is_empty() && joins_alone(pending, groups),
        // Below the gather it would only make it larger.
        View::Broadcast { .. } | View::Windows { .. } => false,
    }
}

/// Whether each group of several axes stands side by side in every operand that follows one of
/// its axes.
fn joins_alone(pending: &PendingGather, groups: &[usize]) -> bool {
    let direct = pending.coordinates.iter().map(|c| match c {
        PendingCoordinate::Output(output) => Some(*output),
        PendingCoordinate::Index(_) => None,
    });
    let direct: SmallVec<[Option<u8>; 8]> = direct.collect();
    let mut first = 0u8;
    groups.iter().all(|&n| {
        let group = first..first + n as u8;
        first = group.end;
        n == 1
            || (together(&direct, group.clone())
                && pending.indices().all(|index| {
                    let outputs: SmallVec<[Option<u8>; 8]> =
                        index.outputs.iter().map(|&o| Some(o)).collect();
                    together(&outputs, group.clone())
                }))
    })
}

/// Whether the labels of a group are absent, or stand in order without gaps.
fn together(labels: &[Option<u8>], group: std::ops::Range<u8>) -> bool {
    let inside = |label: &Option<u8>| label.is_some_and(|l| group.contains(&l));
    let Some(at) = labels.iter().position(inside) else {
        return true;
    };
    let wanted = group.clone().map(Some);
    labels[at..].iter().copied().take(group.len()).eq(wanted)
        && !labels[at + group.len()..].iter().any(inside)
}

/// Applies one step to the operands.
fn take(engine: &mut Engine<'_>, pending: &mut PendingGather, step: &View) -> Result<()> {
    let shape = step.shape(&pending.shape)?;
    match step {
        View::Slice(spans) => {
            let of = |label: u8| spans[usize::from(label)];
            let data: SmallVec<[Span; 6]> = pending
                .coordinates
                .iter()
                .zip(pending.data.shape())
                .map(|(c, &size)| match c {
                    PendingCoordinate::Output(o) => of(*o),
                    PendingCoordinate::Index(_) => Span::whole(size),
                })
                .collect();
            pending.data = engine.slice(&pending.data, &data)?;
            for index in pending.indices_mut() {
                let own: SmallVec<[Span; 6]> = index.outputs.iter().map(|&o| of(o)).collect();
                index.value = engine.slice(&index.value, &own)?;
            }
        }
        View::Permute(perm) => {
            let mut to = Labels::from_elem(0, perm.len());
            for (new, &old) in perm.iter().enumerate() {
                to[old] = new as u8;
            }
            relabel(pending, |labels| {
                labels.iter().map(|&o| to[usize::from(o)]).collect()
            });
        }
        View::Expand { groups, sizes } => expand(engine, pending, groups, sizes)?,
        View::Collapse { groups } => collapse(engine, pending, groups)?,
        View::Broadcast { .. } | View::Windows { .. } => {}
    }
    pending.shape = Shape::from_slice(&shape);
    Ok(())
}

fn relabel(pending: &mut PendingGather, new: impl Fn(&[u8]) -> Labels) {
    let mut coordinates: SmallVec<[PendingCoordinate; 3]> = SmallVec::new();
    for coordinate in pending.coordinates.drain(..) {
        match coordinate {
            PendingCoordinate::Output(output) => {
                let labels = new(&[output]);
                coordinates.extend(labels.into_iter().map(PendingCoordinate::Output));
            }
            PendingCoordinate::Index(mut index) => {
                index.outputs = new(&index.outputs);
                coordinates.push(PendingCoordinate::Index(index));
            }
        }
    }
    pending.coordinates = coordinates;
}

fn expand(
    engine: &mut Engine<'_>,
    pending: &mut PendingGather,
    groups: &[usize],
    sizes: &[i64],
) -> Result<()> {
    let firsts = firsts(groups);
    // Groups and sizes of an operand whose axes follow these labels; `None` is an axis of its own.
    let cut = |labels: &mut dyn Iterator<Item = (Option<u8>, i64)>| {
        let (mut own, mut cut) = (Axes::new(), Sizes::new());
        for (label, size) in labels {
            match label.map(usize::from) {
                Some(label) => {
                    own.push(groups[label]);
                    cut.extend_from_slice(&sizes[firsts[label]..firsts[label] + groups[label]]);
                }
                None => {
                    own.push(1);
                    cut.push(size);
                }
            }
        }
        (own, cut)
    };
    let labels = pending.coordinates.iter().map(|c| match c {
        PendingCoordinate::Output(output) => Some(*output),
        PendingCoordinate::Index(_) => None,
    });
    let (own, to) = cut(&mut labels.zip(pending.data.shape().iter().copied()));
    pending.data = engine.expand(&pending.data, &own, &to)?;
    for index in pending.indices_mut() {
        let labels = index.outputs.iter().map(|&o| (Some(o), 0));
        let (own, to) = cut(&mut { labels });
        if !own.is_empty() {
            index.value = engine.expand(&index.value, &own, &to)?;
        }
    }
    relabel(pending, |labels| {
        let group = |&o: &u8| {
            let first = firsts[usize::from(o)];
            (first..first + groups[usize::from(o)]).map(|l| l as u8)
        };
        labels.iter().flat_map(group).collect()
    });
    Ok(())
}

fn collapse(engine: &mut Engine<'_>, pending: &mut PendingGather, groups: &[usize]) -> Result<()> {
    let firsts = firsts(groups);
    let group_of = |label: u8| {
        firsts
            .iter()
            .rposition(|&first| first <= usize::from(label))
    };
    // Neighbours in one group join. They are all there, by `joins_alone`.
    let joined = |labels: &mut dyn Iterator<Item = Option<u8>>| {
        let mut own = Axes::new();
        let mut last = None;
        for label in labels {
            let group = label.and_then(group_of);
            match own.last_mut() {
                Some(count) if group.is_some() && group == last => *count += 1,
                Some(_) | None => own.push(1),
            }
            last = group;
        }
        own
    };
    let own = joined(&mut pending.coordinates.iter().map(|c| match c {
        PendingCoordinate::Output(output) => Some(*output),
        PendingCoordinate::Index(_) => None,
    }));
    pending.data = engine.collapse(&pending.data, &own)?;
    for index in pending.indices_mut() {
        let own = joined(&mut index.outputs.iter().map(|&o| Some(o)));
        if !own.is_empty() {
            index.value = engine.collapse(&index.value, &own)?;
        }
    }
    let mut last = None;
    let mut coordinates: SmallVec<[PendingCoordinate; 3]> = SmallVec::new();
    let dense = |labels: &[u8]| {
        let mut new: Labels = labels
            .iter()
            .filter_map(|&o| group_of(o))
            .map(|g| g as u8)
            .collect();
        new.dedup();
        new
    };
    for coordinate in pending.coordinates.drain(..) {
        match coordinate {
            PendingCoordinate::Output(output) => {
                let group = group_of(output).map(|g| g as u8);
                if group != last {
                    coordinates.extend(group.map(PendingCoordinate::Output));
                }
                last = group;
            }
            PendingCoordinate::Index(mut index) => {
                index.outputs = dense(&index.outputs);
                coordinates.push(PendingCoordinate::Index(index));
                last = None;
            }
        }
    }
    pending.coordinates = coordinates;
    Ok(())
}

/// Where each group starts.
fn firsts(groups: &[usize]) -> Axes {
    let mut next = 0;
    let mut start = |n: &usize| {
        let first = next;
        next += n;
        first
    };
    groups.iter().map(&mut start).collect()
}
