//! Generated kernels are valid, mean the same in any order of chunks, and print and parse.

use restride_loops::{
    Fault, Form, Order, Role, Stmt, generate, interpret, interpret_chunked, verify,
};

const SEEDS: u64 = 6_000;

#[test]
fn the_verifier_accepts_them_and_they_run() {
    let mut failed_checks = 0;
    for seed in 0..SEEDS {
        let kernel = generate::kernel(seed);
        if let Err(error) = verify(kernel.clone()) {
            panic!("seed {seed}: {error}\n{kernel}");
        }
        let constant_checks = kernel
            .buffers
            .iter()
            .any(|b| matches!(b.role, Role::Const(_)));
        for data in [2 * seed, 2 * seed + 1] {
            let inputs = generate::inputs(&kernel, data);
            let whole = interpret(&kernel, &inputs);
            match &whole {
                Ok(_) => {}
                Err(Fault::CheckFailed { .. }) if data % 2 == 1 || constant_checks => {
                    failed_checks += 1;
                }
                Err(fault) => panic!("seed {seed}: {fault}\n{kernel}"),
            }
            for (chunks, order) in [
                (3, Order::Backward),
                (64, Order::Backward),
                (7, Order::Shuffled(seed)),
            ] {
                let parts = interpret_chunked(&kernel, &inputs, chunks, order);
                assert_eq!(whole, parts, "seed {seed}, {chunks} chunks\n{kernel}");
            }
        }
    }
    assert!(failed_checks > 20, "{failed_checks}");
}

#[test]
fn they_have_everything() {
    let mut forms = [0; Form::ALL.len()];
    let (mut loops, mut parallel, mut checks, mut indices, mut gathers, mut fills) =
        (0, 0, 0, 0, 0, 0);
    let (mut phases, mut widths) = ([0; 5], [0; 17]);
    for seed in 0..SEEDS {
        let kernel = generate::kernel(seed);
        phases[kernel.phases.len()] += 1;
        kernel
            .buffers
            .iter()
            .for_each(|b| widths[b.width.bytes()] += 1);
        parallel += usize::from(kernel.is_parallel());
        kernel.visit(|stmt| match stmt {
            Stmt::For { .. } => loops += 1,
            Stmt::Check { .. } => checks += 1,
            Stmt::Index { .. } => indices += 1,
            Stmt::Gather(_) => gathers += 1,
            Stmt::Fill { .. } => fills += 1,
            Stmt::Move(m) => {
                forms[Form::ALL.iter().position(|f| *f == m.form).unwrap()] += 1;
            }
        });
    }
    let seen = [
        loops, parallel, checks, indices, gathers, fills, phases[1], phases[2], phases[3],
    ];
    let widths = [widths[1], widths[2], widths[4], widths[8], widths[16]];
    let rare = seen.iter().chain(&forms).chain(&widths).min();
    assert!(rare > Some(&100), "{seen:?} {forms:?} {widths:?}");
}

#[test]
fn they_print_and_parse() {
    for seed in 0..SEEDS {
        let kernel = generate::kernel(seed);
        let text = kernel.to_string();
        assert_eq!(text.parse().as_ref(), Ok(&kernel), "seed {seed}\n{text}");
    }
}
