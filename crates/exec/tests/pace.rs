//! Which kernels are said to gain nothing from machine code.

use restride_exec::{Executable, Planner, keeps_pace};
use restride_loops::{Kernel, verify};
use restride_moves::{Features, Target};

fn kernel(body: &str, read: u64, elements: u64) -> Kernel {
    let text = format!(
        "kernel \"k\" {{\n  b0 = in 0 w4 [{read}]\n  b1 = in 1 w4 [{read}]\n  b2 = out 0 w4 [{elements}]\n  {body}\n}}\n"
    );
    text.parse().unwrap_or_else(|e| panic!("{text}{e}"))
}

fn keeps(body: &str, elements: u64) -> bool {
    keeps_pace(&kernel(body, elements, elements))
}

#[test]
fn one_large_move_does() {
    assert!(keeps(
        "move b2[0] <- b0[0] box [(65536, 1, 1)] as rows",
        65536
    ));
    assert!(!keeps(
        "move b2[0] <- b0[0] box [(16384, 1, 1)] as rows",
        16384
    ));
}

#[test]
fn many_small_moves_do_not() {
    let rows = |n: u64, row: u64| {
        let body = format!(
            "for v0 in 0..{n} parallel {{\n    move b2[{row}*v0] <- b0[{row}*v0] box [({row}, 1, 1)] as rows\n  }}"
        );
        keeps(&body, n * row)
    };
    assert!(rows(16, 16384));
    assert!(!rows(256, 1024));
    assert!(!rows(1 << 20, 16));
}

/// After how many runs its code pays, by what it moves faster than the leaves of a machine with vectors of 32 bytes.
fn pays_after(body: &str, read: u64, elements: u64) -> Option<u32> {
    let kernel = verify(kernel(body, read, elements)).expect("a kernel");
    let planner = Planner::new(&Target::with(Features::Avx2));
    let executable = Executable::new(&kernel, &planner).expect("a planned kernel");
    executable.code_pays_after()
}

#[test]
fn moves_that_loops_make_faster_do_not() {
    if !Features::Avx2.is_available() {
        return;
    }
    let every_second = |n: u64, parts: u64| {
        let body = format!(
            "for v0 in 0..{parts} parallel {{\n    move b2[{n}*v0] <- b0[{}*v0] box [({n}, 1, 2)] as strided\n  }}",
            2 * n
        );
        pays_after(&body, 2 * n * parts, n * parts)
    };
    let large = every_second(16384, 32).expect("loops are faster");
    // Of less it takes more runs, and there is code anyway of what is small.
    let smaller = every_second(16384, 4).expect("loops are faster");
    assert!(large < smaller, "{large} and {smaller}");
    assert_eq!(every_second(1024, 4), None);
    // What a leaf moves as fast.
    let copy = "move b2[0] <- b0[0] box [(65536, 1, 1)] as rows";
    assert_eq!(pays_after(copy, 65536, 65536), None);
}
