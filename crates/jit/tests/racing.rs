//! Index tensors that change while kernels run: every row is a row of the data or zero bits, and
//! nothing outside the buffers is touched.
#![cfg(target_arch = "x86_64")]

mod support;

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use restride_jit::{CompileOptions, Compiler, RunError};
use restride_loops::{Kernel, verify};
use support::guarded::Guarded;

const ROWS: usize = 50;
const WIDE: [i32; 6] = [3, -1, i32::MAX, 49, i32::MIN, 50];

/// Runs a kernel of `count` rows again and again while another thread changes its indices.
fn race(text: &str, count: usize, checked: bool) {
    let kernel: Kernel = text.parse().expect("a kernel");
    let kernel = verify(kernel).expect("a valid kernel");
    let mut native = Compiler::new(CompileOptions::default()).expect("a host");
    let compiled = native.compile(&kernel).expect("executable memory");
    let data: Vec<u8> = (0..ROWS as u32 * 2)
        .flat_map(|at| (at / 2 + 1).to_le_bytes())
        .collect();
    let data = Guarded::new(&data, false, true);
    let out = Guarded::new(&vec![0; count * 8], false, false);
    let indices: Vec<AtomicI32> = (0..count).map(|_| AtomicI32::new(0)).collect();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0usize;
            while !stop.load(Ordering::Relaxed) {
                round += 1;
                for (at, index) in indices.iter().enumerate() {
                    index.store(WIDE[(round * 7 + at) % WIDE.len()], Ordering::Relaxed);
                }
            }
        });
        let mut outcomes = [0u32; 2];
        for _ in 0..20_000 {
            let table = [
                data.as_mut_ptr(),
                indices.as_ptr().cast::<u8>().cast_mut(),
                out.as_mut_ptr(),
            ];
            // SAFETY: the buffers have the declared lengths; the indices may change.
            let result = unsafe { compiled.call_raw(table.as_ptr()) };
            outcomes[usize::from(result.is_err())] += 1;
            assert!(matches!(
                result,
                Ok(()) | Err(RunError::Check { code: 4, .. })
            ));
            for row in out.bytes().chunks(8) {
                let (a, b) = row.split_at(4);
                let value = u32::from_le_bytes(a.try_into().expect("four bytes"));
                assert!(a == b && value <= ROWS as u32, "{row:?}");
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(checked || outcomes[1] == 0);
    });
    assert!(out.is_intact());
}

#[test]
fn a_few_rows_inline() {
    race(
        r#"kernel "few" {
             b0 = in 0 w4 [100] b1 = in 1 w4 [4] b2 = out 0 w4 [8]
             gather 4 rows b2[0] step 2 <- b0[0] step 2 at b1[0] step 1 i32 limit 50 wrap zero box [(2, 1, 1)]
           }"#,
        4,
        false,
    );
}

#[test]
fn many_rows_by_a_leaf_after_a_check() {
    race(
        r#"kernel "many" {
             b0 = in 0 w4 [100] b1 = in 1 w4 [64] b2 = out 0 w4 [128]
             check 4: b1[0] box [(64, 1)] i32 limit 50 wrap zero
             gather 64 rows b2[0] step 2 <- b0[0] step 2 at b1[0] step 1 i32 limit 50 wrap zero box [(2, 1, 1)]
           }"#,
        64,
        true,
    );
}

#[test]
fn an_index_variable_clamped() {
    race(
        r#"kernel "loop" {
             b0 = in 0 w4 [100] b1 = in 1 w4 [16] b2 = out 0 w4 [32]
             for v0 in 0..16 parallel {
               index v1 = b1[v0] i32 limit 50 wrap clamp
               move b2[2*v0] <- b0[2*v1] box [(2, 1, 1)] as rows
             }
           }"#,
        16,
        false,
    );
}
