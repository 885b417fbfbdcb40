//! The library as ONNX Runtime uses it.

mod stand_in;

use stand_in::{Node, Operator, Shape, Value, newest, oldest, too_old, value};
use std::ffi::{CStr, CString, c_char, c_int};

const F64: c_int = 11;
const I64: c_int = 7;

const TURNED: &str = "func @f(%x: f64[2, 3, 4]) {
  %y = transpose %x perm [0, 2, 1] : f64[2, 4, 3]
  %z = reshape %y shape [0, -1] dialect onnx : f64[2, 12]
  return %z
}";

const ROWS: &str = "func @f(%x: f64[5, 2], %i: i64[2]) {
  %y = gather %x, %i axis 0 out_of_range error wrap : f64[2, 2]
  return %y, %y
}";

#[test]
fn every_version_from_1_20_on_registers_it() {
    for version in [oldest, newest] {
        let one = Operator::of(version).expect("registered");
        let again = Operator::of(version).expect("registered twice");
        assert_eq!(one.0, again.0);
        // SAFETY: the functions have these types; the version is a number of 32 bits.
        unsafe {
            assert_eq!(one.0.cast::<u32>().read(), 20);
            let name: unsafe extern "C" fn(*const usize) -> *const c_char = one.function(2);
            assert_eq!(CStr::from_ptr(name(one.0)), c"Move");
            for place in [5, 7] {
                let count: unsafe extern "C" fn(*const usize) -> usize = one.function(place);
                assert_eq!(count(one.0), 1);
            }
            for (place, expected) in [(4, 0), (6, 0), (10, 2), (11, 2), (12, 0)] {
                let of: unsafe extern "C" fn(*const usize, usize) -> c_int = one.function(place);
                assert_eq!(of(one.0, 0), expected);
            }
            for (place, expected) in [
                (13, 1),
                (14, 0),
                (15, 1),
                (16, 0),
                (20, 1),
                (21, c_int::MAX),
            ] {
                let of: unsafe extern "C" fn(*const usize) -> c_int = one.function(place);
                assert_eq!(of(one.0), expected);
            }
            for place in [1, 8, 22, 23, 24, 25] {
                assert_eq!(one.0.add(place).read(), 0);
            }
        }
    }
    let why = Operator::of(too_old).err();
    assert_eq!(
        why.as_deref(),
        Some("restride needs ONNX Runtime 1.20 or newer, not 1.19.2")
    );
}

#[test]
fn calls_move_what_they_should_at_every_shape() {
    for version in [oldest, newest] {
        let operator = Operator::of(version).expect("registered");
        let shapes = [[2, 3, 4], [1, 3, 4], [7, 5, 2], [40, 80, 90]];
        // Often enough for machine code, and large enough for threads.
        let shapes: Vec<[i64; 3]> = shapes.iter().cycle().take(60).copied().collect();
        let calls = shapes.iter().map(|shape| vec![value(F64, shape, |n| n)]);
        let answers = operator.run(TURNED, 1, calls.collect()).expect("answers");
        assert_eq!(answers.len(), shapes.len());
        for ([a, b, c], answer) in shapes.iter().zip(&answers) {
            assert_eq!(answer[0].shape.sizes, [*a, b * c]);
            let at = |n: u64| {
                let (b, c) = (*b as u64, *c as u64);
                let (outer, inner) = (n / (b * c), n % (b * c));
                outer * b * c + inner % b * c + inner / b
            };
            let expected: Vec<u64> = (0..(a * b * c) as u64).map(at).collect();
            assert_eq!(answer[0].data, expected);
        }
    }
}

#[test]
fn what_is_wrong_is_a_failure_of_the_call() {
    let operator = Operator::of(newest).expect("registered");
    let rows = |indices: [u64; 2]| {
        vec![vec![
            value(F64, &[5, 2], |n| n),
            value(I64, &[2], |n| indices[n as usize]),
        ]]
    };
    let answers = operator.run(ROWS, 2, rows([4, 0])).expect("answers");
    assert_eq!(answers[0][0].data, [8, 9, 0, 1]);
    assert_eq!(answers[0][1].data, [8, 9, 0, 1]);
    // Tensors without elements have no address.
    let empty = vec![vec![value(F64, &[0, 2], |n| n), value(I64, &[0], |n| n)]];
    let answers = operator.run(ROWS, 2, empty).expect("answers");
    assert_eq!(answers[0][1].shape.sizes, [0, 2]);
    let x = || value(F64, &[2, 3, 4], |n| n);
    let cases: [(&str, usize, Vec<Vec<Value>>, &str); 7] = [
        ("func @f(", 1, vec![], "expected a value"),
        (ROWS, 2, rows([0, 5]), "index"),
        (
            TURNED,
            1,
            vec![vec![x(), x()]],
            "2 inputs for a program of 1",
        ),
        (TURNED, 2, vec![vec![x()]], "2 outputs of a program of 1"),
        (
            TURNED,
            1,
            vec![vec![value(I64, &[2, 3, 4], |n| n)]],
            "input 0 has elements of ONNX's type 7, not f64",
        ),
        (
            TURNED,
            1,
            vec![vec![value(8, &[2, 3, 4], |n| n)]],
            "input 0 has elements of ONNX's type 8, not f64",
        ),
        (
            TURNED,
            1,
            vec![vec![value(F64, &[2, 3], |n| n)]],
            "transpose",
        ),
    ];
    for (program, outputs, calls, expected) in cases {
        let why = operator.run(program, outputs, calls).expect_err(expected);
        assert!(why.contains(expected), "{why}");
    }
}

fn shape(sizes: &[i64], names: &[&str]) -> Shape {
    Shape {
        element: F64,
        sizes: sizes.to_vec(),
        names: names
            .iter()
            .map(|name| CString::new(*name).expect("a name"))
            .collect(),
    }
}

#[test]
fn shapes_are_said_as_far_as_they_are_known() {
    let operator = Operator::of(newest).expect("registered");
    let told = |known: Shape, unsure: Option<i64>| {
        let mut node = Node {
            unsure,
            program: CString::new(TURNED).expect("a text"),
            known: vec![known],
            said: vec![None],
            ..Node::default()
        };
        assert_eq!(operator.say_shapes(&mut node), None);
        let said = node.said.remove(0);
        assert!(said.iter().all(|shape| shape.element == F64));
        said.map(|shape| (shape.sizes, shape.names))
    };
    let said = |known| told(known, None);
    let names = |names: &[&str]| -> Vec<CString> {
        names
            .iter()
            .map(|name| CString::new(*name).expect("a name"))
            .collect()
    };
    let none = names(&["", ""]);
    assert_eq!(
        said(shape(&[5, 3, 4], &["", "", ""])),
        Some((vec![5, 12], none.clone()))
    );
    // A name goes on where a size is that of an input.
    let batch = said(shape(&[-1, 3, 4], &["batch", "", ""]));
    assert_eq!(batch, Some((vec![-1, 12], names(&["batch", ""]))));
    // Unless the file has left the sizes to arithmetic.
    let batch = told(shape(&[-1, 3, 4], &["batch", "", ""]), Some(1));
    assert_eq!(batch, Some((vec![-1, 12], none.clone())));
    let batch = told(shape(&[-1, 3, 4], &["batch", "", ""]), Some(0));
    assert_eq!(batch, Some((vec![-1, 12], names(&["batch", ""]))));
    // Twelve times what is not known is not known, nor is what has no name, nor anything of another rank.
    assert_eq!(said(shape(&[2, -1, 4], &["", "length", ""])), None);
    assert_eq!(said(shape(&[-1, 3, 4], &["", "", ""])), None);
    assert_eq!(said(shape(&[], &[])), None);
    let mut wrong = Node {
        program: CString::new("func").expect("a text"),
        ..Node::default()
    };
    assert!(operator.say_shapes(&mut wrong).is_some());
}
