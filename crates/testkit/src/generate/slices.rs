//! Slices in all their spellings: ranges are drawn as positions first and spelled afterwards.

use restride_graph::{Ints, Op, SliceDialect, StridedSliceDialect, ValueId};

use super::Random;

/// A range of one axis as an operator spells it.
struct Range {
    begin: i64,
    end: i64,
    stride: i64,
    /// The begin is where the range would begin anyway, so a mask may say so.
    whole_begin: bool,
    /// The same of its end.
    whole_end: bool,
}

const EXTREMES: [i64; 6] = [
    i64::MIN,
    i64::MIN + 1,
    i64::MAX,
    i64::MAX - 1,
    i32::MIN as i64,
    i32::MAX as i64,
];

fn wild(random: &mut Random, size: i64) -> i64 {
    match random.below(4) {
        0 => random.pick(&EXTREMES),
        1 => random.pick(&[-size - 1, -size, -1, 0, size - 1, size, size + 1]),
        _ => random.within(-2 * size - 1, 2 * size + 1),
    }
}

fn stride(random: &mut Random, size: i64) -> i64 {
    let magnitude = match random.below(20) {
        0..9 => 1,
        9..14 => 2,
        14..17 => 3,
        17 => random.within(1, size.max(1)),
        18 => size + 1,
        _ => return random.pick(&[i64::MAX, i64::MIN, -i64::MAX, 1 << 40]),
    };
    if random.percent(35) {
        -magnitude
    } else {
        magnitude
    }
}

/// A range that holds something if the axis does, most of the time.
fn range(random: &mut Random, size: i64) -> Range {
    let stride = stride(random, size);
    if size == 0 || random.percent(4) {
        let (begin, end) = (wild(random, size), wild(random, size));
        return Range {
            begin,
            end,
            stride,
            whole_begin: false,
            whole_end: false,
        };
    }
    let (mut first, mut last) = (random.within(0, size - 1), random.within(0, size - 1));
    if random.percent(40) {
        first = if stride > 0 { 0 } else { size - 1 };
    }
    if random.percent(40) {
        last = if stride > 0 { size - 1 } else { 0 };
    }
    if (stride > 0) != (first <= last) {
        (first, last) = (last, first);
    }
    if stride < 0 && first < last {
        (first, last) = (last, first);
    }
    let forward = stride > 0;
    let whole_begin = first == if forward { 0 } else { size - 1 };
    let whole_end = last == if forward { size - 1 } else { 0 };
    let begin = match random.below(10) {
        0..4 => first - size,
        4 if whole_begin && forward => random.pick(&[-size - 3, i64::MIN]),
        4 if whole_begin => random.pick(&[size, size + 5, i64::MAX]),
        _ => first,
    };
    let end = match (forward, last) {
        (true, last) if whole_end => random.pick(&[last + 1, size + 2, i64::MAX, i32::MAX.into()]),
        (true, last) if random.percent(40) => last + 1 - size,
        (true, last) => last + 1,
        (false, 0) => random.pick(&[-size - 1, -size - 9, i64::MIN]),
        (false, last) if random.percent(40) => last - 1 - size,
        (false, last) => last - 1,
    };
    Range {
        begin,
        end,
        stride,
        whole_begin,
        whole_end,
    }
}

/// `strided_slice` with any masks, in any dialect.
pub(super) fn strided_slice(random: &mut Random, x: ValueId, shape: &[i64], calm: bool) -> Op {
    let mut spec = Spec::default();
    let rank = shape.len();
    let ellipsis = random.percent(25).then(|| random.below(rank + 1));
    let mut new_left = if rank < 5 {
        random.pick(&[0, 0, 0, 1, 2])
    } else {
        0
    };
    let named = if random.percent(70) {
        rank
    } else {
        random.below(rank + 1)
    };
    let dialect = random.pick(&[
        StridedSliceDialect::TensorFlow,
        StridedSliceDialect::OpenVino,
        StridedSliceDialect::MindSpore,
    ]);
    let mut axis = 0;
    while axis < named {
        if new_left > 0 && random.percent(30) {
            new_left -= 1;
            spec.free(random, Mask::NewAxis);
            continue;
        }
        if ellipsis == Some(axis) && spec.masks[Mask::Ellipsis as usize] == 0 {
            spec.free(random, Mask::Ellipsis);
            axis += random.below(rank - axis + 1);
            // What the ellipsis spans depends on what else is named: the rest must be named.
            for &size in &shape[axis..] {
                spec.axis(random, dialect, size, calm);
            }
            break;
        }
        spec.axis(random, dialect, shape[axis], calm);
        axis += 1;
    }
    while new_left > 0 && random.flip() {
        new_left -= 1;
        spec.free(random, Mask::NewAxis);
    }
    if random.percent(10) {
        // Bits beyond the last position mean nothing, and sign bits only where they are allowed.
        let beyond = 1i64 << (spec.begin.len() + random.below(20)).min(40);
        spec.masks[random.pick(&[Mask::Begin, Mask::End, Mask::NewAxis, Mask::Shrink]) as usize] |=
            beyond;
    }
    let [
        begin_mask,
        end_mask,
        ellipsis_mask,
        new_axis_mask,
        shrink_axis_mask,
    ] = spec.masks;
    Op::StridedSlice {
        x,
        dialect,
        begin: spec.begin,
        end: spec.end,
        strides: spec.strides,
        begin_mask,
        end_mask,
        ellipsis_mask,
        new_axis_mask,
        shrink_axis_mask,
    }
}

#[derive(Clone, Copy)]
enum Mask {
    Begin,
    End,
    Ellipsis,
    NewAxis,
    Shrink,
}

#[derive(Default)]
struct Spec {
    begin: Ints,
    end: Ints,
    strides: Ints,
    masks: [i64; 5],
}

impl Spec {
    fn push(&mut self, begin: i64, end: i64, stride: i64) -> i64 {
        self.begin.push(begin);
        self.end.push(end);
        self.strides.push(stride);
        1 << (self.begin.len() - 1).min(62)
    }

    /// A position that takes no axis: its numbers mean nothing, and weaker masks neither.
    fn free(&mut self, random: &mut Random, mask: Mask) {
        let stride = random.pick(&[1, -1, 2, 7, i64::MIN]);
        let bit = self.push(wild(random, 3), wild(random, 3), stride);
        self.masks[mask as usize] |= bit;
        let weaker: &[Mask] = match mask {
            Mask::Ellipsis => &[Mask::NewAxis, Mask::Shrink, Mask::Begin, Mask::End],
            Mask::NewAxis => &[Mask::Shrink, Mask::Begin, Mask::End],
            Mask::Begin | Mask::End | Mask::Shrink => &[],
        };
        for &other in weaker {
            if random.percent(20) {
                self.masks[other as usize] |= bit;
            }
        }
    }

    fn axis(&mut self, random: &mut Random, dialect: StridedSliceDialect, size: i64, calm: bool) {
        if size > 0 && random.percent(if calm { 8 } else { 15 }) {
            let index = random.within(-size, size - 1);
            let stride = match dialect {
                StridedSliceDialect::OpenVino => random.pick(&[1, -1, 0, 5, i64::MIN]),
                StridedSliceDialect::TensorFlow | StridedSliceDialect::MindSpore => {
                    random.pick(&[1, 1, 2, i64::MAX])
                }
            };
            let bit = self.push(index, wild(random, size), stride);
            self.masks[Mask::Shrink as usize] |= bit;
            for mask in [Mask::Begin, Mask::End] {
                if random.percent(15) {
                    self.masks[mask as usize] |= bit;
                }
            }
            return;
        }
        let range = range(random, size);
        let bit = self.push(range.begin, range.end, range.stride);
        let at = self.begin.len() - 1;
        if random.percent(if range.whole_begin { 50 } else { 3 }) {
            self.masks[Mask::Begin as usize] |= bit;
            if random.flip() {
                self.begin[at] = wild(random, size);
            }
        }
        if random.percent(if range.whole_end { 50 } else { 3 }) {
            self.masks[Mask::End as usize] |= bit;
            if random.flip() {
                self.end[at] = wild(random, size);
            }
        }
    }
}

/// `slice` of OpenVINO or ONNX.
pub(super) fn slice(random: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let rank = shape.len();
    let mut axes: Vec<usize> = (0..rank).filter(|_| random.percent(60)).collect();
    let named = random.percent(60);
    if named {
        random.shuffle(&mut axes);
    } else {
        axes = (0..axes.len()).collect();
    }
    let (mut start, mut stop, mut step) = (Ints::new(), Ints::new(), Ints::new());
    for &axis in &axes {
        let range = range(random, shape[axis]);
        start.push(range.begin);
        stop.push(range.end);
        step.push(range.stride);
    }
    Op::Slice {
        x,
        dialect: random.pick(&[SliceDialect::OpenVino, SliceDialect::Onnx]),
        start,
        stop,
        step,
        axes: named.then(|| {
            axes.iter()
                .map(|&axis| random.spelled_axis(axis, rank))
                .collect()
        }),
    }
}

/// One part of a split.
pub(super) fn split(random: &mut Random, x: ValueId, shape: &[i64]) -> Op {
    let axis = random.below(shape.len());
    let size = shape[axis];
    let mut lengths = Vec::new();
    let mut left = size;
    while left > 0 && lengths.len() < 4 {
        let length = random.within(1, left);
        lengths.push(length);
        left -= length;
    }
    if left > 0 || lengths.is_empty() {
        lengths.push(left);
    }
    if random.percent(8) {
        lengths.insert(random.below(lengths.len() + 1), 0);
    }
    let part = random.below(lengths.len());
    if random.percent(40) {
        let at = random.below(lengths.len());
        lengths[at] = -1;
    }
    Op::Split {
        x,
        axis: random.spelled_axis(axis, shape.len()),
        lengths: lengths.into(),
        part: part as u32,
    }
}
