//! Numbers and bits: from a double to the bits of an element, and back.

use restride_graph::{Constant, ElementType, TensorType};

/// The bits of a number as an element, rounded to nearest even; `whole` is the same number where it
/// has more digits than a double. Integers wrap. Nothing for elements that no number is read as.
#[must_use]
pub fn encode(element: ElementType, number: f64, whole: Option<i64>) -> Option<u128> {
    Some(match element {
        ElementType::F64 => u128::from(number.to_bits()),
        ElementType::F32 => u128::from(narrow(number, 8, 23)),
        ElementType::F16 => u128::from(narrow(number, 5, 10)),
        ElementType::Bf16 => u128::from(narrow(number, 8, 7)),
        ElementType::Bool => u128::from(whole.map_or(number != 0.0, |whole| whole != 0)),
        integer if integer.is_integer() => {
            // A double has a whole part within i128, or saturates.
            let whole = whole.map_or(number.trunc() as i128, i128::from);
            whole as u128 & integer.bit_mask()
        }
        _ => return None,
    })
}

/// A tensor that holds these whole numbers.
pub(crate) fn constant(ty: &TensorType, numbers: &[i64]) -> Result<Constant, String> {
    let (element, width) = (ty.element(), ty.element().width());
    let mut bytes = Vec::with_capacity(numbers.len().saturating_mul(width));
    for &number in numbers {
        let Some(bits) = encode(element, number as f64, Some(number)) else {
            return Err(format!("{element} is no number"));
        };
        let mut one = bits.to_le_bytes()[..width].to_vec();
        if cfg!(target_endian = "big") {
            one.reverse();
        }
        bytes.extend(one);
    }
    Constant::new(ty.clone(), bytes).map_err(|_| format!("{} numbers for {ty}", numbers.len()))
}

/// Elements as files have them, in the order of this machine; any bool but 0 is true.
pub(crate) fn native(mut bytes: Vec<u8>, element: ElementType) -> Vec<u8> {
    if element == ElementType::Bool {
        bytes
            .iter_mut()
            .for_each(|byte| *byte = u8::from(*byte != 0));
    }
    if cfg!(target_endian = "big") {
        bytes.chunks_mut(element.width()).for_each(<[u8]>::reverse);
    }
    bytes
}

/// The number that the bits of a float stand for; nothing for other elements.
#[must_use]
pub fn decode(element: ElementType, bits: u128) -> Option<f64> {
    match element {
        ElementType::F64 => Some(f64::from_bits(bits as u64)),
        ElementType::F32 => Some(f64::from(f32::from_bits(bits as u32))),
        ElementType::Bf16 => Some(f64::from(f32::from_bits((bits as u32) << 16))),
        ElementType::F16 => Some(half(bits as u16)),
        _ => None,
    }
}

/// The number of a half.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
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
    use super::{decode, narrow};
    use restride_graph::ElementType;

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
    fn halves_and_brains_come_back() {
        for bits in 0..=u16::MAX {
            for (element, fields) in [(ElementType::F16, (5, 10)), (ElementType::Bf16, (8, 7))] {
                let number = decode(element, bits.into()).unwrap();
                if !number.is_nan() {
                    assert_eq!(
                        narrow(number, fields.0, fields.1),
                        u64::from(bits),
                        "{number}"
                    );
                }
            }
        }
    }
}
