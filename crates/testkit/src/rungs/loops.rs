//! The kernel, verified, in the checking interpreter: for a usual machine as one chunk, and for one
//! with tiny caches in several chunks of any order. It is also written and read back.

use restride_loops::{Fault, Kernel, Order, Verified, interpret_chunked};

use super::subject::written;
use super::{Outcome, Rung, RungError, Subject};

pub(super) struct Loops;

impl Rung for Loops {
    fn name(&self) -> &'static str {
        "loops"
    }

    fn run(&self, subject: &Subject<'_>) -> Outcome {
        let whole = interpret(subject, subject.kernel()?, 1);
        let shared = interpret(subject, subject.cramped_kernel()?, 3);
        if whole != shared {
            let kernel = &**subject.cramped_kernel()?;
            return Err(match shared {
                Err(RungError::Broken(message)) => RungError::Broken(message),
                Ok(_) | Err(_) => {
                    RungError::Broken(format!("chunks differ from the whole\n{kernel}"))
                }
            });
        }
        whole
    }
}

fn interpret(subject: &Subject<'_>, kernel: &Verified, chunks: u32) -> Outcome {
    let printed = kernel.to_string();
    if printed.parse::<Kernel>().as_ref() != Ok(&**kernel) {
        return Err(RungError::Broken(format!("{printed}\ndoes not read back")));
    }
    let order = if chunks == 1 {
        Order::Forward
    } else {
        Order::Shuffled(7)
    };
    match interpret_chunked(kernel, &subject.buffers(), chunks, order) {
        Ok(found) => {
            let mut buffers = subject.output_buffers();
            for (n, bytes) in written(kernel).into_iter().zip(found) {
                // The interpreter has 0 between the elements and sees to it that nothing is written.
                let ty = subject.graph().output_type(&subject.graph().outputs()[n]);
                let tensor = restride_graph::oracle::Tensor::read(&ty, &bytes);
                let tensor = tensor.map_err(RungError::broken)?;
                tensor
                    .write_into(&ty, &mut buffers[n])
                    .map_err(RungError::broken)?;
            }
            subject.answers(&buffers)
        }
        Err(Fault::CheckFailed {
            code,
            position,
            value,
        }) => Err(RungError::OutOfRange(
            subject.bad_index(code, position, value)?,
        )),
        Err(fault) => Err(RungError::Broken(format!("{fault}\n{printed}"))),
    }
}
