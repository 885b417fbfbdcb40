//! Which kernel moves a box: first decided, from numbers alone, then prepared.

use restride_loops::Form;

use crate::cpu::CpuLevel;
use crate::leaf::Leaf;
use crate::level::{Level, with_level};
use crate::lines::{Program, Stores};
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
    Lines(Program, Stores),
}

/// Picks and prepares the kernel.
pub(crate) fn plan(shape: &Shape, form: Form, cpu: CpuLevel) -> Leaf {
    with_level!(cpu, of(shape, form))
}

fn of<L: Level>(shape: &Shape, form: Form) -> Leaf {
    let leaf = match decide::<L>(shape, form) {
        Plan::Rows => None,
        Plan::Stream => Some(stream::prepare::<L>(shape)),
        Plan::Transpose(way) => transpose::prepare::<L>(shape, way),
        #[cfg(target_arch = "x86_64")]
        Plan::Ragged => crate::ragged::prepare(shape),
        Plan::Lines(program, stores) => program.leaf(shape, stores),
    };
    leaf.unwrap_or_else(|| rows::prepare::<L>(shape))
}

fn decide<L: Level>(shape: &Shape, form: Form) -> Plan {
    let tiles = transpose::cost::<L>(shape);
    let lines = |limit, stores| {
        let found = Program::find(shape, L::CPU, limit)?;
        Some(Plan::Lines(found, stores))
    };
    let mut limit = rows::cost(shape);
    match form {
        Form::Elements if shape.bytes() < SMALL => Plan::Rows,
        Form::Stream => match tiles {
            Some(_) => Plan::Transpose(Way::Streamed),
            None => lines(limit, Stores::Past).unwrap_or(Plan::Stream),
        },
        Form::Staged => match tiles {
            Some(_) => Plan::Transpose(Way::Staged),
            None => lines(limit, Stores::Cached).unwrap_or(Plan::Rows),
        },
        Form::Elements | Form::Rows | Form::Strided | Form::Transpose | Form::Lines => {
            let mut best = Plan::Rows;
            if let Some(cost) = tiles {
                (limit, best) = (limit.min(cost), Plan::Transpose(Way::Direct));
            }
            #[cfg(target_arch = "x86_64")]
            if let Some(cost) = ragged(shape, L::CPU).filter(|cost| *cost < limit) {
                (limit, best) = (cost, Plan::Ragged);
            }
            lines(limit, Stores::Cached).unwrap_or(best)
        }
    }
}

/// What tiles with a short side cost: masks are what AVX-512 has.
#[cfg(target_arch = "x86_64")]
fn ragged(shape: &Shape, cpu: CpuLevel) -> Option<usize> {
    match cpu {
        CpuLevel::Avx512 => crate::ragged::cost(shape),
        CpuLevel::Baseline | CpuLevel::Avx2 => None,
    }
}
