//! Index tensors worth running a kernel with.

use restride_loops::{Kernel, Norm, Role, Stmt};

/// Contents of the inputs that hold indices, by buffer.
pub(crate) type Contents = Vec<(usize, Vec<u8>)>;

/// How a buffer's indices are read: by none, one or several statements.
fn norms(kernel: &Kernel, numeric: &[bool]) -> Vec<Vec<Norm>> {
    let mut norms: Vec<Vec<Norm>> = vec![Vec::new(); kernel.buffers.len()];
    kernel.visit(|stmt| {
        let (place, norm) = match stmt {
            Stmt::Check { index, norm, .. } => (index, norm),
            Stmt::Index { place, norm, .. } => (place, norm),
            Stmt::Gather(g) => (&g.index, &g.norm),
            Stmt::For { .. } | Stmt::Move(_) | Stmt::Fill { .. } => return,
        };
        if let Some(known) = norms.get_mut(place.buffer.0 as usize)
            && !known.contains(norm)
        {
            known.push(*norm);
        }
    });
    // What is only copied to where indices are read is read the same way.
    for _ in 0..kernel.buffers.len() {
        let before = norms.clone();
        kernel.visit(|stmt| {
            let (dst, src) = match stmt {
                Stmt::Move(m) => (&m.dst, &m.src),
                Stmt::Gather(g) => (&g.dst, &g.src),
                Stmt::For { .. } | Stmt::Check { .. } | Stmt::Index { .. } | Stmt::Fill { .. } => {
                    return;
                }
            };
            let [dst, src] = [dst, src].map(|place| place.buffer.0 as usize);
            if numeric.get(dst) != Some(&true) {
                return;
            }
            for norm in before.get(dst).cloned().unwrap_or_default() {
                if let Some(known) = norms.get_mut(src)
                    && !known.contains(&norm)
                {
                    known.push(norm);
                }
            }
        });
        if norms == before {
            break;
        }
    }
    norms
}

/// Values around the bounds of a norm.
fn edges(norm: &Norm) -> [i64; 9] {
    let limit = norm.limit;
    [
        limit.wrapping_sub(1),
        limit,
        -1,
        limit.wrapping_neg(),
        limit.wrapping_neg().wrapping_sub(1),
        i64::MIN,
        i64::MAX,
        0,
        limit.wrapping_add(256),
    ]
}

const EDGES: usize = 9;

/// The runs of a kernel: one if it has no indices; otherwise two that pass its checks, as many as
/// give each index each edge, and two mixed ones.
pub(crate) fn variants(kernel: &Kernel, numeric: &[bool]) -> Vec<Contents> {
    let norms = norms(kernel, numeric);
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
    (0..EDGES + 4)
        .map(|variant| {
            inputs
                .iter()
                .filter_map(|&at| {
                    let buffer = kernel.buffers.get(at)?;
                    let width = buffer.width.bytes();
                    let mut random = 0x9e37_79b9 + (variant * 64 + at) as u64;
                    let mut bytes = Vec::with_capacity(buffer.bytes()?);
                    for element in 0..usize::try_from(buffer.len).ok()? {
                        let value = index(&norms[at], variant, element, &mut random);
                        let wide = i128::from(value).to_le_bytes();
                        bytes.extend_from_slice(&wide[..width]);
                    }
                    Some((at, bytes))
                })
                .collect()
        })
        .collect()
}

fn index(norms: &[Norm], variant: usize, element: usize, random: &mut u64) -> i64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    let Some(norm) = norms.get(element % norms.len().max(1)) else {
        return *random as i64;
    };
    let edge = |at: usize| edges(norm)[at % EDGES];
    match variant {
        0 | 1 => valid(norms, *random, variant),
        _ if variant < EDGES + 2 => edge(element + variant),
        _ if (*random >> 40).is_multiple_of(4) => edge((*random >> 50) as usize),
        _ => valid(norms, *random, variant),
    }
}

/// An index that every statement takes, often one at the end of the range.
fn valid(norms: &[Norm], random: u64, variant: usize) -> i64 {
    let high = norms.iter().map(|n| n.limit).min().unwrap_or(1).max(1);
    let wraps = norms.iter().all(|n| n.wrap && n.ty.is_signed());
    let narrow = norms
        .iter()
        .map(|n| match n.ty.width().bytes() {
            1 => 127,
            2 => 32_767,
            _ => i64::MAX - 1,
        })
        .min()
        .unwrap_or(127);
    let high = high.min(narrow.saturating_add(1));
    let low = if wraps { -high } else { 0 };
    match (random >> 32) % 4 {
        0 if variant == 0 => high - 1,
        1 if variant == 0 => low,
        _ => {
            let span = (i128::from(high) - i128::from(low)).max(1);
            (i128::from(low) + i128::from(random >> 1) % span) as i64
        }
    }
}
