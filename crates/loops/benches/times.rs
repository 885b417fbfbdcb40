//! How long the verifier and the interpreter take: `cargo bench -p restride-loops`.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;

use restride_loops::{Kernel, verify};

fn report(name: &str, text: &str) {
    let kernel: Kernel = text.parse().unwrap();
    let mut best = f64::MAX;
    for _ in 0..7 {
        let copies: Vec<Kernel> = (0..200).map(|_| kernel.clone()).collect();
        let start = Instant::now();
        let done: Vec<_> = copies
            .into_iter()
            .map(|k| verify(black_box(k)).unwrap())
            .collect();
        best = best.min(start.elapsed().as_secs_f64() / done.len() as f64);
    }
    println!("{name:28} {:9.2} us", best * 1e6);
}

fn verify_time() {
    report(
        "one run",
        "kernel \"run\" { b0 = in 0 w4 [4096] b1 = out 0 w4 [4096]
        move b1[0] <- b0[0] box [(4096, 1, 1)] as rows }",
    );
    report("four deep, one move", "kernel \"four\" { b0 = in 0 w4 [65536]
        b1 = out 0 w4 [65536] image 0 box [(16, 4096), (16, 256), (16, 16), (16, 1)]
        for v0 in 0..16 parallel { for v1 in 0..16 { for v2 in 0..16 {
          move b1[4096*v0 + 256*v1 + 16*v2] <- b0[v0 + 16*v1 + 256*v2] box [(16, 1, 4096)] as strided
        } } } }");
    report(
        "gather in three loops",
        "kernel \"gather\" { b0 = in 0 w4 [65536]
        b1 = in 1 w8 [4096] b2 = out 0 w4 [65536]
        for v0 in 0..16 parallel { for v1 in 0..16 { for v2 in 0..16 {
          index v3 = b1[256*v0 + 16*v1 + v2] i64 limit 4096 wrap zero
          move b2[4096*v0 + 256*v1 + 16*v2] <- b0[16*v3] box [(16, 1, 1)] as rows
        } } } }",
    );
    report(
        "two phases through scratch",
        "kernel \"scratch\" { b0 = in 0 w4 [65536]
        b1 = out 0 w4 [65536] b2 = scratch w4 [65536]
        for v0 in 0..16 parallel { for v1 in 0..16 {
          move b2[4096*v0 + 256*v1] <- b0[256*v0 + 4096*v1] box [(256, 1, 1)] as rows } }
        barrier
        for v2 in 0..16 parallel { for v3 in 0..16 {
          move b1[4096*v2 + 256*v3] <- b2[256*v2 + 4096*v3] box [(256, 1, 1)] as rows } } }",
    );
    for pieces in [2, 8, 64, 512] {
        let mut text = format!(
            "kernel \"c\" {{ b0 = in 0 w4 [64] b1 = out 0 w4 [{}]",
            pieces * 3 * 64
        );
        for at in 0..pieces {
            let (row, col) = (pieces * 3, at * 3);
            write!(
                text,
                " move b1[{col}] <- b0[0] box [(64, {row}, 1), (3, 1, 0)]"
            )
            .unwrap();
        }
        report(&format!("{pieces} pieces side by side"), &(text + "}"));
        let mut text = format!(
            "kernel \"s\" {{ b0 = in 0 w4 [64] b1 = out 0 w4 [{}]",
            pieces * 64
        );
        for at in 0..pieces {
            // Unequal heights, so that no outer step is common to all.
            let height = if at % 2 == 0 { 64 } else { 63 };
            write!(
                text,
                " move b1[{at}] <- b0[0] box [({height}, {pieces}, 1)]"
            )
            .unwrap();
            if height == 63 {
                write!(text, " fill b1[{}] <- 0x0", 63 * pieces + at).unwrap();
            }
        }
        report(&format!("{pieces} uneven pieces"), &(text + "}"));
    }
}

fn interpret_time() {
    let kernel: Kernel = "kernel \"t\" { b0 = in 0 w4 [1048576] b1 = out 0 w4 [1048576]
        for v0 in 0..64 { move b1[16*v0] <- b0[16384*v0] box [(16, 1, 1024), (1024, 1024, 1)] as transpose } }"
        .parse()
        .unwrap();
    let input = vec![1u8; 4 << 20];
    let start = Instant::now();
    restride_loops::interpret(&kernel, &[input]).unwrap();
    println!(
        "{:.1} ns per element",
        start.elapsed().as_secs_f64() * 1e9 / 1048576.0
    );
    let kernels: Vec<Kernel> = (0..2000).map(restride_loops::generate::kernel).collect();
    let start = Instant::now();
    let bytes: usize = kernels
        .iter()
        .map(|k| {
            restride_loops::interpret(k, &restride_loops::generate::inputs(k, 0))
                .map_or(0, |o| o.concat().len())
        })
        .sum();
    println!(
        "{:.1} us per generated kernel of {} bytes",
        start.elapsed().as_secs_f64() * 1e6 / 2000.0,
        bytes / 2000
    );
    let start = Instant::now();
    kernels.into_iter().for_each(|k| drop(verify(k)));
    println!(
        "{:.1} us to verify",
        start.elapsed().as_secs_f64() * 1e6 / 2000.0
    );
}

fn main() {
    verify_time();
    interpret_time();
}
