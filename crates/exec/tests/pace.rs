//! Which kernels are said to gain nothing from machine code.

use restride_exec::keeps_pace;
use restride_loops::Kernel;

fn keeps(body: &str, elements: u64) -> bool {
    let text = format!(
        "kernel \"k\" {{\n  b0 = in 0 w4 [{elements}]\n  b1 = in 1 w4 [{elements}]\n  b2 = out 0 w4 [{elements}]\n  {body}\n}}\n"
    );
    let kernel: Kernel = text.parse().unwrap_or_else(|e| panic!("{text}{e}"));
    keeps_pace(&kernel)
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
