//! Windows that slide over images: convolutions and pools.

use restride_graph::ElementType;

use super::{Ask, Rules, Types, Why, dense, one};
use crate::spell::Framework;

pub(super) const RULES: Rules = &[
    ("Conv FusedConv DeformConv Convolution", conv),
    ("GroupConvolution", group_conv),
    ("ConvInteger", conv_integer),
    ("QLinearConv", quantized_conv),
    ("ConvTranspose ConvolutionBackpropData", conv_transpose),
    ("GroupConvolutionBackpropData", group_conv_transpose),
    ("MaxPool AveragePool LpPool AvgPool", pool),
    ("MaxUnpool", unpool),
    ("GlobalAveragePool GlobalMaxPool GlobalLpPool", global_pool),
];

/// How a window slides along one axis.
struct Slide {
    kernel: i64,
    stride: i64,
    dilation: i64,
    low: i64,
    high: i64,
}

/// The slides along the image's axes.
fn slides(ask: &Ask<'_>, kernel: &[i64]) -> Result<Vec<Slide>, Why> {
    let count = kernel.len();
    let list = |name: &str, default: i64| {
        let list = ask.ints(name).unwrap_or_else(|| vec![default; count]);
        match list.len() == count {
            true => Ok(list),
            false => Err(Why::Here(format!("{} {name} for {count} axes", list.len()))),
        }
    };
    let strides = list("strides", 1)?;
    let dilations = list("dilations", 1)?;
    let (low, high) = match ask.framework {
        Framework::OpenVino => (list("pads_begin", 0)?, list("pads_end", 0)?),
        _ => {
            let pads = ask.ints("pads").unwrap_or_else(|| vec![0; 2 * count]);
            match pads.split_at_checked(count) {
                Some((low, high)) if high.len() == count => (low.to_vec(), high.to_vec()),
                _ => {
                    return Err(format!("{} pads for {count} axes", pads.len())
                        .as_str()
                        .into());
                }
            }
        }
    };
    let slide = |k: usize| Slide {
        kernel: kernel[k],
        stride: strides[k],
        dilation: dilations[k],
        low: low[k],
        high: high[k],
    };
    Ok((0..count).map(slide).collect())
}

fn padding(ask: &Ask<'_>) -> String {
    let word = ask.word("auto_pad").unwrap_or("NOTSET");
    word.to_ascii_uppercase()
}

impl Slide {
    /// How many places there are along an axis.
    fn places(&self, size: i64, auto: &str, ceil: bool) -> Result<i64, Why> {
        if self.stride < 1 || self.dilation < 1 || self.kernel < 1 {
            return Err("a window of no size or step".into());
        }
        let [size, kernel, stride, dilation, low, high] = [
            size,
            self.kernel,
            self.stride,
            self.dilation,
            self.low,
            self.high,
        ]
        .map(i128::from);
        let reach = (kernel - 1) * dilation + 1;
        let places = match auto {
            "SAME_UPPER" | "SAME_LOWER" => (size + stride - 1) / stride,
            _ => {
                let (low, high) = if auto == "VALID" { (0, 0) } else { (low, high) };
                let room = size + low + high - reach;
                if room < 0 {
                    return Err("the window is larger than the image".into());
                }
                let mut places = room / stride + 1;
                // A last place that is not whole, but only if it begins inside.
                if ceil && room % stride != 0 && places * stride < size + low {
                    places += 1;
                }
                places
            }
        };
        i64::try_from(places).map_err(|_| "sizes overflow".into())
    }

    /// How large what is put together from places becomes.
    fn spread(&self, size: i64, extra: i64, auto: &str) -> Result<i64, Why> {
        let [size, kernel, stride, dilation, low, high, extra] = [
            size,
            self.kernel,
            self.stride,
            self.dilation,
            self.low,
            self.high,
            extra,
        ]
        .map(i128::from);
        let whole = match auto {
            "SAME_UPPER" | "SAME_LOWER" => size * stride,
            "VALID" => (size - 1) * stride + (kernel - 1) * dilation + 1 + extra,
            _ => (size - 1) * stride + (kernel - 1) * dilation + 1 + extra - low - high,
        };
        i64::try_from(whole).map_err(|_| "sizes overflow".into())
    }
}

/// A convolution's result: batch, channels, and the places along each axis of the image.
fn convolved(
    ask: &Ask<'_>,
    weights: usize,
    groups: bool,
    element: ElementType,
) -> Result<Types, Why> {
    let x = ask.input(0)?.shape();
    let mut w = ask.input(weights)?.shape().to_vec();
    if groups && w.len() > 2 {
        let group = w.remove(0);
        w[0] = w[0].saturating_mul(group);
    }
    if x.len() < 3 || w.len() != x.len() {
        return Err(Why::Here(format!(
            "an image of rank {}, weights of rank {}",
            x.len(),
            w.len()
        )));
    }
    let mut shape = vec![x[0], w[0]];
    let auto = padding(ask);
    for (slide, &size) in slides(ask, &w[2..])?.iter().zip(&x[2..]) {
        shape.push(slide.places(size, &auto, false)?);
    }
    one(dense(element, shape)?)
}

fn conv(ask: &Ask<'_>) -> Result<Types, Why> {
    convolved(ask, 1, false, ask.input(0)?.element())
}

fn group_conv(ask: &Ask<'_>) -> Result<Types, Why> {
    convolved(ask, 1, true, ask.input(0)?.element())
}

fn conv_integer(ask: &Ask<'_>) -> Result<Types, Why> {
    convolved(ask, 1, false, ElementType::I32)
}

fn quantized_conv(ask: &Ask<'_>) -> Result<Types, Why> {
    let element = ask
        .ty(7)
        .map_or(ask.input(0)?.element(), |zero| zero.element());
    convolved(ask, 3, false, element)
}

fn transposed(ask: &Ask<'_>, channels: i64, kernel: &[i64]) -> Result<Types, Why> {
    let x = ask.input(0)?;
    if x.rank() != kernel.len() + 2 {
        return Err(Why::Here(format!("an image of rank {}", x.rank())));
    }
    let mut shape = vec![x.shape()[0], channels];
    let auto = padding(ask);
    let sizes = match ask.framework {
        Framework::OpenVino => ask.numbers(2).ok(),
        _ => ask.ints("output_shape"),
    };
    let extra = ask.ints("output_padding").unwrap_or_default();
    for (k, slide) in slides(ask, kernel)?.iter().enumerate() {
        let extra = extra.get(k).copied().unwrap_or(0);
        let given = sizes.as_ref().and_then(|sizes| sizes.get(k)).copied();
        let size = given.map_or_else(|| slide.spread(x.shape()[k + 2], extra, &auto), Ok);
        shape.push(size?);
    }
    one(dense(x.element(), shape)?)
}

fn conv_transpose(ask: &Ask<'_>) -> Result<Types, Why> {
    let w = ask.input(1)?.shape();
    match w {
        [_, channels, kernel @ ..] => {
            transposed(ask, channels.saturating_mul(ask.int("group", 1)), kernel)
        }
        _ => Err("weights of rank below 2".into()),
    }
}

fn group_conv_transpose(ask: &Ask<'_>) -> Result<Types, Why> {
    match ask.input(1)?.shape() {
        [groups, _, channels, kernel @ ..] => {
            transposed(ask, channels.saturating_mul(*groups), kernel)
        }
        _ => Err("weights of rank below 3".into()),
    }
}

fn pool(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let kernel = ask.ints("kernel_shape").or(ask.ints("kernel"));
    let kernel = kernel.ok_or("it says no size of its window")?;
    if x.rank() != kernel.len() + 2 {
        return Err(Why::Here(format!("an image of rank {}", x.rank())));
    }
    let ceil = ask.int("ceil_mode", 0) != 0
        || ask
            .word("rounding_type")
            .is_some_and(|w| w.starts_with("ceil"));
    let auto = padding(ask);
    let mut shape = x.shape()[..2].to_vec();
    for (slide, &size) in slides(ask, &kernel)?.iter().zip(&x.shape()[2..]) {
        shape.push(slide.places(size, &auto, ceil)?);
    }
    let ty = dense(x.element(), &shape)?;
    Ok(vec![Some(ty), Some(dense(ElementType::I64, shape)?)])
}

fn global_pool(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    let sizes = x.shape().iter().enumerate();
    let shape: Vec<i64> = sizes.map(|(k, &n)| if k < 2 { n } else { 1 }).collect();
    one(dense(x.element(), shape)?)
}

/// What a pool was made of: as large as it says, or as the pool would need.
fn unpool(ask: &Ask<'_>) -> Result<Types, Why> {
    let x = ask.input(0)?;
    if ask.tensor(2).is_some() {
        return one(dense(x.element(), ask.numbers(2)?)?);
    }
    let kernel = ask.ints("kernel_shape");
    let kernel = kernel.ok_or("it says no size of its window")?;
    transposed(ask, x.shape().get(1).copied().unwrap_or(1), &kernel)
}
