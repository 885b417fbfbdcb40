//! Which kernel moves a box.

use restride_loops::Form;

use crate::cpu::CpuLevel;
use crate::leaf::Leaf;
use crate::level::{Level, with_level};
use crate::lines::Stores;
use crate::shape::Shape;
use crate::transpose::Way;
use crate::{lines, rows, stream, transpose};

/// Boxes of fewer bytes are not worth the search for a pattern, unless a form asks for it.
const SMALL: usize = 256;

/// Picks and prepares the kernel.
pub(crate) fn plan(shape: &Shape, form: Form, cpu: CpuLevel) -> Leaf {
    with_level!(cpu, of(shape, form))
}

fn of<L: Level>(shape: &Shape, form: Form) -> Leaf {
    let tiled = |way| transpose::prepare::<L>(shape, way);
    let lines = |limit, stores| lines::prepare(shape, L::CPU, limit, stores);
    match form {
        Form::Elements if shape.bytes() < SMALL => rows::prepare::<L>(shape),
        Form::Stream => tiled(Way::Streamed)
            .or_else(|| lines(rows::cost(shape), Stores::Past))
            .unwrap_or_else(|| stream::prepare::<L>(shape)),
        Form::Staged => tiled(Way::Staged)
            .or_else(|| lines(rows::cost(shape), Stores::Cached))
            .unwrap_or_else(|| rows::prepare::<L>(shape)),
        Form::Elements | Form::Rows | Form::Strided | Form::Transpose | Form::Lines => {
            let mut limit = rows::cost(shape);
            let mut best = tiled(Way::Direct);
            if let Some(cost) = transpose::cost::<L>(shape) {
                limit = limit.min(cost);
            }
            if let Some((cost, leaf)) = ragged(shape, L::CPU).filter(|(cost, _)| *cost < limit) {
                (limit, best) = (cost, Some(leaf));
            }
            lines(limit, Stores::Cached)
                .or(best)
                .unwrap_or_else(|| rows::prepare::<L>(shape))
        }
    }
}

/// Tiles with a short side, and their cost: masks are what AVX-512 has.
fn ragged(shape: &Shape, cpu: CpuLevel) -> Option<(usize, Leaf)> {
    #[cfg(target_arch = "x86_64")]
    if cpu == CpuLevel::Avx512 {
        return Some((crate::ragged::cost(shape)?, crate::ragged::prepare(shape)?));
    }
    let _ = (shape, cpu);
    None
}
