//! Index tensors worth running a kernel with.

use restride_loops::{Kernel, Norm, Random, Role, Stmt};

use crate::meaning::copies;

/// Contents of the inputs that hold indices, by buffer.
pub(crate) type Contents = Vec<(usize, Vec<u8>)>;

/// How an index is read: what it means, and whether the run ends if it is out of range.
type IndexRule = (Norm, bool);

/// How a buffer's indices are read: by none, one or several statements.
fn readers(kernel: &Kernel, numeric: &[bool]) -> Vec<Vec<IndexRule>> {
    let mut readers: Vec<Vec<IndexRule>> = vec![Vec::new(); kernel.buffers.len()];
    kernel.visit(|stmt| {
        let (place, reader) = match stmt {
            Stmt::Check { index, norm, .. } => (index, (*norm, true)),
            Stmt::Index { place, norm, .. } => (place, (*norm, false)),
            Stmt::Gather(g) => (&g.index, (g.norm, false)),
            Stmt::For { .. } | Stmt::Move(_) | Stmt::Fill { .. } => return,
        };
        if let Some(known) = readers.get_mut(place.buffer.0 as usize)
            && !known.contains(&reader)
        {
            known.push(reader);
        }
    });
    // What is only copied to where indices are read is read the same way.
    for _ in 0..kernel.buffers.len() {
        let before = readers.clone();
        copies(kernel, |dst, src| {
            if numeric.get(dst) != Some(&true) {
                return;
            }
            for reader in before.get(dst).cloned().unwrap_or_default() {
                if let Some(known) = readers.get_mut(src)
                    && !known.contains(&reader)
                {
                    known.push(reader);
                }
            }
        });
        if readers == before {
            break;
        }
    }
    readers
}

/// A prime number of them, so that rotations by different steps meet in every combination.
const EDGES: usize = 13;

/// The least and the greatest signed number of a type's width.
fn ends(norm: &Norm) -> (i64, i64) {
    let unused = 64 - 8 * norm.ty.width().bytes() as u32;
    (i64::MIN >> unused, i64::MAX >> unused)
}

/// Values around the bounds of a norm.
fn edges(norm: &Norm) -> [i64; EDGES] {
    let limit = norm.limit;
    let (least, greatest) = ends(norm);
    [
        limit.wrapping_sub(1),
        limit,
        -1,
        limit.wrapping_neg(),
        limit.wrapping_neg().wrapping_sub(1),
        least,
        greatest,
        0,
        limit.wrapping_add(256),
        limit / 2,
        1,
        // In range, as far as their lower halves say.
        1 << 16,
        1 << 32,
    ]
}

/// The same within what every reader takes.
fn valid_edges(readers: &[IndexRule]) -> [i64; EDGES] {
    let norms = || readers.iter().map(|(norm, _)| norm);
    let wraps = norms().all(|n| n.wrap && n.ty.is_signed());
    let storable = |n: &Norm| match (n.ty.width().bytes(), n.ty.is_signed()) {
        (1, true) => 128,
        (1, false) => 256,
        (2, true) => 1 << 15,
        (2, false) => 1 << 16,
        _ => 1 << 31,
    };
    let high = norms()
        .map(|n| n.limit.min(storable(n)))
        .min()
        .unwrap_or(1)
        .max(1);
    let negative = |value: i64| if wraps { value } else { value + high };
    [
        high - 1,
        0,
        negative(-1),
        negative(-high),
        high / 2,
        negative(-high / 2 - high % 2),
        1.min(high - 1),
        high / 3,
        negative(-high / 3 - 1),
        high * 2 / 3,
        high.saturating_sub(2).max(0),
        high / 4,
        high - 1 - high / 4,
    ]
}

/// What a run's indices are like.
#[derive(Clone, Copy)]
enum IndexKind {
    /// All take part.
    Valid,
    /// Those that are checked pass; the others may be anything.
    Passing,
    /// The same in no order.
    Turning,
    /// Anything, so that checks fail.
    Any,
    /// Now and then one is out of range.
    Mixed,
}

/// The runs of a kernel: one if it has no indices, otherwise as many as give each index each edge
/// that it may have, with checks that pass and with checks that fail.
///
/// `checked` says of an index, by its buffer and byte, whether a check looks at it.
pub(crate) fn variants(
    kernel: &Kernel,
    numeric: &[bool],
    checked: &dyn Fn(usize, usize) -> bool,
) -> Vec<Contents> {
    let readers = readers(kernel, numeric);
    let inputs: Vec<usize> = kernel
        .buffers
        .iter()
        .enumerate()
        .filter(|(at, buffer)| {
            matches!(buffer.role, Role::In(_)) && numeric.get(*at) == Some(&true)
        })
        .map(|(at, _)| at)
        .collect();
    if inputs.is_empty() {
        return vec![Contents::new()];
    }
    let has_checks = readers.iter().flatten().any(|(_, checked)| *checked);
    // Where statements read a tensor differently, its elements get the edges of each.
    let rounds = readers.iter().map(Vec::len).max().unwrap_or(1).clamp(1, 3);
    let mut plan: Vec<(IndexKind, usize)> = vec![(IndexKind::Valid, 0), (IndexKind::Valid, 1)];
    plan.extend((0..rounds * EDGES).map(|step| (IndexKind::Passing, step)));
    // Turns at random, where the others go round together.
    plan.extend((0..6).map(|step| (IndexKind::Turning, step)));
    if has_checks {
        plan.extend([0, 3, 7].map(|step| (IndexKind::Any, step)));
        plan.extend((0..3).map(|step| (IndexKind::Mixed, step)));
    }
    plan.into_iter()
        .map(|(kind, step)| {
            let tensor = |(order, at): (usize, usize)| {
                let buffer = kernel.buffers.get(at)?;
                let readers = readers.get(at)?;
                let width = buffer.width.bytes();
                let mut random = Random::new((step * 64 + at) as u64);
                let mut bytes = Vec::with_capacity(buffer.bytes()?);
                for element in 0..usize::try_from(buffer.len).ok()? {
                    // Tensors go round at different speeds.
                    let turn = element + step * (order % (EDGES - 1) + 1);
                    let reader = readers.get((element + step / EDGES) % readers.len().max(1));
                    let value = reader.map_or(0, |(norm, _)| {
                        if checked(at, element * width) {
                            index(readers, norm, kind, turn, &mut random)
                        } else {
                            unchecked(norm, kind, turn, &mut random)
                        }
                    });
                    let wide = i128::from(value).to_le_bytes();
                    bytes.extend_from_slice(&wide[..width]);
                }
                Some((at, bytes))
            };
            inputs
                .iter()
                .copied()
                .enumerate()
                .filter_map(tensor)
                .collect()
        })
        .collect()
}

/// An index for one of its readers.
fn index(
    readers: &[IndexRule],
    norm: &Norm,
    kind: IndexKind,
    turn: usize,
    random: &mut Random,
) -> i64 {
    let all = |readers: &[IndexRule], turn: usize| valid_edges(readers)[turn % EDGES];
    let any = |turn: usize| edges(norm)[turn % EDGES];
    match kind {
        IndexKind::Valid => all(readers, random.bits() as usize),
        IndexKind::Passing | IndexKind::Turning => {
            let turn = turn_of(kind, turn, random);
            let checks: Vec<IndexRule> = readers.iter().copied().filter(|r| r.1).collect();
            let value = any(turn);
            if checks.iter().all(|(norm, _)| is_within(norm, value)) {
                value
            } else {
                all(&checks, turn)
            }
        }
        IndexKind::Any => any(turn),
        IndexKind::Mixed if random.one_in(16) => any(random.bits() as usize),
        IndexKind::Mixed => all(readers, random.bits() as usize),
    }
}

/// An index that no check looks at.
fn unchecked(norm: &Norm, kind: IndexKind, turn: usize, random: &mut Random) -> i64 {
    match kind {
        IndexKind::Valid => valid_edges(&[(*norm, false)])[random.below(EDGES)],
        IndexKind::Passing | IndexKind::Turning | IndexKind::Any | IndexKind::Mixed => {
            edges(norm)[turn_of(kind, turn, random) % EDGES]
        }
    }
}

fn turn_of(kind: IndexKind, turn: usize, random: &mut Random) -> usize {
    match kind {
        IndexKind::Passing | IndexKind::Any => turn,
        IndexKind::Valid | IndexKind::Turning | IndexKind::Mixed => random.bits() as usize,
    }
}

/// Whether a value is in range once it is stored.
fn is_within(norm: &Norm, value: i64) -> bool {
    let unused = 64 - 8 * norm.ty.width().bytes() as u32;
    let stored = (value as u64) << unused >> unused;
    norm.within(norm.ty.widen(stored)).is_some()
}
