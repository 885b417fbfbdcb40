//! Which functions code consists of, and how they are called.

use restride_loops::{Role, Standalone, Verified};

use crate::machine::Processor;
use crate::run::CodeSubject;
use crate::violation::Kind;

/// How code is called.
#[derive(Clone, Copy, Debug)]
pub enum CallForm<'a> {
    /// A function for each phase, each at one of these places: `(buffers, chunk, chunks) -> status`, where the
    /// status is the number of the check that failed, from 1.
    Phases(&'a [usize]),
    /// One function for all phases, ahead of time; its bytes lie in the code that is checked.
    Whole(&'a Standalone),
}

impl<'a> CodeSubject<'a> {
    /// A function ahead of time, whose bytes lie at a multiple of [`Standalone::ALIGN`].
    #[must_use]
    pub fn ahead(processor: Processor, kernel: &'a Verified, function: &'a Standalone) -> Self {
        Self {
            processor,
            code: &function.bytes,
            form: CallForm::Whole(function),
            kernel,
            callees: &[],
        }
    }
}

/// The instructions of a function ahead of time, if everything else is there: all constants of the kernel, as they are.
pub(crate) fn instructions<'c>(
    function: &Standalone,
    subject: &CodeSubject<'c>,
) -> Result<&'c [u8], Kind> {
    for (id, buffer) in subject.kernel.numbered() {
        let Role::Const(bytes) = &buffer.role else {
            continue;
        };
        let place = function.constants.iter().find(|(known, _)| *known == id);
        let there = place.filter(|(_, at)| *at >= function.code);
        let there = there.and_then(|(_, at)| subject.code.get(*at..)?.get(..bytes.len()));
        if there != Some(bytes) {
            return Err(Kind::Constant { buffer: id.0 });
        }
    }
    let missing = || Kind::NoCode { offset: 0 };
    subject.code.get(..function.code).ok_or_else(missing)
}
