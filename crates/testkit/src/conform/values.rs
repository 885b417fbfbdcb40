//! From the numbers of a case to bits: integers wrap, a bool is "an odd number of bits set", floats
//! are rounded to nearest even (whole numbers that fit are exact).

use restride_graph::{ElementType, TensorType, oracle::Tensor};
use serde_json::Number;

use super::case::{Array, ArrayOut, Values};

/// The most elements that a case may have without listing them.
const LARGEST_IOTA: usize = 1 << 24;

/// The tensor that an input of a case holds.
pub(super) fn tensor(array: &Array) -> Result<Tensor, String> {
    let element = element(array)?;
    build(
        element,
        &array.shape,
        array.values.as_ref(),
        array.bits.as_deref(),
    )
    .map_err(|reason| format!("input {}: {reason}", array.name))
}

/// The tensor that a case expects, given the element type of its data.
pub(super) fn expected(element: ElementType, array: &ArrayOut) -> Result<Tensor, String> {
    build(
        element,
        &array.shape,
        array.values.as_ref(),
        array.bits.as_deref(),
    )
    .map_err(|reason| format!("expectation: {reason}"))
}

/// The element type of an input.
pub(super) fn element(array: &Array) -> Result<ElementType, String> {
    (array.dtype.parse::<ElementType>()).map_err(|error| format!("input {}: {error}", array.name))
}

/// The elements of an integer input as numbers.
///
/// Numbers of 2^63 and more read as negative ones, as OpenVINO does; no other framework takes u64.
pub(super) fn integers(array: &Array) -> Result<Vec<i64>, String> {
    let tensor = tensor(array)?;
    let element = tensor.element();
    let width = element.width();
    let read = |bytes: &[u8]| {
        let fill = if element.is_signed_integer() && bytes[width - 1] >= 0x80 {
            0xff
        } else {
            0
        };
        let mut wide = [fill; 8];
        wide[..width].copy_from_slice(bytes);
        i64::from_le_bytes(wide)
    };
    if width > 8 {
        return Err(format!("input {}: {element} is too wide", array.name));
    }
    let mut elements: Vec<Vec<u8>> = tensor.bytes().chunks(width).map(<[u8]>::to_vec).collect();
    if cfg!(target_endian = "big") {
        elements.iter_mut().for_each(|bytes| bytes.reverse());
    }
    Ok(elements.iter().map(|bytes| read(bytes)).collect())
}

fn build(
    element: ElementType,
    shape: &[i64],
    values: Option<&Values>,
    bits: Option<&[u64]>,
) -> Result<Tensor, String> {
    let ty = TensorType::dense(element, shape).map_err(|error| error.to_string())?;
    let elements: Vec<u128> = match (values, bits) {
        (None, Some(bits)) => bits.iter().map(|&bits| u128::from(bits)).collect(),
        (Some(Values::List(list)), None) => list
            .iter()
            .map(|number| encode(element, number))
            .collect::<Result<_, _>>()?,
        (Some(Values::Named(name)), None) => {
            let first = match name.as_str() {
                "iota" => 0,
                "iota1" => 1,
                other => return Err(format!("`{other}` names no values")),
            };
            if ty.numel() > LARGEST_IOTA {
                return Err(format!("{ty} is too large"));
            }
            (first..first + ty.numel() as u64)
                .map(|k| encode(element, &k.into()))
                .collect::<Result<_, _>>()?
        }
        (None, None) | (Some(_), Some(_)) => return Err("needs either `values` or `bits`".into()),
    };
    Tensor::from_bits(ty, elements).map_err(|error| error.to_string())
}

/// The bits of a number as an element.
pub(super) fn encode(element: ElementType, number: &Number) -> Result<u128, String> {
    let float = || {
        number
            .as_f64()
            .ok_or_else(|| format!("{number} is no number"))
    };
    let bits = match element {
        ElementType::F64 => u128::from(float()?.to_bits()),
        ElementType::F32 => u128::from(narrow(float()?, 8, 23)),
        ElementType::F16 => u128::from(narrow(float()?, 5, 10)),
        ElementType::Bf16 => u128::from(narrow(float()?, 8, 7)),
        ElementType::Bool => u128::from(whole(number)?.count_ones() & 1),
        ElementType::I8
        | ElementType::U8
        | ElementType::I16
        | ElementType::U16
        | ElementType::I32
        | ElementType::U32
        | ElementType::I64
        | ElementType::U64
        | ElementType::I128
        | ElementType::U128 => whole(number)? as u128 & element.bit_mask(),
        ElementType::F8E4M3
        | ElementType::F8E4M3Fnuz
        | ElementType::F8E5M2
        | ElementType::F8E5M2Fnuz
        | ElementType::F8E8M0
        | ElementType::C64
        | ElementType::C128 => return Err(format!("{element} takes `bits`, not `values`")),
    };
    Ok(bits)
}

fn whole(number: &Number) -> Result<i128, String> {
    if let Some(value) = number.as_i64() {
        return Ok(value.into());
    }
    if let Some(value) = number.as_u64() {
        return Ok(value.into());
    }
    match number.as_f64() {
        Some(value) if value.fract() == 0.0 && value.abs() < 1e38 => Ok(value as i128),
        Some(_) | None => Err(format!("{number} is no whole number")),
    }
}

/// A double as a narrower binary float with these field widths, rounded to nearest even.
fn narrow(value: f64, exponent_bits: u32, fraction_bits: u32) -> u64 {
    let bits = value.to_bits();
    let sign = (bits >> 63) << (exponent_bits + fraction_bits);
    let infinity = ((1u64 << exponent_bits) - 1) << fraction_bits;
    if value.is_nan() {
        return sign | infinity | 1 << (fraction_bits - 1);
    }
    if value.is_infinite() {
        return sign | infinity;
    }
    let exponent = (bits >> 52 & 0x7ff) as i64 - 1023;
    if exponent == -1023 {
        // Zero, or far below anything that the narrower float holds.
        return sign;
    }
    let bias = (1i64 << (exponent_bits - 1)) - 1;
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    let below_normal = (1 - bias - exponent).max(0);
    let shift = i64::from(52 - fraction_bits) + below_normal;
    if shift > 60 {
        return sign;
    }
    let kept = significand >> shift;
    let lost = significand & ((1 << shift) - 1);
    let half = 1u64 << (shift - 1);
    let rounded = kept + u64::from(lost > half || lost == half && kept & 1 == 1);
    // A carry out of the fraction steps the exponent, which is what rounding up should do.
    let above_normal = (exponent + bias - 1).max(0) as u64;
    let magnitude = (above_normal << fraction_bits) + rounded;
    sign | magnitude.min(infinity)
}

#[cfg(test)]
mod tests {
    use super::{encode, narrow};
    use restride_graph::ElementType;
    use serde_json::Number;

    #[test]
    fn narrowing_to_f32_is_the_cast() {
        let mut state = 1u64;
        for k in 0..200_000u64 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let value = match k % 3 {
                0 => f64::from_bits(state),
                1 => f64::from(state as u32) * 1.5e-45,
                _ => f64::from(f32::from_bits(state as u32)) * 1.000_000_06,
            };
            if !value.is_nan() {
                assert_eq!(
                    narrow(value, 8, 23),
                    u64::from((value as f32).to_bits()),
                    "{value:e}"
                );
            }
        }
    }

    #[test]
    fn known_halves_and_brains() {
        let half = |value| narrow(value, 5, 10);
        assert_eq!(half(1.0), 0x3c00);
        assert_eq!(half(-2.0), 0xc000);
        assert_eq!(half(65504.0), 0x7bff);
        assert_eq!(half(65520.0), 0x7c00);
        assert_eq!(half(2049.0), 0x6800);
        assert_eq!(half(2051.0), 0x6802);
        assert_eq!(half(f64::from(1u8) / f64::from(1u32 << 24)), 1);
        assert_eq!(half(f64::from(1u8) / f64::from(1u32 << 25)), 0);
        assert_eq!(narrow(1.0, 8, 7), 0x3f80);
        assert_eq!(narrow(257.0, 8, 7), 0x4380);
        assert_eq!(narrow(-0.0, 8, 7), 0x8000);
    }

    #[test]
    fn integers_wrap_and_bools_count_bits() {
        let bits = |element, value: i64| encode(element, &Number::from(value));
        assert_eq!(bits(ElementType::U8, 300), Ok(44));
        assert_eq!(bits(ElementType::I8, -1), Ok(0xff));
        assert_eq!(bits(ElementType::I64, -1), Ok(u128::from(u64::MAX)));
        assert_eq!(bits(ElementType::Bool, 3), Ok(0));
        assert_eq!(bits(ElementType::Bool, 7), Ok(1));
        assert!(bits(ElementType::C64, 0).is_err());
    }
}
