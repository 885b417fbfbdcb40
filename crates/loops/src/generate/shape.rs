//! Shapes of outputs, how they lie in their buffer, and how they are cut into pieces.

use super::image_of;
use crate::Random;
use crate::ir::{Image, Width};

/// A box of addresses: `base + sum(stride * i)`.
#[derive(Clone, Debug)]
pub(super) struct AddressBox {
    pub(super) base: i64,
    /// `(extent, stride)`.
    pub(super) dims: Vec<(i64, i64)>,
}

/// Extents, each at least 1.
pub(super) fn random(r: &mut Random, width: Width) -> Vec<i64> {
    match r.below(8) {
        0 => vec![r.within(1, 8), r.within(1, 3000 / width.bytes() as i64)],
        1 => vec![r.within(10, 100), r.within(10, 100)],
        2 => vec![r.within(1, 3), r.within(8, 40), r.within(8, 40)],
        3 => vec![r.within(20, 400), r.within(2, 4)],
        4 => vec![r.within(2, 4), r.within(20, 400)],
        5..8 => {
            let rank = r.below(5);
            (0..rank)
                .map(|_| r.within(1, if rank > 3 { 6 } else { 11 }))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Row-major: the length and `(extent, stride)` of each axis.
pub(super) fn dense(shape: &[i64]) -> (i64, Vec<(i64, i64)>) {
    let mut dims = Vec::new();
    let mut stride = 1;
    for &extent in shape.iter().rev() {
        dims.insert(0, (extent, stride));
        stride *= extent;
    }
    (stride, dims)
}

/// A buffer's length and the image of such a shape in it: most are dense, others have their axes
/// permuted, reversed or with gaps between.
pub(super) fn image(r: &mut Random, shape: &[i64]) -> (i64, Image) {
    if r.below(3) > 0 {
        let (len, dims) = dense(shape);
        let image = if r.one_in(2) {
            Image::dense(len)
        } else {
            image_of(0, &dims)
        };
        // Cutting works on axes, so a flat image is only taken for what is flat.
        return (
            len,
            if shape.len() == 1 {
                image
            } else {
                image_of(0, &dims)
            },
        );
    }
    let mut order: Vec<usize> = (0..shape.len()).collect();
    r.shuffle(&mut order);
    let mut dims = vec![(1, 1); shape.len()];
    let (mut stride, mut offset) = (if r.one_in(3) { r.within(1, 3) } else { 1 }, 0);
    for axis in order {
        let reversed = r.one_in(6);
        dims[axis] = (shape[axis], if reversed { -stride } else { stride });
        if reversed {
            offset += (shape[axis] - 1) * stride;
        }
        stride = stride * shape[axis] + if r.one_in(3) { r.within(0, 4) } else { 0 };
    }
    let before = r.within(0, 3);
    (
        before + stride + r.within(0, 3),
        image_of(before + offset, &dims),
    )
}

/// Disjoint parts that together are the whole.
pub(super) fn cut(r: &mut Random, whole: AddressBox) -> Vec<AddressBox> {
    let mut parts = vec![whole];
    let cuts = if r.one_in(2) { 0 } else { r.below(6) };
    for _ in 0..cuts {
        let at = r.below(parts.len());
        let part = parts[at].clone();
        let wide: Vec<usize> = (0..part.dims.len())
            .filter(|&d| part.dims[d].0 > 1)
            .collect();
        if wide.is_empty() {
            continue;
        }
        let axis = r.pick(&wide);
        let (extent, stride) = part.dims[axis];
        let (mut a, mut b) = (part.clone(), part);
        if r.one_in(4) {
            a.dims[axis] = ((extent + 1) / 2, 2 * stride);
            b.dims[axis] = (extent / 2, 2 * stride);
            b.base += stride;
        } else {
            let here = r.within(1, extent - 1);
            a.dims[axis].0 = here;
            b.dims[axis].0 = extent - here;
            b.base += here * stride;
        }
        parts[at] = a;
        parts.push(b);
    }
    r.shuffle(&mut parts);
    parts
}
