//! Texts that were damaged are refused or read, and never more than that; nodes that cannot be
//! are refused with a reason.

use restride_budget::Meter;
use restride_canon::ir::{Builder, Coordinate, Index, IrError, Policy, Span, View};
use restride_canon::{canonicalise, normalise, text};
use restride_graph::{ElementType, Graph};
use restride_layout::Break;
use restride_testkit::generate::Random;
use restride_testkit::mutate;
use std::path::Path;

fn texts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path());
    let mut paths: Vec<_> = entries
        .filter(|p| p.extension().is_some_and(|e| e == "mv"))
        .collect();
    paths.sort();
    let canonical = |path: &std::path::PathBuf| {
        let graph = Graph::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        canonicalise(&graph, &Meter::unlimited(), None)
            .unwrap()
            .to_string()
    };
    paths.iter().map(canonical).collect()
}

#[test]
fn damaged_texts_end_in_an_error_or_a_graph() {
    let texts = texts();
    let mut r = Random::new(3);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let text = mutate(r.pick(&texts).as_bytes(), &mut r);
        let text = String::from_utf8_lossy(&text);
        match text::parse(&text) {
            Ok(graph) => {
                read += 1;
                let printed = graph.to_string();
                assert_eq!(text::parse(&printed).unwrap(), graph, "{printed}");
                normalise(&graph, &Meter::unlimited(), None)
                    .unwrap_or_else(|e| panic!("{e}\n{printed}"));
            }
            Err(error) => {
                refused += 1;
                assert!(!error.message.is_empty());
            }
        }
    }
    assert!(
        read > 100 && refused > 1000,
        "{read} read, {refused} refused"
    );
}

fn span(start: i64, len: i64, step: i64) -> Span {
    Span { start, len, step }
}

#[test]
fn nodes_that_cannot_be_are_refused() {
    let mut b = Builder::new();
    let x = b.input(ElementType::F32, &[4, 6], None).unwrap();
    let i = b.input(ElementType::I64, &[3], None).unwrap();
    let one = b.input(ElementType::F32, &[1, 1], None).unwrap();
    let big = 1i64 << 61;
    let whole = span(0, 6, 1);
    let spans = [
        span(0, 5, 1),
        span(4, 1, 1),
        span(0, 2, 0),
        span(3, 2, 2),
        span(0, 2, -1),
        span(0, -1, 1),
        span(0, i64::MAX, i64::MAX),
        span(i64::MIN, 2, 1),
    ];
    for bad in spans {
        let refused = b.view(x, &View::Slice([bad, whole].as_slice().into()));
        assert!(
            matches!(
                refused,
                Err(IrError::View {
                    why: Break::Span { axis: 0, .. },
                    ..
                })
            ),
            "{bad:?}"
        );
    }
    let permute = |perm: &[usize]| View::Permute(perm.into());
    let collapse = |groups: &[usize]| View::Collapse {
        groups: groups.into(),
    };
    let expand = |groups: &[usize], sizes: &[i64]| View::Expand {
        groups: groups.into(),
        sizes: sizes.into(),
    };
    let broadcast = |sizes: &[i64]| View::Broadcast {
        sizes: sizes.into(),
    };
    let bad = [
        View::Slice([whole].as_slice().into()),
        permute(&[0, 0]),
        permute(&[0, 2]),
        permute(&[0, usize::MAX]),
        permute(&[0]),
        collapse(&[1]),
        collapse(&[3]),
        collapse(&[0, 2]),
        collapse(&[]),
        collapse(&[2, 1]),
        collapse(&[usize::MAX]),
        expand(&[1, 2], &[4, 2, 4]),
        expand(&[2, 1], &[4, 6]),
        expand(&[1, 2], &[4, -2, -3]),
        broadcast(&[8, 6]),
    ];
    for bad in bad {
        assert!(b.view(x, &bad).is_err(), "{bad:?}");
    }
    assert!(b.view(one, &collapse(&[])).is_ok());
    assert!(b.view(one, &broadcast(&[big, big])).is_err());
    assert!(b.view(one, &broadcast(&[big, 4, 1])).is_err());
    assert!(b.concat(&[], 0).is_err());
    assert!(b.concat(&[x, i], 0).is_err());
    assert!(b.concat(&[x, one], 1).is_err());
    assert!(b.concat(&[x], 2).is_err());
    assert!(b.fill(ElementType::U8, &[2], 256).is_err());
    assert!(
        b.constant(ElementType::U8, &[2], vec![0; 3].into())
            .is_err()
    );
    assert!(b.input(ElementType::U8, &[1; 33], None).is_err());
    let index = |node, outputs: &[u8]| {
        Coordinate::Index(Index {
            node,
            outputs: outputs.into(),
            wrap: false,
            policy: Policy::Zero,
        })
    };
    let o = Coordinate::Output;
    assert!(b.gather(x, &[o(0), o(1)]).is_err());
    assert!(b.gather(x, &[index(i, &[0]), o(0)]).is_err());
    assert!(b.gather(x, &[index(i, &[0]), o(2)]).is_err());
    assert!(b.gather(x, &[index(i, &[]), o(1)]).is_err());
    assert!(b.gather(x, &[index(i, &[200]), o(1)]).is_err());
    assert!(b.gather(x, &[index(x, &[0, 1]), o(1)]).is_err());
    assert!(b.gather(x, &[index(i, &[0]), o(1)]).is_ok());
    let square = b.input(ElementType::F32, &[2, 2, 2], None).unwrap();
    assert!(b.gather(square, &[o(0), o(0), index(i, &[1])]).is_err());
    let empty = b.input(ElementType::F32, &[0], None).unwrap();
    assert!(b.gather(empty, &[index(i, &[0])]).is_err());
    let before = b.graph().len();
    assert!(
        b.output(
            x,
            Some(restride_graph::Strided {
                offset: 0,
                strides: [1].into_iter().collect(),
            })
        )
        .is_err()
    );
    assert_eq!(b.graph().len(), before);
}
