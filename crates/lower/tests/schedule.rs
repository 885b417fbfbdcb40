//! Hand-made plans: their kernels are proved and move what the plan says.

use restride_budget::Meter;
use restride_graph::ElementType;
use restride_loops::{Form, Kernel, Role, Stmt, verify};
use restride_lower::plan::{
    Answer, Body, Destination, IndexColumn, Piece, PieceDigit, Plan, Source, Stage,
};
use restride_lower::schedule;
use restride_moves::Target;
use smallvec::{SmallVec, smallvec};

fn digit(extent: i64, dst: i64, src: i64) -> PieceDigit {
    PieceDigit {
        extent,
        dst,
        src,
        indices: SmallVec::new(),
    }
}

fn copy(dst: i64, src: i64, digits: &[PieceDigit]) -> Piece {
    let indices = SmallVec::new();
    let body = Body::Copy {
        source: Source::Input(0),
        offset: src,
        indices,
    };
    Piece {
        dst,
        digits: digits.iter().cloned().collect(),
        body,
    }
}

fn plan(element: ElementType, input: i64, output: i64, pieces: Vec<Piece>) -> Plan {
    Plan {
        inputs: smallvec![(element, input), (ElementType::I64, 64)],
        outputs: smallvec![(element, smallvec![output], None)],
        constants: vec![],
        checks: vec![],
        stages: smallvec![Stage {
            destination: Destination::Output(0),
            element,
            count: output,
            pieces,
            reason: None,
        }],
        answers: smallvec![Answer::Computed {
            stage: 0,
            why: "".into(),
        }],
    }
}

fn scheduled(plan: &Plan) -> Kernel {
    let kernel = schedule(plan, &Target::default(), &Meter::unlimited())
        .unwrap()
        .kernel;
    verify(kernel.clone()).unwrap_or_else(|e| panic!("{e}\n{kernel}"));
    kernel
}

fn forms(kernel: &Kernel) -> Vec<Form> {
    let mut forms = Vec::new();
    kernel.visit(|s| {
        if let Stmt::Move(m) = s {
            forms.push(m.form);
        }
    });
    forms
}

#[test]
fn transposes_become_tiles_and_power_of_two_rows_are_staged() {
    let square = |n: i64| {
        plan(
            ElementType::F32,
            n * n,
            n * n,
            vec![copy(0, 0, &[digit(n, n, 1), digit(n, 1, n)])],
        )
    };
    let is = |n: i64, form: Form| assert_eq!(forms(&scheduled(&square(n)))[0], form, "{n}");
    is(100, Form::Transpose);
    is(1024, Form::Staged);
    // From three quarters of the bytes on with which a copy goes past the caches, those go that write whole
    // lines.
    is(1440, Form::Transpose);
    is(1456, Form::Stream);
    is(1457, Form::Transpose);
    is(1536, Form::Stream);
    is(1537, Form::Staged);
    is(1777, Form::Stream);
    let turned = |element, rows: i64, columns: i64| {
        let all = rows * columns;
        let matrix = copy(0, 0, &[digit(columns, rows, 1), digit(rows, 1, columns)]);
        forms(&scheduled(&plan(element, all, all, vec![matrix])))[0]
    };
    assert_eq!(turned(ElementType::I8, 3521, 3536), Form::Stream);
    // Short rows are, if they follow each other and are narrow, but not a few that straddle lines.
    assert_eq!(turned(ElementType::I8, 100, 300_001), Form::Stream);
    assert_eq!(turned(ElementType::F32, 60, 200_001), Form::Transpose);
    assert_eq!(turned(ElementType::F32, 350_001, 9), Form::Transpose);
    assert_eq!(turned(ElementType::F32, 350_016, 9), Form::Stream);
}

#[test]
fn large_work_is_shared_out_with_its_remainder() {
    let n = 1_000_003;
    let kernel = scheduled(&plan(
        ElementType::F32,
        n,
        n,
        vec![copy(0, 0, &[digit(n, 1, 1)])],
    ));
    assert!(matches!(
        kernel.phases[0][0],
        Stmt::For { parallel: true, .. }
    ));
    assert_eq!(kernel.phases[0].len(), 2);
}

#[test]
fn few_long_runs_are_cut_into_long_parts() {
    // A cache that loses its oldest row: four runs of 256 kB.
    let (run, before) = (65_536, 65_600);
    let kernel = scheduled(&plan(
        ElementType::F32,
        4 * before,
        4 * run,
        vec![copy(0, 64, &[digit(4, run, before), digit(run, 1, 1)])],
    ));
    let mut parts = Vec::new();
    kernel.visit(|statement| {
        if let Stmt::Move(it) = statement {
            parts.push(it.dims.last().map(|dim| dim.extent * 4));
        }
    });
    assert_eq!(parts, [Some(32 << 10)], "{kernel}");
}

#[test]
fn pieces_that_read_the_same_lines_share_a_loop() {
    // Even and odd columns of a wide image, one after the other.
    let (rows, half) = (512, 256);
    let columns = |odd: i64| {
        copy(
            odd * rows * half,
            odd,
            &[digit(rows, half, 2 * half), digit(half, 1, 2)],
        )
    };
    let total = 2 * rows * half;
    let kernel = scheduled(&plan(
        ElementType::F32,
        total,
        total,
        vec![columns(0), columns(1)],
    ));
    let Stmt::For { body, .. } = &kernel.phases[0][0] else {
        panic!("{kernel}")
    };
    assert_eq!(body.len(), 2, "{kernel}");
}

#[test]
fn pieces_side_by_side_in_short_rows_share_a_loop() {
    // Two parts of `narrow` and 16 bytes in each row, with a column of zeros between them.
    let joined = |rows: i64, narrow: i64| {
        let row = narrow + 17;
        let part = |dst: i64, n: i64| copy(dst, 0, &[digit(rows, row, n), digit(n, 1, 1)]);
        let zeros = Piece {
            body: Body::Fill(0),
            ..copy(narrow, 0, &[digit(rows, row, 0)])
        };
        let pieces = vec![part(0, narrow), zeros, part(narrow + 1, 16)];
        let input = rows * narrow.max(16);
        scheduled(&plan(ElementType::U8, input, rows * row, pieces))
    };
    let of_loop = |kernel: &Kernel| match &kernel.phases[0][0] {
        Stmt::For { body, .. } => body.len(),
        _ => 0,
    };
    let short = joined(10_000, 15);
    let lines = short.to_string();
    let body: Vec<&str> = lines.lines().map(str::trim).skip(4).take(7).collect();
    assert_eq!(
        body,
        [
            "for v0 in 0..19 parallel {",
            "fill b0[15 + 16384*v0] <- 0x0 box [(512, 32)]",
            "move b0[16384*v0] <- b1[7680*v0] box [(512, 32, 15), (15, 1, 1)] as rows",
            "move b0[16 + 16384*v0] <- b1[8192*v0] box [(512, 32, 16), (16, 1, 1)] as rows",
            "}",
            "fill b0[311311] <- 0x0 box [(272, 32)]",
            "move b0[311296] <- b1[145920] box [(272, 32, 15), (15, 1, 1)] as rows",
        ],
        "{short}"
    );
    // What stays near anyway is moved one after the other, and long rows for themselves.
    assert_eq!(of_loop(&joined(500, 15)), 0);
    assert_eq!(of_loop(&joined(10_000, 5000)), 2);
}

#[test]
fn pieces_side_by_side_far_inside_are_moved_in_nested_loops() {
    // A part that is repeated for each of 64 images beside one that is not: its rows are two digits.
    let (images, rows) = (64, 1024);
    let own = copy(0, 0, &[digit(images * rows, 32, 16), digit(16, 1, 1)]);
    let steps = [
        digit(images, 32 * rows, 0),
        digit(rows, 32, 16),
        digit(16, 1, 1),
    ];
    let total = images * rows * 32;
    let pieces = vec![own, copy(16, 0, &steps)];
    let kernel = scheduled(&plan(ElementType::U8, total, total, pieces));
    let lines = kernel.to_string();
    let body: Vec<&str> = lines.lines().map(str::trim).skip(4).take(4).collect();
    assert_eq!(
        body,
        [
            "for v0 in 0..64 parallel {",
            "for v1 in 0..2 {",
            "move b0[32768*v0 + 16384*v1] <- b1[16384*v0 + 8192*v1] box [(512, 32, 16), (16, 1, 1)] as rows",
            "move b0[16 + 32768*v0 + 16384*v1] <- b1[8192*v1] box [(512, 32, 16), (16, 1, 1)] as rows",
        ],
        "{kernel}"
    );
}

#[test]
fn rows_by_index_become_one_gather_with_indices_inside() {
    let mut rows = copy(0, 0, &[digit(64, 16, 0), digit(16, 1, 1)]);
    rows.digits[0].indices = smallvec![1];
    rows.digits[1].indices = smallvec![0];
    if let Body::Copy { indices, .. } = &mut rows.body {
        indices.push(IndexColumn {
            source: Source::Input(1),
            element: ElementType::I64,
            offset: 0,
            coeff: 16,
            limit: 1000,
            wrap: true,
            clamp: false,
            through: smallvec![],
        });
    }
    let kernel = scheduled(&plan(ElementType::F32, 16_000, 1024, vec![rows]));
    assert!(
        matches!(&kernel.phases[0][..], [Stmt::Gather(g)] if g.extent == 64),
        "{kernel}"
    );
    assert!(kernel.buffers.iter().any(|b| matches!(b.role, Role::In(1))));
}
