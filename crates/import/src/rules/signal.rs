//! Signals and images: spectra, windows, grids, patches.

use restride_graph::ElementType;

use super::{Ask, Rules, Types, Why, axis, dense, one};
use crate::spell::Attribute;

pub(super) const RULES: Rules = &[
    ("STFT", stft),
    ("DFT", dft),
    ("HannWindow HammingWindow BlackmanWindow", window),
    ("MelWeightMatrix", mel),
    ("GridSample", grid_sample),
    ("AffineGrid", affine_grid),
    ("RoiAlign", roi_align),
    ("Col2Im", col2im),
];

fn stft(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let step = *ask.numbers(1)?.first().ok_or("it says no step")?;
    let frame = match ask.tensor(2) {
        Some(_) => ask.input(2)?.shape().first().copied().unwrap_or(1),
        None => *ask.numbers(3)?.first().ok_or("it says no frame")?,
    };
    let (Some(&batch), Some(&length)) = (x.shape().first(), x.shape().get(1)) else {
        return Err("a signal of rank below 2".into());
    };
    if step < 1 || frame < 1 || length < frame {
        return Err("a frame or a step of no size".into());
    }
    let bins = if ask.int("onesided", 1) != 0 {
        frame / 2 + 1
    } else {
        frame
    };
    one(dense(
        x.element(),
        [batch, (length - frame) / step + 1, bins, 2],
    )?)
}

/// Complex numbers are pairs in the last axis; the other half of a one-sided spectrum is left out.
fn dft(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let along = match (ask.version < 20, ask.tensor(2)) {
        (true, _) => ask.int("axis", 1),
        (false, Some(_)) => *ask.numbers(2)?.first().ok_or("it says no axis")?,
        (false, None) => -2,
    };
    let at = axis(along, x.rank())?;
    let mut shape = x.shape().to_vec();
    let inverse = ask.int("inverse", 0) != 0;
    let half = ask.int("onesided", 0) != 0;
    let length = match ask.tensor(1) {
        Some(_) => *ask.numbers(1)?.first().ok_or("it says no length")?,
        None if half && inverse => shape[at].saturating_sub(1).saturating_mul(2),
        None => shape[at],
    };
    shape[at] = if half && !inverse {
        length / 2 + 1
    } else {
        length
    };
    if let Some(last) = shape.last_mut() {
        *last = if half && inverse { 1 } else { 2 };
    }
    one(dense(x.element(), shape)?)
}

/// The element that is asked for by ONNX's number, else floats.
fn asked(ask: &Ask<'_>) -> Result<ElementType, Why> {
    let number = ask.int("output_datatype", 1);
    crate::onnx::element(number).map_err(Why::Here)
}

fn window(ask: &Ask<'_>) -> Result<Types, Why> {
    let size = ask.numbers(0)?;
    one(dense(asked(ask)?, size)?)
}

fn mel(ask: &Ask<'_>) -> Result<Types, Why> {
    let (bins, length) = (ask.numbers(0)?, ask.numbers(1)?);
    let (Some(&bins), Some(&length)) = (bins.first(), length.first()) else {
        return Err("it says no sizes".into());
    };
    one(dense(asked(ask)?, [length / 2 + 1, bins])?)
}

fn grid_sample(ask: &Ask<'_>) -> Result<Types, Why> {
    let (x, grid) = (ask.input(0)?, ask.input(1)?.shape());
    if x.rank() < 3 || grid.len() != x.rank() {
        return Err("an image and a grid of other ranks".into());
    }
    let mut shape = x.shape()[..2].to_vec();
    shape.extend_from_slice(&grid[1..grid.len() - 1]);
    one(dense(x.element(), shape)?)
}

/// A place in the image for each of its points.
fn affine_grid(ask: &Ask<'_>) -> Result<Types, Why> {
    let size = ask.numbers(1)?;
    let (Some(&batch), Some(image)) = (size.first(), size.get(2..)) else {
        return Err("it says no sizes".into());
    };
    let mut shape = vec![batch];
    shape.extend_from_slice(image);
    shape.push(image.len() as i64);
    one(dense(ask.input(0)?.element(), shape)?)
}

fn roi_align(ask: &Ask<'_>) -> Result<Types, Why> {
    let (x, rois) = (ask.input(0)?, ask.input(1)?.shape());
    let (Some(&count), Some(&channels)) = (rois.first(), x.shape().get(1)) else {
        return Err("it has no boxes or channels".into());
    };
    let size = |name: &str, short: &str| match ask.attributes.get(short) {
        Some(Attribute::Int(size)) => *size,
        _ => ask.int(name, 1),
    };
    let shape = [
        count,
        channels,
        size("output_height", "pooled_h"),
        size("output_width", "pooled_w"),
    ];
    one(dense(x.element(), shape)?)
}

/// Columns of blocks put together to an image.
fn col2im(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let (image, block) = (ask.numbers(1)?, ask.numbers(2)?);
    let inside = block.iter().fold(1i64, |a, &b| a.saturating_mul(b));
    let (Some(&batch), Some(&columns)) = (x.shape().first(), x.shape().get(1)) else {
        return Err("it has no columns".into());
    };
    if inside < 1 {
        return Err("a block of no size".into());
    }
    let mut shape = vec![batch, columns / inside];
    shape.extend(image);
    one(dense(x.element(), shape)?)
}
