//! A plan that is wrong in one place is refused, or does something else: nothing of it goes unseen.

use restride_budget::Meter;
use restride_canon::canonicalise;
use restride_graph::{Graph, ViewPolicy};
use restride_lower::plain;
use restride_lower::plan::{Body, Piece, PlanOptions, plan};

const TEXT: &str = "func @f(%x: u8[5, 6], %i: i32[3]) {
  %rows = gather %x, %i axis 0 out_of_range zero
  %back = reverse %x axes [1]
  %all = concat %rows, %back axis 0
  %out = transpose %all perm [1, 0]
  return %out
}";

/// The piece with each of its numbers one less and one more.
fn changed(piece: &Piece) -> Vec<Piece> {
    let mut all = Vec::new();
    for by in [-1, 1] {
        let mut change = |what: &dyn Fn(&mut Piece)| {
            let mut other = piece.clone();
            what(&mut other);
            if other != *piece {
                all.push(other);
            }
        };
        change(&|p| p.dst += by);
        for at in 0..piece.digits.len() {
            change(&|p| p.digits[at].extent += by);
            change(&|p| p.digits[at].dst += by);
            change(&|p| p.digits[at].src += by);
            change(&|p| p.digits[at].indices.iter_mut().for_each(|it| *it += by));
        }
        let copy = |p: &mut Piece, what: &dyn Fn(&mut Body)| what(&mut p.body);
        change(&|p| {
            copy(p, &|body| {
                if let Body::Copy { offset, .. } = body {
                    *offset += by;
                }
            });
        });
        for column in 0..piece.body.indices().len() {
            for number in 0..3 {
                change(&|p| {
                    copy(p, &|body| {
                        if let Body::Copy { indices, .. } = body {
                            let index = &mut indices[column];
                            let number = match number {
                                0 => &mut index.offset,
                                1 => &mut index.coeff,
                                _ => &mut index.limit,
                            };
                            *number += by;
                        }
                    });
                });
            }
        }
    }
    all
}

#[test]
fn every_number_of_a_plan_counts() {
    let graph = Graph::parse(TEXT).expect("a graph");
    let canonical = canonicalise(&graph, &Meter::unlimited(), None).expect("a canonical form");
    let views = ViewPolicy::Copy;
    let whole = plan(&canonical, PlanOptions { views }, &Meter::unlimited()).expect("a plan");
    let x: Vec<u8> = (1..=30).collect();
    let rows: Vec<u8> = [4i32, 0, 2].iter().flat_map(|i| i.to_le_bytes()).collect();
    let inputs = [&x[..], &rows[..]];
    let expected = plain::run(&whole, &inputs).expect("it runs");
    assert_eq!(
        plain::run(&plain::plan(&canonical), &inputs).as_ref(),
        Ok(&expected)
    );
    let (mut refused, mut different) = (0, 0);
    for stage in 0..whole.stages.len() {
        for at in 0..whole.stages[stage].pieces.len() {
            for piece in changed(&whole.stages[stage].pieces[at]) {
                let mut wrong = whole.clone();
                wrong.stages[stage].pieces[at] = piece;
                match plain::run(&wrong, &inputs) {
                    Err(plain::PlainError::Broken(_)) => refused += 1,
                    Ok(found) if found != expected => different += 1,
                    other => panic!("{other:?}\n{wrong}"),
                }
            }
        }
    }
    assert!(
        refused > 10 && different > 2,
        "{refused} refused, {different} different"
    );
}
