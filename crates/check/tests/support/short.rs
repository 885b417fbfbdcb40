//! Buffers too short, which code of every processor must be refused for.

use restride_check::{Kind, Report, Unproved};
use restride_loops::{Buffer, Kernel, Role, Stmt, Verified, verify};

/// The same kernel with one buffer an element shorter, if it can do with that.
fn without_last(kernel: &Kernel, at: usize) -> Option<Verified> {
    let mut kernel = kernel.clone();
    let buffer: &mut Buffer = kernel.buffers.get_mut(at)?;
    buffer.len -= 1;
    if let Role::Const(bytes) = &buffer.role {
        let bytes = bytes.get(..bytes.len() - buffer.width.bytes())?;
        buffer.role = Role::Const(bytes.into());
    }
    verify(kernel).ok()
}

fn has_constant_indices(kernel: &Kernel) -> bool {
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

/// Follows the code of a kernel with each of its buffers too short, by a byte and by an element; `follow` is given
/// the buffer and the bytes that it has. What `shares` its memory with another is left out. How many were refused, all for what they are, and how many
/// buffers had an element to spare.
pub(crate) fn too_short(
    kernel: &Verified,
    shares: impl Fn(usize) -> bool,
    follow: impl Fn(Option<(usize, i64)>) -> Result<Report, Box<Unproved>>,
) -> (usize, usize) {
    let (mut refused, mut spare) = (0, 0);
    let whole = follow(None).unwrap_or_else(|unproved| panic!("{unproved}\n{}", **kernel));
    // Where constants say that a check fails or an index is out of range, not all is read.
    if whole.bytes == 0 || has_constant_indices(kernel) {
        return (0, 0);
    }
    for (at, buffer) in kernel.buffers.iter().enumerate() {
        let width = buffer.width.bytes() as i64;
        if buffer.len == 0 || shares(at) {
            continue;
        }
        if without_last(kernel, at).is_some() {
            spare += 1;
            continue;
        }
        for missing in [1, width] {
            let Err(unproved) = follow(Some((at, buffer.len * width - missing))) else {
                panic!("b{at} without {missing} bytes\n{}", **kernel);
            };
            let kind = unproved.violation().map(|violation| &*violation.kind);
            assert!(
                matches!(kind, Some(Kind::Outside { .. } | Kind::Missing { .. })),
                "{unproved}"
            );
            refused += 1;
        }
    }
    (refused, spare)
}
