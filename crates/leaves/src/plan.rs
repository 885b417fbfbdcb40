//! Which kernel moves a box.

use restride_loops::Form;

use crate::cpu::CpuLevel;
use crate::leaf::Leaf;
use crate::level::{Level, with_level};
use crate::shape::Shape;
use crate::{lines, rows, transpose};

/// Boxes of fewer bytes are not worth the search for a pattern, unless a form asks for it.
const SMALL: usize = 256;

/// Picks and prepares the kernel.
pub(crate) fn plan(shape: &Shape, form: Form, cpu: CpuLevel) -> Leaf {
    with_level!(cpu, of(shape, form))
}

fn of<L: Level>(shape: &Shape, form: Form) -> Leaf {
    let tiled = |staged| transpose::prepare::<L>(shape, staged);
    match form {
        Form::Elements if shape.bytes() < SMALL => rows::prepare::<L>(shape),
        Form::Stream => rows::prepare_stream::<L>(shape),
        Form::Transpose | Form::Staged => tiled(form == Form::Staged)
            .or_else(|| lines::prepare(shape, L::CPU, rows::cost(shape)))
            .unwrap_or_else(|| rows::prepare::<L>(shape)),
        Form::Elements | Form::Rows | Form::Strided | Form::Lines => {
            let tiles = tiled(false);
            let limit = match tiles {
                Some(_) => rows::cost(shape).min(transpose::cost(shape)),
                None => rows::cost(shape),
            };
            lines::prepare(shape, L::CPU, limit)
                .or(tiles)
                .unwrap_or_else(|| rows::prepare::<L>(shape))
        }
    }
}
