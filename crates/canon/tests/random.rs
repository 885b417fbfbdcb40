//! Random graphs: the canonical form means what the graph means, and is a fixed point.

use restride_budget::Meter;
use restride_canon::{canonicalise, normalise, spelled_out, text};
use restride_graph::oracle::{self, OpError, OracleError, Tensor};
use restride_graph::{ElementType, Graph, Op, ReshapeDialect, Sample, SliceDialect};
use restride_lower::plain::{self, PlainError};
use restride_testkit::generate::{Case, Kind, Random, case};

fn spelled(g: &Graph) -> String {
    let line = |id| format!("{id} = {:?} : {}\n", g.op(id), g.ty(id));
    g.values().map(line).collect()
}

fn compare(case: &Case, seed: u64) {
    let g = &case.graph;
    let canonical = canonicalise(g, &Meter::unlimited(), None)
        .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", spelled(g)));
    let printed = canonical.to_string();
    let parsed = text::parse(&printed).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{printed}"));
    assert_eq!(
        parsed, canonical,
        "seed {seed}: printing and parsing changes\n{printed}"
    );
    let spelled_out = spelled_out(g).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", spelled(g)));
    let (tensors, buffers) = (case.tensors().unwrap(), case.buffers());
    let buffers: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
    let expected = oracle::eval(g, &tensors);
    for form in [&canonical, &spelled_out] {
        match (&expected, plain::run(&plain::plan(form), &buffers)) {
            (Ok(expected), Ok(got)) => {
                let expected: Vec<&[u8]> = expected.iter().map(Tensor::bytes).collect();
                assert_eq!(
                    expected,
                    got,
                    "seed {seed}: values differ\n{}\n{printed}",
                    spelled(g)
                );
            }
            (
                Err(OracleError::Op {
                    value,
                    error:
                        OpError::OutOfRange {
                            value: index,
                            limit,
                            ..
                        },
                }),
                Err(PlainError::OutOfRange {
                    op,
                    value: found,
                    limit: size,
                    ..
                }),
            ) => assert_eq!(
                (value.index() as u32, *index, *limit),
                (op, found, size),
                "seed {seed}: failures differ\n{printed}"
            ),
            (expected, got) => panic!("seed {seed}: {expected:?} but {got:?}\n{printed}"),
        }
    }
    let again = normalise(&canonical, &Meter::unlimited(), None);
    let again = again.unwrap_or_else(|e| panic!("seed {seed}: {e}\n{printed}"));
    assert_eq!(
        again.to_string(),
        printed,
        "seed {seed}: not a fixed point\n{}",
        spelled(g)
    );
}

fn count() -> u64 {
    let wanted = std::env::var("RESTRIDE_RANDOM").ok();
    wanted.and_then(|n| n.parse().ok()).unwrap_or(3000)
}

#[test]
fn chains_of_views() {
    for number in 0..count() {
        compare(&case(3, number, Kind::Views, 6), number);
    }
}

/// One gather among views, and any operators, of which some obligations fail.
#[test]
fn the_whole_family() {
    for number in 0..2 * count() {
        let kind = match number % 3 {
            0 => Kind::OneGather,
            _ => Kind::Family,
        };
        compare(&case(4, number, kind, 8), number);
    }
}

/// Bits of an address shuffled again and again: more digits than a tensor has axes.
#[test]
fn more_digits_than_axes() {
    let mut random = Random::new(11);
    for rank in [12usize, 17, 32] {
        let mut g = Graph::new("bits");
        let mut x = g.input("x", ElementType::U8, [1i64 << 12]).unwrap();
        for _ in 0..4 {
            let mut sizes = vec![1i64; rank - 12];
            sizes.extend([2; 12]);
            let mut perm: Vec<i64> = (0..rank as i64).collect();
            random.shuffle(&mut sizes);
            random.shuffle(&mut perm);
            let reshape = |x, sizes: &[i64]| Op::Reshape {
                x,
                dialect: ReshapeDialect::Plain,
                pattern: sizes.iter().copied().collect(),
            };
            x = g.push(reshape(x, &sizes)).unwrap();
            x = g
                .push(Op::Transpose {
                    x,
                    perm: perm.into_iter().collect(),
                })
                .unwrap();
            x = g.push(reshape(x, &[1 << 12])).unwrap();
            x = g
                .push(Op::Tile {
                    x,
                    repeats: [2].into_iter().collect(),
                })
                .unwrap();
            x = g
                .push(Op::Slice {
                    x,
                    dialect: SliceDialect::OpenVino,
                    start: [0].into_iter().collect(),
                    stop: [1 << 13].into_iter().collect(),
                    step: [2].into_iter().collect(),
                    axes: None,
                })
                .unwrap();
        }
        g.output(x).unwrap();
        let case = Case {
            graph: g,
            inputs: vec![Sample::Labels(0)],
            refused: Vec::new(),
        };
        compare(&case, rank as u64);
    }
    // Sizes that only a compiler sees: 2^60 elements, every second bit taken.
    let mut g = Graph::new("huge");
    let mut x = g.input("x", ElementType::U8, [1i64 << 60]).unwrap();
    for _ in 0..3 {
        let sizes: Vec<i64> = [4; 30].into();
        let pattern = sizes.iter().copied().collect();
        x = g
            .push(Op::Reshape {
                x,
                dialect: ReshapeDialect::Plain,
                pattern,
            })
            .unwrap();
        x = g
            .push(Op::Transpose {
                x,
                perm: [].into_iter().collect(),
            })
            .unwrap();
        let split = [2i64].into_iter().chain([4; 29]).chain([2]).collect();
        x = g
            .push(Op::Reshape {
                x,
                dialect: ReshapeDialect::Plain,
                pattern: split,
            })
            .unwrap();
        x = g
            .push(Op::Transpose {
                x,
                perm: [].into_iter().collect(),
            })
            .unwrap();
    }
    g.output(x).unwrap();
    let canonical = canonicalise(&g, &Meter::unlimited(), None).unwrap();
    assert_eq!(
        normalise(&canonical, &Meter::unlimited(), None).unwrap(),
        canonical
    );
}
