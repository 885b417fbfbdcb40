//! Generated kernels at every level against the checking interpreter, on outputs and inputs that
//! end at pages that may not be touched.

use restride_exec::{CpuLevel, Executable, RunError};
use restride_loops::{Fault, Kernel, Role, generate, interpret, verify};

const PAGE: usize = 4096;

/// Bytes that end at (or, if `low`, begin after) an inaccessible page.
struct Guarded {
    map: *mut u8,
    pages: usize,
    start: usize,
    len: usize,
}

impl Guarded {
    fn new(bytes: &[u8], low: bool) -> Guarded {
        let pages = bytes.len().div_ceil(PAGE).max(1);
        let room = pages * PAGE;
        // SAFETY: a fresh anonymous mapping; its first and last page lose all access.
        let map = unsafe {
            let map = libc::mmap(
                std::ptr::null_mut(),
                room + 2 * PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(map, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(map, PAGE, libc::PROT_NONE), 0);
            let end = map.cast::<u8>().add(PAGE + room);
            assert_eq!(libc::mprotect(end.cast(), PAGE, libc::PROT_NONE), 0);
            map.cast::<u8>()
        };
        let start = if low { PAGE } else { PAGE + room - bytes.len() };
        let mut guarded = Guarded {
            map,
            pages,
            start,
            len: bytes.len(),
        };
        guarded.bytes().copy_from_slice(bytes);
        guarded
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: it lies between the guards, in a mapping of this value's own.
        unsafe { std::slice::from_raw_parts_mut(self.map.add(self.start), self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: it was mapped by `new`.
        unsafe {
            libc::munmap(self.map.cast(), (self.pages + 2) * PAGE);
        }
    }
}

/// The lengths of a kernel's outputs, by number.
fn output_bytes(kernel: &Kernel) -> Vec<usize> {
    let mut bytes = Vec::new();
    for buffer in &kernel.buffers {
        if let Role::Out(number, _) = buffer.role {
            bytes.resize(bytes.len().max(number as usize + 1), 0);
            bytes[number as usize] = buffer.bytes().unwrap();
        }
    }
    bytes
}

fn check(seed: u64) {
    let kernel = verify(generate::kernel(seed)).unwrap();
    let inputs = generate::inputs(&kernel, seed);
    let want = interpret(&kernel, &inputs);
    let low = seed % 4 < 2;
    let mut guarded: Vec<_> = inputs
        .iter()
        .map(|bytes| Guarded::new(bytes, low))
        .collect();
    let inputs: Vec<&[u8]> = guarded.iter_mut().map(|g| &*g.bytes()).collect();
    for cpu in CpuLevel::ALL {
        let executable = Executable::new(&kernel, cpu).unwrap();
        let lengths = output_bytes(&kernel);
        let fresh = |value| {
            let of = |&n: &usize| Guarded::new(&vec![value; n], low);
            lengths.iter().map(of).collect::<Vec<_>>()
        };
        let mut outputs = fresh(0);
        let mut slices: Vec<&mut [u8]> = outputs.iter_mut().map(Guarded::bytes).collect();
        match (&want, executable.run(&inputs, &mut slices)) {
            (Ok(want), Ok(())) => {
                for (want, have) in want.iter().zip(&slices) {
                    assert!(want == have, "seed {seed} at {cpu:?}\n{}", *kernel);
                }
                in_chunks(&executable, &inputs, &mut fresh(0), want, seed);
            }
            (
                Err(Fault::CheckFailed {
                    code,
                    position,
                    value,
                }),
                Err(RunError::Check(failure)),
            ) => {
                let have = (failure.code, failure.position, failure.value);
                assert_eq!((*code, *position, *value), have, "seed {seed}\n{}", *kernel);
                assert!(slices.iter().all(|s| s.iter().all(|&byte| byte == 0)));
            }
            (want, have) => panic!("seed {seed}: {want:?} and {have:?}\n{}", *kernel),
        }
    }
}

/// The same in several chunks, last one first.
fn in_chunks(
    executable: &Executable,
    inputs: &[&[u8]],
    outputs: &mut [Guarded],
    want: &[Vec<u8>],
    seed: u64,
) {
    let kernel = executable.kernel();
    let mut scratch: Vec<Vec<u8>> = Vec::new();
    let mut table = Vec::new();
    for buffer in &kernel.buffers {
        table.push(match buffer.role {
            Role::In(n) => inputs[n as usize].as_ptr().cast_mut(),
            Role::Out(n, _) => outputs[n as usize].bytes().as_mut_ptr(),
            Role::Const(_) => std::ptr::null_mut(),
            Role::Scratch => {
                scratch.push(vec![0; buffer.bytes().unwrap()]);
                scratch.last_mut().unwrap().as_mut_ptr()
            }
        });
    }
    let chunks = 1 + seed as u32 % 5;
    for phase in 0..executable.phases() {
        for chunk in (0..chunks).rev() {
            // SAFETY: the table has every buffer with its length, and nobody else is there.
            unsafe { executable.run_chunk(&table, phase, chunk, chunks).unwrap() }
        }
    }
    for (want, have) in want.iter().zip(outputs) {
        assert!(
            want == have.bytes(),
            "seed {seed} in {chunks} chunks\n{}",
            **kernel
        );
    }
}

#[test]
fn generated_kernels() {
    // The last one has runs that are reversed on both sides of a gather.
    for seed in (0..6000).chain([100_668]) {
        check(seed);
    }
}

#[test]
fn calls_are_checked() {
    let text = r#"kernel "copy" {
        b0 = in 0 w4 [8]
        b1 = out 0 w4 [8]
        b2 = scratch w4 [8]
        move b2[0] <- b0[0] box [(8, 1, 1)] as rows
        barrier
        move b1[0] <- b2[7] box [(8, 1, -1)] as strided
    }"#;
    let kernel = verify(text.parse().unwrap()).unwrap();
    let executable = Executable::new(&kernel, CpuLevel::detect()).unwrap();
    let input: Vec<u8> = (0..32).collect();
    let (mut output, mut short) = ([0u8; 32], [0u8; 31]);
    let run = |inputs: &[&[u8]], outputs: &mut [&mut [u8]]| executable.run(inputs, outputs);
    assert_eq!(run(&[&input], &mut [&mut output]), Ok(()));
    assert_eq!(output[..8], [28, 29, 30, 31, 24, 25, 26, 27]);
    assert!(matches!(
        run(&[], &mut [&mut output]),
        Err(RunError::InputMissing { input: 0, count: 0 })
    ));
    assert!(matches!(
        run(&[&input], &mut []),
        Err(RunError::OutputMissing {
            output: 0,
            count: 0
        })
    ));
    assert!(matches!(
        run(&[&input[1..]], &mut [&mut output]),
        Err(RunError::InputTooShort {
            input: 0,
            bytes: 31,
            expected: 32
        })
    ));
    assert!(matches!(
        run(&[&input], &mut [&mut short]),
        Err(RunError::OutputTooShort {
            output: 0,
            bytes: 31,
            expected: 32
        })
    ));
    let mut scratch = vec![0; executable.scratch_bytes()];
    let (enough, less) = (scratch.len(), scratch.len() - 1);
    let mut with = |n: usize| executable.run_with(&[&input], &mut [&mut output], &mut scratch[..n]);
    assert_eq!(with(enough), Ok(()));
    assert_eq!(with(less), Err(RunError::OutOfMemory { bytes: enough }));
}
