//! From the numbers of a case to bits: integers wrap, a bool is "an odd number of bits set", floats
//! are rounded to nearest even (whole numbers that fit are exact).

use restride_graph::{ElementType, TensorType, oracle::Tensor};
use restride_import::number;
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
        ElementType::F64 | ElementType::F32 | ElementType::F16 | ElementType::Bf16 => {
            number::encode(element, float()?, None).unwrap_or_default()
        }
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

#[cfg(test)]
mod tests {
    use super::encode;
    use restride_graph::ElementType;
    use serde_json::Number;

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
