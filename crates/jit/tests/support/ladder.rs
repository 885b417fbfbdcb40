//! One rung: what a compiled kernel does against what the checking interpreter says.

use restride_jit::{BadIndex, NativeKernel, RunError};
use restride_loops::{Fault, Role, Verified, interpret};

use super::guarded::Guarded;

/// The buffers of one call, each between guard pages.
struct Call {
    buffers: Vec<Guarded>,
    table: Vec<*mut u8>,
}

impl Call {
    fn new(kernel: &Verified, inputs: &[Vec<u8>], at_front: bool) -> Self {
        let buffers: Vec<Guarded> = kernel
            .buffers
            .iter()
            .map(|buffer| {
                let bytes = buffer.bytes().expect("a verified length");
                match &buffer.role {
                    Role::In(input) => {
                        Guarded::new(&inputs[*input as usize][..bytes], at_front, true)
                    }
                    Role::Out(..) | Role::Scratch => {
                        Guarded::new(&vec![0x5a; bytes], at_front, false)
                    }
                    Role::Const(_) => Guarded::new(&[], at_front, true),
                }
            })
            .collect();
        let table = kernel
            .buffers
            .iter()
            .zip(&buffers)
            .map(|(buffer, guarded)| match &buffer.role {
                Role::Const(_) => std::ptr::null_mut(),
                Role::In(_) | Role::Out(..) | Role::Scratch => guarded.as_mut_ptr(),
            })
            .collect();
        Self { buffers, table }
    }

    fn outputs(&self, kernel: &Verified) -> Vec<Vec<u8>> {
        let mut outputs: Vec<(u32, Vec<u8>)> = kernel
            .buffers
            .iter()
            .zip(&self.buffers)
            .filter_map(|(buffer, guarded)| Some((buffer.role.output()?, guarded.bytes().to_vec())))
            .collect();
        outputs.sort();
        outputs.into_iter().map(|(_, bytes)| bytes).collect()
    }
}

/// The addresses, in bytes, that the image of each output covers.
fn masks(kernel: &Verified) -> Vec<Vec<bool>> {
    let mut masks: Vec<(u32, Vec<bool>)> = kernel
        .buffers
        .iter()
        .filter_map(|buffer| {
            let Role::Out(number, image) = &buffer.role else {
                return None;
            };
            let width = buffer.width.bytes();
            let mut mask = vec![false; buffer.bytes().expect("a verified length")];
            let mut addresses = vec![image.offset];
            for &(extent, stride) in &image.dims {
                addresses = addresses
                    .iter()
                    .flat_map(|at| (0..extent).map(move |step| at + step * stride))
                    .collect();
            }
            for at in addresses {
                mask[at as usize * width..][..width].fill(true);
            }
            Some((*number, mask))
        })
        .collect();
    masks.sort();
    masks.into_iter().map(|(_, mask)| mask).collect()
}

/// Runs a compiled kernel in `chunks` chunks per phase, backwards if there are several, and says
/// where it differs from the interpreter.
pub(crate) fn differs(
    kernel: &Verified,
    native: &NativeKernel,
    inputs: &[Vec<u8>],
    chunks: u32,
    at_front: bool,
) -> Option<String> {
    let expected = interpret(kernel, inputs);
    let call = Call::new(kernel, inputs, at_front);
    // SAFETY: the table has a buffer of the declared length for every buffer, none overlapping.
    let result = unsafe {
        if chunks == 1 {
            native.call_raw(call.table.as_ptr())
        } else {
            (0..native.phases()).try_for_each(|phase| {
                (0..chunks).rev().try_for_each(|chunk| {
                    native.run_chunk(call.table.as_ptr(), phase, chunk, chunks)
                })
            })
        }
    };
    if let Some(at) = call.buffers.iter().position(|buffer| !buffer.is_intact()) {
        return Some(format!("wrote outside of b{at}"));
    }
    let outputs = call.outputs(kernel);
    match (expected, result) {
        (Ok(expected), Ok(())) => {
            let masks = masks(kernel);
            outputs
                .iter()
                .zip(&expected)
                .zip(&masks)
                .enumerate()
                .find_map(|(number, ((got, expected), mask))| {
                    let wrong = (0..got.len())
                        .find(|&at| got[at] != if mask[at] { expected[at] } else { 0x5a })?;
                    Some(format!(
                        "output {number}, byte {wrong}: {:#x} for {:#x}",
                        got[wrong], expected[wrong]
                    ))
                })
        }
        (
            Err(Fault::CheckFailed {
                code,
                position,
                value,
            }),
            Err(RunError::Check {
                code: got,
                found:
                    BadIndex::At {
                        position: got_position,
                        value: got_value,
                    },
            }),
        ) if (code, position, value) == (got, got_position, got_value) => outputs
            .iter()
            .flatten()
            .any(|byte| *byte != 0x5a)
            .then(|| "wrote before a failed check".to_owned()),
        (expected, got) => Some(format!("{got:?} for {:?}", expected.map(|_| "outputs"))),
    }
}
