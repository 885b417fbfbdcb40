//! Hostile texts and kernels end in an error, soon, and never in a panic.

use restride_loops::{
    Addr, Buffer, BufferId, Image, Kernel, Place, Random, Role, Stmt, Var, Width, generate,
    interpret, verify,
};
use restride_testkit::mutate;

/// Parses, and verifies what parses.
fn survive(text: &str) -> bool {
    let Ok(kernel) = text.parse::<Kernel>() else {
        return false;
    };
    assert_eq!(kernel.to_string().parse().as_ref(), Ok(&kernel), "{text}");
    let _ = verify(kernel);
    true
}

#[test]
fn damaged_texts() {
    let mut r = Random::new(3);
    let mut parsed = 0;
    for round in 0..30_000 {
        let text = generate::kernel(round % 400).to_string();
        let text = mutate(text.as_bytes(), &mut r);
        parsed += usize::from(survive(&String::from_utf8_lossy(&text)));
    }
    assert!(parsed > 800, "only {parsed} parse");
}

#[test]
fn deep_nests() {
    let nest = |depth: usize| {
        let mut text = String::from("kernel \"deep\" { b0 = out 0 w1 [1] ");
        (0..depth).for_each(|v| text += &format!("for v{v} in 0..1 {{ "));
        text + "fill b0[0] <- 0x0 " + &"}".repeat(depth) + "}"
    };
    let kernel = |depth| nest(depth).parse::<Kernel>();
    assert!(verify(kernel(64).unwrap()).is_ok());
    assert!(
        verify(kernel(65).unwrap())
            .unwrap_err()
            .to_string()
            .contains("deeper than 64")
    );
    assert!(kernel(256).is_ok());
    assert!(kernel(257).is_err());
    assert!(kernel(200_000).is_err());
}

#[test]
fn long_lists() {
    let of = |n| {
        format!(
            "kernel \"k\" {{ b0 = out 0 w1 [1] fill b0[0] <- 0x0 box [{}] }}",
            "(1, 1), ".repeat(n)
        )
    };
    assert!(verify(of(32).parse().unwrap()).is_ok());
    assert!(verify(of(33).parse().unwrap()).is_err());
    assert!(of(100_000).parse::<Kernel>().is_err());
}

/// Writes whose equations are hard: coprime strides of like size, in a space too large to mark.
#[test]
fn hard_equations_are_refused_within_the_budget() {
    let len = 1i64 << 40;
    let primes = [
        1_000_003i64,
        1_000_033,
        1_000_037,
        1_000_039,
        1_000_081,
        1_000_099,
    ];
    let mut body = Vec::new();
    for shift in 0..40 {
        let dims = primes.iter().map(|p| (200, p + shift)).collect();
        body.push(Stmt::Fill {
            dst: Place::at(BufferId(0), shift),
            dims,
            bits: 0,
        });
    }
    let buffers = vec![Buffer {
        role: Role::Scratch,
        width: Width::W1,
        len,
    }];
    let kernel = Kernel {
        name: "hard".into(),
        buffers,
        phases: vec![body].into(),
    };
    assert!(verify(kernel).is_err());
}

#[test]
fn many_pieces_of_falling_strides() {
    let mut body = Vec::new();
    for at in 0..20_000i64 {
        let dims = smallvec::smallvec![(2, (1 << 30) - at)];
        body.push(Stmt::Fill {
            dst: Place::at(BufferId(0), at),
            dims,
            bits: 0,
        });
    }
    let role = Role::Out(0, Image::dense(1 << 31));
    let buffers = vec![Buffer {
        role,
        width: Width::W1,
        len: 1 << 31,
    }];
    let kernel = Kernel {
        name: "falling".into(),
        buffers,
        phases: vec![body].into(),
    };
    assert!(verify(kernel).is_err());
}

#[test]
fn numbers_at_the_ends_of_their_ranges() {
    let mut r = Random::new(6);
    let ends = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
    let mut pick = || ends[r.below(ends.len())];
    for _ in 0..20_000 {
        let image = Image {
            offset: pick(),
            dims: smallvec::smallvec![(pick(), pick()), (pick(), pick())],
        };
        let addr = Addr {
            base: pick(),
            terms: smallvec::smallvec![(Var(0), pick()), (Var(1), pick())],
        };
        let buffers = vec![Buffer {
            role: Role::Out(0, image),
            width: Width::W1,
            len: pick().min(1 << 20),
        }];
        let dims = smallvec::smallvec![(pick(), pick()), (pick(), pick())];
        let fill = Stmt::Fill {
            dst: Place {
                buffer: BufferId(0),
                addr,
            },
            dims,
            bits: 0,
        };
        let inner = Stmt::For {
            var: Var(1),
            extent: pick(),
            parallel: false,
            body: vec![fill],
        };
        let outer = Stmt::For {
            var: Var(0),
            extent: pick(),
            parallel: true,
            body: vec![inner],
        };
        let kernel = Kernel {
            name: "ends".into(),
            buffers,
            phases: vec![vec![outer]].into(),
        };
        let none: [Vec<u8>; 0] = [];
        let run = interpret(&kernel, &none);
        if verify(kernel).is_ok() {
            assert!(run.is_ok(), "{run:?}");
        }
    }
}

#[test]
fn names_are_what_they_look_like() {
    for hidden in [
        '\u{1b}', '\u{7f}', '\u{ad}', '\u{200b}', '\u{202e}', '\u{2028}', '\u{2066}', '\u{feff}',
    ] {
        let text = format!("kernel \"a{hidden}b\" {{\n}}\n");
        let error = text.parse::<Kernel>().unwrap_err();
        assert!(
            error.to_string().contains("cannot be seen"),
            "{hidden:?}: {error}"
        );
        let kernel = Kernel {
            name: format!("a{hidden}b\"").into(),
            buffers: Vec::new(),
            phases: Vec::new().into(),
        };
        assert!(
            kernel.to_string().starts_with("kernel \"a_b_\" {"),
            "{hidden:?}"
        );
    }
    let text = "kernel \"\u{e9}\u{4e2d} 7'\" {\n}\n";
    assert!(text.parse::<Kernel>().is_ok());
}
