//! Which kernel moves a box: first decided, from numbers alone, then prepared.

use restride_loops::Form;

use crate::cpu::CpuLevel;
use crate::leaf::Leaf;
use crate::level::{Level, with_level};
#[cfg(target_arch = "x86_64")]
use crate::lines::{Program, Stores};
use crate::patterns::Patterns;
use crate::shape::Shape;
use crate::transpose::Way;
use crate::{rows, stream, transpose};

/// Boxes of fewer bytes are not worth the search for a pattern, unless a form asks for it.
const SMALL: usize = 256;

/// How a box is moved.
#[expect(clippy::large_enum_variant, reason = "there is one, and not for long")]
enum Plan {
    Rows,
    Stream,
    Transpose(Way),
    #[cfg(target_arch = "x86_64")]
    Ragged,
    #[cfg(target_arch = "x86_64")]
    Lines(Program, Stores),
}

/// Picks and prepares the kernel.
pub(crate) fn plan(shape: &Shape, form: Form, patterns: &Patterns) -> Leaf {
    with_level!(patterns.cpu(), of(shape, form, patterns))
}

fn of<L: Level>(shape: &Shape, form: Form, patterns: &Patterns) -> Leaf {
    let leaf = match decide::<L>(shape, form, patterns) {
        Plan::Rows => None,
        Plan::Stream => Some(stream::prepare::<L>(shape)),
        Plan::Transpose(way) => transpose::prepare::<L>(shape, way),
        #[cfg(target_arch = "x86_64")]
        Plan::Ragged => crate::ragged::prepare(shape),
        #[cfg(target_arch = "x86_64")]
        Plan::Lines(program, stores) => program.leaf(shape, stores),
    };
    leaf.unwrap_or_else(|| rows::prepare::<L>(shape))
}

fn decide<L: Level>(shape: &Shape, form: Form, patterns: &Patterns) -> Plan {
    let tiles = transpose::cost::<L>(shape);
    let lines = |limit, past| pattern(shape, patterns, limit, past);
    let rows = rows::cost(shape);
    match form {
        Form::Elements if shape.bytes() < SMALL => Plan::Rows,
        Form::Stream => match tiles {
            Some(_) => Plan::Transpose(Way::Streamed),
            None => lines(rows, true).unwrap_or(Plan::Stream),
        },
        Form::Staged => match tiles {
            Some(_) => Plan::Transpose(Way::Staged),
            None => lines(rows, false).unwrap_or(Plan::Rows),
        },
        Form::Elements | Form::Rows | Form::Strided | Form::Transpose | Form::Lines => {
            let (mut limit, mut best) = match tiles {
                Some(cost) => (rows.min(cost), Plan::Transpose(Way::Direct)),
                None => (rows, Plan::Rows),
            };
            if let Some((cost, plan)) = ragged(shape, L::CPU).filter(|(cost, _)| *cost < limit) {
                (limit, best) = (cost, plan);
            }
            lines(limit, false).unwrap_or(best)
        }
    }
}

/// A line program that costs less than `limit`; its lines may be stored past the caches.
fn pattern(shape: &Shape, patterns: &Patterns, limit: usize, past: bool) -> Option<Plan> {
    #[cfg(target_arch = "x86_64")]
    return Program::find(shape, &patterns.lines, patterns.cpu(), limit).map(|program| {
        let stores = if past { Stores::Past } else { Stores::Cached };
        Plan::Lines(program, stores)
    });
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (shape, patterns, limit, past);
        None
    }
}

/// Tiles with a short side, and their cost: masks are what AVX-512 has.
fn ragged(shape: &Shape, cpu: CpuLevel) -> Option<(usize, Plan)> {
    #[cfg(target_arch = "x86_64")]
    if cpu == CpuLevel::Avx512 {
        return Some((crate::ragged::cost(shape)?, Plan::Ragged));
    }
    let _ = (shape, cpu);
    None
}
