//! The generic executor, at every level of processor that this machine has, as moves are planned and in another way.

use restride_exec::{Executable, RunError};
use restride_loops::{Buffer, Verified};
use restride_moves::{Features, Manner, Planner, Target};

use super::{Outcome, Rung, RungError, Subject};

pub(super) struct Exec;

impl Rung for Exec {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn run(&self, subject: &Subject<'_>) -> Outcome {
        let mut first: Option<Outcome> = None;
        // The size of its tensors picks the manner that another planner is held to.
        let sizes = subject.kernel()?.buffers.iter().filter_map(Buffer::bytes);
        let (manner, name) = Manner::ALL[sizes.fold(0, usize::wrapping_add) % Manner::ALL.len()];
        for level in Features::WIDTHS {
            if level.available() != level {
                continue;
            }
            let planner = || Planner::new(&Target::with(level));
            let (chosen, held) = (planner(), planner().held_to(manner));
            for (kernel, planner) in [
                (subject.kernel()?, &chosen),
                (subject.cramped_kernel()?, &chosen),
                (subject.kernel()?, &held),
            ] {
                let outcome = execute(subject, kernel, planner);
                let known = first.get_or_insert_with(|| outcome.clone());
                if *known != outcome {
                    let kernel = &**kernel;
                    return Err(RungError::Broken(format!(
                        "differs at level {level:?} or in ways that are {name}\n{kernel}"
                    )));
                }
            }
        }
        first.unwrap_or_else(|| Err(RungError::broken("no level of processor")))
    }
}

fn execute(subject: &Subject<'_>, kernel: &Verified, planner: &Planner) -> Outcome {
    let executable = Executable::new(kernel, planner).map_err(RungError::broken)?;
    let mut buffers = subject.output_buffers();
    let mut outputs: Vec<&mut [u8]> = buffers.iter_mut().map(Vec::as_mut_slice).collect();
    match executable.run(&subject.buffers(), &mut outputs) {
        Ok(()) => subject.answers(&buffers),
        Err(RunError::Check(failure)) if subject.untouched(&buffers) => {
            let found = subject.bad_index(failure.code, failure.position, failure.value)?;
            Err(RungError::OutOfRange(found))
        }
        Err(RunError::Check(failure)) => Err(RungError::Broken(format!(
            "outputs are written, yet {failure}"
        ))),
        Err(other) => Err(RungError::broken(other)),
    }
}
