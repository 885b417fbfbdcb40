//! Every constant of executed instructions, changed: the checker refuses the code, or the code is
//! right all the same, which running it between guard pages then shows.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

#[path = "../../jit/tests/support/guarded.rs"]
mod guarded;
mod support {
    pub(crate) mod x86;
}

use guarded::Guarded;
use iced_x86::{Decoder, DecoderOptions};
use restride_check::{CallForm, CodeSubject, Limits, Processor, Unproved, check};
use restride_jit::{CompileOptions, Compiler, Features};
use restride_loops::{Role, Verified, generate, interpret, verify};

/// Memory that holds code, to be written and executed.
struct Code {
    map: *mut u8,
    len: usize,
}

impl Code {
    fn new(bytes: &[u8]) -> Self {
        // SAFETY: a fresh mapping, filled with as many bytes as it has.
        unsafe {
            let map = libc::mmap(
                std::ptr::null_mut(),
                bytes.len(),
                libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(map, libc::MAP_FAILED);
            let map = map.cast::<u8>();
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), map, bytes.len());
            Self {
                map,
                len: bytes.len(),
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is readable and only written by `flip`, which borrows it alone.
        unsafe { std::slice::from_raw_parts(self.map, self.len) }
    }

    fn flip(&mut self, at: usize, bits: u8) {
        assert!(at < self.len);
        // SAFETY: within the mapping.
        unsafe { *self.map.add(at) ^= bits };
    }

    /// Runs all phases in some number of chunks; whether the outputs are the expected ones.
    ///
    /// # Safety
    /// The code is that of a kernel, or was shown to do what it does.
    unsafe fn is_right(&self, kernel: &Verified, phases: &[usize], seed: u64, chunks: u64) -> bool {
        let inputs = generate::inputs(kernel, seed);
        let Ok(expected) = interpret(kernel, &inputs) else {
            // A failed check; what it reports is not this test's business.
            return true;
        };
        let buffers: Vec<Guarded> = kernel
            .buffers
            .iter()
            .map(|buffer| {
                let bytes = buffer.bytes().expect("a verified length");
                match &buffer.role {
                    Role::In(n) => {
                        Guarded::new(&inputs[*n as usize][..bytes], seed.is_multiple_of(2), true)
                    }
                    Role::Out(..) | Role::Scratch => {
                        Guarded::new(&vec![0; bytes], seed.is_multiple_of(2), false)
                    }
                    Role::Const(_) => Guarded::new(&[], false, true),
                }
            })
            .collect();
        let table: Vec<*mut u8> = buffers.iter().map(Guarded::as_mut_ptr).collect();
        for (phase, stmts) in phases.iter().zip(&kernel.phases) {
            let shared = stmts
                .iter()
                .any(|s| matches!(s, restride_loops::Stmt::For { parallel: true, .. }));
            // SAFETY: a phase function begins there.
            let function = unsafe {
                std::mem::transmute::<*mut u8, unsafe extern "C" fn(*const *mut u8, u64, u64) -> u64>(
                    self.map.add(*phase),
                )
            };
            for chunk in 0..if shared { chunks } else { 1 } {
                // SAFETY: the buffers are those of the kernel.
                if unsafe { function(table.as_ptr(), chunk, chunks) } != 0 {
                    return false;
                }
            }
        }
        let mut outputs: Vec<(u32, &[u8])> = kernel
            .buffers
            .iter()
            .zip(&buffers)
            .filter_map(|(buffer, guarded)| Some((buffer.role.output()?, guarded.bytes())))
            .collect();
        outputs.sort();
        buffers.iter().all(Guarded::is_intact)
            && outputs
                .iter()
                .zip(&expected)
                .all(|((_, got), expected)| *got == expected.as_slice())
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the mapping is owned.
        unsafe { libc::munmap(self.map.cast(), self.len) };
    }
}

/// Runs a body in a forked child; whether it found all to be right, without a fault.
fn survives(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child only runs the body and leaves without unwinding into the parent's frames.
    unsafe {
        let pid = libc::fork();
        assert!(pid >= 0, "fork failed");
        if pid == 0 {
            // A mutant that never ends is ended.
            libc::alarm(20);
            let right = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            libc::_exit(i32::from(!matches!(right, Ok(true))));
        }
        let mut status = 0;
        let waited = libc::waitpid(pid, &raw mut status, 0);
        waited == pid && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }
}

fn instruction(code: &[u8], at: usize) -> String {
    Decoder::with_ip(64, &code[at..], at as u64, DecoderOptions::NONE)
        .decode()
        .to_string()
}

struct Tried {
    refused: u64,
    /// Over the limit: mutants that run for ever.
    endless: u64,
    not_understood: u64,
    equivalent: u64,
    missed: Vec<String>,
}

/// Changes all constants of a kernel's code, one at a time.
fn mutate(compiler: &mut Compiler, seed: u64, tried: &mut Tried) {
    let kernel = verify(generate::kernel(seed)).expect("generated kernels are valid");
    let native = compiler.compile(&kernel).expect("executable memory");
    let phases: Vec<usize> = native.phase_offsets().collect();
    let mut code = Code::new(native.code());
    let verdict = |code: &Code, steps: u64| -> Result<(u64, Vec<usize>), Box<Unproved>> {
        let subject = CodeSubject {
            processor: Processor::X86,
            code: code.bytes(),
            form: CallForm::Phases(&phases),
            kernel: &kernel,
            callees: native.callees(),
        };
        let mut limits = Limits::default();
        limits.steps = steps;
        let report = check(&subject, &limits).map_err(Box::new)?;
        Ok((report.steps, report.executed))
    };
    let (steps, executed) = verdict(&code, 1 << 22).expect("right as it is");
    let mut approved = Vec::new();
    for at in executed {
        for (byte, bits) in support::x86::constants(native.code(), at) {
            code.flip(byte, bits);
            match verdict(&code, 4 * steps + 1000) {
                Err(unproved) => match *unproved {
                    Unproved::Wrong(_) => tried.refused += 1,
                    Unproved::Limit(_) => tried.endless += 1,
                    // No approval either: an index stored as an element, say.
                    _ => tried.not_understood += 1,
                },
                Ok(_) => {
                    tried.equivalent += 1;
                    approved.push((at, byte, bits));
                }
            }
            code.flip(byte, bits);
        }
    }
    let right = |code: &Code| {
        [(0, 1), (1, 1), (2, 3)].into_iter().all(|(data, chunks)| {
            // SAFETY: the code was shown to be right; if that is wrong, this is a forked child.
            unsafe { code.is_right(&kernel, &phases, 2 * seed + data, chunks) }
        })
    };
    assert!(survives(|| right(&code)), "seed {seed} is wrong as it is");
    for (at, byte, bits) in approved {
        let mut changed = Code::new(code.bytes());
        changed.flip(byte, bits);
        if !survives(|| right(&changed)) {
            let [before, after] = [&code, &changed].map(|code| instruction(code.bytes(), at));
            let missed = format!("seed {seed}, {at:#x}: {before} became {after}");
            tried.missed.push(missed);
        }
    }
}

#[test]
fn changed_constants_are_noticed() {
    let mut tried = Tried {
        refused: 0,
        endless: 0,
        not_understood: 0,
        equivalent: 0,
        missed: Vec::new(),
    };
    for features in [Features::Sse2, Features::detect()] {
        let mut options = CompileOptions::default();
        options.features = features;
        options.contracts = true;
        let mut compiler = Compiler::new(options).expect("a code generator");
        let base = 9_000_000 + 1000 * features as u64;
        let mut kernels = 0;
        for seed in base.. {
            let kernel = verify(generate::kernel(seed)).expect("generated kernels are valid");
            let bytes: usize = kernel.buffers.iter().filter_map(|b| b.bytes()).sum();
            // Small ones, of which many can be tried.
            if bytes > 4000 {
                continue;
            }
            mutate(&mut compiler, seed, &mut tried);
            kernels += 1;
            if kernels == 40 {
                break;
            }
        }
    }
    let Tried {
        refused,
        endless,
        not_understood,
        equivalent,
        missed,
    } = tried;
    println!(
        "{refused} refused, {endless} without end, {not_understood} not understood, \
         {equivalent} equivalent, {} missed",
        missed.len()
    );
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(
        refused > 1000 && refused > 4 * equivalent && refused > 100 * not_understood,
        "{refused}, {equivalent}, {not_understood}"
    );
}
