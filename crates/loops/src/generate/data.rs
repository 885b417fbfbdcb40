//! Contents of inputs and constants.

use crate::Random;
use crate::ir::{Buffer, BufferId, Kernel, Norm, Role, Stmt};

/// Inputs of a kernel: random bytes, and for index tensors a mix of ordinary and adversarial
/// values. Of every two seeds, the even one passes the kernel's checks.
pub fn inputs(kernel: &Kernel, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed ^ 0x5eed);
    let mut norms: Vec<Option<(Norm, bool)>> = vec![None; kernel.buffers.len()];
    let mut note = |id: BufferId, norm: &Norm, checked: bool| {
        if let Some(slot) = norms.get_mut(id.0 as usize)
            && (slot.is_none() || checked)
        {
            *slot = Some((*norm, checked));
        }
    };
    kernel.visit(|stmt| match stmt {
        Stmt::Check { index, norm, .. } => note(index.buffer, norm, true),
        Stmt::Index { place, norm, .. } => note(place.buffer, norm, false),
        Stmt::Gather(g) => note(g.index.buffer, &g.norm, false),
        Stmt::For { .. } | Stmt::Move(_) | Stmt::Fill { .. } => {}
    });
    // Indices may come by way of scratch.
    kernel.visit(|stmt| {
        let Stmt::Move(m) = stmt else {
            return;
        };
        let [to, from] = [m.dst.buffer, m.src.buffer].map(|id| id.0 as usize);
        let norm = norms.get(to).copied().flatten();
        if let Some(slot @ None) = norms.get_mut(from) {
            *slot = norm;
        }
    });
    let mut all = Vec::new();
    for (buffer, norm) in kernel.buffers.iter().zip(&norms) {
        let Role::In(number) = buffer.role else {
            continue;
        };
        let wild = norm.is_none_or(|(_, checked)| !checked || seed % 2 == 1);
        let bytes = bytes(&mut random, buffer, norm.as_ref().map(|n| &n.0), wild);
        let number = number as usize;
        if all.len() <= number {
            all.resize(number + 1, Vec::new());
        }
        all[number] = bytes;
    }
    all
}

/// The contents of one buffer; `wild` admits indices out of range.
pub(super) fn bytes(
    random: &mut Random,
    buffer: &Buffer,
    norm: Option<&Norm>,
    wild: bool,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..buffer.len {
        let low = match norm {
            Some(norm) => index(random, norm, wild) as u64,
            None => random.bits(),
        };
        let element = u128::from(random.bits()) << 64 | u128::from(low);
        bytes.extend_from_slice(&element.to_le_bytes()[..buffer.width.bytes()]);
    }
    bytes
}

fn index(random: &mut Random, norm: &Norm, wild: bool) -> i64 {
    let limit = norm.limit;
    if wild && random.one_in(3) {
        let edges = [
            limit - 1,
            limit,
            -limit,
            -limit - 1,
            -1,
            i64::MIN,
            i64::MAX,
            limit + 256,
        ];
        return random.pick(&edges);
    }
    let low = if norm.wrap && norm.ty.is_signed() {
        -limit
    } else {
        0
    };
    random.within(low, limit - 1)
}
