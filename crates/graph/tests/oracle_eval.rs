//! The oracle on whole graphs: which values count, what is reported, and layouts.

use restride_graph::oracle::{OpError, OracleError, Tensor, eval};
use restride_graph::{
    Constant, ElementType, Graph, IndexRule, Ints, Op, OutOfRange, Strided, TensorType, ValueId,
};

const ERROR: IndexRule = IndexRule {
    out_of_range: OutOfRange::Error,
    wrap: true,
};
const ZERO: IndexRule = IndexRule {
    out_of_range: OutOfRange::Zero,
    wrap: true,
};
const CLAMP: IndexRule = IndexRule {
    out_of_range: OutOfRange::Clamp,
    wrap: false,
};

fn bytes(values: &[u8], shape: &[i64]) -> Tensor {
    let ty = TensorType::dense(ElementType::U8, shape).expect("a small type");
    Tensor::new(ty, values.to_vec()).expect("its elements")
}

fn indices(values: &[i64], shape: &[i64]) -> Tensor {
    let ty = TensorType::dense(ElementType::I64, shape).expect("a small type");
    Tensor::from_bits(ty, values.iter().map(|&v| v as u128 & u128::from(u64::MAX)))
        .expect("its elements")
}

fn gather(x: ValueId, indices: ValueId, rule: IndexRule) -> Op {
    Op::Gather {
        x,
        indices,
        axis: 0,
        batch_dims: 0,
        rule,
    }
}

#[test]
fn the_first_index_outside_is_reported_even_if_it_is_sliced_away() {
    let mut g = Graph::new("g");
    let x = g.input("x", ElementType::U8, [3]).expect("input");
    let i = g.input("i", ElementType::I64, [2, 2]).expect("input");
    let rows = g.push(gather(x, i, ERROR)).expect("gather");
    let one = |at: i64| Ints::from_slice(&[at]);
    let kept = g
        .push(Op::Slice {
            x: rows,
            dialect: restride_graph::SliceDialect::OpenVino,
            start: one(0),
            stop: one(1),
            step: one(1),
            axes: None,
        })
        .expect("slice");
    g.output(kept).expect("output");
    let run = |i: &[i64]| eval(&g, &[bytes(&[7, 8, 9], &[3]), indices(i, &[2, 2])]);
    assert_eq!(
        run(&[0, -3, 2, 1]).map(|out| out[0].bytes().to_vec()),
        Ok(vec![7, 7])
    );
    let error = OpError::OutOfRange {
        op: "gather",
        position: vec![1, 0],
        value: 3,
        axis: 0,
        low: -3,
        limit: 3,
    };
    assert_eq!(
        run(&[0, 1, 3, -4]),
        Err(OracleError::Op { value: rows, error })
    );
}

#[test]
fn only_what_an_output_needs_is_run_and_in_order() {
    let mut g = Graph::new("g");
    let x = g.input("x", ElementType::U8, [2]).expect("input");
    let i = g.input("i", ElementType::I64, [1]).expect("input");
    g.push(gather(x, i, ERROR)).expect("an unused gather");
    let fine = g.push(gather(x, i, ZERO)).expect("gather");
    g.output(fine).expect("output");
    let inputs = [bytes(&[4, 5], &[2]), indices(&[9], &[1])];
    assert_eq!(
        eval(&g, &inputs).map(|out| out[0].bytes().to_vec()),
        Ok(vec![0])
    );

    let first = g.push(gather(x, i, ERROR)).expect("gather");
    let second = g.push(gather(x, i, ERROR)).expect("gather");
    g.output(second).expect("output");
    g.output(first).expect("output");
    assert!(matches!(eval(&g, &inputs), Err(OracleError::Op { value, .. }) if value == first));
}

#[test]
fn policies_at_the_far_ends() {
    let far = [i64::MIN, -4, -3, -1, 0, 2, 3, i64::MAX];
    let run = |rule| {
        let mut g = Graph::new("g");
        let x = g.input("x", ElementType::U8, [3]).expect("input");
        let i = g.input("i", ElementType::I64, [8]).expect("input");
        let rows = g.push(gather(x, i, rule)).expect("gather");
        g.output(rows).expect("output");
        eval(&g, &[bytes(&[7, 8, 9], &[3]), indices(&far, &[8])]).map(|out| out[0].bytes().to_vec())
    };
    assert_eq!(run(ZERO), Ok(vec![0, 0, 7, 9, 7, 9, 0, 0]));
    assert_eq!(run(CLAMP), Ok(vec![7, 7, 7, 7, 7, 9, 9, 9]));
    assert_eq!(
        run(IndexRule {
            wrap: true,
            ..CLAMP
        }),
        Ok(vec![7, 7, 7, 9, 7, 9, 9, 9])
    );
    assert_eq!(
        run(IndexRule {
            wrap: false,
            ..ZERO
        }),
        Ok(vec![0, 0, 0, 0, 7, 9, 0, 0])
    );
    assert!(run(ERROR).is_err());
}

#[test]
fn constants_index_and_an_empty_axis_clamps_to_zero_bits() {
    let mut g = Graph::new("g");
    let x = g.input("x", ElementType::U8, [0, 2]).expect("input");
    let table = Constant::from_integers(ElementType::U8, [1], &[200]).expect("a table");
    let i = g.push(Op::Constant(table)).expect("constant");
    let rows = g.push(gather(x, i, CLAMP)).expect("gather");
    g.output(rows).expect("output");
    assert_eq!(
        eval(&g, &[bytes(&[], &[0, 2])]),
        Ok(vec![bytes(&[0, 0], &[1, 2])])
    );
}

#[test]
fn inputs_are_checked() {
    let mut g = Graph::new("g");
    let x = g.input("x", ElementType::U8, [2]).expect("input");
    g.output(x).expect("output");
    assert_eq!(
        eval(&g, &[]),
        Err(OracleError::InputCount {
            got: 0,
            expected: 1
        })
    );
    let wrong = eval(&g, &[bytes(&[1, 2, 3], &[3])]);
    assert!(
        matches!(wrong, Err(OracleError::Input { position: 0, .. })),
        "{wrong:?}"
    );
}

#[test]
fn layouts_are_read_and_written() {
    let layout = Strided {
        offset: 5,
        strides: [-3, 1].as_slice().into(),
    };
    let ty = TensorType::strided(ElementType::U8, [2, 2], layout).expect("a view");
    let buffer = [0, 1, 2, 3, 4, 5, 6];
    let tensor = Tensor::read(&ty, &buffer).expect("inside the buffer");
    assert_eq!(tensor, bytes(&[5, 6, 2, 3], &[2, 2]));
    assert!(Tensor::read(&ty, &buffer[..6]).is_err());

    let mut out = [9; 7];
    tensor.write_into(&ty, &mut out).expect("inside the buffer");
    assert_eq!(out, [9, 9, 2, 3, 9, 5, 6]);
    assert!(bytes(&[1], &[1]).write_into(&ty, &mut out).is_err());
}
