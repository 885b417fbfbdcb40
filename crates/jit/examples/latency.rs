//! How long kernels take to compile and to call, and how large they are: medians of one run.

use std::time::Instant;

use restride_jit::{
    ArenaOptions, CodeArena, CodeMemory, CompileOptions, Compiler, JitError, NativeKernel,
};
use restride_loops::{Kernel, Verified, verify};

const KERNELS: [(&str, &str); 10] = [
    ("slice 16 B", "b0 = in 0 w4 [16] b1 = out 0 w4 [4]
      move b1[0] <- b0[5] box [(4, 1, 1)] as rows"),
    ("slice 64 B", "b0 = in 0 w4 [64] b1 = out 0 w4 [16]
      move b1[0] <- b0[5] box [(16, 1, 1)] as rows"),
    ("1-D loop", "b0 = in 0 w4 [3000] b1 = out 0 w4 [1000]
      for v0 in 0..1000 { move b1[v0] <- b0[3*v0] }"),
    ("1-D strided leaf", "b0 = in 0 w4 [3000] b1 = out 0 w4 [1000]
      move b1[0] <- b0[0] box [(1000, 1, 3)] as strided"),
    ("4-deep nest", "b0 = in 0 w4 [20000] b1 = out 0 w4 [3000]
      for v0 in 0..5 { for v1 in 0..6 { for v2 in 0..10 { for v3 in 0..10 {
        move b1[600*v0 + 100*v1 + 10*v2 + v3] <- b0[v0 + 700*v1 + 31*v2 + 5*v3] } } } }"),
    ("8x8 w4 transpose", "b0 = in 0 w4 [64] b1 = out 0 w4 [64]
      move b1[0] <- b0[0] box [(8, 1, 8), (8, 8, 1)] as transpose"),
    ("4x4 w4 transpose", "b0 = in 0 w4 [16] b1 = out 0 w4 [16]
      move b1[0] <- b0[0] box [(4, 1, 4), (4, 4, 1)] as transpose"),
    ("transpose leaf", "b0 = in 0 w4 [1048576] b1 = out 0 w4 [1048576]
      move b1[0] <- b0[0] box [(1024, 1, 1024), (1024, 1024, 1)] as transpose"),
    ("staged transpose", "b0 = in 0 w4 [1048576] b1 = out 0 w4 [1048576]
      for v0 in 0..16 parallel { move b1[64*v0] <- b0[65536*v0]
        box [(64, 1, 1024), (1024, 1024, 1)] as staged }"),
    ("gather 5 rows", "b0 = in 0 w4 [4096] b1 = in 1 w8 [5] b2 = out 0 w4 [20]
      check 0: b1[0] box [(5, 1)] i64 limit 1000 wrap zero
      gather 5 rows b2[0] step 4 <- b0[0] step 4 at b1[0] step 1 i64 limit 1000 wrap zero box [(4, 1, 1)]"),
];

fn kernel(name: &str, body: &str) -> Verified {
    let text = format!("kernel \"{name}\" {{ {body} }}");
    let kernel: Kernel = text.parse().expect("a kernel");
    verify(kernel).expect("a valid kernel")
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Microseconds to compile and install, code freed again.
fn compile_time(native: &mut Compiler, kernel: &Verified) -> Result<f64, JitError> {
    let mut times = Vec::new();
    for _ in 0..301 {
        let begun = Instant::now();
        drop(native.compile(kernel)?);
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    Ok(median(times))
}

/// Nanoseconds per raw call.
fn call_time(kernel: &Verified, native: &NativeKernel) -> f64 {
    let mut buffers: Vec<Vec<u8>> = kernel
        .buffers
        .iter()
        .map(|buffer| vec![0; buffer.bytes().unwrap_or(0)])
        .collect();
    let table: Vec<*mut u8> = buffers.iter_mut().map(|b| b.as_mut_ptr()).collect();
    let total: usize = buffers.iter().map(Vec::len).sum();
    let rounds = (1_000_000 / (total + 64)).max(1);
    let times = (0..101)
        .map(|_| {
            let begun = Instant::now();
            for _ in 0..rounds {
                // SAFETY: every buffer has the declared length, and none overlaps another.
                let _ = unsafe { native.call_raw(std::hint::black_box(table.as_ptr())) };
            }
            begun.elapsed().as_secs_f64() * 1e9 / rounds as f64
        })
        .collect();
    median(times)
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1).unwrap_or("0");
    pages.parse::<usize>().unwrap_or(0) * 4096
}

fn mappings() -> usize {
    std::fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count())
}

fn main() -> Result<(), JitError> {
    let arena = std::sync::Arc::new(CodeArena::new(ArenaOptions::default()));
    let compiler = |memory| {
        let mut options = CompileOptions::default();
        options.memory = memory;
        Compiler::new(options)
    };
    let mut in_arena = compiler(CodeMemory::Arena(arena.clone()))?;
    let mut in_module = compiler(CodeMemory::Module)?;
    println!("{in_arena:?}");
    println!(
        "{:18} {:>10} {:>10} {:>8} {:>10}",
        "kernel", "arena us", "module us", "bytes", "call ns"
    );
    for (name, body) in KERNELS {
        let kernel = kernel(name, body);
        let fast = compile_time(&mut in_arena, &kernel)?;
        let slow = compile_time(&mut in_module, &kernel)?;
        let native = in_arena.compile(&kernel)?;
        let call = call_time(&kernel, &native);
        let bytes = native.code_bytes();
        println!("{name:18} {fast:10.1} {slow:10.1} {bytes:8} {call:10.1}");
    }
    let nest = kernel(KERNELS[4].0, KERNELS[4].1);
    let (resident, maps) = (resident_bytes(), mappings());
    let kernels: Vec<NativeKernel> = (0..20_000)
        .map(|_| in_arena.compile(&nest))
        .collect::<Result<_, _>>()?;
    println!(
        "20,000 live nests: {} bytes resident and {} of code each, {} mappings more, {:?}",
        (resident_bytes() - resident) / kernels.len(),
        arena.stats().live_bytes / kernels.len(),
        mappings() - maps,
        arena.stats()
    );
    Ok(())
}
