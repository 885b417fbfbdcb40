//! Elements, shapes and layouts to start from.

use restride_graph::{ElementType, Shape, Strided, TensorType};

use super::Random;

/// The largest rank of a value that operators go on from.
pub(super) const MAX_RANK: usize = 6;
/// The most elements of a value that operators go on from.
pub(super) const MAX_ELEMENTS: i64 = 1500;

/// Any element, every width equally often.
pub(super) fn element(random: &mut Random) -> ElementType {
    let width = random.pick(&[1, 2, 4, 8, 16]);
    let all: Vec<ElementType> = ElementType::ALL
        .into_iter()
        .filter(|element| element.width() == width)
        .collect();
    random.pick(&all)
}

/// An element that can index.
pub(super) fn index_element(random: &mut Random) -> ElementType {
    let all: Vec<ElementType> = ElementType::ALL
        .into_iter()
        .filter(|element| element.is_index())
        .collect();
    random.pick(&all)
}

/// The size of one axis: small mostly, now and then 0, 1 or up to 9.
pub(super) fn extent(random: &mut Random) -> i64 {
    match random.below(100) {
        0..2 => 0,
        2..12 => 1,
        12..75 => random.within(2, 4),
        75..90 => random.pick(&[4, 6, 8, 9]),
        _ => random.within(5, 9),
    }
}

/// A shape of rank 0 to 6 with at most so many elements.
pub(super) fn shape(random: &mut Random, most: i64) -> Shape {
    let rank = random.pick(&[0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6]);
    let mut left = most;
    let mut shape: Vec<i64> = (0..rank)
        .map(|_| {
            let extent = extent(random).min(left);
            left /= extent.max(1);
            extent
        })
        .collect();
    random.shuffle(&mut shape);
    shape.as_slice().into()
}

/// A shape without empty axes and of rank at least 1.
pub(super) fn solid_shape(random: &mut Random, most: i64) -> Shape {
    loop {
        let shape = shape(random, most);
        if !shape.is_empty() && !shape.contains(&0) {
            return shape;
        }
    }
}

/// The type, dense or laid out in a bigger buffer in any way that an input may be.
pub(super) fn input_layout(random: &mut Random, ty: TensorType) -> TensorType {
    if !random.percent(35) {
        return ty;
    }
    let mut strides = spread(random, ty.shape());
    for stride in &mut strides {
        match random.below(10) {
            0 => *stride = 0,
            1 | 2 => *stride = -*stride,
            3 => *stride = random.within(-3, 3),
            _ => {}
        }
    }
    let offset = lowest_offset(ty.shape(), &strides) + random.pick(&[0, 0, 1, 5]);
    ty.clone()
        .with_layout(Strided { offset, strides })
        .unwrap_or(ty)
}

/// A layout whose elements all have a place of their own.
pub(super) fn output_layout(random: &mut Random, ty: &TensorType) -> Strided {
    let mut strides = spread(random, ty.shape());
    for stride in &mut strides {
        if random.percent(20) {
            *stride = -*stride;
        }
    }
    let offset = lowest_offset(ty.shape(), &strides) + random.pick(&[0, 0, 1, 7]);
    Strided { offset, strides }
}

/// Strides of the axes in some order, with gaps now and then.
fn spread(random: &mut Random, shape: &[i64]) -> Shape {
    let order = match random.percent(50) {
        true => (0..shape.len()).rev().collect(),
        false => random.permutation(shape.len()),
    };
    let mut strides: Shape = shape.iter().map(|_| 1).collect();
    let mut step = random.pick(&[1, 1, 1, 2, 3]);
    for axis in order {
        strides[axis] = step;
        step = step * shape[axis].max(1)
            + if random.percent(20) {
                random.within(1, 4)
            } else {
                0
            };
    }
    strides
}

/// The offset that puts the lowest address at 0.
fn lowest_offset(shape: &[i64], strides: &[i64]) -> i64 {
    let down = |(&size, &stride): (&i64, &i64)| (size - 1).max(0) * (-stride).max(0);
    shape.iter().zip(strides).map(down).sum()
}
