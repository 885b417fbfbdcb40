//! Patterns without an interpreter: what is read, what is refused and in which words.

#![allow(missing_docs, dead_code)]

#[path = "../src/pattern.rs"]
mod pattern;

use pattern::{Mode, Pattern};

fn merged(
    text: &str,
    mode: Mode,
    shape: &[i64],
    given: &[(&str, i64)],
) -> Result<Vec<i64>, String> {
    let pattern = Pattern::new(text, mode).map_err(|error| error.to_string())?;
    let mut sizes = vec![-1; pattern.names()];
    for (name, size) in given {
        sizes[pattern.named(name).expect("a name of the pattern")] = *size;
    }
    let moves = pattern
        .fit(shape, &sizes)
        .map_err(|error| error.to_string())?;
    assert_eq!(
        moves.split.iter().product::<i64>(),
        shape.iter().product::<i64>()
    );
    assert_eq!(moves.order.len(), moves.split.len());
    assert_eq!(moves.spread.len(), moves.filled.len());
    Ok(moves.merged.to_vec())
}

#[test]
fn patterns_are_fitted_to_shapes() {
    let rearranged = |text, shape: &[i64], given: &[_]| merged(text, Mode::Rearrange, shape, given);
    let ok = |shape: &[i64]| Ok(shape.to_vec());
    let patches = "b (h p) (w q) c -> b (h w) (p q c)";
    assert_eq!(
        rearranged(patches, &[2, 8, 12, 3], &[("p", 4), ("q", 4)]),
        ok(&[2, 6, 48])
    );
    assert_eq!(
        rearranged("... h w -> ... (w h)", &[5, 6, 2, 3], &[]),
        ok(&[5, 6, 6])
    );
    assert_eq!(
        rearranged("a ... -> (...) a", &[5, 6, 2], &[]),
        ok(&[12, 5])
    );
    assert_eq!(rearranged("a 1 -> 1 a ()", &[5, 1], &[]), ok(&[1, 5, 1]));
    assert_eq!(rearranged("(a b)->b a", &[0], &[("a", 3)]), ok(&[0, 3]));
    assert_eq!(rearranged("->", &[], &[]), ok(&[]));
    let repeated = |text, shape: &[i64], given: &[_]| merged(text, Mode::Repeat, shape, given);
    assert_eq!(
        repeated("h w -> (h 2) w c", &[3, 4], &[("c", 5)]),
        ok(&[6, 4, 5])
    );
}

#[test]
fn refusals_name_the_axis() {
    let cases: &[(&str, &[i64], &str)] = &[
        ("a b", &[1, 2], "a pattern has '->' between its sides"),
        ("a -> a -> a", &[1], "a pattern has one '->'"),
        ("a b -> a", &[1, 2], "axis 'b' stands only on the left side"),
        ("a -> a b", &[1], "axis 'b' stands only on the right side"),
        (
            "a a -> a",
            &[1, 1],
            "axis 'a' stands twice on the left side",
        ),
        ("a ... -> a", &[1, 2], "'...' stands only on one side"),
        (
            "(a (b)) -> a b",
            &[1],
            "parentheses within parentheses on the left side",
        ),
        ("(a b -> a b", &[1], "a ')' is missing on the left side"),
        ("a) b -> a b", &[1], "a ')' too many on the left side"),
        (
            "(a ...) -> a ...",
            &[1],
            "'...' in parentheses on the left side",
        ),
        ("a -> (a 2)", &[1], "an axis of size 2 needs a name"),
        ("_a -> _a", &[1], "'_a' is no name of an axis"),
        ("a-b -> a-b", &[1], "'a-b' is no name of an axis"),
        ("a b -> b a", &[1], "2 axes are expected, the array has 1"),
        (
            "a b ... -> b a ...",
            &[1],
            "at least 2 axes are expected, the array has 1",
        ),
        (
            "(a b) -> a b",
            &[6],
            "the size of axis 'a' or 'b' has to be given",
        ),
        (
            "a 1 -> a",
            &[6, 2],
            "an axis of size 1 is expected, its size is 2",
        ),
    ];
    for (text, shape, said) in cases {
        assert_eq!(
            merged(text, Mode::Rearrange, shape, &[]),
            Err((*said).to_owned()),
            "{text}"
        );
    }
    let given = |text, given: &[_]| merged(text, Mode::Rearrange, &[7], given);
    let said = "axis 'a': 7 elements cannot be divided into parts of 2";
    assert_eq!(given("(a b) -> a b", &[("b", 2)]), Err(said.to_owned()));
    let said = "the axes 'a b' are 6 together, not 7";
    assert_eq!(
        given("(a b) -> a b", &[("a", 3), ("b", 2)]),
        Err(said.to_owned())
    );
    assert_eq!(
        given("a -> a", &[("a", 3)]),
        Err("axis 'a' has size 7, not 3".to_owned())
    );
    let said = "the size of the new axis 'b' is not given";
    assert_eq!(
        merged("a -> a b", Mode::Repeat, &[7], &[]),
        Err(said.to_owned())
    );
}
