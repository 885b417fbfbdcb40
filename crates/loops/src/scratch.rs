//! Where the scratch buffers of a kernel lie in one piece of memory.
//!
//! A scratch buffer holds something from the first phase that mentions it to the last. Phases do
//! not overlap, so buffers whose phases do not overlap may share memory.

use crate::ir::{BufferId, Kernel, Place, Role, Stmt};

/// Offsets of the scratch buffers in one piece of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScratchLayout {
    /// How many bytes all of them take.
    pub bytes: usize,
    /// Every scratch buffer with its offset, in the order of their numbers.
    pub offsets: Vec<(BufferId, usize)>,
}

/// A buffer that has its place.
struct Placed {
    start: usize,
    end: usize,
    phases: (usize, usize),
}

impl Kernel {
    /// Places the scratch buffers at multiples of `align` (at least 1), largest first and each at
    /// the lowest offset that is free while it is in use. Nothing when the sizes do not fit a
    /// `usize`; those of a verified kernel do, unless the alignment is enormous.
    pub fn scratch_layout(&self, align: usize) -> Option<ScratchLayout> {
        let mut layout = ScratchLayout::default();
        let mut sizes = Vec::new();
        for (id, buffer) in self.numbered() {
            if buffer.role == Role::Scratch {
                let bytes = buffer.bytes()?.checked_next_multiple_of(align.max(1))?;
                sizes.push((id, bytes));
            }
        }
        if sizes.is_empty() {
            return Some(layout);
        }
        let phases = self.phases_of_buffers();
        sizes.sort_by_key(|&(id, bytes)| (std::cmp::Reverse(bytes), id));
        let mut placed: Vec<Placed> = Vec::new();
        for (id, bytes) in sizes {
            // A buffer that nobody mentions lives nowhere.
            let alive = phases.get(id.0 as usize).copied().flatten();
            let start = match alive {
                Some(phases) => lowest(&placed, bytes, phases)?,
                None => 0,
            };
            let end = start.checked_add(bytes)?;
            layout.bytes = layout.bytes.max(end);
            layout.offsets.push((id, start));
            if let Some(phases) = alive {
                placed.push(Placed { start, end, phases });
                placed.sort_by_key(|p| p.start);
            }
        }
        layout.offsets.sort_by_key(|o| o.0);
        Some(layout)
    }

    /// The first and the last phase that mention each buffer.
    fn phases_of_buffers(&self) -> Vec<Option<(usize, usize)>> {
        let mut all: Vec<Option<(usize, usize)>> = vec![None; self.buffers.len()];
        for (phase, stmts) in self.phases.iter().enumerate() {
            let mut stack: Vec<&Stmt> = stmts.iter().collect();
            while let Some(stmt) = stack.pop() {
                stack.extend(stmt.body());
                for place in stmt.places().into_iter().flatten() {
                    if let Some(seen) = all.get_mut(place.buffer.0 as usize) {
                        *seen = Some((seen.map_or(phase, |s| s.0), phase));
                    }
                }
            }
        }
        all
    }
}

impl Stmt {
    /// The places that it reads or writes itself, not those in its body.
    fn places(&self) -> [Option<&Place>; 3] {
        match self {
            Stmt::For { .. } => [None; 3],
            Stmt::Check { index, .. } => [Some(index), None, None],
            Stmt::Index { place, .. } => [Some(place), None, None],
            Stmt::Move(m) => [Some(&m.dst), Some(&m.src), None],
            Stmt::Gather(g) => [Some(&g.dst), Some(&g.src), Some(&g.index)],
            Stmt::Fill { dst, .. } => [Some(dst), None, None],
        }
    }
}

/// The lowest offset where so many bytes are free in these phases, given what lies where in
/// ascending order.
fn lowest(placed: &[Placed], bytes: usize, phases: (usize, usize)) -> Option<usize> {
    let mut start = 0usize;
    for other in placed {
        let together = other.phases.0 <= phases.1 && phases.0 <= other.phases.1;
        if together && other.start < start.checked_add(bytes)? && start < other.end {
            start = other.end;
        }
    }
    Some(start)
}

#[cfg(test)]
mod tests {
    use crate::{Kernel, generate};

    #[test]
    fn stages_in_a_row_take_turns() {
        let text = "kernel \"stages\" {
            b0 = in 0 w1 [100] b1 = out 0 w1 [100] b2 = scratch w1 [100]
            b3 = scratch w1 [90] b4 = scratch w2 [40] b5 = scratch w1 [7]
            move b2[0] <- b0[0] box [(100, 1, 1)]
            barrier
            move b3[0] <- b2[0] box [(90, 1, 1)]
            barrier
            fill b4[0] <- 0x1 box [(40, 1)]
            move b1[0] <- b3[0] box [(90, 1, 1)]
            barrier
            fill b1[90] <- 0x2 box [(10, 1)]
        }";
        let layout = text.parse::<Kernel>().unwrap().scratch_layout(16).unwrap();
        let offsets: Vec<usize> = layout.offsets.iter().map(|o| o.1).collect();
        assert_eq!((layout.bytes, offsets), (208, vec![0, 112, 0, 0]));
    }

    #[test]
    fn what_is_alive_together_lies_apart() {
        let mut buffers = 0;
        for seed in 0..2_000 {
            let kernel = generate::kernel(seed);
            let layout = kernel.scratch_layout(64).unwrap();
            let phases = kernel.phases_of_buffers();
            let of = |at: usize| {
                let (id, start) = layout.offsets[at];
                let bytes = kernel.buffer(id).and_then(|b| b.bytes()).unwrap();
                (start, start + bytes, phases[id.0 as usize].unwrap())
            };
            for a in 0..layout.offsets.len() {
                assert!(of(a).0 % 64 == 0 && of(a).1 <= layout.bytes);
                for b in 0..a {
                    let ((s, e, p), (t, f, q)) = (of(a), of(b));
                    assert!(e <= t || f <= s || p.1 < q.0 || q.1 < p.0, "seed {seed}");
                    buffers += 1;
                }
            }
        }
        assert!(buffers > 200, "{buffers}");
    }
}
