//! Generated kernels at every level against the checking interpreter, on outputs and inputs that
//! end at pages that may not be touched.

use restride_exec::{Executable, RunError};
use restride_loops::{Addr, Fault, Kernel, Role, Stmt, Var, Verified, generate, interpret, verify};
use restride_moves::{Features, Planner, Target};

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
    agrees(&verify(generate::kernel(seed)).unwrap(), seed);
}

fn agrees(kernel: &Verified, seed: u64) {
    let inputs = generate::inputs(kernel, seed);
    let want = interpret(kernel, &inputs);
    let low = seed % 4 < 2;
    let mut guarded: Vec<_> = inputs
        .iter()
        .map(|bytes| Guarded::new(bytes, low))
        .collect();
    let inputs: Vec<&[u8]> = guarded.iter_mut().map(|g| &*g.bytes()).collect();
    for cpu in Features::WIDTHS {
        let executable = Executable::new(kernel, &Planner::new(&Target::with(cpu)))
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", **kernel));
        let lengths = output_bytes(kernel);
        let fresh = |value| {
            let of = |&n: &usize| Guarded::new(&vec![value; n], low);
            lengths.iter().map(of).collect::<Vec<_>>()
        };
        let mut outputs = fresh(0);
        let mut slices: Vec<&mut [u8]> = outputs.iter_mut().map(Guarded::bytes).collect();
        match (&want, executable.run(&inputs, &mut slices)) {
            (Ok(want), Ok(())) => {
                for (want, have) in want.iter().zip(&slices) {
                    assert!(want == have, "seed {seed} at {cpu:?}\n{}", **kernel);
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
                assert_eq!(
                    (*code, *position, *value),
                    have,
                    "seed {seed}\n{}",
                    **kernel
                );
                assert!(slices.iter().all(|s| s.iter().all(|&byte| byte == 0)));
            }
            (want, have) => panic!("seed {seed}: {want:?} and {have:?}\n{}", **kernel),
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

/// Makes every stride huge that leads nowhere, since there is but one step; how many these are.
fn stretch(stmts: &mut [Stmt], scope: &mut Vec<Var>) -> usize {
    const FAR: [i64; 4] = [i64::MAX, i64::MIN, i64::MAX / 3, -1];
    let mut count = 0;
    let mut far = || {
        count += 1;
        FAR[count % 4]
    };
    let address = |addr: &mut Addr, scope: &[Var], far: &mut dyn FnMut() -> i64| {
        for (var, coeff) in &mut addr.terms {
            if scope.contains(var) {
                *coeff = far();
            }
        }
    };
    let mut inner = 0;
    for stmt in stmts {
        match stmt {
            Stmt::For {
                var, extent, body, ..
            } => {
                if *extent == 1 {
                    scope.push(*var);
                }
                inner += stretch(body, scope);
                scope.retain(|known| known != var);
            }
            Stmt::Check { index, dims, .. } => {
                address(&mut index.addr, scope, &mut far);
                for dim in dims.iter_mut().filter(|dim| dim.0 == 1) {
                    dim.1 = far();
                }
            }
            Stmt::Index { place, .. } => address(&mut place.addr, scope, &mut far),
            Stmt::Move(m) => {
                address(&mut m.dst.addr, scope, &mut far);
                address(&mut m.src.addr, scope, &mut far);
                for dim in m.dims.iter_mut().filter(|dim| dim.extent == 1) {
                    (dim.dst, dim.src) = (far(), far());
                }
            }
            Stmt::Gather(g) => {
                for place in [&mut g.dst, &mut g.src, &mut g.index] {
                    address(&mut place.addr, scope, &mut far);
                }
                for dim in g.dims.iter_mut().filter(|dim| dim.extent == 1) {
                    (dim.dst, dim.src) = (far(), far());
                }
                if g.extent == 1 {
                    (g.dst_stride, g.index_stride) = (far(), far());
                }
                if g.norm.limit == 1 {
                    g.coeff = far();
                }
            }
            Stmt::Fill { dst, dims, .. } => {
                address(&mut dst.addr, scope, &mut far);
                for dim in dims.iter_mut().filter(|dim| dim.0 == 1) {
                    dim.1 = far();
                }
            }
        }
    }
    count + inner
}

#[test]
fn what_is_verified_can_be_run() {
    let (mut stretched, mut kernels) = (0, 0);
    for seed in 0..3000 {
        let mut kernel = generate::kernel(seed);
        let count: usize = (kernel.phases.iter_mut())
            .map(|phase| stretch(phase, &mut Vec::new()))
            .sum();
        // Some forms want unit strides, which those of single steps count as well.
        if let Ok(kernel) = verify(kernel) {
            stretched += count;
            kernels += usize::from(count > 0);
            agrees(&kernel, seed);
        }
    }
    assert!(kernels > 500 && stretched > 1000, "{kernels}, {stretched}");
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
    let executable = Executable::new(&kernel, &Planner::new(&Target::default())).unwrap();
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
