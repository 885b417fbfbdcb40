//! Layouts as models have them, before somebody wants the elements in a row.

use candle_core::{DType, Device, Result, Tensor};

/// Each with its name.
pub fn layouts() -> Result<Vec<(&'static str, Tensor)>> {
    // Not zeros, whose pages are one page of the system's until somebody writes to them.
    let of = |shape: &[usize], dtype| Tensor::ones(shape, dtype, &Device::Cpu);
    let f32s = |shape: &[usize]| of(shape, DType::F32);
    let f16s = |shape: &[usize]| of(shape, DType::F16);
    let u8s = |shape: &[usize]| of(shape, DType::U8);
    Ok(vec![
        (
            "u8 image to planes",
            u8s(&[1080, 1920, 3])?.permute((2, 0, 1))?,
        ),
        (
            "u8 planes to image",
            u8s(&[3, 1080, 1920])?.permute((1, 2, 0))?,
        ),
        (
            "f32 NCHW to NHWC",
            f32s(&[1, 64, 112, 112])?.permute((0, 2, 3, 1))?,
        ),
        (
            "f32 NHWC to NCHW",
            f32s(&[1, 112, 112, 64])?.permute((0, 3, 1, 2))?,
        ),
        ("f32 split heads", f32s(&[1, 512, 12, 64])?.transpose(1, 2)?),
        (
            "f16 split heads",
            f16s(&[1, 512, 32, 128])?.transpose(1, 2)?,
        ),
        ("f32 keys turned", f32s(&[1, 12, 512, 64])?.transpose(2, 3)?),
        (
            "f16 keys turned",
            f16s(&[1, 32, 512, 128])?.transpose(2, 3)?,
        ),
        ("f32 matrix turned", f32s(&[1024, 1024])?.t()?),
        ("f16 matrix turned", f16s(&[1024, 1024])?.t()?),
        ("f32 batch turned", f32s(&[64, 128, 128])?.transpose(1, 2)?),
        (
            "f32 windows",
            f32s(&[1, 8, 7, 8, 7, 96])?.permute((0, 1, 3, 2, 4, 5))?,
        ),
        (
            "f32 windows with shift",
            f32s(&[1, 64, 64, 96])?
                .narrow(1, 4, 56)?
                .narrow(2, 4, 56)?
                .reshape((1, 8, 7, 8, 7, 96))?
                .permute((0, 1, 3, 2, 4, 5))?,
        ),
        (
            "f32 patches",
            f32s(&[1, 3, 14, 16, 14, 16])?.permute((0, 2, 4, 3, 5, 1))?,
        ),
        (
            "f32 pixel shuffle",
            f32s(&[1, 64, 2, 2, 90, 160])?.permute((0, 1, 4, 2, 5, 3))?,
        ),
        (
            "f32 channels shuffled",
            f32s(&[1, 2, 58, 28, 28])?.transpose(1, 2)?,
        ),
        (
            "f32 heads repeated",
            f32s(&[1, 8, 1, 256, 64])?.broadcast_as((1, 8, 4, 256, 64))?,
        ),
        (
            "f32 last axis cropped",
            f32s(&[1, 256, 3072])?.narrow(2, 1024, 1024)?,
        ),
        (
            "f32 box cropped",
            f32s(&[3, 512, 512])?
                .narrow(1, 16, 480)?
                .narrow(2, 16, 480)?,
        ),
        (
            "f32 one decoded token",
            f32s(&[1, 1, 32, 128])?
                .transpose(1, 2)?
                .broadcast_as((2, 32, 1, 128))?,
        ),
    ])
}
