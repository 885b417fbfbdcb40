//! Elements as numbers, for people: what an element's bits stand for, and the bits of a number.

use restride_graph::ElementType;

/// What the bits of an element stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ElementValue {
    /// True or false.
    Bool(bool),
    /// A signed integer.
    Int(i128),
    /// An unsigned integer.
    Unsigned(u128),
    /// A floating-point number of up to 32 bits.
    Single(f32),
    /// A floating-point number of 64 bits.
    Double(f64),
    /// A complex number of two singles.
    Complex(f64, f64),
}

/// A binary format of at most 16 bits.
struct Small {
    exponent: u32,
    mantissa: u32,
    bias: i32,
    special: Special,
}

/// Which bits are no finite numbers.
#[derive(PartialEq)]
enum Special {
    /// The largest exponent: infinities and NaN.
    Ieee,
    /// All bits set but the sign: NaN.
    AllOnes,
    /// Negative zero: NaN.
    NegativeZero,
}

fn small(element: ElementType) -> Option<Small> {
    let (exponent, mantissa, bias, special) = match element {
        ElementType::F16 => (5, 10, 15, Special::Ieee),
        ElementType::Bf16 => (8, 7, 127, Special::Ieee),
        ElementType::F8E4M3 => (4, 3, 7, Special::AllOnes),
        ElementType::F8E4M3Fnuz => (4, 3, 8, Special::NegativeZero),
        ElementType::F8E5M2 => (5, 2, 15, Special::Ieee),
        ElementType::F8E5M2Fnuz => (5, 2, 16, Special::NegativeZero),
        ElementType::Bool
        | ElementType::I8
        | ElementType::U8
        | ElementType::F8E8M0
        | ElementType::I16
        | ElementType::U16
        | ElementType::I32
        | ElementType::U32
        | ElementType::F32
        | ElementType::I64
        | ElementType::U64
        | ElementType::F64
        | ElementType::C64
        | ElementType::I128
        | ElementType::U128
        | ElementType::C128 => return None,
    };
    Some(Small {
        exponent,
        mantissa,
        bias,
        special,
    })
}

impl Small {
    fn decode(&self, bits: u32) -> f32 {
        let top = 1 << self.exponent;
        let mantissa = bits & ((1 << self.mantissa) - 1);
        let exponent = bits >> self.mantissa & (top - 1);
        let negative = bits >> (self.mantissa + self.exponent) & 1 == 1;
        let all_ones = exponent == top - 1 && mantissa == (1 << self.mantissa) - 1;
        let magnitude = match self.special {
            Special::Ieee if exponent == top - 1 && mantissa == 0 => f32::INFINITY,
            Special::Ieee if exponent == top - 1 => f32::NAN,
            Special::AllOnes if all_ones => f32::NAN,
            Special::NegativeZero if negative && exponent == 0 && mantissa == 0 => f32::NAN,
            Special::Ieee | Special::AllOnes | Special::NegativeZero => {
                // A subnormal has the exponent of the least normal and no hidden bit.
                let hidden = if exponent == 0 { 0 } else { 1 << self.mantissa };
                let power = exponent.max(1) as i32 - self.bias - self.mantissa as i32;
                (f64::from(hidden | mantissa) * f64::from(power).exp2()) as f32
            }
        };
        if negative { -magnitude } else { magnitude }
    }

    /// The bits of a small natural number, rounded towards zero, capped at the largest finite one.
    fn encode(&self, value: u64) -> u32 {
        if value == 0 {
            return 0;
        }
        let power = value.ilog2();
        let below = match power.checked_sub(self.mantissa) {
            Some(excess) => value >> excess,
            None => value << (self.mantissa - power),
        };
        let mantissa = below as u32 & ((1 << self.mantissa) - 1);
        let top = (1 << self.exponent) - 1;
        let largest = match self.special {
            Special::Ieee => (top << self.mantissa) - 1,
            Special::AllOnes => (top << self.mantissa | ((1 << self.mantissa) - 1)) - 1,
            Special::NegativeZero => top << self.mantissa | ((1 << self.mantissa) - 1),
        };
        match u32::try_from(power as i32 + self.bias) {
            Ok(exponent) if exponent <= top => (exponent << self.mantissa | mantissa).min(largest),
            Ok(_) | Err(_) => largest,
        }
    }
}

/// What the low bits of an element stand for.
pub(crate) fn decode(element: ElementType, bits: u128) -> ElementValue {
    if let Some(small) = small(element) {
        return ElementValue::Single(small.decode(bits as u32));
    }
    match element {
        ElementType::Bool => ElementValue::Bool(bits & 0xff != 0),
        ElementType::F32 => ElementValue::Single(f32::from_bits(bits as u32)),
        ElementType::F64 => ElementValue::Double(f64::from_bits(bits as u64)),
        ElementType::C64 => ElementValue::Complex(
            f32::from_bits(bits as u32).into(),
            f32::from_bits((bits >> 32) as u32).into(),
        ),
        ElementType::C128 => ElementValue::Complex(
            f64::from_bits(bits as u64),
            f64::from_bits((bits >> 64) as u64),
        ),
        ElementType::F8E8M0 => match bits as u8 {
            0xff => ElementValue::Single(f32::NAN),
            power => ElementValue::Double((f64::from(power) - 127.0).exp2()),
        },
        _ if element.is_signed_integer() => {
            let unused = 128 - 8 * element.width() as u32;
            ElementValue::Int((bits << unused) as i128 >> unused)
        }
        _ => ElementValue::Unsigned(bits & element.bit_mask()),
    }
}

/// The bits of a natural number as an element; integers wrap, small formats round or saturate.
pub(crate) fn encode(element: ElementType, value: u64) -> u128 {
    if let Some(small) = small(element) {
        return small.encode(value).into();
    }
    match element {
        ElementType::Bool => (value & 1).into(),
        ElementType::F32 => (value as f32).to_bits().into(),
        ElementType::F64 => (value as f64).to_bits().into(),
        ElementType::C64 => (value as f32).to_bits().into(),
        ElementType::C128 => (value as f64).to_bits().into(),
        _ => u128::from(value) & element.bit_mask(),
    }
}

/// The bits of the element at a position of dense little-endian bytes.
pub(crate) fn bits_at(bytes: &[u8], width: usize, position: usize) -> u128 {
    let start = position.saturating_mul(width);
    let element = bytes.get(start..start.saturating_add(width));
    let element = element.unwrap_or_default().iter().rev();
    element.fold(0, |bits, byte| bits << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_formats_are_what_their_papers_say() {
        let single = |element, bits| match decode(element, bits) {
            ElementValue::Single(value) => value,
            other => panic!("{other:?}"),
        };
        assert_eq!(single(ElementType::F16, 0x3c00), 1.0);
        assert_eq!(single(ElementType::F16, 0xfbff), -65504.0);
        assert_eq!(single(ElementType::F16, 1), 2f32.powi(-24));
        assert_eq!(single(ElementType::F16, 0x7c00), f32::INFINITY);
        assert_eq!(single(ElementType::Bf16, 0x4049), 3.140625);
        assert_eq!(single(ElementType::F8E4M3, 0x7e), 448.0);
        assert!(single(ElementType::F8E4M3, 0x7f).is_nan());
        assert_eq!(single(ElementType::F8E5M2, 0x7b), 57344.0);
        assert_eq!(single(ElementType::F8E4M3Fnuz, 0x7f), 240.0);
        assert_eq!(single(ElementType::F8E5M2Fnuz, 0x7f), 57344.0);
        assert!(single(ElementType::F8E5M2Fnuz, 0x80).is_nan());
        assert_eq!(decode(ElementType::F8E8M0, 128), ElementValue::Double(2.0));
    }

    #[test]
    fn small_numbers_survive_every_format() {
        for element in ElementType::ALL {
            for value in 0..8 {
                let same = match decode(element, encode(element, value)) {
                    ElementValue::Bool(got) => got == (value % 2 == 1),
                    ElementValue::Int(got) => got == i128::from(value),
                    ElementValue::Unsigned(got) => got == u128::from(value),
                    ElementValue::Single(got) => got == value as f32,
                    ElementValue::Double(got) | ElementValue::Complex(got, _) => {
                        got == value as f64
                    }
                };
                // Two mantissa bits hold no 7 rounded up, and powers of two hold no natural number.
                let coarse = matches!(element, ElementType::F8E8M0);
                assert!(same || coarse, "{element} {value}");
            }
        }
        assert_eq!(
            decode(ElementType::F16, encode(ElementType::F16, 1 << 40)),
            ElementValue::Single(65504.0)
        );
        assert_eq!(decode(ElementType::I8, 0xff), ElementValue::Int(-1));
    }
}
