//! The oracle's `strided_slice` against nested lists indexed the way Python indexes them: every
//! combination of the five masks on up to three positions.

use restride_graph::oracle::{Tensor, eval_op};
use restride_graph::{ElementType, Ints, Op, StridedSliceDialect, TensorType, ValueId};
use restride_testkit::generate::Random;

/// Lists in lists; the model knows no shapes.
#[derive(Clone, Debug, PartialEq)]
enum Nest {
    Leaf(u32),
    List(Vec<Nest>),
}

/// One position, as Python would have it between the brackets.
#[derive(Clone, Copy, Debug)]
enum Key {
    Ellipsis,
    NewAxis,
    Index(i64),
    Slice(Option<i64>, Option<i64>, i64),
}

/// Python's `list[start:stop:step]`, walked element by element.
fn walk(length: i64, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<usize> {
    let (first, last) = if step > 0 {
        (0, length)
    } else {
        (length - 1, -1)
    };
    let settle = |bound: Option<i64>, default: i64| match bound {
        None => default,
        Some(bound) => {
            let bound = if bound < 0 { bound + length } else { bound };
            if step > 0 {
                bound.clamp(0, length)
            } else {
                bound.clamp(-1, length - 1)
            }
        }
    };
    let (mut at, stop) = (settle(start, first), settle(stop, last));
    let mut taken = Vec::new();
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        taken.push(at as usize);
        at += step;
    }
    taken
}

/// `nest[keys]`; `None` is an exception.
fn index(nest: &Nest, keys: &[Key], rank: usize) -> Option<Nest> {
    let Some((&key, rest)) = keys.split_first() else {
        return Some(nest.clone());
    };
    let inside = || match nest {
        Nest::List(list) => Some(list),
        Nest::Leaf(_) => None,
    };
    match key {
        Key::NewAxis => Some(Nest::List(vec![index(nest, rest, rank)?])),
        Key::Index(at) => {
            let list = inside()?;
            let at = if at < 0 { at + list.len() as i64 } else { at };
            let element = list.get(usize::try_from(at).ok()?)?;
            index(element, rest, rank - 1)
        }
        Key::Slice(start, stop, step) => {
            let list = inside()?;
            let taken = walk(list.len() as i64, start, stop, step);
            let parts = taken.iter().map(|&at| index(&list[at], rest, rank - 1));
            Some(Nest::List(parts.collect::<Option<_>>()?))
        }
        Key::Ellipsis => {
            let takes_axis = |key: &&Key| matches!(key, Key::Index(_) | Key::Slice(..));
            let whole = rank.checked_sub(rest.iter().filter(takes_axis).count())?;
            let mut keys = vec![Key::Slice(None, None, 1); whole];
            keys.extend_from_slice(rest);
            index(nest, &keys, rank)
        }
    }
}

/// Whether every single index exists, also below a list that a slice empties.
fn indices_exist(keys: &[Key], shape: &[i64]) -> bool {
    let Some((&key, rest)) = keys.split_first() else {
        return true;
    };
    match key {
        Key::NewAxis => indices_exist(rest, shape),
        Key::Slice(..) => indices_exist(rest, &shape[1..]),
        Key::Index(at) => -shape[0] <= at && at < shape[0] && indices_exist(rest, &shape[1..]),
        Key::Ellipsis => {
            let taken = rest
                .iter()
                .filter(|key| matches!(key, Key::Index(_) | Key::Slice(..)));
            indices_exist(rest, &shape[shape.len() - taken.count()..])
        }
    }
}

struct Spec {
    begin: Vec<i64>,
    end: Vec<i64>,
    strides: Vec<i64>,
    /// begin, end, ellipsis, new axis, shrink
    masks: [i64; 5],
}

/// The specification as Python keys; `None` where TensorFlow's rules refuse it.
fn keys(spec: &Spec, rank: usize) -> Option<Vec<Key>> {
    let [begin, end, ellipsis, new_axis, shrink] = spec.masks;
    if ellipsis.count_ones() > 1 {
        return None;
    }
    let mut keys = Vec::new();
    for i in 0..spec.begin.len() {
        let set = |mask: i64| mask >> i & 1 == 1;
        keys.push(if set(ellipsis) {
            Key::Ellipsis
        } else if set(new_axis) {
            Key::NewAxis
        } else if spec.strides[i] == 0 {
            return None;
        } else if set(shrink) {
            if spec.strides[i] < 0 {
                return None;
            }
            Key::Index(spec.begin[i])
        } else {
            let unless = |mask: i64, value: i64| (!set(mask)).then_some(value);
            Key::Slice(
                unless(begin, spec.begin[i]),
                unless(end, spec.end[i]),
                spec.strides[i],
            )
        });
    }
    let used = keys
        .iter()
        .filter(|key| matches!(key, Key::Index(_) | Key::Slice(..)))
        .count();
    (used <= rank).then_some(keys)
}

fn nest(shape: &[i64], next: &mut u32) -> Nest {
    match shape.split_first() {
        None => {
            *next += 1;
            Nest::Leaf(*next)
        }
        Some((&size, rest)) => Nest::List((0..size).map(|_| nest(rest, next)).collect()),
    }
}

/// The leaves in order, and the sizes down to the first empty list.
fn flatten(nest: &Nest) -> (Vec<i64>, Vec<u32>) {
    match nest {
        Nest::Leaf(label) => (Vec::new(), vec![*label]),
        Nest::List(list) => {
            let parts: Vec<_> = list.iter().map(flatten).collect();
            let mut shape = vec![list.len() as i64];
            if let Some((inner, _)) = parts.first() {
                shape.extend_from_slice(inner);
            }
            (
                shape,
                parts.into_iter().flat_map(|(_, labels)| labels).collect(),
            )
        }
    }
}

/// Compares one specification; returns whether it had a result.
fn check(shape: &[i64], spec: &Spec) -> bool {
    let data = nest(shape, &mut 0);
    let modelled = keys(spec, shape.len())
        .filter(|keys| indices_exist(keys, shape))
        .and_then(|keys| index(&data, &keys, shape.len()));

    let (_, labels) = flatten(&data);
    let ty = TensorType::dense(ElementType::U32, shape).expect("a small type");
    let x = Tensor::from_bits(ty, labels.iter().map(|&label| label.into())).expect("its elements");
    let [
        begin_mask,
        end_mask,
        ellipsis_mask,
        new_axis_mask,
        shrink_axis_mask,
    ] = spec.masks;
    let op = Op::StridedSlice {
        x: ValueId::from_u32(0),
        dialect: StridedSliceDialect::TensorFlow,
        begin: Ints::from_slice(&spec.begin),
        end: Ints::from_slice(&spec.end),
        strides: Ints::from_slice(&spec.strides),
        begin_mask,
        end_mask,
        ellipsis_mask,
        new_axis_mask,
        shrink_axis_mask,
    };
    let found = eval_op(&op, &[&x]);
    match (&modelled, &found) {
        (None, Err(_)) => false,
        (Some(nest), Ok(tensor)) => {
            let (shape, labels) = flatten(nest);
            assert_eq!(tensor.shape()[..shape.len()], shape, "{op:?}");
            let bytes: Vec<u8> = labels
                .iter()
                .flat_map(|label| label.to_ne_bytes())
                .collect();
            assert_eq!(tensor.bytes(), bytes, "{op:?}");
            true
        }
        (None, Ok(_)) | (Some(_), Err(_)) => panic!("{op:?} on {shape:?}: {modelled:?} {found:?}"),
    }
}

fn every_mask(positions: usize, draws: usize, shapes: &[&[i64]]) -> (usize, usize) {
    let mut random = Random::new(positions as u64);
    let mut draw = |low, high| random.within(low, high);
    let (mut accepted, mut refused) = (0, 0);
    let every = 1i64 << (5 * positions);
    for all in 0..every {
        let mask = |k: i64| all >> (k * positions as i64) & ((1 << positions) - 1);
        for _ in 0..draws {
            let shape = shapes[draw(0, shapes.len() as i64 - 1) as usize];
            let mut list = |low, high| {
                (0..positions)
                    .map(|_| draw(low, high))
                    .collect::<Vec<i64>>()
            };
            let spec = Spec {
                begin: list(-4, 4),
                end: list(-4, 4),
                // Mostly usable strides, so that the data gets compared too.
                strides: list(-3, 4)
                    .iter()
                    .map(|&t| if t == 4 { 1 } else { t })
                    .collect(),
                masks: [mask(0), mask(1), mask(2), mask(3), mask(4)],
            };
            match check(shape, &spec) {
                true => accepted += 1,
                false => refused += 1,
            }
        }
    }
    (accepted, refused)
}

const SHAPES: &[&[i64]] = &[
    &[],
    &[3],
    &[1],
    &[0],
    &[2, 3],
    &[3, 1],
    &[2, 0],
    &[2, 3, 2],
    &[1, 2, 3, 2],
];

#[test]
fn every_mask_of_one_position() {
    let (accepted, refused) = every_mask(1, 400, SHAPES);
    assert!(
        accepted > 8_000 && refused > 500,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
fn every_mask_of_two_positions() {
    let (accepted, refused) = every_mask(2, 40, SHAPES);
    assert!(
        accepted > 15_000 && refused > 5_000,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
fn every_mask_of_three_positions() {
    let (accepted, refused) = every_mask(3, 1, SHAPES);
    assert!(
        accepted > 5_000 && refused > 5_000,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
fn every_range_of_one_axis() {
    for size in 0..=4 {
        for (begin, end) in (-6..=6).flat_map(|begin| (-6..=6).map(move |end| (begin, end))) {
            for stride in -5..=5 {
                for masks in 0..4 {
                    let spec = Spec {
                        begin: vec![begin],
                        end: vec![end],
                        strides: vec![stride],
                        masks: [masks & 1, masks >> 1, 0, 0, 0],
                    };
                    assert_eq!(check(&[size], &spec), stride != 0);
                }
            }
        }
    }
}
