//! Arrays of the crate `ndarray`: every layout into every other, held against ndarray's own copies.

use half::{bf16, f16};
use ndarray::{Array, Array1, Array2, Array3, ArrayD, Axis, IxDyn, s};
use restride::{ArrayError, ArrayExt, Code, Config, Element, Engine};
use restride_loops::Random;

/// Numbers in order.
fn counted(shape: &[usize]) -> ArrayD<u32> {
    let count: usize = shape.iter().product();
    let numbers = Array::from_iter(0..count as u32);
    numbers.into_shape_with_order(IxDyn(shape)).unwrap()
}

#[test]
fn every_layout_goes_into_every_other() {
    let engine = Engine::default();
    let mut random = Random::new(7);
    for round in 0..600 {
        let rank = random.below(5);
        let shape: Vec<usize> = (0..rank).map(|_| random.below(6)).collect();
        // Views: some axes reversed, some stepped, all of them permuted.
        let mut order: Vec<usize> = (0..rank).collect();
        for axis in (1..rank).rev() {
            order.swap(axis, random.below(axis + 1));
        }
        let large: Vec<usize> = shape.iter().map(|size| 2 * size).collect();
        let (source, mut target) = (counted(&large), counted(&large));
        let mut from = source.view();
        let mut to = target.view_mut();
        for (axis, &size) in shape.iter().enumerate() {
            let part = |random: &mut Random| {
                let step = [1, -1, 2, -2][random.below(4)] as isize;
                ndarray::Slice::new(0, Some(size as isize * step.abs()), step)
            };
            from.slice_axis_inplace(Axis(axis), part(&mut random));
            to.slice_axis_inplace(Axis(axis), part(&mut random));
        }
        let from = from.permuted_axes(IxDyn(&order));
        let mut to = to.permuted_axes(IxDyn(&order));
        let rows = from.standard_layout_with(&engine).unwrap();
        assert!(rows.is_standard_layout() && rows == from, "{round}");
        to.assign_from(&engine, &from).unwrap();
        assert_eq!(to, from, "{round}");
        drop(to);
        // Nothing else has been written.
        let changed = target
            .iter()
            .zip(counted(&large).iter())
            .filter(|(a, b)| a != b)
            .count();
        assert!(changed <= from.len(), "{round}: {changed}");
    }
}

#[test]
fn what_lies_together_is_copied_by_programs() {
    let engine = Engine::default();
    let x = counted(&[3, 4, 5]);
    let turned = x.view().permuted_axes(IxDyn(&[2, 0, 1]));
    let once = turned.standard_layout_with(&engine).unwrap();
    assert_eq!((engine.stats().misses, engine.stats().hits), (1, 0));
    let again = turned.standard_layout_with(&engine).unwrap();
    assert_eq!((engine.stats().misses, engine.stats().hits), (1, 1));
    assert_eq!(once, again);
    // What is in order is lent, and what has gaps is not given to a program.
    assert!(x.standard_layout_with(&engine).unwrap().is_view());
    let stepped = x.slice(s![.., ..;2, ..]);
    assert_eq!(stepped.standard_layout_with(&engine).unwrap(), stepped);
    assert_eq!((engine.stats().misses, engine.stats().hits), (1, 1));
}

#[test]
fn parts_of_one_array_may_lie_between_each_other() {
    let engine = Engine::default();
    let mut x = Array2::from_shape_fn((4, 6), |(y, x)| (10 * y + x) as u8);
    let (mut even, odd) = x.multi_slice_mut((s![.., ..;2], s![.., 1..;2]));
    even.assign_from(&engine, &odd.view()).unwrap();
    assert_eq!(x.row(2).to_vec(), [21, 21, 23, 23, 25, 25]);
}

#[test]
fn elements_may_be_of_any_type() {
    fn turned<A: Element + PartialEq + std::fmt::Debug>(engine: &Engine, of: impl Fn(u8) -> A) {
        let x = Array3::from_shape_fn((2, 3, 4), |(a, b, c)| of((a * 12 + b * 4 + c) as u8));
        let turned = x.view().reversed_axes();
        assert_eq!(turned.standard_layout_with(engine).unwrap(), turned);
    }
    for code in [Code::Native, Code::Generic] {
        let engine = Engine::new(Config {
            code,
            ..Config::default()
        });
        turned(&engine, |n| n);
        turned(&engine, |n| n % 3 == 0);
        turned(&engine, |n| f16::from_f32(n.into()));
        turned(&engine, |n| bf16::from_f32(n.into()));
        turned(&engine, f64::from);
        turned(&engine, i128::from);
    }
}

#[test]
fn shapes_have_to_agree() {
    let engine = Engine::default();
    let (mut to, from) = (Array1::<f32>::zeros(3), Array1::<f32>::zeros(1));
    let error = to.assign_from(&engine, &from).unwrap_err();
    assert!(matches!(error, ArrayError::Shape { .. }));
    assert_eq!(
        error.to_string(),
        "an array of shape [1] is assigned to one of shape [3]"
    );
    let deep = ArrayD::<u8>::zeros(IxDyn(&[1; 40])).into_dyn();
    let mut other = deep.clone();
    // One that is in order is a slice, whatever its rank, and no program has that many axes.
    assert!(matches!(
        other.assign_from(&engine, &deep),
        Err(ArrayError::Compile(_))
    ));
}
