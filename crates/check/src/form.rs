//! Which functions code consists of, and how they are called.

use restride_loops::{BufferId, Role};

use crate::run::Subject;
use crate::violation::Kind;

/// How code is called.
#[derive(Clone, Copy, Debug)]
pub enum Form<'a> {
    /// A function for each phase, each at one of these places: `(buffers, chunk, chunks) -> status`, where the
    /// status is the number of the check that failed, from 1.
    Phases(&'a [usize]),
    /// One function for all phases, ahead of time.
    Whole(Whole<'a>),
}

/// What lies in the code of a function ahead of time, which begins with the first byte:
/// `(inputs, outputs, scratch) -> status`, where the status is one more than the code of the check that failed.
///
/// Its scratch buffers lie where the kernel's own [layout](restride_loops::Kernel::scratch_layout) puts them, at
/// multiples of [`ALIGN`](Self::ALIGN). The code itself lies at such a multiple, too.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'a> {
    /// How many bytes are instructions, and constants between them.
    pub instructions: usize,
    /// Where the constants of the kernel begin, behind the instructions.
    pub constants: &'a [(BufferId, usize)],
    /// How many bytes of scratch a caller lends.
    pub scratch: usize,
}

impl Whole<'_> {
    /// What code and scratch are aligned to.
    pub const ALIGN: usize = 64;

    /// The instructions, if everything else is there: all constants of the kernel, as they are.
    pub(crate) fn instructions<'c>(&self, subject: &Subject<'c>) -> Result<&'c [u8], Kind> {
        for (id, buffer) in subject.kernel.numbered() {
            let Role::Const(bytes) = &buffer.role else {
                continue;
            };
            let place = self.constants.iter().find(|(known, _)| *known == id);
            let there = place.filter(|(_, at)| *at >= self.instructions);
            let there = there.and_then(|(_, at)| subject.code.get(*at..)?.get(..bytes.len()));
            if there != Some(bytes) {
                return Err(Kind::Constant { buffer: id.0 });
            }
        }
        let missing = || Kind::NoCode { offset: 0 };
        subject.code.get(..self.instructions).ok_or_else(missing)
    }
}
