//! Which kernel moves a box.

use restride_loops::Form;

use crate::cpu::CpuLevel;
use crate::leaf::Leaf;
use crate::level::{Level, with_level};
use crate::shape::Shape;
use crate::{rows, transpose};

/// Picks and prepares the kernel.
pub(crate) fn plan(shape: &Shape, width: usize, form: Form, cpu: CpuLevel) -> Leaf {
    with_level!(cpu, of(shape, width, form))
}

fn of<L: Level>(shape: &Shape, _width: usize, form: Form) -> Leaf {
    match form {
        Form::Stream => rows::prepare_stream::<L>(shape),
        Form::Elements => rows::prepare::<L>(shape),
        Form::Rows | Form::Strided | Form::Transpose | Form::Lines => {
            transpose::prepare::<L>(shape, false).unwrap_or_else(|| rows::prepare::<L>(shape))
        }
        Form::Staged => {
            transpose::prepare::<L>(shape, true).unwrap_or_else(|| rows::prepare::<L>(shape))
        }
    }
}
