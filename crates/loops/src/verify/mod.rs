//! The verifier. [`Verified`] lists what it proves; each property has a file of its own.
//!
//! Proofs take time linear in the kernel. What is wrong, and scratch that is written in part, is
//! searched for; searching is bounded by a budget, and past it the answer is a refusal.
//! Refusals come with the statement, what is wrong with it, and the numbers that show it.

use std::ops::Deref;
use std::sync::Arc;

use crate::ir::{BufferId, Kernel, Stmt};

mod bounds;
mod checks;
mod cover;
mod error;
mod fingerprint;
mod forms;
mod joined;
mod scope;
mod scratch;
mod search;
mod strided;
mod structure;
mod walk;
mod work_bound;

pub use error::{Location, Reason, Rejected};

/// Steps of searching that one kernel is worth: some tens of milliseconds at most.
const BUDGET: u64 = 1 << 20;

/// A kernel that the verifier has accepted. There is no other way to make one. Cheap to clone.
///
/// # Invariants
///
/// All are proved from the kernel alone, for every input.
///
/// - **structure** — lengths and image extents are at least 0, other extents at least 1; constant
///   data has the length of its buffer; all buffers together fit an `isize`; every output number
///   stands for one buffer. Variables are defined once, used in scope, at most once per address,
///   never with coefficient 0. Inputs and constants are never written, outputs never read. The two
///   widths of a move are equal, and an index has the width of its buffer. Index variables are in
///   no address that is written or checked. `parallel` is only at the top level, and a parallel
///   loop uses no variable from outside of it. Loops nest at most 64 deep.
/// - **forms** — a move's form suits its box (see [`Form::fits`](crate::Form::fits)).
/// - **bounds** — every address of every statement lies in its buffer, whatever the indices hold.
/// - **checks** — checks come before the first write of an output, in no loop that writes one or
///   is parallel, and in no phase that has a parallel loop which writes one. So a failed check
///   leaves all outputs as they were.
/// - **work** — every loop writes or checks something each time round, and checks look at few
///   indices more often than once. So a call takes no longer than its buffers are large.
/// - **cover** — over all statements, every element of an output's image is written exactly once,
///   nothing outside of it is, and no element of scratch is written twice. So iterations and
///   statements never race in their writes.
/// - **scratch** — what is read of scratch was written in an earlier phase, or by an earlier
///   statement of the same iteration. So no load sees uninitialised or racing memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Verified(Arc<Kernel>);

impl Verified {
    /// Gives the kernel back, to be changed and verified again.
    pub fn into_inner(self) -> Kernel {
        Arc::unwrap_or_clone(self.0)
    }
}

impl Deref for Verified {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.0
    }
}

/// Proves a kernel or says what is wrong with it.
pub fn verify(kernel: Kernel) -> Result<Verified, Rejected> {
    match prove(&kernel) {
        Ok(()) => Ok(Verified(Arc::new(kernel))),
        Err(flaw) => Err(flaw.located(&kernel)),
    }
}

fn prove(kernel: &Kernel) -> Result<(), Flaw> {
    structure::buffers(kernel).map_err(Flaw::in_buffer)?;
    let mut walker = walk::Walker::new(kernel);
    if let Err(reason) = walker.run() {
        return Err(Flaw::at(reason, walker.stmt));
    }
    let mut budget = search::SearchBudget::new(BUDGET);
    let whole = cover::all(kernel, &mut walker.writes, &mut budget)?;
    scratch::all(kernel, &walker.accesses, &whole, &mut budget)
}

/// A refusal in the making: statements are still numbers.
struct Flaw {
    reason: Reason,
    stmt: Option<u32>,
    other: Option<u32>,
}

impl Flaw {
    fn in_buffer(reason: Reason) -> Flaw {
        Flaw {
            reason,
            stmt: None,
            other: None,
        }
    }

    fn at(reason: Reason, stmt: u32) -> Flaw {
        Flaw {
            reason,
            stmt: Some(stmt),
            other: None,
        }
    }

    fn overlap(buffer: BufferId, other: u32, stmt: u32) -> Flaw {
        let reason = Reason::Overlap {
            buffer,
            other: String::new(),
        };
        Flaw {
            reason,
            stmt: Some(stmt),
            other: Some(other),
        }
    }

    #[cold]
    fn located(mut self, kernel: &Kernel) -> Rejected {
        if let Reason::Overlap { other, .. } = &mut self.reason {
            *other = self
                .other
                .and_then(|n| locate(kernel, n))
                .map_or(String::new(), |l| l.text);
        }
        Rejected {
            reason: self.reason,
            at: self.stmt.and_then(|n| locate(kernel, n)),
        }
    }
}

/// The n-th statement in program order.
fn locate(kernel: &Kernel, n: u32) -> Option<Location> {
    let mut left = n;
    for (phase, stmts) in kernel.phases.iter().enumerate() {
        // The blocks around, each with the position reached in it.
        let mut blocks: Vec<(&[Stmt], usize)> = vec![(stmts, 0)];
        while let Some((block, at)) = blocks.last_mut() {
            let Some(stmt) = block.get(*at) else {
                blocks.pop();
                continue;
            };
            *at += 1;
            if left == 0 {
                let steps = blocks.iter().map(|&(_, at)| at - 1);
                let path = std::iter::once(phase).chain(steps).collect();
                return Some(Location {
                    path,
                    text: stmt.head().to_string(),
                });
            }
            left -= 1;
            if !stmt.body().is_empty() {
                blocks.push((stmt.body(), 0));
            }
        }
    }
    None
}
