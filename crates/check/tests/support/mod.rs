//! What random kernels are held to, on every processor.

use restride_loops::{Buffer, Kernel, Role, Stmt, Verified, verify};

/// The same kernel with one buffer an element shorter, if it can do with that.
pub(crate) fn without_last(kernel: &Kernel, at: usize) -> Option<Verified> {
    let mut kernel = kernel.clone();
    let buffer: &mut Buffer = kernel.buffers.get_mut(at)?;
    buffer.len -= 1;
    if let Role::Const(bytes) = &buffer.role {
        let bytes = bytes.get(..bytes.len() - buffer.width.bytes())?;
        buffer.role = Role::Const(bytes.into());
    }
    verify(kernel).ok()
}

pub(crate) fn has_constant_indices(kernel: &Kernel) -> bool {
    let mut found = false;
    kernel.visit(|stmt| {
        let place = match stmt {
            Stmt::Check { index, .. } => index,
            Stmt::Index { place, .. } => place,
            Stmt::Gather(g) => &g.index,
            Stmt::For { .. } | Stmt::Move(_) | Stmt::Fill { .. } => return,
        };
        let role = kernel.buffer(place.buffer).map(|b| &b.role);
        found |= matches!(role, Some(Role::Const(_)));
    });
    found
}
