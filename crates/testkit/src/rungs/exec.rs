//! The generic executor, at every level of processor that this machine has.

use restride_exec::{Executable, RunError};
use restride_loops::Verified;
use restride_moves::{Features, Planner, Target};

use super::{Outcome, Rung, RungError, Subject};

pub(super) struct Exec;

impl Rung for Exec {
    fn name(&self) -> &'static str {
        "exec"
    }

    fn run(&self, subject: &Subject<'_>) -> Outcome {
        let mut first: Option<Outcome> = None;
        for level in Features::WIDTHS {
            if level.available() != level {
                continue;
            }
            for kernel in [subject.kernel()?, subject.cramped_kernel()?] {
                let outcome = execute(subject, kernel, level);
                let known = first.get_or_insert_with(|| outcome.clone());
                if *known != outcome {
                    let kernel = &**kernel;
                    return Err(RungError::Broken(format!(
                        "differs at level {level:?}\n{kernel}"
                    )));
                }
            }
        }
        first.unwrap_or_else(|| Err(RungError::broken("no level of processor")))
    }
}

fn execute(subject: &Subject<'_>, kernel: &Verified, level: Features) -> Outcome {
    let executable =
        Executable::new(kernel, &Planner::new(&Target::with(level))).map_err(RungError::broken)?;
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
